struct Params {
  count: u32,
  extent_1: u32,
  offset_0: u32,
  stride_0_0: u32,
  stride_0_1: u32,
  size_5: u32,
  size_6: u32,
  offset_1: u32,
  offset_2: u32,
  step_1_0: u32,
  step_2_0: u32,
  step_1_1: u32,
  step_2_1: u32,
  size_13: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<i32>;
@group(0) @binding(2) var<storage, read> in_1: array<u32>;
@group(0) @binding(3) var<storage, read> scales_1: array<u32>;
@group(0) @binding(4) var<storage, read_write> out_0: array<f32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

const fuse_wide_scales_1 = false;
fn scale_1(at: u32) -> vec2<f32> {
  if fuse_wide_scales_1 {
    return bitcast<vec2<f32>>(vec2<u32>(scales_1[2u * at], scales_1[2u * at + 1u]));
  }
  return unpack2x16float(scales_1[at]);
}
fn dequantize_1(words: u32, words_step: u32, scales: u32, scales_step: u32, index: u32, group: u32) -> f32 {
  let bit = index % 4u * 8u;
  let packed = in_1[words + index / 4u * words_step] >> bit;
  let scale = scale_1(scales + index / group * scales_step);
  return f32(packed & 255u) * scale.x + scale.y;
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let id = workgroup.x + workgroup.y * workgroups.x;
  let i = id * 256u + local;
  if i >= p.count {
    return;
  }
  let r1 = i / p.extent_1;
  let c1 = i - r1 * p.extent_1;
  let c0 = r1;
  let v0 = in_0[p.offset_0 + c0 * p.stride_0_0 + c1 * p.stride_0_1];
  let v1 = i32(p.size_5);
  let v3 = v1 - 1i;
  let v4 = min(v0, v3);
  let v6 = max(v4, 0i);
  let v7 = i32(c1);
  let v8 = i32(p.size_6);
  let v9 = v8 - 1i;
  let v10 = min(v7, v9);
  let v11 = dequantize_1(p.offset_1 + u32(v6) * p.step_1_0, p.step_1_1, p.offset_2 + u32(v6) * p.step_2_0, p.step_2_1, u32(v10), p.size_13);
  out_0[i] = v11;
}
