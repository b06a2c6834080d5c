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
  offset_2: u32,
  stride_2_1: u32,
  stride_0_1: u32,
  stride_1_0: u32,
  stride_2_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read> in_1: array<f32>;
@group(0) @binding(3) var<storage, read> in_2: array<f32>;
@group(0) @binding(4) var<storage, read_write> out_0: array<f32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

fn fuse_sigmoid1(x: f32) -> f32 {
  return f32(1.0) / (f32(1.0) + exp(-x));
}
fn fuse_silu1(x: f32) -> f32 {
  return x * fuse_sigmoid1(x);
}
fn finish(batch: u32, row: u32, column: u32, sum0: f32, sum1: f32) {
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let v0 = sum0;
  let v1 = fuse_silu1(v0);
  let v2 = sum1;
  let v3 = v1 * v2;
  let at = (batch * p.extent_0 + row) * p.extent_1 + column;
  out_0[at] = v3;
}
var<workgroup> lhs_tile: array<vec4<f32>, 144>;
var<workgroup> rhs_tile0: array<vec4<f32>, 144>;
var<workgroup> rhs_tile1: array<vec4<f32>, 144>;
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
  (*c).s0_0_0 = fma(vec4<f32>(a0.x), b0_0, (*c).s0_0_0);
  (*c).s1_0_0 = fma(vec4<f32>(a0.x), b1_0, (*c).s1_0_0);
  (*c).s0_1_0 = fma(vec4<f32>(a0.y), b0_0, (*c).s0_1_0);
  (*c).s1_1_0 = fma(vec4<f32>(a0.y), b1_0, (*c).s1_1_0);
  (*c).s0_2_0 = fma(vec4<f32>(a0.z), b0_0, (*c).s0_2_0);
  (*c).s1_2_0 = fma(vec4<f32>(a0.z), b1_0, (*c).s1_2_0);
  (*c).s0_3_0 = fma(vec4<f32>(a0.w), b0_0, (*c).s0_3_0);
  (*c).s1_3_0 = fma(vec4<f32>(a0.w), b1_0, (*c).s1_3_0);
}
fn finish_each(batch: u32, row: u32, column: u32, sum0: vec4<f32>, sum1: vec4<f32>) {
  finish(batch, row, column, sum0.x, sum1.x);
  finish(batch, row, column + 1u, sum0.y, sum1.y);
  finish(batch, row, column + 2u, sum0.z, sum1.z);
  finish(batch, row, column + 3u, sum0.w, sum1.w);
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
  let w0_0_o = local % 32u;
  let w0_0_k = local / 32u;
  let w0_0_to = w0_0_k * 9u + w0_0_o / 4u;
  let w0_0_at = min(column0 + w0_0_o, p.extent_1 - 1u);
  let w0_0_base1 = p.offset_1 + w0_0_at * p.stride_1_1;
  var w0_0_x1: f32;
  let w0_1_o = (local + 64u) % 32u;
  let w0_1_k = (local + 64u) / 32u;
  let w0_1_to = w0_1_k * 9u + w0_1_o / 4u;
  let w0_1_at = min(column0 + w0_1_o, p.extent_1 - 1u);
  let w0_1_base1 = p.offset_1 + w0_1_at * p.stride_1_1;
  var w0_1_x1: f32;
  let w0_2_o = (local + 128u) % 32u;
  let w0_2_k = (local + 128u) / 32u;
  let w0_2_to = w0_2_k * 9u + w0_2_o / 4u;
  let w0_2_at = min(column0 + w0_2_o, p.extent_1 - 1u);
  let w0_2_base1 = p.offset_1 + w0_2_at * p.stride_1_1;
  var w0_2_x1: f32;
  let w0_3_o = (local + 192u) % 32u;
  let w0_3_k = (local + 192u) / 32u;
  let w0_3_to = w0_3_k * 9u + w0_3_o / 4u;
  let w0_3_at = min(column0 + w0_3_o, p.extent_1 - 1u);
  let w0_3_base1 = p.offset_1 + w0_3_at * p.stride_1_1;
  var w0_3_x1: f32;
  let w0_4_o = (local + 256u) % 32u;
  let w0_4_k = (local + 256u) / 32u;
  let w0_4_to = w0_4_k * 9u + w0_4_o / 4u;
  let w0_4_at = min(column0 + w0_4_o, p.extent_1 - 1u);
  let w0_4_base1 = p.offset_1 + w0_4_at * p.stride_1_1;
  var w0_4_x1: f32;
  let w0_5_o = (local + 320u) % 32u;
  let w0_5_k = (local + 320u) / 32u;
  let w0_5_to = w0_5_k * 9u + w0_5_o / 4u;
  let w0_5_at = min(column0 + w0_5_o, p.extent_1 - 1u);
  let w0_5_base1 = p.offset_1 + w0_5_at * p.stride_1_1;
  var w0_5_x1: f32;
  let w0_6_o = (local + 384u) % 32u;
  let w0_6_k = (local + 384u) / 32u;
  let w0_6_to = w0_6_k * 9u + w0_6_o / 4u;
  let w0_6_at = min(column0 + w0_6_o, p.extent_1 - 1u);
  let w0_6_base1 = p.offset_1 + w0_6_at * p.stride_1_1;
  var w0_6_x1: f32;
  let w0_7_o = (local + 448u) % 32u;
  let w0_7_k = (local + 448u) / 32u;
  let w0_7_to = w0_7_k * 9u + w0_7_o / 4u;
  let w0_7_at = min(column0 + w0_7_o, p.extent_1 - 1u);
  let w0_7_base1 = p.offset_1 + w0_7_at * p.stride_1_1;
  var w0_7_x1: f32;
  let w1_0_o = local % 32u;
  let w1_0_k = local / 32u;
  let w1_0_to = w1_0_k * 9u + w1_0_o / 4u;
  let w1_0_at = min(column0 + w1_0_o, p.extent_1 - 1u);
  let w1_0_base2 = p.offset_2 + w1_0_at * p.stride_2_1;
  var w1_0_x2: f32;
  let w1_1_o = (local + 64u) % 32u;
  let w1_1_k = (local + 64u) / 32u;
  let w1_1_to = w1_1_k * 9u + w1_1_o / 4u;
  let w1_1_at = min(column0 + w1_1_o, p.extent_1 - 1u);
  let w1_1_base2 = p.offset_2 + w1_1_at * p.stride_2_1;
  var w1_1_x2: f32;
  let w1_2_o = (local + 128u) % 32u;
  let w1_2_k = (local + 128u) / 32u;
  let w1_2_to = w1_2_k * 9u + w1_2_o / 4u;
  let w1_2_at = min(column0 + w1_2_o, p.extent_1 - 1u);
  let w1_2_base2 = p.offset_2 + w1_2_at * p.stride_2_1;
  var w1_2_x2: f32;
  let w1_3_o = (local + 192u) % 32u;
  let w1_3_k = (local + 192u) / 32u;
  let w1_3_to = w1_3_k * 9u + w1_3_o / 4u;
  let w1_3_at = min(column0 + w1_3_o, p.extent_1 - 1u);
  let w1_3_base2 = p.offset_2 + w1_3_at * p.stride_2_1;
  var w1_3_x2: f32;
  let w1_4_o = (local + 256u) % 32u;
  let w1_4_k = (local + 256u) / 32u;
  let w1_4_to = w1_4_k * 9u + w1_4_o / 4u;
  let w1_4_at = min(column0 + w1_4_o, p.extent_1 - 1u);
  let w1_4_base2 = p.offset_2 + w1_4_at * p.stride_2_1;
  var w1_4_x2: f32;
  let w1_5_o = (local + 320u) % 32u;
  let w1_5_k = (local + 320u) / 32u;
  let w1_5_to = w1_5_k * 9u + w1_5_o / 4u;
  let w1_5_at = min(column0 + w1_5_o, p.extent_1 - 1u);
  let w1_5_base2 = p.offset_2 + w1_5_at * p.stride_2_1;
  var w1_5_x2: f32;
  let w1_6_o = (local + 384u) % 32u;
  let w1_6_k = (local + 384u) / 32u;
  let w1_6_to = w1_6_k * 9u + w1_6_o / 4u;
  let w1_6_at = min(column0 + w1_6_o, p.extent_1 - 1u);
  let w1_6_base2 = p.offset_2 + w1_6_at * p.stride_2_1;
  var w1_6_x2: f32;
  let w1_7_o = (local + 448u) % 32u;
  let w1_7_k = (local + 448u) / 32u;
  let w1_7_to = w1_7_k * 9u + w1_7_o / 4u;
  let w1_7_at = min(column0 + w1_7_o, p.extent_1 - 1u);
  let w1_7_base2 = p.offset_2 + w1_7_at * p.stride_2_1;
  var w1_7_x2: f32;
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
      let start = min(k_begin + w0_0_k, k_end - 1u);
      w0_0_x1 = in_1[w0_0_base1 + start * p.stride_1_0];
    }
    {
      let start = min(k_begin + w0_1_k, k_end - 1u);
      w0_1_x1 = in_1[w0_1_base1 + start * p.stride_1_0];
    }
    {
      let start = min(k_begin + w0_2_k, k_end - 1u);
      w0_2_x1 = in_1[w0_2_base1 + start * p.stride_1_0];
    }
    {
      let start = min(k_begin + w0_3_k, k_end - 1u);
      w0_3_x1 = in_1[w0_3_base1 + start * p.stride_1_0];
    }
    {
      let start = min(k_begin + w0_4_k, k_end - 1u);
      w0_4_x1 = in_1[w0_4_base1 + start * p.stride_1_0];
    }
    {
      let start = min(k_begin + w0_5_k, k_end - 1u);
      w0_5_x1 = in_1[w0_5_base1 + start * p.stride_1_0];
    }
    {
      let start = min(k_begin + w0_6_k, k_end - 1u);
      w0_6_x1 = in_1[w0_6_base1 + start * p.stride_1_0];
    }
    {
      let start = min(k_begin + w0_7_k, k_end - 1u);
      w0_7_x1 = in_1[w0_7_base1 + start * p.stride_1_0];
    }
    {
      let start = min(k_begin + w1_0_k, k_end - 1u);
      w1_0_x2 = in_2[w1_0_base2 + start * p.stride_2_0];
    }
    {
      let start = min(k_begin + w1_1_k, k_end - 1u);
      w1_1_x2 = in_2[w1_1_base2 + start * p.stride_2_0];
    }
    {
      let start = min(k_begin + w1_2_k, k_end - 1u);
      w1_2_x2 = in_2[w1_2_base2 + start * p.stride_2_0];
    }
    {
      let start = min(k_begin + w1_3_k, k_end - 1u);
      w1_3_x2 = in_2[w1_3_base2 + start * p.stride_2_0];
    }
    {
      let start = min(k_begin + w1_4_k, k_end - 1u);
      w1_4_x2 = in_2[w1_4_base2 + start * p.stride_2_0];
    }
    {
      let start = min(k_begin + w1_5_k, k_end - 1u);
      w1_5_x2 = in_2[w1_5_base2 + start * p.stride_2_0];
    }
    {
      let start = min(k_begin + w1_6_k, k_end - 1u);
      w1_6_x2 = in_2[w1_6_base2 + start * p.stride_2_0];
    }
    {
      let start = min(k_begin + w1_7_k, k_end - 1u);
      w1_7_x2 = in_2[w1_7_base2 + start * p.stride_2_0];
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
      let value = select(f32(), w0_0_x1, k0 + w0_0_k < k_end);
      rhs_tile0[w0_0_to][w0_0_o % 4u] = value;
    }
    {
      let value = select(f32(), w0_1_x1, k0 + w0_1_k < k_end);
      rhs_tile0[w0_1_to][w0_1_o % 4u] = value;
    }
    {
      let value = select(f32(), w0_2_x1, k0 + w0_2_k < k_end);
      rhs_tile0[w0_2_to][w0_2_o % 4u] = value;
    }
    {
      let value = select(f32(), w0_3_x1, k0 + w0_3_k < k_end);
      rhs_tile0[w0_3_to][w0_3_o % 4u] = value;
    }
    {
      let value = select(f32(), w0_4_x1, k0 + w0_4_k < k_end);
      rhs_tile0[w0_4_to][w0_4_o % 4u] = value;
    }
    {
      let value = select(f32(), w0_5_x1, k0 + w0_5_k < k_end);
      rhs_tile0[w0_5_to][w0_5_o % 4u] = value;
    }
    {
      let value = select(f32(), w0_6_x1, k0 + w0_6_k < k_end);
      rhs_tile0[w0_6_to][w0_6_o % 4u] = value;
    }
    {
      let value = select(f32(), w0_7_x1, k0 + w0_7_k < k_end);
      rhs_tile0[w0_7_to][w0_7_o % 4u] = value;
    }
    {
      let value = select(f32(), w1_0_x2, k0 + w1_0_k < k_end);
      rhs_tile1[w1_0_to][w1_0_o % 4u] = value;
    }
    {
      let value = select(f32(), w1_1_x2, k0 + w1_1_k < k_end);
      rhs_tile1[w1_1_to][w1_1_o % 4u] = value;
    }
    {
      let value = select(f32(), w1_2_x2, k0 + w1_2_k < k_end);
      rhs_tile1[w1_2_to][w1_2_o % 4u] = value;
    }
    {
      let value = select(f32(), w1_3_x2, k0 + w1_3_k < k_end);
      rhs_tile1[w1_3_to][w1_3_o % 4u] = value;
    }
    {
      let value = select(f32(), w1_4_x2, k0 + w1_4_k < k_end);
      rhs_tile1[w1_4_to][w1_4_o % 4u] = value;
    }
    {
      let value = select(f32(), w1_5_x2, k0 + w1_5_k < k_end);
      rhs_tile1[w1_5_to][w1_5_o % 4u] = value;
    }
    {
      let value = select(f32(), w1_6_x2, k0 + w1_6_k < k_end);
      rhs_tile1[w1_6_to][w1_6_o % 4u] = value;
    }
    {
      let value = select(f32(), w1_7_x2, k0 + w1_7_k < k_end);
      rhs_tile1[w1_7_to][w1_7_o % 4u] = value;
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
        let start = min(k0 + 16u + w0_0_k, k_end - 1u);
        w0_0_x1 = in_1[w0_0_base1 + start * p.stride_1_0];
      }
      {
        let start = min(k0 + 16u + w0_1_k, k_end - 1u);
        w0_1_x1 = in_1[w0_1_base1 + start * p.stride_1_0];
      }
      {
        let start = min(k0 + 16u + w0_2_k, k_end - 1u);
        w0_2_x1 = in_1[w0_2_base1 + start * p.stride_1_0];
      }
      {
        let start = min(k0 + 16u + w0_3_k, k_end - 1u);
        w0_3_x1 = in_1[w0_3_base1 + start * p.stride_1_0];
      }
      {
        let start = min(k0 + 16u + w0_4_k, k_end - 1u);
        w0_4_x1 = in_1[w0_4_base1 + start * p.stride_1_0];
      }
      {
        let start = min(k0 + 16u + w0_5_k, k_end - 1u);
        w0_5_x1 = in_1[w0_5_base1 + start * p.stride_1_0];
      }
      {
        let start = min(k0 + 16u + w0_6_k, k_end - 1u);
        w0_6_x1 = in_1[w0_6_base1 + start * p.stride_1_0];
      }
      {
        let start = min(k0 + 16u + w0_7_k, k_end - 1u);
        w0_7_x1 = in_1[w0_7_base1 + start * p.stride_1_0];
      }
      {
        let start = min(k0 + 16u + w1_0_k, k_end - 1u);
        w1_0_x2 = in_2[w1_0_base2 + start * p.stride_2_0];
      }
      {
        let start = min(k0 + 16u + w1_1_k, k_end - 1u);
        w1_1_x2 = in_2[w1_1_base2 + start * p.stride_2_0];
      }
      {
        let start = min(k0 + 16u + w1_2_k, k_end - 1u);
        w1_2_x2 = in_2[w1_2_base2 + start * p.stride_2_0];
      }
      {
        let start = min(k0 + 16u + w1_3_k, k_end - 1u);
        w1_3_x2 = in_2[w1_3_base2 + start * p.stride_2_0];
      }
      {
        let start = min(k0 + 16u + w1_4_k, k_end - 1u);
        w1_4_x2 = in_2[w1_4_base2 + start * p.stride_2_0];
      }
      {
        let start = min(k0 + 16u + w1_5_k, k_end - 1u);
        w1_5_x2 = in_2[w1_5_base2 + start * p.stride_2_0];
      }
      {
        let start = min(k0 + 16u + w1_6_k, k_end - 1u);
        w1_6_x2 = in_2[w1_6_base2 + start * p.stride_2_0];
      }
      {
        let start = min(k0 + 16u + w1_7_k, k_end - 1u);
        w1_7_x2 = in_2[w1_7_base2 + start * p.stride_2_0];
      }
    }
    update(&c, lhs_tile[ty], rhs_tile0[tx], rhs_tile1[tx]);
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
  finish_each(batch, row0 + ty * 4u, column0 + tx * 4u, c.s0_0_0, c.s1_0_0);
  finish_each(batch, row0 + ty * 4u + 1u, column0 + tx * 4u, c.s0_1_0, c.s1_1_0);
  finish_each(batch, row0 + ty * 4u + 2u, column0 + tx * 4u, c.s0_2_0, c.s1_2_0);
  finish_each(batch, row0 + ty * 4u + 3u, column0 + tx * 4u, c.s0_3_0, c.s1_3_0);
}
