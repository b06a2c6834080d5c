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
const fuse_wide_scales_1 = false;
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
  let w0_c0_words = (p.offset_1 + (column + 0u) * p.stride_1_1);
  let w0_c0_scales = (p.offset_2 + (column + 0u) * p.stride_2_1);
  let w0_c1_words = (p.offset_1 + (column + 1u) * p.stride_1_1);
  let w0_c1_scales = (p.offset_2 + (column + 1u) * p.stride_2_1);
  let w0_c2_words = (p.offset_1 + (column + 2u) * p.stride_1_1);
  let w0_c2_scales = (p.offset_2 + (column + 2u) * p.stride_2_1);
  let w0_c3_words = (p.offset_1 + (column + 3u) * p.stride_1_1);
  let w0_c3_scales = (p.offset_2 + (column + 3u) * p.stride_2_1);
  var sum = vec4<f32>();
  // unroll
  for (var k = k_begin + k_group * 32u; k < k_end; k += 4096u) {
    let w0_group = (k) / p.size_10;
    let w0_c0_at = w0_c0_words + (k) / 32u * (3u * 1u);
    let w0_c0_r0 = in_1[(w0_c0_at + 0u * 1u) / 4u][(w0_c0_at + 0u * 1u) % 4u];
    let w0_c0_r1 = in_1[(w0_c0_at + 1u * 1u) / 4u][(w0_c0_at + 1u * 1u) % 4u];
    let w0_c0_r2 = in_1[(w0_c0_at + 2u * 1u) / 4u][(w0_c0_at + 2u * 1u) % 4u];
    var w0_c0_s: u32;
    var w0_c0_t: u32;
    {
      let pair = w0_c0_scales + w0_group * 1u;
      if fuse_wide_scales_1 {
        w0_c0_s = scales_1[(2u * pair) / 4u][(2u * pair) % 4u];
        w0_c0_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
      } else {
        w0_c0_s = scales_1[(pair) / 4u][(pair) % 4u];
      }
    }
    let w0_c1_at = w0_c1_words + (k) / 32u * (3u * 1u);
    let w0_c1_r0 = in_1[(w0_c1_at + 0u * 1u) / 4u][(w0_c1_at + 0u * 1u) % 4u];
    let w0_c1_r1 = in_1[(w0_c1_at + 1u * 1u) / 4u][(w0_c1_at + 1u * 1u) % 4u];
    let w0_c1_r2 = in_1[(w0_c1_at + 2u * 1u) / 4u][(w0_c1_at + 2u * 1u) % 4u];
    var w0_c1_s: u32;
    var w0_c1_t: u32;
    {
      let pair = w0_c1_scales + w0_group * 1u;
      if fuse_wide_scales_1 {
        w0_c1_s = scales_1[(2u * pair) / 4u][(2u * pair) % 4u];
        w0_c1_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
      } else {
        w0_c1_s = scales_1[(pair) / 4u][(pair) % 4u];
      }
    }
    let w0_c2_at = w0_c2_words + (k) / 32u * (3u * 1u);
    let w0_c2_r0 = in_1[(w0_c2_at + 0u * 1u) / 4u][(w0_c2_at + 0u * 1u) % 4u];
    let w0_c2_r1 = in_1[(w0_c2_at + 1u * 1u) / 4u][(w0_c2_at + 1u * 1u) % 4u];
    let w0_c2_r2 = in_1[(w0_c2_at + 2u * 1u) / 4u][(w0_c2_at + 2u * 1u) % 4u];
    var w0_c2_s: u32;
    var w0_c2_t: u32;
    {
      let pair = w0_c2_scales + w0_group * 1u;
      if fuse_wide_scales_1 {
        w0_c2_s = scales_1[(2u * pair) / 4u][(2u * pair) % 4u];
        w0_c2_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
      } else {
        w0_c2_s = scales_1[(pair) / 4u][(pair) % 4u];
      }
    }
    let w0_c3_at = w0_c3_words + (k) / 32u * (3u * 1u);
    let w0_c3_r0 = in_1[(w0_c3_at + 0u * 1u) / 4u][(w0_c3_at + 0u * 1u) % 4u];
    let w0_c3_r1 = in_1[(w0_c3_at + 1u * 1u) / 4u][(w0_c3_at + 1u * 1u) % 4u];
    let w0_c3_r2 = in_1[(w0_c3_at + 2u * 1u) / 4u][(w0_c3_at + 2u * 1u) % 4u];
    var w0_c3_s: u32;
    var w0_c3_t: u32;
    {
      let pair = w0_c3_scales + w0_group * 1u;
      if fuse_wide_scales_1 {
        w0_c3_s = scales_1[(2u * pair) / 4u][(2u * pair) % 4u];
        w0_c3_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
      } else {
        w0_c3_s = scales_1[(pair) / 4u][(pair) % 4u];
      }
    }
    let x0 = a_read(row, k + 0u);
    let x1 = a_read(row, k + 4u);
    let x2 = a_read(row, k + 8u);
    let x3 = a_read(row, k + 12u);
    let x4 = a_read(row, k + 16u);
    let x5 = a_read(row, k + 20u);
    let x6 = a_read(row, k + 24u);
    let x7 = a_read(row, k + 28u);
    let x_sums = ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7));
    let x_sum = (x_sums.x + x_sums.y) + (x_sums.z + x_sums.w);
    {
      var w0_c0_scale: f32;
      var w0_c0_offset: f32;
      if fuse_wide_scales_1 {
        w0_c0_scale = bitcast<f32>(w0_c0_s);
        w0_c0_offset = bitcast<f32>(w0_c0_t);
      } else {
        let pair = unpack2x16float(w0_c0_s);
        w0_c0_scale = pair.x;
        w0_c0_offset = pair.y;
      }
      let w0_c0_middle = fma(f32(4.0), w0_c0_scale, w0_c0_offset);
      let w0_c0_field0 = w0_c0_r0;
      var w0_c0_part0 = f32(x0[0]) * fma(bitcast<f32>((w0_c0_field0 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0));
      var w0_c0_part1 = f32(x0[1]) * fma(bitcast<f32>((w0_c0_field0 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0));
      var w0_c0_part2 = f32(x0[2]) * fma(bitcast<f32>((w0_c0_field0 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0));
      var w0_c0_part3 = f32(x0[3]) * fma(bitcast<f32>((w0_c0_field0 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0));
      w0_c0_part0 = fma(f32(x1[0]), fma(bitcast<f32>((w0_c0_field0 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c0_part0);
      let w0_c0_field1 = (w0_c0_r0 >> u32(15u));
      w0_c0_part1 = fma(f32(x1[1]), fma(bitcast<f32>((w0_c0_field1 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c0_part1);
      w0_c0_part2 = fma(f32(x1[2]), fma(bitcast<f32>((w0_c0_field1 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c0_part2);
      w0_c0_part3 = fma(f32(x1[3]), fma(bitcast<f32>((w0_c0_field1 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c0_part3);
      w0_c0_part0 = fma(f32(x2[0]), fma(bitcast<f32>((w0_c0_field1 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c0_part0);
      w0_c0_part1 = fma(f32(x2[1]), fma(bitcast<f32>((w0_c0_field1 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c0_part1);
      let w0_c0_field2 = (w0_c0_r0 >> u32(30u)) | (w0_c0_r1 << u32(2u));
      w0_c0_part2 = fma(f32(x2[2]), fma(bitcast<f32>((w0_c0_field2 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c0_part2);
      w0_c0_part3 = fma(f32(x2[3]), fma(bitcast<f32>((w0_c0_field2 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c0_part3);
      w0_c0_part0 = fma(f32(x3[0]), fma(bitcast<f32>((w0_c0_field2 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c0_part0);
      w0_c0_part1 = fma(f32(x3[1]), fma(bitcast<f32>((w0_c0_field2 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c0_part1);
      w0_c0_part2 = fma(f32(x3[2]), fma(bitcast<f32>((w0_c0_field2 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c0_part2);
      let w0_c0_field3 = (w0_c0_r1 >> u32(13u));
      w0_c0_part3 = fma(f32(x3[3]), fma(bitcast<f32>((w0_c0_field3 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c0_part3);
      w0_c0_part0 = fma(f32(x4[0]), fma(bitcast<f32>((w0_c0_field3 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c0_part0);
      w0_c0_part1 = fma(f32(x4[1]), fma(bitcast<f32>((w0_c0_field3 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c0_part1);
      w0_c0_part2 = fma(f32(x4[2]), fma(bitcast<f32>((w0_c0_field3 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c0_part2);
      w0_c0_part3 = fma(f32(x4[3]), fma(bitcast<f32>((w0_c0_field3 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c0_part3);
      let w0_c0_field4 = (w0_c0_r1 >> u32(28u)) | (w0_c0_r2 << u32(4u));
      w0_c0_part0 = fma(f32(x5[0]), fma(bitcast<f32>((w0_c0_field4 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c0_part0);
      w0_c0_part1 = fma(f32(x5[1]), fma(bitcast<f32>((w0_c0_field4 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c0_part1);
      w0_c0_part2 = fma(f32(x5[2]), fma(bitcast<f32>((w0_c0_field4 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c0_part2);
      w0_c0_part3 = fma(f32(x5[3]), fma(bitcast<f32>((w0_c0_field4 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c0_part3);
      w0_c0_part0 = fma(f32(x6[0]), fma(bitcast<f32>((w0_c0_field4 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c0_part0);
      let w0_c0_field5 = (w0_c0_r2 >> u32(11u));
      w0_c0_part1 = fma(f32(x6[1]), fma(bitcast<f32>((w0_c0_field5 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c0_part1);
      w0_c0_part2 = fma(f32(x6[2]), fma(bitcast<f32>((w0_c0_field5 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c0_part2);
      w0_c0_part3 = fma(f32(x6[3]), fma(bitcast<f32>((w0_c0_field5 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c0_part3);
      w0_c0_part0 = fma(f32(x7[0]), fma(bitcast<f32>((w0_c0_field5 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c0_part0);
      w0_c0_part1 = fma(f32(x7[1]), fma(bitcast<f32>((w0_c0_field5 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c0_part1);
      let w0_c0_field6 = (w0_c0_r2 >> u32(26u));
      w0_c0_part2 = fma(f32(x7[2]), fma(bitcast<f32>((w0_c0_field6 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c0_part2);
      w0_c0_part3 = fma(f32(x7[3]), fma(bitcast<f32>((w0_c0_field6 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c0_part3);
      sum[0] = fma((w0_c0_part0 + w0_c0_part1) + (w0_c0_part2 + w0_c0_part3), w0_c0_scale, fma(f32(x_sum), w0_c0_middle, sum[0]));
    }
    {
      var w0_c1_scale: f32;
      var w0_c1_offset: f32;
      if fuse_wide_scales_1 {
        w0_c1_scale = bitcast<f32>(w0_c1_s);
        w0_c1_offset = bitcast<f32>(w0_c1_t);
      } else {
        let pair = unpack2x16float(w0_c1_s);
        w0_c1_scale = pair.x;
        w0_c1_offset = pair.y;
      }
      let w0_c1_middle = fma(f32(4.0), w0_c1_scale, w0_c1_offset);
      let w0_c1_field0 = w0_c1_r0;
      var w0_c1_part0 = f32(x0[0]) * fma(bitcast<f32>((w0_c1_field0 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0));
      var w0_c1_part1 = f32(x0[1]) * fma(bitcast<f32>((w0_c1_field0 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0));
      var w0_c1_part2 = f32(x0[2]) * fma(bitcast<f32>((w0_c1_field0 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0));
      var w0_c1_part3 = f32(x0[3]) * fma(bitcast<f32>((w0_c1_field0 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0));
      w0_c1_part0 = fma(f32(x1[0]), fma(bitcast<f32>((w0_c1_field0 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c1_part0);
      let w0_c1_field1 = (w0_c1_r0 >> u32(15u));
      w0_c1_part1 = fma(f32(x1[1]), fma(bitcast<f32>((w0_c1_field1 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c1_part1);
      w0_c1_part2 = fma(f32(x1[2]), fma(bitcast<f32>((w0_c1_field1 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c1_part2);
      w0_c1_part3 = fma(f32(x1[3]), fma(bitcast<f32>((w0_c1_field1 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c1_part3);
      w0_c1_part0 = fma(f32(x2[0]), fma(bitcast<f32>((w0_c1_field1 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c1_part0);
      w0_c1_part1 = fma(f32(x2[1]), fma(bitcast<f32>((w0_c1_field1 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c1_part1);
      let w0_c1_field2 = (w0_c1_r0 >> u32(30u)) | (w0_c1_r1 << u32(2u));
      w0_c1_part2 = fma(f32(x2[2]), fma(bitcast<f32>((w0_c1_field2 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c1_part2);
      w0_c1_part3 = fma(f32(x2[3]), fma(bitcast<f32>((w0_c1_field2 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c1_part3);
      w0_c1_part0 = fma(f32(x3[0]), fma(bitcast<f32>((w0_c1_field2 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c1_part0);
      w0_c1_part1 = fma(f32(x3[1]), fma(bitcast<f32>((w0_c1_field2 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c1_part1);
      w0_c1_part2 = fma(f32(x3[2]), fma(bitcast<f32>((w0_c1_field2 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c1_part2);
      let w0_c1_field3 = (w0_c1_r1 >> u32(13u));
      w0_c1_part3 = fma(f32(x3[3]), fma(bitcast<f32>((w0_c1_field3 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c1_part3);
      w0_c1_part0 = fma(f32(x4[0]), fma(bitcast<f32>((w0_c1_field3 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c1_part0);
      w0_c1_part1 = fma(f32(x4[1]), fma(bitcast<f32>((w0_c1_field3 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c1_part1);
      w0_c1_part2 = fma(f32(x4[2]), fma(bitcast<f32>((w0_c1_field3 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c1_part2);
      w0_c1_part3 = fma(f32(x4[3]), fma(bitcast<f32>((w0_c1_field3 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c1_part3);
      let w0_c1_field4 = (w0_c1_r1 >> u32(28u)) | (w0_c1_r2 << u32(4u));
      w0_c1_part0 = fma(f32(x5[0]), fma(bitcast<f32>((w0_c1_field4 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c1_part0);
      w0_c1_part1 = fma(f32(x5[1]), fma(bitcast<f32>((w0_c1_field4 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c1_part1);
      w0_c1_part2 = fma(f32(x5[2]), fma(bitcast<f32>((w0_c1_field4 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c1_part2);
      w0_c1_part3 = fma(f32(x5[3]), fma(bitcast<f32>((w0_c1_field4 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c1_part3);
      w0_c1_part0 = fma(f32(x6[0]), fma(bitcast<f32>((w0_c1_field4 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c1_part0);
      let w0_c1_field5 = (w0_c1_r2 >> u32(11u));
      w0_c1_part1 = fma(f32(x6[1]), fma(bitcast<f32>((w0_c1_field5 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c1_part1);
      w0_c1_part2 = fma(f32(x6[2]), fma(bitcast<f32>((w0_c1_field5 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c1_part2);
      w0_c1_part3 = fma(f32(x6[3]), fma(bitcast<f32>((w0_c1_field5 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c1_part3);
      w0_c1_part0 = fma(f32(x7[0]), fma(bitcast<f32>((w0_c1_field5 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c1_part0);
      w0_c1_part1 = fma(f32(x7[1]), fma(bitcast<f32>((w0_c1_field5 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c1_part1);
      let w0_c1_field6 = (w0_c1_r2 >> u32(26u));
      w0_c1_part2 = fma(f32(x7[2]), fma(bitcast<f32>((w0_c1_field6 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c1_part2);
      w0_c1_part3 = fma(f32(x7[3]), fma(bitcast<f32>((w0_c1_field6 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c1_part3);
      sum[1] = fma((w0_c1_part0 + w0_c1_part1) + (w0_c1_part2 + w0_c1_part3), w0_c1_scale, fma(f32(x_sum), w0_c1_middle, sum[1]));
    }
    {
      var w0_c2_scale: f32;
      var w0_c2_offset: f32;
      if fuse_wide_scales_1 {
        w0_c2_scale = bitcast<f32>(w0_c2_s);
        w0_c2_offset = bitcast<f32>(w0_c2_t);
      } else {
        let pair = unpack2x16float(w0_c2_s);
        w0_c2_scale = pair.x;
        w0_c2_offset = pair.y;
      }
      let w0_c2_middle = fma(f32(4.0), w0_c2_scale, w0_c2_offset);
      let w0_c2_field0 = w0_c2_r0;
      var w0_c2_part0 = f32(x0[0]) * fma(bitcast<f32>((w0_c2_field0 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0));
      var w0_c2_part1 = f32(x0[1]) * fma(bitcast<f32>((w0_c2_field0 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0));
      var w0_c2_part2 = f32(x0[2]) * fma(bitcast<f32>((w0_c2_field0 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0));
      var w0_c2_part3 = f32(x0[3]) * fma(bitcast<f32>((w0_c2_field0 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0));
      w0_c2_part0 = fma(f32(x1[0]), fma(bitcast<f32>((w0_c2_field0 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c2_part0);
      let w0_c2_field1 = (w0_c2_r0 >> u32(15u));
      w0_c2_part1 = fma(f32(x1[1]), fma(bitcast<f32>((w0_c2_field1 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c2_part1);
      w0_c2_part2 = fma(f32(x1[2]), fma(bitcast<f32>((w0_c2_field1 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c2_part2);
      w0_c2_part3 = fma(f32(x1[3]), fma(bitcast<f32>((w0_c2_field1 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c2_part3);
      w0_c2_part0 = fma(f32(x2[0]), fma(bitcast<f32>((w0_c2_field1 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c2_part0);
      w0_c2_part1 = fma(f32(x2[1]), fma(bitcast<f32>((w0_c2_field1 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c2_part1);
      let w0_c2_field2 = (w0_c2_r0 >> u32(30u)) | (w0_c2_r1 << u32(2u));
      w0_c2_part2 = fma(f32(x2[2]), fma(bitcast<f32>((w0_c2_field2 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c2_part2);
      w0_c2_part3 = fma(f32(x2[3]), fma(bitcast<f32>((w0_c2_field2 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c2_part3);
      w0_c2_part0 = fma(f32(x3[0]), fma(bitcast<f32>((w0_c2_field2 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c2_part0);
      w0_c2_part1 = fma(f32(x3[1]), fma(bitcast<f32>((w0_c2_field2 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c2_part1);
      w0_c2_part2 = fma(f32(x3[2]), fma(bitcast<f32>((w0_c2_field2 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c2_part2);
      let w0_c2_field3 = (w0_c2_r1 >> u32(13u));
      w0_c2_part3 = fma(f32(x3[3]), fma(bitcast<f32>((w0_c2_field3 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c2_part3);
      w0_c2_part0 = fma(f32(x4[0]), fma(bitcast<f32>((w0_c2_field3 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c2_part0);
      w0_c2_part1 = fma(f32(x4[1]), fma(bitcast<f32>((w0_c2_field3 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c2_part1);
      w0_c2_part2 = fma(f32(x4[2]), fma(bitcast<f32>((w0_c2_field3 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c2_part2);
      w0_c2_part3 = fma(f32(x4[3]), fma(bitcast<f32>((w0_c2_field3 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c2_part3);
      let w0_c2_field4 = (w0_c2_r1 >> u32(28u)) | (w0_c2_r2 << u32(4u));
      w0_c2_part0 = fma(f32(x5[0]), fma(bitcast<f32>((w0_c2_field4 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c2_part0);
      w0_c2_part1 = fma(f32(x5[1]), fma(bitcast<f32>((w0_c2_field4 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c2_part1);
      w0_c2_part2 = fma(f32(x5[2]), fma(bitcast<f32>((w0_c2_field4 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c2_part2);
      w0_c2_part3 = fma(f32(x5[3]), fma(bitcast<f32>((w0_c2_field4 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c2_part3);
      w0_c2_part0 = fma(f32(x6[0]), fma(bitcast<f32>((w0_c2_field4 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c2_part0);
      let w0_c2_field5 = (w0_c2_r2 >> u32(11u));
      w0_c2_part1 = fma(f32(x6[1]), fma(bitcast<f32>((w0_c2_field5 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c2_part1);
      w0_c2_part2 = fma(f32(x6[2]), fma(bitcast<f32>((w0_c2_field5 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c2_part2);
      w0_c2_part3 = fma(f32(x6[3]), fma(bitcast<f32>((w0_c2_field5 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c2_part3);
      w0_c2_part0 = fma(f32(x7[0]), fma(bitcast<f32>((w0_c2_field5 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c2_part0);
      w0_c2_part1 = fma(f32(x7[1]), fma(bitcast<f32>((w0_c2_field5 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c2_part1);
      let w0_c2_field6 = (w0_c2_r2 >> u32(26u));
      w0_c2_part2 = fma(f32(x7[2]), fma(bitcast<f32>((w0_c2_field6 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c2_part2);
      w0_c2_part3 = fma(f32(x7[3]), fma(bitcast<f32>((w0_c2_field6 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c2_part3);
      sum[2] = fma((w0_c2_part0 + w0_c2_part1) + (w0_c2_part2 + w0_c2_part3), w0_c2_scale, fma(f32(x_sum), w0_c2_middle, sum[2]));
    }
    {
      var w0_c3_scale: f32;
      var w0_c3_offset: f32;
      if fuse_wide_scales_1 {
        w0_c3_scale = bitcast<f32>(w0_c3_s);
        w0_c3_offset = bitcast<f32>(w0_c3_t);
      } else {
        let pair = unpack2x16float(w0_c3_s);
        w0_c3_scale = pair.x;
        w0_c3_offset = pair.y;
      }
      let w0_c3_middle = fma(f32(4.0), w0_c3_scale, w0_c3_offset);
      let w0_c3_field0 = w0_c3_r0;
      var w0_c3_part0 = f32(x0[0]) * fma(bitcast<f32>((w0_c3_field0 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0));
      var w0_c3_part1 = f32(x0[1]) * fma(bitcast<f32>((w0_c3_field0 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0));
      var w0_c3_part2 = f32(x0[2]) * fma(bitcast<f32>((w0_c3_field0 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0));
      var w0_c3_part3 = f32(x0[3]) * fma(bitcast<f32>((w0_c3_field0 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0));
      w0_c3_part0 = fma(f32(x1[0]), fma(bitcast<f32>((w0_c3_field0 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c3_part0);
      let w0_c3_field1 = (w0_c3_r0 >> u32(15u));
      w0_c3_part1 = fma(f32(x1[1]), fma(bitcast<f32>((w0_c3_field1 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c3_part1);
      w0_c3_part2 = fma(f32(x1[2]), fma(bitcast<f32>((w0_c3_field1 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c3_part2);
      w0_c3_part3 = fma(f32(x1[3]), fma(bitcast<f32>((w0_c3_field1 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c3_part3);
      w0_c3_part0 = fma(f32(x2[0]), fma(bitcast<f32>((w0_c3_field1 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c3_part0);
      w0_c3_part1 = fma(f32(x2[1]), fma(bitcast<f32>((w0_c3_field1 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c3_part1);
      let w0_c3_field2 = (w0_c3_r0 >> u32(30u)) | (w0_c3_r1 << u32(2u));
      w0_c3_part2 = fma(f32(x2[2]), fma(bitcast<f32>((w0_c3_field2 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c3_part2);
      w0_c3_part3 = fma(f32(x2[3]), fma(bitcast<f32>((w0_c3_field2 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c3_part3);
      w0_c3_part0 = fma(f32(x3[0]), fma(bitcast<f32>((w0_c3_field2 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c3_part0);
      w0_c3_part1 = fma(f32(x3[1]), fma(bitcast<f32>((w0_c3_field2 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c3_part1);
      w0_c3_part2 = fma(f32(x3[2]), fma(bitcast<f32>((w0_c3_field2 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c3_part2);
      let w0_c3_field3 = (w0_c3_r1 >> u32(13u));
      w0_c3_part3 = fma(f32(x3[3]), fma(bitcast<f32>((w0_c3_field3 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c3_part3);
      w0_c3_part0 = fma(f32(x4[0]), fma(bitcast<f32>((w0_c3_field3 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c3_part0);
      w0_c3_part1 = fma(f32(x4[1]), fma(bitcast<f32>((w0_c3_field3 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c3_part1);
      w0_c3_part2 = fma(f32(x4[2]), fma(bitcast<f32>((w0_c3_field3 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c3_part2);
      w0_c3_part3 = fma(f32(x4[3]), fma(bitcast<f32>((w0_c3_field3 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c3_part3);
      let w0_c3_field4 = (w0_c3_r1 >> u32(28u)) | (w0_c3_r2 << u32(4u));
      w0_c3_part0 = fma(f32(x5[0]), fma(bitcast<f32>((w0_c3_field4 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c3_part0);
      w0_c3_part1 = fma(f32(x5[1]), fma(bitcast<f32>((w0_c3_field4 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c3_part1);
      w0_c3_part2 = fma(f32(x5[2]), fma(bitcast<f32>((w0_c3_field4 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c3_part2);
      w0_c3_part3 = fma(f32(x5[3]), fma(bitcast<f32>((w0_c3_field4 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c3_part3);
      w0_c3_part0 = fma(f32(x6[0]), fma(bitcast<f32>((w0_c3_field4 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c3_part0);
      let w0_c3_field5 = (w0_c3_r2 >> u32(11u));
      w0_c3_part1 = fma(f32(x6[1]), fma(bitcast<f32>((w0_c3_field5 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c3_part1);
      w0_c3_part2 = fma(f32(x6[2]), fma(bitcast<f32>((w0_c3_field5 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c3_part2);
      w0_c3_part3 = fma(f32(x6[3]), fma(bitcast<f32>((w0_c3_field5 & u32(448u)) | u32(1258291200u)), f32(0.015625), f32(-131076.0)), w0_c3_part3);
      w0_c3_part0 = fma(f32(x7[0]), fma(bitcast<f32>((w0_c3_field5 & u32(3584u)) | u32(1258291200u)), f32(0.001953125), f32(-16388.0)), w0_c3_part0);
      w0_c3_part1 = fma(f32(x7[1]), fma(bitcast<f32>((w0_c3_field5 & u32(28672u)) | u32(1258291200u)), f32(0.000244140625), f32(-2052.0)), w0_c3_part1);
      let w0_c3_field6 = (w0_c3_r2 >> u32(26u));
      w0_c3_part2 = fma(f32(x7[2]), fma(bitcast<f32>((w0_c3_field6 & u32(7u)) | u32(1258291200u)), f32(1.0), f32(-8388612.0)), w0_c3_part2);
      w0_c3_part3 = fma(f32(x7[3]), fma(bitcast<f32>((w0_c3_field6 & u32(56u)) | u32(1258291200u)), f32(0.125), f32(-1048580.0)), w0_c3_part3);
      sum[3] = fma((w0_c3_part0 + w0_c3_part1) + (w0_c3_part2 + w0_c3_part3), w0_c3_scale, fma(f32(x_sum), w0_c3_middle, sum[3]));
    }
  }
  if any((bitcast<vec4<u32>>(sum) & vec4<u32>(0x7f800000u)) == vec4<u32>(0x7f800000u)) {
    sum = vec4<f32>();
    for (var k = k_begin + k_group * 32u; k < k_end; k += 4096u) {
      for (var depth = k; depth < k + 32u; depth += 8u) {
        let x0 = a_read(row, depth + 0u);
        let x1 = a_read(row, depth + 4u);
        {
          var w0_c0_w: u32;
          var w0_c0_v: u32;
          var w0_c0_shift: u32;
          var w0_c0_s: u32;
          var w0_c0_t: u32;
          {
            let bit = (depth) * 3u;
            w0_c0_shift = bit % 32u;
            let word = w0_c0_words + bit / 32u * 1u;
            w0_c0_w = in_1[(word) / 4u][(word) % 4u];
            let next = select(word, word + 1u, w0_c0_shift > 8u);
            w0_c0_v = in_1[(next) / 4u][(next) % 4u];
          }
          {
            let pair = w0_c0_scales + (depth) / p.size_10 * 1u;
            if fuse_wide_scales_1 {
              w0_c0_s = scales_1[(2u * pair) / 4u][(2u * pair) % 4u];
              w0_c0_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
            } else {
              w0_c0_s = scales_1[(pair) / 4u][(pair) % 4u];
            }
          }
          var w0_c0_scale: f32;
          var w0_c0_offset: f32;
          if fuse_wide_scales_1 {
            w0_c0_scale = bitcast<f32>(w0_c0_s);
            w0_c0_offset = bitcast<f32>(w0_c0_t);
          } else {
            let pair = unpack2x16float(w0_c0_s);
            w0_c0_scale = pair.x;
            w0_c0_offset = pair.y;
          }
          let w0_c0_q = (w0_c0_w >> u32(w0_c0_shift)) | ((w0_c0_v << u32(1u)) << (u32(31u) - u32(w0_c0_shift)));
          sum[0] += f32(x0[0]) * f32(f16(((bitcast<f32>(((w0_c0_q & u32(7u)) | u32(1258291200u))) - 8388608.0) * (w0_c0_scale) + w0_c0_offset)));
          sum[0] += f32(x0[1]) * f32(f16(((bitcast<f32>(((w0_c0_q & u32(56u)) | u32(1258291200u))) - 8388608.0) * (w0_c0_scale * 0.125) + w0_c0_offset)));
          sum[0] += f32(x0[2]) * f32(f16(((bitcast<f32>(((w0_c0_q & u32(448u)) | u32(1258291200u))) - 8388608.0) * (w0_c0_scale * 0.015625) + w0_c0_offset)));
          sum[0] += f32(x0[3]) * f32(f16(((bitcast<f32>(((w0_c0_q & u32(3584u)) | u32(1258291200u))) - 8388608.0) * (w0_c0_scale * 0.001953125) + w0_c0_offset)));
          sum[0] += f32(x1[0]) * f32(f16(((bitcast<f32>(((w0_c0_q & u32(28672u)) | u32(1258291200u))) - 8388608.0) * (w0_c0_scale * 0.000244140625) + w0_c0_offset)));
          sum[0] += f32(x1[1]) * f32(f16(((bitcast<f32>(((w0_c0_q & u32(229376u)) | u32(1258291200u))) - 8388608.0) * (w0_c0_scale * 3.0517578125e-5) + w0_c0_offset)));
          sum[0] += f32(x1[2]) * f32(f16(((bitcast<f32>(((w0_c0_q & u32(1835008u)) | u32(1258291200u))) - 8388608.0) * (w0_c0_scale * 3.814697265625e-6) + w0_c0_offset)));
          sum[0] += f32(x1[3]) * f32(f16(((bitcast<f32>((((w0_c0_q >> u32(21u)) & u32(7u)) | u32(1258291200u))) - 8388608.0) * (w0_c0_scale) + w0_c0_offset)));
        }
        {
          var w0_c1_w: u32;
          var w0_c1_v: u32;
          var w0_c1_shift: u32;
          var w0_c1_s: u32;
          var w0_c1_t: u32;
          {
            let bit = (depth) * 3u;
            w0_c1_shift = bit % 32u;
            let word = w0_c1_words + bit / 32u * 1u;
            w0_c1_w = in_1[(word) / 4u][(word) % 4u];
            let next = select(word, word + 1u, w0_c1_shift > 8u);
            w0_c1_v = in_1[(next) / 4u][(next) % 4u];
          }
          {
            let pair = w0_c1_scales + (depth) / p.size_10 * 1u;
            if fuse_wide_scales_1 {
              w0_c1_s = scales_1[(2u * pair) / 4u][(2u * pair) % 4u];
              w0_c1_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
            } else {
              w0_c1_s = scales_1[(pair) / 4u][(pair) % 4u];
            }
          }
          var w0_c1_scale: f32;
          var w0_c1_offset: f32;
          if fuse_wide_scales_1 {
            w0_c1_scale = bitcast<f32>(w0_c1_s);
            w0_c1_offset = bitcast<f32>(w0_c1_t);
          } else {
            let pair = unpack2x16float(w0_c1_s);
            w0_c1_scale = pair.x;
            w0_c1_offset = pair.y;
          }
          let w0_c1_q = (w0_c1_w >> u32(w0_c1_shift)) | ((w0_c1_v << u32(1u)) << (u32(31u) - u32(w0_c1_shift)));
          sum[1] += f32(x0[0]) * f32(f16(((bitcast<f32>(((w0_c1_q & u32(7u)) | u32(1258291200u))) - 8388608.0) * (w0_c1_scale) + w0_c1_offset)));
          sum[1] += f32(x0[1]) * f32(f16(((bitcast<f32>(((w0_c1_q & u32(56u)) | u32(1258291200u))) - 8388608.0) * (w0_c1_scale * 0.125) + w0_c1_offset)));
          sum[1] += f32(x0[2]) * f32(f16(((bitcast<f32>(((w0_c1_q & u32(448u)) | u32(1258291200u))) - 8388608.0) * (w0_c1_scale * 0.015625) + w0_c1_offset)));
          sum[1] += f32(x0[3]) * f32(f16(((bitcast<f32>(((w0_c1_q & u32(3584u)) | u32(1258291200u))) - 8388608.0) * (w0_c1_scale * 0.001953125) + w0_c1_offset)));
          sum[1] += f32(x1[0]) * f32(f16(((bitcast<f32>(((w0_c1_q & u32(28672u)) | u32(1258291200u))) - 8388608.0) * (w0_c1_scale * 0.000244140625) + w0_c1_offset)));
          sum[1] += f32(x1[1]) * f32(f16(((bitcast<f32>(((w0_c1_q & u32(229376u)) | u32(1258291200u))) - 8388608.0) * (w0_c1_scale * 3.0517578125e-5) + w0_c1_offset)));
          sum[1] += f32(x1[2]) * f32(f16(((bitcast<f32>(((w0_c1_q & u32(1835008u)) | u32(1258291200u))) - 8388608.0) * (w0_c1_scale * 3.814697265625e-6) + w0_c1_offset)));
          sum[1] += f32(x1[3]) * f32(f16(((bitcast<f32>((((w0_c1_q >> u32(21u)) & u32(7u)) | u32(1258291200u))) - 8388608.0) * (w0_c1_scale) + w0_c1_offset)));
        }
        {
          var w0_c2_w: u32;
          var w0_c2_v: u32;
          var w0_c2_shift: u32;
          var w0_c2_s: u32;
          var w0_c2_t: u32;
          {
            let bit = (depth) * 3u;
            w0_c2_shift = bit % 32u;
            let word = w0_c2_words + bit / 32u * 1u;
            w0_c2_w = in_1[(word) / 4u][(word) % 4u];
            let next = select(word, word + 1u, w0_c2_shift > 8u);
            w0_c2_v = in_1[(next) / 4u][(next) % 4u];
          }
          {
            let pair = w0_c2_scales + (depth) / p.size_10 * 1u;
            if fuse_wide_scales_1 {
              w0_c2_s = scales_1[(2u * pair) / 4u][(2u * pair) % 4u];
              w0_c2_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
            } else {
              w0_c2_s = scales_1[(pair) / 4u][(pair) % 4u];
            }
          }
          var w0_c2_scale: f32;
          var w0_c2_offset: f32;
          if fuse_wide_scales_1 {
            w0_c2_scale = bitcast<f32>(w0_c2_s);
            w0_c2_offset = bitcast<f32>(w0_c2_t);
          } else {
            let pair = unpack2x16float(w0_c2_s);
            w0_c2_scale = pair.x;
            w0_c2_offset = pair.y;
          }
          let w0_c2_q = (w0_c2_w >> u32(w0_c2_shift)) | ((w0_c2_v << u32(1u)) << (u32(31u) - u32(w0_c2_shift)));
          sum[2] += f32(x0[0]) * f32(f16(((bitcast<f32>(((w0_c2_q & u32(7u)) | u32(1258291200u))) - 8388608.0) * (w0_c2_scale) + w0_c2_offset)));
          sum[2] += f32(x0[1]) * f32(f16(((bitcast<f32>(((w0_c2_q & u32(56u)) | u32(1258291200u))) - 8388608.0) * (w0_c2_scale * 0.125) + w0_c2_offset)));
          sum[2] += f32(x0[2]) * f32(f16(((bitcast<f32>(((w0_c2_q & u32(448u)) | u32(1258291200u))) - 8388608.0) * (w0_c2_scale * 0.015625) + w0_c2_offset)));
          sum[2] += f32(x0[3]) * f32(f16(((bitcast<f32>(((w0_c2_q & u32(3584u)) | u32(1258291200u))) - 8388608.0) * (w0_c2_scale * 0.001953125) + w0_c2_offset)));
          sum[2] += f32(x1[0]) * f32(f16(((bitcast<f32>(((w0_c2_q & u32(28672u)) | u32(1258291200u))) - 8388608.0) * (w0_c2_scale * 0.000244140625) + w0_c2_offset)));
          sum[2] += f32(x1[1]) * f32(f16(((bitcast<f32>(((w0_c2_q & u32(229376u)) | u32(1258291200u))) - 8388608.0) * (w0_c2_scale * 3.0517578125e-5) + w0_c2_offset)));
          sum[2] += f32(x1[2]) * f32(f16(((bitcast<f32>(((w0_c2_q & u32(1835008u)) | u32(1258291200u))) - 8388608.0) * (w0_c2_scale * 3.814697265625e-6) + w0_c2_offset)));
          sum[2] += f32(x1[3]) * f32(f16(((bitcast<f32>((((w0_c2_q >> u32(21u)) & u32(7u)) | u32(1258291200u))) - 8388608.0) * (w0_c2_scale) + w0_c2_offset)));
        }
        {
          var w0_c3_w: u32;
          var w0_c3_v: u32;
          var w0_c3_shift: u32;
          var w0_c3_s: u32;
          var w0_c3_t: u32;
          {
            let bit = (depth) * 3u;
            w0_c3_shift = bit % 32u;
            let word = w0_c3_words + bit / 32u * 1u;
            w0_c3_w = in_1[(word) / 4u][(word) % 4u];
            let next = select(word, word + 1u, w0_c3_shift > 8u);
            w0_c3_v = in_1[(next) / 4u][(next) % 4u];
          }
          {
            let pair = w0_c3_scales + (depth) / p.size_10 * 1u;
            if fuse_wide_scales_1 {
              w0_c3_s = scales_1[(2u * pair) / 4u][(2u * pair) % 4u];
              w0_c3_t = scales_1[(2u * pair + 1u) / 4u][(2u * pair + 1u) % 4u];
            } else {
              w0_c3_s = scales_1[(pair) / 4u][(pair) % 4u];
            }
          }
          var w0_c3_scale: f32;
          var w0_c3_offset: f32;
          if fuse_wide_scales_1 {
            w0_c3_scale = bitcast<f32>(w0_c3_s);
            w0_c3_offset = bitcast<f32>(w0_c3_t);
          } else {
            let pair = unpack2x16float(w0_c3_s);
            w0_c3_scale = pair.x;
            w0_c3_offset = pair.y;
          }
          let w0_c3_q = (w0_c3_w >> u32(w0_c3_shift)) | ((w0_c3_v << u32(1u)) << (u32(31u) - u32(w0_c3_shift)));
          sum[3] += f32(x0[0]) * f32(f16(((bitcast<f32>(((w0_c3_q & u32(7u)) | u32(1258291200u))) - 8388608.0) * (w0_c3_scale) + w0_c3_offset)));
          sum[3] += f32(x0[1]) * f32(f16(((bitcast<f32>(((w0_c3_q & u32(56u)) | u32(1258291200u))) - 8388608.0) * (w0_c3_scale * 0.125) + w0_c3_offset)));
          sum[3] += f32(x0[2]) * f32(f16(((bitcast<f32>(((w0_c3_q & u32(448u)) | u32(1258291200u))) - 8388608.0) * (w0_c3_scale * 0.015625) + w0_c3_offset)));
          sum[3] += f32(x0[3]) * f32(f16(((bitcast<f32>(((w0_c3_q & u32(3584u)) | u32(1258291200u))) - 8388608.0) * (w0_c3_scale * 0.001953125) + w0_c3_offset)));
          sum[3] += f32(x1[0]) * f32(f16(((bitcast<f32>(((w0_c3_q & u32(28672u)) | u32(1258291200u))) - 8388608.0) * (w0_c3_scale * 0.000244140625) + w0_c3_offset)));
          sum[3] += f32(x1[1]) * f32(f16(((bitcast<f32>(((w0_c3_q & u32(229376u)) | u32(1258291200u))) - 8388608.0) * (w0_c3_scale * 3.0517578125e-5) + w0_c3_offset)));
          sum[3] += f32(x1[2]) * f32(f16(((bitcast<f32>(((w0_c3_q & u32(1835008u)) | u32(1258291200u))) - 8388608.0) * (w0_c3_scale * 3.814697265625e-6) + w0_c3_offset)));
          sum[3] += f32(x1[3]) * f32(f16(((bitcast<f32>((((w0_c3_q >> u32(21u)) & u32(7u)) | u32(1258291200u))) - 8388608.0) * (w0_c3_scale) + w0_c3_offset)));
        }
      }
    }
  }
  if k_group >= 64u {
    let place = lane * 64u + (k_group - 64u) * 1u;
    partial[place + 0u] = sum;
  }
  workgroupBarrier();
  if k_group < 64u {
    let place = lane * 64u + k_group * 1u;
    partial[place + 0u] += sum;
  }
  for (var left = 32u; left > 0u; left /= 2u) {
    workgroupBarrier();
    if k_group < left {
      let place = lane * 64u + k_group * 1u;
      let other = place + left * 1u;
      partial[place + 0u] += partial[other + 0u];
    }
  }
  if k_group < 1u && stores {
    finish(batch, row, column, partial[lane * 64u]);
  }
}
