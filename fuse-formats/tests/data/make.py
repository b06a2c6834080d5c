"""Writes the fixtures of this folder with llama.cpp's own Python package.

    pip install gguf==0.19.0 numpy==2.4.6
    python make.py

Written here, by the package and by nothing of this repository:

- `decode_<type>.bin`: blocks, then their values as f32 (`gguf.quants.dequantize`). Little endian.
- `encode_input.bin`: values as f32; `encode_<type>.bin`: their blocks (`gguf.quants.quantize`).
- `digests.txt`: the same two for thousands of blocks, which tests make again with `mix`, as a digest of the results.
- `tiny.gguf`: a file with every type of metadata and several types of tensors (`gguf.GGUFWriter`).
"""

from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as T
from gguf.constants import GGML_QUANT_SIZES, GGUFValueType
from gguf.quants import dequantize, quantize

HERE = Path(__file__).parent
GOLDEN = np.uint64(0x9E3779B97F4A7C15)

# Offsets of the halves in a block: their scales and minima.
HALVES = {
    T.F16: [0], T.BF16: [0], T.Q4_0: [0], T.Q4_1: [0, 2], T.Q5_0: [0], T.Q5_1: [0, 2], T.Q8_0: [0],
    T.Q2_K: [80, 82], T.Q3_K: [108], T.Q4_K: [0, 2], T.Q5_K: [0, 2], T.Q6_K: [208], T.TQ1_0: [52], T.TQ2_0: [64],
}
ENCODED = [T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1, T.Q8_0]


def mix(seed, count):
    """splitmix64: `count` numbers of 64 bits."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + (np.arange(1, count + 1, dtype=np.uint64)) * GOLDEN
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def digest(words):
    """A sum of the words (32 bits each), each times an odd number of its position."""
    words = words.astype(np.uint64)
    with np.errstate(over="ignore"):
        weights = (np.arange(len(words), dtype=np.uint64) * GOLDEN) | np.uint64(1)
        return int(((words + np.uint64(1)) * weights).sum(dtype=np.uint64))


def blocks_of(ty, seed, count):
    """Random blocks whose halves are finite: the highest bit of their exponent is cleared."""
    size = GGML_QUANT_SIZES[ty][1]
    data = mix(seed, (count * size + 7) // 8).view(np.uint8)[: count * size].copy().reshape(count, size)
    for at in HALVES[ty]:
        data[:, at + 1] &= 0xBF
    return data


def values_of(seed, count):
    """Random blocks of 32 values of many magnitudes."""
    z = mix(seed, count * 32).reshape(count, 32)
    fractions = (z >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24) - np.float32(0.5)
    powers = np.exp2((np.arange(count) % 21 - 10).astype(np.float32)).astype(np.float32)
    return (fractions * powers[:, None]).astype(np.float32)


def decode_fixture(ty):
    count = 4 if GGML_QUANT_SIZES[ty][0] == 256 else 8 if GGML_QUANT_SIZES[ty][0] == 32 else 64
    data = blocks_of(ty, 100 + ty.value, count)
    # The largest finite scale, the smallest, and zeros of both signs.
    for block, half in enumerate([0x7BFF, 0x0001, 0x8000, 0x0000][: count - 1]):
        for at in HALVES[ty]:
            data[block, at : at + 2] = [half & 255, half >> 8]
    values = dequantize(data, ty).astype("<f4")
    assert np.isfinite(values).all(), ty
    (HERE / f"decode_{ty.name.lower()}.bin").write_bytes(data.tobytes() + values.tobytes())


def encode_input():
    special = np.zeros((6, 32), np.float32)
    special[1] = 1.5
    special[2] = -2.25
    special[3, ::2], special[3, 1::2] = 1.0, -1.0
    special[4] = np.arange(32) - 15.5
    special[5, 7] = 1e-9
    return np.concatenate([special, values_of(7, 18)])


def container():
    writer = gguf.GGUFWriter(HERE / "tiny.gguf", "tiny")
    writer.add_custom_alignment(64)
    writer.add_uint8("value.u8", 200)
    writer.add_int8("value.i8", -100)
    writer.add_uint16("value.u16", 60000)
    writer.add_int16("value.i16", -30000)
    writer.add_uint32("value.u32", 4000000000)
    writer.add_int32("value.i32", -2000000000)
    writer.add_uint64("value.u64", 1 << 63)
    writer.add_int64("value.i64", -(1 << 62))
    writer.add_float32("value.f32", 0.1)
    writer.add_float64("value.f64", 0.1)
    writer.add_bool("value.bool", True)
    writer.add_string("value.string", "naïve 🦀")
    writer.add_array("array.string", ["a", "", "日本"])
    writer.add_array("array.i32", [1, -2, 3])
    writer.add_array("array.bool", [True, False])
    writer.add_key_value("array.nested", [[1, 2], [3]], GGUFValueType.ARRAY)
    counting = np.arange(192, dtype=np.float32) - 96
    writer.add_tensor("f32", counting[:6].reshape(2, 3))
    writer.add_tensor("f16", counting[:4].astype(np.float16))
    q4_0 = quantize(counting.reshape(3, 64), T.Q4_0)
    writer.add_tensor("q4_0", q4_0, raw_dtype=T.Q4_0)
    q8_0 = quantize(counting.reshape(2, 3, 32), T.Q8_0)
    writer.add_tensor("q8_0", q8_0, raw_dtype=T.Q8_0)
    writer.add_tensor("i32", np.array([1, 2, 3], np.int32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    lines = []
    for ty in HALVES:
        decode_fixture(ty)
        data = blocks_of(ty, 1000 + ty.value, 3000)
        values = dequantize(data, ty)
        assert np.isfinite(values).all(), ty
        lines.append(f"decode {ty.name} {digest(values.reshape(-1).view(np.uint32)):016x}")
    values = encode_input()
    (HERE / "encode_input.bin").write_bytes(values.astype("<f4").tobytes())
    many = values_of(8, 5000)
    for ty in ENCODED:
        (HERE / f"encode_{ty.name.lower()}.bin").write_bytes(quantize(values, ty).tobytes())
        lines.append(f"encode {ty.name} {digest(quantize(many, ty).reshape(-1)):016x}")
    (HERE / "digests.txt").write_text("\n".join(lines) + "\n")
    container()


if __name__ == "__main__":
    main()
