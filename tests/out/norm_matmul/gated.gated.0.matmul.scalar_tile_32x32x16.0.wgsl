enable f16;

struct Params {
  extent_1: u32,
  extent_2: u32,
  extent_3: u32,
  workgroups: u32,
  row_tiles: u32,
  column_tiles: u32,
  offset_0: u32,
  stride_0_0: u32,
  stride_0_1: u32,
  stride_0_2: u32,
  size_10: u32,
  offset_1: u32,
  offset_2: u32,
  offset_3: u32,
  stride_3_2: u32,
  offset_4: u32,
  stride_4_2: u32,
  stride_1_2: u32,
  stride_2_2: u32,
  stride_3_1: u32,
  stride_4_1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f16>;
@group(0) @binding(2) var<storage, read> in_1: array<f16>;
@group(0) @binding(3) var<storage, read> in_2: array<f16>;
@group(0) @binding(4) var<storage, read> in_3: array<f16>;
@group(0) @binding(5) var<storage, read> in_4: array<f16>;
@group(0) @binding(6) var<storage, read_write> out_0: array<f16>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

const fuse_fast_math = false;
fn fuse_sigmoid1(x: f32) -> f32 {
  return f32(1.0) / (f32(1.0) + exp(-x));
}
fn fuse_silu1(x: f32) -> f32 {
  return x * fuse_sigmoid1(x);
}
fn fuse_hidden1(x: f32, opaque: u32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ u32(opaque));
}
fn fuse_lost1(a: f32, b: f32, s: f32) -> f32 {
  let ordered = abs(a) >= abs(b);
  return (select(b, a, ordered) - s) + select(a, b, ordered);
}
fn fuse_is_nan1(x: f32) -> bool {
  return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
}
fn fuse_restored1(sum: f32, lost: f32) -> f32 {
  return select(sum + lost, sum, fuse_is_nan1(lost));
}
fn fuse_is_zero1(x: f32) -> bool {
  return ((bitcast<u32>(x) << u32(1u)) == u32(0u)) | (x == f32(0.0));
}
fn fuse_rsqrt1(x: f32) -> f32 {
  if fuse_fast_math {
    return inverseSqrt(x);
  }
  let infinity = bitcast<f32>((bitcast<u32>(x) & u32(0x80000000u)) | u32(fuse_inf_bits));
  return select(inverseSqrt(x), infinity, fuse_is_zero1(x));
}
fn finish(batch: u32, b0: u32, row: u32, column: u32, sum0: f32, sum1: f32) {
  if row >= p.extent_1 || column >= p.extent_2 {
    return;
  }
  let v0 = sum0;
  let v1 = fuse_silu1(v0);
  let v2 = sum1;
  let v3 = v1 * v2;
  let at = (batch * p.extent_1 + row) * p.extent_2 + column;
  out_0[at] = f16(v3);
}
var<workgroup> lhs_tile: array<vec4<f32>, 144>;
var<workgroup> rhs_tile0: array<vec4<f32>, 144>;
var<workgroup> rhs_tile1: array<vec4<f32>, 144>;
var<workgroup> lhs_rows: array<u32, 64>;
var<workgroup> lhs_parts0: array<u32, 544>;
struct Sums {
  s0_0_0: vec4<f32>,
  s0_1_0: vec4<f32>,
  s0_2_0: vec4<f32>,
  s0_3_0: vec4<f32>,
  s1_0_0: vec4<f32>,
  s1_1_0: vec4<f32>,
  s1_2_0: vec4<f32>,
  s1_3_0: vec4<f32>,
}
fn update(c: ptr<function, Sums>, a0: vec4<f32>, b0_0: vec4<f32>, b1_0: vec4<f32>) {
  (*c).s0_0_0 = fma(vec4<f32>(a0[0]), b0_0, (*c).s0_0_0);
  (*c).s1_0_0 = fma(vec4<f32>(a0[0]), b1_0, (*c).s1_0_0);
  (*c).s0_1_0 = fma(vec4<f32>(a0[1]), b0_0, (*c).s0_1_0);
  (*c).s1_1_0 = fma(vec4<f32>(a0[1]), b1_0, (*c).s1_1_0);
  (*c).s0_2_0 = fma(vec4<f32>(a0[2]), b0_0, (*c).s0_2_0);
  (*c).s1_2_0 = fma(vec4<f32>(a0[2]), b1_0, (*c).s1_2_0);
  (*c).s0_3_0 = fma(vec4<f32>(a0[3]), b0_0, (*c).s0_3_0);
  (*c).s1_3_0 = fma(vec4<f32>(a0[3]), b1_0, (*c).s1_3_0);
}
fn put_lhs_tile(outer: u32, depth: u32, value: f32) {
  lhs_tile[(depth + 0u) * 9u + outer / 4u][outer % 4u] = value;
}
fn put_rhs_tile0(outer: u32, depth: u32, value: f32) {
  rhs_tile0[(depth + 0u) * 9u + outer / 4u][outer % 4u] = value;
}
fn put_rhs_tile1(outer: u32, depth: u32, value: f32) {
  rhs_tile1[(depth + 0u) * 9u + outer / 4u][outer % 4u] = value;
}
fn finish_each(batch: u32, b0: u32, row: u32, column: u32, sum0: vec4<f32>, sum1: vec4<f32>) {
  finish(batch, b0, row, column, sum0.x, sum1.x);
  finish(batch, b0, row, column + 1u, sum0.y, sum1.y);
  finish(batch, b0, row, column + 2u, sum0.z, sum1.z);
  finish(batch, b0, row, column + 3u, sum0.w, sum1.w);
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
  let tiles = p.row_tiles * p.column_tiles;
  let tile = id % tiles;
  let batch = id / tiles;
  let k_begin = 0u;
  let k_end = p.extent_3;
  let b0 = batch;
  let row0 = tile / p.column_tiles * 32u;
  let column0 = tile % p.column_tiles * 32u;
  let tx = local % 8u;
  let ty = local / 8u;
  let opaque = select(0u, 1u, p.extent_3 == 4294967295u);
  for (var row = local / 16u; row < 32u; row += 4u) {
    let at_row = min(row0 + row, p.extent_1 - 1u);
    let row_base0 = p.offset_0 + b0 * p.stride_0_0 + at_row * p.stride_0_1;
    var total2_0 = f32();
    var lost2 = f32();
    for (var depth = local % 16u; depth < p.extent_3; depth += 64u) {
      let depth_0 = depth;
      let at_0 = min(depth_0, p.extent_3 - 1u);
      let x0_0 = f32(in_0[row_base0 + at_0 * p.stride_0_2]);
      let depth_1 = depth + 16u;
      let at_1 = min(depth_1, p.extent_3 - 1u);
      let x0_1 = f32(in_0[row_base0 + at_1 * p.stride_0_2]);
      let depth_2 = depth + 32u;
      let at_2 = min(depth_2, p.extent_3 - 1u);
      let x0_2 = f32(in_0[row_base0 + at_2 * p.stride_0_2]);
      let depth_3 = depth + 48u;
      let at_3 = min(depth_3, p.extent_3 - 1u);
      let x0_3 = f32(in_0[row_base0 + at_3 * p.stride_0_2]);
      let v0_0 = x0_0;
      let v0_1 = v0_0;
      let found2_0_0 = select(f32(), v0_1, depth_0 < p.extent_3);
      let v1_0 = x0_1;
      let v1_1 = v1_0;
      let found2_1_0 = select(f32(), v1_1, depth_1 < p.extent_3);
      let v2_0 = x0_2;
      let v2_1 = v2_0;
      let found2_2_0 = select(f32(), v2_1, depth_2 < p.extent_3);
      let v3_0 = x0_3;
      let v3_1 = v3_0;
      let found2_3_0 = select(f32(), v3_1, depth_3 < p.extent_3);
      let taken2_0_0 = found2_0_0 + found2_1_0;
      let taken2_1_0 = found2_2_0 + found2_3_0;
      let taken2_2_0 = taken2_0_0 + taken2_1_0;
      let sum2 = fuse_hidden1(total2_0 + taken2_2_0, opaque);
      lost2 = lost2 + fuse_lost1(total2_0, taken2_2_0, sum2);
      total2_0 = sum2;
    }
    lhs_parts0[row * 17u + local % 16u] = bitcast<u32>(fuse_restored1(total2_0, lost2));
  }
  workgroupBarrier();
  for (var row = local; row < 32u; row += 64u) {
    let first = row * 17u;
    let part0_0 = bitcast<f32>(lhs_parts0[first]);
    let part0_1 = bitcast<f32>(lhs_parts0[first + 1u]);
    let part0_2 = bitcast<f32>(lhs_parts0[first + 2u]);
    let part0_3 = bitcast<f32>(lhs_parts0[first + 3u]);
    let part0_4 = bitcast<f32>(lhs_parts0[first + 4u]);
    let part0_5 = bitcast<f32>(lhs_parts0[first + 5u]);
    let part0_6 = bitcast<f32>(lhs_parts0[first + 6u]);
    let part0_7 = bitcast<f32>(lhs_parts0[first + 7u]);
    let part0_8 = bitcast<f32>(lhs_parts0[first + 8u]);
    let part0_9 = bitcast<f32>(lhs_parts0[first + 9u]);
    let part0_10 = bitcast<f32>(lhs_parts0[first + 10u]);
    let part0_11 = bitcast<f32>(lhs_parts0[first + 11u]);
    let part0_12 = bitcast<f32>(lhs_parts0[first + 12u]);
    let part0_13 = bitcast<f32>(lhs_parts0[first + 13u]);
    let part0_14 = bitcast<f32>(lhs_parts0[first + 14u]);
    let part0_15 = bitcast<f32>(lhs_parts0[first + 15u]);
    let together2_0_0 = part0_0 + part0_1;
    let together2_1_0 = part0_2 + part0_3;
    let together2_2_0 = part0_4 + part0_5;
    let together2_3_0 = part0_6 + part0_7;
    let together2_4_0 = part0_8 + part0_9;
    let together2_5_0 = part0_10 + part0_11;
    let together2_6_0 = part0_12 + part0_13;
    let together2_7_0 = part0_14 + part0_15;
    let together2_8_0 = together2_0_0 + together2_1_0;
    let together2_9_0 = together2_2_0 + together2_3_0;
    let together2_10_0 = together2_4_0 + together2_5_0;
    let together2_11_0 = together2_6_0 + together2_7_0;
    let together2_12_0 = together2_8_0 + together2_9_0;
    let together2_13_0 = together2_10_0 + together2_11_0;
    let together2_14_0 = together2_12_0 + together2_13_0;
    lhs_rows[row] = bitcast<u32>(together2_14_0);
  }
  workgroupBarrier();
  for (var row = local / 16u; row < 32u; row += 4u) {
    let at_row = min(row0 + row, p.extent_1 - 1u);
    let row_v2 = bitcast<f32>(lhs_rows[row]);
    let row_v3 = f32(p.size_10);
    let row_v4 = row_v2 / row_v3;
    let row_base0 = p.offset_0 + b0 * p.stride_0_0 + at_row * p.stride_0_1;
    var total7_0 = f32();
    var lost7 = f32();
    for (var depth = local % 16u; depth < p.extent_3; depth += 64u) {
      let depth_0 = depth;
      let at_0 = min(depth_0, p.extent_3 - 1u);
      let x0_0 = f32(in_0[row_base0 + at_0 * p.stride_0_2]);
      let depth_1 = depth + 16u;
      let at_1 = min(depth_1, p.extent_3 - 1u);
      let x0_1 = f32(in_0[row_base0 + at_1 * p.stride_0_2]);
      let depth_2 = depth + 32u;
      let at_2 = min(depth_2, p.extent_3 - 1u);
      let x0_2 = f32(in_0[row_base0 + at_2 * p.stride_0_2]);
      let depth_3 = depth + 48u;
      let at_3 = min(depth_3, p.extent_3 - 1u);
      let x0_3 = f32(in_0[row_base0 + at_3 * p.stride_0_2]);
      let v0_0 = x0_0;
      let v0_1 = v0_0;
      let v0_5 = v0_1 - row_v4;
      let v0_6 = v0_5 * v0_5;
      let found7_0_0 = select(f32(), v0_6, depth_0 < p.extent_3);
      let v1_0 = x0_1;
      let v1_1 = v1_0;
      let v1_5 = v1_1 - row_v4;
      let v1_6 = v1_5 * v1_5;
      let found7_1_0 = select(f32(), v1_6, depth_1 < p.extent_3);
      let v2_0 = x0_2;
      let v2_1 = v2_0;
      let v2_5 = v2_1 - row_v4;
      let v2_6 = v2_5 * v2_5;
      let found7_2_0 = select(f32(), v2_6, depth_2 < p.extent_3);
      let v3_0 = x0_3;
      let v3_1 = v3_0;
      let v3_5 = v3_1 - row_v4;
      let v3_6 = v3_5 * v3_5;
      let found7_3_0 = select(f32(), v3_6, depth_3 < p.extent_3);
      let taken7_0_0 = found7_0_0 + found7_1_0;
      let taken7_1_0 = found7_2_0 + found7_3_0;
      let taken7_2_0 = taken7_0_0 + taken7_1_0;
      let sum7 = fuse_hidden1(total7_0 + taken7_2_0, opaque);
      lost7 = lost7 + fuse_lost1(total7_0, taken7_2_0, sum7);
      total7_0 = sum7;
    }
    lhs_parts0[row * 17u + local % 16u] = bitcast<u32>(fuse_restored1(total7_0, lost7));
  }
  workgroupBarrier();
  for (var row = local; row < 32u; row += 64u) {
    let first = row * 17u;
    let part0_0 = bitcast<f32>(lhs_parts0[first]);
    let part0_1 = bitcast<f32>(lhs_parts0[first + 1u]);
    let part0_2 = bitcast<f32>(lhs_parts0[first + 2u]);
    let part0_3 = bitcast<f32>(lhs_parts0[first + 3u]);
    let part0_4 = bitcast<f32>(lhs_parts0[first + 4u]);
    let part0_5 = bitcast<f32>(lhs_parts0[first + 5u]);
    let part0_6 = bitcast<f32>(lhs_parts0[first + 6u]);
    let part0_7 = bitcast<f32>(lhs_parts0[first + 7u]);
    let part0_8 = bitcast<f32>(lhs_parts0[first + 8u]);
    let part0_9 = bitcast<f32>(lhs_parts0[first + 9u]);
    let part0_10 = bitcast<f32>(lhs_parts0[first + 10u]);
    let part0_11 = bitcast<f32>(lhs_parts0[first + 11u]);
    let part0_12 = bitcast<f32>(lhs_parts0[first + 12u]);
    let part0_13 = bitcast<f32>(lhs_parts0[first + 13u]);
    let part0_14 = bitcast<f32>(lhs_parts0[first + 14u]);
    let part0_15 = bitcast<f32>(lhs_parts0[first + 15u]);
    let together7_0_0 = part0_0 + part0_1;
    let together7_1_0 = part0_2 + part0_3;
    let together7_2_0 = part0_4 + part0_5;
    let together7_3_0 = part0_6 + part0_7;
    let together7_4_0 = part0_8 + part0_9;
    let together7_5_0 = part0_10 + part0_11;
    let together7_6_0 = part0_12 + part0_13;
    let together7_7_0 = part0_14 + part0_15;
    let together7_8_0 = together7_0_0 + together7_1_0;
    let together7_9_0 = together7_2_0 + together7_3_0;
    let together7_10_0 = together7_4_0 + together7_5_0;
    let together7_11_0 = together7_6_0 + together7_7_0;
    let together7_12_0 = together7_8_0 + together7_9_0;
    let together7_13_0 = together7_10_0 + together7_11_0;
    let together7_14_0 = together7_12_0 + together7_13_0;
    lhs_rows[row + 32u] = bitcast<u32>(together7_14_0);
  }
  workgroupBarrier();
  var c = Sums();
  let a0_o = (local + 0u) / 16u;
  let a0_k = ((local + 0u) % 16u) * 1u;
  let a0_at = min(row0 + a0_o, p.extent_1 - 1u);
  let a0_row2 = bitcast<f32>(lhs_rows[a0_o]);
  let a0_row3 = f32(p.size_10);
  let a0_row4 = a0_row2 / a0_row3;
  let a0_row7 = bitcast<f32>(lhs_rows[a0_o + 32u]);
  let a0_row8 = a0_row7 / a0_row3;
  let a0_row10 = a0_row8 + 1e-5f;
  let a0_row11 = fuse_rsqrt1(a0_row10);
  let a0_base0 = (p.offset_0 + b0 * p.stride_0_0 + a0_at * p.stride_0_1);
  var a0_x0: f32;
  let a0_base1 = p.offset_1;
  var a0_x1: f32;
  let a0_base2 = p.offset_2;
  var a0_x2: f32;
  let a1_o = (local + 64u) / 16u;
  let a1_k = ((local + 64u) % 16u) * 1u;
  let a1_at = min(row0 + a1_o, p.extent_1 - 1u);
  let a1_row2 = bitcast<f32>(lhs_rows[a1_o]);
  let a1_row3 = f32(p.size_10);
  let a1_row4 = a1_row2 / a1_row3;
  let a1_row7 = bitcast<f32>(lhs_rows[a1_o + 32u]);
  let a1_row8 = a1_row7 / a1_row3;
  let a1_row10 = a1_row8 + 1e-5f;
  let a1_row11 = fuse_rsqrt1(a1_row10);
  let a1_base0 = (p.offset_0 + b0 * p.stride_0_0 + a1_at * p.stride_0_1);
  var a1_x0: f32;
  let a1_base1 = p.offset_1;
  var a1_x1: f32;
  let a1_base2 = p.offset_2;
  var a1_x2: f32;
  let a2_o = (local + 128u) / 16u;
  let a2_k = ((local + 128u) % 16u) * 1u;
  let a2_at = min(row0 + a2_o, p.extent_1 - 1u);
  let a2_row2 = bitcast<f32>(lhs_rows[a2_o]);
  let a2_row3 = f32(p.size_10);
  let a2_row4 = a2_row2 / a2_row3;
  let a2_row7 = bitcast<f32>(lhs_rows[a2_o + 32u]);
  let a2_row8 = a2_row7 / a2_row3;
  let a2_row10 = a2_row8 + 1e-5f;
  let a2_row11 = fuse_rsqrt1(a2_row10);
  let a2_base0 = (p.offset_0 + b0 * p.stride_0_0 + a2_at * p.stride_0_1);
  var a2_x0: f32;
  let a2_base1 = p.offset_1;
  var a2_x1: f32;
  let a2_base2 = p.offset_2;
  var a2_x2: f32;
  let a3_o = (local + 192u) / 16u;
  let a3_k = ((local + 192u) % 16u) * 1u;
  let a3_at = min(row0 + a3_o, p.extent_1 - 1u);
  let a3_row2 = bitcast<f32>(lhs_rows[a3_o]);
  let a3_row3 = f32(p.size_10);
  let a3_row4 = a3_row2 / a3_row3;
  let a3_row7 = bitcast<f32>(lhs_rows[a3_o + 32u]);
  let a3_row8 = a3_row7 / a3_row3;
  let a3_row10 = a3_row8 + 1e-5f;
  let a3_row11 = fuse_rsqrt1(a3_row10);
  let a3_base0 = (p.offset_0 + b0 * p.stride_0_0 + a3_at * p.stride_0_1);
  var a3_x0: f32;
  let a3_base1 = p.offset_1;
  var a3_x1: f32;
  let a3_base2 = p.offset_2;
  var a3_x2: f32;
  let a4_o = (local + 256u) / 16u;
  let a4_k = ((local + 256u) % 16u) * 1u;
  let a4_at = min(row0 + a4_o, p.extent_1 - 1u);
  let a4_row2 = bitcast<f32>(lhs_rows[a4_o]);
  let a4_row3 = f32(p.size_10);
  let a4_row4 = a4_row2 / a4_row3;
  let a4_row7 = bitcast<f32>(lhs_rows[a4_o + 32u]);
  let a4_row8 = a4_row7 / a4_row3;
  let a4_row10 = a4_row8 + 1e-5f;
  let a4_row11 = fuse_rsqrt1(a4_row10);
  let a4_base0 = (p.offset_0 + b0 * p.stride_0_0 + a4_at * p.stride_0_1);
  var a4_x0: f32;
  let a4_base1 = p.offset_1;
  var a4_x1: f32;
  let a4_base2 = p.offset_2;
  var a4_x2: f32;
  let a5_o = (local + 320u) / 16u;
  let a5_k = ((local + 320u) % 16u) * 1u;
  let a5_at = min(row0 + a5_o, p.extent_1 - 1u);
  let a5_row2 = bitcast<f32>(lhs_rows[a5_o]);
  let a5_row3 = f32(p.size_10);
  let a5_row4 = a5_row2 / a5_row3;
  let a5_row7 = bitcast<f32>(lhs_rows[a5_o + 32u]);
  let a5_row8 = a5_row7 / a5_row3;
  let a5_row10 = a5_row8 + 1e-5f;
  let a5_row11 = fuse_rsqrt1(a5_row10);
  let a5_base0 = (p.offset_0 + b0 * p.stride_0_0 + a5_at * p.stride_0_1);
  var a5_x0: f32;
  let a5_base1 = p.offset_1;
  var a5_x1: f32;
  let a5_base2 = p.offset_2;
  var a5_x2: f32;
  let a6_o = (local + 384u) / 16u;
  let a6_k = ((local + 384u) % 16u) * 1u;
  let a6_at = min(row0 + a6_o, p.extent_1 - 1u);
  let a6_row2 = bitcast<f32>(lhs_rows[a6_o]);
  let a6_row3 = f32(p.size_10);
  let a6_row4 = a6_row2 / a6_row3;
  let a6_row7 = bitcast<f32>(lhs_rows[a6_o + 32u]);
  let a6_row8 = a6_row7 / a6_row3;
  let a6_row10 = a6_row8 + 1e-5f;
  let a6_row11 = fuse_rsqrt1(a6_row10);
  let a6_base0 = (p.offset_0 + b0 * p.stride_0_0 + a6_at * p.stride_0_1);
  var a6_x0: f32;
  let a6_base1 = p.offset_1;
  var a6_x1: f32;
  let a6_base2 = p.offset_2;
  var a6_x2: f32;
  let a7_o = (local + 448u) / 16u;
  let a7_k = ((local + 448u) % 16u) * 1u;
  let a7_at = min(row0 + a7_o, p.extent_1 - 1u);
  let a7_row2 = bitcast<f32>(lhs_rows[a7_o]);
  let a7_row3 = f32(p.size_10);
  let a7_row4 = a7_row2 / a7_row3;
  let a7_row7 = bitcast<f32>(lhs_rows[a7_o + 32u]);
  let a7_row8 = a7_row7 / a7_row3;
  let a7_row10 = a7_row8 + 1e-5f;
  let a7_row11 = fuse_rsqrt1(a7_row10);
  let a7_base0 = (p.offset_0 + b0 * p.stride_0_0 + a7_at * p.stride_0_1);
  var a7_x0: f32;
  let a7_base1 = p.offset_1;
  var a7_x1: f32;
  let a7_base2 = p.offset_2;
  var a7_x2: f32;
  let w0_0_o = ((local + 0u) % 32u) * 1u;
  let w0_0_k = (local + 0u) / 32u;
  let w0_0_at = min(column0 + w0_0_o, p.extent_2 - 1u);
  let w0_0_base3 = (p.offset_3 + w0_0_at * p.stride_3_2);
  var w0_0_x3: f32;
  let w0_1_o = ((local + 64u) % 32u) * 1u;
  let w0_1_k = (local + 64u) / 32u;
  let w0_1_at = min(column0 + w0_1_o, p.extent_2 - 1u);
  let w0_1_base3 = (p.offset_3 + w0_1_at * p.stride_3_2);
  var w0_1_x3: f32;
  let w0_2_o = ((local + 128u) % 32u) * 1u;
  let w0_2_k = (local + 128u) / 32u;
  let w0_2_at = min(column0 + w0_2_o, p.extent_2 - 1u);
  let w0_2_base3 = (p.offset_3 + w0_2_at * p.stride_3_2);
  var w0_2_x3: f32;
  let w0_3_o = ((local + 192u) % 32u) * 1u;
  let w0_3_k = (local + 192u) / 32u;
  let w0_3_at = min(column0 + w0_3_o, p.extent_2 - 1u);
  let w0_3_base3 = (p.offset_3 + w0_3_at * p.stride_3_2);
  var w0_3_x3: f32;
  let w0_4_o = ((local + 256u) % 32u) * 1u;
  let w0_4_k = (local + 256u) / 32u;
  let w0_4_at = min(column0 + w0_4_o, p.extent_2 - 1u);
  let w0_4_base3 = (p.offset_3 + w0_4_at * p.stride_3_2);
  var w0_4_x3: f32;
  let w0_5_o = ((local + 320u) % 32u) * 1u;
  let w0_5_k = (local + 320u) / 32u;
  let w0_5_at = min(column0 + w0_5_o, p.extent_2 - 1u);
  let w0_5_base3 = (p.offset_3 + w0_5_at * p.stride_3_2);
  var w0_5_x3: f32;
  let w0_6_o = ((local + 384u) % 32u) * 1u;
  let w0_6_k = (local + 384u) / 32u;
  let w0_6_at = min(column0 + w0_6_o, p.extent_2 - 1u);
  let w0_6_base3 = (p.offset_3 + w0_6_at * p.stride_3_2);
  var w0_6_x3: f32;
  let w0_7_o = ((local + 448u) % 32u) * 1u;
  let w0_7_k = (local + 448u) / 32u;
  let w0_7_at = min(column0 + w0_7_o, p.extent_2 - 1u);
  let w0_7_base3 = (p.offset_3 + w0_7_at * p.stride_3_2);
  var w0_7_x3: f32;
  let w1_0_o = ((local + 0u) % 32u) * 1u;
  let w1_0_k = (local + 0u) / 32u;
  let w1_0_at = min(column0 + w1_0_o, p.extent_2 - 1u);
  let w1_0_base4 = (p.offset_4 + w1_0_at * p.stride_4_2);
  var w1_0_x4: f32;
  let w1_1_o = ((local + 64u) % 32u) * 1u;
  let w1_1_k = (local + 64u) / 32u;
  let w1_1_at = min(column0 + w1_1_o, p.extent_2 - 1u);
  let w1_1_base4 = (p.offset_4 + w1_1_at * p.stride_4_2);
  var w1_1_x4: f32;
  let w1_2_o = ((local + 128u) % 32u) * 1u;
  let w1_2_k = (local + 128u) / 32u;
  let w1_2_at = min(column0 + w1_2_o, p.extent_2 - 1u);
  let w1_2_base4 = (p.offset_4 + w1_2_at * p.stride_4_2);
  var w1_2_x4: f32;
  let w1_3_o = ((local + 192u) % 32u) * 1u;
  let w1_3_k = (local + 192u) / 32u;
  let w1_3_at = min(column0 + w1_3_o, p.extent_2 - 1u);
  let w1_3_base4 = (p.offset_4 + w1_3_at * p.stride_4_2);
  var w1_3_x4: f32;
  let w1_4_o = ((local + 256u) % 32u) * 1u;
  let w1_4_k = (local + 256u) / 32u;
  let w1_4_at = min(column0 + w1_4_o, p.extent_2 - 1u);
  let w1_4_base4 = (p.offset_4 + w1_4_at * p.stride_4_2);
  var w1_4_x4: f32;
  let w1_5_o = ((local + 320u) % 32u) * 1u;
  let w1_5_k = (local + 320u) / 32u;
  let w1_5_at = min(column0 + w1_5_o, p.extent_2 - 1u);
  let w1_5_base4 = (p.offset_4 + w1_5_at * p.stride_4_2);
  var w1_5_x4: f32;
  let w1_6_o = ((local + 384u) % 32u) * 1u;
  let w1_6_k = (local + 384u) / 32u;
  let w1_6_at = min(column0 + w1_6_o, p.extent_2 - 1u);
  let w1_6_base4 = (p.offset_4 + w1_6_at * p.stride_4_2);
  var w1_6_x4: f32;
  let w1_7_o = ((local + 448u) % 32u) * 1u;
  let w1_7_k = (local + 448u) / 32u;
  let w1_7_at = min(column0 + w1_7_o, p.extent_2 - 1u);
  let w1_7_base4 = (p.offset_4 + w1_7_at * p.stride_4_2);
  var w1_7_x4: f32;
  if k_begin < k_end {
    let a0_depth = min(k_begin + a0_k, k_end - 1u);
    a0_x0 = f32(in_0[a0_base0 + a0_depth * p.stride_0_2]);
    a0_x1 = f32(in_1[a0_base1 + a0_depth * p.stride_1_2]);
    a0_x2 = f32(in_2[a0_base2 + a0_depth * p.stride_2_2]);
    let a1_depth = min(k_begin + a1_k, k_end - 1u);
    a1_x0 = f32(in_0[a1_base0 + a1_depth * p.stride_0_2]);
    a1_x1 = f32(in_1[a1_base1 + a1_depth * p.stride_1_2]);
    a1_x2 = f32(in_2[a1_base2 + a1_depth * p.stride_2_2]);
    let a2_depth = min(k_begin + a2_k, k_end - 1u);
    a2_x0 = f32(in_0[a2_base0 + a2_depth * p.stride_0_2]);
    a2_x1 = f32(in_1[a2_base1 + a2_depth * p.stride_1_2]);
    a2_x2 = f32(in_2[a2_base2 + a2_depth * p.stride_2_2]);
    let a3_depth = min(k_begin + a3_k, k_end - 1u);
    a3_x0 = f32(in_0[a3_base0 + a3_depth * p.stride_0_2]);
    a3_x1 = f32(in_1[a3_base1 + a3_depth * p.stride_1_2]);
    a3_x2 = f32(in_2[a3_base2 + a3_depth * p.stride_2_2]);
    let a4_depth = min(k_begin + a4_k, k_end - 1u);
    a4_x0 = f32(in_0[a4_base0 + a4_depth * p.stride_0_2]);
    a4_x1 = f32(in_1[a4_base1 + a4_depth * p.stride_1_2]);
    a4_x2 = f32(in_2[a4_base2 + a4_depth * p.stride_2_2]);
    let a5_depth = min(k_begin + a5_k, k_end - 1u);
    a5_x0 = f32(in_0[a5_base0 + a5_depth * p.stride_0_2]);
    a5_x1 = f32(in_1[a5_base1 + a5_depth * p.stride_1_2]);
    a5_x2 = f32(in_2[a5_base2 + a5_depth * p.stride_2_2]);
    let a6_depth = min(k_begin + a6_k, k_end - 1u);
    a6_x0 = f32(in_0[a6_base0 + a6_depth * p.stride_0_2]);
    a6_x1 = f32(in_1[a6_base1 + a6_depth * p.stride_1_2]);
    a6_x2 = f32(in_2[a6_base2 + a6_depth * p.stride_2_2]);
    let a7_depth = min(k_begin + a7_k, k_end - 1u);
    a7_x0 = f32(in_0[a7_base0 + a7_depth * p.stride_0_2]);
    a7_x1 = f32(in_1[a7_base1 + a7_depth * p.stride_1_2]);
    a7_x2 = f32(in_2[a7_base2 + a7_depth * p.stride_2_2]);
    let w0_0_depth = min(k_begin + w0_0_k, k_end - 1u);
    w0_0_x3 = f32(in_3[w0_0_base3 + w0_0_depth * p.stride_3_1]);
    let w0_1_depth = min(k_begin + w0_1_k, k_end - 1u);
    w0_1_x3 = f32(in_3[w0_1_base3 + w0_1_depth * p.stride_3_1]);
    let w0_2_depth = min(k_begin + w0_2_k, k_end - 1u);
    w0_2_x3 = f32(in_3[w0_2_base3 + w0_2_depth * p.stride_3_1]);
    let w0_3_depth = min(k_begin + w0_3_k, k_end - 1u);
    w0_3_x3 = f32(in_3[w0_3_base3 + w0_3_depth * p.stride_3_1]);
    let w0_4_depth = min(k_begin + w0_4_k, k_end - 1u);
    w0_4_x3 = f32(in_3[w0_4_base3 + w0_4_depth * p.stride_3_1]);
    let w0_5_depth = min(k_begin + w0_5_k, k_end - 1u);
    w0_5_x3 = f32(in_3[w0_5_base3 + w0_5_depth * p.stride_3_1]);
    let w0_6_depth = min(k_begin + w0_6_k, k_end - 1u);
    w0_6_x3 = f32(in_3[w0_6_base3 + w0_6_depth * p.stride_3_1]);
    let w0_7_depth = min(k_begin + w0_7_k, k_end - 1u);
    w0_7_x3 = f32(in_3[w0_7_base3 + w0_7_depth * p.stride_3_1]);
    let w1_0_depth = min(k_begin + w1_0_k, k_end - 1u);
    w1_0_x4 = f32(in_4[w1_0_base4 + w1_0_depth * p.stride_4_1]);
    let w1_1_depth = min(k_begin + w1_1_k, k_end - 1u);
    w1_1_x4 = f32(in_4[w1_1_base4 + w1_1_depth * p.stride_4_1]);
    let w1_2_depth = min(k_begin + w1_2_k, k_end - 1u);
    w1_2_x4 = f32(in_4[w1_2_base4 + w1_2_depth * p.stride_4_1]);
    let w1_3_depth = min(k_begin + w1_3_k, k_end - 1u);
    w1_3_x4 = f32(in_4[w1_3_base4 + w1_3_depth * p.stride_4_1]);
    let w1_4_depth = min(k_begin + w1_4_k, k_end - 1u);
    w1_4_x4 = f32(in_4[w1_4_base4 + w1_4_depth * p.stride_4_1]);
    let w1_5_depth = min(k_begin + w1_5_k, k_end - 1u);
    w1_5_x4 = f32(in_4[w1_5_base4 + w1_5_depth * p.stride_4_1]);
    let w1_6_depth = min(k_begin + w1_6_k, k_end - 1u);
    w1_6_x4 = f32(in_4[w1_6_base4 + w1_6_depth * p.stride_4_1]);
    let w1_7_depth = min(k_begin + w1_7_k, k_end - 1u);
    w1_7_x4 = f32(in_4[w1_7_base4 + w1_7_depth * p.stride_4_1]);
  }
  for (var k0 = k_begin; k0 < k_end; k0 += 16u) {
    {
      let a0 = a0_x0;
      let a1 = a0;
      let a5 = a1 - a0_row4;
      let a12 = a5 * a0_row11;
      let a13 = a0_x1;
      let a14 = a13;
      let a15 = a12 * a14;
      let a16 = a0_x2;
      let a17 = a16;
      let a18 = a15 + a17;
      let a19 = f32(f16(a18));
      put_lhs_tile(a0_o, a0_k, select(f32(), a19, k0 + a0_k < k_end));
    }
    {
      let a0 = a1_x0;
      let a1 = a0;
      let a5 = a1 - a1_row4;
      let a12 = a5 * a1_row11;
      let a13 = a1_x1;
      let a14 = a13;
      let a15 = a12 * a14;
      let a16 = a1_x2;
      let a17 = a16;
      let a18 = a15 + a17;
      let a19 = f32(f16(a18));
      put_lhs_tile(a1_o, a1_k, select(f32(), a19, k0 + a1_k < k_end));
    }
    {
      let a0 = a2_x0;
      let a1 = a0;
      let a5 = a1 - a2_row4;
      let a12 = a5 * a2_row11;
      let a13 = a2_x1;
      let a14 = a13;
      let a15 = a12 * a14;
      let a16 = a2_x2;
      let a17 = a16;
      let a18 = a15 + a17;
      let a19 = f32(f16(a18));
      put_lhs_tile(a2_o, a2_k, select(f32(), a19, k0 + a2_k < k_end));
    }
    {
      let a0 = a3_x0;
      let a1 = a0;
      let a5 = a1 - a3_row4;
      let a12 = a5 * a3_row11;
      let a13 = a3_x1;
      let a14 = a13;
      let a15 = a12 * a14;
      let a16 = a3_x2;
      let a17 = a16;
      let a18 = a15 + a17;
      let a19 = f32(f16(a18));
      put_lhs_tile(a3_o, a3_k, select(f32(), a19, k0 + a3_k < k_end));
    }
    {
      let a0 = a4_x0;
      let a1 = a0;
      let a5 = a1 - a4_row4;
      let a12 = a5 * a4_row11;
      let a13 = a4_x1;
      let a14 = a13;
      let a15 = a12 * a14;
      let a16 = a4_x2;
      let a17 = a16;
      let a18 = a15 + a17;
      let a19 = f32(f16(a18));
      put_lhs_tile(a4_o, a4_k, select(f32(), a19, k0 + a4_k < k_end));
    }
    {
      let a0 = a5_x0;
      let a1 = a0;
      let a5 = a1 - a5_row4;
      let a12 = a5 * a5_row11;
      let a13 = a5_x1;
      let a14 = a13;
      let a15 = a12 * a14;
      let a16 = a5_x2;
      let a17 = a16;
      let a18 = a15 + a17;
      let a19 = f32(f16(a18));
      put_lhs_tile(a5_o, a5_k, select(f32(), a19, k0 + a5_k < k_end));
    }
    {
      let a0 = a6_x0;
      let a1 = a0;
      let a5 = a1 - a6_row4;
      let a12 = a5 * a6_row11;
      let a13 = a6_x1;
      let a14 = a13;
      let a15 = a12 * a14;
      let a16 = a6_x2;
      let a17 = a16;
      let a18 = a15 + a17;
      let a19 = f32(f16(a18));
      put_lhs_tile(a6_o, a6_k, select(f32(), a19, k0 + a6_k < k_end));
    }
    {
      let a0 = a7_x0;
      let a1 = a0;
      let a5 = a1 - a7_row4;
      let a12 = a5 * a7_row11;
      let a13 = a7_x1;
      let a14 = a13;
      let a15 = a12 * a14;
      let a16 = a7_x2;
      let a17 = a16;
      let a18 = a15 + a17;
      let a19 = f32(f16(a18));
      put_lhs_tile(a7_o, a7_k, select(f32(), a19, k0 + a7_k < k_end));
    }
    put_rhs_tile0(w0_0_o, w0_0_k, select(f32(), w0_0_x3, k0 + w0_0_k < k_end));
    put_rhs_tile0(w0_1_o, w0_1_k, select(f32(), w0_1_x3, k0 + w0_1_k < k_end));
    put_rhs_tile0(w0_2_o, w0_2_k, select(f32(), w0_2_x3, k0 + w0_2_k < k_end));
    put_rhs_tile0(w0_3_o, w0_3_k, select(f32(), w0_3_x3, k0 + w0_3_k < k_end));
    put_rhs_tile0(w0_4_o, w0_4_k, select(f32(), w0_4_x3, k0 + w0_4_k < k_end));
    put_rhs_tile0(w0_5_o, w0_5_k, select(f32(), w0_5_x3, k0 + w0_5_k < k_end));
    put_rhs_tile0(w0_6_o, w0_6_k, select(f32(), w0_6_x3, k0 + w0_6_k < k_end));
    put_rhs_tile0(w0_7_o, w0_7_k, select(f32(), w0_7_x3, k0 + w0_7_k < k_end));
    put_rhs_tile1(w1_0_o, w1_0_k, select(f32(), w1_0_x4, k0 + w1_0_k < k_end));
    put_rhs_tile1(w1_1_o, w1_1_k, select(f32(), w1_1_x4, k0 + w1_1_k < k_end));
    put_rhs_tile1(w1_2_o, w1_2_k, select(f32(), w1_2_x4, k0 + w1_2_k < k_end));
    put_rhs_tile1(w1_3_o, w1_3_k, select(f32(), w1_3_x4, k0 + w1_3_k < k_end));
    put_rhs_tile1(w1_4_o, w1_4_k, select(f32(), w1_4_x4, k0 + w1_4_k < k_end));
    put_rhs_tile1(w1_5_o, w1_5_k, select(f32(), w1_5_x4, k0 + w1_5_k < k_end));
    put_rhs_tile1(w1_6_o, w1_6_k, select(f32(), w1_6_x4, k0 + w1_6_k < k_end));
    put_rhs_tile1(w1_7_o, w1_7_k, select(f32(), w1_7_x4, k0 + w1_7_k < k_end));
    workgroupBarrier();
    if k0 + 16u < k_end {
      let a0_depth = min(k0 + 16u + a0_k, k_end - 1u);
      a0_x0 = f32(in_0[a0_base0 + a0_depth * p.stride_0_2]);
      a0_x1 = f32(in_1[a0_base1 + a0_depth * p.stride_1_2]);
      a0_x2 = f32(in_2[a0_base2 + a0_depth * p.stride_2_2]);
      let a1_depth = min(k0 + 16u + a1_k, k_end - 1u);
      a1_x0 = f32(in_0[a1_base0 + a1_depth * p.stride_0_2]);
      a1_x1 = f32(in_1[a1_base1 + a1_depth * p.stride_1_2]);
      a1_x2 = f32(in_2[a1_base2 + a1_depth * p.stride_2_2]);
      let a2_depth = min(k0 + 16u + a2_k, k_end - 1u);
      a2_x0 = f32(in_0[a2_base0 + a2_depth * p.stride_0_2]);
      a2_x1 = f32(in_1[a2_base1 + a2_depth * p.stride_1_2]);
      a2_x2 = f32(in_2[a2_base2 + a2_depth * p.stride_2_2]);
      let a3_depth = min(k0 + 16u + a3_k, k_end - 1u);
      a3_x0 = f32(in_0[a3_base0 + a3_depth * p.stride_0_2]);
      a3_x1 = f32(in_1[a3_base1 + a3_depth * p.stride_1_2]);
      a3_x2 = f32(in_2[a3_base2 + a3_depth * p.stride_2_2]);
      let a4_depth = min(k0 + 16u + a4_k, k_end - 1u);
      a4_x0 = f32(in_0[a4_base0 + a4_depth * p.stride_0_2]);
      a4_x1 = f32(in_1[a4_base1 + a4_depth * p.stride_1_2]);
      a4_x2 = f32(in_2[a4_base2 + a4_depth * p.stride_2_2]);
      let a5_depth = min(k0 + 16u + a5_k, k_end - 1u);
      a5_x0 = f32(in_0[a5_base0 + a5_depth * p.stride_0_2]);
      a5_x1 = f32(in_1[a5_base1 + a5_depth * p.stride_1_2]);
      a5_x2 = f32(in_2[a5_base2 + a5_depth * p.stride_2_2]);
      let a6_depth = min(k0 + 16u + a6_k, k_end - 1u);
      a6_x0 = f32(in_0[a6_base0 + a6_depth * p.stride_0_2]);
      a6_x1 = f32(in_1[a6_base1 + a6_depth * p.stride_1_2]);
      a6_x2 = f32(in_2[a6_base2 + a6_depth * p.stride_2_2]);
      let a7_depth = min(k0 + 16u + a7_k, k_end - 1u);
      a7_x0 = f32(in_0[a7_base0 + a7_depth * p.stride_0_2]);
      a7_x1 = f32(in_1[a7_base1 + a7_depth * p.stride_1_2]);
      a7_x2 = f32(in_2[a7_base2 + a7_depth * p.stride_2_2]);
      let w0_0_depth = min(k0 + 16u + w0_0_k, k_end - 1u);
      w0_0_x3 = f32(in_3[w0_0_base3 + w0_0_depth * p.stride_3_1]);
      let w0_1_depth = min(k0 + 16u + w0_1_k, k_end - 1u);
      w0_1_x3 = f32(in_3[w0_1_base3 + w0_1_depth * p.stride_3_1]);
      let w0_2_depth = min(k0 + 16u + w0_2_k, k_end - 1u);
      w0_2_x3 = f32(in_3[w0_2_base3 + w0_2_depth * p.stride_3_1]);
      let w0_3_depth = min(k0 + 16u + w0_3_k, k_end - 1u);
      w0_3_x3 = f32(in_3[w0_3_base3 + w0_3_depth * p.stride_3_1]);
      let w0_4_depth = min(k0 + 16u + w0_4_k, k_end - 1u);
      w0_4_x3 = f32(in_3[w0_4_base3 + w0_4_depth * p.stride_3_1]);
      let w0_5_depth = min(k0 + 16u + w0_5_k, k_end - 1u);
      w0_5_x3 = f32(in_3[w0_5_base3 + w0_5_depth * p.stride_3_1]);
      let w0_6_depth = min(k0 + 16u + w0_6_k, k_end - 1u);
      w0_6_x3 = f32(in_3[w0_6_base3 + w0_6_depth * p.stride_3_1]);
      let w0_7_depth = min(k0 + 16u + w0_7_k, k_end - 1u);
      w0_7_x3 = f32(in_3[w0_7_base3 + w0_7_depth * p.stride_3_1]);
      let w1_0_depth = min(k0 + 16u + w1_0_k, k_end - 1u);
      w1_0_x4 = f32(in_4[w1_0_base4 + w1_0_depth * p.stride_4_1]);
      let w1_1_depth = min(k0 + 16u + w1_1_k, k_end - 1u);
      w1_1_x4 = f32(in_4[w1_1_base4 + w1_1_depth * p.stride_4_1]);
      let w1_2_depth = min(k0 + 16u + w1_2_k, k_end - 1u);
      w1_2_x4 = f32(in_4[w1_2_base4 + w1_2_depth * p.stride_4_1]);
      let w1_3_depth = min(k0 + 16u + w1_3_k, k_end - 1u);
      w1_3_x4 = f32(in_4[w1_3_base4 + w1_3_depth * p.stride_4_1]);
      let w1_4_depth = min(k0 + 16u + w1_4_k, k_end - 1u);
      w1_4_x4 = f32(in_4[w1_4_base4 + w1_4_depth * p.stride_4_1]);
      let w1_5_depth = min(k0 + 16u + w1_5_k, k_end - 1u);
      w1_5_x4 = f32(in_4[w1_5_base4 + w1_5_depth * p.stride_4_1]);
      let w1_6_depth = min(k0 + 16u + w1_6_k, k_end - 1u);
      w1_6_x4 = f32(in_4[w1_6_base4 + w1_6_depth * p.stride_4_1]);
      let w1_7_depth = min(k0 + 16u + w1_7_k, k_end - 1u);
      w1_7_x4 = f32(in_4[w1_7_base4 + w1_7_depth * p.stride_4_1]);
    }
    update(&c, lhs_tile[ty + 0u], rhs_tile0[tx + 0u], rhs_tile1[tx + 0u]);
    update(&c, lhs_tile[ty + 9u], rhs_tile0[tx + 9u], rhs_tile1[tx + 9u]);
    update(&c, lhs_tile[ty + 18u], rhs_tile0[tx + 18u], rhs_tile1[tx + 18u]);
    update(&c, lhs_tile[ty + 27u], rhs_tile0[tx + 27u], rhs_tile1[tx + 27u]);
    update(&c, lhs_tile[ty + 36u], rhs_tile0[tx + 36u], rhs_tile1[tx + 36u]);
    update(&c, lhs_tile[ty + 45u], rhs_tile0[tx + 45u], rhs_tile1[tx + 45u]);
    update(&c, lhs_tile[ty + 54u], rhs_tile0[tx + 54u], rhs_tile1[tx + 54u]);
    update(&c, lhs_tile[ty + 63u], rhs_tile0[tx + 63u], rhs_tile1[tx + 63u]);
    update(&c, lhs_tile[ty + 72u], rhs_tile0[tx + 72u], rhs_tile1[tx + 72u]);
    update(&c, lhs_tile[ty + 81u], rhs_tile0[tx + 81u], rhs_tile1[tx + 81u]);
    update(&c, lhs_tile[ty + 90u], rhs_tile0[tx + 90u], rhs_tile1[tx + 90u]);
    update(&c, lhs_tile[ty + 99u], rhs_tile0[tx + 99u], rhs_tile1[tx + 99u]);
    update(&c, lhs_tile[ty + 108u], rhs_tile0[tx + 108u], rhs_tile1[tx + 108u]);
    update(&c, lhs_tile[ty + 117u], rhs_tile0[tx + 117u], rhs_tile1[tx + 117u]);
    update(&c, lhs_tile[ty + 126u], rhs_tile0[tx + 126u], rhs_tile1[tx + 126u]);
    update(&c, lhs_tile[ty + 135u], rhs_tile0[tx + 135u], rhs_tile1[tx + 135u]);
    workgroupBarrier();
  }
  finish_each(batch, b0, row0 + ty * 4u, column0 + tx * 4u, c.s0_0_0, c.s1_0_0);
  finish_each(batch, b0, row0 + ty * 4u + 1u, column0 + tx * 4u, c.s0_1_0, c.s1_1_0);
  finish_each(batch, b0, row0 + ty * 4u + 2u, column0 + tx * 4u, c.s0_2_0, c.s1_2_0);
  finish_each(batch, b0, row0 + ty * 4u + 3u, column0 + tx * 4u, c.s0_3_0, c.s1_3_0);
}
