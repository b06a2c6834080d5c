#!/usr/bin/env python3
"""Writes gradients.json: 24 functions with what PyTorch and JAX compute as their gradients, in float64 on the CPU.

    pip install torch==2.15.0 jax==0.10.2 numpy==2.4.6
    python tests/data/gradients.py

`gradients.fuse` beside it has the same functions in this project's language, and tests compare. Each function is written
here once for each framework, with operations of that framework's library where it has them. The script fails where the
two frameworks differ by more than 1e-10 of the largest number of a gradient.

Inputs follow from a formula and are multiples of 1/64, so that f32 and f64 hold them alike. `eps` is the number that f32
makes of it, since that is what a program of the language computes with.

The first 16 functions cover what the rules of differentiation name. The last 8 were chosen after the rules were written,
from what people train, and differentiate combinations.

Conventions at corners. The language has 0 for `relu` at 0, shares for equal elements of `min` and `max`, be they elements of
one value or of two, and the true derivative of a product with zeros. Both frameworks have the same, so inputs have such
corners. Inputs avoid the corners where a framework differs:

- `abs` at 0: 1 in JAX, 0 in PyTorch and here.
- `clamp` at its limits: 0 in PyTorch, a half in JAX and here.
- `leaky_relu` and `selu` at 0: either slope, by framework.
- `hypot(0, 0)`: not a number in PyTorch, a half in JAX, 0 here. The norm of zeros: 0 in PyTorch, not a number in JAX and here.
- the largest element by `torch.max(x, dim)`: one of the equals has all. `torch.amax` shares, and is used here.
"""

import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")
torch.set_default_dtype(torch.float64)

AGREEMENT = 1e-10
EPS_5, EPS_6 = float(np.float32(1e-5)), float(np.float32(1e-6))

CASES = []
SEED = 0


def numbers(*shape, low=-2.0, high=2.0):
    """Well-spread multiples of 1/64 from `low` to `high`; each call gives others."""
    global SEED
    SEED += 1
    steps = int((high - low) * 64) + 1
    state = 2654435761 * SEED % 2**32
    data = []
    for _ in range(int(np.prod(shape, dtype=int))):
        state = (1664525 * state + 1013904223) % 2**32
        data.append(low + (state >> 8) % steps / 64)
    return np.array(data).reshape(shape)


def tensor(x):
    return {"shape": list(x.shape), "data": x.reshape(-1).tolist()}


def case(name, inputs, wrt, of_torch, of_jax, then=None):
    """Notes the gradients of one function, of rank 0. `then` is what is made of them, with a framework's operations."""
    wrt = wrt.split()
    inputs = {key: np.asarray(x) for key, x in inputs.items()}
    for key, x in inputs.items():
        assert np.array_equal(x, x.astype(np.float32)), f"{name}: f32 does not hold `{key}`"
    leaves = {key: torch.tensor(x, requires_grad=key in wrt) for key, x in inputs.items()}
    by_torch = torch.autograd.grad(of_torch(**leaves), [leaves[key] for key in wrt])
    by_torch = [x.detach() for x in by_torch]
    arrays = {key: jnp.asarray(x) for key, x in inputs.items()}
    fixed = {key: x for key, x in arrays.items() if key not in wrt}
    gradient = jax.grad(lambda *args: of_jax(**dict(zip(wrt, args)), **fixed), argnums=tuple(range(len(wrt))))
    by_jax = gradient(*[arrays[key] for key in wrt])
    if then:
        by_torch, by_jax = then(by_torch, torch), then(by_jax, jnp)
    by_torch, by_jax = [x.numpy() for x in by_torch], [np.asarray(x) for x in by_jax]
    for key, one, other in zip(wrt, by_torch, by_jax, strict=True):
        assert one.dtype == other.dtype == np.float64 and one.shape == other.shape == inputs[key].shape, name
        apart, largest = np.abs(one - other).max(), np.abs(one).max()
        # Not a number is no agreement, and a gradient of zeros alone tests little.
        assert largest > 0 and apart <= AGREEMENT * largest, f"{name}, `{key}`: {apart:e} apart, {largest:e} the largest"
    CASES.append(
        {
            "name": name,
            "chosen": "before the rules" if len(CASES) < 16 else "after the rules",
            "wrt": wrt,
            "inputs": {key: tensor(x) for key, x in inputs.items()},
            "torch": [tensor(x) for x in by_torch],
            "jax": [tensor(x) for x in by_jax],
        }
    )


