#!/usr/bin/env python3
"""Times of PyTorch on the cases of benches/bars.toml, as JSON lines of the benchmark's form.

Two ways: operation by operation ("torch eager"), and compiled and replayed from a CUDA graph ("torch.compile + CUDA graph"),
which is what a user gets at best. Batches, warm-up and operands are those of benches/kernels; every result is checked against
float64. A case that fails or takes too long is left out with the reason.

Needs Python 3.11 and torch with CUDA; nothing else. `--device cpu` runs the same cases without CUDA graphs, to test this
program.
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import signal
import sys
import time
import tomllib

import torch
from torch.nn import functional

EAGER = "torch eager"
COMPILED = "torch.compile + CUDA graph"
DTYPES = {"f32": torch.float32, "f16": torch.float16}
BARS = pathlib.Path(__file__).resolve().parent.parent / "bars.toml"

# Iterations recorded into one CUDA graph: replaying a graph costs a few microseconds of its own.
GRAPH_ITERATIONS = 10


class TooLong(Exception):
    """A time limit was reached."""


@contextlib.contextmanager
def limit(seconds):
    """Raises TooLong in what takes longer, as soon as Python runs again."""

    def ring(_signal, _frame):
        raise TooLong(f"took longer than {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.01))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# ---- cases ----


def values(seed, shape, device):
    """Multiples of 1/64 in [-1, 1), the same as in benches/kernels/data.rs, in float64."""
    count = 1
    for extent in shape:
        count *= extent
    mask = 0xFFFFFFFF
    index = torch.arange(count, dtype=torch.int64, device=device)
    mixed = (index ^ ((seed * 0x9E3779B9) & mask)) & mask
    # Products of 32-bit numbers exceed 64 bits, so they are computed in halves.
    low, high = mixed & 0xFFFF, mixed >> 16
    hashed = (low * 0x85EBCA6B + (((high * 0x85EBCA6B) & 0xFFFF) << 16)) & mask
    return ((hashed >> 25) - 64).to(torch.float64).div_(64.0).reshape(shape)


def chain(count, operations, formula):
    def make(size):
        (n,) = size
        return formula, [(n,)] * count, operations * n

    return make


def product(extra, formula):
    """A formula of x and w, and of b and r if `extra` says so."""

    def make(size):
        m, n, k = size
        shapes = [(m, k), (k, n)] + [{"b": (n,), "r": (m, n)}[name] for name in extra]
        return formula, shapes, 2 * m * n * k

    return make


def rows(operations, parameters, formula):
    def make(size):
        m, n = size
        return formula, [(m, n)] + [(n,)] * parameters, operations * m * n

    return make


def attention(size):
    heads, queries, keys, width = size
    shapes = [(1, heads, queries, width), (1, heads, keys, width), (1, heads, keys, width)]
    return functional.scaled_dot_product_attention, shapes, 4 * heads * queries * keys * width


def cosine(size):
    m, n, k = size

    def formula(x, y):
        return functional.normalize(x, dim=1) @ functional.normalize(y, dim=1).T

    return formula, [(m, k), (n, k)], 2 * m * n * k


def normalized(x, gamma, beta):
    return functional.gelu(functional.layer_norm(x, (x.shape[1],), gamma, beta, 1e-5))


# Separate, because the weights it multiplies are quantized from the operand.
EIGHT_BITS = "matmul, 8-bit weights"

CASES = {
    "(a + b) * c": chain(3, 2, lambda a, b, c: (a + b) * c),
    "relu(a + b)": chain(2, 2, lambda a, b: torch.relu(a + b)),
    "sigmoid(a * b + c)": chain(3, 3, lambda a, b, c: torch.sigmoid(a * b + c)),
    "matmul": product("", lambda x, w: x @ w),
    "relu(matmul + b + r)": product("br", lambda x, w, b, r: torch.relu(torch.addmm(b, x, w) + r)),
    "matmul(gelu(x)) + b": product("b", lambda x, w, b: torch.addmm(b, functional.gelu(x), w)),
    "softmax": rows(5, 0, lambda x: torch.softmax(x, dim=1)),
    "gelu(layer_norm)": rows(8, 2, normalized),
    "attention": attention,
    "cosine": cosine,
}


def quantized(size):
    """8-bit weights with one scale: what the compiler makes of the usual way to write it."""
    m, n, k = size
    return (lambda x, w, scale: x @ (w.to(x.dtype) * scale)), [(m, k), (k, n)], 2 * m * n * k


def with_gradients(y, leaves, cotangent):
    return (y, *torch.autograd.grad(y, leaves, cotangent))


class NormGradient:
    """Gradients of a layer norm by all its operands. The forward pass is needed for them, and counted."""

    def __init__(self, size):
        m, n = size
        self.shapes, self.flops, self.moved = [(m, n), (n,), (n,), (m, n)], 16 * m * n, 3 * m * n + 4 * n
        self.forward = lambda x, gamma, beta: functional.layer_norm(x, (x.shape[1],), gamma, beta, 1e-5)

    def __call__(self, forward, x, gamma, beta, g):
        return with_gradients(forward(x, gamma, beta), (x, gamma, beta), g)[1:]


class AttentionGradients:
    """Attention and its gradients."""

    def __init__(self, size):
        heads, queries, keys, width = size
        shape = (1, heads, queries, width)
        self.shapes, self.flops = [shape] * 4, 14 * heads * queries * keys * width
        self.moved = 8 * heads * queries * width
        self.forward = functional.scaled_dot_product_attention

    def __call__(self, forward, q, k, v, g):
        return with_gradients(forward(q, k, v), (q, k, v), g)


class EmbeddingGradient:
    """The gradient of an embedding by its table; the second operand becomes the same ids as in benches/kernels."""

    def __init__(self, size):
        rows, columns, count = size
        self.shapes, self.flops = [(rows, columns), (count, columns)], count * columns
        self.moved = count * columns + rows * columns + count
        self.ids = [i * 7919 % rows if i % 2 == 0 else i * 31 % min(rows, 97) for i in range(count)]
        self.forward = functional.embedding

    def __call__(self, forward, table, g):
        if isinstance(self.ids, list):
            self.ids = torch.tensor(self.ids, device=table.device)
        return torch.autograd.grad(forward(self.ids, table), table, g)


GRADIENTS = {
    "layer_norm gradient": NormGradient,
    "attention and gradients": AttentionGradients,
    "embedding gradient": EmbeddingGradient,
}


class GradientCase:
    """A case that differentiates: the forward pass can be compiled, which compiles the backward pass too."""

    def __init__(self, name, dtype, size, device):
        self.of = GRADIENTS[name](extents(size))
        self.formula = self.of.forward
        self.flops = self.of.flops
        self.half = dtype == "f16"
        exact = [values(seed, shape, device) for seed, shape in enumerate(self.of.shapes, 1)]
        self.operands = [tensor.to(DTYPES[dtype]).requires_grad_() for tensor in exact]
        self.expected = None
        if max(extents(size)) <= 1 << 12 or name == "embedding gradient":
            wide = [tensor.double().detach().requires_grad_() for tensor in self.operands]
            with torch.enable_grad():
                self.expected = [tensor.detach() for tensor in self.of(self.formula, *wide)]
        # Elements read and written, as in benches/kernels.
        self.bytes = self.of.moved * self.operands[0].element_size()

    def call(self, compiled=None):
        with torch.enable_grad():
            return self.of(compiled or self.formula, *self.operands)

    def check(self, results):
        if self.expected is None:
            return
        for result, expected in zip(results, self.expected):
            error = ((result.double() - expected).abs() / expected.abs().clamp(min=1.0)).max().item()
            if not error <= (2e-2 if self.half else 1e-3):
                raise ArithmeticError(f"wrong result, relative error {error:.3g}")


class Training:
    """A step of training of three layers with PyTorch's fused AdamW: forward, backward, optimizer."""

    name = "training step, AdamW"

    def __init__(self, size, device):
        k, h, l, c, b = extents(size)
        weights = k * h + h * l + l * c
        self.flops, self.bytes = b * (6 * weights - 2 * k * h) + 14 * weights, 28 * weights
        self.x = values(1, (b, k), device).float()
        self.classes = torch.tensor([i * 7 % c for i in range(b)], device=device)
        self.matrices = [(values(2, shape, device) / shape[0] ** 0.5).float() for shape in ((k, h), (h, l), (l, c))]
        self.rows = [torch.zeros(width, device=device) for width in (h, l, c)]
        self.parameters = [tensor.requires_grad_() for tensor in self.matrices + self.rows]
        cuda = self.x.is_cuda
        self.optimizer = torch.optim.AdamW(
            self.parameters, lr=0.001, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, fused=cuda, capturable=cuda
        )

    def formula(self):
        (w1, w2, w3), (b1, b2, b3) = self.matrices, self.rows
        hidden = torch.relu(torch.addmm(b2, torch.relu(torch.addmm(b1, self.x, w1)), w2))
        return functional.cross_entropy(torch.addmm(b3, hidden, w3), self.classes)

    def call(self, compiled=None):
        with torch.enable_grad():
            loss = (compiled or self.formula)()
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
        return loss

    def check(self, before):
        """Whether the batch is learnt: steps themselves are compared in our own tests."""
        for _ in range(20):
            after = self.call()
        if not after.item() < before.item():
            raise ArithmeticError(f"loss {after.item()} after 20 steps, {before.item()} before")


