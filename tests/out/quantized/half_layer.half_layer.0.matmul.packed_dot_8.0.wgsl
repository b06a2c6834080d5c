enable f16;

struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  offset_3: u32,
  workgroups: u32,
  count: u32,
  offset_1: u32,
  stride_1_1: u32,
  offset_2: u32,
  stride_2_1: u32,
  size_10: u32,
  offset_0: u32,
  stride_0_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> scales_1: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> in_3: array<vec4<f16>>;
@group(0) @binding(5) var<storage, read_write> out_0: array<vec4<f16>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_wide_scales_1 = false;
const fuse_fast_math = false;
const fuse_rounds = 1u;

fn fuse_is_nan4(x: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}
fn fuse_relu4(x: vec4<f32>) -> vec4<f32> {
  if fuse_fast_math {
    return max(x, vec4<f32>(0.0));
  }
  return select(max(x, vec4<f32>(0.0)), x, fuse_is_nan4(x));
}
fn finish(batch: u32, row: u32, column: u32, sum: vec4<f32>) {
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let x3 = vec4<f32>(in_3[(p.offset_3 + column) / 4u]);
  let v0 = sum;
  let v1 = x3;
  let v2 = v0 + v1;
  let v3 = fuse_relu4(v2);
  let at = (batch * p.extent_0 + row) * p.extent_1 + column;
  out_0[at / 4u] = vec4<f16>(v3);
}
var<workgroup> partial: array<vec4<f32>, 128>;
fn a_read(at0: u32, at1: u32) -> vec4<f32> {
  let a_x0 = vec4<f32>(in_0[(p.offset_0 + at0 * p.stride_0_0 + at1) / 4u]);
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
  let lane = local / 128u;
  let k_group = local % 128u;
  let output = id * 8u + lane * 4u;
  let stores = output < p.count;
  let element = min(output, p.count - 4u);
  let column = element % p.extent_1;
  let row = element / p.extent_1 % p.extent_0;
  let batch = element / (p.extent_1 * p.extent_0);
  let k_begin = 0u;
  let k_end = p.extent_2;
  let w0_c0_words = p.offset_1 + column * p.stride_1_1;
  let w0_c0_scales = p.offset_2 + column * p.stride_2_1;
  let w0_c1_words = p.offset_1 + (column + 1u) * p.stride_1_1;
  let w0_c1_scales = p.offset_2 + (column + 1u) * p.stride_2_1;
  let w0_c2_words = p.offset_1 + (column + 2u) * p.stride_1_1;
  let w0_c2_scales = p.offset_2 + (column + 2u) * p.stride_2_1;
  let w0_c3_words = p.offset_1 + (column + 3u) * p.stride_1_1;
  let w0_c3_scales = p.offset_2 + (column + 3u) * p.stride_2_1;
  var sum = vec4<f32>();
  for (var k_0 = k_begin + k_group * 32u; k_0 < k_end; k_0 += fuse_rounds * 4096u) {
    for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
      let k = k_0 + iteration * 4096u;
      if fuse_rounds == 1u || k < k_end {
        let w0_group = k / p.size_10;
        let w0_c0_at = w0_c0_words + k / 32u * 3u;
        let w0_c0_r0 = in_1[w0_c0_at / 4u][w0_c0_at % 4u];
        let w0_c0_r1 = in_1[(w0_c0_at + 1u) / 4u][(w0_c0_at + 1u) % 4u];
        let w0_c0_r2 = in_1[(w0_c0_at + 2u) / 4u][(w0_c0_at + 2u) % 4u];
        var w0_c0_s: u32;
        var w0_c0_t: u32;
        {
          let pair = w0_c0_scales + w0_group;
          if fuse_wide_scales_1 {
            w0_c0_s = scales_1[2u * pair / 4u][2u * pair % 4u];
            w0_c0_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
          } else {
            w0_c0_s = scales_1[pair / 4u][pair % 4u];
          }
        }
        let w0_c1_at = w0_c1_words + k / 32u * 3u;
        let w0_c1_r0 = in_1[w0_c1_at / 4u][w0_c1_at % 4u];
        let w0_c1_r1 = in_1[(w0_c1_at + 1u) / 4u][(w0_c1_at + 1u) % 4u];
        let w0_c1_r2 = in_1[(w0_c1_at + 2u) / 4u][(w0_c1_at + 2u) % 4u];
        var w0_c1_s: u32;
        var w0_c1_t: u32;
        {
          let pair = w0_c1_scales + w0_group;
          if fuse_wide_scales_1 {
            w0_c1_s = scales_1[2u * pair / 4u][2u * pair % 4u];
            w0_c1_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
          } else {
            w0_c1_s = scales_1[pair / 4u][pair % 4u];
          }
        }
        let w0_c2_at = w0_c2_words + k / 32u * 3u;
        let w0_c2_r0 = in_1[w0_c2_at / 4u][w0_c2_at % 4u];
        let w0_c2_r1 = in_1[(w0_c2_at + 1u) / 4u][(w0_c2_at + 1u) % 4u];
        let w0_c2_r2 = in_1[(w0_c2_at + 2u) / 4u][(w0_c2_at + 2u) % 4u];
        var w0_c2_s: u32;
        var w0_c2_t: u32;
        {
          let pair = w0_c2_scales + w0_group;
          if fuse_wide_scales_1 {
            w0_c2_s = scales_1[2u * pair / 4u][2u * pair % 4u];
            w0_c2_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
          } else {
            w0_c2_s = scales_1[pair / 4u][pair % 4u];
          }
        }
        let w0_c3_at = w0_c3_words + k / 32u * 3u;
        let w0_c3_r0 = in_1[w0_c3_at / 4u][w0_c3_at % 4u];
        let w0_c3_r1 = in_1[(w0_c3_at + 1u) / 4u][(w0_c3_at + 1u) % 4u];
        let w0_c3_r2 = in_1[(w0_c3_at + 2u) / 4u][(w0_c3_at + 2u) % 4u];
        var w0_c3_s: u32;
        var w0_c3_t: u32;
        {
          let pair = w0_c3_scales + w0_group;
          if fuse_wide_scales_1 {
            w0_c3_s = scales_1[2u * pair / 4u][2u * pair % 4u];
            w0_c3_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
          } else {
            w0_c3_s = scales_1[pair / 4u][pair % 4u];
          }
        }
        let x0 = a_read(row, k);
        let x1 = a_read(row, k + 4u);
        let x2 = a_read(row, k + 8u);
        let x3 = a_read(row, k + 12u);
        let x4 = a_read(row, k + 16u);
        let x5 = a_read(row, k + 20u);
        let x6 = a_read(row, k + 24u);
        let x7 = a_read(row, k + 28u);
        let x_sums = x0 + x1 + (x2 + x3) + (x4 + x5 + (x6 + x7));
        let x_sum = x_sums.x + x_sums.y + (x_sums.z + x_sums.w);
        {
          var w0_c0_scale: f32;
          var w0_c0_offset: f32;
          if fuse_wide_scales_1 {
            w0_c0_scale = bitcast<f32>(w0_c0_s);
            w0_c0_offset = bitcast<f32>(w0_c0_t);
          } else {
            let pair_0 = unpack2x16float(w0_c0_s);
            w0_c0_scale = pair_0.x;
            w0_c0_offset = pair_0.y;
          }
          let w0_c0_middle = fma(4.0f, w0_c0_scale, w0_c0_offset);
          let w0_c0_field0 = w0_c0_r0;
          var w0_c0_part0 = x0.x * fma(bitcast<f32>((w0_c0_field0 & 7u) | 1258291200u), 1.0f, -8388612.0f);
          var w0_c0_part1 = x0.y * fma(bitcast<f32>((w0_c0_field0 & 56u) | 1258291200u), 0.125f, -1048580.0f);
          var w0_c0_part2 = x0.z * fma(bitcast<f32>((w0_c0_field0 & 448u) | 1258291200u), 0.015625f, -131076.0f);
          var w0_c0_part3 = x0.w * fma(bitcast<f32>((w0_c0_field0 & 3584u) | 1258291200u), 0.001953125f, -16388.0f);
          w0_c0_part0 = fma(x1.x, fma(bitcast<f32>((w0_c0_field0 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c0_part0);
          let w0_c0_field1 = w0_c0_r0 >> 15u;
          w0_c0_part1 = fma(x1.y, fma(bitcast<f32>((w0_c0_field1 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c0_part1);
          w0_c0_part2 = fma(x1.z, fma(bitcast<f32>((w0_c0_field1 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c0_part2);
          w0_c0_part3 = fma(x1.w, fma(bitcast<f32>((w0_c0_field1 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c0_part3);
          w0_c0_part0 = fma(x2.x, fma(bitcast<f32>((w0_c0_field1 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c0_part0);
          w0_c0_part1 = fma(x2.y, fma(bitcast<f32>((w0_c0_field1 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c0_part1);
          let w0_c0_field2 = (w0_c0_r0 >> 30u) | (w0_c0_r1 << 2u);
          w0_c0_part2 = fma(x2.z, fma(bitcast<f32>((w0_c0_field2 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c0_part2);
          w0_c0_part3 = fma(x2.w, fma(bitcast<f32>((w0_c0_field2 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c0_part3);
          w0_c0_part0 = fma(x3.x, fma(bitcast<f32>((w0_c0_field2 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c0_part0);
          w0_c0_part1 = fma(x3.y, fma(bitcast<f32>((w0_c0_field2 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c0_part1);
          w0_c0_part2 = fma(x3.z, fma(bitcast<f32>((w0_c0_field2 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c0_part2);
          let w0_c0_field3 = w0_c0_r1 >> 13u;
          w0_c0_part3 = fma(x3.w, fma(bitcast<f32>((w0_c0_field3 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c0_part3);
          w0_c0_part0 = fma(x4.x, fma(bitcast<f32>((w0_c0_field3 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c0_part0);
          w0_c0_part1 = fma(x4.y, fma(bitcast<f32>((w0_c0_field3 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c0_part1);
          w0_c0_part2 = fma(x4.z, fma(bitcast<f32>((w0_c0_field3 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c0_part2);
          w0_c0_part3 = fma(x4.w, fma(bitcast<f32>((w0_c0_field3 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c0_part3);
          let w0_c0_field4 = (w0_c0_r1 >> 28u) | (w0_c0_r2 << 4u);
          w0_c0_part0 = fma(x5.x, fma(bitcast<f32>((w0_c0_field4 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c0_part0);
          w0_c0_part1 = fma(x5.y, fma(bitcast<f32>((w0_c0_field4 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c0_part1);
          w0_c0_part2 = fma(x5.z, fma(bitcast<f32>((w0_c0_field4 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c0_part2);
          w0_c0_part3 = fma(x5.w, fma(bitcast<f32>((w0_c0_field4 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c0_part3);
          w0_c0_part0 = fma(x6.x, fma(bitcast<f32>((w0_c0_field4 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c0_part0);
          let w0_c0_field5 = w0_c0_r2 >> 11u;
          w0_c0_part1 = fma(x6.y, fma(bitcast<f32>((w0_c0_field5 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c0_part1);
          w0_c0_part2 = fma(x6.z, fma(bitcast<f32>((w0_c0_field5 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c0_part2);
          w0_c0_part3 = fma(x6.w, fma(bitcast<f32>((w0_c0_field5 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c0_part3);
          w0_c0_part0 = fma(x7.x, fma(bitcast<f32>((w0_c0_field5 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c0_part0);
          w0_c0_part1 = fma(x7.y, fma(bitcast<f32>((w0_c0_field5 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c0_part1);
          let w0_c0_field6 = w0_c0_r2 >> 26u;
          w0_c0_part2 = fma(x7.z, fma(bitcast<f32>((w0_c0_field6 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c0_part2);
          w0_c0_part3 = fma(x7.w, fma(bitcast<f32>((w0_c0_field6 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c0_part3);
          sum.x = fma(w0_c0_part0 + w0_c0_part1 + (w0_c0_part2 + w0_c0_part3), w0_c0_scale, fma(x_sum, w0_c0_middle, sum.x));
        }
        {
          var w0_c1_scale: f32;
          var w0_c1_offset: f32;
          if fuse_wide_scales_1 {
            w0_c1_scale = bitcast<f32>(w0_c1_s);
            w0_c1_offset = bitcast<f32>(w0_c1_t);
          } else {
            let pair_0 = unpack2x16float(w0_c1_s);
            w0_c1_scale = pair_0.x;
            w0_c1_offset = pair_0.y;
          }
          let w0_c1_middle = fma(4.0f, w0_c1_scale, w0_c1_offset);
          let w0_c1_field0 = w0_c1_r0;
          var w0_c1_part0 = x0.x * fma(bitcast<f32>((w0_c1_field0 & 7u) | 1258291200u), 1.0f, -8388612.0f);
          var w0_c1_part1 = x0.y * fma(bitcast<f32>((w0_c1_field0 & 56u) | 1258291200u), 0.125f, -1048580.0f);
          var w0_c1_part2 = x0.z * fma(bitcast<f32>((w0_c1_field0 & 448u) | 1258291200u), 0.015625f, -131076.0f);
          var w0_c1_part3 = x0.w * fma(bitcast<f32>((w0_c1_field0 & 3584u) | 1258291200u), 0.001953125f, -16388.0f);
          w0_c1_part0 = fma(x1.x, fma(bitcast<f32>((w0_c1_field0 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c1_part0);
          let w0_c1_field1 = w0_c1_r0 >> 15u;
          w0_c1_part1 = fma(x1.y, fma(bitcast<f32>((w0_c1_field1 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c1_part1);
          w0_c1_part2 = fma(x1.z, fma(bitcast<f32>((w0_c1_field1 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c1_part2);
          w0_c1_part3 = fma(x1.w, fma(bitcast<f32>((w0_c1_field1 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c1_part3);
          w0_c1_part0 = fma(x2.x, fma(bitcast<f32>((w0_c1_field1 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c1_part0);
          w0_c1_part1 = fma(x2.y, fma(bitcast<f32>((w0_c1_field1 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c1_part1);
          let w0_c1_field2 = (w0_c1_r0 >> 30u) | (w0_c1_r1 << 2u);
          w0_c1_part2 = fma(x2.z, fma(bitcast<f32>((w0_c1_field2 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c1_part2);
          w0_c1_part3 = fma(x2.w, fma(bitcast<f32>((w0_c1_field2 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c1_part3);
          w0_c1_part0 = fma(x3.x, fma(bitcast<f32>((w0_c1_field2 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c1_part0);
          w0_c1_part1 = fma(x3.y, fma(bitcast<f32>((w0_c1_field2 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c1_part1);
          w0_c1_part2 = fma(x3.z, fma(bitcast<f32>((w0_c1_field2 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c1_part2);
          let w0_c1_field3 = w0_c1_r1 >> 13u;
          w0_c1_part3 = fma(x3.w, fma(bitcast<f32>((w0_c1_field3 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c1_part3);
          w0_c1_part0 = fma(x4.x, fma(bitcast<f32>((w0_c1_field3 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c1_part0);
          w0_c1_part1 = fma(x4.y, fma(bitcast<f32>((w0_c1_field3 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c1_part1);
          w0_c1_part2 = fma(x4.z, fma(bitcast<f32>((w0_c1_field3 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c1_part2);
          w0_c1_part3 = fma(x4.w, fma(bitcast<f32>((w0_c1_field3 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c1_part3);
          let w0_c1_field4 = (w0_c1_r1 >> 28u) | (w0_c1_r2 << 4u);
          w0_c1_part0 = fma(x5.x, fma(bitcast<f32>((w0_c1_field4 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c1_part0);
          w0_c1_part1 = fma(x5.y, fma(bitcast<f32>((w0_c1_field4 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c1_part1);
          w0_c1_part2 = fma(x5.z, fma(bitcast<f32>((w0_c1_field4 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c1_part2);
          w0_c1_part3 = fma(x5.w, fma(bitcast<f32>((w0_c1_field4 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c1_part3);
          w0_c1_part0 = fma(x6.x, fma(bitcast<f32>((w0_c1_field4 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c1_part0);
          let w0_c1_field5 = w0_c1_r2 >> 11u;
          w0_c1_part1 = fma(x6.y, fma(bitcast<f32>((w0_c1_field5 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c1_part1);
          w0_c1_part2 = fma(x6.z, fma(bitcast<f32>((w0_c1_field5 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c1_part2);
          w0_c1_part3 = fma(x6.w, fma(bitcast<f32>((w0_c1_field5 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c1_part3);
          w0_c1_part0 = fma(x7.x, fma(bitcast<f32>((w0_c1_field5 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c1_part0);
          w0_c1_part1 = fma(x7.y, fma(bitcast<f32>((w0_c1_field5 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c1_part1);
          let w0_c1_field6 = w0_c1_r2 >> 26u;
          w0_c1_part2 = fma(x7.z, fma(bitcast<f32>((w0_c1_field6 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c1_part2);
          w0_c1_part3 = fma(x7.w, fma(bitcast<f32>((w0_c1_field6 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c1_part3);
          sum.y = fma(w0_c1_part0 + w0_c1_part1 + (w0_c1_part2 + w0_c1_part3), w0_c1_scale, fma(x_sum, w0_c1_middle, sum.y));
        }
        {
          var w0_c2_scale: f32;
          var w0_c2_offset: f32;
          if fuse_wide_scales_1 {
            w0_c2_scale = bitcast<f32>(w0_c2_s);
            w0_c2_offset = bitcast<f32>(w0_c2_t);
          } else {
            let pair_0 = unpack2x16float(w0_c2_s);
            w0_c2_scale = pair_0.x;
            w0_c2_offset = pair_0.y;
          }
          let w0_c2_middle = fma(4.0f, w0_c2_scale, w0_c2_offset);
          let w0_c2_field0 = w0_c2_r0;
          var w0_c2_part0 = x0.x * fma(bitcast<f32>((w0_c2_field0 & 7u) | 1258291200u), 1.0f, -8388612.0f);
          var w0_c2_part1 = x0.y * fma(bitcast<f32>((w0_c2_field0 & 56u) | 1258291200u), 0.125f, -1048580.0f);
          var w0_c2_part2 = x0.z * fma(bitcast<f32>((w0_c2_field0 & 448u) | 1258291200u), 0.015625f, -131076.0f);
          var w0_c2_part3 = x0.w * fma(bitcast<f32>((w0_c2_field0 & 3584u) | 1258291200u), 0.001953125f, -16388.0f);
          w0_c2_part0 = fma(x1.x, fma(bitcast<f32>((w0_c2_field0 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c2_part0);
          let w0_c2_field1 = w0_c2_r0 >> 15u;
          w0_c2_part1 = fma(x1.y, fma(bitcast<f32>((w0_c2_field1 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c2_part1);
          w0_c2_part2 = fma(x1.z, fma(bitcast<f32>((w0_c2_field1 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c2_part2);
          w0_c2_part3 = fma(x1.w, fma(bitcast<f32>((w0_c2_field1 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c2_part3);
          w0_c2_part0 = fma(x2.x, fma(bitcast<f32>((w0_c2_field1 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c2_part0);
          w0_c2_part1 = fma(x2.y, fma(bitcast<f32>((w0_c2_field1 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c2_part1);
          let w0_c2_field2 = (w0_c2_r0 >> 30u) | (w0_c2_r1 << 2u);
          w0_c2_part2 = fma(x2.z, fma(bitcast<f32>((w0_c2_field2 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c2_part2);
          w0_c2_part3 = fma(x2.w, fma(bitcast<f32>((w0_c2_field2 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c2_part3);
          w0_c2_part0 = fma(x3.x, fma(bitcast<f32>((w0_c2_field2 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c2_part0);
          w0_c2_part1 = fma(x3.y, fma(bitcast<f32>((w0_c2_field2 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c2_part1);
          w0_c2_part2 = fma(x3.z, fma(bitcast<f32>((w0_c2_field2 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c2_part2);
          let w0_c2_field3 = w0_c2_r1 >> 13u;
          w0_c2_part3 = fma(x3.w, fma(bitcast<f32>((w0_c2_field3 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c2_part3);
          w0_c2_part0 = fma(x4.x, fma(bitcast<f32>((w0_c2_field3 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c2_part0);
          w0_c2_part1 = fma(x4.y, fma(bitcast<f32>((w0_c2_field3 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c2_part1);
          w0_c2_part2 = fma(x4.z, fma(bitcast<f32>((w0_c2_field3 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c2_part2);
          w0_c2_part3 = fma(x4.w, fma(bitcast<f32>((w0_c2_field3 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c2_part3);
          let w0_c2_field4 = (w0_c2_r1 >> 28u) | (w0_c2_r2 << 4u);
          w0_c2_part0 = fma(x5.x, fma(bitcast<f32>((w0_c2_field4 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c2_part0);
          w0_c2_part1 = fma(x5.y, fma(bitcast<f32>((w0_c2_field4 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c2_part1);
          w0_c2_part2 = fma(x5.z, fma(bitcast<f32>((w0_c2_field4 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c2_part2);
          w0_c2_part3 = fma(x5.w, fma(bitcast<f32>((w0_c2_field4 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c2_part3);
          w0_c2_part0 = fma(x6.x, fma(bitcast<f32>((w0_c2_field4 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c2_part0);
          let w0_c2_field5 = w0_c2_r2 >> 11u;
          w0_c2_part1 = fma(x6.y, fma(bitcast<f32>((w0_c2_field5 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c2_part1);
          w0_c2_part2 = fma(x6.z, fma(bitcast<f32>((w0_c2_field5 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c2_part2);
          w0_c2_part3 = fma(x6.w, fma(bitcast<f32>((w0_c2_field5 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c2_part3);
          w0_c2_part0 = fma(x7.x, fma(bitcast<f32>((w0_c2_field5 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c2_part0);
          w0_c2_part1 = fma(x7.y, fma(bitcast<f32>((w0_c2_field5 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c2_part1);
          let w0_c2_field6 = w0_c2_r2 >> 26u;
          w0_c2_part2 = fma(x7.z, fma(bitcast<f32>((w0_c2_field6 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c2_part2);
          w0_c2_part3 = fma(x7.w, fma(bitcast<f32>((w0_c2_field6 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c2_part3);
          sum.z = fma(w0_c2_part0 + w0_c2_part1 + (w0_c2_part2 + w0_c2_part3), w0_c2_scale, fma(x_sum, w0_c2_middle, sum.z));
        }
        {
          var w0_c3_scale: f32;
          var w0_c3_offset: f32;
          if fuse_wide_scales_1 {
            w0_c3_scale = bitcast<f32>(w0_c3_s);
            w0_c3_offset = bitcast<f32>(w0_c3_t);
          } else {
            let pair_0 = unpack2x16float(w0_c3_s);
            w0_c3_scale = pair_0.x;
            w0_c3_offset = pair_0.y;
          }
          let w0_c3_middle = fma(4.0f, w0_c3_scale, w0_c3_offset);
          let w0_c3_field0 = w0_c3_r0;
          var w0_c3_part0 = x0.x * fma(bitcast<f32>((w0_c3_field0 & 7u) | 1258291200u), 1.0f, -8388612.0f);
          var w0_c3_part1 = x0.y * fma(bitcast<f32>((w0_c3_field0 & 56u) | 1258291200u), 0.125f, -1048580.0f);
          var w0_c3_part2 = x0.z * fma(bitcast<f32>((w0_c3_field0 & 448u) | 1258291200u), 0.015625f, -131076.0f);
          var w0_c3_part3 = x0.w * fma(bitcast<f32>((w0_c3_field0 & 3584u) | 1258291200u), 0.001953125f, -16388.0f);
          w0_c3_part0 = fma(x1.x, fma(bitcast<f32>((w0_c3_field0 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c3_part0);
          let w0_c3_field1 = w0_c3_r0 >> 15u;
          w0_c3_part1 = fma(x1.y, fma(bitcast<f32>((w0_c3_field1 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c3_part1);
          w0_c3_part2 = fma(x1.z, fma(bitcast<f32>((w0_c3_field1 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c3_part2);
          w0_c3_part3 = fma(x1.w, fma(bitcast<f32>((w0_c3_field1 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c3_part3);
          w0_c3_part0 = fma(x2.x, fma(bitcast<f32>((w0_c3_field1 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c3_part0);
          w0_c3_part1 = fma(x2.y, fma(bitcast<f32>((w0_c3_field1 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c3_part1);
          let w0_c3_field2 = (w0_c3_r0 >> 30u) | (w0_c3_r1 << 2u);
          w0_c3_part2 = fma(x2.z, fma(bitcast<f32>((w0_c3_field2 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c3_part2);
          w0_c3_part3 = fma(x2.w, fma(bitcast<f32>((w0_c3_field2 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c3_part3);
          w0_c3_part0 = fma(x3.x, fma(bitcast<f32>((w0_c3_field2 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c3_part0);
          w0_c3_part1 = fma(x3.y, fma(bitcast<f32>((w0_c3_field2 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c3_part1);
          w0_c3_part2 = fma(x3.z, fma(bitcast<f32>((w0_c3_field2 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c3_part2);
          let w0_c3_field3 = w0_c3_r1 >> 13u;
          w0_c3_part3 = fma(x3.w, fma(bitcast<f32>((w0_c3_field3 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c3_part3);
          w0_c3_part0 = fma(x4.x, fma(bitcast<f32>((w0_c3_field3 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c3_part0);
          w0_c3_part1 = fma(x4.y, fma(bitcast<f32>((w0_c3_field3 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c3_part1);
          w0_c3_part2 = fma(x4.z, fma(bitcast<f32>((w0_c3_field3 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c3_part2);
          w0_c3_part3 = fma(x4.w, fma(bitcast<f32>((w0_c3_field3 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c3_part3);
          let w0_c3_field4 = (w0_c3_r1 >> 28u) | (w0_c3_r2 << 4u);
          w0_c3_part0 = fma(x5.x, fma(bitcast<f32>((w0_c3_field4 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c3_part0);
          w0_c3_part1 = fma(x5.y, fma(bitcast<f32>((w0_c3_field4 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c3_part1);
          w0_c3_part2 = fma(x5.z, fma(bitcast<f32>((w0_c3_field4 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c3_part2);
          w0_c3_part3 = fma(x5.w, fma(bitcast<f32>((w0_c3_field4 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c3_part3);
          w0_c3_part0 = fma(x6.x, fma(bitcast<f32>((w0_c3_field4 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c3_part0);
          let w0_c3_field5 = w0_c3_r2 >> 11u;
          w0_c3_part1 = fma(x6.y, fma(bitcast<f32>((w0_c3_field5 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c3_part1);
          w0_c3_part2 = fma(x6.z, fma(bitcast<f32>((w0_c3_field5 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c3_part2);
          w0_c3_part3 = fma(x6.w, fma(bitcast<f32>((w0_c3_field5 & 448u) | 1258291200u), 0.015625f, -131076.0f), w0_c3_part3);
          w0_c3_part0 = fma(x7.x, fma(bitcast<f32>((w0_c3_field5 & 3584u) | 1258291200u), 0.001953125f, -16388.0f), w0_c3_part0);
          w0_c3_part1 = fma(x7.y, fma(bitcast<f32>((w0_c3_field5 & 28672u) | 1258291200u), 0.00024414063f, -2052.0f), w0_c3_part1);
          let w0_c3_field6 = w0_c3_r2 >> 26u;
          w0_c3_part2 = fma(x7.z, fma(bitcast<f32>((w0_c3_field6 & 7u) | 1258291200u), 1.0f, -8388612.0f), w0_c3_part2);
          w0_c3_part3 = fma(x7.w, fma(bitcast<f32>((w0_c3_field6 & 56u) | 1258291200u), 0.125f, -1048580.0f), w0_c3_part3);
          sum.w = fma(w0_c3_part0 + w0_c3_part1 + (w0_c3_part2 + w0_c3_part3), w0_c3_scale, fma(x_sum, w0_c3_middle, sum.w));
        }
      }
    }
  }
  if any((bitcast<vec4<u32>>(sum) & vec4<u32>(2139095040u)) == vec4<u32>(2139095040u)) {
    sum = vec4<f32>();
    for (var k = k_begin + k_group * 32u; k < k_end; k += 4096u) {
      for (var depth = k; depth < k + 32u; depth += 8u) {
        let x0 = a_read(row, depth);
        let x1 = a_read(row, depth + 4u);
        {
          var w0_c0_w: u32;
          var w0_c0_v: u32;
          var w0_c0_shift: u32;
          var w0_c0_s: u32;
          var w0_c0_t: u32;
          {
            let bit = depth * 3u;
            w0_c0_shift = bit % 32u;
            let word = w0_c0_words + bit / 32u;
            w0_c0_w = in_1[word / 4u][word % 4u];
            let next = select(word, word + 1u, w0_c0_shift > 8u);
            w0_c0_v = in_1[next / 4u][next % 4u];
          }
          {
            let pair = w0_c0_scales + depth / p.size_10;
            if fuse_wide_scales_1 {
              w0_c0_s = scales_1[2u * pair / 4u][2u * pair % 4u];
              w0_c0_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
            } else {
              w0_c0_s = scales_1[pair / 4u][pair % 4u];
            }
          }
          var w0_c0_scale: f32;
          var w0_c0_offset: f32;
          if fuse_wide_scales_1 {
            w0_c0_scale = bitcast<f32>(w0_c0_s);
            w0_c0_offset = bitcast<f32>(w0_c0_t);
          } else {
            let pair_0 = unpack2x16float(w0_c0_s);
            w0_c0_scale = pair_0.x;
            w0_c0_offset = pair_0.y;
          }
          let w0_c0_q = (w0_c0_w >> w0_c0_shift) | ((w0_c0_v << 1u) << (31u - w0_c0_shift));
          sum.x += x0.x * f32(f16((bitcast<f32>((w0_c0_q & 7u) | 1258291200u) - 8388608.0f) * w0_c0_scale + w0_c0_offset));
          sum.x += x0.y * f32(f16((bitcast<f32>((w0_c0_q & 56u) | 1258291200u) - 8388608.0f) * (w0_c0_scale * 0.125f) + w0_c0_offset));
          sum.x += x0.z * f32(f16((bitcast<f32>((w0_c0_q & 448u) | 1258291200u) - 8388608.0f) * (w0_c0_scale * 0.015625f) + w0_c0_offset));
          sum.x += x0.w * f32(f16((bitcast<f32>((w0_c0_q & 3584u) | 1258291200u) - 8388608.0f) * (w0_c0_scale * 0.001953125f) + w0_c0_offset));
          sum.x += x1.x * f32(f16((bitcast<f32>((w0_c0_q & 28672u) | 1258291200u) - 8388608.0f) * (w0_c0_scale * 0.00024414063f) + w0_c0_offset));
          sum.x += x1.y * f32(f16((bitcast<f32>((w0_c0_q & 229376u) | 1258291200u) - 8388608.0f) * (w0_c0_scale * 3.0517578e-5f) + w0_c0_offset));
          sum.x += x1.z * f32(f16((bitcast<f32>((w0_c0_q & 1835008u) | 1258291200u) - 8388608.0f) * (w0_c0_scale * 3.8146973e-6f) + w0_c0_offset));
          sum.x += x1.w * f32(f16((bitcast<f32>(((w0_c0_q >> 21u) & 7u) | 1258291200u) - 8388608.0f) * w0_c0_scale + w0_c0_offset));
        }
        {
          var w0_c1_w: u32;
          var w0_c1_v: u32;
          var w0_c1_shift: u32;
          var w0_c1_s: u32;
          var w0_c1_t: u32;
          {
            let bit = depth * 3u;
            w0_c1_shift = bit % 32u;
            let word = w0_c1_words + bit / 32u;
            w0_c1_w = in_1[word / 4u][word % 4u];
            let next = select(word, word + 1u, w0_c1_shift > 8u);
            w0_c1_v = in_1[next / 4u][next % 4u];
          }
          {
            let pair = w0_c1_scales + depth / p.size_10;
            if fuse_wide_scales_1 {
              w0_c1_s = scales_1[2u * pair / 4u][2u * pair % 4u];
              w0_c1_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
            } else {
              w0_c1_s = scales_1[pair / 4u][pair % 4u];
            }
          }
          var w0_c1_scale: f32;
          var w0_c1_offset: f32;
          if fuse_wide_scales_1 {
            w0_c1_scale = bitcast<f32>(w0_c1_s);
            w0_c1_offset = bitcast<f32>(w0_c1_t);
          } else {
            let pair_0 = unpack2x16float(w0_c1_s);
            w0_c1_scale = pair_0.x;
            w0_c1_offset = pair_0.y;
          }
          let w0_c1_q = (w0_c1_w >> w0_c1_shift) | ((w0_c1_v << 1u) << (31u - w0_c1_shift));
          sum.y += x0.x * f32(f16((bitcast<f32>((w0_c1_q & 7u) | 1258291200u) - 8388608.0f) * w0_c1_scale + w0_c1_offset));
          sum.y += x0.y * f32(f16((bitcast<f32>((w0_c1_q & 56u) | 1258291200u) - 8388608.0f) * (w0_c1_scale * 0.125f) + w0_c1_offset));
          sum.y += x0.z * f32(f16((bitcast<f32>((w0_c1_q & 448u) | 1258291200u) - 8388608.0f) * (w0_c1_scale * 0.015625f) + w0_c1_offset));
          sum.y += x0.w * f32(f16((bitcast<f32>((w0_c1_q & 3584u) | 1258291200u) - 8388608.0f) * (w0_c1_scale * 0.001953125f) + w0_c1_offset));
          sum.y += x1.x * f32(f16((bitcast<f32>((w0_c1_q & 28672u) | 1258291200u) - 8388608.0f) * (w0_c1_scale * 0.00024414063f) + w0_c1_offset));
          sum.y += x1.y * f32(f16((bitcast<f32>((w0_c1_q & 229376u) | 1258291200u) - 8388608.0f) * (w0_c1_scale * 3.0517578e-5f) + w0_c1_offset));
          sum.y += x1.z * f32(f16((bitcast<f32>((w0_c1_q & 1835008u) | 1258291200u) - 8388608.0f) * (w0_c1_scale * 3.8146973e-6f) + w0_c1_offset));
          sum.y += x1.w * f32(f16((bitcast<f32>(((w0_c1_q >> 21u) & 7u) | 1258291200u) - 8388608.0f) * w0_c1_scale + w0_c1_offset));
        }
        {
          var w0_c2_w: u32;
          var w0_c2_v: u32;
          var w0_c2_shift: u32;
          var w0_c2_s: u32;
          var w0_c2_t: u32;
          {
            let bit = depth * 3u;
            w0_c2_shift = bit % 32u;
            let word = w0_c2_words + bit / 32u;
            w0_c2_w = in_1[word / 4u][word % 4u];
            let next = select(word, word + 1u, w0_c2_shift > 8u);
            w0_c2_v = in_1[next / 4u][next % 4u];
          }
          {
            let pair = w0_c2_scales + depth / p.size_10;
            if fuse_wide_scales_1 {
              w0_c2_s = scales_1[2u * pair / 4u][2u * pair % 4u];
              w0_c2_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
            } else {
              w0_c2_s = scales_1[pair / 4u][pair % 4u];
            }
          }
          var w0_c2_scale: f32;
          var w0_c2_offset: f32;
          if fuse_wide_scales_1 {
            w0_c2_scale = bitcast<f32>(w0_c2_s);
            w0_c2_offset = bitcast<f32>(w0_c2_t);
          } else {
            let pair_0 = unpack2x16float(w0_c2_s);
            w0_c2_scale = pair_0.x;
            w0_c2_offset = pair_0.y;
          }
          let w0_c2_q = (w0_c2_w >> w0_c2_shift) | ((w0_c2_v << 1u) << (31u - w0_c2_shift));
          sum.z += x0.x * f32(f16((bitcast<f32>((w0_c2_q & 7u) | 1258291200u) - 8388608.0f) * w0_c2_scale + w0_c2_offset));
          sum.z += x0.y * f32(f16((bitcast<f32>((w0_c2_q & 56u) | 1258291200u) - 8388608.0f) * (w0_c2_scale * 0.125f) + w0_c2_offset));
          sum.z += x0.z * f32(f16((bitcast<f32>((w0_c2_q & 448u) | 1258291200u) - 8388608.0f) * (w0_c2_scale * 0.015625f) + w0_c2_offset));
          sum.z += x0.w * f32(f16((bitcast<f32>((w0_c2_q & 3584u) | 1258291200u) - 8388608.0f) * (w0_c2_scale * 0.001953125f) + w0_c2_offset));
          sum.z += x1.x * f32(f16((bitcast<f32>((w0_c2_q & 28672u) | 1258291200u) - 8388608.0f) * (w0_c2_scale * 0.00024414063f) + w0_c2_offset));
          sum.z += x1.y * f32(f16((bitcast<f32>((w0_c2_q & 229376u) | 1258291200u) - 8388608.0f) * (w0_c2_scale * 3.0517578e-5f) + w0_c2_offset));
          sum.z += x1.z * f32(f16((bitcast<f32>((w0_c2_q & 1835008u) | 1258291200u) - 8388608.0f) * (w0_c2_scale * 3.8146973e-6f) + w0_c2_offset));
          sum.z += x1.w * f32(f16((bitcast<f32>(((w0_c2_q >> 21u) & 7u) | 1258291200u) - 8388608.0f) * w0_c2_scale + w0_c2_offset));
        }
        {
          var w0_c3_w: u32;
          var w0_c3_v: u32;
          var w0_c3_shift: u32;
          var w0_c3_s: u32;
          var w0_c3_t: u32;
          {
            let bit = depth * 3u;
            w0_c3_shift = bit % 32u;
            let word = w0_c3_words + bit / 32u;
            w0_c3_w = in_1[word / 4u][word % 4u];
            let next = select(word, word + 1u, w0_c3_shift > 8u);
            w0_c3_v = in_1[next / 4u][next % 4u];
          }
          {
            let pair = w0_c3_scales + depth / p.size_10;
            if fuse_wide_scales_1 {
              w0_c3_s = scales_1[2u * pair / 4u][2u * pair % 4u];
              w0_c3_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
            } else {
              w0_c3_s = scales_1[pair / 4u][pair % 4u];
            }
          }
          var w0_c3_scale: f32;
          var w0_c3_offset: f32;
          if fuse_wide_scales_1 {
            w0_c3_scale = bitcast<f32>(w0_c3_s);
            w0_c3_offset = bitcast<f32>(w0_c3_t);
          } else {
            let pair_0 = unpack2x16float(w0_c3_s);
            w0_c3_scale = pair_0.x;
            w0_c3_offset = pair_0.y;
          }
          let w0_c3_q = (w0_c3_w >> w0_c3_shift) | ((w0_c3_v << 1u) << (31u - w0_c3_shift));
          sum.w += x0.x * f32(f16((bitcast<f32>((w0_c3_q & 7u) | 1258291200u) - 8388608.0f) * w0_c3_scale + w0_c3_offset));
          sum.w += x0.y * f32(f16((bitcast<f32>((w0_c3_q & 56u) | 1258291200u) - 8388608.0f) * (w0_c3_scale * 0.125f) + w0_c3_offset));
          sum.w += x0.z * f32(f16((bitcast<f32>((w0_c3_q & 448u) | 1258291200u) - 8388608.0f) * (w0_c3_scale * 0.015625f) + w0_c3_offset));
          sum.w += x0.w * f32(f16((bitcast<f32>((w0_c3_q & 3584u) | 1258291200u) - 8388608.0f) * (w0_c3_scale * 0.001953125f) + w0_c3_offset));
          sum.w += x1.x * f32(f16((bitcast<f32>((w0_c3_q & 28672u) | 1258291200u) - 8388608.0f) * (w0_c3_scale * 0.00024414063f) + w0_c3_offset));
          sum.w += x1.y * f32(f16((bitcast<f32>((w0_c3_q & 229376u) | 1258291200u) - 8388608.0f) * (w0_c3_scale * 3.0517578e-5f) + w0_c3_offset));
          sum.w += x1.z * f32(f16((bitcast<f32>((w0_c3_q & 1835008u) | 1258291200u) - 8388608.0f) * (w0_c3_scale * 3.8146973e-6f) + w0_c3_offset));
          sum.w += x1.w * f32(f16((bitcast<f32>(((w0_c3_q >> 21u) & 7u) | 1258291200u) - 8388608.0f) * w0_c3_scale + w0_c3_offset));
        }
      }
    }
  }
  if k_group >= 64u {
    let place = lane * 64u + (k_group - 64u);
    partial[place] = sum;
  }
  workgroupBarrier();
  if k_group < 64u {
    let place = lane * 64u + k_group;
    partial[place] += sum;
  }
  for (var left = 32u; left > 0u; left /= 2u) {
    workgroupBarrier();
    if k_group < left {
      let place = lane * 64u + k_group;
      let other = place + left;
      partial[place] += partial[other];
    }
  }
  if k_group < 1u && stores {
    finish(batch, row, column, partial[lane * 64u]);
  }
}