def layers():
    inputs = {
        "x": numbers(7, 5), "w": numbers(5, 3), "b": numbers(3), "v": numbers(3, 2), "c": numbers(2),
    }  # fmt: skip

    def of_torch(x, w, b, v, c):
        return (F.linear(F.gelu(F.linear(x, w.T, b)), v.T, c) ** 2).mean()

    def of_jax(x, w, b, v, c):
        return jnp.mean((jax.nn.gelu(x @ w + b, approximate=False) @ v + c) ** 2)

    case("gelu_layers", inputs, "x w b v c", of_torch, of_jax)

    # A weight that all batches share, and a gate.
    inputs = {"x": numbers(2, 3, 5), "w": numbers(5, 6, low=-1, high=1), "b": numbers(6), "v": numbers(3, 7)}

    def of_torch(x, w, b, v):
        return (F.glu(F.gelu(x @ w + b, approximate="tanh"), dim=-1) @ v).pow(3).sum()

    def of_jax(x, w, b, v):
        return jnp.sum((jax.nn.glu(jax.nn.gelu(x @ w + b, approximate=True), axis=-1) @ v) ** 3)

    case("batched_layers", inputs, "x w b v", of_torch, of_jax)

    inputs = {"x": numbers(7, 5), "w": numbers(5, 3), "b": numbers(3), "classes": np.array([2, 0, 2, 2, 1, 0, 2], np.int32)}

    def of_torch(x, w, b, classes):
        return F.cross_entropy(x @ w + b, classes.long())

    def of_jax(x, w, b, classes):
        rows = jax.nn.log_softmax(x @ w + b, axis=-1)
        return -jnp.mean(jnp.take_along_axis(rows, classes[:, None], axis=1))

    case("softmax_cross_entropy", inputs, "x w b", of_torch, of_jax)


def normalizations():
    inputs = {"x": numbers(3, 7), "gamma": numbers(7), "beta": numbers(7)}

    def of_torch(x, gamma, beta):
        return F.layer_norm(x, (7,), gamma, beta, EPS_5).pow(3).sum()

    def of_jax(x, gamma, beta):
        return jnp.sum((jax.nn.standardize(x, axis=-1, epsilon=EPS_5) * gamma + beta) ** 3)

    case("normalized_rows", inputs, "x gamma beta", of_torch, of_jax)

    weights = {key: numbers(7, 11, low=-1, high=1) for key in ("w_gate", "w_up")} | {"w_down": numbers(11, 7, low=-1, high=1)}
    inputs = {"x": numbers(5, 7), "g": numbers(7)} | weights

    def of_torch(x, g, w_gate, w_up, w_down):
        h = F.rms_norm(x, (7,), g, EPS_6)
        return (x + (F.silu(h @ w_gate) * (h @ w_up)) @ w_down).square().mean()

    def of_jax(x, g, w_gate, w_up, w_down):
        h = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + EPS_6) * g
        return jnp.mean((x + (jax.nn.silu(h @ w_gate) * (h @ w_up)) @ w_down) ** 2)

    case("rms_norm_swiglu", inputs, "x g w_gate w_up w_down", of_torch, of_jax)

    # Statistics of the batch, as in training; then groups of channels.
    inputs = {"x": numbers(5, 4, 3), "gamma": numbers(4), "beta": numbers(4), "c": numbers(5, 4, 3)}

    def of_torch(x, gamma, beta, c):
        y = F.batch_norm(x, None, None, gamma, beta, training=True, eps=EPS_5)
        return (F.group_norm(torch.tanh(y), 2, gamma, beta, EPS_5) * c).sum()

    def of_jax(x, gamma, beta, c):
        wide = lambda p: p[None, :, None]
        y = jax.nn.standardize(x, axis=(0, 2), epsilon=EPS_5) * wide(gamma) + wide(beta)
        y = jax.nn.standardize(jnp.tanh(y).reshape(5, 2, 2, 3), axis=(2, 3), epsilon=EPS_5).reshape(5, 4, 3)
        return jnp.sum((y * wide(gamma) + wide(beta)) * c)

    case("normalized_batch", inputs, "x gamma beta", of_torch, of_jax)