def extents(size):
    if size.startswith("2^"):
        return (1 << int(size[2:]),)
    return tuple(int(extent) for extent in size.split("x"))


class Case:
    """A case on a device."""

    def __init__(self, name, dtype, size, device):
        if dtype not in DTYPES:
            raise ValueError(f"no dtype {dtype}")
        eight_bits = name == EIGHT_BITS
        shaped = quantized if eight_bits else CASES[name]
        self.formula, shapes, self.flops = shaped(extents(size))
        exact = [values(seed, shape, device) for seed, shape in enumerate(shapes, 1)]
        if eight_bits:
            scale = exact[1].abs().max() / 127
            weights = torch.clamp(torch.round(exact[1] / scale), -127, 127).to(torch.int8)
            self.operands = [exact[0].to(DTYPES[dtype]), weights, scale.to(DTYPES[dtype])]
        else:
            self.operands = [tensor.to(DTYPES[dtype]) for tensor in exact]
        del exact
        self.half = dtype == "f16"
        wide = [tensor.double() if tensor.is_floating_point() else tensor for tensor in self.operands]
        self.expected = self.formula(*wide)
        moved = [*self.operands, self.expected.to(DTYPES[dtype])]
        self.bytes = sum(tensor.numel() * tensor.element_size() for tensor in moved)

    def call(self, compiled=None):
        return (compiled or self.formula)(*self.operands)

    def check(self, result):
        """The largest error; raises if a kernel is wrong."""
        error = ((result.double() - self.expected).abs() / self.expected.abs().clamp(min=1.0)).max().item()
        if not error <= (2e-2 if self.half else 1e-3):
            raise ArithmeticError(f"wrong result, relative error {error:.3g}")


