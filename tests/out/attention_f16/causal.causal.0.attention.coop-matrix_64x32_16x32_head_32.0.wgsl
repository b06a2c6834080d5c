enable f16;
enable wgpu_cooperative_matrix;

struct Params {
  extent_1: u32,
  extent_2: u32,
  extent_3: u32,
  extent_4: u32,
  workgroups: u32,
  row_tiles: u32,
  stride_1_2: u32,
  offset_1: u32,
  stride_1_0: u32,
  stride_2_1: u32,
  offset_2: u32,
  stride_2_0: u32,
  stride_0_1: u32,
  offset_0: u32,
  stride_0_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> in_0: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read_write> in_1: array<vec4<f16>>;
@group(0) @binding(3) var<storage, read_write> in_2: array<vec4<f16>>;
@group(0) @binding(4) var<storage, read_write> out_0: array<vec4<f16>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

fn score(b0: u32, row: u32, column: u32, sum: vec4<f32>) -> vec4<f32> {
  let s0 = vec4<i32>(vec4<u32>(column) + vec4<u32>(0u, 1u, 2u, 3u));
  let s1 = vec4<i32>(vec4<u32>(row));
  let s2 = s0 <= s1;
  let s3 = sum;
  let s5 = s3 * vec4<f32>(0.17602539f);
  let s7 = select(vec4<f32>(-bitcast<f32>(fuse_inf_bits)), s5, s2);
  return s7;
}
fn finish(batch: u32, b0: u32, row: u32, column: u32, sum: vec4<f32>) {
  if row >= p.extent_1 || column >= p.extent_2 {
    return;
  }
  let v0 = sum;
  let at = (batch * p.extent_1 + row) * p.extent_2 + column;
  out_0[at / 4u] = vec4<f16>(v0);
}
fn normalizer(total: f32) -> f32 {
  if total == 0.0f {
    return select(bitcast<f32>(fuse_nan_bits), 0.0f, p.extent_3 == 0u);
  }
  return 1.0f / total;
}
var<workgroup> key_slice: array<vec4<f16>, 320>;
var<workgroup> value_slice: array<vec4<f16>, 320>;
var<workgroup> weights: array<vec4<f16>, 640>;
var<workgroup> strips: array<vec4<f32>, 256>;
var<workgroup> grown: array<u32, 4>;

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
  let forwards = (countOneBits(batch) & 1u) == 1u;
  let first_row = select(p.row_tiles - 1u - position, position, forwards) * 64u;
  var key_begin = 0u;
  var key_end = p.extent_3;
  let row0 = min(first_row, p.extent_1 - 64u);
  let b0 = batch;
  let first_query = i32(row0);
  let last_query = i32(min(row0 + 64u, p.extent_1) - 1u);
  let limit0 = u32(max(last_query + 1i, 0i));
  let exact0 = 1.0f * f32(p.extent_1) + 1.0f * f32(p.extent_3) < 1073741800.0f;
  key_end = select(key_end, min(key_end, limit0), exact0);
  let negative_infinity = -bitcast<f32>(fuse_inf_bits);
  if local == 0u {
    grown[0u] = 0u;
  }
  let part_row = row0 + subgroup * 16u;
  let lane_row = subgroup_lane / 4u;
  let lane_column = subgroup_lane % 4u * 4u;
  let strip = subgroup * 64u;
  let strip_lane = strip + subgroup_lane;
  let part_weights = subgroup * 160u;
  let weight_lane = part_weights + lane_row * 10u + subgroup_lane % 4u;
  let last_key = p.extent_3 - 1u;
  let xk_lines = p.stride_1_2 / 4u;
  let xk_first = (p.offset_1 + b0 * p.stride_1_0) / 4u;
  let xk_line = local / 8u;
  let xk_at = xk_first + local % 8u;
  let xk_to = xk_line * 10u + local % 8u;
  var xk0_x: vec4<f16>;
  var xk1_x: vec4<f16>;
  let xv_lines = p.stride_2_1 / 4u;
  let xv_first = (p.offset_2 + b0 * p.stride_2_0) / 4u;
  let xv_line = local / 8u;
  let xv_at = xv_first + local % 8u;
  let xv_to = xv_line * 10u + local % 8u;
  var xv0_x: vec4<f16>;
  var xv1_x: vec4<f16>;
  let xq_lines = p.stride_0_1 / 4u;
  let xq_first = (p.offset_0 + b0 * p.stride_0_0) / 4u;
  let q0_0 = coopLoadT<coop_mat16x16<f16, A>>(&in_0[xq_first + part_row * xq_lines], xq_lines);
  let q0_1 = coopLoadT<coop_mat16x16<f16, A>>(&in_0[xq_first + part_row * xq_lines + 4u], xq_lines);
  var o0_0 = coop_mat16x16<f32, C>();
  var o0_1 = coop_mat16x16<f32, C>();
  var reference0_0 = -3.4028234663852886e38f;
  var total0_0 = 0.0f;
  var reference0_1 = -3.4028234663852886e38f;
  var total0_1 = 0.0f;
  if key_begin < key_end {
    let xk_step = key_begin + xk_line;
    xk0_x = in_1[xk_at + min(xk_step, last_key) * xk_lines];
    xk1_x = in_1[xk_at + min(xk_step + 16u, last_key) * xk_lines];
    let xv_step = key_begin + xv_line;
    xv0_x = in_2[xv_at + min(xv_step, last_key) * xv_lines];
    xv1_x = in_2[xv_at + min(xv_step + 16u, last_key) * xv_lines];
  }
  for (var k0 = key_begin; k0 < key_end; k0 += 32u) {
    key_slice[xk_to] = xk0_x;
    key_slice[xk_to + 160u] = xk1_x;
    value_slice[xv_to] = xv0_x;
    value_slice[xv_to + 160u] = xv1_x;
    workgroupBarrier();
    let next = k0 + 32u;
    let xk_step = next + xk_line;
    xk0_x = in_1[xk_at + min(xk_step, last_key) * xk_lines];
    xk1_x = in_1[xk_at + min(xk_step + 16u, last_key) * xk_lines];
    let xv_step = next + xv_line;
    xv0_x = in_2[xv_at + min(xv_step, last_key) * xv_lines];
    xv1_x = in_2[xv_at + min(xv_step + 16u, last_key) * xv_lines];
    var s0_0 = coop_mat16x16<f32, C>();
    var s0_1 = coop_mat16x16<f32, C>();
    {
      let key0 = coopLoad<coop_mat16x16<f16, B>>(&key_slice[0u], 10u);
      s0_0 = coopMultiplyAdd(q0_0, key0, s0_0);
      let key1 = coopLoad<coop_mat16x16<f16, B>>(&key_slice[4u], 10u);
      s0_0 = coopMultiplyAdd(q0_1, key1, s0_0);
    }
    {
      let key0 = coopLoad<coop_mat16x16<f16, B>>(&key_slice[160u], 10u);
      s0_1 = coopMultiplyAdd(q0_0, key0, s0_1);
      let key1 = coopLoad<coop_mat16x16<f16, B>>(&key_slice[164u], 10u);
      s0_1 = coopMultiplyAdd(q0_1, key1, s0_1);
    }
    coopStoreT(s0_0, &strips[strip], 4u);
    workgroupBarrier();
    var c0_0_0 = score(b0, part_row + lane_row, k0 + lane_column, strips[strip_lane]);
    var c0_0_1 = score(b0, part_row + 8u + lane_row, k0 + lane_column, strips[strip_lane + 32u]);
    workgroupBarrier();
    coopStoreT(s0_1, &strips[strip], 4u);
    workgroupBarrier();
    var c0_1_0 = score(b0, part_row + lane_row, k0 + 16u + lane_column, strips[strip_lane]);
    var c0_1_1 = score(b0, part_row + 8u + lane_row, k0 + 16u + lane_column, strips[strip_lane + 32u]);
    if k0 + 32u > p.extent_3 {
      let exists0 = vec4<u32>(k0 + lane_column) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(p.extent_3);
      c0_0_0 = select(vec4<f32>(negative_infinity), c0_0_0, exists0);
      c0_0_1 = select(vec4<f32>(negative_infinity), c0_0_1, exists0);
      let exists1 = vec4<u32>(k0 + 16u + lane_column) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(p.extent_3);
      c0_1_0 = select(vec4<f32>(negative_infinity), c0_1_0, exists1);
      c0_1_1 = select(vec4<f32>(negative_infinity), c0_1_1, exists1);
    }
    let most0_0 = max(c0_0_0, c0_1_0);
    let own0_0 = max(max(most0_0.x, most0_0.y), max(most0_0.z, most0_0.w));
    let largest0_0_neighbor = subgroupShuffleXor(own0_0, 1u);
    let largest0_0_pair = max(own0_0, largest0_0_neighbor);
    let largest0_0_other = subgroupShuffleXor(largest0_0_pair, 2u);
    let largest0_0 = max(largest0_0_pair, largest0_0_other);
    var factor0_0 = 1.0f;
    if largest0_0 > reference0_0 + 8.0f {
      factor0_0 = exp(reference0_0 - largest0_0);
      if reference0_0 > -3.4028234663852886e38f {
        grown[0u] = 1u;
      }
      reference0_0 = largest0_0;
      total0_0 *= factor0_0;
    }
    let e0_0_0 = exp(c0_0_0 - vec4<f32>(reference0_0));
    weights[weight_lane] = vec4<f16>(e0_0_0);
    let e0_0_1 = exp(c0_1_0 - vec4<f32>(reference0_0));
    weights[weight_lane + 4u] = vec4<f16>(e0_0_1);
    total0_0 += dot(e0_0_0 + e0_0_1, vec4<f32>(1.0f));
    let most0_1 = max(c0_0_1, c0_1_1);
    let own0_1 = max(max(most0_1.x, most0_1.y), max(most0_1.z, most0_1.w));
    let largest0_1_neighbor = subgroupShuffleXor(own0_1, 1u);
    let largest0_1_pair = max(own0_1, largest0_1_neighbor);
    let largest0_1_other = subgroupShuffleXor(largest0_1_pair, 2u);
    let largest0_1 = max(largest0_1_pair, largest0_1_other);
    var factor0_1 = 1.0f;
    if largest0_1 > reference0_1 + 8.0f {
      factor0_1 = exp(reference0_1 - largest0_1);
      if reference0_1 > -3.4028234663852886e38f {
        grown[0u] = 1u;
      }
      reference0_1 = largest0_1;
      total0_1 *= factor0_1;
    }
    let e0_1_0 = exp(c0_0_1 - vec4<f32>(reference0_1));
    weights[weight_lane + 80u] = vec4<f16>(e0_1_0);
    let e0_1_1 = exp(c0_1_1 - vec4<f32>(reference0_1));
    weights[weight_lane + 84u] = vec4<f16>(e0_1_1);
    total0_1 += dot(e0_1_0 + e0_1_1, vec4<f32>(1.0f));
    let follows = workgroupUniformLoad(&grown[0u]);
    if follows != 0u {
      coopStoreT(o0_0, &strips[strip], 4u);
      workgroupBarrier();
      strips[strip_lane] *= vec4<f32>(factor0_0);
      strips[strip_lane + 32u] *= vec4<f32>(factor0_1);
      workgroupBarrier();
      o0_0 = coopLoadT<coop_mat16x16<f32, C>>(&strips[strip], 4u);
      workgroupBarrier();
      coopStoreT(o0_1, &strips[strip], 4u);
      workgroupBarrier();
      strips[strip_lane] *= vec4<f32>(factor0_0);
      strips[strip_lane + 32u] *= vec4<f32>(factor0_1);
      workgroupBarrier();
      o0_1 = coopLoadT<coop_mat16x16<f32, C>>(&strips[strip], 4u);
      workgroupBarrier();
      if local == 0u {
        grown[0u] = 0u;
      }
    }
    {
      let weight0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[part_weights], 10u);
      let value0 = coopLoadT<coop_mat16x16<f16, B>>(&value_slice[0u], 10u);
      o0_0 = coopMultiplyAdd(weight0, value0, o0_0);
      let value1 = coopLoadT<coop_mat16x16<f16, B>>(&value_slice[4u], 10u);
      o0_1 = coopMultiplyAdd(weight0, value1, o0_1);
    }
    {
      let weight0 = coopLoadT<coop_mat16x16<f16, A>>(&weights[part_weights + 4u], 10u);
      let value0 = coopLoadT<coop_mat16x16<f16, B>>(&value_slice[160u], 10u);
      o0_0 = coopMultiplyAdd(weight0, value0, o0_0);
      let value1 = coopLoadT<coop_mat16x16<f16, B>>(&value_slice[164u], 10u);
      o0_1 = coopMultiplyAdd(weight0, value1, o0_1);
    }
    workgroupBarrier();
  }
  let sum0_0_neighbor = subgroupShuffleXor(total0_0, 1u);
  let sum0_0_pair = total0_0 + sum0_0_neighbor;
  let sum0_0_other = subgroupShuffleXor(sum0_0_pair, 2u);
  let sum0_0 = sum0_0_pair + sum0_0_other;
  let row0_0 = part_row + lane_row;
  let factor0_0 = vec4<f32>(normalizer(sum0_0));
  let sum0_1_neighbor = subgroupShuffleXor(total0_1, 1u);
  let sum0_1_pair = total0_1 + sum0_1_neighbor;
  let sum0_1_other = subgroupShuffleXor(sum0_1_pair, 2u);
  let sum0_1 = sum0_1_pair + sum0_1_other;
  let row0_1 = part_row + 8u + lane_row;
  let factor0_1 = vec4<f32>(normalizer(sum0_1));
  coopStoreT(o0_0, &strips[strip], 4u);
  workgroupBarrier();
  if row0_0 >= first_row {
    finish(batch, b0, row0_0, lane_column, strips[strip_lane] * factor0_0);
  }
  if row0_1 >= first_row {
    finish(batch, b0, row0_1, lane_column, strips[strip_lane + 32u] * factor0_1);
  }
  workgroupBarrier();
  coopStoreT(o0_1, &strips[strip], 4u);
  workgroupBarrier();
  if row0_0 >= first_row {
    finish(batch, b0, row0_0, 16u + lane_column, strips[strip_lane] * factor0_0);
  }
  if row0_1 >= first_row {
    finish(batch, b0, row0_1, 16u + lane_column, strips[strip_lane + 32u] * factor0_1);
  }
}