def attention_and_tables():
    inputs = {"q": numbers(2, 5, 3), "k": numbers(2, 5, 3), "v": numbers(2, 5, 3), "c": numbers(2, 5, 3)}

    def of_torch(q, k, v, c):
        return (F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.5) * c).sum()

    def of_jax(q, k, v, c):
        # Written out: `jax.nn.dot_product_attention` has its softmax in f32.
        scores = jnp.where(jnp.tri(5, dtype=bool), 0.5 * q @ jnp.swapaxes(k, 1, 2), -jnp.inf)
        return jnp.sum(jax.nn.softmax(scores, axis=-1) @ v * c)

    case("causal_attention", inputs, "q k v", of_torch, of_jax)

    # A table that is read by ids, some of them twice, and that is the last layer, too.
    inputs = {
        "table": numbers(7, 3), "places": numbers(5, 3),
        "ids": np.array([3, 0, 3, 6, 3], np.int32), "next": np.array([0, 3, 6, 3, 1], np.int32),
    }  # fmt: skip

    def of_torch(table, places, ids, next):
        return F.cross_entropy((F.embedding(ids, table) + places) @ table.T, next.long())

    def of_jax(table, places, ids, next):
        rows = (jnp.take(table, ids, axis=0) + places) @ table.T
        picked = jnp.take_along_axis(rows, next[:, None], axis=1)[:, 0]
        return jnp.mean(jax.scipy.special.logsumexp(rows, axis=1) - picked)

    case("tied_embedding", inputs, "table places", of_torch, of_jax)


def movements():
    turn = {"cosine": numbers(3, 8, low=-1, high=1), "sine": numbers(3, 8, low=-1, high=1)}
    inputs = {"x": numbers(3, 8), "y": numbers(3, 2)} | turn

    def of_torch(x, y, cosine, sine):
        a, b = x.chunk(2, dim=1)
        turned = x * cosine + torch.cat([-b, a], dim=1) * sine
        z = torch.cat([turned[:, 2:7], y, turned[:1].expand(3, 8)], dim=1).flip(1)
        z = F.pad(z, (2, 1)).roll(4, dims=1)
        w = torch.stack([z, z * z], dim=1).permute(1, 2, 0)
        return (w.repeat_interleave(2, dim=0).tril() * w.repeat(2, 1, 1).flip([0, 1])).sum()

    def of_jax(x, y, cosine, sine):
        a, b = jnp.split(x, 2, axis=1)
        turned = x * cosine + jnp.concatenate([-b, a], axis=1) * sine
        z = jnp.concatenate([turned[:, 2:7], y, jnp.broadcast_to(turned[:1], (3, 8))], axis=1)[:, ::-1]
        z = jnp.roll(jnp.pad(z, ((0, 0), (2, 1))), 4, axis=1)
        w = jnp.transpose(jnp.stack([z, z * z], axis=1), (1, 2, 0))
        return jnp.sum(jnp.tril(jnp.repeat(w, 2, axis=0)) * jnp.flip(jnp.tile(w, (2, 1, 1)), (0, 1)))

    case("movements", inputs, "x y", of_torch, of_jax)


