struct Params {
  workgroups: u32,
  count: u32,
  extent_1: u32,
  row_length: u32,
  offset_0: u32,
  stride_0_0: u32,
  stride_0_1: u32,
  offset_1: u32,
  offset_3: u32,
  stride_3_0: u32,
  stride_3_1: u32,
  offset_4: u32,
  stride_4_0: u32,
  stride_4_1: u32,
  size_14: u32,
  stride_0_2: u32,
  stride_1_2: u32,
  stride_3_2: u32,
  stride_4_2: u32,
  offset_2: u32,
  stride_2_0: u32,
  stride_2_1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read> in_1: array<f32>;
@group(0) @binding(3) var<storage, read_write> out_1: array<f32>;
@group(0) @binding(4) var<storage, read_write> out_2: array<f32>;
@group(0) @binding(5) var<storage, read_write> out_0: array<f32>;
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
var<workgroup> shared0: array<u32, 256>;

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
  let rows1 = row / p.extent_1;
  let k1 = row % p.extent_1;
  let k0 = rows1;
  let end = p.row_length;
  let base0 = p.offset_0 + k0 * p.stride_0_0 + k1 * p.stride_0_1;
  let base1 = p.offset_1;
  let base3 = p.offset_3 + k0 * p.stride_3_0 + k1 * p.stride_3_1;
  let base4 = p.offset_4 + k0 * p.stride_4_0 + k1 * p.stride_4_1;
  let v3 = f32(p.size_14);
  var running2_0 = f32();
  var lost2 = f32();
  let opaque = select(0u, 1u, p.row_length == 4294967295u);
  // unroll
  for (var chunk = lane; chunk < end; chunk += 32u) {
    let e0 = chunk;
    let v0_0 = in_0[base0 + e0 * p.stride_0_2];
    let v1_0 = v0_0 * v0_0;
    let own2_0_0 = v1_0;
    let sum2 = fuse_hidden1(running2_0 + own2_0_0, opaque);
    lost2 = lost2 + fuse_lost1(running2_0, own2_0_0, sum2);
    running2_0 = sum2;
  }
  let restored2_0 = fuse_restored1(running2_0, lost2);
  shared0[local] = bitcast<u32>(restored2_0);
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
  let v2 = s0_0_0_all;
  let v4 = v2 / v3;
  let v6 = v4 + 1e-6f;
  let v7 = fuse_rsqrt1(v6);
  // unroll
  for (var chunk = lane; chunk < end; chunk += 32u) {
    let e0 = chunk;
    let v0_0 = in_0[base0 + e0 * p.stride_0_2];
    let v9_0 = in_1[base1 + e0 * p.stride_1_2];
    let v8_0 = v0_0 * v7;
    let v10_0 = v8_0 * v9_0;
    if valid {
      out_1[base3 + e0 * p.stride_3_2] = v8_0;
      out_2[base4 + e0 * p.stride_4_2] = v10_0;
    }
  }
  if lane == 0u && valid {
    out_0[p.offset_2 + k0 * p.stride_2_0 + k1 * p.stride_2_1] = v7;
  }
}
