struct Params {
  workgroups: u32,
  count: u32,
  row_length: u32,
  split_depth: u32,
  offset_0: u32,
  splits: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> scratch: array<u32>;
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
  let part = id / p.count;
  let block = id % p.count;
  let lane = local;
  let row = block;
  let k0 = row;
  let begin = part * p.split_depth;
  let end = min(p.row_length, begin + p.split_depth);
  let base0 = p.offset_0;
  var running1_0 = f32();
  var lost1 = f32();
  let opaque = select(0u, 1u, p.row_length == 4294967295u);
  for (var chunk = begin + lane * 4u; chunk < end; chunk += 4096u) {
    let e0 = chunk;
    let e1 = chunk + 1024u;
    let inside1 = e1 < end;
    let e2 = chunk + 2048u;
    let inside2 = e2 < end;
    let e3 = chunk + 3072u;
    let inside3 = e3 < end;
    let v0_0 = in_0[(base0 + e0) / 4u];
    var v0_1: vec4<f32>;
    if inside1 {
      v0_1 = in_0[(base0 + e1) / 4u];
    }
    var v0_2: vec4<f32>;
    if inside2 {
      v0_2 = in_0[(base0 + e2) / 4u];
    }
    var v0_3: vec4<f32>;
    if inside3 {
      v0_3 = in_0[(base0 + e3) / 4u];
    }
    let own1_0_0 = v0_0;
    let own1_1_0 = select(vec4<f32>(), v0_1, inside1);
    let total1_1_0 = own1_0_0 + own1_1_0;
    let own1_2_0 = select(vec4<f32>(), v0_2, inside2);
    let total1_2_0 = total1_1_0 + own1_2_0;
    let own1_3_0 = select(vec4<f32>(), v0_3, inside3);
    let total1_3_0 = total1_2_0 + own1_3_0;
    let folded1_0_0 = total1_3_0.x + total1_3_0.y;
    let folded1_1_0 = total1_3_0.z + total1_3_0.w;
    let folded1_2_0 = folded1_0_0 + folded1_1_0;
    let sum1 = fuse_hidden1(running1_0 + folded1_2_0, opaque);
    lost1 += fuse_lost1(running1_0, folded1_2_0, sum1);
    running1_0 = sum1;
  }
  let restored1_0 = fuse_restored1(running1_0, lost1);
  shared0[local] = bitcast<u32>(restored1_0);
  workgroupBarrier();
  if lane < 128u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 128u]);
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  if lane < 64u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 64u]);
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  if lane < 32u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 32u]);
    shared0[local] = bitcast<u32>(merged0_0);
  }
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
  if lane == 0u {
    scratch[(0u * p.splits + part) * p.count + row] = bitcast<u32>(s0_0_0_all);
  }
}