def reductions():
    # Far apart, so that a naive sum of exponentials loses what is small.
    inputs = {"x": numbers(3, 4, 5, low=-30, high=30), "c": numbers(4), "d": numbers(3, 4, 5)}

    def of_torch(x, c, d):
        rows = (x.logsumexp(dim=(0, 2)) * c).sum()
        return rows + (F.log_softmax(x, dim=1) * d).sum() + x.logsumexp(dim=(0, 1, 2)) + (x.softmax(dim=0) * d).sum()

    def of_jax(x, c, d):
        logsumexp = jax.scipy.special.logsumexp
        rows = jnp.sum(logsumexp(x, axis=(0, 2)) * c)
        rest = jnp.sum(jax.nn.log_softmax(x, axis=1) * d) + logsumexp(x) + jnp.sum(jax.nn.softmax(x, axis=0) * d)
        return rows + rest

    case("logarithms_of_sums", inputs, "x c d", of_torch, of_jax)

    # Rows with no zero, one, two and nothing but zeros.
    x = numbers(5, 3, low=0.5, high=2)
    x[1, 2] = x[2, 0] = x[2, 2] = 0.0
    x[3] = 0.0
    x[4, 1] = -1.5
    inputs = {"x": x, "c": numbers(5), "d": numbers(3)}

    def of_torch(x, c, d):
        return (x.prod(dim=1) * c).sum() + (x.prod(dim=0) * d).sum() + (x + 0.5).flatten().prod(dim=0)

    def of_jax(x, c, d):
        return jnp.sum(jnp.prod(x, axis=1) * c) + jnp.sum(jnp.prod(x, axis=0) * d) + jnp.prod(x + 0.5)

    case("products_with_zeros", inputs, "x c", of_torch, of_jax)

    # Equal elements in rows, in columns, in the whole, and of two values.
    x = np.array([[1.0, 3.0, 3.0, -2.0, 0.5], [-2.0, -2.0, 3.0, -2.0, 2.5], [0.25, 0.25, 0.25, 0.25, 0.25]])
    y = np.array([[1.0], [-2.0], [0.25]])
    inputs = {"x": x, "y": y, "c": numbers(3), "d": numbers(5)}

    def of_torch(x, y, c, d):
        ends = (x.amax(dim=1) * c).sum() + (x.amin(dim=0) * d).sum() + x.amax() ** 2 - x.amin() ** 3
        return ends + (torch.maximum(x, y) * d).sum() + (torch.minimum(x, y) ** 3).sum()

    def of_jax(x, y, c, d):
        ends = jnp.sum(jnp.max(x, axis=1) * c) + jnp.sum(jnp.min(x, axis=0) * d) + jnp.max(x) ** 2 - jnp.min(x) ** 3
        return ends + jnp.sum(jnp.maximum(x, y) * d) + jnp.sum(jnp.minimum(x, y) ** 3)

    case("extremes_with_ties", inputs, "x y", of_torch, of_jax)


