struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  offset_3: u32,
  workgroups: u32,
  column_tiles: u32,
  offset_1: u32,
  stride_1_1: u32,
  offset_2: u32,
  stride_2_1: u32,
  offset_0: u32,
  stride_0_0: u32,
  size_12: u32,
  size_13: u32,
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
const fuse_rounds = 1u;

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
fn finish(batch: u32, row: u32, column: u32, sum: vec4<f32>) {
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let x3 = in_3[(p.offset_3 + column) / 4u];
  let v0 = sum;
  let v1 = x3;
  let v2 = v0 + v1;
  let v3 = fuse_gelu4(v2);
  let at = (batch * p.extent_0 + row) * p.extent_1 + column;
  out_0[at / 4u] = v3;
}
var<workgroup> partial: array<vec4<f32>, 128>;
var<workgroup> a_codes: array<vec4<u32>, 256>;
var<workgroup> a_scales: array<vec2<f32>, 128>;
var<workgroup> w0_groups: array<u32, 128>;
fn a_read(at0: u32, at1: u32) -> vec4<f32> {
  let a_x0 = in_0[(p.offset_0 + at0 * p.stride_0_0 + at1) / 4u];
  return a_x0;
}

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
  let lane = local % 4u;
  let k_group = local / 4u;
  let batch = id / p.column_tiles;
  let k_begin = 0u;
  let k_end = p.extent_2;
  let first = id % p.column_tiles * 4u;
  let columns_in_units = p.extent_1 / 4u;
  let stores = first + lane < columns_in_units;
  let column = min(first + lane, columns_in_units - 1u) * 4u;
  let w0_words = p.offset_1 + column * p.stride_1_1;
  let w0_scales = p.offset_2 + column * p.stride_2_1;
  var sum = vec4<f32>();
  for (var held = k_begin; held < k_end; held += 4096u) {
    let held_end = min(held + 4096u, k_end);
    workgroupBarrier();
    let rounded = held + local * 32u;
    if local < 128u && rounded < held_end {
      let x0 = a_read(0u, rounded);
      let x1 = a_read(0u, rounded + 4u);
      let x2 = a_read(0u, rounded + 8u);
      let x3 = a_read(0u, rounded + 12u);
      let x4 = a_read(0u, rounded + 16u);
      let x5 = a_read(0u, rounded + 20u);
      let x6 = a_read(0u, rounded + 24u);
      let x7 = a_read(0u, rounded + 28u);
      let largest4 = max(max(max(max(max(max(max(abs(x0), abs(x1)), abs(x2)), abs(x3)), abs(x4)), abs(x5)), abs(x6)), abs(x7));
      let largest = max(max(largest4.x, largest4.y), max(largest4.z, largest4.w));
      let to_codes = select(0.0f, 127.0f / largest, largest >= 1.4928778e-36f);
      let ones = 16843009u;
      var sum_of_codes = 0i;
      {
        let codes = vec4<u32>(pack4xU8(bitcast<vec4<u32>>(fma(vec4<f32>(x0.x, x0.z, x1.x, x1.z), vec4<f32>(to_codes), vec4<f32>(12582912.0f)))), pack4xU8(bitcast<vec4<u32>>(fma(vec4<f32>(x0.y, x0.w, x1.y, x1.w), vec4<f32>(to_codes), vec4<f32>(12582912.0f)))), pack4xU8(bitcast<vec4<u32>>(fma(vec4<f32>(x2.x, x2.z, x3.x, x3.z), vec4<f32>(to_codes), vec4<f32>(12582912.0f)))), pack4xU8(bitcast<vec4<u32>>(fma(vec4<f32>(x2.y, x2.w, x3.y, x3.w), vec4<f32>(to_codes), vec4<f32>(12582912.0f)))));
        sum_of_codes += dot4I8Packed(codes.x, ones);
        sum_of_codes += dot4I8Packed(codes.y, ones);
        sum_of_codes += dot4I8Packed(codes.z, ones);
        sum_of_codes += dot4I8Packed(codes.w, ones);
        a_codes[local] = codes;
      }
      {
        let codes = vec4<u32>(pack4xU8(bitcast<vec4<u32>>(fma(vec4<f32>(x4.x, x4.z, x5.x, x5.z), vec4<f32>(to_codes), vec4<f32>(12582912.0f)))), pack4xU8(bitcast<vec4<u32>>(fma(vec4<f32>(x4.y, x4.w, x5.y, x5.w), vec4<f32>(to_codes), vec4<f32>(12582912.0f)))), pack4xU8(bitcast<vec4<u32>>(fma(vec4<f32>(x6.x, x6.z, x7.x, x7.z), vec4<f32>(to_codes), vec4<f32>(12582912.0f)))), pack4xU8(bitcast<vec4<u32>>(fma(vec4<f32>(x6.y, x6.w, x7.y, x7.w), vec4<f32>(to_codes), vec4<f32>(12582912.0f)))));
        sum_of_codes += dot4I8Packed(codes.x, ones);
        sum_of_codes += dot4I8Packed(codes.y, ones);
        sum_of_codes += dot4I8Packed(codes.z, ones);
        sum_of_codes += dot4I8Packed(codes.w, ones);
        a_codes[local + 128u] = codes;
      }
      let scale = largest * 0.007874016f;
      a_scales[local] = vec2<f32>(scale, scale * f32(sum_of_codes));
      w0_groups[local] = rounded / p.size_12;
    }
    workgroupBarrier();
    for (var k_0 = held + k_group * 32u; k_0 < held_end; k_0 += fuse_rounds * 2048u) {
      for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
        let k = k_0 + iteration * 2048u;
        if fuse_rounds == 1u || k < held_end {
          let run = (k - held) / 32u;
          let w0_group = w0_groups[run];
          let w0_at = w0_words + k / 32u * (4u * p.size_13);
          let w0_r0 = in_1[(w0_at + 0u * p.size_13) / 4u];
          let w0_r1 = in_1[(w0_at + p.size_13) / 4u];
          let w0_r2 = in_1[(w0_at + 2u * p.size_13) / 4u];
          let w0_r3 = in_1[(w0_at + 3u * p.size_13) / 4u];
          var w0_s: vec4<u32>;
          var w0_t: vec4<u32>;
          {
            let pair = w0_scales + w0_group * p.size_13;
            if fuse_wide_scales_1 {
              w0_s = scales_1[2u * pair / 4u];
              w0_t = scales_1[(2u * pair + 4u) / 4u];
            } else {
              w0_s = scales_1[pair / 4u];
            }
          }
          let x0 = a_codes[run];
          let x1 = a_codes[run + 128u];
          let x_scale = a_scales[run].x;
          let x_sum = a_scales[run].y;
          {
            var w0_scale: vec4<f32>;
            var w0_offset: vec4<f32>;
            if fuse_wide_scales_1 {
              w0_scale = bitcast<vec4<f32>>(vec4<u32>(w0_s.x, w0_s.z, w0_t.x, w0_t.z));
              w0_offset = bitcast<vec4<f32>>(vec4<u32>(w0_s.y, w0_s.w, w0_t.y, w0_t.w));
            } else {
              let pair_0 = unpack2x16float(w0_s.x);
              let pair_1 = unpack2x16float(w0_s.y);
              let pair_2 = unpack2x16float(w0_s.z);
              let pair_3 = unpack2x16float(w0_s.w);
              w0_scale = vec4<f32>(pair_0.x, pair_1.x, pair_2.x, pair_3.x);
              w0_offset = vec4<f32>(pair_0.y, pair_1.y, pair_2.y, pair_3.y);
            }
            let w0_unit0 = w0_r0;
            let w0_unit1 = w0_r1;
            let w0_unit2 = w0_r2;
            let w0_unit3 = w0_r3;
            let w0_bytes0 = w0_unit0 & vec4<u32>(252645135u);
            let w0_bytes1 = (w0_unit0 >> vec4<u32>(4u)) & vec4<u32>(252645135u);
            let w0_bytes2 = w0_unit1 & vec4<u32>(252645135u);
            let w0_bytes3 = (w0_unit1 >> vec4<u32>(4u)) & vec4<u32>(252645135u);
            let w0_bytes4 = w0_unit2 & vec4<u32>(252645135u);
            let w0_bytes5 = (w0_unit2 >> vec4<u32>(4u)) & vec4<u32>(252645135u);
            let w0_bytes6 = w0_unit3 & vec4<u32>(252645135u);
            let w0_bytes7 = (w0_unit3 >> vec4<u32>(4u)) & vec4<u32>(252645135u);
            let w0_products = (bitcast<vec4<f32>>(vec4<i32>(1262485504i) + vec4<i32>(dot4I8Packed(w0_bytes0.x, x0.x), dot4I8Packed(w0_bytes0.y, x0.x), dot4I8Packed(w0_bytes0.z, x0.x), dot4I8Packed(w0_bytes0.w, x0.x)) + vec4<i32>(dot4I8Packed(w0_bytes1.x, x0.y), dot4I8Packed(w0_bytes1.y, x0.y), dot4I8Packed(w0_bytes1.z, x0.y), dot4I8Packed(w0_bytes1.w, x0.y)) + vec4<i32>(dot4I8Packed(w0_bytes2.x, x0.z), dot4I8Packed(w0_bytes2.y, x0.z), dot4I8Packed(w0_bytes2.z, x0.z), dot4I8Packed(w0_bytes2.w, x0.z)) + vec4<i32>(dot4I8Packed(w0_bytes3.x, x0.w), dot4I8Packed(w0_bytes3.y, x0.w), dot4I8Packed(w0_bytes3.z, x0.w), dot4I8Packed(w0_bytes3.w, x0.w)) + vec4<i32>(dot4I8Packed(w0_bytes4.x, x1.x), dot4I8Packed(w0_bytes4.y, x1.x), dot4I8Packed(w0_bytes4.z, x1.x), dot4I8Packed(w0_bytes4.w, x1.x)) + vec4<i32>(dot4I8Packed(w0_bytes5.x, x1.y), dot4I8Packed(w0_bytes5.y, x1.y), dot4I8Packed(w0_bytes5.z, x1.y), dot4I8Packed(w0_bytes5.w, x1.y)) + vec4<i32>(dot4I8Packed(w0_bytes6.x, x1.z), dot4I8Packed(w0_bytes6.y, x1.z), dot4I8Packed(w0_bytes6.z, x1.z), dot4I8Packed(w0_bytes6.w, x1.z)) + vec4<i32>(dot4I8Packed(w0_bytes7.x, x1.w), dot4I8Packed(w0_bytes7.y, x1.w), dot4I8Packed(w0_bytes7.z, x1.w), dot4I8Packed(w0_bytes7.w, x1.w))) - 12582912.0f) * (x_scale * 1.0f);
            sum = fma(w0_products, w0_scale, fma(vec4<f32>(x_sum), w0_offset, sum));
          }
        }
      }
    }
  }
  if any((bitcast<vec4<u32>>(sum) & vec4<u32>(2139095040u)) == vec4<u32>(2139095040u)) {
    sum = vec4<f32>();
    for (var k = k_begin + k_group * 32u; k < k_end; k += 2048u) {
      for (var depth = k; depth < k + 32u; depth += 8u) {
        let x0 = a_read(0u, depth);
        let x1 = a_read(0u, depth + 4u);
        {
          var w0_w: vec4<u32>;
          var w0_shift: u32;
          var w0_s: vec4<u32>;
          var w0_t: vec4<u32>;
          {
            let bit = depth * 4u;
            w0_shift = bit % 32u;
            let word = w0_words + bit / 32u * p.size_13;
            w0_w = in_1[word / 4u];
          }
          {
            let pair = w0_scales + depth / p.size_12 * p.size_13;
            if fuse_wide_scales_1 {
              w0_s = scales_1[2u * pair / 4u];
              w0_t = scales_1[(2u * pair + 4u) / 4u];
            } else {
              w0_s = scales_1[pair / 4u];
            }
          }
          var w0_scale: vec4<f32>;
          var w0_offset: vec4<f32>;
          if fuse_wide_scales_1 {
            w0_scale = bitcast<vec4<f32>>(vec4<u32>(w0_s.x, w0_s.z, w0_t.x, w0_t.z));
            w0_offset = bitcast<vec4<f32>>(vec4<u32>(w0_s.y, w0_s.w, w0_t.y, w0_t.w));
          } else {
            let pair_0 = unpack2x16float(w0_s.x);
            let pair_1 = unpack2x16float(w0_s.y);
            let pair_2 = unpack2x16float(w0_s.z);
            let pair_3 = unpack2x16float(w0_s.w);
            w0_scale = vec4<f32>(pair_0.x, pair_1.x, pair_2.x, pair_3.x);
            w0_offset = vec4<f32>(pair_0.y, pair_1.y, pair_2.y, pair_3.y);
          }
          let w0_q = w0_w >> vec4<u32>(w0_shift);
          sum += vec4<f32>(x0.x) * ((bitcast<vec4<f32>>((w0_q & vec4<u32>(15u)) | vec4<u32>(1258291200u)) - 8388608.0f) * w0_scale + w0_offset);
          sum += vec4<f32>(x0.y) * ((bitcast<vec4<f32>>((w0_q & vec4<u32>(240u)) | vec4<u32>(1258291200u)) - 8388608.0f) * (w0_scale * 0.0625f) + w0_offset);
          sum += vec4<f32>(x0.z) * ((bitcast<vec4<f32>>((w0_q & vec4<u32>(3840u)) | vec4<u32>(1258291200u)) - 8388608.0f) * (w0_scale * 0.00390625f) + w0_offset);
          sum += vec4<f32>(x0.w) * ((bitcast<vec4<f32>>((w0_q & vec4<u32>(61440u)) | vec4<u32>(1258291200u)) - 8388608.0f) * (w0_scale * 0.00024414063f) + w0_offset);
          sum += vec4<f32>(x1.x) * ((bitcast<vec4<f32>>((w0_q & vec4<u32>(983040u)) | vec4<u32>(1258291200u)) - 8388608.0f) * (w0_scale * 1.5258789e-5f) + w0_offset);
          sum += vec4<f32>(x1.y) * ((bitcast<vec4<f32>>(((w0_q >> vec4<u32>(20u)) & vec4<u32>(15u)) | vec4<u32>(1258291200u)) - 8388608.0f) * w0_scale + w0_offset);
          sum += vec4<f32>(x1.z) * ((bitcast<vec4<f32>>(((w0_q >> vec4<u32>(20u)) & vec4<u32>(240u)) | vec4<u32>(1258291200u)) - 8388608.0f) * (w0_scale * 0.0625f) + w0_offset);
          sum += vec4<f32>(x1.w) * ((bitcast<vec4<f32>>(((w0_q >> vec4<u32>(20u)) & vec4<u32>(3840u)) | vec4<u32>(1258291200u)) - 8388608.0f) * (w0_scale * 0.00390625f) + w0_offset);
        }
      }
    }
  }
  if k_group >= 32u {
    let place = lane + (k_group - 32u) * 4u;
    partial[place] = sum;
  }
  workgroupBarrier();
  if k_group < 32u {
    let place = lane + k_group * 4u;
    partial[place] += sum;
  }
  for (var left = 16u; left > 0u; left /= 2u) {
    workgroupBarrier();
    if k_group < left {
      let place = lane + k_group * 4u;
      let other = place + left * 4u;
      partial[place] += partial[other];
    }
  }
  if k_group < 1u && stores {
    finish(batch, 0u, column, partial[lane]);
  }
}
