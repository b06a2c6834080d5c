enable f16;
enable wgpu_cooperative_matrix;

struct Params {
  extent_1: u32,
  extent_2: u32,
  extent_3: u32,
  extent_4: u32,
  offset_5: u32,
  stride_5_0: u32,
  offset_6: u32,
  stride_6_0: u32,
  offset_7: u32,
  stride_7_0: u32,
  workgroups: u32,
  row_tiles: u32,
  stride_1_2: u32,
  offset_1: u32,
  stride_1_0: u32,
  stride_3_2: u32,
  offset_3: u32,
  stride_3_0: u32,
  stride_0_1: u32,
  offset_0: u32,
  stride_0_0: u32,
  stride_2_1: u32,
  offset_2: u32,
  stride_2_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> in_0: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read_write> in_1: array<vec4<f16>>;
@group(0) @binding(3) var<storage, read_write> in_2: array<vec4<f16>>;
@group(0) @binding(4) var<storage, read_write> in_3: array<vec4<f16>>;
@group(0) @binding(5) var<storage, read_write> in_4: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> in_5: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> out_0: array<vec4<f16>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

struct Weights {
  w0: vec4<f32>,
}
fn weights(b0: u32, row: u32, column: u32, c0: vec4<f32>, c1: vec4<f32>) -> Weights {
  let inside_row = min(row, p.extent_1 - 1u);
  let inside_column = min(column, p.extent_3 - 4u);
  let x5 = in_4[(p.offset_5 + b0 * p.stride_5_0 + inside_column) / 4u];
  let x6 = in_5[(p.offset_6 + b0 * p.stride_6_0 + inside_column) / 4u];
  let x7 = in_5[(p.offset_7 + b0 * p.stride_7_0 + inside_column) / 4u];
  let s0 = c0;
  let s2 = s0 * vec4<f32>(0.125f);
  let s3 = s2;
  let s5 = s3 == vec4<f32>(-bitcast<f32>(fuse_inf_bits));
  let s7 = x5;
  let s8 = s3 - s7;
  let s9 = exp(s8);
  let s10 = x6;
  let s11 = s9 * s10;
  let s12 = select(s11, vec4<f32>(0.0f), s5);
  let s13 = c1;
  let s14 = s13;
  let s15 = x7;
  let s16 = s14 - s15;
  let s17 = s12 * s16;
  let s18 = select(s17, vec4<f32>(0.0f), s5);
  let s19 = vec4<f32>(vec4<f16>(s18));
  let s20 = s19 * vec4<f32>(0.125f);
  return Weights(s20);
}
fn finish(batch: u32, b0: u32, row: u32, column: u32, sum: vec4<f32>) {
  if row >= p.extent_1 || column >= p.extent_2 {
    return;
  }
  let v0 = sum;
  let at = (batch * p.extent_1 + row) * p.extent_2 + column;
  out_0[at / 4u] = vec4<f16>(v0);
}
var<workgroup> slice0: array<vec4<f16>, 160>;
var<workgroup> slice1: array<vec4<f16>, 160>;
var<workgroup> weights0: array<vec4<f16>, 384>;
var<workgroup> strips: array<vec4<f32>, 512>;

@compute @workgroup_size(128)
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
  let batch = id / p.row_tiles;
  let position = id % p.row_tiles;
  let first_row = position * 64u;
  var key_begin = 0u;
  var key_end = p.extent_3;
  let row0 = min(first_row, p.extent_1 - 64u);
  let b0 = batch;
  let negative_infinity = -bitcast<f32>(fuse_inf_bits);
  let part_row = row0 + subgroup * 16u;
  let lane_row = subgroup_lane / 4u;
  let lane_column = subgroup_lane % 4u * 4u;
  let strip = subgroup * 128u;
  let strip_lane = strip + subgroup_lane;
  let part_weights = subgroup * 96u;
  let weight_lane = part_weights + lane_row * 6u + subgroup_lane % 4u;
  let last_key = p.extent_3 - 1u;
  let xb_lines = p.stride_1_2 / 4u;
  let xb_first = (p.offset_1 + b0 * p.stride_1_0) / 4u;
  let xb_line = local / 8u;
  let xb_at = xb_first + local % 8u;
  let xb_to = xb_line * 10u + local % 8u;
  var xb0_x: vec4<f16>;
  let xd_lines = p.stride_3_2 / 4u;
  let xd_first = (p.offset_3 + b0 * p.stride_3_0) / 4u;
  let xd_line = local / 8u;
  let xd_at = xd_first + local % 8u;
  let xd_to = xd_line * 10u + local % 8u;
  var xd0_x: vec4<f16>;
  let xa_lines = p.stride_0_1 / 4u;
  let xa_first = (p.offset_0 + b0 * p.stride_0_0) / 4u;
  let row0_0_0 = coopLoadT<coop_mat16x16<f16, A>>(&in_0[xa_first + part_row * xa_lines], xa_lines);
  let row0_0_1 = coopLoadT<coop_mat16x16<f16, A>>(&in_0[xa_first + part_row * xa_lines + 4u], xa_lines);
  let xc_lines = p.stride_2_1 / 4u;
  let xc_first = (p.offset_2 + b0 * p.stride_2_0) / 4u;
  let row1_0_0 = coopLoadT<coop_mat16x16<f16, A>>(&in_2[xc_first + part_row * xc_lines], xc_lines);
  let row1_0_1 = coopLoadT<coop_mat16x16<f16, A>>(&in_2[xc_first + part_row * xc_lines + 4u], xc_lines);
  var o0_0_0 = coop_mat16x16<f32, C>();
  var o0_0_1 = coop_mat16x16<f32, C>();
  if key_begin < key_end {
    let xb_step = key_begin + xb_line;
    xb0_x = in_1[xb_at + min(xb_step, last_key) * xb_lines];
    let xd_step = key_begin + xd_line;
    xd0_x = in_3[xd_at + min(xd_step, last_key) * xd_lines];
  }
  for (var k0 = key_begin; k0 < key_end; k0 += 16u) {
    slice0[xb_to] = xb0_x;
    slice1[xd_to] = xd0_x;
    workgroupBarrier();
    let next = k0 + 16u;
    let xb_step = next + xb_line;
    xb0_x = in_1[xb_at + min(xb_step, last_key) * xb_lines];
    let xd_step = next + xd_line;
    xd0_x = in_3[xd_at + min(xd_step, last_key) * xd_lines];
    var s0_0_0 = coop_mat16x16<f32, C>();
    {
      let key0 = coopLoad<coop_mat16x16<f16, B>>(&slice0[0u], 10u);
      s0_0_0 = coopMultiplyAdd(row0_0_0, key0, s0_0_0);
      let key1 = coopLoad<coop_mat16x16<f16, B>>(&slice0[4u], 10u);
      s0_0_0 = coopMultiplyAdd(row0_0_1, key1, s0_0_0);
    }
    var s1_0_0 = coop_mat16x16<f32, C>();
    {
      let key0 = coopLoad<coop_mat16x16<f16, B>>(&slice1[0u], 10u);
      s1_0_0 = coopMultiplyAdd(row1_0_0, key0, s1_0_0);
      let key1 = coopLoad<coop_mat16x16<f16, B>>(&slice1[4u], 10u);
      s1_0_0 = coopMultiplyAdd(row1_0_1, key1, s1_0_0);
    }
    coopStoreT(s0_0_0, &strips[strip], 4u);
    coopStoreT(s1_0_0, &strips[strip + 64u], 4u);
    workgroupBarrier();
    let exists0_0 = vec4<u32>(k0 + lane_column) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(p.extent_3);
    let w0_0_0 = weights(b0, part_row + lane_row, k0 + lane_column, strips[strip_lane], strips[strip_lane + 64u]);
    weights0[weight_lane] = vec4<f16>(select(vec4<f32>(), w0_0_0.w0, exists0_0));
    let w0_0_1 = weights(b0, part_row + 8u + lane_row, k0 + lane_column, strips[strip_lane + 32u], strips[strip_lane + 96u]);
    weights0[weight_lane + 48u] = vec4<f16>(select(vec4<f32>(), w0_0_1.w0, exists0_0));
    workgroupBarrier();
    {
      let weight0 = coopLoadT<coop_mat16x16<f16, A>>(&weights0[part_weights], 6u);
      let value0 = coopLoadT<coop_mat16x16<f16, B>>(&slice0[0u], 10u);
      o0_0_0 = coopMultiplyAdd(weight0, value0, o0_0_0);
      let value1 = coopLoadT<coop_mat16x16<f16, B>>(&slice0[4u], 10u);
      o0_0_1 = coopMultiplyAdd(weight0, value1, o0_0_1);
    }
    workgroupBarrier();
  }
  let last0_0 = part_row + lane_row;
  let last0_1 = part_row + 8u + lane_row;
  coopStoreT(o0_0_0, &strips[strip], 4u);
  workgroupBarrier();
  if last0_0 >= first_row {
    finish(batch, b0, last0_0, lane_column, strips[strip_lane]);
  }
  if last0_1 >= first_row {
    finish(batch, b0, last0_1, lane_column, strips[strip_lane + 32u]);
  }
  workgroupBarrier();
  coopStoreT(o0_0_1, &strips[strip], 4u);
  workgroupBarrier();
  if last0_0 >= first_row {
    finish(batch, b0, last0_0, 16u + lane_column, strips[strip_lane]);
  }
  if last0_1 >= first_row {
    finish(batch, b0, last0_1, 16u + lane_column, strips[strip_lane + 32u]);
  }
}
