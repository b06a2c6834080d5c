struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  workgroups: u32,
  row_tiles: u32,
  column_tiles: u32,
  split_depth: u32,
  offset_0: u32,
  stride_0_0: u32,
  offset_1: u32,
  stride_1_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> scratch: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

var<private> split: u32;
fn finish(batch: u32, row: u32, column: u32, sum: vec4<f32>) {
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let at = ((split + batch) * p.extent_0 + row) * p.extent_1 + column;
  scratch[at / 4u] = sum;
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
  let part = id / tiles;
  split = part;
  let k_begin = part * p.split_depth;
  let k_end = min(p.extent_2, k_begin + p.split_depth);
  let row0 = tile / p.column_tiles * 32u;
  let column0 = tile % p.column_tiles * 32u;
  let tx = local % 8u;
  let ty = local / 8u;
  var c = Sums();
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
  let b0_o = local % 8u * 4u;
  let b0_k = local / 8u;
  let b0_to = b0_k * 9u + b0_o / 4u;
  let b0_at = min(column0 + b0_o, p.extent_1 - 4u);
  let b0_base1 = p.offset_1 + b0_at;
  var b0_x1: vec4<f32>;
  let b1_o = (local + 64u) % 8u * 4u;
  let b1_k = (local + 64u) / 8u;
  let b1_to = b1_k * 9u + b1_o / 4u;
  let b1_at = min(column0 + b1_o, p.extent_1 - 4u);
  let b1_base1 = p.offset_1 + b1_at;
  var b1_x1: vec4<f32>;
  let b2_o = (local + 128u) % 8u * 4u;
  let b2_k = (local + 128u) / 8u;
  let b2_to = b2_k * 9u + b2_o / 4u;
  let b2_at = min(column0 + b2_o, p.extent_1 - 4u);
  let b2_base1 = p.offset_1 + b2_at;
  var b2_x1: vec4<f32>;
  let b3_o = (local + 192u) % 8u * 4u;
  let b3_k = (local + 192u) / 8u;
  let b3_to = b3_k * 9u + b3_o / 4u;
  let b3_at = min(column0 + b3_o, p.extent_1 - 4u);
  let b3_base1 = p.offset_1 + b3_at;
  var b3_x1: vec4<f32>;
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
      let start = k_begin + b0_k;
      b0_x1 = in_1[(b0_base1 + start * p.stride_1_0) / 4u];
    }
    {
      let start = k_begin + b1_k;
      b1_x1 = in_1[(b1_base1 + start * p.stride_1_0) / 4u];
    }
    {
      let start = k_begin + b2_k;
      b2_x1 = in_1[(b2_base1 + start * p.stride_1_0) / 4u];
    }
    {
      let start = k_begin + b3_k;
      b3_x1 = in_1[(b3_base1 + start * p.stride_1_0) / 4u];
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
      let value = b0_x1;
      rhs_tile[b0_to] = value;
    }
    {
      let value = b1_x1;
      rhs_tile[b1_to] = value;
    }
    {
      let value = b2_x1;
      rhs_tile[b2_to] = value;
    }
    {
      let value = b3_x1;
      rhs_tile[b3_to] = value;
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
        let start = k0 + 32u + b0_k;
        b0_x1 = in_1[(b0_base1 + start * p.stride_1_0) / 4u];
      }
      {
        let start = k0 + 32u + b1_k;
        b1_x1 = in_1[(b1_base1 + start * p.stride_1_0) / 4u];
      }
      {
        let start = k0 + 32u + b2_k;
        b2_x1 = in_1[(b2_base1 + start * p.stride_1_0) / 4u];
      }
      {
        let start = k0 + 32u + b3_k;
        b3_x1 = in_1[(b3_base1 + start * p.stride_1_0) / 4u];
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
  finish(batch, row0 + ty * 4u, column0 + tx * 4u, c.s0_0);
  finish(batch, row0 + ty * 4u + 1u, column0 + tx * 4u, c.s1_0);
  finish(batch, row0 + ty * 4u + 2u, column0 + tx * 4u, c.s2_0);
  finish(batch, row0 + ty * 4u + 3u, column0 + tx * 4u, c.s3_0);
}
