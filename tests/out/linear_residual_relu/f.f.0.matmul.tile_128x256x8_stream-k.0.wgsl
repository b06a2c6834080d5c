struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  offset_2: u32,
  offset_3: u32,
  stride_3_0: u32,
  workgroups: u32,
  split_depth: u32,
  row_tiles: u32,
  column_tiles: u32,
  whole_tiles: u32,
  splits: u32,
  offset_0: u32,
  stride_0_0: u32,
  offset_1: u32,
  stride_1_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in_2: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> in_3: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> scratch: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> out_0: array<vec4<f32>>;
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
var<private> is_part: bool;
var<private> part_at: u32;
var<private> part_row: u32;
var<private> part_column: u32;
fn finish(batch: u32, row: u32, column: u32, sum: vec4<f32>) {
  if is_part {
    let vector = part_at + (row - part_row) * 64u + (column - part_column) / 4u;
    scratch[vector + 0u] = sum;
    return;
  }
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let x2 = in_2[(p.offset_2 + column) / 4u];
  let x3 = in_3[(p.offset_3 + row * p.stride_3_0 + column) / 4u];
  let v0 = sum;
  let v1 = x2;
  let v2 = v0 + v1;
  let v3 = x3;
  let v4 = v2 + v3;
  let v5 = fuse_relu4(v4);
  let at = (batch * p.extent_0 + row) * p.extent_1 + column;
  out_0[at / 4u] = v5;
}
var<workgroup> lhs_tile: array<vec4<f32>, 264>;
var<workgroup> rhs_tile: array<vec4<f32>, 520>;
struct Sums {
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
  s4_0: vec4<f32>,
  s4_1: vec4<f32>,
  s4_2: vec4<f32>,
  s4_3: vec4<f32>,
  s5_0: vec4<f32>,
  s5_1: vec4<f32>,
  s5_2: vec4<f32>,
  s5_3: vec4<f32>,
  s6_0: vec4<f32>,
  s6_1: vec4<f32>,
  s6_2: vec4<f32>,
  s6_3: vec4<f32>,
  s7_0: vec4<f32>,
  s7_1: vec4<f32>,
  s7_2: vec4<f32>,
  s7_3: vec4<f32>,
}
fn update(c: ptr<function, Sums>, a0: vec4<f32>, a1: vec4<f32>, b0: vec4<f32>, b1: vec4<f32>, b2: vec4<f32>, b3: vec4<f32>) {
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
  (*c).s4_0[0] = fma(a1[0], b0[0], (*c).s4_0[0]);
  (*c).s5_0[0] = fma(a1[1], b0[0], (*c).s5_0[0]);
  (*c).s4_0[1] = fma(a1[0], b0[1], (*c).s4_0[1]);
  (*c).s5_0[1] = fma(a1[1], b0[1], (*c).s5_0[1]);
  (*c).s4_0[2] = fma(a1[0], b0[2], (*c).s4_0[2]);
  (*c).s5_0[2] = fma(a1[1], b0[2], (*c).s5_0[2]);
  (*c).s4_0[3] = fma(a1[0], b0[3], (*c).s4_0[3]);
  (*c).s5_0[3] = fma(a1[1], b0[3], (*c).s5_0[3]);
  (*c).s4_1[0] = fma(a1[0], b1[0], (*c).s4_1[0]);
  (*c).s5_1[0] = fma(a1[1], b1[0], (*c).s5_1[0]);
  (*c).s4_1[1] = fma(a1[0], b1[1], (*c).s4_1[1]);
  (*c).s5_1[1] = fma(a1[1], b1[1], (*c).s5_1[1]);
  (*c).s4_1[2] = fma(a1[0], b1[2], (*c).s4_1[2]);
  (*c).s5_1[2] = fma(a1[1], b1[2], (*c).s5_1[2]);
  (*c).s4_1[3] = fma(a1[0], b1[3], (*c).s4_1[3]);
  (*c).s5_1[3] = fma(a1[1], b1[3], (*c).s5_1[3]);
  (*c).s4_2[0] = fma(a1[0], b2[0], (*c).s4_2[0]);
  (*c).s5_2[0] = fma(a1[1], b2[0], (*c).s5_2[0]);
  (*c).s4_2[1] = fma(a1[0], b2[1], (*c).s4_2[1]);
  (*c).s5_2[1] = fma(a1[1], b2[1], (*c).s5_2[1]);
  (*c).s4_2[2] = fma(a1[0], b2[2], (*c).s4_2[2]);
  (*c).s5_2[2] = fma(a1[1], b2[2], (*c).s5_2[2]);
  (*c).s4_2[3] = fma(a1[0], b2[3], (*c).s4_2[3]);
  (*c).s5_2[3] = fma(a1[1], b2[3], (*c).s5_2[3]);
  (*c).s4_3[0] = fma(a1[0], b3[0], (*c).s4_3[0]);
  (*c).s5_3[0] = fma(a1[1], b3[0], (*c).s5_3[0]);
  (*c).s4_3[1] = fma(a1[0], b3[1], (*c).s4_3[1]);
  (*c).s5_3[1] = fma(a1[1], b3[1], (*c).s5_3[1]);
  (*c).s4_3[2] = fma(a1[0], b3[2], (*c).s4_3[2]);
  (*c).s5_3[2] = fma(a1[1], b3[2], (*c).s5_3[2]);
  (*c).s4_3[3] = fma(a1[0], b3[3], (*c).s4_3[3]);
  (*c).s5_3[3] = fma(a1[1], b3[3], (*c).s5_3[3]);
  (*c).s6_3[3] = fma(a1[2], b3[3], (*c).s6_3[3]);
  (*c).s7_3[3] = fma(a1[3], b3[3], (*c).s7_3[3]);
  (*c).s6_3[2] = fma(a1[2], b3[2], (*c).s6_3[2]);
  (*c).s7_3[2] = fma(a1[3], b3[2], (*c).s7_3[2]);
  (*c).s6_3[1] = fma(a1[2], b3[1], (*c).s6_3[1]);
  (*c).s7_3[1] = fma(a1[3], b3[1], (*c).s7_3[1]);
  (*c).s6_3[0] = fma(a1[2], b3[0], (*c).s6_3[0]);
  (*c).s7_3[0] = fma(a1[3], b3[0], (*c).s7_3[0]);
  (*c).s6_2[3] = fma(a1[2], b2[3], (*c).s6_2[3]);
  (*c).s7_2[3] = fma(a1[3], b2[3], (*c).s7_2[3]);
  (*c).s6_2[2] = fma(a1[2], b2[2], (*c).s6_2[2]);
  (*c).s7_2[2] = fma(a1[3], b2[2], (*c).s7_2[2]);
  (*c).s6_2[1] = fma(a1[2], b2[1], (*c).s6_2[1]);
  (*c).s7_2[1] = fma(a1[3], b2[1], (*c).s7_2[1]);
  (*c).s6_2[0] = fma(a1[2], b2[0], (*c).s6_2[0]);
  (*c).s7_2[0] = fma(a1[3], b2[0], (*c).s7_2[0]);
  (*c).s6_1[3] = fma(a1[2], b1[3], (*c).s6_1[3]);
  (*c).s7_1[3] = fma(a1[3], b1[3], (*c).s7_1[3]);
  (*c).s6_1[2] = fma(a1[2], b1[2], (*c).s6_1[2]);
  (*c).s7_1[2] = fma(a1[3], b1[2], (*c).s7_1[2]);
  (*c).s6_1[1] = fma(a1[2], b1[1], (*c).s6_1[1]);
  (*c).s7_1[1] = fma(a1[3], b1[1], (*c).s7_1[1]);
  (*c).s6_1[0] = fma(a1[2], b1[0], (*c).s6_1[0]);
  (*c).s7_1[0] = fma(a1[3], b1[0], (*c).s7_1[0]);
  (*c).s6_0[3] = fma(a1[2], b0[3], (*c).s6_0[3]);
  (*c).s7_0[3] = fma(a1[3], b0[3], (*c).s7_0[3]);
  (*c).s6_0[2] = fma(a1[2], b0[2], (*c).s6_0[2]);
  (*c).s7_0[2] = fma(a1[3], b0[2], (*c).s7_0[2]);
  (*c).s6_0[1] = fma(a1[2], b0[1], (*c).s6_0[1]);
  (*c).s7_0[1] = fma(a1[3], b0[1], (*c).s7_0[1]);
  (*c).s6_0[0] = fma(a1[2], b0[0], (*c).s6_0[0]);
  (*c).s7_0[0] = fma(a1[3], b0[0], (*c).s7_0[0]);
}
fn put_lhs_tile(outer: u32, depth: u32, value: vec4<f32>) {
  lhs_tile[(depth + 0u) * 33u + outer / 4u][outer % 4u] = value[0];
  lhs_tile[(depth + 1u) * 33u + outer / 4u][outer % 4u] = value[1];
  lhs_tile[(depth + 2u) * 33u + outer / 4u][outer % 4u] = value[2];
  lhs_tile[(depth + 3u) * 33u + outer / 4u][outer % 4u] = value[3];
}
fn put_rhs_tile(outer: u32, depth: u32, value: vec4<f32>) {
  rhs_tile[(depth + 0u) * 65u + outer / 4u] = value;
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
  let steps = p.extent_2 / 8u;
  let share = p.split_depth / 8u;
  let tiles = p.row_tiles * p.column_tiles;
  var at = select(p.whole_tiles * steps + (id - p.whole_tiles) * share, id * steps, id < p.whole_tiles);
  let end = min(at + select(share, steps, id < p.whole_tiles), tiles * 1u * steps);
  while at < end {
    let place = at / steps;
    let first = at - place * steps;
    let last = min(steps, first + end - at);
    let k_begin = first * 8u;
    let k_end = last * 8u;
    is_part = last - first < steps;
    if is_part {
      let cut = place - p.whole_tiles;
      let part = id - p.whole_tiles - cut * steps / share;
      part_at = (cut * p.splits + part) * 8192u;
    }
    let tile = place % tiles;
    let batch = place / tiles;
    let band = tile / (8u * p.column_tiles);
    let in_band = tile % (8u * p.column_tiles);
    let band_rows = min(p.row_tiles - band * 8u, 8u);
    let row0 = (band * 8u + in_band % band_rows) * 128u;
    let column0 = in_band / band_rows * 256u;
    part_row = row0;
    part_column = column0;
    let tx = local % 16u;
    let ty = local / 16u;
    var c = Sums();
    let a0_o = (local + 0u) / 2u;
    let a0_k = ((local + 0u) % 2u) * 4u;
    let a0_at = min(row0 + a0_o, p.extent_0 - 1u);
    let a0_base0 = (p.offset_0 + a0_at * p.stride_0_0);
    var a0_x0: vec4<f32>;
    let b0_o = ((local + 0u) % 64u) * 4u;
    let b0_k = (local + 0u) / 64u;
    let b0_at = min(column0 + b0_o, p.extent_1 - 4u);
    let b0_base1 = (p.offset_1 + b0_at);
    var b0_x1: vec4<f32>;
    let b1_o = ((local + 256u) % 64u) * 4u;
    let b1_k = (local + 256u) / 64u;
    let b1_at = min(column0 + b1_o, p.extent_1 - 4u);
    let b1_base1 = (p.offset_1 + b1_at);
    var b1_x1: vec4<f32>;
    if k_begin < k_end {
      let a0_depth = k_begin + a0_k;
      a0_x0 = in_0[(a0_base0 + a0_depth) / 4u];
      let b0_depth = k_begin + b0_k;
      b0_x1 = in_1[(b0_base1 + b0_depth * p.stride_1_0) / 4u];
      let b1_depth = k_begin + b1_k;
      b1_x1 = in_1[(b1_base1 + b1_depth * p.stride_1_0) / 4u];
    }
    for (var k0 = k_begin; k0 < k_end; k0 += 8u) {
      put_lhs_tile(a0_o, a0_k, a0_x0);
      put_rhs_tile(b0_o, b0_k, b0_x1);
      put_rhs_tile(b1_o, b1_k, b1_x1);
      workgroupBarrier();
      if k0 + 8u < k_end {
        let a0_depth = k0 + 8u + a0_k;
        a0_x0 = in_0[(a0_base0 + a0_depth) / 4u];
        let b0_depth = k0 + 8u + b0_k;
        b0_x1 = in_1[(b0_base1 + b0_depth * p.stride_1_0) / 4u];
        let b1_depth = k0 + 8u + b1_k;
        b1_x1 = in_1[(b1_base1 + b1_depth * p.stride_1_0) / 4u];
      }
      update(&c, lhs_tile[ty + 0u], lhs_tile[ty + 16u], rhs_tile[tx + 0u], rhs_tile[tx + 16u], rhs_tile[tx + 32u], rhs_tile[tx + 48u]);
      update(&c, lhs_tile[ty + 33u], lhs_tile[ty + 49u], rhs_tile[tx + 65u], rhs_tile[tx + 81u], rhs_tile[tx + 97u], rhs_tile[tx + 113u]);
      update(&c, lhs_tile[ty + 66u], lhs_tile[ty + 82u], rhs_tile[tx + 130u], rhs_tile[tx + 146u], rhs_tile[tx + 162u], rhs_tile[tx + 178u]);
      update(&c, lhs_tile[ty + 99u], lhs_tile[ty + 115u], rhs_tile[tx + 195u], rhs_tile[tx + 211u], rhs_tile[tx + 227u], rhs_tile[tx + 243u]);
      update(&c, lhs_tile[ty + 132u], lhs_tile[ty + 148u], rhs_tile[tx + 260u], rhs_tile[tx + 276u], rhs_tile[tx + 292u], rhs_tile[tx + 308u]);
      update(&c, lhs_tile[ty + 165u], lhs_tile[ty + 181u], rhs_tile[tx + 325u], rhs_tile[tx + 341u], rhs_tile[tx + 357u], rhs_tile[tx + 373u]);
      update(&c, lhs_tile[ty + 198u], lhs_tile[ty + 214u], rhs_tile[tx + 390u], rhs_tile[tx + 406u], rhs_tile[tx + 422u], rhs_tile[tx + 438u]);
      update(&c, lhs_tile[ty + 231u], lhs_tile[ty + 247u], rhs_tile[tx + 455u], rhs_tile[tx + 471u], rhs_tile[tx + 487u], rhs_tile[tx + 503u]);
      workgroupBarrier();
    }
    finish(batch, row0 + ty * 4u, column0 + tx * 4u, c.s0_0);
    finish(batch, row0 + ty * 4u, column0 + (tx + 16u) * 4u, c.s0_1);
    finish(batch, row0 + ty * 4u, column0 + (tx + 32u) * 4u, c.s0_2);
    finish(batch, row0 + ty * 4u, column0 + (tx + 48u) * 4u, c.s0_3);
    finish(batch, row0 + ty * 4u + 1u, column0 + tx * 4u, c.s1_0);
    finish(batch, row0 + ty * 4u + 1u, column0 + (tx + 16u) * 4u, c.s1_1);
    finish(batch, row0 + ty * 4u + 1u, column0 + (tx + 32u) * 4u, c.s1_2);
    finish(batch, row0 + ty * 4u + 1u, column0 + (tx + 48u) * 4u, c.s1_3);
    finish(batch, row0 + ty * 4u + 2u, column0 + tx * 4u, c.s2_0);
    finish(batch, row0 + ty * 4u + 2u, column0 + (tx + 16u) * 4u, c.s2_1);
    finish(batch, row0 + ty * 4u + 2u, column0 + (tx + 32u) * 4u, c.s2_2);
    finish(batch, row0 + ty * 4u + 2u, column0 + (tx + 48u) * 4u, c.s2_3);
    finish(batch, row0 + ty * 4u + 3u, column0 + tx * 4u, c.s3_0);
    finish(batch, row0 + ty * 4u + 3u, column0 + (tx + 16u) * 4u, c.s3_1);
    finish(batch, row0 + ty * 4u + 3u, column0 + (tx + 32u) * 4u, c.s3_2);
    finish(batch, row0 + ty * 4u + 3u, column0 + (tx + 48u) * 4u, c.s3_3);
    finish(batch, row0 + ty * 4u + 64u, column0 + tx * 4u, c.s4_0);
    finish(batch, row0 + ty * 4u + 64u, column0 + (tx + 16u) * 4u, c.s4_1);
    finish(batch, row0 + ty * 4u + 64u, column0 + (tx + 32u) * 4u, c.s4_2);
    finish(batch, row0 + ty * 4u + 64u, column0 + (tx + 48u) * 4u, c.s4_3);
    finish(batch, row0 + ty * 4u + 65u, column0 + tx * 4u, c.s5_0);
    finish(batch, row0 + ty * 4u + 65u, column0 + (tx + 16u) * 4u, c.s5_1);
    finish(batch, row0 + ty * 4u + 65u, column0 + (tx + 32u) * 4u, c.s5_2);
    finish(batch, row0 + ty * 4u + 65u, column0 + (tx + 48u) * 4u, c.s5_3);
    finish(batch, row0 + ty * 4u + 66u, column0 + tx * 4u, c.s6_0);
    finish(batch, row0 + ty * 4u + 66u, column0 + (tx + 16u) * 4u, c.s6_1);
    finish(batch, row0 + ty * 4u + 66u, column0 + (tx + 32u) * 4u, c.s6_2);
    finish(batch, row0 + ty * 4u + 66u, column0 + (tx + 48u) * 4u, c.s6_3);
    finish(batch, row0 + ty * 4u + 67u, column0 + tx * 4u, c.s7_0);
    finish(batch, row0 + ty * 4u + 67u, column0 + (tx + 16u) * 4u, c.s7_1);
    finish(batch, row0 + ty * 4u + 67u, column0 + (tx + 32u) * 4u, c.s7_2);
    finish(batch, row0 + ty * 4u + 67u, column0 + (tx + 48u) * 4u, c.s7_3);
    at += last - first;
  }
}
