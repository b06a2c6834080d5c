enable f16;

struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  offset_3: u32,
  stride_3_1: u32,
  workgroups: u32,
  row_tiles: u32,
  column_tiles: u32,
  offset_0: u32,
  stride_0_0: u32,
  stride_0_1: u32,
  size_11: u32,
  offset_1: u32,
  stride_1_0: u32,
  stride_1_1: u32,
  offset_2: u32,
  stride_2_0: u32,
  stride_2_1: u32,
  size_18: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f16>;
@group(0) @binding(2) var<storage, read> in_1: array<u32>;
@group(0) @binding(3) var<storage, read> scales_1: array<u32>;
@group(0) @binding(4) var<storage, read> in_3: array<f16>;
@group(0) @binding(5) var<storage, read_write> out_0: array<f16>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

const fuse_fast_math = false;
fn fuse_is_nan1(x: f32) -> bool {
  return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
}
fn fuse_relu1(x: f32) -> f32 {
  if fuse_fast_math {
    return max(x, f32(0.0));
  }
  return select(max(x, f32(0.0)), x, fuse_is_nan1(x));
}
fn finish(batch: u32, row: u32, column: u32, sum: f32) {
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let x3 = f32(in_3[p.offset_3 + column * p.stride_3_1]);
  let v0 = sum;
  let v1 = x3;
  let v2 = v0 + v1;
  let v3 = fuse_relu1(v2);
  let at = (batch * p.extent_0 + row) * p.extent_1 + column;
  out_0[at] = f16(v3);
}
var<workgroup> lhs_tile: array<vec4<f32>, 144>;
var<workgroup> rhs_tile: array<vec4<f32>, 144>;
struct Sums {
  s0_0: vec4<f32>,
  s1_0: vec4<f32>,
  s2_0: vec4<f32>,
  s3_0: vec4<f32>,
}
fn update(c: ptr<function, Sums>, a0: vec4<f32>, b0: vec4<f32>) {
  (*c).s0_0 = fma(vec4<f32>(a0[0]), b0, (*c).s0_0);
  (*c).s1_0 = fma(vec4<f32>(a0[1]), b0, (*c).s1_0);
  (*c).s2_0 = fma(vec4<f32>(a0[2]), b0, (*c).s2_0);
  (*c).s3_0 = fma(vec4<f32>(a0[3]), b0, (*c).s3_0);
}
fn put_lhs_tile(outer: u32, depth: u32, value: f32) {
  lhs_tile[(depth + 0u) * 9u + outer / 4u][outer % 4u] = value;
}
const fuse_wide_scales_1 = false;
fn scale_1(at: u32) -> vec2<f32> {
  if fuse_wide_scales_1 {
    return bitcast<vec2<f32>>(vec2<u32>(scales_1[2u * at], scales_1[2u * at + 1u]));
  }
  return unpack2x16float(scales_1[at]);
}
fn dequantize_1(words: u32, words_step: u32, scales: u32, scales_step: u32, index: u32, group: u32) -> f32 {
  let bit = index % 32u * 3u;
  let first = words + index / 32u * (3u * words_step);
  let low = in_1[first + bit / 32u * words_step] >> (bit % 32u);
  let next = in_1[first + min(bit / 32u + 1u, 2u) * words_step];
  let packed = low | ((next << 1u) << (31u - bit % 32u));
  let scale = scale_1(scales + index / group * scales_step);
  return f32(packed & 7u) * scale.x + scale.y;
}
fn put_rhs_tile(outer: u32, depth: u32, value: f32) {
  rhs_tile[(depth + 0u) * 9u + outer / 4u][outer % 4u] = value;
}
fn finish_each(batch: u32, row: u32, column: u32, sum: vec4<f32>) {
  finish(batch, row, column, sum.x);
  finish(batch, row, column + 1u, sum.y);
  finish(batch, row, column + 2u, sum.z);
  finish(batch, row, column + 3u, sum.w);
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
  let row0 = tile / p.column_tiles * 32u;
  let column0 = tile % p.column_tiles * 32u;
  let tx = local % 8u;
  let ty = local / 8u;
  var c = Sums();
  let a0_o = (local + 0u) / 16u;
  let a0_k = ((local + 0u) % 16u) * 1u;
  let a0_at = min(row0 + a0_o, p.extent_0 - 1u);
  let a0_base0 = (p.offset_0 + a0_at * p.stride_0_0);
  var a0_x0: f32;
  let a1_o = (local + 64u) / 16u;
  let a1_k = ((local + 64u) % 16u) * 1u;
  let a1_at = min(row0 + a1_o, p.extent_0 - 1u);
  let a1_base0 = (p.offset_0 + a1_at * p.stride_0_0);
  var a1_x0: f32;
  let a2_o = (local + 128u) / 16u;
  let a2_k = ((local + 128u) % 16u) * 1u;
  let a2_at = min(row0 + a2_o, p.extent_0 - 1u);
  let a2_base0 = (p.offset_0 + a2_at * p.stride_0_0);
  var a2_x0: f32;
  let a3_o = (local + 192u) / 16u;
  let a3_k = ((local + 192u) % 16u) * 1u;
  let a3_at = min(row0 + a3_o, p.extent_0 - 1u);
  let a3_base0 = (p.offset_0 + a3_at * p.stride_0_0);
  var a3_x0: f32;
  let a4_o = (local + 256u) / 16u;
  let a4_k = ((local + 256u) % 16u) * 1u;
  let a4_at = min(row0 + a4_o, p.extent_0 - 1u);
  let a4_base0 = (p.offset_0 + a4_at * p.stride_0_0);
  var a4_x0: f32;
  let a5_o = (local + 320u) / 16u;
  let a5_k = ((local + 320u) % 16u) * 1u;
  let a5_at = min(row0 + a5_o, p.extent_0 - 1u);
  let a5_base0 = (p.offset_0 + a5_at * p.stride_0_0);
  var a5_x0: f32;
  let a6_o = (local + 384u) / 16u;
  let a6_k = ((local + 384u) % 16u) * 1u;
  let a6_at = min(row0 + a6_o, p.extent_0 - 1u);
  let a6_base0 = (p.offset_0 + a6_at * p.stride_0_0);
  var a6_x0: f32;
  let a7_o = (local + 448u) / 16u;
  let a7_k = ((local + 448u) % 16u) * 1u;
  let a7_at = min(row0 + a7_o, p.extent_0 - 1u);
  let a7_base0 = (p.offset_0 + a7_at * p.stride_0_0);
  var a7_x0: f32;
  let w0_0_o = (local + 0u) / 16u;
  let w0_0_k = ((local + 0u) % 16u) * 1u;
  let w0_0_at = min(column0 + w0_0_o, p.extent_1 - 1u);
  let w0_1_o = (local + 64u) / 16u;
  let w0_1_k = ((local + 64u) % 16u) * 1u;
  let w0_1_at = min(column0 + w0_1_o, p.extent_1 - 1u);
  let w0_2_o = (local + 128u) / 16u;
  let w0_2_k = ((local + 128u) % 16u) * 1u;
  let w0_2_at = min(column0 + w0_2_o, p.extent_1 - 1u);
  let w0_3_o = (local + 192u) / 16u;
  let w0_3_k = ((local + 192u) % 16u) * 1u;
  let w0_3_at = min(column0 + w0_3_o, p.extent_1 - 1u);
  let w0_4_o = (local + 256u) / 16u;
  let w0_4_k = ((local + 256u) % 16u) * 1u;
  let w0_4_at = min(column0 + w0_4_o, p.extent_1 - 1u);
  let w0_5_o = (local + 320u) / 16u;
  let w0_5_k = ((local + 320u) % 16u) * 1u;
  let w0_5_at = min(column0 + w0_5_o, p.extent_1 - 1u);
  let w0_6_o = (local + 384u) / 16u;
  let w0_6_k = ((local + 384u) % 16u) * 1u;
  let w0_6_at = min(column0 + w0_6_o, p.extent_1 - 1u);
  let w0_7_o = (local + 448u) / 16u;
  let w0_7_k = ((local + 448u) % 16u) * 1u;
  let w0_7_at = min(column0 + w0_7_o, p.extent_1 - 1u);
  if k_begin < k_end {
    let a0_depth = min(k_begin + a0_k, k_end - 1u);
    a0_x0 = f32(in_0[a0_base0 + a0_depth * p.stride_0_1]);
    let a1_depth = min(k_begin + a1_k, k_end - 1u);
    a1_x0 = f32(in_0[a1_base0 + a1_depth * p.stride_0_1]);
    let a2_depth = min(k_begin + a2_k, k_end - 1u);
    a2_x0 = f32(in_0[a2_base0 + a2_depth * p.stride_0_1]);
    let a3_depth = min(k_begin + a3_k, k_end - 1u);
    a3_x0 = f32(in_0[a3_base0 + a3_depth * p.stride_0_1]);
    let a4_depth = min(k_begin + a4_k, k_end - 1u);
    a4_x0 = f32(in_0[a4_base0 + a4_depth * p.stride_0_1]);
    let a5_depth = min(k_begin + a5_k, k_end - 1u);
    a5_x0 = f32(in_0[a5_base0 + a5_depth * p.stride_0_1]);
    let a6_depth = min(k_begin + a6_k, k_end - 1u);
    a6_x0 = f32(in_0[a6_base0 + a6_depth * p.stride_0_1]);
    let a7_depth = min(k_begin + a7_k, k_end - 1u);
    a7_x0 = f32(in_0[a7_base0 + a7_depth * p.stride_0_1]);
    let w0_0_depth = min(k_begin + w0_0_k, k_end - 1u);
    let w0_1_depth = min(k_begin + w0_1_k, k_end - 1u);
    let w0_2_depth = min(k_begin + w0_2_k, k_end - 1u);
    let w0_3_depth = min(k_begin + w0_3_k, k_end - 1u);
    let w0_4_depth = min(k_begin + w0_4_k, k_end - 1u);
    let w0_5_depth = min(k_begin + w0_5_k, k_end - 1u);
    let w0_6_depth = min(k_begin + w0_6_k, k_end - 1u);
    let w0_7_depth = min(k_begin + w0_7_k, k_end - 1u);
  }
  for (var k0 = k_begin; k0 < k_end; k0 += 16u) {
    put_lhs_tile(a0_o, a0_k, select(f32(), a0_x0, k0 + a0_k < k_end));
    put_lhs_tile(a1_o, a1_k, select(f32(), a1_x0, k0 + a1_k < k_end));
    put_lhs_tile(a2_o, a2_k, select(f32(), a2_x0, k0 + a2_k < k_end));
    put_lhs_tile(a3_o, a3_k, select(f32(), a3_x0, k0 + a3_k < k_end));
    put_lhs_tile(a4_o, a4_k, select(f32(), a4_x0, k0 + a4_k < k_end));
    put_lhs_tile(a5_o, a5_k, select(f32(), a5_x0, k0 + a5_k < k_end));
    put_lhs_tile(a6_o, a6_k, select(f32(), a6_x0, k0 + a6_k < k_end));
    put_lhs_tile(a7_o, a7_k, select(f32(), a7_x0, k0 + a7_k < k_end));
    {
      let w0_0 = i32(k0 + w0_0_k);
      let w0_1 = i32(p.size_11);
      let w0_3 = w0_1 - 1i;
      let w0_4 = min(w0_0, w0_3);
      let w0_5 = dequantize_1(p.offset_1 + min(k0 + w0_0_k, p.extent_2 - 1u) * p.stride_1_0 + min(column0 + w0_0_o, p.extent_1 - 1u) * p.stride_1_1, 1u, p.offset_2 + min(k0 + w0_0_k, p.extent_2 - 1u) * p.stride_2_0 + min(column0 + w0_0_o, p.extent_1 - 1u) * p.stride_2_1, 1u, u32(w0_4), p.size_18);
      let w0_6 = f32(f16(w0_5));
      put_rhs_tile(w0_0_o, w0_0_k, select(f32(), w0_6, k0 + w0_0_k < k_end));
    }
    {
      let w0_0 = i32(k0 + w0_1_k);
      let w0_1 = i32(p.size_11);
      let w0_3 = w0_1 - 1i;
      let w0_4 = min(w0_0, w0_3);
      let w0_5 = dequantize_1(p.offset_1 + min(k0 + w0_1_k, p.extent_2 - 1u) * p.stride_1_0 + min(column0 + w0_1_o, p.extent_1 - 1u) * p.stride_1_1, 1u, p.offset_2 + min(k0 + w0_1_k, p.extent_2 - 1u) * p.stride_2_0 + min(column0 + w0_1_o, p.extent_1 - 1u) * p.stride_2_1, 1u, u32(w0_4), p.size_18);
      let w0_6 = f32(f16(w0_5));
      put_rhs_tile(w0_1_o, w0_1_k, select(f32(), w0_6, k0 + w0_1_k < k_end));
    }
    {
      let w0_0 = i32(k0 + w0_2_k);
      let w0_1 = i32(p.size_11);
      let w0_3 = w0_1 - 1i;
      let w0_4 = min(w0_0, w0_3);
      let w0_5 = dequantize_1(p.offset_1 + min(k0 + w0_2_k, p.extent_2 - 1u) * p.stride_1_0 + min(column0 + w0_2_o, p.extent_1 - 1u) * p.stride_1_1, 1u, p.offset_2 + min(k0 + w0_2_k, p.extent_2 - 1u) * p.stride_2_0 + min(column0 + w0_2_o, p.extent_1 - 1u) * p.stride_2_1, 1u, u32(w0_4), p.size_18);
      let w0_6 = f32(f16(w0_5));
      put_rhs_tile(w0_2_o, w0_2_k, select(f32(), w0_6, k0 + w0_2_k < k_end));
    }
    {
      let w0_0 = i32(k0 + w0_3_k);
      let w0_1 = i32(p.size_11);
      let w0_3 = w0_1 - 1i;
      let w0_4 = min(w0_0, w0_3);
      let w0_5 = dequantize_1(p.offset_1 + min(k0 + w0_3_k, p.extent_2 - 1u) * p.stride_1_0 + min(column0 + w0_3_o, p.extent_1 - 1u) * p.stride_1_1, 1u, p.offset_2 + min(k0 + w0_3_k, p.extent_2 - 1u) * p.stride_2_0 + min(column0 + w0_3_o, p.extent_1 - 1u) * p.stride_2_1, 1u, u32(w0_4), p.size_18);
      let w0_6 = f32(f16(w0_5));
      put_rhs_tile(w0_3_o, w0_3_k, select(f32(), w0_6, k0 + w0_3_k < k_end));
    }
    {
      let w0_0 = i32(k0 + w0_4_k);
      let w0_1 = i32(p.size_11);
      let w0_3 = w0_1 - 1i;
      let w0_4 = min(w0_0, w0_3);
      let w0_5 = dequantize_1(p.offset_1 + min(k0 + w0_4_k, p.extent_2 - 1u) * p.stride_1_0 + min(column0 + w0_4_o, p.extent_1 - 1u) * p.stride_1_1, 1u, p.offset_2 + min(k0 + w0_4_k, p.extent_2 - 1u) * p.stride_2_0 + min(column0 + w0_4_o, p.extent_1 - 1u) * p.stride_2_1, 1u, u32(w0_4), p.size_18);
      let w0_6 = f32(f16(w0_5));
      put_rhs_tile(w0_4_o, w0_4_k, select(f32(), w0_6, k0 + w0_4_k < k_end));
    }
    {
      let w0_0 = i32(k0 + w0_5_k);
      let w0_1 = i32(p.size_11);
      let w0_3 = w0_1 - 1i;
      let w0_4 = min(w0_0, w0_3);
      let w0_5 = dequantize_1(p.offset_1 + min(k0 + w0_5_k, p.extent_2 - 1u) * p.stride_1_0 + min(column0 + w0_5_o, p.extent_1 - 1u) * p.stride_1_1, 1u, p.offset_2 + min(k0 + w0_5_k, p.extent_2 - 1u) * p.stride_2_0 + min(column0 + w0_5_o, p.extent_1 - 1u) * p.stride_2_1, 1u, u32(w0_4), p.size_18);
      let w0_6 = f32(f16(w0_5));
      put_rhs_tile(w0_5_o, w0_5_k, select(f32(), w0_6, k0 + w0_5_k < k_end));
    }
    {
      let w0_0 = i32(k0 + w0_6_k);
      let w0_1 = i32(p.size_11);
      let w0_3 = w0_1 - 1i;
      let w0_4 = min(w0_0, w0_3);
      let w0_5 = dequantize_1(p.offset_1 + min(k0 + w0_6_k, p.extent_2 - 1u) * p.stride_1_0 + min(column0 + w0_6_o, p.extent_1 - 1u) * p.stride_1_1, 1u, p.offset_2 + min(k0 + w0_6_k, p.extent_2 - 1u) * p.stride_2_0 + min(column0 + w0_6_o, p.extent_1 - 1u) * p.stride_2_1, 1u, u32(w0_4), p.size_18);
      let w0_6 = f32(f16(w0_5));
      put_rhs_tile(w0_6_o, w0_6_k, select(f32(), w0_6, k0 + w0_6_k < k_end));
    }
    {
      let w0_0 = i32(k0 + w0_7_k);
      let w0_1 = i32(p.size_11);
      let w0_3 = w0_1 - 1i;
      let w0_4 = min(w0_0, w0_3);
      let w0_5 = dequantize_1(p.offset_1 + min(k0 + w0_7_k, p.extent_2 - 1u) * p.stride_1_0 + min(column0 + w0_7_o, p.extent_1 - 1u) * p.stride_1_1, 1u, p.offset_2 + min(k0 + w0_7_k, p.extent_2 - 1u) * p.stride_2_0 + min(column0 + w0_7_o, p.extent_1 - 1u) * p.stride_2_1, 1u, u32(w0_4), p.size_18);
      let w0_6 = f32(f16(w0_5));
      put_rhs_tile(w0_7_o, w0_7_k, select(f32(), w0_6, k0 + w0_7_k < k_end));
    }
    workgroupBarrier();
    if k0 + 16u < k_end {
      let a0_depth = min(k0 + 16u + a0_k, k_end - 1u);
      a0_x0 = f32(in_0[a0_base0 + a0_depth * p.stride_0_1]);
      let a1_depth = min(k0 + 16u + a1_k, k_end - 1u);
      a1_x0 = f32(in_0[a1_base0 + a1_depth * p.stride_0_1]);
      let a2_depth = min(k0 + 16u + a2_k, k_end - 1u);
      a2_x0 = f32(in_0[a2_base0 + a2_depth * p.stride_0_1]);
      let a3_depth = min(k0 + 16u + a3_k, k_end - 1u);
      a3_x0 = f32(in_0[a3_base0 + a3_depth * p.stride_0_1]);
      let a4_depth = min(k0 + 16u + a4_k, k_end - 1u);
      a4_x0 = f32(in_0[a4_base0 + a4_depth * p.stride_0_1]);
      let a5_depth = min(k0 + 16u + a5_k, k_end - 1u);
      a5_x0 = f32(in_0[a5_base0 + a5_depth * p.stride_0_1]);
      let a6_depth = min(k0 + 16u + a6_k, k_end - 1u);
      a6_x0 = f32(in_0[a6_base0 + a6_depth * p.stride_0_1]);
      let a7_depth = min(k0 + 16u + a7_k, k_end - 1u);
      a7_x0 = f32(in_0[a7_base0 + a7_depth * p.stride_0_1]);
      let w0_0_depth = min(k0 + 16u + w0_0_k, k_end - 1u);
      let w0_1_depth = min(k0 + 16u + w0_1_k, k_end - 1u);
      let w0_2_depth = min(k0 + 16u + w0_2_k, k_end - 1u);
      let w0_3_depth = min(k0 + 16u + w0_3_k, k_end - 1u);
      let w0_4_depth = min(k0 + 16u + w0_4_k, k_end - 1u);
      let w0_5_depth = min(k0 + 16u + w0_5_k, k_end - 1u);
      let w0_6_depth = min(k0 + 16u + w0_6_k, k_end - 1u);
      let w0_7_depth = min(k0 + 16u + w0_7_k, k_end - 1u);
    }
    update(&c, lhs_tile[ty + 0u], rhs_tile[tx + 0u]);
    update(&c, lhs_tile[ty + 9u], rhs_tile[tx + 9u]);
    update(&c, lhs_tile[ty + 18u], rhs_tile[tx + 18u]);
    update(&c, lhs_tile[ty + 27u], rhs_tile[tx + 27u]);
    update(&c, lhs_tile[ty + 36u], rhs_tile[tx + 36u]);
    update(&c, lhs_tile[ty + 45u], rhs_tile[tx + 45u]);
    update(&c, lhs_tile[ty + 54u], rhs_tile[tx + 54u]);
    update(&c, lhs_tile[ty + 63u], rhs_tile[tx + 63u]);
    update(&c, lhs_tile[ty + 72u], rhs_tile[tx + 72u]);
    update(&c, lhs_tile[ty + 81u], rhs_tile[tx + 81u]);
    update(&c, lhs_tile[ty + 90u], rhs_tile[tx + 90u]);
    update(&c, lhs_tile[ty + 99u], rhs_tile[tx + 99u]);
    update(&c, lhs_tile[ty + 108u], rhs_tile[tx + 108u]);
    update(&c, lhs_tile[ty + 117u], rhs_tile[tx + 117u]);
    update(&c, lhs_tile[ty + 126u], rhs_tile[tx + 126u]);
    update(&c, lhs_tile[ty + 135u], rhs_tile[tx + 135u]);
    workgroupBarrier();
  }
  finish_each(batch, row0 + ty * 4u, column0 + tx * 4u, c.s0_0);
  finish_each(batch, row0 + ty * 4u + 1u, column0 + tx * 4u, c.s1_0);
  finish_each(batch, row0 + ty * 4u + 2u, column0 + tx * 4u, c.s2_0);
  finish_each(batch, row0 + ty * 4u + 3u, column0 + tx * 4u, c.s3_0);
}
