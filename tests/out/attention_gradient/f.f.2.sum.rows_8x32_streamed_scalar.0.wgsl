struct Params {
  workgroups: u32,
  count: u32,
  extent_1: u32,
  row_length: u32,
  offset_0: u32,
  stride_0_0: u32,
  stride_0_1: u32,
  stride_0_2: u32,
  offset_1: u32,
  stride_1_0: u32,
  stride_1_1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read_write> out_0: array<f32>;
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
  let base0 = p.offset_0 + k0 * p.stride_0_0 + k1 * p.stride_0_1;
  var running1_0 = f32();
  var lost1 = f32();
  let opaque = select(0u, 1u, p.row_length == 4294967295u);
  // unroll
  for (var chunk = lane; chunk < end; chunk += 32u) {
    let e0 = chunk;
    let v0_0 = in_0[base0 + e0 * p.stride_0_2];
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
  if lane == 0u && valid {
    out_0[p.offset_1 + k0 * p.stride_1_0 + k1 * p.stride_1_1] = v1;
  }
}
