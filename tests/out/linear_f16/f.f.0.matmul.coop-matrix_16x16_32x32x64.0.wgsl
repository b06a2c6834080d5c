enable f16;
enable wgpu_cooperative_matrix;

struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  workgroups: u32,
  row_tiles: u32,
  column_tiles: u32,
  offset_2: u32,
  stride_0_0: u32,
  offset_0: u32,
  stride_1_1: u32,
  offset_1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> in_0: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read_write> in_1: array<vec4<f16>>;
@group(0) @binding(3) var<storage, read_write> in_2: array<vec4<f16>>;
@group(0) @binding(4) var<storage, read_write> out_0: array<vec4<f16>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_fast_math = false;

fn fuse_erf4(x: vec4<f32>) -> vec4<f32> {
  if fuse_fast_math {
    let u = vec4<f32>(1.0) / (vec4<f32>(1.0) + vec4<f32>(0.3275911) * abs(x));
    let tail = u * (vec4<f32>(0.254829592) + u * (vec4<f32>(-0.284496736) + u * (vec4<f32>(1.421413741) + u * (vec4<f32>(-1.453152027) + u * vec4<f32>(1.061405429)))));
    let whole = vec4<f32>(1.0) - tail * exp(-x * x);
    return select(whole, -whole, x < vec4<f32>(0.0));
  }
  let t = abs(x);
  let s = x * x;
  let near = x + x * (vec4<f32>(0.128379166) + s * (vec4<f32>(-0.376125336) + s * (vec4<f32>(0.112819925) + s * (vec4<f32>(-0.0267681349) + s * (vec4<f32>(0.00499119423) + s * vec4<f32>(-0.000596761703))))));
  let u = (vec4<f32>(0.000383197126) + t * vec4<f32>(-0.0000172853470)) * s + (vec4<f32>(0.0242546219) + t * vec4<f32>(-0.00388396438));
  let e = ((u * t + vec4<f32>(-0.106777877)) * t + vec4<f32>(-0.634846687)) * t + vec4<f32>(-0.128717512);
  let far = vec4<f32>(1.0) - exp(e * t - t);
  return select(select(far, -far, x < vec4<f32>(0.0)), near, t <= vec4<f32>(0.927734375));
}
fn fuse_gelu4(x: vec4<f32>) -> vec4<f32> {
  return vec4<f32>(0.5) * x * (vec4<f32>(1.0) + fuse_erf4(x * vec4<f32>(0.70710678)));
}
fn finish(batch: u32, row: u32, column: u32, sum: vec4<f32>, x2: vec4<f32>) {
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let v0 = sum;
  let v1 = x2;
  let v2 = v0 + v1;
  let v3 = fuse_gelu4(v2);
  let at = (batch * p.extent_0 + row) * p.extent_1 + column;
  out_0[at / 4u] = vec4<f16>(v3);
}
var<workgroup> lhs_tile: array<vec4<f16>, 576>;
var<workgroup> rhs_tile: array<vec4<f16>, 576>;
var<workgroup> sums: array<vec4<f32>, 256>;
fn preload_2(row: u32, column: u32) -> vec4<f32> {
  return vec4<f32>(in_2[(p.offset_2 + min(column, p.extent_1 - 4u)) / 4u]);
}

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
  let tile = id;
  let batch = 0u;
  let k_begin = 0u;
  let k_end = p.extent_2;
  let first_row = tile / p.column_tiles * 32u;
  let first_column = tile % p.column_tiles * 32u;
  let row0 = min(first_row, p.extent_0 - 32u);
  let column0 = min(first_column, p.extent_1 - 32u);
  let part_row = subgroup / 2u * 16u;
  let part_column = subgroup % 2u * 16u;
  var c0_0 = coop_mat16x16<f32, C>();
  let lane_row = row0 + part_row + subgroup_lane / 4u;
  let lane_column = column0 + part_column + subgroup_lane % 4u * 4u;
  let vector_row0_0 = lane_row;
  let vector_row0_1 = lane_row + 8u;
  let vector_column0 = lane_column;
  let x2_0_0_0 = preload_2(vector_row0_0, vector_column0);
  let x2_0_0_1 = preload_2(vector_row0_1, vector_column0);
  let a_lines = p.stride_0_0 / 4u;
  let a_first = p.offset_0 / 4u;
  let a_origin = a_first + row0 * a_lines;
  let a_line = local / 16u;
  let a_at = a_line * a_lines + local % 16u;
  let a_to = a_line * 18u + local % 16u;
  let a0_line = 0u * a_lines;
  var a0_x: vec4<f16>;
  let a1_line = 8u * a_lines;
  var a1_x: vec4<f16>;
  let a2_line = 16u * a_lines;
  var a2_x: vec4<f16>;
  let a3_line = 24u * a_lines;
  var a3_x: vec4<f16>;
  let b_lines = p.stride_1_1 / 4u;
  let b_first = p.offset_1 / 4u;
  let b_origin = b_first + column0 * b_lines;
  let b_line = local / 16u;
  let b_at = b_line * b_lines + local % 16u;
  let b_to = b_line * 18u + local % 16u;
  let b0_line = 0u * b_lines;
  var b0_x: vec4<f16>;
  let b1_line = 8u * b_lines;
  var b1_x: vec4<f16>;
  let b2_line = 16u * b_lines;
  var b2_x: vec4<f16>;
  let b3_line = 24u * b_lines;
  var b3_x: vec4<f16>;
  if k_begin < k_end {
    let a_step = a_origin + k_begin / 4u;
    a0_x = in_0[a_at + (a_step + a0_line)];
    a1_x = in_0[a_at + (a_step + a1_line)];
    a2_x = in_0[a_at + (a_step + a2_line)];
    a3_x = in_0[a_at + (a_step + a3_line)];
    let b_step = b_origin + k_begin / 4u;
    b0_x = in_1[b_at + (b_step + b0_line)];
    b1_x = in_1[b_at + (b_step + b1_line)];
    b2_x = in_1[b_at + (b_step + b2_line)];
    b3_x = in_1[b_at + (b_step + b3_line)];
  }
  for (var k0 = k_begin; k0 < k_end; k0 += 64u) {
    lhs_tile[a_to] = a0_x;
    lhs_tile[a_to + 144u] = a1_x;
    lhs_tile[a_to + 288u] = a2_x;
    lhs_tile[a_to + 432u] = a3_x;
    rhs_tile[b_to] = b0_x;
    rhs_tile[b_to + 144u] = b1_x;
    rhs_tile[b_to + 288u] = b2_x;
    rhs_tile[b_to + 432u] = b3_x;
    workgroupBarrier();
    let a_step = a_origin + min(k0 + 64u, k_end - 64u) / 4u;
    a0_x = in_0[a_at + (a_step + a0_line)];
    a1_x = in_0[a_at + (a_step + a1_line)];
    a2_x = in_0[a_at + (a_step + a2_line)];
    a3_x = in_0[a_at + (a_step + a3_line)];
    let b_step = b_origin + min(k0 + 64u, k_end - 64u) / 4u;
    b0_x = in_1[b_at + (b_step + b0_line)];
    b1_x = in_1[b_at + (b_step + b1_line)];
    b2_x = in_1[b_at + (b_step + b2_line)];
    b3_x = in_1[b_at + (b_step + b3_line)];
    {
      let a0 = coopLoadT<coop_mat16x16<f16, A>>(&lhs_tile[part_row * 18u], 18u);
      let b0 = coopLoad<coop_mat16x16<f16, B>>(&rhs_tile[part_column * 18u], 18u);
      c0_0 = coopMultiplyAdd(a0, b0, c0_0);
    }
    {
      let a0 = coopLoadT<coop_mat16x16<f16, A>>(&lhs_tile[part_row * 18u + 4u], 18u);
      let b0 = coopLoad<coop_mat16x16<f16, B>>(&rhs_tile[part_column * 18u + 4u], 18u);
      c0_0 = coopMultiplyAdd(a0, b0, c0_0);
    }
    {
      let a0 = coopLoadT<coop_mat16x16<f16, A>>(&lhs_tile[part_row * 18u + 8u], 18u);
      let b0 = coopLoad<coop_mat16x16<f16, B>>(&rhs_tile[part_column * 18u + 8u], 18u);
      c0_0 = coopMultiplyAdd(a0, b0, c0_0);
    }
    {
      let a0 = coopLoadT<coop_mat16x16<f16, A>>(&lhs_tile[part_row * 18u + 12u], 18u);
      let b0 = coopLoad<coop_mat16x16<f16, B>>(&rhs_tile[part_column * 18u + 12u], 18u);
      c0_0 = coopMultiplyAdd(a0, b0, c0_0);
    }
    workgroupBarrier();
  }
  let matrix = subgroup * 64u;
  let vector = matrix + subgroup_lane;
  {
    coopStoreT(c0_0, &sums[matrix], 4u);
    workgroupBarrier();
    if vector_row0_0 >= first_row && vector_column0 >= first_column {
      finish(batch, vector_row0_0, vector_column0, sums[vector], x2_0_0_0);
    }
    if vector_row0_1 >= first_row && vector_column0 >= first_column {
      finish(batch, vector_row0_1, vector_column0, sums[vector + 32u], x2_0_0_1);
    }
  }
}
