struct Params {
  workgroups: u32,
  count: u32,
  row_length: u32,
  offset_1: u32,
  stride_1_0: u32,
  offset_0: u32,
  stride_0_0: u32,
  scalar_7: f32,
  stride_1_1: u32,
  offset_2: u32,
  stride_2_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> out_0: array<f32>;
@group(0) @binding(2) var<storage, read> in_0: array<f32>;
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
  let k0 = row;
  let end = p.row_length;
  let base1 = p.offset_1 + k0 * p.stride_1_0;
  let v0 = out_0[p.offset_0 + k0 * p.stride_0_0];
  let v1 = p.scalar_7;
  var running3_0 = f32();
  var lost3 = f32();
  let opaque = select(0u, 1u, p.row_length == 4294967295u);
  // unroll
  for (var chunk = lane; chunk < end; chunk += 32u) {
    let e0 = chunk;
    let v2_0 = in_0[base1 + e0 * p.stride_1_1];
    let own3_0_0 = v2_0;
    let sum3 = fuse_hidden1(running3_0 + own3_0_0, opaque);
    lost3 = lost3 + fuse_lost1(running3_0, own3_0_0, sum3);
    running3_0 = sum3;
  }
  let restored3_0 = fuse_restored1(running3_0, lost3);
  shared0[local] = bitcast<u32>(restored3_0);
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
  let v3 = s0_0_0_all;
  let v4 = v1 * v3;
  let v5 = v0 - v4;
  storageBarrier();
  if lane == 0u && valid {
    out_0[p.offset_2 + k0 * p.stride_2_0] = v5;
  }
}
