enable f16;
enable wgpu_cooperative_matrix;

struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  workgroups: u32,
  row_tiles: u32,
  column_tiles: u32,
  offset_0: u32,
  stride_0_0: u32,
  offset_1: u32,
  stride_1_1: u32,
  offset_2: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<f16>>;
@group(0) @binding(3) var<storage, read> in_2: array<vec4<f16>>;
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
var<workgroup> lhs_tile: array<vec4<f16>, 320>;
var<workgroup> rhs_tile: array<vec4<f16>, 320>;
var<workgroup> sums: array<vec4<f32>, 64>;
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
  let row0 = tile / p.column_tiles * 32u;
  let column0 = tile % p.column_tiles * 32u;
  let part_row = subgroup / 2u * 16u;
  let part_column = subgroup % 2u * 16u;
  var c0_0 = coop_mat8x8<f32, C>();
  var c0_1 = coop_mat8x8<f32, C>();
  var c1_0 = coop_mat8x8<f32, C>();
  var c1_1 = coop_mat8x8<f32, C>();
  let lane_row = row0 + part_row + subgroup_lane / 2u;
  let lane_column = column0 + part_column + subgroup_lane % 2u * 4u;
  let vector_row0_0 = lane_row;
  let vector_row1_0 = lane_row + 8u;
  let vector_column0 = lane_column;
  let vector_column1 = lane_column + 8u;
  let a0_o = local / 8u;
  let a0_k = local % 8u * 4u;
  let a0_to = a0_o * 10u + a0_k / 4u;
  let a0_at = min(row0 + a0_o, p.extent_0 - 1u);
  let a0_base0 = p.offset_0 + a0_at * p.stride_0_0;
  var a0_x0: vec4<f16>;
  let a1_o = (local + 128u) / 8u;
  let a1_k = (local + 128u) % 8u * 4u;
  let a1_to = a1_o * 10u + a1_k / 4u;
  let a1_at = min(row0 + a1_o, p.extent_0 - 1u);
  let a1_base0 = p.offset_0 + a1_at * p.stride_0_0;
  var a1_x0: vec4<f16>;
  let b0_o = local / 8u;
  let b0_k = local % 8u * 4u;
  let b0_to = b0_o * 10u + b0_k / 4u;
  let b0_at = min(column0 + b0_o, p.extent_1 - 1u);
  let b0_base1 = p.offset_1 + b0_at * p.stride_1_1;
  var b0_x1: vec4<f16>;
  let b1_o = (local + 128u) / 8u;
  let b1_k = (local + 128u) % 8u * 4u;
  let b1_to = b1_o * 10u + b1_k / 4u;
  let b1_at = min(column0 + b1_o, p.extent_1 - 1u);
  let b1_base1 = p.offset_1 + b1_at * p.stride_1_1;
  var b1_x1: vec4<f16>;
  if k_begin < k_end {
    {
      let start = min(k_begin + a0_k, k_end - 4u);
      a0_x0 = in_0[(a0_base0 + start) / 4u];
    }
    {
      let start = min(k_begin + a1_k, k_end - 4u);
      a1_x0 = in_0[(a1_base0 + start) / 4u];
    }
    {
      let start = min(k_begin + b0_k, k_end - 4u);
      b0_x1 = in_1[(b0_base1 + start) / 4u];
    }
    {
      let start = min(k_begin + b1_k, k_end - 4u);
      b1_x1 = in_1[(b1_base1 + start) / 4u];
    }
  }
  for (var k0 = k_begin; k0 < k_end; k0 += 32u) {
    {
      let value = select(vec4<f16>(), a0_x0, k0 + a0_k < k_end);
      lhs_tile[a0_to] = value;
    }
    {
      let value = select(vec4<f16>(), a1_x0, k0 + a1_k < k_end);
      lhs_tile[a1_to] = value;
    }
    {
      let value = select(vec4<f16>(), b0_x1, k0 + b0_k < k_end);
      rhs_tile[b0_to] = value;
    }
    {
      let value = select(vec4<f16>(), b1_x1, k0 + b1_k < k_end);
      rhs_tile[b1_to] = value;
    }
    workgroupBarrier();
    if k0 + 32u < k_end {
      {
        let start = min(k0 + 32u + a0_k, k_end - 4u);
        a0_x0 = in_0[(a0_base0 + start) / 4u];
      }
      {
        let start = min(k0 + 32u + a1_k, k_end - 4u);
        a1_x0 = in_0[(a1_base0 + start) / 4u];
      }
      {
        let start = min(k0 + 32u + b0_k, k_end - 4u);
        b0_x1 = in_1[(b0_base1 + start) / 4u];
      }
      {
        let start = min(k0 + 32u + b1_k, k_end - 4u);
        b1_x1 = in_1[(b1_base1 + start) / 4u];
      }
    }
    {
      let a0 = coopLoadT<coop_mat8x8<f16, A>>(&lhs_tile[part_row * 10u], 10u);
      let a1 = coopLoadT<coop_mat8x8<f16, A>>(&lhs_tile[part_row * 10u + 80u], 10u);
      let b0 = coopLoad<coop_mat8x8<f16, B>>(&rhs_tile[part_column * 10u], 10u);
      let b1 = coopLoad<coop_mat8x8<f16, B>>(&rhs_tile[part_column * 10u + 80u], 10u);
      c0_0 = coopMultiplyAdd(a0, b0, c0_0);
      c0_1 = coopMultiplyAdd(a0, b1, c0_1);
      c1_0 = coopMultiplyAdd(a1, b0, c1_0);
      c1_1 = coopMultiplyAdd(a1, b1, c1_1);
    }
    {
      let a0 = coopLoadT<coop_mat8x8<f16, A>>(&lhs_tile[part_row * 10u + 2u], 10u);
      let a1 = coopLoadT<coop_mat8x8<f16, A>>(&lhs_tile[part_row * 10u + 82u], 10u);
      let b0 = coopLoad<coop_mat8x8<f16, B>>(&rhs_tile[part_column * 10u + 2u], 10u);
      let b1 = coopLoad<coop_mat8x8<f16, B>>(&rhs_tile[part_column * 10u + 82u], 10u);
      c0_0 = coopMultiplyAdd(a0, b0, c0_0);
      c0_1 = coopMultiplyAdd(a0, b1, c0_1);
      c1_0 = coopMultiplyAdd(a1, b0, c1_0);
      c1_1 = coopMultiplyAdd(a1, b1, c1_1);
    }
    {
      let a0 = coopLoadT<coop_mat8x8<f16, A>>(&lhs_tile[part_row * 10u + 4u], 10u);
      let a1 = coopLoadT<coop_mat8x8<f16, A>>(&lhs_tile[part_row * 10u + 84u], 10u);
      let b0 = coopLoad<coop_mat8x8<f16, B>>(&rhs_tile[part_column * 10u + 4u], 10u);
      let b1 = coopLoad<coop_mat8x8<f16, B>>(&rhs_tile[part_column * 10u + 84u], 10u);
      c0_0 = coopMultiplyAdd(a0, b0, c0_0);
      c0_1 = coopMultiplyAdd(a0, b1, c0_1);
      c1_0 = coopMultiplyAdd(a1, b0, c1_0);
      c1_1 = coopMultiplyAdd(a1, b1, c1_1);
    }
    {
      let a0 = coopLoadT<coop_mat8x8<f16, A>>(&lhs_tile[part_row * 10u + 6u], 10u);
      let a1 = coopLoadT<coop_mat8x8<f16, A>>(&lhs_tile[part_row * 10u + 86u], 10u);
      let b0 = coopLoad<coop_mat8x8<f16, B>>(&rhs_tile[part_column * 10u + 6u], 10u);
      let b1 = coopLoad<coop_mat8x8<f16, B>>(&rhs_tile[part_column * 10u + 86u], 10u);
      c0_0 = coopMultiplyAdd(a0, b0, c0_0);
      c0_1 = coopMultiplyAdd(a0, b1, c0_1);
      c1_0 = coopMultiplyAdd(a1, b0, c1_0);
      c1_1 = coopMultiplyAdd(a1, b1, c1_1);
    }
    workgroupBarrier();
  }
  let matrix = subgroup * 16u;
  let vector = matrix + subgroup_lane;
  {
    let x2_0_0_0 = preload_2(vector_row0_0, vector_column0);
    let x2_0_1_0 = preload_2(vector_row0_0, vector_column1);
    coopStoreT(c0_0, &sums[matrix], 2u);
    workgroupBarrier();
    if subgroup_lane < 16u {
      finish(batch, vector_row0_0, vector_column0, sums[vector], x2_0_0_0);
    }
    workgroupBarrier();
    coopStoreT(c0_1, &sums[matrix], 2u);
    workgroupBarrier();
    if subgroup_lane < 16u {
      finish(batch, vector_row0_0, vector_column1, sums[vector], x2_0_1_0);
    }
  }
  {
    let x2_1_0_0 = preload_2(vector_row1_0, vector_column0);
    let x2_1_1_0 = preload_2(vector_row1_0, vector_column1);
    workgroupBarrier();
    coopStoreT(c1_0, &sums[matrix], 2u);
    workgroupBarrier();
    if subgroup_lane < 16u {
      finish(batch, vector_row1_0, vector_column0, sums[vector], x2_1_0_0);
    }
    workgroupBarrier();
    coopStoreT(c1_1, &sums[matrix], 2u);
    workgroupBarrier();
    if subgroup_lane < 16u {
      finish(batch, vector_row1_0, vector_column1, sums[vector], x2_1_1_0);
    }
  }
}
