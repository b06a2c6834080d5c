struct Params {
  workgroups: u32,
  row_length: u32,
  offset_0: u32,
  stride_0_0: u32,
  size_4: u32,
  stride_0_1: u32,
  offset_1: u32,
  stride_1_0: u32,
  offset_2: u32,
  stride_2_0: u32,
  offset_3: u32,
  stride_3_0: u32,
  offset_4: u32,
  stride_4_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read_write> out_0: array<f32>;
@group(0) @binding(3) var<storage, read_write> out_1: array<f32>;
@group(0) @binding(4) var<storage, read_write> out_2: array<f32>;
@group(0) @binding(5) var<storage, read_write> out_3: array<i32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

fn fuse_is_nan1(x: f32) -> bool {
  return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
}
fn fuse_max_key1(x: f32) -> i32 {
  let bits = bitcast<i32>(x);
  let key = bits ^ ((bits >> u32(31u)) & i32(0x7fffffff));
  return select(key, i32(0x7fffffff), fuse_is_nan1(x));
}
fn fuse_one_zero1(x: f32) -> f32 {
  return select(x, f32(0.0), (bitcast<u32>(x) << u32(1u)) == u32(0u));
}
fn fuse_min_key1(x: f32) -> i32 {
  let bits = bitcast<i32>(x);
  let key = ~(bits ^ ((bits >> u32(31u)) & i32(0x7fffffff)));
  return select(key, i32(0x7fffffff), fuse_is_nan1(x));
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
fn fuse_of_key1(key: i32) -> f32 {
  return bitcast<f32>(key ^ ((key >> u32(31u)) & i32(0x7fffffff)));
}
var<workgroup> shared0: array<u32, 256>;
var<workgroup> shared1: array<u32, 256>;
var<workgroup> shared2: array<u32, 256>;
var<workgroup> shared3: array<u32, 256>;
var<workgroup> shared4: array<u32, 256>;

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
  let lane = local;
  let row = block;
  let k0 = row;
  let end = p.row_length;
  let base0 = p.offset_0 + k0 * p.stride_0_0;
  let v5 = f32(p.size_4);
  var running1_0 = f32();
  var lost1 = f32();
  let opaque = select(0u, 1u, p.row_length == 4294967295u);
  var running2_0 = -2139095041i;
  var running4_0 = f32();
  var lost4 = f32();
  var running7_0 = i32(-2147483648);
  var running7_1 = 4294967295u;
  for (var chunk = lane; chunk < end; chunk += 1024u) {
    let e0 = chunk;
    let e1 = chunk + 256u;
    let inside1 = e1 < end;
    let e2 = chunk + 512u;
    let inside2 = e2 < end;
    let e3 = chunk + 768u;
    let inside3 = e3 < end;
    let v0_0 = in_0[base0 + e0 * p.stride_0_1];
    var v0_1: f32;
    if inside1 {
      v0_1 = in_0[base0 + e1 * p.stride_0_1];
    }
    var v0_2: f32;
    if inside2 {
      v0_2 = in_0[base0 + e2 * p.stride_0_1];
    }
    var v0_3: f32;
    if inside3 {
      v0_3 = in_0[base0 + e3 * p.stride_0_1];
    }
    let v3_0 = v0_0 * v0_0;
    let v3_1 = v0_1 * v0_1;
    let v3_2 = v0_2 * v0_2;
    let v3_3 = v0_3 * v0_3;
    let own1_0_0 = v0_0;
    let own1_1_0 = select(f32(), v0_1, inside1);
    let total1_1_0 = own1_0_0 + own1_1_0;
    let own1_2_0 = select(f32(), v0_2, inside2);
    let total1_2_0 = total1_1_0 + own1_2_0;
    let own1_3_0 = select(f32(), v0_3, inside3);
    let total1_3_0 = total1_2_0 + own1_3_0;
    let own2_0_0 = fuse_max_key1(v0_0);
    let own2_1_0 = select(-2139095041i, fuse_max_key1(v0_1), inside1);
    let total2_1_0 = max(own2_0_0, own2_1_0);
    let own2_2_0 = select(-2139095041i, fuse_max_key1(v0_2), inside2);
    let total2_2_0 = max(total2_1_0, own2_2_0);
    let own2_3_0 = select(-2139095041i, fuse_max_key1(v0_3), inside3);
    let total2_3_0 = max(total2_2_0, own2_3_0);
    let own4_0_0 = v3_0;
    let own4_1_0 = select(f32(), v3_1, inside1);
    let total4_1_0 = own4_0_0 + own4_1_0;
    let own4_2_0 = select(f32(), v3_2, inside2);
    let total4_2_0 = total4_1_0 + own4_2_0;
    let own4_3_0 = select(f32(), v3_3, inside3);
    let total4_3_0 = total4_2_0 + own4_3_0;
    let own7_0_0 = fuse_min_key1(fuse_one_zero1(v0_0));
    let own7_0_1 = e0;
    let own7_1_0 = select(i32(-2147483648), fuse_min_key1(fuse_one_zero1(v0_1)), inside1);
    let own7_1_1 = select(4294967295u, e1, inside1);
    let total7_1_0 = max(own7_0_0, own7_1_0);
    let total7_1_1 = select(select(own7_0_1, own7_1_1, own7_1_0 > own7_0_0), min(own7_0_1, own7_1_1), own7_0_0 == own7_1_0);
    let own7_2_0 = select(i32(-2147483648), fuse_min_key1(fuse_one_zero1(v0_2)), inside2);
    let own7_2_1 = select(4294967295u, e2, inside2);
    let total7_2_0 = max(total7_1_0, own7_2_0);
    let total7_2_1 = select(select(total7_1_1, own7_2_1, own7_2_0 > total7_1_0), min(total7_1_1, own7_2_1), total7_1_0 == own7_2_0);
    let own7_3_0 = select(i32(-2147483648), fuse_min_key1(fuse_one_zero1(v0_3)), inside3);
    let own7_3_1 = select(4294967295u, e3, inside3);
    let total7_3_0 = max(total7_2_0, own7_3_0);
    let total7_3_1 = select(select(total7_2_1, own7_3_1, own7_3_0 > total7_2_0), min(total7_2_1, own7_3_1), total7_2_0 == own7_3_0);
    let sum1 = fuse_hidden1(running1_0 + total1_3_0, opaque);
    lost1 += fuse_lost1(running1_0, total1_3_0, sum1);
    running1_0 = sum1;
    running2_0 = max(running2_0, total2_3_0);
    let sum4 = fuse_hidden1(running4_0 + total4_3_0, opaque);
    lost4 += fuse_lost1(running4_0, total4_3_0, sum4);
    running4_0 = sum4;
    let next_running7_0 = max(running7_0, total7_3_0);
    let next_running7_1 = select(select(running7_1, total7_3_1, total7_3_0 > running7_0), min(running7_1, total7_3_1), running7_0 == total7_3_0);
    running7_0 = next_running7_0;
    running7_1 = next_running7_1;
  }
  let restored1_0 = fuse_restored1(running1_0, lost1);
  let restored4_0 = fuse_restored1(running4_0, lost4);
  shared0[local] = bitcast<u32>(restored1_0);
  shared1[local] = bitcast<u32>(running2_0);
  shared2[local] = bitcast<u32>(restored4_0);
  shared3[local] = bitcast<u32>(running7_0);
  shared4[local] = running7_1;
  workgroupBarrier();
  if lane < 128u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 128u]);
    shared0[local] = bitcast<u32>(merged0_0);
    let merged1_0 = max(bitcast<i32>(shared1[local]), bitcast<i32>(shared1[local + 128u]));
    shared1[local] = bitcast<u32>(merged1_0);
    let merged2_0 = bitcast<f32>(shared2[local]) + bitcast<f32>(shared2[local + 128u]);
    shared2[local] = bitcast<u32>(merged2_0);
    let merged3_0 = max(bitcast<i32>(shared3[local]), bitcast<i32>(shared3[local + 128u]));
    let merged3_1 = select(select(shared4[local], shared4[local + 128u], bitcast<i32>(shared3[local + 128u]) > bitcast<i32>(shared3[local])), min(shared4[local], shared4[local + 128u]), bitcast<i32>(shared3[local]) == bitcast<i32>(shared3[local + 128u]));
    shared3[local] = bitcast<u32>(merged3_0);
    shared4[local] = merged3_1;
  }
  workgroupBarrier();
  if lane < 64u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 64u]);
    shared0[local] = bitcast<u32>(merged0_0);
    let merged1_0 = max(bitcast<i32>(shared1[local]), bitcast<i32>(shared1[local + 64u]));
    shared1[local] = bitcast<u32>(merged1_0);
    let merged2_0 = bitcast<f32>(shared2[local]) + bitcast<f32>(shared2[local + 64u]);
    shared2[local] = bitcast<u32>(merged2_0);
    let merged3_0 = max(bitcast<i32>(shared3[local]), bitcast<i32>(shared3[local + 64u]));
    let merged3_1 = select(select(shared4[local], shared4[local + 64u], bitcast<i32>(shared3[local + 64u]) > bitcast<i32>(shared3[local])), min(shared4[local], shared4[local + 64u]), bitcast<i32>(shared3[local]) == bitcast<i32>(shared3[local + 64u]));
    shared3[local] = bitcast<u32>(merged3_0);
    shared4[local] = merged3_1;
  }
  workgroupBarrier();
  if lane < 32u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 32u]);
    shared0[local] = bitcast<u32>(merged0_0);
    let merged1_0 = max(bitcast<i32>(shared1[local]), bitcast<i32>(shared1[local + 32u]));
    shared1[local] = bitcast<u32>(merged1_0);
    let merged2_0 = bitcast<f32>(shared2[local]) + bitcast<f32>(shared2[local + 32u]);
    shared2[local] = bitcast<u32>(merged2_0);
    let merged3_0 = max(bitcast<i32>(shared3[local]), bitcast<i32>(shared3[local + 32u]));
    let merged3_1 = select(select(shared4[local], shared4[local + 32u], bitcast<i32>(shared3[local + 32u]) > bitcast<i32>(shared3[local])), min(shared4[local], shared4[local + 32u]), bitcast<i32>(shared3[local]) == bitcast<i32>(shared3[local + 32u]));
    shared3[local] = bitcast<u32>(merged3_0);
    shared4[local] = merged3_1;
  }
  workgroupBarrier();
  if lane < 16u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 16u]);
    shared0[local] = bitcast<u32>(merged0_0);
    let merged1_0 = max(bitcast<i32>(shared1[local]), bitcast<i32>(shared1[local + 16u]));
    shared1[local] = bitcast<u32>(merged1_0);
    let merged2_0 = bitcast<f32>(shared2[local]) + bitcast<f32>(shared2[local + 16u]);
    shared2[local] = bitcast<u32>(merged2_0);
    let merged3_0 = max(bitcast<i32>(shared3[local]), bitcast<i32>(shared3[local + 16u]));
    let merged3_1 = select(select(shared4[local], shared4[local + 16u], bitcast<i32>(shared3[local + 16u]) > bitcast<i32>(shared3[local])), min(shared4[local], shared4[local + 16u]), bitcast<i32>(shared3[local]) == bitcast<i32>(shared3[local + 16u]));
    shared3[local] = bitcast<u32>(merged3_0);
    shared4[local] = merged3_1;
  }
  workgroupBarrier();
  if lane < 8u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 8u]);
    shared0[local] = bitcast<u32>(merged0_0);
    let merged1_0 = max(bitcast<i32>(shared1[local]), bitcast<i32>(shared1[local + 8u]));
    shared1[local] = bitcast<u32>(merged1_0);
    let merged2_0 = bitcast<f32>(shared2[local]) + bitcast<f32>(shared2[local + 8u]);
    shared2[local] = bitcast<u32>(merged2_0);
    let merged3_0 = max(bitcast<i32>(shared3[local]), bitcast<i32>(shared3[local + 8u]));
    let merged3_1 = select(select(shared4[local], shared4[local + 8u], bitcast<i32>(shared3[local + 8u]) > bitcast<i32>(shared3[local])), min(shared4[local], shared4[local + 8u]), bitcast<i32>(shared3[local]) == bitcast<i32>(shared3[local + 8u]));
    shared3[local] = bitcast<u32>(merged3_0);
    shared4[local] = merged3_1;
  }
  workgroupBarrier();
  if lane < 4u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 4u]);
    shared0[local] = bitcast<u32>(merged0_0);
    let merged1_0 = max(bitcast<i32>(shared1[local]), bitcast<i32>(shared1[local + 4u]));
    shared1[local] = bitcast<u32>(merged1_0);
    let merged2_0 = bitcast<f32>(shared2[local]) + bitcast<f32>(shared2[local + 4u]);
    shared2[local] = bitcast<u32>(merged2_0);
    let merged3_0 = max(bitcast<i32>(shared3[local]), bitcast<i32>(shared3[local + 4u]));
    let merged3_1 = select(select(shared4[local], shared4[local + 4u], bitcast<i32>(shared3[local + 4u]) > bitcast<i32>(shared3[local])), min(shared4[local], shared4[local + 4u]), bitcast<i32>(shared3[local]) == bitcast<i32>(shared3[local + 4u]));
    shared3[local] = bitcast<u32>(merged3_0);
    shared4[local] = merged3_1;
  }
  workgroupBarrier();
  if lane < 2u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 2u]);
    shared0[local] = bitcast<u32>(merged0_0);
    let merged1_0 = max(bitcast<i32>(shared1[local]), bitcast<i32>(shared1[local + 2u]));
    shared1[local] = bitcast<u32>(merged1_0);
    let merged2_0 = bitcast<f32>(shared2[local]) + bitcast<f32>(shared2[local + 2u]);
    shared2[local] = bitcast<u32>(merged2_0);
    let merged3_0 = max(bitcast<i32>(shared3[local]), bitcast<i32>(shared3[local + 2u]));
    let merged3_1 = select(select(shared4[local], shared4[local + 2u], bitcast<i32>(shared3[local + 2u]) > bitcast<i32>(shared3[local])), min(shared4[local], shared4[local + 2u]), bitcast<i32>(shared3[local]) == bitcast<i32>(shared3[local + 2u]));
    shared3[local] = bitcast<u32>(merged3_0);
    shared4[local] = merged3_1;
  }
  workgroupBarrier();
  if lane < 1u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 1u]);
    shared0[local] = bitcast<u32>(merged0_0);
    let merged1_0 = max(bitcast<i32>(shared1[local]), bitcast<i32>(shared1[local + 1u]));
    shared1[local] = bitcast<u32>(merged1_0);
    let merged2_0 = bitcast<f32>(shared2[local]) + bitcast<f32>(shared2[local + 1u]);
    shared2[local] = bitcast<u32>(merged2_0);
    let merged3_0 = max(bitcast<i32>(shared3[local]), bitcast<i32>(shared3[local + 1u]));
    let merged3_1 = select(select(shared4[local], shared4[local + 1u], bitcast<i32>(shared3[local + 1u]) > bitcast<i32>(shared3[local])), min(shared4[local], shared4[local + 1u]), bitcast<i32>(shared3[local]) == bitcast<i32>(shared3[local + 1u]));
    shared3[local] = bitcast<u32>(merged3_0);
    shared4[local] = merged3_1;
  }
  workgroupBarrier();
  let s0_0_0_all = bitcast<f32>(shared0[local - lane]);
  let s0_1_0_all = bitcast<i32>(shared1[local - lane]);
  let s0_2_0_all = bitcast<f32>(shared2[local - lane]);
  let s0_3_0_all = bitcast<i32>(shared3[local - lane]);
  let s0_3_1_all = shared4[local - lane];
  let v1 = s0_0_0_all;
  let v2 = fuse_of_key1(s0_1_0_all);
  let v4 = s0_2_0_all;
  let v7 = select(i32(s0_3_1_all), 0i, s0_3_1_all == 4294967295u);
  let v6 = v4 / v5;
  if lane == 0u {
    out_0[p.offset_1 + k0 * p.stride_1_0] = v1;
    out_1[p.offset_2 + k0 * p.stride_2_0] = v2;
    out_2[p.offset_3 + k0 * p.stride_3_0] = v6;
    out_3[p.offset_4 + k0 * p.stride_4_0] = v7;
  }
}