def group_norm_silu(x, gamma, beta):
    return functional.silu(functional.group_norm(x, 8, gamma, beta, 1e-5))


def blur(x):
    rows = (x[:-2] + 2.0 * x[1:-1] + x[2:]) * 0.25
    return (rows[:, :-2] + 2.0 * rows[:, 1:-1] + rows[:, 2:]) * 0.25


def forces(p, m):
    d = p[None] - p[:, None]
    inverse = torch.rsqrt((d * d).sum(2, keepdim=True) + 0.01)
    return (d * (m[None, :, None] * inverse * inverse * inverse)).sum(1)


def rotary(x, cosines, sines):
    turned = torch.cat([-x[..., 32:], x[..., :32]], dim=3)
    return x * cosines[:, None] + turned * sines[:, None]


def heat(u):
    rows = torch.roll(u, 1, 0) + torch.roll(u, -1, 0)
    return u + 0.1 * (rows + torch.roll(u, 1, 1) + torch.roll(u, -1, 1) - 4.0 * u)


def histogram(ids):
    classes = torch.arange(256, device=ids.device, dtype=ids.dtype)
    return (ids[:, None] == classes).sum(0)


def mean_and_variance(x):
    return x.mean(0), x.var(0, correction=0)


# The programs of benches/kernels/data_programs.rs: formula, shapes of operands by the case's size. A shape with a number
# after it is one of indices below that number.
DATA = {
    "data/transpose(x) * 2 + y": (lambda x, y: x.T * 2.0 + y, lambda m, n: [(n, m), (m, n)]),
    "data/mean and variance of columns": (mean_and_variance, lambda m, n: [(m, n)]),
    "data/silu(group_norm), 8 groups": (group_norm_silu, lambda b, c, s: [(b, c, s), (c,), (c,)]),
    "data/separable blur": (blur, lambda h, w: [(h + 2, w + 2)]),
    "data/forces of N bodies": (forces, lambda n: [(n, 3), (n,)]),
    "data/softmax over a vocabulary": (lambda x: torch.softmax(x, dim=1), lambda m, n: [(m, n)]),
    "data/(x / 255 - a) / b, channels moved": (
        lambda x, a, b: ((x / 255.0 - a) / (b + 2.0)).permute(0, 2, 1).contiguous(),
        lambda b, p, c: [(b, p, c), (c,), (c,)],
    ),
    "data/permute of heads": (lambda x: x.permute(0, 2, 1, 3).contiguous(), lambda *shape: [shape]),
    "data/rotary positions": (rotary, lambda b, s, h, d: [(b, s, h, d), (s, d), (s, d)]),
    "data/heat equation by roll": (heat, lambda h, w: [(h, w)]),
    "data/products of 4x4 matrices": (torch.matmul, lambda *shape: [shape, shape]),
    "data/histogram of 256 classes": (histogram, lambda n, classes: [(n, None, classes)]),
    "data/gathered rows": (lambda table, ids: table[ids], lambda n, d: [(100_000, d), (n, None, 100_000)]),
    "data/sum": (torch.sum, lambda n: [(n,)]),
    "data/dot": (torch.dot, lambda n: [(n,), (n,)]),
    "data/transpose(x) * y, tall": (lambda x, y: x.T @ y, lambda n, _, m: [(m, n), (m, n)]),
    "data/nearest point": (
        lambda x, y: torch.argmin((y * y).sum(1) - 2.0 * (x @ y.T), dim=1),
        lambda m, n, d: [(m, d), (n, d)],
    ),
    "data/argmax over a vocabulary": (lambda x: torch.argmax(x, dim=1), lambda m, n: [(m, n)]),
}

