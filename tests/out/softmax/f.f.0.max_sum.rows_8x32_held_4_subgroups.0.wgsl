struct Params {
  workgroups: u32,
  count: u32,
  row_length: u32,
  offset_0: u32,
  stride_0_0: u32,
  offset_1: u32,
  stride_1_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out_0: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

fn fuse_is_nan4(x: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}
fn fuse_max_key4(x: vec4<f32>) -> vec4<i32> {
  let bits = bitcast<vec4<i32>>(x);
  let key = bits ^ ((bits >> vec4<u32>(31u)) & vec4<i32>(0x7fffffff));
  return select(key, vec4<i32>(0x7fffffff), fuse_is_nan4(x));
}
fn fuse_of_key1(key: i32) -> f32 {
  return bitcast<f32>(key ^ ((key >> u32(31u)) & i32(0x7fffffff)));
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
  @builtin(subgroup_size) subgroup_size: u32,
  @builtin(subgroup_invocation_id) subgroup_lane: u32,
) {
  let id = workgroup.x + workgroup.y * workgroups.x;
  if id >= p.workgroups {
    return;
  }
  let block = id;
  let at = subgroup * subgroup_size + subgroup_lane;
  let lane = at % 32u;
  let row_at = block * 8u + at / 32u;
  let valid = row_at < p.count;
  let row = min(row_at, p.count - 1u);
  let k0 = row;
  let end = p.row_length;
  let base0 = p.offset_0 + k0 * p.stride_0_0;
  let base1 = p.offset_1 + k0 * p.stride_1_0;
  let e0 = lane * 4u;
  let inside0 = e0 < end;
  let e1 = lane * 4u + 128u;
  let inside1 = e1 < end;
  let e2 = lane * 4u + 256u;
  let inside2 = e2 < end;
  let e3 = lane * 4u + 384u;
  let inside3 = e3 < end;
  var v0_0: vec4<f32>;
  if inside0 {
    v0_0 = in_0[(base0 + e0) / 4u];
  }
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
  let own1_0_0 = select(vec4<i32>(-2139095041i), fuse_max_key4(v0_0), inside0);
  let own1_1_0 = select(vec4<i32>(-2139095041i), fuse_max_key4(v0_1), inside1);
  let total1_1_0 = max(own1_0_0, own1_1_0);
  let own1_2_0 = select(vec4<i32>(-2139095041i), fuse_max_key4(v0_2), inside2);
  let total1_2_0 = max(total1_1_0, own1_2_0);
  let own1_3_0 = select(vec4<i32>(-2139095041i), fuse_max_key4(v0_3), inside3);
  let total1_3_0 = max(total1_2_0, own1_3_0);
  let folded1_0_0 = max(total1_3_0.x, total1_3_0.y);
  let folded1_1_0 = max(total1_3_0.z, total1_3_0.w);
  let folded1_2_0 = max(folded1_0_0, folded1_1_0);
  let s0_0_0_from16 = subgroupShuffleXor(folded1_2_0, 16u);
  let s0_0_0_by16 = max(folded1_2_0, s0_0_0_from16);
  let s0_0_0_from8 = subgroupShuffleXor(s0_0_0_by16, 8u);
  let s0_0_0_by8 = max(s0_0_0_by16, s0_0_0_from8);
  let s0_0_0_from4 = subgroupShuffleXor(s0_0_0_by8, 4u);
  let s0_0_0_by4 = max(s0_0_0_by8, s0_0_0_from4);
  let s0_0_0_from2 = subgroupShuffleXor(s0_0_0_by4, 2u);
  let s0_0_0_by2 = max(s0_0_0_by4, s0_0_0_from2);
  let s0_0_0_from1 = subgroupShuffleXor(s0_0_0_by2, 1u);
  let s0_0_0_by1 = max(s0_0_0_by2, s0_0_0_from1);
  let v1 = fuse_of_key1(s0_0_0_by1);
  let v2_0 = v0_0 - vec4<f32>(v1);
  let v3_0 = exp(v2_0);
  let v2_1 = v0_1 - vec4<f32>(v1);
  let v3_1 = exp(v2_1);
  let v2_2 = v0_2 - vec4<f32>(v1);
  let v3_2 = exp(v2_2);
  let v2_3 = v0_3 - vec4<f32>(v1);
  let v3_3 = exp(v2_3);
  let own4_0_0 = select(vec4<f32>(), v3_0, inside0);
  let own4_1_0 = select(vec4<f32>(), v3_1, inside1);
  let total4_1_0 = own4_0_0 + own4_1_0;
  let own4_2_0 = select(vec4<f32>(), v3_2, inside2);
  let total4_2_0 = total4_1_0 + own4_2_0;
  let own4_3_0 = select(vec4<f32>(), v3_3, inside3);
  let total4_3_0 = total4_2_0 + own4_3_0;
  let folded4_0_0 = total4_3_0.x + total4_3_0.y;
  let folded4_1_0 = total4_3_0.z + total4_3_0.w;
  let folded4_2_0 = folded4_0_0 + folded4_1_0;
  let s1_0_0_from16 = subgroupShuffleXor(folded4_2_0, 16u);
  let s1_0_0_by16 = folded4_2_0 + s1_0_0_from16;
  let s1_0_0_from8 = subgroupShuffleXor(s1_0_0_by16, 8u);
  let s1_0_0_by8 = s1_0_0_by16 + s1_0_0_from8;
  let s1_0_0_from4 = subgroupShuffleXor(s1_0_0_by8, 4u);
  let s1_0_0_by4 = s1_0_0_by8 + s1_0_0_from4;
  let s1_0_0_from2 = subgroupShuffleXor(s1_0_0_by4, 2u);
  let s1_0_0_by2 = s1_0_0_by4 + s1_0_0_from2;
  let s1_0_0_from1 = subgroupShuffleXor(s1_0_0_by2, 1u);
  let s1_0_0_by1 = s1_0_0_by2 + s1_0_0_from1;
  let v4 = s1_0_0_by1;
  let v5_0 = v3_0 / vec4<f32>(v4);
  if inside0 && valid {
    out_0[(base1 + e0) / 4u] = v5_0;
  }
  let v5_1 = v3_1 / vec4<f32>(v4);
  if inside1 && valid {
    out_0[(base1 + e1) / 4u] = v5_1;
  }
  let v5_2 = v3_2 / vec4<f32>(v4);
  if inside2 && valid {
    out_0[(base1 + e2) / 4u] = v5_2;
  }
  let v5_3 = v3_3 / vec4<f32>(v4);
  if inside3 && valid {
    out_0[(base1 + e3) / 4u] = v5_3;
  }
}
