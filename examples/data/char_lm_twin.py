"""The network of `examples/char_lm.rs` in PyTorch: the same start, the same batches, the same steps.

    python3 char_lm_twin.py    # writes char_lm_loss.json beside itself: the loss of each step

Made with torch 2.15.0 and numpy 2.4 on a processor, in float32.
"""

import json
import math
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

WIDTH, HEADS, CONTEXT, BATCH, STEPS = 64, 4, 64, 16, 500
HERE = pathlib.Path(__file__).parent


def random(stream, count):
    """SplitMix64 (Steele, Lea and Flood 2014) at the places `stream << 32 ..`, as the example has it."""
    x = np.arange(count, dtype=np.uint64) + np.uint64((stream << 32) + 1)
    x *= np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def weights(stream, rows, columns, deviation):
    unit = (random(stream, rows * columns) >> np.uint64(40)).astype(np.float32) / np.float32(2**23) - np.float32(1)
    w = unit * np.float32(math.sqrt(3) * deviation)
    return torch.tensor(w.reshape(rows, columns), requires_grad=True)


def norm(x):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)


def heads(x):
    return x.reshape(len(x), -1, HEADS, WIDTH // HEADS).permute(0, 2, 1, 3)


def block(x, qkv, out, up, down):
    q, k, v = (heads(part) for part in (norm(x) @ qkv).split(WIDTH, dim=2))
    scores = q @ k.transpose(2, 3) / math.sqrt(WIDTH // HEADS)
    hidden = torch.ones(CONTEXT, CONTEXT, dtype=torch.bool).triu(1)
    context = scores.masked_fill(hidden, -math.inf).softmax(3) @ v
    a = x + context.permute(0, 2, 1, 3).reshape(len(x), -1, WIDTH) @ out
    return a + F.gelu(norm(a) @ up) @ down


def main():
    text = (HERE / "eighty_days.txt").read_bytes()
    characters = sorted(set(text))
    ids = torch.tensor([characters.index(c) for c in text])
    training = len(ids) * 9 // 10
    small = 0.5 / math.sqrt(WIDTH)
    shapes = [
        (len(characters), WIDTH, 0.5), (CONTEXT, WIDTH, 0.1), (2 * WIDTH, 3 * WIDTH, 2 * small), (2 * WIDTH, WIDTH, small),
        (2 * WIDTH, 4 * WIDTH, 2 * small), (8 * WIDTH, WIDTH, small / 2), (WIDTH, len(characters), 2 * small),
    ]
    parameters = [weights(stream, *shape) for stream, shape in enumerate(shapes)]
    tokens, positions, qkv, out, up, down, head = parameters
    optimizer = torch.optim.AdamW(parameters, lr=1.0, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.1)
    starts = random(100, STEPS * BATCH) % np.uint64(training - CONTEXT)
    losses = []
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = RATE * min((step + 1) / 50, 1) * (1 - step / STEPS)
        windows = torch.stack([ids[i : i + CONTEXT + 1] for i in starts[step * BATCH :][:BATCH].astype(int)])
        x = tokens[windows[:, :-1]] + positions
        for parts in zip(*(p.chunk(2) for p in (qkv, out, up, down))):
            x = block(x, *parts)
        loss = F.cross_entropy((norm(x) @ head).flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 50 == 49:
            print(step + 1, losses[-1])
    (HERE / "char_lm_loss.json").write_text(json.dumps([round(loss, 5) for loss in losses]) + "\n")


RATE = 0.01

if __name__ == "__main__":
    main()
