#!/usr/bin/env python3
"""Writes reference.json: small inputs and what PyTorch computes from them in float64 on the CPU.

    pip install torch
    python tests/data/reference.py

Inputs follow from a formula and are multiples of 1/16, so that f16, f32 and f64 hold them alike; only what an optimizer
made of them in earlier steps is not. The tests of the kernel library compare with these figures; nothing else in the
repository runs Python.
"""

import json
import pathlib

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)

CASES = []
SEED = 0


def numbers(*shape, low=-3.0, high=3.0):
    """Well-spread multiples of 1/16 from `low` to `high`; each call gives others."""
    global SEED
    SEED += 1
    steps = int((high - low) * 16) + 1
    state = 2654435761 * SEED % 2**32
    data = []
    for _ in range(torch.Size(shape).numel()):
        state = (1664525 * state + 1013904223) % 2**32
        data.append(low + (state >> 8) % steps / 16)
    return torch.tensor(data).reshape(shape)


def tensor(x):
    return {"shape": list(x.shape), "data": x.reshape(-1).tolist()}


def case(name, inputs, options, **outputs):
    """Notes one case; integers and numbers of `options` are given as they are."""
    CASES.append(
        {
            "name": name,
            "inputs": {key: tensor(x) for key, x in inputs.items()},
            "options": options,
            "outputs": {key: tensor(x.detach()) for key, x in outputs.items()},
        }
    )


def rows():
    x = numbers(3, 5)
    case("softmax", {"x": x}, {}, y=F.softmax(x, dim=-1))
    x = numbers(3, 5)
    case("log_softmax", {"x": x}, {}, y=F.log_softmax(x, dim=-1))
    x = numbers(3, 5, low=-20.0, high=20.0)
    case("softmax_wide", {"x": x}, {}, y=F.softmax(x, dim=-1), log=F.log_softmax(x, dim=-1))
    x = numbers(2, 3, 4)
    case("softmax_axis_1", {"x": x}, {"axis": 1}, y=F.softmax(x, dim=1))
    x = numbers(3, 5, low=-20.0, high=20.0)
    case("logsumexp", {"x": x}, {}, y=torch.logsumexp(x, dim=-1))
    x = numbers(3, 6)
    case("var", {"x": x}, {"correction": 0}, y=x.var(dim=-1, correction=0))
    case("var_unbiased", {"x": x}, {"correction": 1}, y=x.var(dim=-1, correction=1))
    x = numbers(3, 6) + 100.0
    case("var_offset", {"x": x}, {"correction": 0}, y=x.var(dim=-1, correction=0))


def normalizations():
    x, gamma, beta = numbers(3, 6), numbers(6), numbers(6)
    case("layer_norm", {"x": x, "gamma": gamma, "beta": beta}, {"eps": 1e-5}, y=F.layer_norm(x, (6,), gamma, beta, 1e-5))
    x, gamma = numbers(3, 6), numbers(6)
    case("rms_norm", {"x": x, "gamma": gamma}, {"eps": 1e-6}, y=F.rms_norm(x, (6,), gamma, 1e-6))
    x, mean, gamma, beta = numbers(2, 3, 4), numbers(3), numbers(3), numbers(3)
    var = numbers(3, low=0.5, high=4.0)
    case(
        "batch_norm",
        {"x": x, "mean": mean, "var": var, "gamma": gamma, "beta": beta},
        {"eps": 1e-5},
        y=F.batch_norm(x, mean, var, gamma, beta, training=False, eps=1e-5),
    )
    x, gamma, beta = numbers(2, 4, 3), numbers(4), numbers(4)
    case(
        "group_norm",
        {"x": x, "gamma": gamma, "beta": beta},
        {"groups": 2, "eps": 1e-5},
        y=F.group_norm(x, 2, gamma, beta, 1e-5),
    )


def activations():
    x = torch.cat([numbers(8, low=-6.0, high=6.0), torch.tensor([0.0, -10.0, 10.0, -0.75])])
    case("gelu", {"x": x}, {}, y=F.gelu(x), tanh=F.gelu(x, approximate="tanh"))
    case("silu", {"x": x}, {}, y=F.silu(x))
    gate, up = numbers(2, 5), numbers(2, 5)
    case("swiglu", {"gate": gate, "up": up}, {}, y=F.silu(gate) * up)
    case("geglu", {"gate": gate, "up": up}, {}, y=F.gelu(gate) * up)
    # The feed-forward form: both projections of one input (Shazeer 2020); weights are [in, out].
    x, w_gate, w_up = numbers(2, 4), numbers(4, 3), numbers(4, 3)
    case("swiglu_linear", {"x": x, "w_gate": w_gate, "w_up": w_up}, {}, y=F.silu(x @ w_gate) * (x @ w_up))
    case("geglu_linear", {"x": x, "w_gate": w_gate, "w_up": w_up}, {}, y=F.gelu(x @ w_gate) * (x @ w_up))


