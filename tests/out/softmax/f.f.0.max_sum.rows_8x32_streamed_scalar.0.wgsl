struct Params {
  workgroups: u32,
  count: u32,
  row_length: u32,
  offset_0: u32,
  stride_0_0: u32,
  offset_1: u32,
  stride_1_0: u32,
  stride_0_1: u32,
  stride_1_1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read_write> out_0: array<f32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_rounds = 1u;

fn fuse_is_nan1(x: f32) -> bool {
  return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
}
fn fuse_max_key1(x: f32) -> i32 {
  let bits = bitcast<i32>(x);
  let key = bits ^ ((bits >> u32(31u)) & i32(0x7fffffff));
  return select(key, i32(0x7fffffff), fuse_is_nan1(x));
}
fn fuse_of_key1(key: i32) -> f32 {
  return bitcast<f32>(key ^ ((key >> u32(31u)) & i32(0x7fffffff)));
}
fn fuse_hidden1(x: f32, opaque: u32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ u32(opaque));
}
fn fuse_lost1(a: f32, b: f32, s: f32) -> f32 {
  let ordered = abs(a) >= abs(b);
  return (select(b, a, ordered) - s) + select(a, b, ordered);
}
fn fuse_restored1(sum: f32, lost: f32) -> f32 {
  return select(sum + lost, sum, fuse_is_nan1(lost));
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
  let base1 = p.offset_1 + k0 * p.stride_1_0;
  var running1_0 = -2139095041i;
  for (var chunk_0 = lane; chunk_0 < end; chunk_0 += fuse_rounds * 32u) {
    for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
      let chunk = chunk_0 + iteration * 32u;
      if fuse_rounds == 1u || chunk < end {
        let e0 = chunk;
        let v0_0 = in_0[base0 + e0 * p.stride_0_1];
        let own1_0_0 = fuse_max_key1(v0_0);
        running1_0 = max(running1_0, own1_0_0);
      }
    }
  }
  shared0[local] = bitcast<u32>(running1_0);
  workgroupBarrier();
  if lane < 16u {
    let merged0_0 = max(bitcast<i32>(shared0[local]), bitcast<i32>(shared0[local + 16u]));
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  if lane < 8u {
    let merged0_0 = max(bitcast<i32>(shared0[local]), bitcast<i32>(shared0[local + 8u]));
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  if lane < 4u {
    let merged0_0 = max(bitcast<i32>(shared0[local]), bitcast<i32>(shared0[local + 4u]));
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  if lane < 2u {
    let merged0_0 = max(bitcast<i32>(shared0[local]), bitcast<i32>(shared0[local + 2u]));
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  if lane < 1u {
    let merged0_0 = max(bitcast<i32>(shared0[local]), bitcast<i32>(shared0[local + 1u]));
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  let s0_0_0_all = bitcast<i32>(shared0[local - lane]);
  let v1 = fuse_of_key1(s0_0_0_all);
  var running4_0 = f32();
  var lost4 = f32();
  let opaque = select(0u, 1u, p.row_length == 4294967295u);
  for (var chunk_0 = lane; chunk_0 < end; chunk_0 += fuse_rounds * 32u) {
    for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
      let chunk = chunk_0 + iteration * 32u;
      if fuse_rounds == 1u || chunk < end {
        let e0 = chunk;
        let v0_0 = in_0[base0 + e0 * p.stride_0_1];
        let v2_0 = v0_0 - v1;
        let v3_0 = exp(v2_0);
        let own4_0_0 = v3_0;
        let sum4 = fuse_hidden1(running4_0 + own4_0_0, opaque);
        lost4 += fuse_lost1(running4_0, own4_0_0, sum4);
        running4_0 = sum4;
      }
    }
  }
  let restored4_0 = fuse_restored1(running4_0, lost4);
  shared1[local] = bitcast<u32>(restored4_0);
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
  let v4 = s1_0_0_all;
  for (var chunk_0 = lane; chunk_0 < end; chunk_0 += fuse_rounds * 32u) {
    for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
      let chunk = chunk_0 + iteration * 32u;
      if fuse_rounds == 1u || chunk < end {
        let e0 = chunk;
        let v0_0 = in_0[base0 + e0 * p.stride_0_1];
        let v2_0 = v0_0 - v1;
        let v3_0 = exp(v2_0);
        let v5_0 = v3_0 / v4;
        if valid {
          out_0[base1 + e0 * p.stride_1_1] = v5_0;
        }
      }
    }
  }
}
