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
  size_10: u32,
  size_11: u32,
  offset_0: u32,
  stride_0_0: u32,
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
  for (var k_0 = k_begin + k_group * 32u; k_0 < k_end; k_0 += fuse_rounds * 2048u) {
    for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
      let k = k_0 + iteration * 2048u;
      if fuse_rounds == 1u || k < k_end {
        let w0_group = k / p.size_10;
        let w0_at = w0_words + k / 32u * (4u * p.size_11);
        let w0_r0 = in_1[(w0_at + 0u * p.size_11) / 4u];
        let w0_r1 = in_1[(w0_at + p.size_11) / 4u];
        let w0_r2 = in_1[(w0_at + 2u * p.size_11) / 4u];
        let w0_r3 = in_1[(w0_at + 3u * p.size_11) / 4u];
        var w0_s: vec4<u32>;
        var w0_t: vec4<u32>;
        {
          let pair = w0_scales + w0_group * p.size_11;
          if fuse_wide_scales_1 {
            w0_s = scales_1[2u * pair / 4u];
            w0_t = scales_1[(2u * pair + 4u) / 4u];
          } else {
            w0_s = scales_1[pair / 4u];
          }
        }
        let x0 = a_read(0u, k);
        let x1 = a_read(0u, k + 4u);
        let x2 = a_read(0u, k + 8u);
        let x3 = a_read(0u, k + 12u);
        let x4 = a_read(0u, k + 16u);
        let x5 = a_read(0u, k + 20u);
        let x6 = a_read(0u, k + 24u);
        let x7 = a_read(0u, k + 28u);
        let x_sums = x0 + x1 + (x2 + x3) + (x4 + x5 + (x6 + x7));
        let x_sum = x_sums.x + x_sums.y + (x_sums.z + x_sums.w);
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
          let w0_middle = fma(vec4<f32>(8.0f), w0_scale, w0_offset);
          let w0_field0 = w0_r0;
          var w0_part0 = vec4<f32>(x0.x) * fma(bitcast<vec4<f32>>((w0_field0 & vec4<u32>(15u)) | vec4<u32>(1258291200u)), vec4<f32>(1.0f), vec4<f32>(-8388616.0f));
          var w0_part1 = vec4<f32>(x0.y) * fma(bitcast<vec4<f32>>((w0_field0 & vec4<u32>(240u)) | vec4<u32>(1258291200u)), vec4<f32>(0.0625f), vec4<f32>(-524296.0f));
          var w0_part2 = vec4<f32>(x0.z) * fma(bitcast<vec4<f32>>((w0_field0 & vec4<u32>(3840u)) | vec4<u32>(1258291200u)), vec4<f32>(0.00390625f), vec4<f32>(-32776.0f));
          var w0_part3 = vec4<f32>(x0.w) * fma(bitcast<vec4<f32>>((w0_field0 & vec4<u32>(61440u)) | vec4<u32>(1258291200u)), vec4<f32>(0.00024414063f), vec4<f32>(-2056.0f));
          let w0_field1 = w0_r0 >> vec4<u32>(16u);
          w0_part0 = fma(vec4<f32>(x1.x), fma(bitcast<vec4<f32>>((w0_field1 & vec4<u32>(15u)) | vec4<u32>(1258291200u)), vec4<f32>(1.0f), vec4<f32>(-8388616.0f)), w0_part0);
          w0_part1 = fma(vec4<f32>(x1.y), fma(bitcast<vec4<f32>>((w0_field1 & vec4<u32>(240u)) | vec4<u32>(1258291200u)), vec4<f32>(0.0625f), vec4<f32>(-524296.0f)), w0_part1);
          w0_part2 = fma(vec4<f32>(x1.z), fma(bitcast<vec4<f32>>((w0_field1 & vec4<u32>(3840u)) | vec4<u32>(1258291200u)), vec4<f32>(0.00390625f), vec4<f32>(-32776.0f)), w0_part2);
          w0_part3 = fma(vec4<f32>(x1.w), fma(bitcast<vec4<f32>>((w0_field1 & vec4<u32>(61440u)) | vec4<u32>(1258291200u)), vec4<f32>(0.00024414063f), vec4<f32>(-2056.0f)), w0_part3);
          let w0_field2 = w0_r1;
          w0_part0 = fma(vec4<f32>(x2.x), fma(bitcast<vec4<f32>>((w0_field2 & vec4<u32>(15u)) | vec4<u32>(1258291200u)), vec4<f32>(1.0f), vec4<f32>(-8388616.0f)), w0_part0);
          w0_part1 = fma(vec4<f32>(x2.y), fma(bitcast<vec4<f32>>((w0_field2 & vec4<u32>(240u)) | vec4<u32>(1258291200u)), vec4<f32>(0.0625f), vec4<f32>(-524296.0f)), w0_part1);
          w0_part2 = fma(vec4<f32>(x2.z), fma(bitcast<vec4<f32>>((w0_field2 & vec4<u32>(3840u)) | vec4<u32>(1258291200u)), vec4<f32>(0.00390625f), vec4<f32>(-32776.0f)), w0_part2);
          w0_part3 = fma(vec4<f32>(x2.w), fma(bitcast<vec4<f32>>((w0_field2 & vec4<u32>(61440u)) | vec4<u32>(1258291200u)), vec4<f32>(0.00024414063f), vec4<f32>(-2056.0f)), w0_part3);
          let w0_field3 = w0_r1 >> vec4<u32>(16u);
          w0_part0 = fma(vec4<f32>(x3.x), fma(bitcast<vec4<f32>>((w0_field3 & vec4<u32>(15u)) | vec4<u32>(1258291200u)), vec4<f32>(1.0f), vec4<f32>(-8388616.0f)), w0_part0);
          w0_part1 = fma(vec4<f32>(x3.y), fma(bitcast<vec4<f32>>((w0_field3 & vec4<u32>(240u)) | vec4<u32>(1258291200u)), vec4<f32>(0.0625f), vec4<f32>(-524296.0f)), w0_part1);
          w0_part2 = fma(vec4<f32>(x3.z), fma(bitcast<vec4<f32>>((w0_field3 & vec4<u32>(3840u)) | vec4<u32>(1258291200u)), vec4<f32>(0.00390625f), vec4<f32>(-32776.0f)), w0_part2);
          w0_part3 = fma(vec4<f32>(x3.w), fma(bitcast<vec4<f32>>((w0_field3 & vec4<u32>(61440u)) | vec4<u32>(1258291200u)), vec4<f32>(0.00024414063f), vec4<f32>(-2056.0f)), w0_part3);
          let w0_field4 = w0_r2;
          w0_part0 = fma(vec4<f32>(x4.x), fma(bitcast<vec4<f32>>((w0_field4 & vec4<u32>(15u)) | vec4<u32>(1258291200u)), vec4<f32>(1.0f), vec4<f32>(-8388616.0f)), w0_part0);
          w0_part1 = fma(vec4<f32>(x4.y), fma(bitcast<vec4<f32>>((w0_field4 & vec4<u32>(240u)) | vec4<u32>(1258291200u)), vec4<f32>(0.0625f), vec4<f32>(-524296.0f)), w0_part1);
          w0_part2 = fma(vec4<f32>(x4.z), fma(bitcast<vec4<f32>>((w0_field4 & vec4<u32>(3840u)) | vec4<u32>(1258291200u)), vec4<f32>(0.00390625f), vec4<f32>(-32776.0f)), w0_part2);
          w0_part3 = fma(vec4<f32>(x4.w), fma(bitcast<vec4<f32>>((w0_field4 & vec4<u32>(61440u)) | vec4<u32>(1258291200u)), vec4<f32>(0.00024414063f), vec4<f32>(-2056.0f)), w0_part3);
          let w0_field5 = w0_r2 >> vec4<u32>(16u);
          w0_part0 = fma(vec4<f32>(x5.x), fma(bitcast<vec4<f32>>((w0_field5 & vec4<u32>(15u)) | vec4<u32>(1258291200u)), vec4<f32>(1.0f), vec4<f32>(-8388616.0f)), w0_part0);
          w0_part1 = fma(vec4<f32>(x5.y), fma(bitcast<vec4<f32>>((w0_field5 & vec4<u32>(240u)) | vec4<u32>(1258291200u)), vec4<f32>(0.0625f), vec4<f32>(-524296.0f)), w0_part1);
          w0_part2 = fma(vec4<f32>(x5.z), fma(bitcast<vec4<f32>>((w0_field5 & vec4<u32>(3840u)) | vec4<u32>(1258291200u)), vec4<f32>(0.00390625f), vec4<f32>(-32776.0f)), w0_part2);
          w0_part3 = fma(vec4<f32>(x5.w), fma(bitcast<vec4<f32>>((w0_field5 & vec4<u32>(61440u)) | vec4<u32>(1258291200u)), vec4<f32>(0.00024414063f), vec4<f32>(-2056.0f)), w0_part3);
          let w0_field6 = w0_r3;
          w0_part0 = fma(vec4<f32>(x6.x), fma(bitcast<vec4<f32>>((w0_field6 & vec4<u32>(15u)) | vec4<u32>(1258291200u)), vec4<f32>(1.0f), vec4<f32>(-8388616.0f)), w0_part0);
          w0_part1 = fma(vec4<f32>(x6.y), fma(bitcast<vec4<f32>>((w0_field6 & vec4<u32>(240u)) | vec4<u32>(1258291200u)), vec4<f32>(0.0625f), vec4<f32>(-524296.0f)), w0_part1);
          w0_part2 = fma(vec4<f32>(x6.z), fma(bitcast<vec4<f32>>((w0_field6 & vec4<u32>(3840u)) | vec4<u32>(1258291200u)), vec4<f32>(0.00390625f), vec4<f32>(-32776.0f)), w0_part2);
          w0_part3 = fma(vec4<f32>(x6.w), fma(bitcast<vec4<f32>>((w0_field6 & vec4<u32>(61440u)) | vec4<u32>(1258291200u)), vec4<f32>(0.00024414063f), vec4<f32>(-2056.0f)), w0_part3);
          let w0_field7 = w0_r3 >> vec4<u32>(16u);
          w0_part0 = fma(vec4<f32>(x7.x), fma(bitcast<vec4<f32>>((w0_field7 & vec4<u32>(15u)) | vec4<u32>(1258291200u)), vec4<f32>(1.0f), vec4<f32>(-8388616.0f)), w0_part0);
          w0_part1 = fma(vec4<f32>(x7.y), fma(bitcast<vec4<f32>>((w0_field7 & vec4<u32>(240u)) | vec4<u32>(1258291200u)), vec4<f32>(0.0625f), vec4<f32>(-524296.0f)), w0_part1);
          w0_part2 = fma(vec4<f32>(x7.z), fma(bitcast<vec4<f32>>((w0_field7 & vec4<u32>(3840u)) | vec4<u32>(1258291200u)), vec4<f32>(0.00390625f), vec4<f32>(-32776.0f)), w0_part2);
          w0_part3 = fma(vec4<f32>(x7.w), fma(bitcast<vec4<f32>>((w0_field7 & vec4<u32>(61440u)) | vec4<u32>(1258291200u)), vec4<f32>(0.00024414063f), vec4<f32>(-2056.0f)), w0_part3);
          sum = fma(w0_part0 + w0_part1 + (w0_part2 + w0_part3), w0_scale, fma(vec4<f32>(x_sum), w0_middle, sum));
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
            let word = w0_words + bit / 32u * p.size_11;
            w0_w = in_1[word / 4u];
          }
          {
            let pair = w0_scales + depth / p.size_10 * p.size_11;
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