def attention():
    """Queries [B, H, M, D], keys [B, H, N, D], values [B, H, N, E]; scores are scaled by 1/sqrt(D)."""
    sdpa = F.scaled_dot_product_attention
    q, k, v = numbers(1, 2, 3, 4), numbers(1, 2, 5, 4), numbers(1, 2, 5, 3)
    case("attention", {"q": q, "k": k, "v": v}, {}, y=sdpa(q, k, v))
    q, k, v = numbers(1, 2, 4, 4), numbers(1, 2, 4, 4), numbers(1, 2, 4, 4)
    inputs = {"q": q, "k": k, "v": v}
    i, j = torch.arange(4)[:, None], torch.arange(4)[None, :]
    case("attention_causal", inputs, {}, y=sdpa(q, k, v, is_causal=True))
    # A query sees itself and the `window` - 1 keys before it.
    visible = (j <= i) & (j > i - 2)
    case("attention_window", inputs, {"window": 2}, y=sdpa(q, k, v, attn_mask=visible))
    # Slopes 2^(-8·(h + 1)/H), bias slope·(j - i), causal (Press et al. 2022).
    slopes = torch.tensor([2.0 ** (-8 * (h + 1) / 2) for h in range(2)])
    bias = slopes[:, None, None] * (j - i)
    bias = bias.masked_fill(j > i, float("-inf"))[None]
    case("attention_alibi", inputs | {"slopes": slopes}, {}, y=sdpa(q, k, v, attn_mask=bias))
    # Four query heads share two heads of keys and values: query head h reads head h / 2.
    q, k, v = numbers(1, 4, 3, 4), numbers(1, 2, 3, 4), numbers(1, 2, 3, 4)
    case("attention_gqa", {"q": q, "k": k, "v": v}, {}, y=sdpa(q, k, v, enable_gqa=True))


def losses():
    logits, target = numbers(4, 5), torch.tensor([2, 0, 4, 2])
    case("cross_entropy", {"logits": logits, "target": target}, {}, loss=F.cross_entropy(logits, target))
    x, y = numbers(3, 4), numbers(3, 4)
    case("mse", {"x": x, "y": y}, {}, loss=F.mse_loss(x, y))
    x, y = numbers(3, 4), numbers(3, 4)
    case("cosine_similarity", {"x": x, "y": y}, {"eps": 1e-8}, similarity=F.cosine_similarity(x, y, dim=-1, eps=1e-8))


def optimizers():
    """The last of a few steps: the parameter and the optimizer's state before it, and after it."""

    def last_step(name, optimizer, steps, state, options):
        parameter = torch.nn.Parameter(numbers(6))
        optimizer = optimizer(parameter)
        for step in range(steps):
            before = {"p": parameter.detach().clone()}
            before |= {key: optimizer.state[parameter][long].clone() for key, long in state.items() if step > 0}
            parameter.grad = numbers(6)
            before["g"] = parameter.grad.clone()
            optimizer.step()
        after = {key: optimizer.state[parameter][long] for key, long in state.items()}
        case(name, before, options | {"step": steps}, p=parameter, **after)

    options = {"lr": 0.125, "momentum": 0.875, "weight_decay": 0.0625}
    last_step("sgd", lambda p: torch.optim.SGD([p], **options), 2, {"velocity": "momentum_buffer"}, options)
    last_step(
        "sgd_nesterov",
        lambda p: torch.optim.SGD([p], nesterov=True, **options),
        2,
        {"velocity": "momentum_buffer"},
        options,
    )
    options = {"lr": 0.0078125, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0625}
    last_step(
        "adamw",
        lambda p: torch.optim.AdamW([p], lr=0.0078125, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0625),
        3,
        {"m": "exp_avg", "v": "exp_avg_sq"},
        options,
    )


def pooling():
    """The mean over the first `lengths` tokens of each text, scaled to length 1."""
    h, lengths = numbers(2, 4, 5), torch.tensor([4, 2])
    mask = (torch.arange(4)[None, :] < lengths[:, None]).double()[..., None]
    mean = (h * mask).sum(1) / mask.sum(1)
    case("mean_pool", {"h": h, "lengths": lengths}, {"eps": 1e-12}, mean=mean, y=F.normalize(mean, dim=-1, eps=1e-12))


def main():
    for family in (rows, normalizations, activations, attention, losses, optimizers, pooling):
        family()
    path = pathlib.Path(__file__).with_name("reference.json")
    lines = ",\n".join("    " + json.dumps(entry) for entry in CASES)
    path.write_text(f'{{\n  "torch": {json.dumps(torch.__version__)},\n  "cases": [\n{lines}\n  ]\n}}\n')
    print(f"{path.name}: {len(CASES)} cases, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