# Their results are indices: equal values may have another one.
CHOICES = {"data/nearest point", "data/argmax over a vocabulary"}


class DataCase:
    """A numerical or data program."""

    def __init__(self, name, dtype, size, device):
        self.formula, shapes = DATA[name]
        self.operands, self.flops = [], 0
        for seed, shape in enumerate(shapes(*extents(size)), 1):
            if None in shape:
                count, _, below = shape
                ids = torch.arange(count, dtype=torch.int64, device=device)
                self.operands.append((ids * 2_654_435_761 >> 7) % below)
            else:
                self.operands.append(values(seed, shape, device).to(DTYPES[dtype]))
        wide = [tensor.double() if tensor.is_floating_point() else tensor for tensor in self.operands]
        expected = self.formula(*wide)
        self.expected = list(expected) if isinstance(expected, tuple) else [expected]
        self.bytes = sum(4 * tensor.numel() for tensor in [*self.operands, *self.expected])
        if name in CHOICES:
            self.expected = []

    def call(self, compiled=None):
        return (compiled or self.formula)(*self.operands)

    def check(self, results):
        for result, expected in zip(results if isinstance(results, tuple) else (results,), self.expected):
            error = ((result.double() - expected).abs() / expected.abs().clamp(min=1.0)).max().item()
            if not error <= 1e-3:
                raise ArithmeticError(f"wrong result, relative error {error:.3g}")


KNOWN = {*CASES, *DATA, *GRADIENTS, EIGHT_BITS, Training.name}


def make(name, dtype, size, device):
    if name in DATA:
        return DataCase(name, dtype, size, device)
    if name in GRADIENTS:
        return GradientCase(name, dtype, size, device)
    if name == Training.name:
        return Training(size, device)
    return Case(name, dtype, size, device)


# ---- measuring ----


