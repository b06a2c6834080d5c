struct Params {
  extent_1: u32,
  extent_2: u32,
  extent_3: u32,
  extent_4: u32,
  offset_5: u32,
  stride_5_0: u32,
  stride_5_1: u32,
  offset_6: u32,
  stride_6_0: u32,
  stride_6_1: u32,
  offset_7: u32,
  stride_7_0: u32,
  stride_7_1: u32,
  offset_8: u32,
  stride_8_0: u32,
  stride_8_1: u32,
  stride_8_2: u32,
  offset_9: u32,
  stride_9_2: u32,
  offset_10: u32,
  stride_10_0: u32,
  stride_10_1: u32,
  offset_11: u32,
  stride_11_0: u32,
  stride_11_1: u32,
  stride_11_2: u32,
  workgroups: u32,
  row_tiles: u32,
  offset_0: u32,
  stride_0_0: u32,
  offset_1: u32,
  stride_1_0: u32,
  extent_5: u32,
  offset_2: u32,
  stride_2_0: u32,
  offset_3: u32,
  stride_3_0: u32,
  offset_4: u32,
  stride_4_0: u32,
  stride_0_2: u32,
  stride_0_1: u32,
  stride_1_1: u32,
  stride_1_2: u32,
  stride_2_2: u32,
  stride_2_1: u32,
  stride_3_1: u32,
  stride_3_2: u32,
  stride_4_1: u32,
  stride_4_2: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read> in_1: array<f32>;
@group(0) @binding(3) var<storage, read> in_2: array<f32>;
@group(0) @binding(4) var<storage, read> in_3: array<f32>;
@group(0) @binding(5) var<storage, read> in_4: array<f32>;
@group(0) @binding(6) var<storage, read> in_5: array<f32>;
@group(0) @binding(7) var<storage, read> in_6: array<f32>;
@group(0) @binding(8) var<storage, read> in_7: array<f32>;
@group(0) @binding(9) var<storage, read> in_8: array<f32>;
@group(0) @binding(10) var<storage, read> in_9: array<f32>;
@group(0) @binding(11) var<storage, read> in_10: array<f32>;
@group(0) @binding(12) var<storage, read_write> out_0: array<f32>;
@group(0) @binding(13) var<storage, read_write> out_1: array<f32>;
@group(0) @binding(14) var<storage, read_write> out_2: array<f32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

struct Weights {
  w0: vec4<f32>,
}
struct Weight {
  w0: f32,
}
fn weight(b0: u32, row: u32, column: u32, c0: f32, c1: f32) -> Weight {
  let inside_row = min(row, p.extent_1 - 1u);
  let inside_column = min(column, p.extent_3 - 1u);
  let x5 = in_4[p.offset_5 + b0 * p.stride_5_0 + inside_row * p.stride_5_1];
  let x6 = in_5[p.offset_6 + b0 * p.stride_6_0 + inside_row * p.stride_6_1];
  let x7 = in_6[p.offset_7 + b0 * p.stride_7_0 + inside_row * p.stride_7_1];
  let s0 = c0;
  let s2 = s0 * 0.25f;
  let s4 = s2 == -bitcast<f32>(fuse_inf_bits);
  let s6 = x5;
  let s7 = s2 - s6;
  let s8 = exp(s7);
  let s9 = x6;
  let s10 = s8 * s9;
  let s11 = select(s10, 0.0f, s4);
  let s12 = c1;
  let s13 = x7;
  let s14 = s12 - s13;
  let s15 = s11 * s14;
  let s16 = select(s15, 0.0f, s4);
  let s17 = s16 * 0.25f;
  return Weight(s17);
}
fn weights(b0: u32, row: u32, column: u32, c0: vec4<f32>, c1: vec4<f32>) -> Weights {
  let at0 = weight(b0, row, column, c0.x, c1.x);
  let at1 = weight(b0, row, column + 1u, c0.y, c1.y);
  let at2 = weight(b0, row, column + 2u, c0.z, c1.z);
  let at3 = weight(b0, row, column + 3u, c0.w, c1.w);
  return Weights(vec4<f32>(at0.w0, at1.w0, at2.w0, at3.w0));
}
fn finish(batch: u32, b0: u32, row: u32, column: u32, sum: f32) {
  if row >= p.extent_1 || column >= p.extent_2 {
    return;
  }
  let x8 = in_7[p.offset_8 + b0 * p.stride_8_0 + row * p.stride_8_1 + column * p.stride_8_2];
  let x9 = in_8[p.offset_9 + column * p.stride_9_2];
  let x10 = in_9[p.offset_10 + b0 * p.stride_10_0 + row * p.stride_10_1];
  let x11 = in_10[p.offset_11 + b0 * p.stride_11_0 + row * p.stride_11_1 + column * p.stride_11_2];
  let v0 = sum;
  let v1 = x8;
  let v2 = v0 * v1;
  let v3 = x9;
  let v4 = v0 * v3;
  let v5 = x10;
  let v6 = v4 * v5;
  let v7 = x11;
  let v8 = v4 * v7;
  let at = (batch * p.extent_1 + row) * p.extent_2 + column;
  out_0[at] = v2;
  out_1[at] = v6;
  out_2[at] = v8;
}
fn finish_four(batch: u32, b0: u32, row: u32, column: u32, sum: vec4<f32>) {
  finish(batch, b0, row, column + 0u, sum[0]);
  finish(batch, b0, row, column + 1u, sum[1]);
  finish(batch, b0, row, column + 2u, sum[2]);
  finish(batch, b0, row, column + 3u, sum[3]);
}
var<workgroup> lhs_tile: array<vec4<f32>, 64>;
var<workgroup> stage: array<vec4<f32>, 256>;
var<workgroup> weight_tile: array<vec4<f32>, 512>;
struct Products {
  s0_0: vec4<f32>,
  s1_0: vec4<f32>,
  s2_0: vec4<f32>,
  s3_0: vec4<f32>,
}
fn add_products(c: ptr<function, Products>, a0: vec4<f32>, b0: vec4<f32>) {
  (*c).s0_0 = fma(vec4<f32>(a0[0]), b0, (*c).s0_0);
  (*c).s1_0 = fma(vec4<f32>(a0[1]), b0, (*c).s1_0);
  (*c).s2_0 = fma(vec4<f32>(a0[2]), b0, (*c).s2_0);
  (*c).s3_0 = fma(vec4<f32>(a0[3]), b0, (*c).s3_0);
}
struct Outputs {
  s0_0: vec4<f32>,
  s0_1: vec4<f32>,
  s0_2: vec4<f32>,
  s0_3: vec4<f32>,
  s1_0: vec4<f32>,
  s1_1: vec4<f32>,
  s1_2: vec4<f32>,
  s1_3: vec4<f32>,
  s2_0: vec4<f32>,
  s2_1: vec4<f32>,
  s2_2: vec4<f32>,
  s2_3: vec4<f32>,
  s3_0: vec4<f32>,
  s3_1: vec4<f32>,
  s3_2: vec4<f32>,
  s3_3: vec4<f32>,
}
fn add_outputs(c: ptr<function, Outputs>, a0: vec4<f32>, b0: vec4<f32>, b1: vec4<f32>, b2: vec4<f32>, b3: vec4<f32>) {
  (*c).s0_0[0] = fma(a0[0], b0[0], (*c).s0_0[0]);
  (*c).s1_0[0] = fma(a0[1], b0[0], (*c).s1_0[0]);
  (*c).s0_0[1] = fma(a0[0], b0[1], (*c).s0_0[1]);
  (*c).s1_0[1] = fma(a0[1], b0[1], (*c).s1_0[1]);
  (*c).s0_0[2] = fma(a0[0], b0[2], (*c).s0_0[2]);
  (*c).s1_0[2] = fma(a0[1], b0[2], (*c).s1_0[2]);
  (*c).s0_0[3] = fma(a0[0], b0[3], (*c).s0_0[3]);
  (*c).s1_0[3] = fma(a0[1], b0[3], (*c).s1_0[3]);
  (*c).s0_1[0] = fma(a0[0], b1[0], (*c).s0_1[0]);
  (*c).s1_1[0] = fma(a0[1], b1[0], (*c).s1_1[0]);
  (*c).s0_1[1] = fma(a0[0], b1[1], (*c).s0_1[1]);
  (*c).s1_1[1] = fma(a0[1], b1[1], (*c).s1_1[1]);
  (*c).s0_1[2] = fma(a0[0], b1[2], (*c).s0_1[2]);
  (*c).s1_1[2] = fma(a0[1], b1[2], (*c).s1_1[2]);
  (*c).s0_1[3] = fma(a0[0], b1[3], (*c).s0_1[3]);
  (*c).s1_1[3] = fma(a0[1], b1[3], (*c).s1_1[3]);
  (*c).s0_2[0] = fma(a0[0], b2[0], (*c).s0_2[0]);
  (*c).s1_2[0] = fma(a0[1], b2[0], (*c).s1_2[0]);
  (*c).s0_2[1] = fma(a0[0], b2[1], (*c).s0_2[1]);
  (*c).s1_2[1] = fma(a0[1], b2[1], (*c).s1_2[1]);
  (*c).s0_2[2] = fma(a0[0], b2[2], (*c).s0_2[2]);
  (*c).s1_2[2] = fma(a0[1], b2[2], (*c).s1_2[2]);
  (*c).s0_2[3] = fma(a0[0], b2[3], (*c).s0_2[3]);
  (*c).s1_2[3] = fma(a0[1], b2[3], (*c).s1_2[3]);
  (*c).s0_3[0] = fma(a0[0], b3[0], (*c).s0_3[0]);
  (*c).s1_3[0] = fma(a0[1], b3[0], (*c).s1_3[0]);
  (*c).s0_3[1] = fma(a0[0], b3[1], (*c).s0_3[1]);
  (*c).s1_3[1] = fma(a0[1], b3[1], (*c).s1_3[1]);
  (*c).s0_3[2] = fma(a0[0], b3[2], (*c).s0_3[2]);
  (*c).s1_3[2] = fma(a0[1], b3[2], (*c).s1_3[2]);
  (*c).s0_3[3] = fma(a0[0], b3[3], (*c).s0_3[3]);
  (*c).s1_3[3] = fma(a0[1], b3[3], (*c).s1_3[3]);
  (*c).s2_3[3] = fma(a0[2], b3[3], (*c).s2_3[3]);
  (*c).s3_3[3] = fma(a0[3], b3[3], (*c).s3_3[3]);
  (*c).s2_3[2] = fma(a0[2], b3[2], (*c).s2_3[2]);
  (*c).s3_3[2] = fma(a0[3], b3[2], (*c).s3_3[2]);
  (*c).s2_3[1] = fma(a0[2], b3[1], (*c).s2_3[1]);
  (*c).s3_3[1] = fma(a0[3], b3[1], (*c).s3_3[1]);
  (*c).s2_3[0] = fma(a0[2], b3[0], (*c).s2_3[0]);
  (*c).s3_3[0] = fma(a0[3], b3[0], (*c).s3_3[0]);
  (*c).s2_2[3] = fma(a0[2], b2[3], (*c).s2_2[3]);
  (*c).s3_2[3] = fma(a0[3], b2[3], (*c).s3_2[3]);
  (*c).s2_2[2] = fma(a0[2], b2[2], (*c).s2_2[2]);
  (*c).s3_2[2] = fma(a0[3], b2[2], (*c).s3_2[2]);
  (*c).s2_2[1] = fma(a0[2], b2[1], (*c).s2_2[1]);
  (*c).s3_2[1] = fma(a0[3], b2[1], (*c).s3_2[1]);
  (*c).s2_2[0] = fma(a0[2], b2[0], (*c).s2_2[0]);
  (*c).s3_2[0] = fma(a0[3], b2[0], (*c).s3_2[0]);
  (*c).s2_1[3] = fma(a0[2], b1[3], (*c).s2_1[3]);
  (*c).s3_1[3] = fma(a0[3], b1[3], (*c).s3_1[3]);
  (*c).s2_1[2] = fma(a0[2], b1[2], (*c).s2_1[2]);
  (*c).s3_1[2] = fma(a0[3], b1[2], (*c).s3_1[2]);
  (*c).s2_1[1] = fma(a0[2], b1[1], (*c).s2_1[1]);
  (*c).s3_1[1] = fma(a0[3], b1[1], (*c).s3_1[1]);
  (*c).s2_1[0] = fma(a0[2], b1[0], (*c).s2_1[0]);
  (*c).s3_1[0] = fma(a0[3], b1[0], (*c).s3_1[0]);
  (*c).s2_0[3] = fma(a0[2], b0[3], (*c).s2_0[3]);
  (*c).s3_0[3] = fma(a0[3], b0[3], (*c).s3_0[3]);
  (*c).s2_0[2] = fma(a0[2], b0[2], (*c).s2_0[2]);
  (*c).s3_0[2] = fma(a0[3], b0[2], (*c).s3_0[2]);
  (*c).s2_0[1] = fma(a0[2], b0[1], (*c).s2_0[1]);
  (*c).s3_0[1] = fma(a0[3], b0[1], (*c).s3_0[1]);
  (*c).s2_0[0] = fma(a0[2], b0[0], (*c).s2_0[0]);
  (*c).s3_0[0] = fma(a0[3], b0[0], (*c).s3_0[0]);
}

@compute @workgroup_size(128)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let id = workgroup.x + workgroup.y * workgroups.x;
  if id >= p.workgroups {
    return;
  }
  let batch = id / p.row_tiles;
  let position = id % p.row_tiles;
  let row0 = position * 32u;
  var key_begin = 0u;
  var key_end = p.extent_3;
  let b0 = batch;
  let negative_infinity = -bitcast<f32>(fuse_inf_bits);
  let xa_base0 = (p.offset_0 + b0 * p.stride_0_0);
  let xa0_o = (local + 0u) / 8u;
  let xa0_k = ((local + 0u) % 8u) * 1u;
  let xa0_w = (xa0_o / 4u) ^ (xa0_k / 4u % 4u * 2u);
  var xa0_x0: f32;
  let xa1_o = (local + 128u) / 8u;
  let xa1_k = ((local + 128u) % 8u) * 1u;
  let xa1_w = (xa1_o / 4u) ^ (xa1_k / 4u % 4u * 2u);
  var xa1_x0: f32;
  let xb_base1 = (p.offset_1 + b0 * p.stride_1_0);
  let xb0_o = (local + 0u) / 8u;
  let xb0_k = ((local + 0u) % 8u) * 1u;
  let xb0_w = (xb0_o / 4u) ^ (xb0_k / 4u % 4u * 2u);
  var xb0_x1: f32;
  let xb1_o = (local + 128u) / 8u;
  let xb1_k = ((local + 128u) % 8u) * 1u;
  let xb1_w = (xb1_o / 4u) ^ (xb1_k / 4u % 4u * 2u);
  var xb1_x1: f32;
  let xb2_o = (local + 256u) / 8u;
  let xb2_k = ((local + 256u) % 8u) * 1u;
  let xb2_w = (xb2_o / 4u) ^ (xb2_k / 4u % 4u * 2u);
  var xb2_x1: f32;
  let xb3_o = (local + 384u) / 8u;
  let xb3_k = ((local + 384u) % 8u) * 1u;
  let xb3_w = (xb3_o / 4u) ^ (xb3_k / 4u % 4u * 2u);
  var xb3_x1: f32;
  let xc_base2 = (p.offset_2 + b0 * p.stride_2_0);
  let xc0_o = (local + 0u) / 8u;
  let xc0_k = ((local + 0u) % 8u) * 1u;
  let xc0_w = (xc0_o / 4u) ^ (xc0_k / 4u % 4u * 2u);
  var xc0_x2: f32;
  let xc1_o = (local + 128u) / 8u;
  let xc1_k = ((local + 128u) % 8u) * 1u;
  let xc1_w = (xc1_o / 4u) ^ (xc1_k / 4u % 4u * 2u);
  var xc1_x2: f32;
  let xd_base3 = (p.offset_3 + b0 * p.stride_3_0);
  let xd0_o = (local + 0u) / 8u;
  let xd0_k = ((local + 0u) % 8u) * 1u;
  let xd0_w = (xd0_o / 4u) ^ (xd0_k / 4u % 4u * 2u);
  var xd0_x3: f32;
  let xd1_o = (local + 128u) / 8u;
  let xd1_k = ((local + 128u) % 8u) * 1u;
  let xd1_w = (xd1_o / 4u) ^ (xd1_k / 4u % 4u * 2u);
  var xd1_x3: f32;
  let xd2_o = (local + 256u) / 8u;
  let xd2_k = ((local + 256u) % 8u) * 1u;
  let xd2_w = (xd2_o / 4u) ^ (xd2_k / 4u % 4u * 2u);
  var xd2_x3: f32;
  let xd3_o = (local + 384u) / 8u;
  let xd3_k = ((local + 384u) % 8u) * 1u;
  let xd3_w = (xd3_o / 4u) ^ (xd3_k / 4u % 4u * 2u);
  var xd3_x3: f32;
  let xv_base4 = (p.offset_4 + b0 * p.stride_4_0);
  let xv0_o = ((local + 0u) % 256u) * 1u;
  let xv0_k = (local + 0u) / 256u;
  let xv0_w = (xv0_o / 4u) ^ (xv0_k / 4u % 4u * 2u);
  var xv0_x4: f32;
  let xv1_o = ((local + 128u) % 256u) * 1u;
  let xv1_k = (local + 128u) / 256u;
  let xv1_w = (xv1_o / 4u) ^ (xv1_k / 4u % 4u * 2u);
  var xv1_x4: f32;
  let xv2_o = ((local + 256u) % 256u) * 1u;
  let xv2_k = (local + 256u) / 256u;
  let xv2_w = (xv2_o / 4u) ^ (xv2_k / 4u % 4u * 2u);
  var xv2_x4: f32;
  let xv3_o = ((local + 384u) % 256u) * 1u;
  let xv3_k = (local + 384u) / 256u;
  let xv3_w = (xv3_o / 4u) ^ (xv3_k / 4u % 4u * 2u);
  var xv3_x4: f32;
  let xv4_o = ((local + 512u) % 256u) * 1u;
  let xv4_k = (local + 512u) / 256u;
  let xv4_w = (xv4_o / 4u) ^ (xv4_k / 4u % 4u * 2u);
  var xv4_x4: f32;
  let xv5_o = ((local + 640u) % 256u) * 1u;
  let xv5_k = (local + 640u) / 256u;
  let xv5_w = (xv5_o / 4u) ^ (xv5_k / 4u % 4u * 2u);
  var xv5_x4: f32;
  let xv6_o = ((local + 768u) % 256u) * 1u;
  let xv6_k = (local + 768u) / 256u;
  let xv6_w = (xv6_o / 4u) ^ (xv6_k / 4u % 4u * 2u);
  var xv6_x4: f32;
  let xv7_o = ((local + 896u) % 256u) * 1u;
  let xv7_k = (local + 896u) / 256u;
  let xv7_w = (xv7_o / 4u) ^ (xv7_k / 4u % 4u * 2u);
  var xv7_x4: f32;
  let tx = local % 16u;
  let ty = local / 16u;
  let rows0 = ty + 0u;
  let tx0 = tx ^ 0u;
  let tx2 = tx ^ 2u;
  var o0 = Outputs();
  for (var k0 = key_begin; k0 < key_end; k0 += 64u) {
    var c0 = Products();
    if p.extent_4 > 0u {
      {
        let step = min(0u + xa0_k, p.extent_4 - 1u);
        let outer = min(row0 + xa0_o, p.extent_1 - 1u);
        xa0_x0 = in_0[xa_base0 + step * p.stride_0_2 + outer * p.stride_0_1];
      }
      {
        let step = min(0u + xa1_k, p.extent_4 - 1u);
        let outer = min(row0 + xa1_o, p.extent_1 - 1u);
        xa1_x0 = in_0[xa_base0 + step * p.stride_0_2 + outer * p.stride_0_1];
      }
      {
        let step = min(0u + xb0_k, p.extent_4 - 1u);
        let outer = min(k0 + xb0_o, p.extent_3 - 1u);
        xb0_x1 = in_1[xb_base1 + step * p.stride_1_1 + outer * p.stride_1_2];
      }
      {
        let step = min(0u + xb1_k, p.extent_4 - 1u);
        let outer = min(k0 + xb1_o, p.extent_3 - 1u);
        xb1_x1 = in_1[xb_base1 + step * p.stride_1_1 + outer * p.stride_1_2];
      }
      {
        let step = min(0u + xb2_k, p.extent_4 - 1u);
        let outer = min(k0 + xb2_o, p.extent_3 - 1u);
        xb2_x1 = in_1[xb_base1 + step * p.stride_1_1 + outer * p.stride_1_2];
      }
      {
        let step = min(0u + xb3_k, p.extent_4 - 1u);
        let outer = min(k0 + xb3_o, p.extent_3 - 1u);
        xb3_x1 = in_1[xb_base1 + step * p.stride_1_1 + outer * p.stride_1_2];
      }
    }
    for (var d0 = 0u; d0 < p.extent_4; d0 += 8u) {
      {
        let value = select(f32(), xa0_x0, d0 + xa0_k < p.extent_4);
        lhs_tile[0u + (xa0_k + 0u) * 8u + xa0_w][xa0_o % 4u] = value;
      }
      {
        let value = select(f32(), xa1_x0, d0 + xa1_k < p.extent_4);
        lhs_tile[0u + (xa1_k + 0u) * 8u + xa1_w][xa1_o % 4u] = value;
      }
      {
        let value = select(f32(), xb0_x1, d0 + xb0_k < p.extent_4);
        stage[0u + (xb0_k + 0u) * 16u + xb0_w][xb0_o % 4u] = value;
      }
      {
        let value = select(f32(), xb1_x1, d0 + xb1_k < p.extent_4);
        stage[0u + (xb1_k + 0u) * 16u + xb1_w][xb1_o % 4u] = value;
      }
      {
        let value = select(f32(), xb2_x1, d0 + xb2_k < p.extent_4);
        stage[0u + (xb2_k + 0u) * 16u + xb2_w][xb2_o % 4u] = value;
      }
      {
        let value = select(f32(), xb3_x1, d0 + xb3_k < p.extent_4);
        stage[0u + (xb3_k + 0u) * 16u + xb3_w][xb3_o % 4u] = value;
      }
      workgroupBarrier();
      if d0 + 8u < p.extent_4 {
        {
          let step = min(d0 + 8u + xa0_k, p.extent_4 - 1u);
          let outer = min(row0 + xa0_o, p.extent_1 - 1u);
          xa0_x0 = in_0[xa_base0 + step * p.stride_0_2 + outer * p.stride_0_1];
        }
        {
          let step = min(d0 + 8u + xa1_k, p.extent_4 - 1u);
          let outer = min(row0 + xa1_o, p.extent_1 - 1u);
          xa1_x0 = in_0[xa_base0 + step * p.stride_0_2 + outer * p.stride_0_1];
        }
        {
          let step = min(d0 + 8u + xb0_k, p.extent_4 - 1u);
          let outer = min(k0 + xb0_o, p.extent_3 - 1u);
          xb0_x1 = in_1[xb_base1 + step * p.stride_1_1 + outer * p.stride_1_2];
        }
        {
          let step = min(d0 + 8u + xb1_k, p.extent_4 - 1u);
          let outer = min(k0 + xb1_o, p.extent_3 - 1u);
          xb1_x1 = in_1[xb_base1 + step * p.stride_1_1 + outer * p.stride_1_2];
        }
        {
          let step = min(d0 + 8u + xb2_k, p.extent_4 - 1u);
          let outer = min(k0 + xb2_o, p.extent_3 - 1u);
          xb2_x1 = in_1[xb_base1 + step * p.stride_1_1 + outer * p.stride_1_2];
        }
        {
          let step = min(d0 + 8u + xb3_k, p.extent_4 - 1u);
          let outer = min(k0 + xb3_o, p.extent_3 - 1u);
          xb3_x1 = in_1[xb_base1 + step * p.stride_1_1 + outer * p.stride_1_2];
        }
      }
      let lhs0_0 = rows0 ^ 0u;
      let lhs0_2 = rows0 ^ 2u;
      add_products(&c0, lhs_tile[lhs0_0 + 0u], stage[tx0 + 0u]);
      add_products(&c0, lhs_tile[lhs0_0 + 8u], stage[tx0 + 16u]);
      add_products(&c0, lhs_tile[lhs0_0 + 16u], stage[tx0 + 32u]);
      add_products(&c0, lhs_tile[lhs0_0 + 24u], stage[tx0 + 48u]);
      add_products(&c0, lhs_tile[lhs0_2 + 32u], stage[tx2 + 64u]);
      add_products(&c0, lhs_tile[lhs0_2 + 40u], stage[tx2 + 80u]);
      add_products(&c0, lhs_tile[lhs0_2 + 48u], stage[tx2 + 96u]);
      add_products(&c0, lhs_tile[lhs0_2 + 56u], stage[tx2 + 112u]);
      workgroupBarrier();
    }
    var c1 = Products();
    if p.extent_5 > 0u {
      {
        let step = min(0u + xc0_k, p.extent_5 - 1u);
        let outer = min(row0 + xc0_o, p.extent_1 - 1u);
        xc0_x2 = in_2[xc_base2 + step * p.stride_2_2 + outer * p.stride_2_1];
      }
      {
        let step = min(0u + xc1_k, p.extent_5 - 1u);
        let outer = min(row0 + xc1_o, p.extent_1 - 1u);
        xc1_x2 = in_2[xc_base2 + step * p.stride_2_2 + outer * p.stride_2_1];
      }
      {
        let step = min(0u + xd0_k, p.extent_5 - 1u);
        let outer = min(k0 + xd0_o, p.extent_3 - 1u);
        xd0_x3 = in_3[xd_base3 + step * p.stride_3_1 + outer * p.stride_3_2];
      }
      {
        let step = min(0u + xd1_k, p.extent_5 - 1u);
        let outer = min(k0 + xd1_o, p.extent_3 - 1u);
        xd1_x3 = in_3[xd_base3 + step * p.stride_3_1 + outer * p.stride_3_2];
      }
      {
        let step = min(0u + xd2_k, p.extent_5 - 1u);
        let outer = min(k0 + xd2_o, p.extent_3 - 1u);
        xd2_x3 = in_3[xd_base3 + step * p.stride_3_1 + outer * p.stride_3_2];
      }
      {
        let step = min(0u + xd3_k, p.extent_5 - 1u);
        let outer = min(k0 + xd3_o, p.extent_3 - 1u);
        xd3_x3 = in_3[xd_base3 + step * p.stride_3_1 + outer * p.stride_3_2];
      }
    }
    for (var d0 = 0u; d0 < p.extent_5; d0 += 8u) {
      {
        let value = select(f32(), xc0_x2, d0 + xc0_k < p.extent_5);
        lhs_tile[0u + (xc0_k + 0u) * 8u + xc0_w][xc0_o % 4u] = value;
      }
      {
        let value = select(f32(), xc1_x2, d0 + xc1_k < p.extent_5);
        lhs_tile[0u + (xc1_k + 0u) * 8u + xc1_w][xc1_o % 4u] = value;
      }
      {
        let value = select(f32(), xd0_x3, d0 + xd0_k < p.extent_5);
        stage[0u + (xd0_k + 0u) * 16u + xd0_w][xd0_o % 4u] = value;
      }
      {
        let value = select(f32(), xd1_x3, d0 + xd1_k < p.extent_5);
        stage[0u + (xd1_k + 0u) * 16u + xd1_w][xd1_o % 4u] = value;
      }
      {
        let value = select(f32(), xd2_x3, d0 + xd2_k < p.extent_5);
        stage[0u + (xd2_k + 0u) * 16u + xd2_w][xd2_o % 4u] = value;
      }
      {
        let value = select(f32(), xd3_x3, d0 + xd3_k < p.extent_5);
        stage[0u + (xd3_k + 0u) * 16u + xd3_w][xd3_o % 4u] = value;
      }
      workgroupBarrier();
      if d0 + 8u < p.extent_5 {
        {
          let step = min(d0 + 8u + xc0_k, p.extent_5 - 1u);
          let outer = min(row0 + xc0_o, p.extent_1 - 1u);
          xc0_x2 = in_2[xc_base2 + step * p.stride_2_2 + outer * p.stride_2_1];
        }
        {
          let step = min(d0 + 8u + xc1_k, p.extent_5 - 1u);
          let outer = min(row0 + xc1_o, p.extent_1 - 1u);
          xc1_x2 = in_2[xc_base2 + step * p.stride_2_2 + outer * p.stride_2_1];
        }
        {
          let step = min(d0 + 8u + xd0_k, p.extent_5 - 1u);
          let outer = min(k0 + xd0_o, p.extent_3 - 1u);
          xd0_x3 = in_3[xd_base3 + step * p.stride_3_1 + outer * p.stride_3_2];
        }
        {
          let step = min(d0 + 8u + xd1_k, p.extent_5 - 1u);
          let outer = min(k0 + xd1_o, p.extent_3 - 1u);
          xd1_x3 = in_3[xd_base3 + step * p.stride_3_1 + outer * p.stride_3_2];
        }
        {
          let step = min(d0 + 8u + xd2_k, p.extent_5 - 1u);
          let outer = min(k0 + xd2_o, p.extent_3 - 1u);
          xd2_x3 = in_3[xd_base3 + step * p.stride_3_1 + outer * p.stride_3_2];
        }
        {
          let step = min(d0 + 8u + xd3_k, p.extent_5 - 1u);
          let outer = min(k0 + xd3_o, p.extent_3 - 1u);
          xd3_x3 = in_3[xd_base3 + step * p.stride_3_1 + outer * p.stride_3_2];
        }
      }
      let lhs0_0 = rows0 ^ 0u;
      let lhs0_2 = rows0 ^ 2u;
      add_products(&c1, lhs_tile[lhs0_0 + 0u], stage[tx0 + 0u]);
      add_products(&c1, lhs_tile[lhs0_0 + 8u], stage[tx0 + 16u]);
      add_products(&c1, lhs_tile[lhs0_0 + 16u], stage[tx0 + 32u]);
      add_products(&c1, lhs_tile[lhs0_0 + 24u], stage[tx0 + 48u]);
      add_products(&c1, lhs_tile[lhs0_2 + 32u], stage[tx2 + 64u]);
      add_products(&c1, lhs_tile[lhs0_2 + 40u], stage[tx2 + 80u]);
      add_products(&c1, lhs_tile[lhs0_2 + 48u], stage[tx2 + 96u]);
      add_products(&c1, lhs_tile[lhs0_2 + 56u], stage[tx2 + 112u]);
      workgroupBarrier();
    }
    var w0 = weights(b0, row0 + rows0 * 4u + 0u, k0 + tx * 4u, c0.s0_0, c1.s0_0);
    var w1 = weights(b0, row0 + rows0 * 4u + 1u, k0 + tx * 4u, c0.s1_0, c1.s1_0);
    var w2 = weights(b0, row0 + rows0 * 4u + 2u, k0 + tx * 4u, c0.s2_0, c1.s2_0);
    var w3 = weights(b0, row0 + rows0 * 4u + 3u, k0 + tx * 4u, c0.s3_0, c1.s3_0);
    if k0 + 64u > p.extent_3 {
      let exists = vec4<u32>(k0 + tx * 4u) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(p.extent_3);
      w0.w0 = select(vec4<f32>(), w0.w0, exists);
      w1.w0 = select(vec4<f32>(), w1.w0, exists);
      w2.w0 = select(vec4<f32>(), w2.w0, exists);
      w3.w0 = select(vec4<f32>(), w3.w0, exists);
    }
    {
      let step = min(k0 + xv0_k, p.extent_3 - 1u);
      let outer = min(0u + xv0_o, p.extent_2 - 1u);
      xv0_x4 = in_1[xv_base4 + step * p.stride_4_1 + outer * p.stride_4_2];
    }
    {
      let step = min(k0 + xv1_k, p.extent_3 - 1u);
      let outer = min(0u + xv1_o, p.extent_2 - 1u);
      xv1_x4 = in_1[xv_base4 + step * p.stride_4_1 + outer * p.stride_4_2];
    }
    {
      let step = min(k0 + xv2_k, p.extent_3 - 1u);
      let outer = min(0u + xv2_o, p.extent_2 - 1u);
      xv2_x4 = in_1[xv_base4 + step * p.stride_4_1 + outer * p.stride_4_2];
    }
    {
      let step = min(k0 + xv3_k, p.extent_3 - 1u);
      let outer = min(0u + xv3_o, p.extent_2 - 1u);
      xv3_x4 = in_1[xv_base4 + step * p.stride_4_1 + outer * p.stride_4_2];
    }
    {
      let step = min(k0 + xv4_k, p.extent_3 - 1u);
      let outer = min(0u + xv4_o, p.extent_2 - 1u);
      xv4_x4 = in_1[xv_base4 + step * p.stride_4_1 + outer * p.stride_4_2];
    }
    {
      let step = min(k0 + xv5_k, p.extent_3 - 1u);
      let outer = min(0u + xv5_o, p.extent_2 - 1u);
      xv5_x4 = in_1[xv_base4 + step * p.stride_4_1 + outer * p.stride_4_2];
    }
    {
      let step = min(k0 + xv6_k, p.extent_3 - 1u);
      let outer = min(0u + xv6_o, p.extent_2 - 1u);
      xv6_x4 = in_1[xv_base4 + step * p.stride_4_1 + outer * p.stride_4_2];
    }
    {
      let step = min(k0 + xv7_k, p.extent_3 - 1u);
      let outer = min(0u + xv7_o, p.extent_2 - 1u);
      xv7_x4 = in_1[xv_base4 + step * p.stride_4_1 + outer * p.stride_4_2];
    }
    let weight0_0 = rows0 ^ (tx % 8u);
    weight_tile[(tx * 4u + 0u) * 8u + weight0_0] = vec4<f32>(w0.w0[0], w1.w0[0], w2.w0[0], w3.w0[0]);
    weight_tile[(tx * 4u + 1u) * 8u + weight0_0] = vec4<f32>(w0.w0[1], w1.w0[1], w2.w0[1], w3.w0[1]);
    weight_tile[(tx * 4u + 2u) * 8u + weight0_0] = vec4<f32>(w0.w0[2], w1.w0[2], w2.w0[2], w3.w0[2]);
    weight_tile[(tx * 4u + 3u) * 8u + weight0_0] = vec4<f32>(w0.w0[3], w1.w0[3], w2.w0[3], w3.w0[3]);
    for (var v0 = 0u; v0 < 64u && k0 + v0 < key_end; v0 += 4u) {
      {
        let value = select(f32(), xv0_x4, k0 + v0 + xv0_k < p.extent_3);
        stage[0u + (xv0_k + 0u) * 64u + xv0_w][xv0_o % 4u] = value;
      }
      {
        let value = select(f32(), xv1_x4, k0 + v0 + xv1_k < p.extent_3);
        stage[0u + (xv1_k + 0u) * 64u + xv1_w][xv1_o % 4u] = value;
      }
      {
        let value = select(f32(), xv2_x4, k0 + v0 + xv2_k < p.extent_3);
        stage[0u + (xv2_k + 0u) * 64u + xv2_w][xv2_o % 4u] = value;
      }
      {
        let value = select(f32(), xv3_x4, k0 + v0 + xv3_k < p.extent_3);
        stage[0u + (xv3_k + 0u) * 64u + xv3_w][xv3_o % 4u] = value;
      }
      {
        let value = select(f32(), xv4_x4, k0 + v0 + xv4_k < p.extent_3);
        stage[0u + (xv4_k + 0u) * 64u + xv4_w][xv4_o % 4u] = value;
      }
      {
        let value = select(f32(), xv5_x4, k0 + v0 + xv5_k < p.extent_3);
        stage[0u + (xv5_k + 0u) * 64u + xv5_w][xv5_o % 4u] = value;
      }
      {
        let value = select(f32(), xv6_x4, k0 + v0 + xv6_k < p.extent_3);
        stage[0u + (xv6_k + 0u) * 64u + xv6_w][xv6_o % 4u] = value;
      }
      {
        let value = select(f32(), xv7_x4, k0 + v0 + xv7_k < p.extent_3);
        stage[0u + (xv7_k + 0u) * 64u + xv7_w][xv7_o % 4u] = value;
      }
      workgroupBarrier();
      if v0 + 4u < 64u && k0 + v0 + 4u < key_end {
        {
          let step = min(k0 + v0 + 4u + xv0_k, p.extent_3 - 1u);
          let outer = min(0u + xv0_o, p.extent_2 - 1u);
          xv0_x4 = in_1[xv_base4 + step * p.stride_4_1 + outer * p.stride_4_2];
        }
        {
          let step = min(k0 + v0 + 4u + xv1_k, p.extent_3 - 1u);
          let outer = min(0u + xv1_o, p.extent_2 - 1u);
          xv1_x4 = in_1[xv_base4 + step * p.stride_4_1 + outer * p.stride_4_2];
        }
        {
          let step = min(k0 + v0 + 4u + xv2_k, p.extent_3 - 1u);
          let outer = min(0u + xv2_o, p.extent_2 - 1u);
          xv2_x4 = in_1[xv_base4 + step * p.stride_4_1 + outer * p.stride_4_2];
        }
        {
          let step = min(k0 + v0 + 4u + xv3_k, p.extent_3 - 1u);
          let outer = min(0u + xv3_o, p.extent_2 - 1u);
          xv3_x4 = in_1[xv_base4 + step * p.stride_4_1 + outer * p.stride_4_2];
        }
        {
          let step = min(k0 + v0 + 4u + xv4_k, p.extent_3 - 1u);
          let outer = min(0u + xv4_o, p.extent_2 - 1u);
          xv4_x4 = in_1[xv_base4 + step * p.stride_4_1 + outer * p.stride_4_2];
        }
        {
          let step = min(k0 + v0 + 4u + xv5_k, p.extent_3 - 1u);
          let outer = min(0u + xv5_o, p.extent_2 - 1u);
          xv5_x4 = in_1[xv_base4 + step * p.stride_4_1 + outer * p.stride_4_2];
        }
        {
          let step = min(k0 + v0 + 4u + xv6_k, p.extent_3 - 1u);
          let outer = min(0u + xv6_o, p.extent_2 - 1u);
          xv6_x4 = in_1[xv_base4 + step * p.stride_4_1 + outer * p.stride_4_2];
        }
        {
          let step = min(k0 + v0 + 4u + xv7_k, p.extent_3 - 1u);
          let outer = min(0u + xv7_o, p.extent_2 - 1u);
          xv7_x4 = in_1[xv_base4 + step * p.stride_4_1 + outer * p.stride_4_2];
        }
      }
      let at0_0 = v0 * 8u + (rows0 ^ ((v0 / 4u + 0u) % 8u));
      add_outputs(&o0, weight_tile[at0_0 + 0u], stage[tx0 + 0u], stage[tx0 + 16u], stage[tx0 + 32u], stage[tx0 + 48u]);
      add_outputs(&o0, weight_tile[at0_0 + 8u], stage[tx0 + 64u], stage[tx0 + 80u], stage[tx0 + 96u], stage[tx0 + 112u]);
      add_outputs(&o0, weight_tile[at0_0 + 16u], stage[tx0 + 128u], stage[tx0 + 144u], stage[tx0 + 160u], stage[tx0 + 176u]);
      add_outputs(&o0, weight_tile[at0_0 + 24u], stage[tx0 + 192u], stage[tx0 + 208u], stage[tx0 + 224u], stage[tx0 + 240u]);
      workgroupBarrier();
    }
  }
  finish_four(batch, b0, row0 + rows0 * 4u + 0u, (tx + 0u) * 4u, o0.s0_0);
  finish_four(batch, b0, row0 + rows0 * 4u + 0u, (tx + 16u) * 4u, o0.s0_1);
  finish_four(batch, b0, row0 + rows0 * 4u + 0u, (tx + 32u) * 4u, o0.s0_2);
  finish_four(batch, b0, row0 + rows0 * 4u + 0u, (tx + 48u) * 4u, o0.s0_3);
  finish_four(batch, b0, row0 + rows0 * 4u + 1u, (tx + 0u) * 4u, o0.s1_0);
  finish_four(batch, b0, row0 + rows0 * 4u + 1u, (tx + 16u) * 4u, o0.s1_1);
  finish_four(batch, b0, row0 + rows0 * 4u + 1u, (tx + 32u) * 4u, o0.s1_2);
  finish_four(batch, b0, row0 + rows0 * 4u + 1u, (tx + 48u) * 4u, o0.s1_3);
  finish_four(batch, b0, row0 + rows0 * 4u + 2u, (tx + 0u) * 4u, o0.s2_0);
  finish_four(batch, b0, row0 + rows0 * 4u + 2u, (tx + 16u) * 4u, o0.s2_1);
  finish_four(batch, b0, row0 + rows0 * 4u + 2u, (tx + 32u) * 4u, o0.s2_2);
  finish_four(batch, b0, row0 + rows0 * 4u + 2u, (tx + 48u) * 4u, o0.s2_3);
  finish_four(batch, b0, row0 + rows0 * 4u + 3u, (tx + 0u) * 4u, o0.s3_0);
  finish_four(batch, b0, row0 + rows0 * 4u + 3u, (tx + 16u) * 4u, o0.s3_1);
  finish_four(batch, b0, row0 + rows0 * 4u + 3u, (tx + 32u) * 4u, o0.s3_2);
  finish_four(batch, b0, row0 + rows0 * 4u + 3u, (tx + 48u) * 4u, o0.s3_3);
}
