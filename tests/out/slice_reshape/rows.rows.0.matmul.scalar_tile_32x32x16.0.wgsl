struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  workgroups: u32,
  row_tiles: u32,
  column_tiles: u32,
  offset_0: u32,
  stride_0_0: u32,
  offset_1: u32,
  stride_1_1: u32,
  stride_0_1: u32,
  stride_1_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read> in_1: array<f32>;
@group(0) @binding(3) var<storage, read_write> out_0: array<f32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

const fuse_fast_math = false;
fn fuse_tanh1(x: f32) -> f32 {
  if fuse_fast_math {
    return f32(1.0) - f32(2.0) / (f32(1.0) + exp(f32(2.0) * x));
  }
  let z = x * x;
  let near = x + x * z * (f32(-0.33333332) + z * (f32(0.13331442) + z * (f32(-0.053739715) + z * (f32(0.020639088) + z * f32(-0.005704989)))));
  let e = exp(f32(-2.0) * abs(x));
  let far = (f32(1.0) - e) / (f32(1.0) + e);
  return select(select(far, -far, x < f32(0.0)), near, abs(x) < f32(0.625));
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
      let a1 = fuse_tanh1(a0);
      put_lhs_tile(a0_o, a0_k, select(f32(), a1, k0 + a0_k < k_end));
    }
    {
      let a0 = a1_x0;
      let a1 = fuse_tanh1(a0);
      put_lhs_tile(a1_o, a1_k, select(f32(), a1, k0 + a1_k < k_end));
    }
    {
      let a0 = a2_x0;
      let a1 = fuse_tanh1(a0);
      put_lhs_tile(a2_o, a2_k, select(f32(), a1, k0 + a2_k < k_end));
    }
    {
      let a0 = a3_x0;
      let a1 = fuse_tanh1(a0);
      put_lhs_tile(a3_o, a3_k, select(f32(), a1, k0 + a3_k < k_end));
    }
    {
      let a0 = a4_x0;
      let a1 = fuse_tanh1(a0);
      put_lhs_tile(a4_o, a4_k, select(f32(), a1, k0 + a4_k < k_end));
    }
    {
      let a0 = a5_x0;
      let a1 = fuse_tanh1(a0);
      put_lhs_tile(a5_o, a5_k, select(f32(), a1, k0 + a5_k < k_end));
    }
    {
      let a0 = a6_x0;
      let a1 = fuse_tanh1(a0);
      put_lhs_tile(a6_o, a6_k, select(f32(), a1, k0 + a6_k < k_end));
    }
    {
      let a0 = a7_x0;
      let a1 = fuse_tanh1(a0);
      put_lhs_tile(a7_o, a7_k, select(f32(), a1, k0 + a7_k < k_end));
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