def elements():
    # Also 0 to powers above 1, an angle above each quadrant, and remainders of both signs.
    x = numbers(3, 5, low=0.25, high=3)
    x[0, 1] = 0.0
    inputs = {"x": x, "y": np.array([1.5, 2.5, -0.75, -2.25, 0.625]), "s": numbers(3, 1), "t": numbers(3, 1, low=0.25, high=0.75)}

    def of_torch(x, y, s, t):
        powers = (x.pow(y) + x**2.5) * s
        rests = torch.fmod(s * 3, y) * x + torch.true_divide(s, y)
        return (powers + torch.atan2(s, y) * x + torch.hypot(x, y) * s + rests + torch.lerp(x, y.expand(3, 5), t) ** 2).sum()

    def of_jax(x, y, s, t):
        powers = (jnp.power(x, y) + x**2.5) * s
        rests = jnp.fmod(s * 3, y) * x + s / y
        return jnp.sum(powers + jnp.arctan2(s, y) * x + jnp.hypot(x, y) * s + rests + (x + t * (y - x)) ** 2)

    case("functions_of_two", inputs, "x y s t", of_torch, of_jax)

    # `relu` at 0, both branches of a choice, a Huber loss where its parts meet; `abs` and `clamp` only off their corners.
    inputs = {
        "x": np.array([-2.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.25, 3.0, 0.25, -0.125, 1.75]),
        "y": np.array([0.5, 0.0, -1.5, 1.0, 0.5, 0.0, -1.0, 2.5, -0.75, -0.125, 1.25]),
        "c": numbers(11),
    }

    def of_torch(x, y, c):
        corners = (F.relu(x) + torch.abs(x + 0.375) + torch.clamp(x, -0.75, 1.5)) * c
        chosen = torch.where(x > y, x * y, torch.exp(y) - x)
        steps = torch.floor(x) + torch.sign(y) * x
        return (corners + chosen * c + steps * y).sum() + F.huber_loss(x, y, reduction="sum", delta=1.0)

    def of_jax(x, y, c):
        corners = (jax.nn.relu(x) + jnp.abs(x + 0.375) + jnp.clip(x, -0.75, 1.5)) * c
        chosen = jnp.where(x > y, x * y, jnp.exp(y) - x)
        steps = jnp.floor(x) + jnp.sign(y) * x
        d = jnp.abs(x - y)
        return jnp.sum(corners + chosen * c + steps * y) + jnp.sum(jnp.where(d <= 1, 0.5 * d * d, d - 0.5))

    case("corners_and_choices", inputs, "x y", of_torch, of_jax)

    # Every axis of rank 3 alone, several, none and a number of the host.
    inputs = {
        "x": numbers(2, 3, 5), "a": numbers(2, 1, 1), "b": numbers(3, 1), "c": numbers(5),
        "d": numbers(2, 1, 5), "e": numbers(1, 3, 5), "f": numbers(2, 3, 1), "g": np.array([0.375]), "s": np.array(-1.25),
    }  # fmt: skip

    def of_torch(x, a, b, c, d, e, f, g, s):
        return ((x * a + b) * (c - x / (d * d + 1)) + torch.tanh(e * f + g) * s * x).pow(2).mean()

    def of_jax(x, a, b, c, d, e, f, g, s):
        return jnp.mean(((x * a + b) * (c - x / (d * d + 1)) + jnp.tanh(e * f + g) * s * x) ** 2)

    case("broadcasts", inputs, "x a b c d e f g s", of_torch, of_jax)

    # `x` within all domains, `z` on both sides of 0; each function has a weight of its own.
    inputs = {
        "x": numbers(7, low=0.125, high=0.875), "z": numbers(7, low=-2.5, high=2.5),
        "c": numbers(22, 7), "d": numbers(8, 7),
    }  # fmt: skip

    def of_torch(x, z, c, d):
        of_x = [
            torch.sqrt(x), torch.rsqrt(x), torch.exp(x), torch.exp2(x), torch.expm1(x), torch.log(x), torch.log2(x),
            torch.log1p(x), torch.sin(x), torch.cos(x), torch.tan(x), torch.asin(x), torch.acos(x), torch.atan(x),
            torch.sinh(x), torch.cosh(x), torch.asinh(x), torch.acosh(x + 1), torch.atanh(x), torch.erf(x),
            torch.erfc(x), torch.reciprocal(x),
        ]  # fmt: skip
        of_z = [
            torch.tanh(z), torch.sigmoid(z), F.silu(z), F.softplus(z), F.mish(z), F.selu(z), F.elu(z, alpha=0.75),
            F.hardswish(z),
        ]  # fmt: skip
        return (torch.stack(of_x) * c).sum() + (torch.stack(of_z) * d).sum()

    def of_jax(x, z, c, d):
        erf, erfc = jax.scipy.special.erf, jax.scipy.special.erfc
        of_x = [
            jnp.sqrt(x), jax.lax.rsqrt(x), jnp.exp(x), jnp.exp2(x), jnp.expm1(x), jnp.log(x), jnp.log2(x),
            jnp.log1p(x), jnp.sin(x), jnp.cos(x), jnp.tan(x), jnp.arcsin(x), jnp.arccos(x), jnp.arctan(x),
            jnp.sinh(x), jnp.cosh(x), jnp.arcsinh(x), jnp.arccosh(x + 1), jnp.arctanh(x), erf(x),
            erfc(x), jnp.reciprocal(x),
        ]  # fmt: skip
        of_z = [
            jnp.tanh(z), jax.nn.sigmoid(z), jax.nn.silu(z), jax.nn.softplus(z), jax.nn.mish(z), jax.nn.selu(z),
            jax.nn.elu(z, alpha=0.75), jax.nn.hard_swish(z),
        ]  # fmt: skip
        return jnp.sum(jnp.stack(of_x) * c) + jnp.sum(jnp.stack(of_z) * d)

    case("functions_of_one", inputs, "x z", of_torch, of_jax)


