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
    scratch[vector] = sum;
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
  (*c).s0_0.x = fma(a0.x, b0.x, (*c).s0_0.x);
  (*c).s1_0.x = fma(a0.y, b0.x, (*c).s1_0.x);
  (*c).s0_0.y = fma(a0.x, b0.y, (*c).s0_0.y);
  (*c).s1_0.y = fma(a0.y, b0.y, (*c).s1_0.y);
  (*c).s0_0.z = fma(a0.x, b0.z, (*c).s0_0.z);
  (*c).s1_0.z = fma(a0.y, b0.z, (*c).s1_0.z);
  (*c).s0_0.w = fma(a0.x, b0.w, (*c).s0_0.w);
  (*c).s1_0.w = fma(a0.y, b0.w, (*c).s1_0.w);
  (*c).s0_1.x = fma(a0.x, b1.x, (*c).s0_1.x);
  (*c).s1_1.x = fma(a0.y, b1.x, (*c).s1_1.x);
  (*c).s0_1.y = fma(a0.x, b1.y, (*c).s0_1.y);
  (*c).s1_1.y = fma(a0.y, b1.y, (*c).s1_1.y);
  (*c).s0_1.z = fma(a0.x, b1.z, (*c).s0_1.z);
  (*c).s1_1.z = fma(a0.y, b1.z, (*c).s1_1.z);
  (*c).s0_1.w = fma(a0.x, b1.w, (*c).s0_1.w);
  (*c).s1_1.w = fma(a0.y, b1.w, (*c).s1_1.w);
  (*c).s0_2.x = fma(a0.x, b2.x, (*c).s0_2.x);
  (*c).s1_2.x = fma(a0.y, b2.x, (*c).s1_2.x);
  (*c).s0_2.y = fma(a0.x, b2.y, (*c).s0_2.y);
  (*c).s1_2.y = fma(a0.y, b2.y, (*c).s1_2.y);
  (*c).s0_2.z = fma(a0.x, b2.z, (*c).s0_2.z);
  (*c).s1_2.z = fma(a0.y, b2.z, (*c).s1_2.z);
  (*c).s0_2.w = fma(a0.x, b2.w, (*c).s0_2.w);
  (*c).s1_2.w = fma(a0.y, b2.w, (*c).s1_2.w);
  (*c).s0_3.x = fma(a0.x, b3.x, (*c).s0_3.x);
  (*c).s1_3.x = fma(a0.y, b3.x, (*c).s1_3.x);
  (*c).s0_3.y = fma(a0.x, b3.y, (*c).s0_3.y);
  (*c).s1_3.y = fma(a0.y, b3.y, (*c).s1_3.y);
  (*c).s0_3.z = fma(a0.x, b3.z, (*c).s0_3.z);
  (*c).s1_3.z = fma(a0.y, b3.z, (*c).s1_3.z);
  (*c).s0_3.w = fma(a0.x, b3.w, (*c).s0_3.w);
  (*c).s1_3.w = fma(a0.y, b3.w, (*c).s1_3.w);
  (*c).s2_3.w = fma(a0.z, b3.w, (*c).s2_3.w);
  (*c).s3_3.w = fma(a0.w, b3.w, (*c).s3_3.w);
  (*c).s2_3.z = fma(a0.z, b3.z, (*c).s2_3.z);
  (*c).s3_3.z = fma(a0.w, b3.z, (*c).s3_3.z);
  (*c).s2_3.y = fma(a0.z, b3.y, (*c).s2_3.y);
  (*c).s3_3.y = fma(a0.w, b3.y, (*c).s3_3.y);
  (*c).s2_3.x = fma(a0.z, b3.x, (*c).s2_3.x);
  (*c).s3_3.x = fma(a0.w, b3.x, (*c).s3_3.x);
  (*c).s2_2.w = fma(a0.z, b2.w, (*c).s2_2.w);
  (*c).s3_2.w = fma(a0.w, b2.w, (*c).s3_2.w);
  (*c).s2_2.z = fma(a0.z, b2.z, (*c).s2_2.z);
  (*c).s3_2.z = fma(a0.w, b2.z, (*c).s3_2.z);
  (*c).s2_2.y = fma(a0.z, b2.y, (*c).s2_2.y);
  (*c).s3_2.y = fma(a0.w, b2.y, (*c).s3_2.y);
  (*c).s2_2.x = fma(a0.z, b2.x, (*c).s2_2.x);
  (*c).s3_2.x = fma(a0.w, b2.x, (*c).s3_2.x);
  (*c).s2_1.w = fma(a0.z, b1.w, (*c).s2_1.w);
  (*c).s3_1.w = fma(a0.w, b1.w, (*c).s3_1.w);
  (*c).s2_1.z = fma(a0.z, b1.z, (*c).s2_1.z);
  (*c).s3_1.z = fma(a0.w, b1.z, (*c).s3_1.z);
  (*c).s2_1.y = fma(a0.z, b1.y, (*c).s2_1.y);
  (*c).s3_1.y = fma(a0.w, b1.y, (*c).s3_1.y);
  (*c).s2_1.x = fma(a0.z, b1.x, (*c).s2_1.x);
  (*c).s3_1.x = fma(a0.w, b1.x, (*c).s3_1.x);
  (*c).s2_0.w = fma(a0.z, b0.w, (*c).s2_0.w);
  (*c).s3_0.w = fma(a0.w, b0.w, (*c).s3_0.w);
  (*c).s2_0.z = fma(a0.z, b0.z, (*c).s2_0.z);
  (*c).s3_0.z = fma(a0.w, b0.z, (*c).s3_0.z);
  (*c).s2_0.y = fma(a0.z, b0.y, (*c).s2_0.y);
  (*c).s3_0.y = fma(a0.w, b0.y, (*c).s3_0.y);
  (*c).s2_0.x = fma(a0.z, b0.x, (*c).s2_0.x);
  (*c).s3_0.x = fma(a0.w, b0.x, (*c).s3_0.x);
  (*c).s4_0.x = fma(a1.x, b0.x, (*c).s4_0.x);
  (*c).s5_0.x = fma(a1.y, b0.x, (*c).s5_0.x);
  (*c).s4_0.y = fma(a1.x, b0.y, (*c).s4_0.y);
  (*c).s5_0.y = fma(a1.y, b0.y, (*c).s5_0.y);
  (*c).s4_0.z = fma(a1.x, b0.z, (*c).s4_0.z);
  (*c).s5_0.z = fma(a1.y, b0.z, (*c).s5_0.z);
  (*c).s4_0.w = fma(a1.x, b0.w, (*c).s4_0.w);
  (*c).s5_0.w = fma(a1.y, b0.w, (*c).s5_0.w);
  (*c).s4_1.x = fma(a1.x, b1.x, (*c).s4_1.x);
  (*c).s5_1.x = fma(a1.y, b1.x, (*c).s5_1.x);
  (*c).s4_1.y = fma(a1.x, b1.y, (*c).s4_1.y);
  (*c).s5_1.y = fma(a1.y, b1.y, (*c).s5_1.y);
  (*c).s4_1.z = fma(a1.x, b1.z, (*c).s4_1.z);
  (*c).s5_1.z = fma(a1.y, b1.z, (*c).s5_1.z);
  (*c).s4_1.w = fma(a1.x, b1.w, (*c).s4_1.w);
  (*c).s5_1.w = fma(a1.y, b1.w, (*c).s5_1.w);
  (*c).s4_2.x = fma(a1.x, b2.x, (*c).s4_2.x);
  (*c).s5_2.x = fma(a1.y, b2.x, (*c).s5_2.x);
  (*c).s4_2.y = fma(a1.x, b2.y, (*c).s4_2.y);
  (*c).s5_2.y = fma(a1.y, b2.y, (*c).s5_2.y);
  (*c).s4_2.z = fma(a1.x, b2.z, (*c).s4_2.z);
  (*c).s5_2.z = fma(a1.y, b2.z, (*c).s5_2.z);
  (*c).s4_2.w = fma(a1.x, b2.w, (*c).s4_2.w);
  (*c).s5_2.w = fma(a1.y, b2.w, (*c).s5_2.w);
  (*c).s4_3.x = fma(a1.x, b3.x, (*c).s4_3.x);
  (*c).s5_3.x = fma(a1.y, b3.x, (*c).s5_3.x);
  (*c).s4_3.y = fma(a1.x, b3.y, (*c).s4_3.y);
  (*c).s5_3.y = fma(a1.y, b3.y, (*c).s5_3.y);
  (*c).s4_3.z = fma(a1.x, b3.z, (*c).s4_3.z);
  (*c).s5_3.z = fma(a1.y, b3.z, (*c).s5_3.z);
  (*c).s4_3.w = fma(a1.x, b3.w, (*c).s4_3.w);
  (*c).s5_3.w = fma(a1.y, b3.w, (*c).s5_3.w);
  (*c).s6_3.w = fma(a1.z, b3.w, (*c).s6_3.w);
  (*c).s7_3.w = fma(a1.w, b3.w, (*c).s7_3.w);
  (*c).s6_3.z = fma(a1.z, b3.z, (*c).s6_3.z);
  (*c).s7_3.z = fma(a1.w, b3.z, (*c).s7_3.z);
  (*c).s6_3.y = fma(a1.z, b3.y, (*c).s6_3.y);
  (*c).s7_3.y = fma(a1.w, b3.y, (*c).s7_3.y);
  (*c).s6_3.x = fma(a1.z, b3.x, (*c).s6_3.x);
  (*c).s7_3.x = fma(a1.w, b3.x, (*c).s7_3.x);
  (*c).s6_2.w = fma(a1.z, b2.w, (*c).s6_2.w);
  (*c).s7_2.w = fma(a1.w, b2.w, (*c).s7_2.w);
  (*c).s6_2.z = fma(a1.z, b2.z, (*c).s6_2.z);
  (*c).s7_2.z = fma(a1.w, b2.z, (*c).s7_2.z);
  (*c).s6_2.y = fma(a1.z, b2.y, (*c).s6_2.y);
  (*c).s7_2.y = fma(a1.w, b2.y, (*c).s7_2.y);
  (*c).s6_2.x = fma(a1.z, b2.x, (*c).s6_2.x);
  (*c).s7_2.x = fma(a1.w, b2.x, (*c).s7_2.x);
  (*c).s6_1.w = fma(a1.z, b1.w, (*c).s6_1.w);
  (*c).s7_1.w = fma(a1.w, b1.w, (*c).s7_1.w);
  (*c).s6_1.z = fma(a1.z, b1.z, (*c).s6_1.z);
  (*c).s7_1.z = fma(a1.w, b1.z, (*c).s7_1.z);
  (*c).s6_1.y = fma(a1.z, b1.y, (*c).s6_1.y);
  (*c).s7_1.y = fma(a1.w, b1.y, (*c).s7_1.y);
  (*c).s6_1.x = fma(a1.z, b1.x, (*c).s6_1.x);
  (*c).s7_1.x = fma(a1.w, b1.x, (*c).s7_1.x);
  (*c).s6_0.w = fma(a1.z, b0.w, (*c).s6_0.w);
  (*c).s7_0.w = fma(a1.w, b0.w, (*c).s7_0.w);
  (*c).s6_0.z = fma(a1.z, b0.z, (*c).s6_0.z);
  (*c).s7_0.z = fma(a1.w, b0.z, (*c).s7_0.z);
  (*c).s6_0.y = fma(a1.z, b0.y, (*c).s6_0.y);
  (*c).s7_0.y = fma(a1.w, b0.y, (*c).s7_0.y);
  (*c).s6_0.x = fma(a1.z, b0.x, (*c).s6_0.x);
  (*c).s7_0.x = fma(a1.w, b0.x, (*c).s7_0.x);
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
  let end = min(at + select(share, steps, id < p.whole_tiles), tiles * steps);
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
    let a0_o = local / 2u;
    let a0_k = local % 2u * 4u;
    let a0_to = a0_k * 33u + a0_o / 4u;
    let a0_at = min(row0 + a0_o, p.extent_0 - 1u);
    let a0_base0 = p.offset_0 + a0_at * p.stride_0_0;
    var a0_x0: vec4<f32>;
    let b0_o = local % 64u * 4u;
    let b0_k = local / 64u;
    let b0_to = b0_k * 65u + b0_o / 4u;
    let b0_at = min(column0 + b0_o, p.extent_1 - 4u);
    let b0_base1 = p.offset_1 + b0_at;
    var b0_x1: vec4<f32>;
    let b1_o = (local + 256u) % 64u * 4u;
    let b1_k = (local + 256u) / 64u;
    let b1_to = b1_k * 65u + b1_o / 4u;
    let b1_at = min(column0 + b1_o, p.extent_1 - 4u);
    let b1_base1 = p.offset_1 + b1_at;
    var b1_x1: vec4<f32>;
    if k_begin < k_end {
      {
        let start = k_begin + a0_k;
        a0_x0 = in_0[(a0_base0 + start) / 4u];
      }
      {
        let start = k_begin + b0_k;
        b0_x1 = in_1[(b0_base1 + start * p.stride_1_0) / 4u];
      }
      {
        let start = k_begin + b1_k;
        b1_x1 = in_1[(b1_base1 + start * p.stride_1_0) / 4u];
      }
    }
    for (var k0 = k_begin; k0 < k_end; k0 += 8u) {
      {
        let value = a0_x0;
        lhs_tile[a0_to][a0_o % 4u] = value.x;
        lhs_tile[a0_to + 33u][a0_o % 4u] = value.y;
        lhs_tile[a0_to + 66u][a0_o % 4u] = value.z;
        lhs_tile[a0_to + 99u][a0_o % 4u] = value.w;
      }
      {
        let value = b0_x1;
        rhs_tile[b0_to] = value;
      }
      {
        let value = b1_x1;
        rhs_tile[b1_to] = value;
      }
      workgroupBarrier();
      if k0 + 8u < k_end {
        {
          let start = k0 + 8u + a0_k;
          a0_x0 = in_0[(a0_base0 + start) / 4u];
        }
        {
          let start = k0 + 8u + b0_k;
          b0_x1 = in_1[(b0_base1 + start * p.stride_1_0) / 4u];
        }
        {
          let start = k0 + 8u + b1_k;
          b1_x1 = in_1[(b1_base1 + start * p.stride_1_0) / 4u];
        }
      }
      update(&c, lhs_tile[ty], lhs_tile[ty + 16u], rhs_tile[tx], rhs_tile[tx + 16u], rhs_tile[tx + 32u], rhs_tile[tx + 48u]);
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
