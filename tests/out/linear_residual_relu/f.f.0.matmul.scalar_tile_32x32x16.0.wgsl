struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  offset_2: u32,
  stride_2_1: u32,
  offset_3: u32,
  stride_3_0: u32,
  stride_3_1: u32,
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
@group(0) @binding(3) var<storage, read> in_2: array<f32>;
@group(0) @binding(4) var<storage, read> in_3: array<f32>;
@group(0) @binding(5) var<storage, read_write> out_0: array<f32>;
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
  let x2 = in_2[p.offset_2 + column * p.stride_2_1];
  let x3 = in_3[p.offset_3 + row * p.stride_3_0 + column * p.stride_3_1];
  let v0 = sum;
  let v1 = x2;
  let v2 = v0 + v1;
  let v3 = x3;
  let v4 = v2 + v3;
  let v5 = fuse_relu1(v4);
  let at = (batch * p.extent_0 + row) * p.extent_1 + column;
  out_0[at] = v5;
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
  var c = Sums();
  let a0_o = local / 16u;
  let a0_k = local % 16u;
  let a0_to = a0_k * 9u + a0_o / 4u;
  let a0_at = min(row0 + a0_o, p.extent_0 - 1u);
  let a0_base0 = p.offset_0 + a0_at * p.stride_0_0;
  var a0_x0: f32;
  let a1_o = (local + 64u) / 16u;
  let a1_k = (local + 64u) % 16u;
  let a1_to = a1_k * 9u + a1_o / 4u;
  let a1_at = min(row0 + a1_o, p.extent_0 - 1u);
  let a1_base0 = p.offset_0 + a1_at * p.stride_0_0;
  var a1_x0: f32;
  let a2_o = (local + 128u) / 16u;
  let a2_k = (local + 128u) % 16u;
  let a2_to = a2_k * 9u + a2_o / 4u;
  let a2_at = min(row0 + a2_o, p.extent_0 - 1u);
  let a2_base0 = p.offset_0 + a2_at * p.stride_0_0;
  var a2_x0: f32;
  let a3_o = (local + 192u) / 16u;
  let a3_k = (local + 192u) % 16u;
  let a3_to = a3_k * 9u + a3_o / 4u;
  let a3_at = min(row0 + a3_o, p.extent_0 - 1u);
  let a3_base0 = p.offset_0 + a3_at * p.stride_0_0;
  var a3_x0: f32;
  let a4_o = (local + 256u) / 16u;
  let a4_k = (local + 256u) % 16u;
  let a4_to = a4_k * 9u + a4_o / 4u;
  let a4_at = min(row0 + a4_o, p.extent_0 - 1u);
  let a4_base0 = p.offset_0 + a4_at * p.stride_0_0;
  var a4_x0: f32;
  let a5_o = (local + 320u) / 16u;
  let a5_k = (local + 320u) % 16u;
  let a5_to = a5_k * 9u + a5_o / 4u;
  let a5_at = min(row0 + a5_o, p.extent_0 - 1u);
  let a5_base0 = p.offset_0 + a5_at * p.stride_0_0;
  var a5_x0: f32;
  let a6_o = (local + 384u) / 16u;
  let a6_k = (local + 384u) % 16u;
  let a6_to = a6_k * 9u + a6_o / 4u;
  let a6_at = min(row0 + a6_o, p.extent_0 - 1u);
  let a6_base0 = p.offset_0 + a6_at * p.stride_0_0;
  var a6_x0: f32;
  let a7_o = (local + 448u) / 16u;
  let a7_k = (local + 448u) % 16u;
  let a7_to = a7_k * 9u + a7_o / 4u;
  let a7_at = min(row0 + a7_o, p.extent_0 - 1u);
  let a7_base0 = p.offset_0 + a7_at * p.stride_0_0;
  var a7_x0: f32;
  let b0_o = local % 32u;
  let b0_k = local / 32u;
  let b0_to = b0_k * 9u + b0_o / 4u;
  let b0_at = min(column0 + b0_o, p.extent_1 - 1u);
  let b0_base1 = p.offset_1 + b0_at * p.stride_1_1;
  var b0_x1: f32;
  let b1_o = (local + 64u) % 32u;
  let b1_k = (local + 64u) / 32u;
  let b1_to = b1_k * 9u + b1_o / 4u;
  let b1_at = min(column0 + b1_o, p.extent_1 - 1u);
  let b1_base1 = p.offset_1 + b1_at * p.stride_1_1;
  var b1_x1: f32;
  let b2_o = (local + 128u) % 32u;
  let b2_k = (local + 128u) / 32u;
  let b2_to = b2_k * 9u + b2_o / 4u;
  let b2_at = min(column0 + b2_o, p.extent_1 - 1u);
  let b2_base1 = p.offset_1 + b2_at * p.stride_1_1;
  var b2_x1: f32;
  let b3_o = (local + 192u) % 32u;
  let b3_k = (local + 192u) / 32u;
  let b3_to = b3_k * 9u + b3_o / 4u;
  let b3_at = min(column0 + b3_o, p.extent_1 - 1u);
  let b3_base1 = p.offset_1 + b3_at * p.stride_1_1;
  var b3_x1: f32;
  let b4_o = (local + 256u) % 32u;
  let b4_k = (local + 256u) / 32u;
  let b4_to = b4_k * 9u + b4_o / 4u;
  let b4_at = min(column0 + b4_o, p.extent_1 - 1u);
  let b4_base1 = p.offset_1 + b4_at * p.stride_1_1;
  var b4_x1: f32;
  let b5_o = (local + 320u) % 32u;
  let b5_k = (local + 320u) / 32u;
  let b5_to = b5_k * 9u + b5_o / 4u;
  let b5_at = min(column0 + b5_o, p.extent_1 - 1u);
  let b5_base1 = p.offset_1 + b5_at * p.stride_1_1;
  var b5_x1: f32;
  let b6_o = (local + 384u) % 32u;
  let b6_k = (local + 384u) / 32u;
  let b6_to = b6_k * 9u + b6_o / 4u;
  let b6_at = min(column0 + b6_o, p.extent_1 - 1u);
  let b6_base1 = p.offset_1 + b6_at * p.stride_1_1;
  var b6_x1: f32;
  let b7_o = (local + 448u) % 32u;
  let b7_k = (local + 448u) / 32u;
  let b7_to = b7_k * 9u + b7_o / 4u;
  let b7_at = min(column0 + b7_o, p.extent_1 - 1u);
  let b7_base1 = p.offset_1 + b7_at * p.stride_1_1;
  var b7_x1: f32;
  if k_begin < k_end {
    {
      let start = min(k_begin + a0_k, k_end - 1u);
      a0_x0 = in_0[a0_base0 + start * p.stride_0_1];
    }
    {
      let start = min(k_begin + a1_k, k_end - 1u);
      a1_x0 = in_0[a1_base0 + start * p.stride_0_1];
    }
    {
      let start = min(k_begin + a2_k, k_end - 1u);
      a2_x0 = in_0[a2_base0 + start * p.stride_0_1];
    }
    {
      let start = min(k_begin + a3_k, k_end - 1u);
      a3_x0 = in_0[a3_base0 + start * p.stride_0_1];
    }
    {
      let start = min(k_begin + a4_k, k_end - 1u);
      a4_x0 = in_0[a4_base0 + start * p.stride_0_1];
    }
    {
      let start = min(k_begin + a5_k, k_end - 1u);
      a5_x0 = in_0[a5_base0 + start * p.stride_0_1];
    }
    {
      let start = min(k_begin + a6_k, k_end - 1u);
      a6_x0 = in_0[a6_base0 + start * p.stride_0_1];
    }
    {
      let start = min(k_begin + a7_k, k_end - 1u);
      a7_x0 = in_0[a7_base0 + start * p.stride_0_1];
    }
    {
      let start = min(k_begin + b0_k, k_end - 1u);
      b0_x1 = in_1[b0_base1 + start * p.stride_1_0];
    }
    {
      let start = min(k_begin + b1_k, k_end - 1u);
      b1_x1 = in_1[b1_base1 + start * p.stride_1_0];
    }
    {
      let start = min(k_begin + b2_k, k_end - 1u);
      b2_x1 = in_1[b2_base1 + start * p.stride_1_0];
    }
    {
      let start = min(k_begin + b3_k, k_end - 1u);
      b3_x1 = in_1[b3_base1 + start * p.stride_1_0];
    }
    {
      let start = min(k_begin + b4_k, k_end - 1u);
      b4_x1 = in_1[b4_base1 + start * p.stride_1_0];
    }
    {
      let start = min(k_begin + b5_k, k_end - 1u);
      b5_x1 = in_1[b5_base1 + start * p.stride_1_0];
    }
    {
      let start = min(k_begin + b6_k, k_end - 1u);
      b6_x1 = in_1[b6_base1 + start * p.stride_1_0];
    }
    {
      let start = min(k_begin + b7_k, k_end - 1u);
      b7_x1 = in_1[b7_base1 + start * p.stride_1_0];
    }
  }
  for (var k0 = k_begin; k0 < k_end; k0 += 16u) {
    {
      let value = select(f32(), a0_x0, k0 + a0_k < k_end);
      lhs_tile[a0_to][a0_o % 4u] = value;
    }
    {
      let value = select(f32(), a1_x0, k0 + a1_k < k_end);
      lhs_tile[a1_to][a1_o % 4u] = value;
    }
    {
      let value = select(f32(), a2_x0, k0 + a2_k < k_end);
      lhs_tile[a2_to][a2_o % 4u] = value;
    }
    {
      let value = select(f32(), a3_x0, k0 + a3_k < k_end);
      lhs_tile[a3_to][a3_o % 4u] = value;
    }
    {
      let value = select(f32(), a4_x0, k0 + a4_k < k_end);
      lhs_tile[a4_to][a4_o % 4u] = value;
    }
    {
      let value = select(f32(), a5_x0, k0 + a5_k < k_end);
      lhs_tile[a5_to][a5_o % 4u] = value;
    }
    {
      let value = select(f32(), a6_x0, k0 + a6_k < k_end);
      lhs_tile[a6_to][a6_o % 4u] = value;
    }
    {
      let value = select(f32(), a7_x0, k0 + a7_k < k_end);
      lhs_tile[a7_to][a7_o % 4u] = value;
    }
    {
      let value = select(f32(), b0_x1, k0 + b0_k < k_end);
      rhs_tile[b0_to][b0_o % 4u] = value;
    }
    {
      let value = select(f32(), b1_x1, k0 + b1_k < k_end);
      rhs_tile[b1_to][b1_o % 4u] = value;
    }
    {
      let value = select(f32(), b2_x1, k0 + b2_k < k_end);
      rhs_tile[b2_to][b2_o % 4u] = value;
    }
    {
      let value = select(f32(), b3_x1, k0 + b3_k < k_end);
      rhs_tile[b3_to][b3_o % 4u] = value;
    }
    {
      let value = select(f32(), b4_x1, k0 + b4_k < k_end);
      rhs_tile[b4_to][b4_o % 4u] = value;
    }
    {
      let value = select(f32(), b5_x1, k0 + b5_k < k_end);
      rhs_tile[b5_to][b5_o % 4u] = value;
    }
    {
      let value = select(f32(), b6_x1, k0 + b6_k < k_end);
      rhs_tile[b6_to][b6_o % 4u] = value;
    }
    {
      let value = select(f32(), b7_x1, k0 + b7_k < k_end);
      rhs_tile[b7_to][b7_o % 4u] = value;
    }
    workgroupBarrier();
    if k0 + 16u < k_end {
      {
        let start = min(k0 + 16u + a0_k, k_end - 1u);
        a0_x0 = in_0[a0_base0 + start * p.stride_0_1];
      }
      {
        let start = min(k0 + 16u + a1_k, k_end - 1u);
        a1_x0 = in_0[a1_base0 + start * p.stride_0_1];
      }
      {
        let start = min(k0 + 16u + a2_k, k_end - 1u);
        a2_x0 = in_0[a2_base0 + start * p.stride_0_1];
      }
      {
        let start = min(k0 + 16u + a3_k, k_end - 1u);
        a3_x0 = in_0[a3_base0 + start * p.stride_0_1];
      }
      {
        let start = min(k0 + 16u + a4_k, k_end - 1u);
        a4_x0 = in_0[a4_base0 + start * p.stride_0_1];
      }
      {
        let start = min(k0 + 16u + a5_k, k_end - 1u);
        a5_x0 = in_0[a5_base0 + start * p.stride_0_1];
      }
      {
        let start = min(k0 + 16u + a6_k, k_end - 1u);
        a6_x0 = in_0[a6_base0 + start * p.stride_0_1];
      }
      {
        let start = min(k0 + 16u + a7_k, k_end - 1u);
        a7_x0 = in_0[a7_base0 + start * p.stride_0_1];
      }
      {
        let start = min(k0 + 16u + b0_k, k_end - 1u);
        b0_x1 = in_1[b0_base1 + start * p.stride_1_0];
      }
      {
        let start = min(k0 + 16u + b1_k, k_end - 1u);
        b1_x1 = in_1[b1_base1 + start * p.stride_1_0];
      }
      {
        let start = min(k0 + 16u + b2_k, k_end - 1u);
        b2_x1 = in_1[b2_base1 + start * p.stride_1_0];
      }
      {
        let start = min(k0 + 16u + b3_k, k_end - 1u);
        b3_x1 = in_1[b3_base1 + start * p.stride_1_0];
      }
      {
        let start = min(k0 + 16u + b4_k, k_end - 1u);
        b4_x1 = in_1[b4_base1 + start * p.stride_1_0];
      }
      {
        let start = min(k0 + 16u + b5_k, k_end - 1u);
        b5_x1 = in_1[b5_base1 + start * p.stride_1_0];
      }
      {
        let start = min(k0 + 16u + b6_k, k_end - 1u);
        b6_x1 = in_1[b6_base1 + start * p.stride_1_0];
      }
      {
        let start = min(k0 + 16u + b7_k, k_end - 1u);
        b7_x1 = in_1[b7_base1 + start * p.stride_1_0];
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
