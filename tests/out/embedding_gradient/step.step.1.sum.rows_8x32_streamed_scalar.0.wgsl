struct Params {
  workgroups: u32,
  count: u32,
  extent_1: u32,
  row_length: u32,
  offset_1: u32,
  offset_2: u32,
  stride_2_0: u32,
  stride_2_1: u32,
  offset_3: u32,
  stride_3_0: u32,
  stride_3_1: u32,
  offset_0: u32,
  stride_0_0: u32,
  stride_0_1: u32,
  scalar_14: f32,
  size_15: u32,
  stride_1_2: u32,
  stride_2_2: u32,
  stride_3_2: u32,
  offset_4: u32,
  stride_4_0: u32,
  stride_4_1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read> in_1: array<i32>;
@group(0) @binding(3) var<storage, read> in_2: array<f32>;
@group(0) @binding(4) var<storage, read> in_3: array<f32>;
@group(0) @binding(5) var<storage, read_write> out_0: array<f32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

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
  let base1 = p.offset_1;
  let base2 = p.offset_2 + k0 * p.stride_2_0 + k1 * p.stride_2_1;
  let base3 = p.offset_3 + k0 * p.stride_3_0 + k1 * p.stride_3_1;
  let v0 = in_0[p.offset_0 + k0 * p.stride_0_0 + k1 * p.stride_0_1];
  let v1 = p.scalar_14;
  let v5 = i32(p.size_15);
  let v7 = v5 - 1i;
  let v9 = i32(k0);
  var running21_0 = f32();
  var lost21 = f32();
  let opaque = select(0u, 1u, p.row_length == 4294967295u);
  // unroll
  for (var chunk = lane; chunk < end; chunk += 32u) {
    let e0 = chunk;
    let v2_0 = in_1[base1 + e0 * p.stride_1_2];
    let v12_0 = in_2[base2 + e0 * p.stride_2_2];
    let v15_0 = in_3[base3 + e0 * p.stride_3_2];
    let v4_0 = max(v2_0, 0i);
    let v8_0 = min(v4_0, v7);
    let v10_0 = v8_0 == v9;
    let v13_0 = 1.0f * v12_0;
    let v14_0 = v13_0 + v13_0;
    let v16_0 = v15_0 * v15_0;
    let v17_0 = 1.0f - v16_0;
    let v18_0 = v14_0 * v17_0;
    let v20_0 = select(0.0f, v18_0, v10_0);
    let own21_0_0 = v20_0;
    let sum21 = fuse_hidden1(running21_0 + own21_0_0, opaque);
    lost21 = lost21 + fuse_lost1(running21_0, own21_0_0, sum21);
    running21_0 = sum21;
  }
  let restored21_0 = fuse_restored1(running21_0, lost21);
  shared0[local] = bitcast<u32>(restored21_0);
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
  let v21 = s0_0_0_all;
  let v22 = v1 * v21;
  let v23 = v0 - v22;
  if lane == 0u && valid {
    out_0[p.offset_4 + k0 * p.stride_4_0 + k1 * p.stride_4_1] = v23;
  }
}