def gradients_of_gradients():
    # The gradient of `grad · v` is the Hessian times `v`; of `v` it is the first gradient. A product has a zero.
    x = numbers(5)
    x[2] = 0.0
    inputs = {"x": x, "v": numbers(5), "w": numbers(5, 7, low=-1, high=1), "u": numbers(7)}

    def of_torch(x, v, w, u):
        h = torch.tanh(x @ w)
        f = (h * u).sum() + x.logsumexp(dim=0) * h.prod(dim=0) + x.softmax(dim=0) @ F.softplus(x * x) + x.prod(dim=0)
        return torch.autograd.grad(f, x, create_graph=True)[0] @ v

    def of_jax(x, v, w, u):
        def f(x):
            h = jnp.tanh(x @ w)
            rest = jax.nn.softmax(x) @ jax.nn.softplus(x * x)
            return jnp.sum(h * u) + jax.scipy.special.logsumexp(x) * jnp.prod(h) + rest + jnp.prod(x)

        return jax.grad(f)(x) @ v

    case("hessian_vector_product", inputs, "x v w u", of_torch, of_jax)

    # Of a critic (Gulrajani et al. 2017).
    inputs = {"x": numbers(7, 5), "w": numbers(5, 3), "b": numbers(3), "u": numbers(3)}

    def of_torch(x, w, b, u):
        x = x.clone().requires_grad_()
        scores = F.gelu(x @ w + b) @ u
        slopes = torch.autograd.grad(scores.sum(), x, create_graph=True)[0]
        return (slopes.norm(dim=1) - 1).square().mean() - scores.mean()

    def of_jax(x, w, b, u):
        score = lambda x: jax.nn.gelu(x @ w + b, approximate=False) @ u
        slopes = jax.vmap(jax.grad(score))(x)
        return jnp.mean((jnp.linalg.norm(slopes, axis=1) - 1) ** 2) - jnp.mean(score(x))

    case("gradient_penalty", inputs, "w b u", of_torch, of_jax)

    # All gradients together get a norm of 1/2.
    inputs = {"x": numbers(7, 5), "t": numbers(7, 2), "w": numbers(5, 3), "b": numbers(3), "v": numbers(3, 2)}

    def clipped(gradients, xp):
        norm = xp.sqrt(sum(xp.sum(g * g) for g in gradients))
        assert norm > 0.5
        return [g * 0.5 / norm for g in gradients]

    def of_torch(x, t, w, b, v):
        return F.mse_loss(torch.tanh(x @ w + b) @ v, t)

    def of_jax(x, t, w, b, v):
        return jnp.mean((jnp.tanh(x @ w + b) @ v - t) ** 2)

    case("clipped_gradients", inputs, "w b v", of_torch, of_jax, then=clipped)


