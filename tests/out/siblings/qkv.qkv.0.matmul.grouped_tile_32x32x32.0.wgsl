struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  workgroups: u32,
  row_tiles: u32,
  column_tiles: u32,
  offset_4: u32,
  offset_0: u32,
  stride_0_0: u32,
  offset_1: u32,
  stride_1_0: u32,
  offset_5: u32,
  offset_2: u32,
  stride_2_0: u32,
  offset_6: u32,
  offset_3: u32,
  stride_3_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in_2: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> in_3: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> in_4: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> in_5: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read> in_6: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> out_0: array<vec4<f32>>;
@group(0) @binding(9) var<storage, read_write> out_1: array<vec4<f32>>;
@group(0) @binding(10) var<storage, read_write> out_2: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_switch = true;

fn finish0(batch: u32, row: u32, column: u32, sum: vec4<f32>, x4: vec4<f32>) {
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let v0 = sum;
  let v1 = x4;
  let v2 = v0 + v1;
  let at = (batch * p.extent_0 + row) * p.extent_1 + column;
  out_0[at / 4u] = v2;
}
fn finish1(batch: u32, row: u32, column: u32, sum: vec4<f32>, x5: vec4<f32>) {
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let v3 = sum;
  let v4 = x5;
  let v5 = v3 + v4;
  let at = (batch * p.extent_0 + row) * p.extent_1 + column;
  out_1[at / 4u] = v5;
}
fn finish2(batch: u32, row: u32, column: u32, sum: vec4<f32>, x6: vec4<f32>) {
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let v6 = sum;
  let v7 = x6;
  let v8 = v6 + v7;
  let at = (batch * p.extent_0 + row) * p.extent_1 + column;
  out_2[at / 4u] = v8;
}
var<workgroup> lhs_tile: array<vec4<f32>, 288>;
var<workgroup> rhs_tile: array<vec4<f32>, 288>;
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
fn preload_4(row: u32, column: u32) -> vec4<f32> {
  return in_4[(p.offset_4 + min(column, p.extent_1 - 4u)) / 4u];
}
fn preload_5(row: u32, column: u32) -> vec4<f32> {
  return in_5[(p.offset_5 + min(column, p.extent_1 - 4u)) / 4u];
}
fn preload_6(row: u32, column: u32) -> vec4<f32> {
  return in_6[(p.offset_6 + min(column, p.extent_1 - 4u)) / 4u];
}
fn product0(row0: u32, ty: u32, column0: u32, tx: u32, local: u32, k_begin: u32, k_end: u32, batch: u32) {
  var c = Sums();
  let x4_0_0 = preload_4(row0 + ty * 4u, column0 + tx * 4u);
  let x4_1_0 = preload_4(row0 + ty * 4u + 1u, column0 + tx * 4u);
  let x4_2_0 = preload_4(row0 + ty * 4u + 2u, column0 + tx * 4u);
  let x4_3_0 = preload_4(row0 + ty * 4u + 3u, column0 + tx * 4u);
  let a0_o = local / 8u;
  let a0_k = local % 8u * 4u;
  let a0_to = a0_k * 9u + a0_o / 4u;
  let a0_at = min(row0 + a0_o, p.extent_0 - 1u);
  let a0_base0 = p.offset_0 + a0_at * p.stride_0_0;
  var a0_x0: vec4<f32>;
  let a1_o = (local + 64u) / 8u;
  let a1_k = (local + 64u) % 8u * 4u;
  let a1_to = a1_k * 9u + a1_o / 4u;
  let a1_at = min(row0 + a1_o, p.extent_0 - 1u);
  let a1_base0 = p.offset_0 + a1_at * p.stride_0_0;
  var a1_x0: vec4<f32>;
  let a2_o = (local + 128u) / 8u;
  let a2_k = (local + 128u) % 8u * 4u;
  let a2_to = a2_k * 9u + a2_o / 4u;
  let a2_at = min(row0 + a2_o, p.extent_0 - 1u);
  let a2_base0 = p.offset_0 + a2_at * p.stride_0_0;
  var a2_x0: vec4<f32>;
  let a3_o = (local + 192u) / 8u;
  let a3_k = (local + 192u) % 8u * 4u;
  let a3_to = a3_k * 9u + a3_o / 4u;
  let a3_at = min(row0 + a3_o, p.extent_0 - 1u);
  let a3_base0 = p.offset_0 + a3_at * p.stride_0_0;
  var a3_x0: vec4<f32>;
  let w0_0_o = local % 8u * 4u;
  let w0_0_k = local / 8u;
  let w0_0_to = w0_0_k * 9u + w0_0_o / 4u;
  let w0_0_at = min(column0 + w0_0_o, p.extent_1 - 4u);
  let w0_0_base1 = p.offset_1 + w0_0_at;
  var w0_0_x1: vec4<f32>;
  let w0_1_o = (local + 64u) % 8u * 4u;
  let w0_1_k = (local + 64u) / 8u;
  let w0_1_to = w0_1_k * 9u + w0_1_o / 4u;
  let w0_1_at = min(column0 + w0_1_o, p.extent_1 - 4u);
  let w0_1_base1 = p.offset_1 + w0_1_at;
  var w0_1_x1: vec4<f32>;
  let w0_2_o = (local + 128u) % 8u * 4u;
  let w0_2_k = (local + 128u) / 8u;
  let w0_2_to = w0_2_k * 9u + w0_2_o / 4u;
  let w0_2_at = min(column0 + w0_2_o, p.extent_1 - 4u);
  let w0_2_base1 = p.offset_1 + w0_2_at;
  var w0_2_x1: vec4<f32>;
  let w0_3_o = (local + 192u) % 8u * 4u;
  let w0_3_k = (local + 192u) / 8u;
  let w0_3_to = w0_3_k * 9u + w0_3_o / 4u;
  let w0_3_at = min(column0 + w0_3_o, p.extent_1 - 4u);
  let w0_3_base1 = p.offset_1 + w0_3_at;
  var w0_3_x1: vec4<f32>;
  if k_begin < k_end {
    {
      let start = k_begin + a0_k;
      a0_x0 = in_0[(a0_base0 + start) / 4u];
    }
    {
      let start = k_begin + a1_k;
      a1_x0 = in_0[(a1_base0 + start) / 4u];
    }
    {
      let start = k_begin + a2_k;
      a2_x0 = in_0[(a2_base0 + start) / 4u];
    }
    {
      let start = k_begin + a3_k;
      a3_x0 = in_0[(a3_base0 + start) / 4u];
    }
    {
      let start = k_begin + w0_0_k;
      w0_0_x1 = in_1[(w0_0_base1 + start * p.stride_1_0) / 4u];
    }
    {
      let start = k_begin + w0_1_k;
      w0_1_x1 = in_1[(w0_1_base1 + start * p.stride_1_0) / 4u];
    }
    {
      let start = k_begin + w0_2_k;
      w0_2_x1 = in_1[(w0_2_base1 + start * p.stride_1_0) / 4u];
    }
    {
      let start = k_begin + w0_3_k;
      w0_3_x1 = in_1[(w0_3_base1 + start * p.stride_1_0) / 4u];
    }
  }
  for (var k0 = k_begin; k0 < k_end; k0 += 32u) {
    {
      let value = a0_x0;
      lhs_tile[a0_to][a0_o % 4u] = value.x;
      lhs_tile[a0_to + 9u][a0_o % 4u] = value.y;
      lhs_tile[a0_to + 18u][a0_o % 4u] = value.z;
      lhs_tile[a0_to + 27u][a0_o % 4u] = value.w;
    }
    {
      let value = a1_x0;
      lhs_tile[a1_to][a1_o % 4u] = value.x;
      lhs_tile[a1_to + 9u][a1_o % 4u] = value.y;
      lhs_tile[a1_to + 18u][a1_o % 4u] = value.z;
      lhs_tile[a1_to + 27u][a1_o % 4u] = value.w;
    }
    {
      let value = a2_x0;
      lhs_tile[a2_to][a2_o % 4u] = value.x;
      lhs_tile[a2_to + 9u][a2_o % 4u] = value.y;
      lhs_tile[a2_to + 18u][a2_o % 4u] = value.z;
      lhs_tile[a2_to + 27u][a2_o % 4u] = value.w;
    }
    {
      let value = a3_x0;
      lhs_tile[a3_to][a3_o % 4u] = value.x;
      lhs_tile[a3_to + 9u][a3_o % 4u] = value.y;
      lhs_tile[a3_to + 18u][a3_o % 4u] = value.z;
      lhs_tile[a3_to + 27u][a3_o % 4u] = value.w;
    }
    {
      let value = w0_0_x1;
      rhs_tile[w0_0_to] = value;
    }
    {
      let value = w0_1_x1;
      rhs_tile[w0_1_to] = value;
    }
    {
      let value = w0_2_x1;
      rhs_tile[w0_2_to] = value;
    }
    {
      let value = w0_3_x1;
      rhs_tile[w0_3_to] = value;
    }
    workgroupBarrier();
    if k0 + 32u < k_end {
      {
        let start = k0 + 32u + a0_k;
        a0_x0 = in_0[(a0_base0 + start) / 4u];
      }
      {
        let start = k0 + 32u + a1_k;
        a1_x0 = in_0[(a1_base0 + start) / 4u];
      }
      {
        let start = k0 + 32u + a2_k;
        a2_x0 = in_0[(a2_base0 + start) / 4u];
      }
      {
        let start = k0 + 32u + a3_k;
        a3_x0 = in_0[(a3_base0 + start) / 4u];
      }
      {
        let start = k0 + 32u + w0_0_k;
        w0_0_x1 = in_1[(w0_0_base1 + start * p.stride_1_0) / 4u];
      }
      {
        let start = k0 + 32u + w0_1_k;
        w0_1_x1 = in_1[(w0_1_base1 + start * p.stride_1_0) / 4u];
      }
      {
        let start = k0 + 32u + w0_2_k;
        w0_2_x1 = in_1[(w0_2_base1 + start * p.stride_1_0) / 4u];
      }
      {
        let start = k0 + 32u + w0_3_k;
        w0_3_x1 = in_1[(w0_3_base1 + start * p.stride_1_0) / 4u];
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
    update(&c, lhs_tile[ty + 144u], rhs_tile[tx + 144u]);
    update(&c, lhs_tile[ty + 153u], rhs_tile[tx + 153u]);
    update(&c, lhs_tile[ty + 162u], rhs_tile[tx + 162u]);
    update(&c, lhs_tile[ty + 171u], rhs_tile[tx + 171u]);
    update(&c, lhs_tile[ty + 180u], rhs_tile[tx + 180u]);
    update(&c, lhs_tile[ty + 189u], rhs_tile[tx + 189u]);
    update(&c, lhs_tile[ty + 198u], rhs_tile[tx + 198u]);
    update(&c, lhs_tile[ty + 207u], rhs_tile[tx + 207u]);
    update(&c, lhs_tile[ty + 216u], rhs_tile[tx + 216u]);
    update(&c, lhs_tile[ty + 225u], rhs_tile[tx + 225u]);
    update(&c, lhs_tile[ty + 234u], rhs_tile[tx + 234u]);
    update(&c, lhs_tile[ty + 243u], rhs_tile[tx + 243u]);
    update(&c, lhs_tile[ty + 252u], rhs_tile[tx + 252u]);
    update(&c, lhs_tile[ty + 261u], rhs_tile[tx + 261u]);
    update(&c, lhs_tile[ty + 270u], rhs_tile[tx + 270u]);
    update(&c, lhs_tile[ty + 279u], rhs_tile[tx + 279u]);
    workgroupBarrier();
  }
  finish0(batch, row0 + ty * 4u, column0 + tx * 4u, c.s0_0, x4_0_0);
  finish0(batch, row0 + ty * 4u + 1u, column0 + tx * 4u, c.s1_0, x4_1_0);
  finish0(batch, row0 + ty * 4u + 2u, column0 + tx * 4u, c.s2_0, x4_2_0);
  finish0(batch, row0 + ty * 4u + 3u, column0 + tx * 4u, c.s3_0, x4_3_0);
}
fn product1(row0: u32, ty: u32, column0: u32, tx: u32, local: u32, k_begin: u32, k_end: u32, batch: u32) {
  var c = Sums();
  let x5_0_0 = preload_5(row0 + ty * 4u, column0 + tx * 4u);
  let x5_1_0 = preload_5(row0 + ty * 4u + 1u, column0 + tx * 4u);
  let x5_2_0 = preload_5(row0 + ty * 4u + 2u, column0 + tx * 4u);
  let x5_3_0 = preload_5(row0 + ty * 4u + 3u, column0 + tx * 4u);
  let a0_o = local / 8u;
  let a0_k = local % 8u * 4u;
  let a0_to = a0_k * 9u + a0_o / 4u;
  let a0_at = min(row0 + a0_o, p.extent_0 - 1u);
  let a0_base0 = p.offset_0 + a0_at * p.stride_0_0;
  var a0_x0: vec4<f32>;
  let a1_o = (local + 64u) / 8u;
  let a1_k = (local + 64u) % 8u * 4u;
  let a1_to = a1_k * 9u + a1_o / 4u;
  let a1_at = min(row0 + a1_o, p.extent_0 - 1u);
  let a1_base0 = p.offset_0 + a1_at * p.stride_0_0;
  var a1_x0: vec4<f32>;
  let a2_o = (local + 128u) / 8u;
  let a2_k = (local + 128u) % 8u * 4u;
  let a2_to = a2_k * 9u + a2_o / 4u;
  let a2_at = min(row0 + a2_o, p.extent_0 - 1u);
  let a2_base0 = p.offset_0 + a2_at * p.stride_0_0;
  var a2_x0: vec4<f32>;
  let a3_o = (local + 192u) / 8u;
  let a3_k = (local + 192u) % 8u * 4u;
  let a3_to = a3_k * 9u + a3_o / 4u;
  let a3_at = min(row0 + a3_o, p.extent_0 - 1u);
  let a3_base0 = p.offset_0 + a3_at * p.stride_0_0;
  var a3_x0: vec4<f32>;
  let w1_0_o = local % 8u * 4u;
  let w1_0_k = local / 8u;
  let w1_0_to = w1_0_k * 9u + w1_0_o / 4u;
  let w1_0_at = min(column0 + w1_0_o, p.extent_1 - 4u);
  let w1_0_base2 = p.offset_2 + w1_0_at;
  var w1_0_x2: vec4<f32>;
  let w1_1_o = (local + 64u) % 8u * 4u;
  let w1_1_k = (local + 64u) / 8u;
  let w1_1_to = w1_1_k * 9u + w1_1_o / 4u;
  let w1_1_at = min(column0 + w1_1_o, p.extent_1 - 4u);
  let w1_1_base2 = p.offset_2 + w1_1_at;
  var w1_1_x2: vec4<f32>;
  let w1_2_o = (local + 128u) % 8u * 4u;
  let w1_2_k = (local + 128u) / 8u;
  let w1_2_to = w1_2_k * 9u + w1_2_o / 4u;
  let w1_2_at = min(column0 + w1_2_o, p.extent_1 - 4u);
  let w1_2_base2 = p.offset_2 + w1_2_at;
  var w1_2_x2: vec4<f32>;
  let w1_3_o = (local + 192u) % 8u * 4u;
  let w1_3_k = (local + 192u) / 8u;
  let w1_3_to = w1_3_k * 9u + w1_3_o / 4u;
  let w1_3_at = min(column0 + w1_3_o, p.extent_1 - 4u);
  let w1_3_base2 = p.offset_2 + w1_3_at;
  var w1_3_x2: vec4<f32>;
  if k_begin < k_end {
    {
      let start = k_begin + a0_k;
      a0_x0 = in_0[(a0_base0 + start) / 4u];
    }
    {
      let start = k_begin + a1_k;
      a1_x0 = in_0[(a1_base0 + start) / 4u];
    }
    {
      let start = k_begin + a2_k;
      a2_x0 = in_0[(a2_base0 + start) / 4u];
    }
    {
      let start = k_begin + a3_k;
      a3_x0 = in_0[(a3_base0 + start) / 4u];
    }
    {
      let start = k_begin + w1_0_k;
      w1_0_x2 = in_2[(w1_0_base2 + start * p.stride_2_0) / 4u];
    }
    {
      let start = k_begin + w1_1_k;
      w1_1_x2 = in_2[(w1_1_base2 + start * p.stride_2_0) / 4u];
    }
    {
      let start = k_begin + w1_2_k;
      w1_2_x2 = in_2[(w1_2_base2 + start * p.stride_2_0) / 4u];
    }
    {
      let start = k_begin + w1_3_k;
      w1_3_x2 = in_2[(w1_3_base2 + start * p.stride_2_0) / 4u];
    }
  }
  for (var k0 = k_begin; k0 < k_end; k0 += 32u) {
    {
      let value = a0_x0;
      lhs_tile[a0_to][a0_o % 4u] = value.x;
      lhs_tile[a0_to + 9u][a0_o % 4u] = value.y;
      lhs_tile[a0_to + 18u][a0_o % 4u] = value.z;
      lhs_tile[a0_to + 27u][a0_o % 4u] = value.w;
    }
    {
      let value = a1_x0;
      lhs_tile[a1_to][a1_o % 4u] = value.x;
      lhs_tile[a1_to + 9u][a1_o % 4u] = value.y;
      lhs_tile[a1_to + 18u][a1_o % 4u] = value.z;
      lhs_tile[a1_to + 27u][a1_o % 4u] = value.w;
    }
    {
      let value = a2_x0;
      lhs_tile[a2_to][a2_o % 4u] = value.x;
      lhs_tile[a2_to + 9u][a2_o % 4u] = value.y;
      lhs_tile[a2_to + 18u][a2_o % 4u] = value.z;
      lhs_tile[a2_to + 27u][a2_o % 4u] = value.w;
    }
    {
      let value = a3_x0;
      lhs_tile[a3_to][a3_o % 4u] = value.x;
      lhs_tile[a3_to + 9u][a3_o % 4u] = value.y;
      lhs_tile[a3_to + 18u][a3_o % 4u] = value.z;
      lhs_tile[a3_to + 27u][a3_o % 4u] = value.w;
    }
    {
      let value = w1_0_x2;
      rhs_tile[w1_0_to] = value;
    }
    {
      let value = w1_1_x2;
      rhs_tile[w1_1_to] = value;
    }
    {
      let value = w1_2_x2;
      rhs_tile[w1_2_to] = value;
    }
    {
      let value = w1_3_x2;
      rhs_tile[w1_3_to] = value;
    }
    workgroupBarrier();
    if k0 + 32u < k_end {
      {
        let start = k0 + 32u + a0_k;
        a0_x0 = in_0[(a0_base0 + start) / 4u];
      }
      {
        let start = k0 + 32u + a1_k;
        a1_x0 = in_0[(a1_base0 + start) / 4u];
      }
      {
        let start = k0 + 32u + a2_k;
        a2_x0 = in_0[(a2_base0 + start) / 4u];
      }
      {
        let start = k0 + 32u + a3_k;
        a3_x0 = in_0[(a3_base0 + start) / 4u];
      }
      {
        let start = k0 + 32u + w1_0_k;
        w1_0_x2 = in_2[(w1_0_base2 + start * p.stride_2_0) / 4u];
      }
      {
        let start = k0 + 32u + w1_1_k;
        w1_1_x2 = in_2[(w1_1_base2 + start * p.stride_2_0) / 4u];
      }
      {
        let start = k0 + 32u + w1_2_k;
        w1_2_x2 = in_2[(w1_2_base2 + start * p.stride_2_0) / 4u];
      }
      {
        let start = k0 + 32u + w1_3_k;
        w1_3_x2 = in_2[(w1_3_base2 + start * p.stride_2_0) / 4u];
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
    update(&c, lhs_tile[ty + 144u], rhs_tile[tx + 144u]);
    update(&c, lhs_tile[ty + 153u], rhs_tile[tx + 153u]);
    update(&c, lhs_tile[ty + 162u], rhs_tile[tx + 162u]);
    update(&c, lhs_tile[ty + 171u], rhs_tile[tx + 171u]);
    update(&c, lhs_tile[ty + 180u], rhs_tile[tx + 180u]);
    update(&c, lhs_tile[ty + 189u], rhs_tile[tx + 189u]);
    update(&c, lhs_tile[ty + 198u], rhs_tile[tx + 198u]);
    update(&c, lhs_tile[ty + 207u], rhs_tile[tx + 207u]);
    update(&c, lhs_tile[ty + 216u], rhs_tile[tx + 216u]);
    update(&c, lhs_tile[ty + 225u], rhs_tile[tx + 225u]);
    update(&c, lhs_tile[ty + 234u], rhs_tile[tx + 234u]);
    update(&c, lhs_tile[ty + 243u], rhs_tile[tx + 243u]);
    update(&c, lhs_tile[ty + 252u], rhs_tile[tx + 252u]);
    update(&c, lhs_tile[ty + 261u], rhs_tile[tx + 261u]);
    update(&c, lhs_tile[ty + 270u], rhs_tile[tx + 270u]);
    update(&c, lhs_tile[ty + 279u], rhs_tile[tx + 279u]);
    workgroupBarrier();
  }
  finish1(batch, row0 + ty * 4u, column0 + tx * 4u, c.s0_0, x5_0_0);
  finish1(batch, row0 + ty * 4u + 1u, column0 + tx * 4u, c.s1_0, x5_1_0);
  finish1(batch, row0 + ty * 4u + 2u, column0 + tx * 4u, c.s2_0, x5_2_0);
  finish1(batch, row0 + ty * 4u + 3u, column0 + tx * 4u, c.s3_0, x5_3_0);
}
fn product2(row0: u32, ty: u32, column0: u32, tx: u32, local: u32, k_begin: u32, k_end: u32, batch: u32) {
  var c = Sums();
  let x6_0_0 = preload_6(row0 + ty * 4u, column0 + tx * 4u);
  let x6_1_0 = preload_6(row0 + ty * 4u + 1u, column0 + tx * 4u);
  let x6_2_0 = preload_6(row0 + ty * 4u + 2u, column0 + tx * 4u);
  let x6_3_0 = preload_6(row0 + ty * 4u + 3u, column0 + tx * 4u);
  let a0_o = local / 8u;
  let a0_k = local % 8u * 4u;
  let a0_to = a0_k * 9u + a0_o / 4u;
  let a0_at = min(row0 + a0_o, p.extent_0 - 1u);
  let a0_base0 = p.offset_0 + a0_at * p.stride_0_0;
  var a0_x0: vec4<f32>;
  let a1_o = (local + 64u) / 8u;
  let a1_k = (local + 64u) % 8u * 4u;
  let a1_to = a1_k * 9u + a1_o / 4u;
  let a1_at = min(row0 + a1_o, p.extent_0 - 1u);
  let a1_base0 = p.offset_0 + a1_at * p.stride_0_0;
  var a1_x0: vec4<f32>;
  let a2_o = (local + 128u) / 8u;
  let a2_k = (local + 128u) % 8u * 4u;
  let a2_to = a2_k * 9u + a2_o / 4u;
  let a2_at = min(row0 + a2_o, p.extent_0 - 1u);
  let a2_base0 = p.offset_0 + a2_at * p.stride_0_0;
  var a2_x0: vec4<f32>;
  let a3_o = (local + 192u) / 8u;
  let a3_k = (local + 192u) % 8u * 4u;
  let a3_to = a3_k * 9u + a3_o / 4u;
  let a3_at = min(row0 + a3_o, p.extent_0 - 1u);
  let a3_base0 = p.offset_0 + a3_at * p.stride_0_0;
  var a3_x0: vec4<f32>;
  let w2_0_o = local % 8u * 4u;
  let w2_0_k = local / 8u;
  let w2_0_to = w2_0_k * 9u + w2_0_o / 4u;
  let w2_0_at = min(column0 + w2_0_o, p.extent_1 - 4u);
  let w2_0_base3 = p.offset_3 + w2_0_at;
  var w2_0_x3: vec4<f32>;
  let w2_1_o = (local + 64u) % 8u * 4u;
  let w2_1_k = (local + 64u) / 8u;
  let w2_1_to = w2_1_k * 9u + w2_1_o / 4u;
  let w2_1_at = min(column0 + w2_1_o, p.extent_1 - 4u);
  let w2_1_base3 = p.offset_3 + w2_1_at;
  var w2_1_x3: vec4<f32>;
  let w2_2_o = (local + 128u) % 8u * 4u;
  let w2_2_k = (local + 128u) / 8u;
  let w2_2_to = w2_2_k * 9u + w2_2_o / 4u;
  let w2_2_at = min(column0 + w2_2_o, p.extent_1 - 4u);
  let w2_2_base3 = p.offset_3 + w2_2_at;
  var w2_2_x3: vec4<f32>;
  let w2_3_o = (local + 192u) % 8u * 4u;
  let w2_3_k = (local + 192u) / 8u;
  let w2_3_to = w2_3_k * 9u + w2_3_o / 4u;
  let w2_3_at = min(column0 + w2_3_o, p.extent_1 - 4u);
  let w2_3_base3 = p.offset_3 + w2_3_at;
  var w2_3_x3: vec4<f32>;
  if k_begin < k_end {
    {
      let start = k_begin + a0_k;
      a0_x0 = in_0[(a0_base0 + start) / 4u];
    }
    {
      let start = k_begin + a1_k;
      a1_x0 = in_0[(a1_base0 + start) / 4u];
    }
    {
      let start = k_begin + a2_k;
      a2_x0 = in_0[(a2_base0 + start) / 4u];
    }
    {
      let start = k_begin + a3_k;
      a3_x0 = in_0[(a3_base0 + start) / 4u];
    }
    {
      let start = k_begin + w2_0_k;
      w2_0_x3 = in_3[(w2_0_base3 + start * p.stride_3_0) / 4u];
    }
    {
      let start = k_begin + w2_1_k;
      w2_1_x3 = in_3[(w2_1_base3 + start * p.stride_3_0) / 4u];
    }
    {
      let start = k_begin + w2_2_k;
      w2_2_x3 = in_3[(w2_2_base3 + start * p.stride_3_0) / 4u];
    }
    {
      let start = k_begin + w2_3_k;
      w2_3_x3 = in_3[(w2_3_base3 + start * p.stride_3_0) / 4u];
    }
  }
  for (var k0 = k_begin; k0 < k_end; k0 += 32u) {
    {
      let value = a0_x0;
      lhs_tile[a0_to][a0_o % 4u] = value.x;
      lhs_tile[a0_to + 9u][a0_o % 4u] = value.y;
      lhs_tile[a0_to + 18u][a0_o % 4u] = value.z;
      lhs_tile[a0_to + 27u][a0_o % 4u] = value.w;
    }
    {
      let value = a1_x0;
      lhs_tile[a1_to][a1_o % 4u] = value.x;
      lhs_tile[a1_to + 9u][a1_o % 4u] = value.y;
      lhs_tile[a1_to + 18u][a1_o % 4u] = value.z;
      lhs_tile[a1_to + 27u][a1_o % 4u] = value.w;
    }
    {
      let value = a2_x0;
      lhs_tile[a2_to][a2_o % 4u] = value.x;
      lhs_tile[a2_to + 9u][a2_o % 4u] = value.y;
      lhs_tile[a2_to + 18u][a2_o % 4u] = value.z;
      lhs_tile[a2_to + 27u][a2_o % 4u] = value.w;
    }
    {
      let value = a3_x0;
      lhs_tile[a3_to][a3_o % 4u] = value.x;
      lhs_tile[a3_to + 9u][a3_o % 4u] = value.y;
      lhs_tile[a3_to + 18u][a3_o % 4u] = value.z;
      lhs_tile[a3_to + 27u][a3_o % 4u] = value.w;
    }
    {
      let value = w2_0_x3;
      rhs_tile[w2_0_to] = value;
    }
    {
      let value = w2_1_x3;
      rhs_tile[w2_1_to] = value;
    }
    {
      let value = w2_2_x3;
      rhs_tile[w2_2_to] = value;
    }
    {
      let value = w2_3_x3;
      rhs_tile[w2_3_to] = value;
    }
    workgroupBarrier();
    if k0 + 32u < k_end {
      {
        let start = k0 + 32u + a0_k;
        a0_x0 = in_0[(a0_base0 + start) / 4u];
      }
      {
        let start = k0 + 32u + a1_k;
        a1_x0 = in_0[(a1_base0 + start) / 4u];
      }
      {
        let start = k0 + 32u + a2_k;
        a2_x0 = in_0[(a2_base0 + start) / 4u];
      }
      {
        let start = k0 + 32u + a3_k;
        a3_x0 = in_0[(a3_base0 + start) / 4u];
      }
      {
        let start = k0 + 32u + w2_0_k;
        w2_0_x3 = in_3[(w2_0_base3 + start * p.stride_3_0) / 4u];
      }
      {
        let start = k0 + 32u + w2_1_k;
        w2_1_x3 = in_3[(w2_1_base3 + start * p.stride_3_0) / 4u];
      }
      {
        let start = k0 + 32u + w2_2_k;
        w2_2_x3 = in_3[(w2_2_base3 + start * p.stride_3_0) / 4u];
      }
      {
        let start = k0 + 32u + w2_3_k;
        w2_3_x3 = in_3[(w2_3_base3 + start * p.stride_3_0) / 4u];
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
    update(&c, lhs_tile[ty + 144u], rhs_tile[tx + 144u]);
    update(&c, lhs_tile[ty + 153u], rhs_tile[tx + 153u]);
    update(&c, lhs_tile[ty + 162u], rhs_tile[tx + 162u]);
    update(&c, lhs_tile[ty + 171u], rhs_tile[tx + 171u]);
    update(&c, lhs_tile[ty + 180u], rhs_tile[tx + 180u]);
    update(&c, lhs_tile[ty + 189u], rhs_tile[tx + 189u]);
    update(&c, lhs_tile[ty + 198u], rhs_tile[tx + 198u]);
    update(&c, lhs_tile[ty + 207u], rhs_tile[tx + 207u]);
    update(&c, lhs_tile[ty + 216u], rhs_tile[tx + 216u]);
    update(&c, lhs_tile[ty + 225u], rhs_tile[tx + 225u]);
    update(&c, lhs_tile[ty + 234u], rhs_tile[tx + 234u]);
    update(&c, lhs_tile[ty + 243u], rhs_tile[tx + 243u]);
    update(&c, lhs_tile[ty + 252u], rhs_tile[tx + 252u]);
    update(&c, lhs_tile[ty + 261u], rhs_tile[tx + 261u]);
    update(&c, lhs_tile[ty + 270u], rhs_tile[tx + 270u]);
    update(&c, lhs_tile[ty + 279u], rhs_tile[tx + 279u]);
    workgroupBarrier();
  }
  finish2(batch, row0 + ty * 4u, column0 + tx * 4u, c.s0_0, x6_0_0);
  finish2(batch, row0 + ty * 4u + 1u, column0 + tx * 4u, c.s1_0, x6_1_0);
  finish2(batch, row0 + ty * 4u + 2u, column0 + tx * 4u, c.s2_0, x6_2_0);
  finish2(batch, row0 + ty * 4u + 3u, column0 + tx * 4u, c.s3_0, x6_3_0);
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
  let batch = id / tiles % 1u;
  let product = id / tiles;
  let k_begin = 0u;
  let k_end = p.extent_2;
  let row0 = tile / p.column_tiles * 32u;
  let column0 = tile % p.column_tiles * 32u;
  let tx = local % 8u;
  let ty = local / 8u;
  if fuse_switch {
    switch product {
      case 0u: {
        product0(row0, ty, column0, tx, local, k_begin, k_end, batch);
      }
      case 1u: {
        product1(row0, ty, column0, tx, local, k_begin, k_end, batch);
      }
      case 2u: {
        product2(row0, ty, column0, tx, local, k_begin, k_end, batch);
      }
      default: {
      }
    }
  } else {
    if product == 0u {
      product0(row0, ty, column0, tx, local, k_begin, k_end, batch);
    }
    if product == 1u {
      product1(row0, ty, column0, tx, local, k_begin, k_end, batch);
    }
    if product == 2u {
      product2(row0, ty, column0, tx, local, k_begin, k_end, batch);
    }
  }
}