class Meter:
    """Measures calls: batches of calls that are queued back to back and waited for once."""

    def __init__(self, options):
        self.cuda = options.device == "cuda"
        self.batches = 3 if options.quick else 9
        self.warm_up = 0.02 if options.quick else 0.3
        self.batch_time = 0.01 if options.quick else 0.06

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize()

    def batch(self, call, count):
        self.wait()
        start = time.perf_counter()
        for _ in range(count):
            call()
        self.wait()
        return (time.perf_counter() - start) / count

    def measure(self, call):
        """Median, fastest and slowest batch in microseconds per call, and the calls of a batch."""
        self.batch(call, 1)
        start, count, turns = time.perf_counter(), 1, 0
        while turns < 3 or time.perf_counter() - start < self.warm_up:
            one = max(self.batch(call, count), 1e-9)
            count, turns = min(max(int(self.batch_time / one), 1), 5000), turns + 1
        times = sorted(self.batch(call, count) * 1e6 for _ in range(self.batches))
        return times[len(times) // 2], times[0], times[-1], count

    def graphed(self, call):
        """The call recorded several times into a CUDA graph, and how many times."""
        if not self.cuda:
            return call, 1
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                call()
        torch.cuda.current_stream().wait_stream(stream)
        self.wait()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(GRAPH_ITERATIONS):
                call()
        return graph.replay, GRAPH_ITERATIONS


class Lines:
    """Where results go."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8") if path else sys.stdout

    def add(self, kind, **fields):
        print(json.dumps({"kind": kind, **fields}), file=self.file, flush=True)


def host():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.machine()
    return f"{name}, {len(os.sched_getaffinity(0))} cores"


def driver():
    """The version of the kernel's driver, which torch does not tell."""
    try:
        text = pathlib.Path("/proc/driver/nvidia/version").read_text(encoding="utf-8")
        return "NVIDIA " + next(word for word in text.split() if word.count(".") >= 1 and word[0].isdigit())
    except (OSError, StopIteration):
        return "unknown"


def identity(cuda):
    return {
        "program": "PyTorch",
        "version": f"{torch.__version__}" + (f", CUDA {torch.version.cuda}" if cuda else ""),
        "adapter": torch.cuda.get_device_name(0) if cuda else platform.machine(),
        "driver": driver(),
        "host": host(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": os.environ.get("FUSE_COMMIT", "unknown"),
    }


def small(size):
    """A size of the same form with extents of at most 64, or 2^12 elements."""
    if size.startswith("2^"):
        return "2^12"
    return "x".join(str(min(int(extent), 64)) for extent in size.split("x"))


def wanted(options):
    """Case, dtype and size of what has a bar or stands beside rivals and is known here, once each."""
    with open(options.bars, "rb") as file:
        bars = tomllib.load(file)
    timed = [group for group in bars["bar"] if "at_least_ratio" not in group]
    found = {}
    for group in timed + bars["reference"]:
        for case in (case for case in group["cases"] if case in KNOWN):
            for size in group.get("sizes", []):
                key = (case, group.get("dtype", "f32"), small(size) if options.quick else size)
                if not options.filter or any(part in " ".join(key) for part in options.filter):
                    found[key] = True
    return list(found)


def run(options):
    start = time.perf_counter()
    cuda = options.device == "cuda"
    # No TF32: products of f32 are computed in f32.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.set_grad_enabled(False)
    torch.manual_seed(0)
    lines, meter = Lines(options.json), Meter(options)
    lines.add("run", **identity(cuda))

    def left():
        return options.limit - (time.perf_counter() - start)

    def attempt(way, key, call):
        """Adds what a way of a case takes, or why that is not known."""
        name = dict(zip(("case", "dtype", "size"), key))
        try:
            if left() <= 0:
                raise TooLong("not started within the time limit")
            with limit(min(options.case_limit, left())):
                case, meant, (median, least, most, count), per = call()
            lines.add(
                "time", way=way, **name, variant=meant, picked=True, median_us=round(median / per, 3),
                min_us=round(least / per, 3), max_us=round(most / per, 3), batches=meter.batches, launches_per_batch=count * per,
                flops=float(case.flops), bytes=float(case.bytes),
            )
        except Exception as error:  # Whatever a rival's kernel does must not end the run.
            reason = f"{type(error).__name__}: {error}".replace("\n", " ")[:200]
            lines.add("left_out", way=way, **name, reason=reason)
        print(way, *key, file=sys.stderr)

    for key in wanted(options):
        kept = []

        def prepared():
            if not kept:
                kept.append(make(*key, options.device))
            return kept[0]

        def eager():
            case = prepared()
            case.check(case.call())
            return case, None, meter.measure(case.call), 1

        def compiled():
            case = prepared()
            torch._dynamo.reset()
            formula = torch.compile(case.formula, dynamic=False, fullgraph=True, mode=options.mode)
            case.check(case.call(formula))
            call, per = meter.graphed(lambda: case.call(formula))
            return case, options.mode, meter.measure(call), per

        attempt(EAGER, key, eager)
        attempt(COMPILED, key, compiled)
        kept.clear()
        if cuda:
            torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes and short measurements")
    parser.add_argument("--filter", action="append", default=[], help="only cases whose name or size contains this")
    parser.add_argument("--json", help="write JSON lines to this file instead of the standard output")
    parser.add_argument("--bars", default=BARS, help="the list of cases (default: benches/bars.toml)")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--mode", default="default", help="mode of torch.compile (max-autotune-no-cudagraphs searches)")
    parser.add_argument("--limit", type=float, default=200, help="start no case after this many seconds")
    parser.add_argument("--case-limit", type=float, default=40, help="seconds of one way of one case")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("error: torch sees no CUDA device (`--device cpu` tests this program without one)")
    run(options)


if __name__ == "__main__":
    main()
