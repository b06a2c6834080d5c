struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  workgroups: u32,
  row_tiles: u32,
  column_tiles: u32,
  offset_3: u32,
  offset_0: u32,
  stride_0_0: u32,
  offset_1: u32,
  stride_1_1: u32,
  offset_2: u32,
  stride_2_1: u32,
  size_13: u32,
  size_14: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> scales_1: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> in_3: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> out_0: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_wide_scales_1 = false;
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
fn finish(batch: u32, row: u32, column: u32, sum: vec4<f32>, x3: vec4<f32>) {
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let v0 = sum;
  let v1 = x3;
  let v2 = v0 + v1;
  let v3 = fuse_gelu4(v2);
  let at = (batch * p.extent_0 + row) * p.extent_1 + column;
  out_0[at / 4u] = v3;
}
var<workgroup> lhs_tile: array<vec4<f32>, 160>;
var<workgroup> rhs_tile: array<vec4<f32>, 544>;
struct Sums {
  s0_0: vec4<f32>,
  s1_0: vec4<f32>,
  s2_0: vec4<f32>,
  s3_0: vec4<f32>,
}
fn update(c: ptr<function, Sums>, a0: vec4<f32>, b0: vec4<f32>) {
  (*c).s0_0 = fma(vec4<f32>(a0.x), b0, (*c).s0_0);
  (*c).s1_0 = fma(vec4<f32>(a0.y), b0, (*c).s1_0);
  (*c).s2_0 = fma(vec4<f32>(a0.z), b0, (*c).s2_0);
  (*c).s3_0 = fma(vec4<f32>(a0.w), b0, (*c).s3_0);
}
fn preload_3(row: u32, column: u32) -> vec4<f32> {
  return in_3[(p.offset_3 + min(column, p.extent_1 - 4u)) / 4u];
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let id = workgroup.x + workgroup.y * workgroups.x;
  if id >= p.workgroups {
    return;
  }
  let tile = id;
  let batch = 0u;
  let k_begin = 0u;
  let k_end = p.extent_2;
  let row0 = tile / p.column_tiles * 16u;
  let column0 = tile % p.column_tiles * 64u;
  let tx = local % 16u;
  let ty = local / 16u;
  var c = Sums();
  let x3_0_0 = preload_3(row0 + ty * 4u, column0 + tx * 4u);
  let x3_1_0 = preload_3(row0 + ty * 4u + 1u, column0 + tx * 4u);
  let x3_2_0 = preload_3(row0 + ty * 4u + 2u, column0 + tx * 4u);
  let x3_3_0 = preload_3(row0 + ty * 4u + 3u, column0 + tx * 4u);
  let a0_o = local / 8u;
  let a0_k = local % 8u * 4u;
  let a0_to = a0_k * 5u + a0_o / 4u;
  let a0_at = min(row0 + a0_o, p.extent_0 - 1u);
  let a0_base0 = p.offset_0 + a0_at * p.stride_0_0;
  var a0_x0: vec4<f32>;
  let a1_o = (local + 64u) / 8u;
  let a1_k = (local + 64u) % 8u * 4u;
  let a1_to = a1_k * 5u + a1_o / 4u;
  let a1_at = min(row0 + a1_o, p.extent_0 - 1u);
  let a1_base0 = p.offset_0 + a1_at * p.stride_0_0;
  var a1_x0: vec4<f32>;
  let w0_0_o = local % 16u * 4u;
  let w0_0_k = local / 16u * 8u;
  let w0_0_column = min(column0 + w0_0_o, p.extent_1 - 4u);
  let w0_0_words = p.offset_1 + w0_0_column * p.stride_1_1;
  let w0_0_scales = p.offset_2 + w0_0_column * p.stride_2_1;
  var w0_0_w: vec4<u32>;
  var w0_0_shift: u32;
  var w0_0_s: vec4<u32>;
  var w0_0_t: vec4<u32>;
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
      let chunk = min(k_begin + w0_0_k, (k_end - 1u) / 8u * 8u);
      {
        let bit = chunk * 4u;
        w0_0_shift = bit % 32u;
        let word = w0_0_words + bit / 32u * p.size_13;
        w0_0_w = in_1[word / 4u];
      }
      {
        let pair = w0_0_scales + chunk / p.size_14 * p.size_13;
        if fuse_wide_scales_1 {
          w0_0_s = scales_1[2u * pair / 4u];
          w0_0_t = scales_1[(2u * pair + 4u) / 4u];
        } else {
          w0_0_s = scales_1[pair / 4u];
        }
      }
    }
  }
  for (var k0 = k_begin; k0 < k_end; k0 += 32u) {
    {
      let value = select(vec4<f32>(), a0_x0, k0 + a0_k < k_end);
      lhs_tile[a0_to][a0_o % 4u] = value.x;
      lhs_tile[a0_to + 5u][a0_o % 4u] = value.y;
      lhs_tile[a0_to + 10u][a0_o % 4u] = value.z;
      lhs_tile[a0_to + 15u][a0_o % 4u] = value.w;
    }
    {
      let value = select(vec4<f32>(), a1_x0, k0 + a1_k < k_end);
      lhs_tile[a1_to][a1_o % 4u] = value.x;
      lhs_tile[a1_to + 5u][a1_o % 4u] = value.y;
      lhs_tile[a1_to + 10u][a1_o % 4u] = value.z;
      lhs_tile[a1_to + 15u][a1_o % 4u] = value.w;
    }
    {
      var w0_0_scale: vec4<f32>;
      var w0_0_offset: vec4<f32>;
      if fuse_wide_scales_1 {
        w0_0_scale = bitcast<vec4<f32>>(vec4<u32>(w0_0_s.x, w0_0_s.z, w0_0_t.x, w0_0_t.z));
        w0_0_offset = bitcast<vec4<f32>>(vec4<u32>(w0_0_s.y, w0_0_s.w, w0_0_t.y, w0_0_t.w));
      } else {
        let pair_0 = unpack2x16float(w0_0_s.x);
        let pair_1 = unpack2x16float(w0_0_s.y);
        let pair_2 = unpack2x16float(w0_0_s.z);
        let pair_3 = unpack2x16float(w0_0_s.w);
        w0_0_scale = vec4<f32>(pair_0.x, pair_1.x, pair_2.x, pair_3.x);
        w0_0_offset = vec4<f32>(pair_0.y, pair_1.y, pair_2.y, pair_3.y);
      }
      let w0_0_q = w0_0_w >> vec4<u32>(w0_0_shift);
      rhs_tile[w0_0_k * 17u + w0_0_o / 4u] = (bitcast<vec4<f32>>((w0_0_q & vec4<u32>(15u)) | vec4<u32>(1258291200u)) - 8388608.0f) * w0_0_scale + w0_0_offset;
      rhs_tile[w0_0_k * 17u + w0_0_o / 4u + 17u] = (bitcast<vec4<f32>>((w0_0_q & vec4<u32>(240u)) | vec4<u32>(1258291200u)) - 8388608.0f) * (w0_0_scale * 0.0625f) + w0_0_offset;
      rhs_tile[w0_0_k * 17u + w0_0_o / 4u + 34u] = (bitcast<vec4<f32>>((w0_0_q & vec4<u32>(3840u)) | vec4<u32>(1258291200u)) - 8388608.0f) * (w0_0_scale * 0.00390625f) + w0_0_offset;
      rhs_tile[w0_0_k * 17u + w0_0_o / 4u + 51u] = (bitcast<vec4<f32>>((w0_0_q & vec4<u32>(61440u)) | vec4<u32>(1258291200u)) - 8388608.0f) * (w0_0_scale * 0.00024414063f) + w0_0_offset;
      rhs_tile[w0_0_k * 17u + w0_0_o / 4u + 68u] = (bitcast<vec4<f32>>((w0_0_q & vec4<u32>(983040u)) | vec4<u32>(1258291200u)) - 8388608.0f) * (w0_0_scale * 1.5258789e-5f) + w0_0_offset;
      rhs_tile[w0_0_k * 17u + w0_0_o / 4u + 85u] = (bitcast<vec4<f32>>(((w0_0_q >> vec4<u32>(20u)) & vec4<u32>(15u)) | vec4<u32>(1258291200u)) - 8388608.0f) * w0_0_scale + w0_0_offset;
      rhs_tile[w0_0_k * 17u + w0_0_o / 4u + 102u] = (bitcast<vec4<f32>>(((w0_0_q >> vec4<u32>(20u)) & vec4<u32>(240u)) | vec4<u32>(1258291200u)) - 8388608.0f) * (w0_0_scale * 0.0625f) + w0_0_offset;
      rhs_tile[w0_0_k * 17u + w0_0_o / 4u + 119u] = (bitcast<vec4<f32>>(((w0_0_q >> vec4<u32>(20u)) & vec4<u32>(3840u)) | vec4<u32>(1258291200u)) - 8388608.0f) * (w0_0_scale * 0.00390625f) + w0_0_offset;
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
        let chunk = min(k0 + 32u + w0_0_k, (k_end - 1u) / 8u * 8u);
        {
          let bit = chunk * 4u;
          w0_0_shift = bit % 32u;
          let word = w0_0_words + bit / 32u * p.size_13;
          w0_0_w = in_1[word / 4u];
        }
        {
          let pair = w0_0_scales + chunk / p.size_14 * p.size_13;
          if fuse_wide_scales_1 {
            w0_0_s = scales_1[2u * pair / 4u];
            w0_0_t = scales_1[(2u * pair + 4u) / 4u];
          } else {
            w0_0_s = scales_1[pair / 4u];
          }
        }
      }
    }
    update(&c, lhs_tile[ty], rhs_tile[tx]);
    update(&c, lhs_tile[ty + 5u], rhs_tile[tx + 17u]);
    update(&c, lhs_tile[ty + 10u], rhs_tile[tx + 34u]);
    update(&c, lhs_tile[ty + 15u], rhs_tile[tx + 51u]);
    update(&c, lhs_tile[ty + 20u], rhs_tile[tx + 68u]);
    update(&c, lhs_tile[ty + 25u], rhs_tile[tx + 85u]);
    update(&c, lhs_tile[ty + 30u], rhs_tile[tx + 102u]);
    update(&c, lhs_tile[ty + 35u], rhs_tile[tx + 119u]);
    update(&c, lhs_tile[ty + 40u], rhs_tile[tx + 136u]);
    update(&c, lhs_tile[ty + 45u], rhs_tile[tx + 153u]);
    update(&c, lhs_tile[ty + 50u], rhs_tile[tx + 170u]);
    update(&c, lhs_tile[ty + 55u], rhs_tile[tx + 187u]);
    update(&c, lhs_tile[ty + 60u], rhs_tile[tx + 204u]);
    update(&c, lhs_tile[ty + 65u], rhs_tile[tx + 221u]);
    update(&c, lhs_tile[ty + 70u], rhs_tile[tx + 238u]);
    update(&c, lhs_tile[ty + 75u], rhs_tile[tx + 255u]);
    update(&c, lhs_tile[ty + 80u], rhs_tile[tx + 272u]);
    update(&c, lhs_tile[ty + 85u], rhs_tile[tx + 289u]);
    update(&c, lhs_tile[ty + 90u], rhs_tile[tx + 306u]);
    update(&c, lhs_tile[ty + 95u], rhs_tile[tx + 323u]);
    update(&c, lhs_tile[ty + 100u], rhs_tile[tx + 340u]);
    update(&c, lhs_tile[ty + 105u], rhs_tile[tx + 357u]);
    update(&c, lhs_tile[ty + 110u], rhs_tile[tx + 374u]);
    update(&c, lhs_tile[ty + 115u], rhs_tile[tx + 391u]);
    update(&c, lhs_tile[ty + 120u], rhs_tile[tx + 408u]);
    update(&c, lhs_tile[ty + 125u], rhs_tile[tx + 425u]);
    update(&c, lhs_tile[ty + 130u], rhs_tile[tx + 442u]);
    update(&c, lhs_tile[ty + 135u], rhs_tile[tx + 459u]);
    update(&c, lhs_tile[ty + 140u], rhs_tile[tx + 476u]);
    update(&c, lhs_tile[ty + 145u], rhs_tile[tx + 493u]);
    update(&c, lhs_tile[ty + 150u], rhs_tile[tx + 510u]);
    update(&c, lhs_tile[ty + 155u], rhs_tile[tx + 527u]);
    workgroupBarrier();
  }
  finish(batch, row0 + ty * 4u, column0 + tx * 4u, c.s0_0, x3_0_0);
  finish(batch, row0 + ty * 4u + 1u, column0 + tx * 4u, c.s1_0, x3_1_0);
  finish(batch, row0 + ty * 4u + 2u, column0 + tx * 4u, c.s2_0, x3_2_0);
  finish(batch, row0 + ty * 4u + 3u, column0 + tx * 4u, c.s3_0, x3_3_0);
}
