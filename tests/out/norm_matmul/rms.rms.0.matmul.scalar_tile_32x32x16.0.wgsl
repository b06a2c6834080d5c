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
  offset_2: u32,
  stride_2_1: u32,
  stride_1_1: u32,
  stride_2_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read> in_1: array<f32>;
@group(0) @binding(3) var<storage, read> in_2: array<f32>;
@group(0) @binding(4) var<storage, read> in_3: array<f32>;
@group(0) @binding(5) var<storage, read_write> out_0: array<f32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_fast_math = false;

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
fn finish(batch: u32, row: u32, column: u32, sum: f32) {
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let x3 = in_3[p.offset_3 + column * p.stride_3_1];
  let v0 = sum;
  let v1 = x3;
  let v2 = v0 + v1;
  let at = (batch * p.extent_0 + row) * p.extent_1 + column;
  out_0[at] = v2;
}
var<workgroup> lhs_tile: array<vec4<f32>, 144>;
var<workgroup> rhs_tile: array<vec4<f32>, 144>;
var<workgroup> lhs_rows: array<u32, 32>;
var<workgroup> lhs_parts0: array<u32, 544>;
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
  let opaque = select(0u, 1u, p.extent_2 == 4294967295u);
  for (var row = local / 16u; row < 32u; row += 4u) {
    let at_row = min(row0 + row, p.extent_0 - 1u);
    let row_base0 = p.offset_0 + at_row * p.stride_0_0;
    var total2_0 = f32();
    var lost2 = f32();
    for (var depth = local % 16u; depth < p.extent_2; depth += 64u) {
      let depth_0 = depth;
      let at_0 = min(depth_0, p.extent_2 - 1u);
      let x0_0 = in_0[row_base0 + at_0 * p.stride_0_1];
      let depth_1 = depth + 16u;
      let at_1 = min(depth_1, p.extent_2 - 1u);
      let x0_1 = in_0[row_base0 + at_1 * p.stride_0_1];
      let depth_2 = depth + 32u;
      let at_2 = min(depth_2, p.extent_2 - 1u);
      let x0_2 = in_0[row_base0 + at_2 * p.stride_0_1];
      let depth_3 = depth + 48u;
      let at_3 = min(depth_3, p.extent_2 - 1u);
      let x0_3 = in_0[row_base0 + at_3 * p.stride_0_1];
      let v0_0 = x0_0;
      let v0_1 = v0_0 * v0_0;
      let found2_0_0 = select(f32(), v0_1, depth_0 < p.extent_2);
      let v1_0 = x0_1;
      let v1_1 = v1_0 * v1_0;
      let found2_1_0 = select(f32(), v1_1, depth_1 < p.extent_2);
      let v2_0 = x0_2;
      let v2_1 = v2_0 * v2_0;
      let found2_2_0 = select(f32(), v2_1, depth_2 < p.extent_2);
      let v3_0 = x0_3;
      let v3_1 = v3_0 * v3_0;
      let found2_3_0 = select(f32(), v3_1, depth_3 < p.extent_2);
      let taken2_0_0 = found2_0_0 + found2_1_0;
      let taken2_1_0 = found2_2_0 + found2_3_0;
      let taken2_2_0 = taken2_0_0 + taken2_1_0;
      let sum2 = fuse_hidden1(total2_0 + taken2_2_0, opaque);
      lost2 += fuse_lost1(total2_0, taken2_2_0, sum2);
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
  var c = Sums();
  let a0_o = local / 16u;
  let a0_k = local % 16u;
  let a0_to = a0_k * 9u + a0_o / 4u;
  let a0_at = min(row0 + a0_o, p.extent_0 - 1u);
  let a0_row2 = bitcast<f32>(lhs_rows[a0_o]);
  let a0_row3 = f32(p.size_11);
  let a0_row4 = a0_row2 / a0_row3;
  let a0_row6 = a0_row4 + 1e-6f;
  let a0_row7 = fuse_rsqrt1(a0_row6);
  let a0_base0 = p.offset_0 + a0_at * p.stride_0_0;
  let a0_base1 = p.offset_1;
  var a0_x0: f32;
  var a0_x1: f32;
  let a1_o = (local + 64u) / 16u;
  let a1_k = (local + 64u) % 16u;
  let a1_to = a1_k * 9u + a1_o / 4u;
  let a1_at = min(row0 + a1_o, p.extent_0 - 1u);
  let a1_row2 = bitcast<f32>(lhs_rows[a1_o]);
  let a1_row3 = f32(p.size_11);
  let a1_row4 = a1_row2 / a1_row3;
  let a1_row6 = a1_row4 + 1e-6f;
  let a1_row7 = fuse_rsqrt1(a1_row6);
  let a1_base0 = p.offset_0 + a1_at * p.stride_0_0;
  let a1_base1 = p.offset_1;
  var a1_x0: f32;
  var a1_x1: f32;
  let a2_o = (local + 128u) / 16u;
  let a2_k = (local + 128u) % 16u;
  let a2_to = a2_k * 9u + a2_o / 4u;
  let a2_at = min(row0 + a2_o, p.extent_0 - 1u);
  let a2_row2 = bitcast<f32>(lhs_rows[a2_o]);
  let a2_row3 = f32(p.size_11);
  let a2_row4 = a2_row2 / a2_row3;
  let a2_row6 = a2_row4 + 1e-6f;
  let a2_row7 = fuse_rsqrt1(a2_row6);
  let a2_base0 = p.offset_0 + a2_at * p.stride_0_0;
  let a2_base1 = p.offset_1;
  var a2_x0: f32;
  var a2_x1: f32;
  let a3_o = (local + 192u) / 16u;
  let a3_k = (local + 192u) % 16u;
  let a3_to = a3_k * 9u + a3_o / 4u;
  let a3_at = min(row0 + a3_o, p.extent_0 - 1u);
  let a3_row2 = bitcast<f32>(lhs_rows[a3_o]);
  let a3_row3 = f32(p.size_11);
  let a3_row4 = a3_row2 / a3_row3;
  let a3_row6 = a3_row4 + 1e-6f;
  let a3_row7 = fuse_rsqrt1(a3_row6);
  let a3_base0 = p.offset_0 + a3_at * p.stride_0_0;
  let a3_base1 = p.offset_1;
  var a3_x0: f32;
  var a3_x1: f32;
  let a4_o = (local + 256u) / 16u;
  let a4_k = (local + 256u) % 16u;
  let a4_to = a4_k * 9u + a4_o / 4u;
  let a4_at = min(row0 + a4_o, p.extent_0 - 1u);
  let a4_row2 = bitcast<f32>(lhs_rows[a4_o]);
  let a4_row3 = f32(p.size_11);
  let a4_row4 = a4_row2 / a4_row3;
  let a4_row6 = a4_row4 + 1e-6f;
  let a4_row7 = fuse_rsqrt1(a4_row6);
  let a4_base0 = p.offset_0 + a4_at * p.stride_0_0;
  let a4_base1 = p.offset_1;
  var a4_x0: f32;
  var a4_x1: f32;
  let a5_o = (local + 320u) / 16u;
  let a5_k = (local + 320u) % 16u;
  let a5_to = a5_k * 9u + a5_o / 4u;
  let a5_at = min(row0 + a5_o, p.extent_0 - 1u);
  let a5_row2 = bitcast<f32>(lhs_rows[a5_o]);
  let a5_row3 = f32(p.size_11);
  let a5_row4 = a5_row2 / a5_row3;
  let a5_row6 = a5_row4 + 1e-6f;
  let a5_row7 = fuse_rsqrt1(a5_row6);
  let a5_base0 = p.offset_0 + a5_at * p.stride_0_0;
  let a5_base1 = p.offset_1;
  var a5_x0: f32;
  var a5_x1: f32;
  let a6_o = (local + 384u) / 16u;
  let a6_k = (local + 384u) % 16u;
  let a6_to = a6_k * 9u + a6_o / 4u;
  let a6_at = min(row0 + a6_o, p.extent_0 - 1u);
  let a6_row2 = bitcast<f32>(lhs_rows[a6_o]);
  let a6_row3 = f32(p.size_11);
  let a6_row4 = a6_row2 / a6_row3;
  let a6_row6 = a6_row4 + 1e-6f;
  let a6_row7 = fuse_rsqrt1(a6_row6);
  let a6_base0 = p.offset_0 + a6_at * p.stride_0_0;
  let a6_base1 = p.offset_1;
  var a6_x0: f32;
  var a6_x1: f32;
  let a7_o = (local + 448u) / 16u;
  let a7_k = (local + 448u) % 16u;
  let a7_to = a7_k * 9u + a7_o / 4u;
  let a7_at = min(row0 + a7_o, p.extent_0 - 1u);
  let a7_row2 = bitcast<f32>(lhs_rows[a7_o]);
  let a7_row3 = f32(p.size_11);
  let a7_row4 = a7_row2 / a7_row3;
  let a7_row6 = a7_row4 + 1e-6f;
  let a7_row7 = fuse_rsqrt1(a7_row6);
  let a7_base0 = p.offset_0 + a7_at * p.stride_0_0;
  let a7_base1 = p.offset_1;
  var a7_x0: f32;
  var a7_x1: f32;
  let b0_o = local % 32u;
  let b0_k = local / 32u;
  let b0_to = b0_k * 9u + b0_o / 4u;
  let b0_at = min(column0 + b0_o, p.extent_1 - 1u);
  let b0_base2 = p.offset_2 + b0_at * p.stride_2_1;
  var b0_x2: f32;
  let b1_o = (local + 64u) % 32u;
  let b1_k = (local + 64u) / 32u;
  let b1_to = b1_k * 9u + b1_o / 4u;
  let b1_at = min(column0 + b1_o, p.extent_1 - 1u);
  let b1_base2 = p.offset_2 + b1_at * p.stride_2_1;
  var b1_x2: f32;
  let b2_o = (local + 128u) % 32u;
  let b2_k = (local + 128u) / 32u;
  let b2_to = b2_k * 9u + b2_o / 4u;
  let b2_at = min(column0 + b2_o, p.extent_1 - 1u);
  let b2_base2 = p.offset_2 + b2_at * p.stride_2_1;
  var b2_x2: f32;
  let b3_o = (local + 192u) % 32u;
  let b3_k = (local + 192u) / 32u;
  let b3_to = b3_k * 9u + b3_o / 4u;
  let b3_at = min(column0 + b3_o, p.extent_1 - 1u);
  let b3_base2 = p.offset_2 + b3_at * p.stride_2_1;
  var b3_x2: f32;
  let b4_o = (local + 256u) % 32u;
  let b4_k = (local + 256u) / 32u;
  let b4_to = b4_k * 9u + b4_o / 4u;
  let b4_at = min(column0 + b4_o, p.extent_1 - 1u);
  let b4_base2 = p.offset_2 + b4_at * p.stride_2_1;
  var b4_x2: f32;
  let b5_o = (local + 320u) % 32u;
  let b5_k = (local + 320u) / 32u;
  let b5_to = b5_k * 9u + b5_o / 4u;
  let b5_at = min(column0 + b5_o, p.extent_1 - 1u);
  let b5_base2 = p.offset_2 + b5_at * p.stride_2_1;
  var b5_x2: f32;
  let b6_o = (local + 384u) % 32u;
  let b6_k = (local + 384u) / 32u;
  let b6_to = b6_k * 9u + b6_o / 4u;
  let b6_at = min(column0 + b6_o, p.extent_1 - 1u);
  let b6_base2 = p.offset_2 + b6_at * p.stride_2_1;
  var b6_x2: f32;
  let b7_o = (local + 448u) % 32u;
  let b7_k = (local + 448u) / 32u;
  let b7_to = b7_k * 9u + b7_o / 4u;
  let b7_at = min(column0 + b7_o, p.extent_1 - 1u);
  let b7_base2 = p.offset_2 + b7_at * p.stride_2_1;
  var b7_x2: f32;
  if k_begin < k_end {
    {
      let start = min(k_begin + a0_k, k_end - 1u);
      a0_x0 = in_0[a0_base0 + start * p.stride_0_1];
      a0_x1 = in_1[a0_base1 + start * p.stride_1_1];
    }
    {
      let start = min(k_begin + a1_k, k_end - 1u);
      a1_x0 = in_0[a1_base0 + start * p.stride_0_1];
      a1_x1 = in_1[a1_base1 + start * p.stride_1_1];
    }
    {
      let start = min(k_begin + a2_k, k_end - 1u);
      a2_x0 = in_0[a2_base0 + start * p.stride_0_1];
      a2_x1 = in_1[a2_base1 + start * p.stride_1_1];
    }
    {
      let start = min(k_begin + a3_k, k_end - 1u);
      a3_x0 = in_0[a3_base0 + start * p.stride_0_1];
      a3_x1 = in_1[a3_base1 + start * p.stride_1_1];
    }
    {
      let start = min(k_begin + a4_k, k_end - 1u);
      a4_x0 = in_0[a4_base0 + start * p.stride_0_1];
      a4_x1 = in_1[a4_base1 + start * p.stride_1_1];
    }
    {
      let start = min(k_begin + a5_k, k_end - 1u);
      a5_x0 = in_0[a5_base0 + start * p.stride_0_1];
      a5_x1 = in_1[a5_base1 + start * p.stride_1_1];
    }
    {
      let start = min(k_begin + a6_k, k_end - 1u);
      a6_x0 = in_0[a6_base0 + start * p.stride_0_1];
      a6_x1 = in_1[a6_base1 + start * p.stride_1_1];
    }
    {
      let start = min(k_begin + a7_k, k_end - 1u);
      a7_x0 = in_0[a7_base0 + start * p.stride_0_1];
      a7_x1 = in_1[a7_base1 + start * p.stride_1_1];
    }
    {
      let start = min(k_begin + b0_k, k_end - 1u);
      b0_x2 = in_2[b0_base2 + start * p.stride_2_0];
    }
    {
      let start = min(k_begin + b1_k, k_end - 1u);
      b1_x2 = in_2[b1_base2 + start * p.stride_2_0];
    }
    {
      let start = min(k_begin + b2_k, k_end - 1u);
      b2_x2 = in_2[b2_base2 + start * p.stride_2_0];
    }
    {
      let start = min(k_begin + b3_k, k_end - 1u);
      b3_x2 = in_2[b3_base2 + start * p.stride_2_0];
    }
    {
      let start = min(k_begin + b4_k, k_end - 1u);
      b4_x2 = in_2[b4_base2 + start * p.stride_2_0];
    }
    {
      let start = min(k_begin + b5_k, k_end - 1u);
      b5_x2 = in_2[b5_base2 + start * p.stride_2_0];
    }
    {
      let start = min(k_begin + b6_k, k_end - 1u);
      b6_x2 = in_2[b6_base2 + start * p.stride_2_0];
    }
    {
      let start = min(k_begin + b7_k, k_end - 1u);
      b7_x2 = in_2[b7_base2 + start * p.stride_2_0];
    }
  }
  for (var k0 = k_begin; k0 < k_end; k0 += 16u) {
    {
      let a0 = a0_x0;
      let a8 = a0 * a0_row7;
      let a9 = a0_x1;
      let a10 = a8 * a9;
      let value = select(f32(), a10, k0 + a0_k < k_end);
      lhs_tile[a0_to][a0_o % 4u] = value;
    }
    {
      let a0 = a1_x0;
      let a8 = a0 * a1_row7;
      let a9 = a1_x1;
      let a10 = a8 * a9;
      let value = select(f32(), a10, k0 + a1_k < k_end);
      lhs_tile[a1_to][a1_o % 4u] = value;
    }
    {
      let a0 = a2_x0;
      let a8 = a0 * a2_row7;
      let a9 = a2_x1;
      let a10 = a8 * a9;
      let value = select(f32(), a10, k0 + a2_k < k_end);
      lhs_tile[a2_to][a2_o % 4u] = value;
    }
    {
      let a0 = a3_x0;
      let a8 = a0 * a3_row7;
      let a9 = a3_x1;
      let a10 = a8 * a9;
      let value = select(f32(), a10, k0 + a3_k < k_end);
      lhs_tile[a3_to][a3_o % 4u] = value;
    }
    {
      let a0 = a4_x0;
      let a8 = a0 * a4_row7;
      let a9 = a4_x1;
      let a10 = a8 * a9;
      let value = select(f32(), a10, k0 + a4_k < k_end);
      lhs_tile[a4_to][a4_o % 4u] = value;
    }
    {
      let a0 = a5_x0;
      let a8 = a0 * a5_row7;
      let a9 = a5_x1;
      let a10 = a8 * a9;
      let value = select(f32(), a10, k0 + a5_k < k_end);
      lhs_tile[a5_to][a5_o % 4u] = value;
    }
    {
      let a0 = a6_x0;
      let a8 = a0 * a6_row7;
      let a9 = a6_x1;
      let a10 = a8 * a9;
      let value = select(f32(), a10, k0 + a6_k < k_end);
      lhs_tile[a6_to][a6_o % 4u] = value;
    }
    {
      let a0 = a7_x0;
      let a8 = a0 * a7_row7;
      let a9 = a7_x1;
      let a10 = a8 * a9;
      let value = select(f32(), a10, k0 + a7_k < k_end);
      lhs_tile[a7_to][a7_o % 4u] = value;
    }
    {
      let value = select(f32(), b0_x2, k0 + b0_k < k_end);
      rhs_tile[b0_to][b0_o % 4u] = value;
    }
    {
      let value = select(f32(), b1_x2, k0 + b1_k < k_end);
      rhs_tile[b1_to][b1_o % 4u] = value;
    }
    {
      let value = select(f32(), b2_x2, k0 + b2_k < k_end);
      rhs_tile[b2_to][b2_o % 4u] = value;
    }
    {
      let value = select(f32(), b3_x2, k0 + b3_k < k_end);
      rhs_tile[b3_to][b3_o % 4u] = value;
    }
    {
      let value = select(f32(), b4_x2, k0 + b4_k < k_end);
      rhs_tile[b4_to][b4_o % 4u] = value;
    }
    {
      let value = select(f32(), b5_x2, k0 + b5_k < k_end);
      rhs_tile[b5_to][b5_o % 4u] = value;
    }
    {
      let value = select(f32(), b6_x2, k0 + b6_k < k_end);
      rhs_tile[b6_to][b6_o % 4u] = value;
    }
    {
      let value = select(f32(), b7_x2, k0 + b7_k < k_end);
      rhs_tile[b7_to][b7_o % 4u] = value;
    }
    workgroupBarrier();
    if k0 + 16u < k_end {
      {
        let start = min(k0 + 16u + a0_k, k_end - 1u);
        a0_x0 = in_0[a0_base0 + start * p.stride_0_1];
        a0_x1 = in_1[a0_base1 + start * p.stride_1_1];
      }
      {
        let start = min(k0 + 16u + a1_k, k_end - 1u);
        a1_x0 = in_0[a1_base0 + start * p.stride_0_1];
        a1_x1 = in_1[a1_base1 + start * p.stride_1_1];
      }
      {
        let start = min(k0 + 16u + a2_k, k_end - 1u);
        a2_x0 = in_0[a2_base0 + start * p.stride_0_1];
        a2_x1 = in_1[a2_base1 + start * p.stride_1_1];
      }
      {
        let start = min(k0 + 16u + a3_k, k_end - 1u);
        a3_x0 = in_0[a3_base0 + start * p.stride_0_1];
        a3_x1 = in_1[a3_base1 + start * p.stride_1_1];
      }
      {
        let start = min(k0 + 16u + a4_k, k_end - 1u);
        a4_x0 = in_0[a4_base0 + start * p.stride_0_1];
        a4_x1 = in_1[a4_base1 + start * p.stride_1_1];
      }
      {
        let start = min(k0 + 16u + a5_k, k_end - 1u);
        a5_x0 = in_0[a5_base0 + start * p.stride_0_1];
        a5_x1 = in_1[a5_base1 + start * p.stride_1_1];
      }
      {
        let start = min(k0 + 16u + a6_k, k_end - 1u);
        a6_x0 = in_0[a6_base0 + start * p.stride_0_1];
        a6_x1 = in_1[a6_base1 + start * p.stride_1_1];
      }
      {
        let start = min(k0 + 16u + a7_k, k_end - 1u);
        a7_x0 = in_0[a7_base0 + start * p.stride_0_1];
        a7_x1 = in_1[a7_base1 + start * p.stride_1_1];
      }
      {
        let start = min(k0 + 16u + b0_k, k_end - 1u);
        b0_x2 = in_2[b0_base2 + start * p.stride_2_0];
      }
      {
        let start = min(k0 + 16u + b1_k, k_end - 1u);
        b1_x2 = in_2[b1_base2 + start * p.stride_2_0];
      }
      {
        let start = min(k0 + 16u + b2_k, k_end - 1u);
        b2_x2 = in_2[b2_base2 + start * p.stride_2_0];
      }
      {
        let start = min(k0 + 16u + b3_k, k_end - 1u);
        b3_x2 = in_2[b3_base2 + start * p.stride_2_0];
      }
      {
        let start = min(k0 + 16u + b4_k, k_end - 1u);
        b4_x2 = in_2[b4_base2 + start * p.stride_2_0];
      }
      {
        let start = min(k0 + 16u + b5_k, k_end - 1u);
        b5_x2 = in_2[b5_base2 + start * p.stride_2_0];
      }
      {
        let start = min(k0 + 16u + b6_k, k_end - 1u);
        b6_x2 = in_2[b6_base2 + start * p.stride_2_0];
      }
      {
        let start = min(k0 + 16u + b7_k, k_end - 1u);
        b7_x2 = in_2[b7_base2 + start * p.stride_2_0];
      }
    }
    update(&c, lhs_tile[ty], rhs_tile[tx]);
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
