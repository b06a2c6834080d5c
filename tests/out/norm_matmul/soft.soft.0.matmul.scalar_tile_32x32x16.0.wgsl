struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  workgroups: u32,
  row_tiles: u32,
  column_tiles: u32,
  offset_0: u32,
  stride_0_0: u32,
  stride_0_1: u32,
  offset_1: u32,
  stride_1_1: u32,
  stride_1_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read> in_1: array<f32>;
@group(0) @binding(3) var<storage, read_write> out_0: array<f32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

fn fuse_is_nan1(x: f32) -> bool {
  return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
}
fn fuse_max_key1(x: f32) -> i32 {
  let bits = bitcast<i32>(x);
  let key = bits ^ ((bits >> u32(31u)) & i32(0x7fffffff));
  return select(key, i32(0x7fffffff), fuse_is_nan1(x));
}
fn fuse_of_key1(key: i32) -> f32 {
  return bitcast<f32>(key ^ ((key >> u32(31u)) & i32(0x7fffffff)));
}
fn fuse_hidden1(x: f32, opaque: u32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ u32(opaque));
}
fn fuse_lost1(a: f32, b: f32, s: f32) -> f32 {
  let ordered = abs(a) >= abs(b);
  return (select(b, a, ordered) - s) + select(a, b, ordered);
}
fn fuse_restored1(sum: f32, lost: f32) -> f32 {
  return select(sum + lost, sum, fuse_is_nan1(lost));
}
fn finish(batch: u32, row: u32, column: u32, sum: f32) {
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let v0 = sum;
  let at = (batch * p.extent_0 + row) * p.extent_1 + column;
  out_0[at] = v0;
}
var<workgroup> lhs_tile: array<vec4<f32>, 144>;
var<workgroup> rhs_tile: array<vec4<f32>, 144>;
var<workgroup> lhs_rows: array<u32, 64>;
var<workgroup> lhs_parts0: array<u32, 544>;
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
  let opaque = select(0u, 1u, p.extent_2 == 4294967295u);
  for (var row = local / 16u; row < 32u; row += 4u) {
    let at_row = min(row0 + row, p.extent_0 - 1u);
    let row_base0 = p.offset_0 + at_row * p.stride_0_0;
    var total1_0 = -2139095041i;
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
      let found1_0_0 = select(-2139095041i, fuse_max_key1(v0_0), depth_0 < p.extent_2);
      let v1_0 = x0_1;
      let found1_1_0 = select(-2139095041i, fuse_max_key1(v1_0), depth_1 < p.extent_2);
      let v2_0 = x0_2;
      let found1_2_0 = select(-2139095041i, fuse_max_key1(v2_0), depth_2 < p.extent_2);
      let v3_0 = x0_3;
      let found1_3_0 = select(-2139095041i, fuse_max_key1(v3_0), depth_3 < p.extent_2);
      let taken1_0_0 = max(found1_0_0, found1_1_0);
      let taken1_1_0 = max(found1_2_0, found1_3_0);
      let taken1_2_0 = max(taken1_0_0, taken1_1_0);
      let merged1_0 = max(total1_0, taken1_2_0);
      total1_0 = merged1_0;
    }
    lhs_parts0[row * 17u + local % 16u] = bitcast<u32>(total1_0);
  }
  workgroupBarrier();
  for (var row = local; row < 32u; row += 64u) {
    let first = row * 17u;
    let part0_0 = bitcast<i32>(lhs_parts0[first]);
    let part0_1 = bitcast<i32>(lhs_parts0[first + 1u]);
    let part0_2 = bitcast<i32>(lhs_parts0[first + 2u]);
    let part0_3 = bitcast<i32>(lhs_parts0[first + 3u]);
    let part0_4 = bitcast<i32>(lhs_parts0[first + 4u]);
    let part0_5 = bitcast<i32>(lhs_parts0[first + 5u]);
    let part0_6 = bitcast<i32>(lhs_parts0[first + 6u]);
    let part0_7 = bitcast<i32>(lhs_parts0[first + 7u]);
    let part0_8 = bitcast<i32>(lhs_parts0[first + 8u]);
    let part0_9 = bitcast<i32>(lhs_parts0[first + 9u]);
    let part0_10 = bitcast<i32>(lhs_parts0[first + 10u]);
    let part0_11 = bitcast<i32>(lhs_parts0[first + 11u]);
    let part0_12 = bitcast<i32>(lhs_parts0[first + 12u]);
    let part0_13 = bitcast<i32>(lhs_parts0[first + 13u]);
    let part0_14 = bitcast<i32>(lhs_parts0[first + 14u]);
    let part0_15 = bitcast<i32>(lhs_parts0[first + 15u]);
    let together1_0_0 = max(part0_0, part0_1);
    let together1_1_0 = max(part0_2, part0_3);
    let together1_2_0 = max(part0_4, part0_5);
    let together1_3_0 = max(part0_6, part0_7);
    let together1_4_0 = max(part0_8, part0_9);
    let together1_5_0 = max(part0_10, part0_11);
    let together1_6_0 = max(part0_12, part0_13);
    let together1_7_0 = max(part0_14, part0_15);
    let together1_8_0 = max(together1_0_0, together1_1_0);
    let together1_9_0 = max(together1_2_0, together1_3_0);
    let together1_10_0 = max(together1_4_0, together1_5_0);
    let together1_11_0 = max(together1_6_0, together1_7_0);
    let together1_12_0 = max(together1_8_0, together1_9_0);
    let together1_13_0 = max(together1_10_0, together1_11_0);
    let together1_14_0 = max(together1_12_0, together1_13_0);
    lhs_rows[row] = bitcast<u32>(together1_14_0);
  }
  workgroupBarrier();
  for (var row = local / 16u; row < 32u; row += 4u) {
    let at_row = min(row0 + row, p.extent_0 - 1u);
    let row_v1 = fuse_of_key1(bitcast<i32>(lhs_rows[row]));
    let row_base0 = p.offset_0 + at_row * p.stride_0_0;
    var total4_0 = f32();
    var lost4 = f32();
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
      let v0_2 = v0_0 - row_v1;
      let v0_3 = exp(v0_2);
      let found4_0_0 = select(f32(), v0_3, depth_0 < p.extent_2);
      let v1_0 = x0_1;
      let v1_2 = v1_0 - row_v1;
      let v1_3 = exp(v1_2);
      let found4_1_0 = select(f32(), v1_3, depth_1 < p.extent_2);
      let v2_0 = x0_2;
      let v2_2 = v2_0 - row_v1;
      let v2_3 = exp(v2_2);
      let found4_2_0 = select(f32(), v2_3, depth_2 < p.extent_2);
      let v3_0 = x0_3;
      let v3_2 = v3_0 - row_v1;
      let v3_3 = exp(v3_2);
      let found4_3_0 = select(f32(), v3_3, depth_3 < p.extent_2);
      let taken4_0_0 = found4_0_0 + found4_1_0;
      let taken4_1_0 = found4_2_0 + found4_3_0;
      let taken4_2_0 = taken4_0_0 + taken4_1_0;
      let sum4 = fuse_hidden1(total4_0 + taken4_2_0, opaque);
      lost4 = lost4 + fuse_lost1(total4_0, taken4_2_0, sum4);
      total4_0 = sum4;
    }
    lhs_parts0[row * 17u + local % 16u] = bitcast<u32>(fuse_restored1(total4_0, lost4));
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
    let together4_0_0 = part0_0 + part0_1;
    let together4_1_0 = part0_2 + part0_3;
    let together4_2_0 = part0_4 + part0_5;
    let together4_3_0 = part0_6 + part0_7;
    let together4_4_0 = part0_8 + part0_9;
    let together4_5_0 = part0_10 + part0_11;
    let together4_6_0 = part0_12 + part0_13;
    let together4_7_0 = part0_14 + part0_15;
    let together4_8_0 = together4_0_0 + together4_1_0;
    let together4_9_0 = together4_2_0 + together4_3_0;
    let together4_10_0 = together4_4_0 + together4_5_0;
    let together4_11_0 = together4_6_0 + together4_7_0;
    let together4_12_0 = together4_8_0 + together4_9_0;
    let together4_13_0 = together4_10_0 + together4_11_0;
    let together4_14_0 = together4_12_0 + together4_13_0;
    lhs_rows[row + 32u] = bitcast<u32>(together4_14_0);
  }
  workgroupBarrier();
  var c = Sums();
  let a0_o = (local + 0u) / 16u;
  let a0_k = ((local + 0u) % 16u) * 1u;
  let a0_at = min(row0 + a0_o, p.extent_0 - 1u);
  let a0_row1 = fuse_of_key1(bitcast<i32>(lhs_rows[a0_o]));
  let a0_row4 = bitcast<f32>(lhs_rows[a0_o + 32u]);
  let a0_base0 = (p.offset_0 + a0_at * p.stride_0_0);
  var a0_x0: f32;
  let a1_o = (local + 64u) / 16u;
  let a1_k = ((local + 64u) % 16u) * 1u;
  let a1_at = min(row0 + a1_o, p.extent_0 - 1u);
  let a1_row1 = fuse_of_key1(bitcast<i32>(lhs_rows[a1_o]));
  let a1_row4 = bitcast<f32>(lhs_rows[a1_o + 32u]);
  let a1_base0 = (p.offset_0 + a1_at * p.stride_0_0);
  var a1_x0: f32;
  let a2_o = (local + 128u) / 16u;
  let a2_k = ((local + 128u) % 16u) * 1u;
  let a2_at = min(row0 + a2_o, p.extent_0 - 1u);
  let a2_row1 = fuse_of_key1(bitcast<i32>(lhs_rows[a2_o]));
  let a2_row4 = bitcast<f32>(lhs_rows[a2_o + 32u]);
  let a2_base0 = (p.offset_0 + a2_at * p.stride_0_0);
  var a2_x0: f32;
  let a3_o = (local + 192u) / 16u;
  let a3_k = ((local + 192u) % 16u) * 1u;
  let a3_at = min(row0 + a3_o, p.extent_0 - 1u);
  let a3_row1 = fuse_of_key1(bitcast<i32>(lhs_rows[a3_o]));
  let a3_row4 = bitcast<f32>(lhs_rows[a3_o + 32u]);
  let a3_base0 = (p.offset_0 + a3_at * p.stride_0_0);
  var a3_x0: f32;
  let a4_o = (local + 256u) / 16u;
  let a4_k = ((local + 256u) % 16u) * 1u;
  let a4_at = min(row0 + a4_o, p.extent_0 - 1u);
  let a4_row1 = fuse_of_key1(bitcast<i32>(lhs_rows[a4_o]));
  let a4_row4 = bitcast<f32>(lhs_rows[a4_o + 32u]);
  let a4_base0 = (p.offset_0 + a4_at * p.stride_0_0);
  var a4_x0: f32;
  let a5_o = (local + 320u) / 16u;
  let a5_k = ((local + 320u) % 16u) * 1u;
  let a5_at = min(row0 + a5_o, p.extent_0 - 1u);
  let a5_row1 = fuse_of_key1(bitcast<i32>(lhs_rows[a5_o]));
  let a5_row4 = bitcast<f32>(lhs_rows[a5_o + 32u]);
  let a5_base0 = (p.offset_0 + a5_at * p.stride_0_0);
  var a5_x0: f32;
  let a6_o = (local + 384u) / 16u;
  let a6_k = ((local + 384u) % 16u) * 1u;
  let a6_at = min(row0 + a6_o, p.extent_0 - 1u);
  let a6_row1 = fuse_of_key1(bitcast<i32>(lhs_rows[a6_o]));
  let a6_row4 = bitcast<f32>(lhs_rows[a6_o + 32u]);
  let a6_base0 = (p.offset_0 + a6_at * p.stride_0_0);
  var a6_x0: f32;
  let a7_o = (local + 448u) / 16u;
  let a7_k = ((local + 448u) % 16u) * 1u;
  let a7_at = min(row0 + a7_o, p.extent_0 - 1u);
  let a7_row1 = fuse_of_key1(bitcast<i32>(lhs_rows[a7_o]));
  let a7_row4 = bitcast<f32>(lhs_rows[a7_o + 32u]);
  let a7_base0 = (p.offset_0 + a7_at * p.stride_0_0);
  var a7_x0: f32;
  let b0_o = ((local + 0u) % 32u) * 1u;
  let b0_k = (local + 0u) / 32u;
  let b0_at = min(column0 + b0_o, p.extent_1 - 1u);
  let b0_base1 = (p.offset_1 + b0_at * p.stride_1_1);
  var b0_x1: f32;
  let b1_o = ((local + 64u) % 32u) * 1u;
  let b1_k = (local + 64u) / 32u;
  let b1_at = min(column0 + b1_o, p.extent_1 - 1u);
  let b1_base1 = (p.offset_1 + b1_at * p.stride_1_1);
  var b1_x1: f32;
  let b2_o = ((local + 128u) % 32u) * 1u;
  let b2_k = (local + 128u) / 32u;
  let b2_at = min(column0 + b2_o, p.extent_1 - 1u);
  let b2_base1 = (p.offset_1 + b2_at * p.stride_1_1);
  var b2_x1: f32;
  let b3_o = ((local + 192u) % 32u) * 1u;
  let b3_k = (local + 192u) / 32u;
  let b3_at = min(column0 + b3_o, p.extent_1 - 1u);
  let b3_base1 = (p.offset_1 + b3_at * p.stride_1_1);
  var b3_x1: f32;
  let b4_o = ((local + 256u) % 32u) * 1u;
  let b4_k = (local + 256u) / 32u;
  let b4_at = min(column0 + b4_o, p.extent_1 - 1u);
  let b4_base1 = (p.offset_1 + b4_at * p.stride_1_1);
  var b4_x1: f32;
  let b5_o = ((local + 320u) % 32u) * 1u;
  let b5_k = (local + 320u) / 32u;
  let b5_at = min(column0 + b5_o, p.extent_1 - 1u);
  let b5_base1 = (p.offset_1 + b5_at * p.stride_1_1);
  var b5_x1: f32;
  let b6_o = ((local + 384u) % 32u) * 1u;
  let b6_k = (local + 384u) / 32u;
  let b6_at = min(column0 + b6_o, p.extent_1 - 1u);
  let b6_base1 = (p.offset_1 + b6_at * p.stride_1_1);
  var b6_x1: f32;
  let b7_o = ((local + 448u) % 32u) * 1u;
  let b7_k = (local + 448u) / 32u;
  let b7_at = min(column0 + b7_o, p.extent_1 - 1u);
  let b7_base1 = (p.offset_1 + b7_at * p.stride_1_1);
  var b7_x1: f32;
  if k_begin < k_end {
    let a0_depth = min(k_begin + a0_k, k_end - 1u);
    a0_x0 = in_0[a0_base0 + a0_depth * p.stride_0_1];
    let a1_depth = min(k_begin + a1_k, k_end - 1u);
    a1_x0 = in_0[a1_base0 + a1_depth * p.stride_0_1];
    let a2_depth = min(k_begin + a2_k, k_end - 1u);
    a2_x0 = in_0[a2_base0 + a2_depth * p.stride_0_1];
    let a3_depth = min(k_begin + a3_k, k_end - 1u);
    a3_x0 = in_0[a3_base0 + a3_depth * p.stride_0_1];
    let a4_depth = min(k_begin + a4_k, k_end - 1u);
    a4_x0 = in_0[a4_base0 + a4_depth * p.stride_0_1];
    let a5_depth = min(k_begin + a5_k, k_end - 1u);
    a5_x0 = in_0[a5_base0 + a5_depth * p.stride_0_1];
    let a6_depth = min(k_begin + a6_k, k_end - 1u);
    a6_x0 = in_0[a6_base0 + a6_depth * p.stride_0_1];
    let a7_depth = min(k_begin + a7_k, k_end - 1u);
    a7_x0 = in_0[a7_base0 + a7_depth * p.stride_0_1];
    let b0_depth = min(k_begin + b0_k, k_end - 1u);
    b0_x1 = in_1[b0_base1 + b0_depth * p.stride_1_0];
    let b1_depth = min(k_begin + b1_k, k_end - 1u);
    b1_x1 = in_1[b1_base1 + b1_depth * p.stride_1_0];
    let b2_depth = min(k_begin + b2_k, k_end - 1u);
    b2_x1 = in_1[b2_base1 + b2_depth * p.stride_1_0];
    let b3_depth = min(k_begin + b3_k, k_end - 1u);
    b3_x1 = in_1[b3_base1 + b3_depth * p.stride_1_0];
    let b4_depth = min(k_begin + b4_k, k_end - 1u);
    b4_x1 = in_1[b4_base1 + b4_depth * p.stride_1_0];
    let b5_depth = min(k_begin + b5_k, k_end - 1u);
    b5_x1 = in_1[b5_base1 + b5_depth * p.stride_1_0];
    let b6_depth = min(k_begin + b6_k, k_end - 1u);
    b6_x1 = in_1[b6_base1 + b6_depth * p.stride_1_0];
    let b7_depth = min(k_begin + b7_k, k_end - 1u);
    b7_x1 = in_1[b7_base1 + b7_depth * p.stride_1_0];
  }
  for (var k0 = k_begin; k0 < k_end; k0 += 16u) {
    {
      let a0 = a0_x0;
      let a2 = a0 - a0_row1;
      let a3 = exp(a2);
      let a5 = a3 / a0_row4;
      put_lhs_tile(a0_o, a0_k, select(f32(), a5, k0 + a0_k < k_end));
    }
    {
      let a0 = a1_x0;
      let a2 = a0 - a1_row1;
      let a3 = exp(a2);
      let a5 = a3 / a1_row4;
      put_lhs_tile(a1_o, a1_k, select(f32(), a5, k0 + a1_k < k_end));
    }
    {
      let a0 = a2_x0;
      let a2 = a0 - a2_row1;
      let a3 = exp(a2);
      let a5 = a3 / a2_row4;
      put_lhs_tile(a2_o, a2_k, select(f32(), a5, k0 + a2_k < k_end));
    }
    {
      let a0 = a3_x0;
      let a2 = a0 - a3_row1;
      let a3 = exp(a2);
      let a5 = a3 / a3_row4;
      put_lhs_tile(a3_o, a3_k, select(f32(), a5, k0 + a3_k < k_end));
    }
    {
      let a0 = a4_x0;
      let a2 = a0 - a4_row1;
      let a3 = exp(a2);
      let a5 = a3 / a4_row4;
      put_lhs_tile(a4_o, a4_k, select(f32(), a5, k0 + a4_k < k_end));
    }
    {
      let a0 = a5_x0;
      let a2 = a0 - a5_row1;
      let a3 = exp(a2);
      let a5 = a3 / a5_row4;
      put_lhs_tile(a5_o, a5_k, select(f32(), a5, k0 + a5_k < k_end));
    }
    {
      let a0 = a6_x0;
      let a2 = a0 - a6_row1;
      let a3 = exp(a2);
      let a5 = a3 / a6_row4;
      put_lhs_tile(a6_o, a6_k, select(f32(), a5, k0 + a6_k < k_end));
    }
    {
      let a0 = a7_x0;
      let a2 = a0 - a7_row1;
      let a3 = exp(a2);
      let a5 = a3 / a7_row4;
      put_lhs_tile(a7_o, a7_k, select(f32(), a5, k0 + a7_k < k_end));
    }
    put_rhs_tile(b0_o, b0_k, select(f32(), b0_x1, k0 + b0_k < k_end));
    put_rhs_tile(b1_o, b1_k, select(f32(), b1_x1, k0 + b1_k < k_end));
    put_rhs_tile(b2_o, b2_k, select(f32(), b2_x1, k0 + b2_k < k_end));
    put_rhs_tile(b3_o, b3_k, select(f32(), b3_x1, k0 + b3_k < k_end));
    put_rhs_tile(b4_o, b4_k, select(f32(), b4_x1, k0 + b4_k < k_end));
    put_rhs_tile(b5_o, b5_k, select(f32(), b5_x1, k0 + b5_k < k_end));
    put_rhs_tile(b6_o, b6_k, select(f32(), b6_x1, k0 + b6_k < k_end));
    put_rhs_tile(b7_o, b7_k, select(f32(), b7_x1, k0 + b7_k < k_end));
    workgroupBarrier();
    if k0 + 16u < k_end {
      let a0_depth = min(k0 + 16u + a0_k, k_end - 1u);
      a0_x0 = in_0[a0_base0 + a0_depth * p.stride_0_1];
      let a1_depth = min(k0 + 16u + a1_k, k_end - 1u);
      a1_x0 = in_0[a1_base0 + a1_depth * p.stride_0_1];
      let a2_depth = min(k0 + 16u + a2_k, k_end - 1u);
      a2_x0 = in_0[a2_base0 + a2_depth * p.stride_0_1];
      let a3_depth = min(k0 + 16u + a3_k, k_end - 1u);
      a3_x0 = in_0[a3_base0 + a3_depth * p.stride_0_1];
      let a4_depth = min(k0 + 16u + a4_k, k_end - 1u);
      a4_x0 = in_0[a4_base0 + a4_depth * p.stride_0_1];
      let a5_depth = min(k0 + 16u + a5_k, k_end - 1u);
      a5_x0 = in_0[a5_base0 + a5_depth * p.stride_0_1];
      let a6_depth = min(k0 + 16u + a6_k, k_end - 1u);
      a6_x0 = in_0[a6_base0 + a6_depth * p.stride_0_1];
      let a7_depth = min(k0 + 16u + a7_k, k_end - 1u);
      a7_x0 = in_0[a7_base0 + a7_depth * p.stride_0_1];
      let b0_depth = min(k0 + 16u + b0_k, k_end - 1u);
      b0_x1 = in_1[b0_base1 + b0_depth * p.stride_1_0];
      let b1_depth = min(k0 + 16u + b1_k, k_end - 1u);
      b1_x1 = in_1[b1_base1 + b1_depth * p.stride_1_0];
      let b2_depth = min(k0 + 16u + b2_k, k_end - 1u);
      b2_x1 = in_1[b2_base1 + b2_depth * p.stride_1_0];
      let b3_depth = min(k0 + 16u + b3_k, k_end - 1u);
      b3_x1 = in_1[b3_base1 + b3_depth * p.stride_1_0];
      let b4_depth = min(k0 + 16u + b4_k, k_end - 1u);
      b4_x1 = in_1[b4_base1 + b4_depth * p.stride_1_0];
      let b5_depth = min(k0 + 16u + b5_k, k_end - 1u);
      b5_x1 = in_1[b5_base1 + b5_depth * p.stride_1_0];
      let b6_depth = min(k0 + 16u + b6_k, k_end - 1u);
      b6_x1 = in_1[b6_base1 + b6_depth * p.stride_1_0];
      let b7_depth = min(k0 + 16u + b7_k, k_end - 1u);
      b7_x1 = in_1[b7_base1 + b7_depth * p.stride_1_0];
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
