enable f16;
enable wgpu_cooperative_matrix;

struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  workgroups: u32,
  row_tiles: u32,
  column_tiles: u32,
  offset_3: u32,
  stride_0_0: u32,
  offset_0: u32,
  offset_1: u32,
  stride_1_1: u32,
  offset_2: u32,
  stride_2_1: u32,
  size_13: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> in_0: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read_write> in_1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> scales_1: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> in_3: array<vec4<f16>>;
@group(0) @binding(5) var<storage, read_write> out_0: array<vec4<f16>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_wide_scales_1 = false;
const fuse_fast_math = false;

fn fuse_is_nan4(x: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}
fn fuse_relu4(x: vec4<f32>) -> vec4<f32> {
  if fuse_fast_math {
    return max(x, vec4<f32>(0.0));
  }
  return select(max(x, vec4<f32>(0.0)), x, fuse_is_nan4(x));
}
fn finish(batch: u32, row: u32, column: u32, sum: vec4<f32>, x3: vec4<f32>) {
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let v0 = sum;
  let v1 = x3;
  let v2 = v0 + v1;
  let v3 = fuse_relu4(v2);
  let at = (batch * p.extent_0 + row) * p.extent_1 + column;
  out_0[at / 4u] = vec4<f16>(v3);
}
var<workgroup> lhs_tile: array<vec4<f16>, 576>;
var<workgroup> rhs_tile: array<vec4<f16>, 576>;
var<workgroup> sums: array<vec4<f32>, 256>;
fn preload_3(row: u32, column: u32) -> vec4<f32> {
  return vec4<f32>(in_3[(p.offset_3 + min(column, p.extent_1 - 4u)) / 4u]);
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
  let x3_0_0_0 = preload_3(vector_row0_0, vector_column0);
  let x3_0_0_1 = preload_3(vector_row0_1, vector_column0);
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
  let w0_0_o = local / 8u;
  let w0_0_k = local % 8u * 8u;
  let w0_0_column = min(column0 + w0_0_o, p.extent_1 - 1u);
  let w0_0_words = p.offset_1 + w0_0_column * p.stride_1_1;
  let w0_0_scales = p.offset_2 + w0_0_column * p.stride_2_1;
  var w0_0_w: u32;
  var w0_0_v: u32;
  var w0_0_shift: u32;
  var w0_0_s: u32;
  var w0_0_t: u32;
  let w0_1_o = (local + 128u) / 8u;
  let w0_1_k = (local + 128u) % 8u * 8u;
  let w0_1_column = min(column0 + w0_1_o, p.extent_1 - 1u);
  let w0_1_words = p.offset_1 + w0_1_column * p.stride_1_1;
  let w0_1_scales = p.offset_2 + w0_1_column * p.stride_2_1;
  var w0_1_w: u32;
  var w0_1_v: u32;
  var w0_1_shift: u32;
  var w0_1_s: u32;
  var w0_1_t: u32;
  if k_begin < k_end {
    let a_step = a_origin + k_begin / 4u;
    a0_x = in_0[a_at + (a_step + a0_line)];
    a1_x = in_0[a_at + (a_step + a1_line)];
    a2_x = in_0[a_at + (a_step + a2_line)];
    a3_x = in_0[a_at + (a_step + a3_line)];
    {
      let chunk = k_begin + w0_0_k;
      {
        let bit = chunk * 3u;
        w0_0_shift = bit % 32u;
        let word = w0_0_words + bit / 32u;
        w0_0_w = in_1[word / 4u][word % 4u];
        let next = select(word, word + 1u, w0_0_shift > 8u);
        w0_0_v = in_1[next / 4u][next % 4u];
      }
      {
        let pair = w0_0_scales + chunk / p.size_13;
        if fuse_wide_scales_1 {
          w0_0_s = scales_1[2u * pair / 4u][2u * pair % 4u];
          w0_0_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
        } else {
          w0_0_s = scales_1[pair / 4u][pair % 4u];
        }
      }
    }
    {
      let chunk = k_begin + w0_1_k;
      {
        let bit = chunk * 3u;
        w0_1_shift = bit % 32u;
        let word = w0_1_words + bit / 32u;
        w0_1_w = in_1[word / 4u][word % 4u];
        let next = select(word, word + 1u, w0_1_shift > 8u);
        w0_1_v = in_1[next / 4u][next % 4u];
      }
      {
        let pair = w0_1_scales + chunk / p.size_13;
        if fuse_wide_scales_1 {
          w0_1_s = scales_1[2u * pair / 4u][2u * pair % 4u];
          w0_1_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
        } else {
          w0_1_s = scales_1[pair / 4u][pair % 4u];
        }
      }
    }
  }
  for (var k0 = k_begin; k0 < k_end; k0 += 64u) {
    lhs_tile[a_to] = a0_x;
    lhs_tile[a_to + 144u] = a1_x;
    lhs_tile[a_to + 288u] = a2_x;
    lhs_tile[a_to + 432u] = a3_x;
    {
      var w0_0_scale: f32;
      var w0_0_offset: f32;
      if fuse_wide_scales_1 {
        w0_0_scale = bitcast<f32>(w0_0_s);
        w0_0_offset = bitcast<f32>(w0_0_t);
      } else {
        let pair_0 = unpack2x16float(w0_0_s);
        w0_0_scale = pair_0.x;
        w0_0_offset = pair_0.y;
      }
      let w0_0_q = (w0_0_w >> w0_0_shift) | ((w0_0_v << 1u) << (31u - w0_0_shift));
      rhs_tile[w0_0_o * 18u + w0_0_k / 4u] = vec4<f16>(vec4<f32>(f32(f16((bitcast<f32>((w0_0_q & 7u) | 1258291200u) - 8388608.0f) * w0_0_scale + w0_0_offset)), f32(f16((bitcast<f32>((w0_0_q & 56u) | 1258291200u) - 8388608.0f) * (w0_0_scale * 0.125f) + w0_0_offset)), f32(f16((bitcast<f32>((w0_0_q & 448u) | 1258291200u) - 8388608.0f) * (w0_0_scale * 0.015625f) + w0_0_offset)), f32(f16((bitcast<f32>((w0_0_q & 3584u) | 1258291200u) - 8388608.0f) * (w0_0_scale * 0.001953125f) + w0_0_offset))));
      rhs_tile[w0_0_o * 18u + w0_0_k / 4u + 1u] = vec4<f16>(vec4<f32>(f32(f16((bitcast<f32>((w0_0_q & 28672u) | 1258291200u) - 8388608.0f) * (w0_0_scale * 0.00024414063f) + w0_0_offset)), f32(f16((bitcast<f32>((w0_0_q & 229376u) | 1258291200u) - 8388608.0f) * (w0_0_scale * 3.0517578e-5f) + w0_0_offset)), f32(f16((bitcast<f32>((w0_0_q & 1835008u) | 1258291200u) - 8388608.0f) * (w0_0_scale * 3.8146973e-6f) + w0_0_offset)), f32(f16((bitcast<f32>(((w0_0_q >> 21u) & 7u) | 1258291200u) - 8388608.0f) * w0_0_scale + w0_0_offset))));
    }
    {
      var w0_1_scale: f32;
      var w0_1_offset: f32;
      if fuse_wide_scales_1 {
        w0_1_scale = bitcast<f32>(w0_1_s);
        w0_1_offset = bitcast<f32>(w0_1_t);
      } else {
        let pair_0 = unpack2x16float(w0_1_s);
        w0_1_scale = pair_0.x;
        w0_1_offset = pair_0.y;
      }
      let w0_1_q = (w0_1_w >> w0_1_shift) | ((w0_1_v << 1u) << (31u - w0_1_shift));
      rhs_tile[w0_1_o * 18u + w0_1_k / 4u] = vec4<f16>(vec4<f32>(f32(f16((bitcast<f32>((w0_1_q & 7u) | 1258291200u) - 8388608.0f) * w0_1_scale + w0_1_offset)), f32(f16((bitcast<f32>((w0_1_q & 56u) | 1258291200u) - 8388608.0f) * (w0_1_scale * 0.125f) + w0_1_offset)), f32(f16((bitcast<f32>((w0_1_q & 448u) | 1258291200u) - 8388608.0f) * (w0_1_scale * 0.015625f) + w0_1_offset)), f32(f16((bitcast<f32>((w0_1_q & 3584u) | 1258291200u) - 8388608.0f) * (w0_1_scale * 0.001953125f) + w0_1_offset))));
      rhs_tile[w0_1_o * 18u + w0_1_k / 4u + 1u] = vec4<f16>(vec4<f32>(f32(f16((bitcast<f32>((w0_1_q & 28672u) | 1258291200u) - 8388608.0f) * (w0_1_scale * 0.00024414063f) + w0_1_offset)), f32(f16((bitcast<f32>((w0_1_q & 229376u) | 1258291200u) - 8388608.0f) * (w0_1_scale * 3.0517578e-5f) + w0_1_offset)), f32(f16((bitcast<f32>((w0_1_q & 1835008u) | 1258291200u) - 8388608.0f) * (w0_1_scale * 3.8146973e-6f) + w0_1_offset)), f32(f16((bitcast<f32>(((w0_1_q >> 21u) & 7u) | 1258291200u) - 8388608.0f) * w0_1_scale + w0_1_offset))));
    }
    workgroupBarrier();
    let a_step = a_origin + min(k0 + 64u, k_end - 64u) / 4u;
    a0_x = in_0[a_at + (a_step + a0_line)];
    a1_x = in_0[a_at + (a_step + a1_line)];
    a2_x = in_0[a_at + (a_step + a2_line)];
    a3_x = in_0[a_at + (a_step + a3_line)];
    {
      let chunk = min(k0 + 64u, k_end - 64u) + w0_0_k;
      {
        let bit = chunk * 3u;
        w0_0_shift = bit % 32u;
        let word = w0_0_words + bit / 32u;
        w0_0_w = in_1[word / 4u][word % 4u];
        let next = select(word, word + 1u, w0_0_shift > 8u);
        w0_0_v = in_1[next / 4u][next % 4u];
      }
      {
        let pair = w0_0_scales + chunk / p.size_13;
        if fuse_wide_scales_1 {
          w0_0_s = scales_1[2u * pair / 4u][2u * pair % 4u];
          w0_0_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
        } else {
          w0_0_s = scales_1[pair / 4u][pair % 4u];
        }
      }
    }
    {
      let chunk = min(k0 + 64u, k_end - 64u) + w0_1_k;
      {
        let bit = chunk * 3u;
        w0_1_shift = bit % 32u;
        let word = w0_1_words + bit / 32u;
        w0_1_w = in_1[word / 4u][word % 4u];
        let next = select(word, word + 1u, w0_1_shift > 8u);
        w0_1_v = in_1[next / 4u][next % 4u];
      }
      {
        let pair = w0_1_scales + chunk / p.size_13;
        if fuse_wide_scales_1 {
          w0_1_s = scales_1[2u * pair / 4u][2u * pair % 4u];
          w0_1_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
        } else {
          w0_1_s = scales_1[pair / 4u][pair % 4u];
        }
      }
    }
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
      finish(batch, vector_row0_0, vector_column0, sums[vector], x3_0_0_0);
    }
    if vector_row0_1 >= first_row && vector_column0 >= first_column {
      finish(batch, vector_row0_1, vector_column0, sums[vector + 32u], x3_0_0_1);
    }
  }
}
