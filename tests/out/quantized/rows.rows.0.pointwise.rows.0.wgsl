struct Params {
  count: u32,
  extent_1: u32,
  offset_0: u32,
  stride_0_0: u32,
  size_4: u32,
  size_5: u32,
  offset_1: u32,
  offset_2: u32,
  step_1_0: u32,
  step_2_0: u32,
  step_1_1: u32,
  step_2_1: u32,
  size_12: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<i32>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> scales_1: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> out_0: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_wide_scales_1 = false;

fn scale_1(at: u32) -> vec2<f32> {
  if fuse_wide_scales_1 {
    return bitcast<vec2<f32>>(vec2<u32>(scales_1[2u * at / 4u][2u * at % 4u], scales_1[(2u * at + 1u) / 4u][(2u * at + 1u) % 4u]));
  }
  return unpack2x16float(scales_1[at / 4u][at % 4u]);
}
fn dequantize_1(words: u32, words_step: u32, scales: u32, scales_step: u32, index: u32, group: u32) -> f32 {
  let bit = index % 4u * 8u;
  let packed = in_1[(words + index / 4u * words_step) / 4u][(words + index / 4u * words_step) % 4u] >> bit;
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
  if i >= (p.count + 3u) / 4u {
    return;
  }
  let r1 = i / ((p.extent_1 + 3u) / 4u);
  let c1 = (i - r1 * ((p.extent_1 + 3u) / 4u)) * 4u;
  let c0 = r1;
  let v0 = vec4<i32>(in_0[(p.offset_0 + c0 * p.stride_0_0) / 4u][(p.offset_0 + c0 * p.stride_0_0) % 4u]);
  let v1 = vec4<i32>(i32(p.size_4));
  let v3 = v1 - vec4<i32>(1i);
  let v4 = min(v0, v3);
  let v6 = max(v4, vec4<i32>(0i));
  let v7 = vec4<i32>(vec4<u32>(c1) + vec4<u32>(0u, 1u, 2u, 3u));
  let v8 = vec4<i32>(i32(p.size_5));
  let v9 = v8 - vec4<i32>(1i);
  let v10 = min(v7, v9);
  let v11 = vec4<f32>(dequantize_1(p.offset_1 + u32(v6.x) * p.step_1_0, p.step_1_1, p.offset_2 + u32(v6.x) * p.step_2_0, p.step_2_1, u32(v10.x), p.size_12), dequantize_1(p.offset_1 + u32(v6.y) * p.step_1_0, p.step_1_1, p.offset_2 + u32(v6.y) * p.step_2_0, p.step_2_1, u32(v10.y), p.size_12), dequantize_1(p.offset_1 + u32(v6.z) * p.step_1_0, p.step_1_1, p.offset_2 + u32(v6.z) * p.step_2_0, p.step_2_1, u32(v10.z), p.size_12), dequantize_1(p.offset_1 + u32(v6.w) * p.step_1_0, p.step_1_1, p.offset_2 + u32(v6.w) * p.step_2_0, p.step_2_1, u32(v10.w), p.size_12));
  out_0[i] = v11;
}