def models():
    # Weights rounded to quarters, with the gradient of what they are rounded from (Bengio et al. 2013); a commitment loss.
    w = numbers(5, 3)
    # Not halfway between two quarters.
    w += np.where(w * 8 % 2 == 1, 1 / 64, 0)
    inputs = {"x": numbers(7, 5), "w": w, "t": numbers(7, 3)}

    def of_torch(x, w, t):
        rounded = torch.round(w * 4) / 4
        y = x @ (w + (rounded - w).detach())
        return (y - t).square().mean() + 0.25 * (w - rounded.detach()).square().sum() + (y.detach() * y).mean()

    def of_jax(x, w, t):
        stop = jax.lax.stop_gradient
        rounded = jnp.round(w * 4) / 4
        y = x @ (w + stop(rounded - w))
        return jnp.mean((y - t) ** 2) + 0.25 * jnp.sum((w - stop(rounded)) ** 2) + jnp.mean(stop(y) * y)

    case("straight_through", inputs, "x w", of_torch, of_jax)

    # Two experts, a gate, and a loss that keeps their loads equal.
    inputs = {
        "x": numbers(7, 5), "t": numbers(7, 3), "gate": numbers(5, 2, low=-1, high=1),
        "first": numbers(5, 3), "second": numbers(5, 3),
    }  # fmt: skip

    def of_torch(x, t, gate, first, second):
        share = F.softmax(x @ gate, dim=1)
        y = torch.einsum("ne,end->nd", share, torch.stack([torch.tanh(x @ first), F.silu(x @ second)]))
        return F.mse_loss(y, t) + 0.125 * share.mean(dim=0).var(correction=0)

    def of_jax(x, t, gate, first, second):
        share = jax.nn.softmax(x @ gate, axis=1)
        y = jnp.einsum("ne,end->nd", share, jnp.stack([jnp.tanh(x @ first), jax.nn.silu(x @ second)]))
        return jnp.mean((y - t) ** 2) + 0.125 * jnp.var(jnp.mean(share, axis=0))

    case("two_experts", inputs, "x gate first second", of_torch, of_jax)

    # Divergences both ways, at a temperature of 2 (Hinton et al. 2015).
    inputs = {"teacher": numbers(7, 3), "x": numbers(7, 5), "w": numbers(5, 3)}

    def of_torch(teacher, x, w):
        p, q = F.log_softmax(teacher / 2, dim=1), F.log_softmax(x @ w / 2, dim=1)
        return 4 * (F.kl_div(q, p, reduction="batchmean", log_target=True) + F.kl_div(p, q, reduction="sum", log_target=True))

    def of_jax(teacher, x, w):
        p, q = jax.nn.log_softmax(teacher / 2, axis=1), jax.nn.log_softmax(x @ w / 2, axis=1)
        return 4 * (jnp.sum(jnp.exp(p) * (p - q)) / 7 + jnp.sum(jnp.exp(q) * (q - p)))

    case("distillation", inputs, "teacher x w", of_torch, of_jax)

    # Taps 2 apart over 11 places, with a border of zeros, then the largest of each pair of places.
    inputs = {"x": numbers(2, 3, 12), "w": numbers(5, 3, 3), "b": numbers(5), "c": numbers(2, 5, 6)}

    def of_torch(x, w, b, c):
        return (F.max_pool1d(F.conv1d(x, w, b, padding=2, dilation=2), 2) * c).sum()

    def of_jax(x, w, b, c):
        y = jax.lax.conv_general_dilated(x, w, (1,), [(2, 2)], rhs_dilation=(2,), dimension_numbers=("NCH", "OIH", "NCH"))
        return jnp.sum(jnp.max((y + b[:, None]).reshape(2, 5, 6, 2), axis=3) * c)

    case("convolution", inputs, "x w b", of_torch, of_jax)

    # Cosines of all pairs, each with its own (Radford et al. 2021), of features with deviation 1.
    inputs = {"a": numbers(5, 7), "b": numbers(5, 7), "s": np.array(0.75)}

    def of_torch(a, b, s):
        a, b = [(x - x.mean(dim=0)) / x.std(dim=0) for x in (a, b)]
        scores = F.cosine_similarity(a[:, None], b[None], dim=2) * torch.exp(s)
        own = torch.arange(5)
        return (F.cross_entropy(scores, own) + F.cross_entropy(scores.T, own)) / 2

    def of_jax(a, b, s):
        a, b = [(x - jnp.mean(x, axis=0)) / jnp.std(x, axis=0, ddof=1) for x in (a, b)]
        a, b = [x / jnp.linalg.norm(x, axis=1, keepdims=True) for x in (a, b)]
        scores = a @ b.T * jnp.exp(s)
        loss = lambda axis: -jnp.mean(jnp.diag(jax.nn.log_softmax(scores, axis=axis)))
        return (loss(1) + loss(0)) / 2

    case("contrastive", inputs, "a b s", of_torch, of_jax)


def main():
    families = [layers, normalizations, attention_and_tables, movements, reductions, elements]
    for family in families + [gradients_of_gradients, models]:
        assert len(CASES) == 16 or family is not gradients_of_gradients
        family()
    assert len(CASES) == 24
    path = pathlib.Path(__file__).with_name("gradients.json")
    versions = json.dumps({"torch": torch.__version__, "jax": jax.__version__})[1:-1]
    lines = ",\n".join("    " + json.dumps(entry) for entry in CASES)
    path.write_text(f'{{\n  {versions},\n  "cases": [\n{lines}\n  ]\n}}\n')
    print(f"{path.name}: {len(CASES)} functions, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
