struct Params {
  workgroups: u32,
  count: u32,
  row_length: u32,
  offset_0: u32,
  stride_0_0: u32,
  offset_1: u32,
  offset_2: u32,
  offset_3: u32,
  stride_3_0: u32,
  size_9: u32,
  stride_0_1: u32,
  stride_1_1: u32,
  stride_2_1: u32,
  stride_3_1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read> in_1: array<f32>;
@group(0) @binding(3) var<storage, read> in_2: array<f32>;
@group(0) @binding(4) var<storage, read_write> out_0: array<f32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

const fuse_fast_math = false;
fn fuse_hidden1(x: f32, opaque: u32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ u32(opaque));
}
fn fuse_lost1(a: f32, b: f32, s: f32) -> f32 {
  let ordered = abs(a) >= abs(b);
  return (select(b, a, ordered) - s) + select(a, b, ordered);
}
fn fuse_is_nan1(x: f32) -> bool {
  return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
}
fn fuse_restored1(sum: f32, lost: f32) -> f32 {
  return select(sum + lost, sum, fuse_is_nan1(lost));
}
fn fuse_is_zero1(x: f32) -> bool {
  return ((bitcast<u32>(x) << u32(1u)) == u32(0u)) | (x == f32(0.0));
}
fn fuse_rsqrt1(x: f32) -> f32 {
  if fuse_fast_math {
    return inverseSqrt(x);
  }
  let infinity = bitcast<f32>((bitcast<u32>(x) & u32(0x80000000u)) | u32(fuse_inf_bits));
  return select(inverseSqrt(x), infinity, fuse_is_zero1(x));
}
fn fuse_erf1(x: f32) -> f32 {
  if fuse_fast_math {
    let u = f32(1.0) / (f32(1.0) + f32(0.3275911) * abs(x));
    let tail = u * (f32(0.254829592) + u * (f32(-0.284496736) + u * (f32(1.421413741) + u * (f32(-1.453152027) + u * f32(1.061405429)))));
    let whole = f32(1.0) - tail * exp(-x * x);
    return select(whole, -whole, x < f32(0.0));
  }
  let t = abs(x);
  let s = x * x;
  let near = x + x * (f32(0.128379166) + s * (f32(-0.376125336) + s * (f32(0.112819925) + s * (f32(-0.0267681349) + s * (f32(0.00499119423) + s * f32(-0.000596761703))))));
  let u = (f32(0.000383197126) + t * f32(-0.0000172853470)) * s + (f32(0.0242546219) + t * f32(-0.00388396438));
  let e = ((u * t + f32(-0.106777877)) * t + f32(-0.634846687)) * t + f32(-0.128717512);
  let far = f32(1.0) - exp(e * t - t);
  return select(select(far, -far, x < f32(0.0)), near, t <= f32(0.927734375));
}
fn fuse_gelu1(x: f32) -> f32 {
  return f32(0.5) * x * (f32(1.0) + fuse_erf1(x * f32(0.70710678)));
}
var<workgroup> shared0: array<u32, 256>;
var<workgroup> shared1: array<u32, 256>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let id = workgroup.x + workgroup.y * workgroups.x;
  if id >= p.workgroups {
    return;
  }
  let block = id;
  let at = local;
  let lane = at % 32u;
  let row_at = block * 8u + at / 32u;
  let valid = row_at < p.count;
  let row = min(row_at, p.count - 1u);
  let k0 = row;
  let end = p.row_length;
  let base0 = p.offset_0 + k0 * p.stride_0_0;
  let base1 = p.offset_1;
  let base2 = p.offset_2;
  let base3 = p.offset_3 + k0 * p.stride_3_0;
  let v2 = f32(p.size_9);
  var running1_0 = f32();
  var lost1 = f32();
  let opaque = select(0u, 1u, p.row_length == 4294967295u);
  // unroll
  for (var chunk = lane; chunk < end; chunk += 32u) {
    let e0 = chunk;
    let v0_0 = in_0[base0 + e0 * p.stride_0_1];
    let own1_0_0 = v0_0;
    let sum1 = fuse_hidden1(running1_0 + own1_0_0, opaque);
    lost1 = lost1 + fuse_lost1(running1_0, own1_0_0, sum1);
    running1_0 = sum1;
  }
  let restored1_0 = fuse_restored1(running1_0, lost1);
  shared0[local] = bitcast<u32>(restored1_0);
  workgroupBarrier();
  if lane < 16u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 16u]);
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  if lane < 8u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 8u]);
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  if lane < 4u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 4u]);
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  if lane < 2u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 2u]);
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  if lane < 1u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 1u]);
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  let s0_0_0_all = bitcast<f32>(shared0[local - lane]);
  let v1 = s0_0_0_all;
  let v3 = v1 / v2;
  var running6_0 = f32();
  var lost6 = f32();
  // unroll
  for (var chunk = lane; chunk < end; chunk += 32u) {
    let e0 = chunk;
    let v0_0 = in_0[base0 + e0 * p.stride_0_1];
    let v4_0 = v0_0 - v3;
    let v5_0 = v4_0 * v4_0;
    let own6_0_0 = v5_0;
    let sum6 = fuse_hidden1(running6_0 + own6_0_0, opaque);
    lost6 = lost6 + fuse_lost1(running6_0, own6_0_0, sum6);
    running6_0 = sum6;
  }
  let restored6_0 = fuse_restored1(running6_0, lost6);
  shared1[local] = bitcast<u32>(restored6_0);
  workgroupBarrier();
  if lane < 16u {
    let merged1_0 = bitcast<f32>(shared1[local]) + bitcast<f32>(shared1[local + 16u]);
    shared1[local] = bitcast<u32>(merged1_0);
  }
  workgroupBarrier();
  if lane < 8u {
    let merged1_0 = bitcast<f32>(shared1[local]) + bitcast<f32>(shared1[local + 8u]);
    shared1[local] = bitcast<u32>(merged1_0);
  }
  workgroupBarrier();
  if lane < 4u {
    let merged1_0 = bitcast<f32>(shared1[local]) + bitcast<f32>(shared1[local + 4u]);
    shared1[local] = bitcast<u32>(merged1_0);
  }
  workgroupBarrier();
  if lane < 2u {
    let merged1_0 = bitcast<f32>(shared1[local]) + bitcast<f32>(shared1[local + 2u]);
    shared1[local] = bitcast<u32>(merged1_0);
  }
  workgroupBarrier();
  if lane < 1u {
    let merged1_0 = bitcast<f32>(shared1[local]) + bitcast<f32>(shared1[local + 1u]);
    shared1[local] = bitcast<u32>(merged1_0);
  }
  workgroupBarrier();
  let s1_0_0_all = bitcast<f32>(shared1[local - lane]);
  let v6 = s1_0_0_all;
  let v7 = v6 / v2;
  let v9 = v7 + 1e-5f;
  let v10 = fuse_rsqrt1(v9);
  // unroll
  for (var chunk = lane; chunk < end; chunk += 32u) {
    let e0 = chunk;
    let v0_0 = in_0[base0 + e0 * p.stride_0_1];
    let v12_0 = in_1[base1 + e0 * p.stride_1_1];
    let v14_0 = in_2[base2 + e0 * p.stride_2_1];
    let v4_0 = v0_0 - v3;
    let v11_0 = v4_0 * v10;
    let v13_0 = v11_0 * v12_0;
    let v15_0 = v13_0 + v14_0;
    let v16_0 = fuse_gelu1(v15_0);
    if valid {
      out_0[base3 + e0 * p.stride_3_1] = v16_0;
    }
  }
}
