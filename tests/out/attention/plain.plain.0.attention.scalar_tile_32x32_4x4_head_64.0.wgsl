struct Params {
  extent_1: u32,
  extent_2: u32,
  extent_3: u32,
  extent_4: u32,
  workgroups: u32,
  row_tiles: u32,
  offset_0: u32,
  stride_0_0: u32,
  offset_1: u32,
  stride_1_0: u32,
  offset_2: u32,
  stride_2_0: u32,
  stride_1_1: u32,
  stride_1_2: u32,
  stride_0_2: u32,
  stride_0_1: u32,
  stride_2_1: u32,
  stride_2_2: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read> in_1: array<f32>;
@group(0) @binding(3) var<storage, read> in_2: array<f32>;
@group(0) @binding(4) var<storage, read_write> out_0: array<f32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_rounds = 1u;

fn score_each(b0: u32, row: u32, column: u32, sum: f32) -> f32 {
  let s0 = sum;
  let s2 = s0 * 0.125f;
  return s2;
}
fn score(b0: u32, row: u32, column: u32, sum: vec4<f32>) -> vec4<f32> {
  return vec4<f32>(score_each(b0, row, column, sum.x), score_each(b0, row, column + 1u, sum.y), score_each(b0, row, column + 2u, sum.z), score_each(b0, row, column + 3u, sum.w));
}
fn finish(batch: u32, b0: u32, row: u32, column: u32, sum: f32) {
  if row >= p.extent_1 || column >= p.extent_2 {
    return;
  }
  let v0 = sum;
  let at = (batch * p.extent_1 + row) * p.extent_2 + column;
  out_0[at] = v0;
}
fn normalizer(total: f32) -> f32 {
  if total == 0.0f {
    return select(bitcast<f32>(fuse_nan_bits), 0.0f, p.extent_3 == 0u);
  }
  return 1.0f / total;
}
fn finish_four(batch: u32, b0: u32, row: u32, column: u32, sum: vec4<f32>) {
  finish(batch, b0, row, column, sum.x);
  finish(batch, b0, row, column + 1u, sum.y);
  finish(batch, b0, row, column + 2u, sum.z);
  finish(batch, b0, row, column + 3u, sum.w);
}
var<workgroup> query_tile: array<vec4<f32>, 128>;
var<workgroup> stage: array<vec4<f32>, 128>;
var<workgroup> weights: array<vec4<f32>, 256>;
struct Products {
  s0_0: vec4<f32>,
  s1_0: vec4<f32>,
  s2_0: vec4<f32>,
  s3_0: vec4<f32>,
}
fn add_products(c: ptr<function, Products>, a0: vec4<f32>, b0: vec4<f32>) {
  (*c).s0_0 = fma(vec4<f32>(a0.x), b0, (*c).s0_0);
  (*c).s1_0 = fma(vec4<f32>(a0.y), b0, (*c).s1_0);
  (*c).s2_0 = fma(vec4<f32>(a0.z), b0, (*c).s2_0);
  (*c).s3_0 = fma(vec4<f32>(a0.w), b0, (*c).s3_0);
}
struct Outputs {
  s0_0: vec4<f32>,
  s0_1: vec4<f32>,
  s1_0: vec4<f32>,
  s1_1: vec4<f32>,
  s2_0: vec4<f32>,
  s2_1: vec4<f32>,
  s3_0: vec4<f32>,
  s3_1: vec4<f32>,
}
fn add_outputs(c: ptr<function, Outputs>, a0: vec4<f32>, b0: vec4<f32>, b1: vec4<f32>) {
  (*c).s0_0 = fma(vec4<f32>(a0.x), b0, (*c).s0_0);
  (*c).s0_1 = fma(vec4<f32>(a0.x), b1, (*c).s0_1);
  (*c).s1_0 = fma(vec4<f32>(a0.y), b0, (*c).s1_0);
  (*c).s1_1 = fma(vec4<f32>(a0.y), b1, (*c).s1_1);
  (*c).s2_0 = fma(vec4<f32>(a0.z), b0, (*c).s2_0);
  (*c).s2_1 = fma(vec4<f32>(a0.z), b1, (*c).s2_1);
  (*c).s3_0 = fma(vec4<f32>(a0.w), b0, (*c).s3_0);
  (*c).s3_1 = fma(vec4<f32>(a0.w), b1, (*c).s3_1);
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
  let batch = id / p.row_tiles;
  let position = id % p.row_tiles;
  let row0 = position * 32u;
  var key_begin = 0u;
  var key_end = p.extent_3;
  let b0 = batch;
  let negative_infinity = -bitcast<f32>(fuse_inf_bits);
  let tx = local % 8u;
  let ty = local / 8u;
  let rows0 = ty;
  let tx0 = tx ^ 0u;
  let tx2 = tx ^ 2u;
  let tx4 = tx ^ 4u;
  let tx6 = tx ^ 6u;
  let xq_base0 = p.offset_0 + b0 * p.stride_0_0;
  let xq0_o = local / 16u;
  let xq0_k = local % 16u;
  let xq0_to = xq0_k * 8u + ((xq0_o / 4u) ^ (xq0_k / 4u % 4u * 2u));
  var xq0_x0: f32;
  let xq1_o = (local + 64u) / 16u;
  let xq1_k = (local + 64u) % 16u;
  let xq1_to = xq1_k * 8u + ((xq1_o / 4u) ^ (xq1_k / 4u % 4u * 2u));
  var xq1_x0: f32;
  let xq2_o = (local + 128u) / 16u;
  let xq2_k = (local + 128u) % 16u;
  let xq2_to = xq2_k * 8u + ((xq2_o / 4u) ^ (xq2_k / 4u % 4u * 2u));
  var xq2_x0: f32;
  let xq3_o = (local + 192u) / 16u;
  let xq3_k = (local + 192u) % 16u;
  let xq3_to = xq3_k * 8u + ((xq3_o / 4u) ^ (xq3_k / 4u % 4u * 2u));
  var xq3_x0: f32;
  let xq4_o = (local + 256u) / 16u;
  let xq4_k = (local + 256u) % 16u;
  let xq4_to = xq4_k * 8u + ((xq4_o / 4u) ^ (xq4_k / 4u % 4u * 2u));
  var xq4_x0: f32;
  let xq5_o = (local + 320u) / 16u;
  let xq5_k = (local + 320u) % 16u;
  let xq5_to = xq5_k * 8u + ((xq5_o / 4u) ^ (xq5_k / 4u % 4u * 2u));
  var xq5_x0: f32;
  let xq6_o = (local + 384u) / 16u;
  let xq6_k = (local + 384u) % 16u;
  let xq6_to = xq6_k * 8u + ((xq6_o / 4u) ^ (xq6_k / 4u % 4u * 2u));
  var xq6_x0: f32;
  let xq7_o = (local + 448u) / 16u;
  let xq7_k = (local + 448u) % 16u;
  let xq7_to = xq7_k * 8u + ((xq7_o / 4u) ^ (xq7_k / 4u % 4u * 2u));
  var xq7_x0: f32;
  let xk_base1 = p.offset_1 + b0 * p.stride_1_0;
  let xk0_o = local / 16u;
  let xk0_k = local % 16u;
  let xk0_to = xk0_k * 8u + ((xk0_o / 4u) ^ (xk0_k / 4u % 4u * 2u));
  var xk0_x1: f32;
  let xk1_o = (local + 64u) / 16u;
  let xk1_k = (local + 64u) % 16u;
  let xk1_to = xk1_k * 8u + ((xk1_o / 4u) ^ (xk1_k / 4u % 4u * 2u));
  var xk1_x1: f32;
  let xk2_o = (local + 128u) / 16u;
  let xk2_k = (local + 128u) % 16u;
  let xk2_to = xk2_k * 8u + ((xk2_o / 4u) ^ (xk2_k / 4u % 4u * 2u));
  var xk2_x1: f32;
  let xk3_o = (local + 192u) / 16u;
  let xk3_k = (local + 192u) % 16u;
  let xk3_to = xk3_k * 8u + ((xk3_o / 4u) ^ (xk3_k / 4u % 4u * 2u));
  var xk3_x1: f32;
  let xk4_o = (local + 256u) / 16u;
  let xk4_k = (local + 256u) % 16u;
  let xk4_to = xk4_k * 8u + ((xk4_o / 4u) ^ (xk4_k / 4u % 4u * 2u));
  var xk4_x1: f32;
  let xk5_o = (local + 320u) / 16u;
  let xk5_k = (local + 320u) % 16u;
  let xk5_to = xk5_k * 8u + ((xk5_o / 4u) ^ (xk5_k / 4u % 4u * 2u));
  var xk5_x1: f32;
  let xk6_o = (local + 384u) / 16u;
  let xk6_k = (local + 384u) % 16u;
  let xk6_to = xk6_k * 8u + ((xk6_o / 4u) ^ (xk6_k / 4u % 4u * 2u));
  var xk6_x1: f32;
  let xk7_o = (local + 448u) / 16u;
  let xk7_k = (local + 448u) % 16u;
  let xk7_to = xk7_k * 8u + ((xk7_o / 4u) ^ (xk7_k / 4u % 4u * 2u));
  var xk7_x1: f32;
  let xv_base2 = p.offset_2 + b0 * p.stride_2_0;
  let xv0_o = local % 64u;
  let xv0_k = local / 64u;
  let xv0_to = xv0_k * 16u + ((xv0_o / 4u) ^ (xv0_k / 4u % 4u * 2u));
  var xv0_x2: f32;
  let xv1_o = (local + 64u) % 64u;
  let xv1_k = (local + 64u) / 64u;
  let xv1_to = xv1_k * 16u + ((xv1_o / 4u) ^ (xv1_k / 4u % 4u * 2u));
  var xv1_x2: f32;
  let xv2_o = (local + 128u) % 64u;
  let xv2_k = (local + 128u) / 64u;
  let xv2_to = xv2_k * 16u + ((xv2_o / 4u) ^ (xv2_k / 4u % 4u * 2u));
  var xv2_x2: f32;
  let xv3_o = (local + 192u) % 64u;
  let xv3_k = (local + 192u) / 64u;
  let xv3_to = xv3_k * 16u + ((xv3_o / 4u) ^ (xv3_k / 4u % 4u * 2u));
  var xv3_x2: f32;
  let xv4_o = (local + 256u) % 64u;
  let xv4_k = (local + 256u) / 64u;
  let xv4_to = xv4_k * 16u + ((xv4_o / 4u) ^ (xv4_k / 4u % 4u * 2u));
  var xv4_x2: f32;
  let xv5_o = (local + 320u) % 64u;
  let xv5_k = (local + 320u) / 64u;
  let xv5_to = xv5_k * 16u + ((xv5_o / 4u) ^ (xv5_k / 4u % 4u * 2u));
  var xv5_x2: f32;
  let xv6_o = (local + 384u) % 64u;
  let xv6_k = (local + 384u) / 64u;
  let xv6_to = xv6_k * 16u + ((xv6_o / 4u) ^ (xv6_k / 4u % 4u * 2u));
  var xv6_x2: f32;
  let xv7_o = (local + 448u) % 64u;
  let xv7_k = (local + 448u) / 64u;
  let xv7_to = xv7_k * 16u + ((xv7_o / 4u) ^ (xv7_k / 4u % 4u * 2u));
  var xv7_x2: f32;
  var largest0 = vec4<f32>(negative_infinity);
  var total0 = vec4<f32>();
  var o0 = Outputs();
  if key_begin < key_end {
    {
      let start = xk0_k;
      let outer = min(key_begin + xk0_o, p.extent_3 - 1u);
      xk0_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
    }
    {
      let start = xk1_k;
      let outer = min(key_begin + xk1_o, p.extent_3 - 1u);
      xk1_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
    }
    {
      let start = xk2_k;
      let outer = min(key_begin + xk2_o, p.extent_3 - 1u);
      xk2_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
    }
    {
      let start = xk3_k;
      let outer = min(key_begin + xk3_o, p.extent_3 - 1u);
      xk3_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
    }
    {
      let start = xk4_k;
      let outer = min(key_begin + xk4_o, p.extent_3 - 1u);
      xk4_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
    }
    {
      let start = xk5_k;
      let outer = min(key_begin + xk5_o, p.extent_3 - 1u);
      xk5_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
    }
    {
      let start = xk6_k;
      let outer = min(key_begin + xk6_o, p.extent_3 - 1u);
      xk6_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
    }
    {
      let start = xk7_k;
      let outer = min(key_begin + xk7_o, p.extent_3 - 1u);
      xk7_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
    }
    {
      let start = xq0_k;
      let outer = min(row0 + xq0_o, p.extent_1 - 1u);
      xq0_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
    }
    {
      let start = xq1_k;
      let outer = min(row0 + xq1_o, p.extent_1 - 1u);
      xq1_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
    }
    {
      let start = xq2_k;
      let outer = min(row0 + xq2_o, p.extent_1 - 1u);
      xq2_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
    }
    {
      let start = xq3_k;
      let outer = min(row0 + xq3_o, p.extent_1 - 1u);
      xq3_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
    }
    {
      let start = xq4_k;
      let outer = min(row0 + xq4_o, p.extent_1 - 1u);
      xq4_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
    }
    {
      let start = xq5_k;
      let outer = min(row0 + xq5_o, p.extent_1 - 1u);
      xq5_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
    }
    {
      let start = xq6_k;
      let outer = min(row0 + xq6_o, p.extent_1 - 1u);
      xq6_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
    }
    {
      let start = xq7_k;
      let outer = min(row0 + xq7_o, p.extent_1 - 1u);
      xq7_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
    }
  }
  for (var k0 = key_begin; k0 < key_end; k0 += 32u) {
    var c0 = Products();
    for (var d0 = 0u; d0 < p.extent_4; d0 += 16u) {
      {
        let value = xk0_x1;
        stage[xk0_to][xk0_o % 4u] = value;
      }
      {
        let value = xk1_x1;
        stage[xk1_to][xk1_o % 4u] = value;
      }
      {
        let value = xk2_x1;
        stage[xk2_to][xk2_o % 4u] = value;
      }
      {
        let value = xk3_x1;
        stage[xk3_to][xk3_o % 4u] = value;
      }
      {
        let value = xk4_x1;
        stage[xk4_to][xk4_o % 4u] = value;
      }
      {
        let value = xk5_x1;
        stage[xk5_to][xk5_o % 4u] = value;
      }
      {
        let value = xk6_x1;
        stage[xk6_to][xk6_o % 4u] = value;
      }
      {
        let value = xk7_x1;
        stage[xk7_to][xk7_o % 4u] = value;
      }
      {
        let value = xq0_x0;
        query_tile[xq0_to][xq0_o % 4u] = value;
      }
      {
        let value = xq1_x0;
        query_tile[xq1_to][xq1_o % 4u] = value;
      }
      {
        let value = xq2_x0;
        query_tile[xq2_to][xq2_o % 4u] = value;
      }
      {
        let value = xq3_x0;
        query_tile[xq3_to][xq3_o % 4u] = value;
      }
      {
        let value = xq4_x0;
        query_tile[xq4_to][xq4_o % 4u] = value;
      }
      {
        let value = xq5_x0;
        query_tile[xq5_to][xq5_o % 4u] = value;
      }
      {
        let value = xq6_x0;
        query_tile[xq6_to][xq6_o % 4u] = value;
      }
      {
        let value = xq7_x0;
        query_tile[xq7_to][xq7_o % 4u] = value;
      }
      workgroupBarrier();
      if d0 + 16u < p.extent_4 {
        {
          let start = d0 + 16u + xk0_k;
          let outer = min(k0 + xk0_o, p.extent_3 - 1u);
          xk0_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
        }
        {
          let start = d0 + 16u + xk1_k;
          let outer = min(k0 + xk1_o, p.extent_3 - 1u);
          xk1_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
        }
        {
          let start = d0 + 16u + xk2_k;
          let outer = min(k0 + xk2_o, p.extent_3 - 1u);
          xk2_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
        }
        {
          let start = d0 + 16u + xk3_k;
          let outer = min(k0 + xk3_o, p.extent_3 - 1u);
          xk3_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
        }
        {
          let start = d0 + 16u + xk4_k;
          let outer = min(k0 + xk4_o, p.extent_3 - 1u);
          xk4_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
        }
        {
          let start = d0 + 16u + xk5_k;
          let outer = min(k0 + xk5_o, p.extent_3 - 1u);
          xk5_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
        }
        {
          let start = d0 + 16u + xk6_k;
          let outer = min(k0 + xk6_o, p.extent_3 - 1u);
          xk6_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
        }
        {
          let start = d0 + 16u + xk7_k;
          let outer = min(k0 + xk7_o, p.extent_3 - 1u);
          xk7_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
        }
        {
          let start = d0 + 16u + xq0_k;
          let outer = min(row0 + xq0_o, p.extent_1 - 1u);
          xq0_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
        }
        {
          let start = d0 + 16u + xq1_k;
          let outer = min(row0 + xq1_o, p.extent_1 - 1u);
          xq1_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
        }
        {
          let start = d0 + 16u + xq2_k;
          let outer = min(row0 + xq2_o, p.extent_1 - 1u);
          xq2_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
        }
        {
          let start = d0 + 16u + xq3_k;
          let outer = min(row0 + xq3_o, p.extent_1 - 1u);
          xq3_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
        }
        {
          let start = d0 + 16u + xq4_k;
          let outer = min(row0 + xq4_o, p.extent_1 - 1u);
          xq4_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
        }
        {
          let start = d0 + 16u + xq5_k;
          let outer = min(row0 + xq5_o, p.extent_1 - 1u);
          xq5_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
        }
        {
          let start = d0 + 16u + xq6_k;
          let outer = min(row0 + xq6_o, p.extent_1 - 1u);
          xq6_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
        }
        {
          let start = d0 + 16u + xq7_k;
          let outer = min(row0 + xq7_o, p.extent_1 - 1u);
          xq7_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
        }
      } else {
        {
          let start = min(k0 + xv0_k, p.extent_3 - 1u);
          let outer = min(xv0_o, p.extent_2 - 1u);
          xv0_x2 = in_2[xv_base2 + start * p.stride_2_1 + outer * p.stride_2_2];
        }
        {
          let start = min(k0 + xv1_k, p.extent_3 - 1u);
          let outer = min(xv1_o, p.extent_2 - 1u);
          xv1_x2 = in_2[xv_base2 + start * p.stride_2_1 + outer * p.stride_2_2];
        }
        {
          let start = min(k0 + xv2_k, p.extent_3 - 1u);
          let outer = min(xv2_o, p.extent_2 - 1u);
          xv2_x2 = in_2[xv_base2 + start * p.stride_2_1 + outer * p.stride_2_2];
        }
        {
          let start = min(k0 + xv3_k, p.extent_3 - 1u);
          let outer = min(xv3_o, p.extent_2 - 1u);
          xv3_x2 = in_2[xv_base2 + start * p.stride_2_1 + outer * p.stride_2_2];
        }
        {
          let start = min(k0 + xv4_k, p.extent_3 - 1u);
          let outer = min(xv4_o, p.extent_2 - 1u);
          xv4_x2 = in_2[xv_base2 + start * p.stride_2_1 + outer * p.stride_2_2];
        }
        {
          let start = min(k0 + xv5_k, p.extent_3 - 1u);
          let outer = min(xv5_o, p.extent_2 - 1u);
          xv5_x2 = in_2[xv_base2 + start * p.stride_2_1 + outer * p.stride_2_2];
        }
        {
          let start = min(k0 + xv6_k, p.extent_3 - 1u);
          let outer = min(xv6_o, p.extent_2 - 1u);
          xv6_x2 = in_2[xv_base2 + start * p.stride_2_1 + outer * p.stride_2_2];
        }
        {
          let start = min(k0 + xv7_k, p.extent_3 - 1u);
          let outer = min(xv7_o, p.extent_2 - 1u);
          xv7_x2 = in_2[xv_base2 + start * p.stride_2_1 + outer * p.stride_2_2];
        }
      }
      let lhs0_0 = rows0;
      let lhs0_2 = rows0 ^ 2u;
      let lhs0_4 = rows0 ^ 4u;
      let lhs0_6 = rows0 ^ 6u;
      add_products(&c0, query_tile[lhs0_0], stage[tx0]);
      add_products(&c0, query_tile[lhs0_0 + 8u], stage[tx0 + 8u]);
      add_products(&c0, query_tile[lhs0_0 + 16u], stage[tx0 + 16u]);
      add_products(&c0, query_tile[lhs0_0 + 24u], stage[tx0 + 24u]);
      add_products(&c0, query_tile[lhs0_2 + 32u], stage[tx2 + 32u]);
      add_products(&c0, query_tile[lhs0_2 + 40u], stage[tx2 + 40u]);
      add_products(&c0, query_tile[lhs0_2 + 48u], stage[tx2 + 48u]);
      add_products(&c0, query_tile[lhs0_2 + 56u], stage[tx2 + 56u]);
      add_products(&c0, query_tile[lhs0_4 + 64u], stage[tx4 + 64u]);
      add_products(&c0, query_tile[lhs0_4 + 72u], stage[tx4 + 72u]);
      add_products(&c0, query_tile[lhs0_4 + 80u], stage[tx4 + 80u]);
      add_products(&c0, query_tile[lhs0_4 + 88u], stage[tx4 + 88u]);
      add_products(&c0, query_tile[lhs0_6 + 96u], stage[tx6 + 96u]);
      add_products(&c0, query_tile[lhs0_6 + 104u], stage[tx6 + 104u]);
      add_products(&c0, query_tile[lhs0_6 + 112u], stage[tx6 + 112u]);
      add_products(&c0, query_tile[lhs0_6 + 120u], stage[tx6 + 120u]);
      workgroupBarrier();
    }
    c0.s0_0 = score(b0, row0 + rows0 * 4u, k0 + tx * 4u, c0.s0_0);
    c0.s1_0 = score(b0, row0 + rows0 * 4u + 1u, k0 + tx * 4u, c0.s1_0);
    c0.s2_0 = score(b0, row0 + rows0 * 4u + 2u, k0 + tx * 4u, c0.s2_0);
    c0.s3_0 = score(b0, row0 + rows0 * 4u + 3u, k0 + tx * 4u, c0.s3_0);
    if k0 + 32u > p.extent_3 {
      let exists0 = vec4<u32>(k0 + tx * 4u) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(p.extent_3);
      c0.s0_0 = select(vec4<f32>(negative_infinity), c0.s0_0, exists0);
      c0.s1_0 = select(vec4<f32>(negative_infinity), c0.s1_0, exists0);
      c0.s2_0 = select(vec4<f32>(negative_infinity), c0.s2_0, exists0);
      c0.s3_0 = select(vec4<f32>(negative_infinity), c0.s3_0, exists0);
    }
    let most0 = c0.s0_0;
    let most1 = c0.s1_0;
    let most2 = c0.s2_0;
    let most3 = c0.s3_0;
    weights[tx * 8u + rows0] = vec4<f32>(max(max(most0.x, most0.y), max(most0.z, most0.w)), max(max(most1.x, most1.y), max(most1.z, most1.w)), max(max(most2.x, most2.y), max(most2.z, most2.w)), max(max(most3.x, most3.y), max(most3.z, most3.w)));
    workgroupBarrier();
    var larger0 = largest0;
    for (var x_0 = 0u; x_0 < 8u; x_0 += fuse_rounds) {
      for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
        let x = x_0 + iteration;
        larger0 = max(larger0, weights[x * 8u + rows0]);
      }
    }
    workgroupBarrier();
    let reference0 = select(larger0, vec4<f32>(), larger0 < vec4<f32>(-3.4028234663852886e38f));
    let scale0 = exp(largest0 - reference0);
    largest0 = larger0;
    c0.s0_0 = exp(c0.s0_0 - vec4<f32>(reference0.x));
    o0.s0_0 *= vec4<f32>(scale0.x);
    o0.s0_1 *= vec4<f32>(scale0.x);
    c0.s1_0 = exp(c0.s1_0 - vec4<f32>(reference0.y));
    o0.s1_0 *= vec4<f32>(scale0.y);
    o0.s1_1 *= vec4<f32>(scale0.y);
    c0.s2_0 = exp(c0.s2_0 - vec4<f32>(reference0.z));
    o0.s2_0 *= vec4<f32>(scale0.z);
    o0.s2_1 *= vec4<f32>(scale0.z);
    c0.s3_0 = exp(c0.s3_0 - vec4<f32>(reference0.w));
    o0.s3_0 *= vec4<f32>(scale0.w);
    o0.s3_1 *= vec4<f32>(scale0.w);
    total0 = total0 * scale0 + vec4<f32>(dot(c0.s0_0, vec4<f32>(1.0f)), dot(c0.s1_0, vec4<f32>(1.0f)), dot(c0.s2_0, vec4<f32>(1.0f)), dot(c0.s3_0, vec4<f32>(1.0f)));
    let weight0_0 = rows0 ^ (tx % 8u);
    weights[tx * 4u * 8u + weight0_0] = vec4<f32>(c0.s0_0.x, c0.s1_0.x, c0.s2_0.x, c0.s3_0.x);
    weights[(tx * 4u + 1u) * 8u + weight0_0] = vec4<f32>(c0.s0_0.y, c0.s1_0.y, c0.s2_0.y, c0.s3_0.y);
    weights[(tx * 4u + 2u) * 8u + weight0_0] = vec4<f32>(c0.s0_0.z, c0.s1_0.z, c0.s2_0.z, c0.s3_0.z);
    weights[(tx * 4u + 3u) * 8u + weight0_0] = vec4<f32>(c0.s0_0.w, c0.s1_0.w, c0.s2_0.w, c0.s3_0.w);
    for (var v0 = 0u; v0 < 32u && k0 + v0 < key_end; v0 += 8u) {
      {
        let value = select(f32(), xv0_x2, k0 + v0 + xv0_k < p.extent_3);
        stage[xv0_to][xv0_o % 4u] = value;
      }
      {
        let value = select(f32(), xv1_x2, k0 + v0 + xv1_k < p.extent_3);
        stage[xv1_to][xv1_o % 4u] = value;
      }
      {
        let value = select(f32(), xv2_x2, k0 + v0 + xv2_k < p.extent_3);
        stage[xv2_to][xv2_o % 4u] = value;
      }
      {
        let value = select(f32(), xv3_x2, k0 + v0 + xv3_k < p.extent_3);
        stage[xv3_to][xv3_o % 4u] = value;
      }
      {
        let value = select(f32(), xv4_x2, k0 + v0 + xv4_k < p.extent_3);
        stage[xv4_to][xv4_o % 4u] = value;
      }
      {
        let value = select(f32(), xv5_x2, k0 + v0 + xv5_k < p.extent_3);
        stage[xv5_to][xv5_o % 4u] = value;
      }
      {
        let value = select(f32(), xv6_x2, k0 + v0 + xv6_k < p.extent_3);
        stage[xv6_to][xv6_o % 4u] = value;
      }
      {
        let value = select(f32(), xv7_x2, k0 + v0 + xv7_k < p.extent_3);
        stage[xv7_to][xv7_o % 4u] = value;
      }
      workgroupBarrier();
      if v0 + 8u < 32u && k0 + v0 + 8u < key_end {
        {
          let start = min(k0 + v0 + 8u + xv0_k, p.extent_3 - 1u);
          let outer = min(xv0_o, p.extent_2 - 1u);
          xv0_x2 = in_2[xv_base2 + start * p.stride_2_1 + outer * p.stride_2_2];
        }
        {
          let start = min(k0 + v0 + 8u + xv1_k, p.extent_3 - 1u);
          let outer = min(xv1_o, p.extent_2 - 1u);
          xv1_x2 = in_2[xv_base2 + start * p.stride_2_1 + outer * p.stride_2_2];
        }
        {
          let start = min(k0 + v0 + 8u + xv2_k, p.extent_3 - 1u);
          let outer = min(xv2_o, p.extent_2 - 1u);
          xv2_x2 = in_2[xv_base2 + start * p.stride_2_1 + outer * p.stride_2_2];
        }
        {
          let start = min(k0 + v0 + 8u + xv3_k, p.extent_3 - 1u);
          let outer = min(xv3_o, p.extent_2 - 1u);
          xv3_x2 = in_2[xv_base2 + start * p.stride_2_1 + outer * p.stride_2_2];
        }
        {
          let start = min(k0 + v0 + 8u + xv4_k, p.extent_3 - 1u);
          let outer = min(xv4_o, p.extent_2 - 1u);
          xv4_x2 = in_2[xv_base2 + start * p.stride_2_1 + outer * p.stride_2_2];
        }
        {
          let start = min(k0 + v0 + 8u + xv5_k, p.extent_3 - 1u);
          let outer = min(xv5_o, p.extent_2 - 1u);
          xv5_x2 = in_2[xv_base2 + start * p.stride_2_1 + outer * p.stride_2_2];
        }
        {
          let start = min(k0 + v0 + 8u + xv6_k, p.extent_3 - 1u);
          let outer = min(xv6_o, p.extent_2 - 1u);
          xv6_x2 = in_2[xv_base2 + start * p.stride_2_1 + outer * p.stride_2_2];
        }
        {
          let start = min(k0 + v0 + 8u + xv7_k, p.extent_3 - 1u);
          let outer = min(xv7_o, p.extent_2 - 1u);
          xv7_x2 = in_2[xv_base2 + start * p.stride_2_1 + outer * p.stride_2_2];
        }
      } else {
        if k0 + 32u < key_end {
          {
            let start = xk0_k;
            let outer = min(k0 + 32u + xk0_o, p.extent_3 - 1u);
            xk0_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
          }
          {
            let start = xk1_k;
            let outer = min(k0 + 32u + xk1_o, p.extent_3 - 1u);
            xk1_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
          }
          {
            let start = xk2_k;
            let outer = min(k0 + 32u + xk2_o, p.extent_3 - 1u);
            xk2_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
          }
          {
            let start = xk3_k;
            let outer = min(k0 + 32u + xk3_o, p.extent_3 - 1u);
            xk3_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
          }
          {
            let start = xk4_k;
            let outer = min(k0 + 32u + xk4_o, p.extent_3 - 1u);
            xk4_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
          }
          {
            let start = xk5_k;
            let outer = min(k0 + 32u + xk5_o, p.extent_3 - 1u);
            xk5_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
          }
          {
            let start = xk6_k;
            let outer = min(k0 + 32u + xk6_o, p.extent_3 - 1u);
            xk6_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
          }
          {
            let start = xk7_k;
            let outer = min(k0 + 32u + xk7_o, p.extent_3 - 1u);
            xk7_x1 = in_1[xk_base1 + start * p.stride_1_1 + outer * p.stride_1_2];
          }
          {
            let start = xq0_k;
            let outer = min(row0 + xq0_o, p.extent_1 - 1u);
            xq0_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
          }
          {
            let start = xq1_k;
            let outer = min(row0 + xq1_o, p.extent_1 - 1u);
            xq1_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
          }
          {
            let start = xq2_k;
            let outer = min(row0 + xq2_o, p.extent_1 - 1u);
            xq2_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
          }
          {
            let start = xq3_k;
            let outer = min(row0 + xq3_o, p.extent_1 - 1u);
            xq3_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
          }
          {
            let start = xq4_k;
            let outer = min(row0 + xq4_o, p.extent_1 - 1u);
            xq4_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
          }
          {
            let start = xq5_k;
            let outer = min(row0 + xq5_o, p.extent_1 - 1u);
            xq5_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
          }
          {
            let start = xq6_k;
            let outer = min(row0 + xq6_o, p.extent_1 - 1u);
            xq6_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
          }
          {
            let start = xq7_k;
            let outer = min(row0 + xq7_o, p.extent_1 - 1u);
            xq7_x0 = in_0[xq_base0 + start * p.stride_0_2 + outer * p.stride_0_1];
          }
        }
      }
      let at0_0 = v0 * 8u + (rows0 ^ (v0 / 4u % 8u));
      let at0_1 = v0 * 8u + (rows0 ^ ((v0 / 4u + 1u) % 8u));
      add_outputs(&o0, weights[at0_0], stage[tx0], stage[tx0 + 8u]);
      add_outputs(&o0, weights[at0_0 + 8u], stage[tx0 + 16u], stage[tx0 + 24u]);
      add_outputs(&o0, weights[at0_0 + 16u], stage[tx0 + 32u], stage[tx0 + 40u]);
      add_outputs(&o0, weights[at0_0 + 24u], stage[tx0 + 48u], stage[tx0 + 56u]);
      add_outputs(&o0, weights[at0_1 + 32u], stage[tx2 + 64u], stage[tx2 + 72u]);
      add_outputs(&o0, weights[at0_1 + 40u], stage[tx2 + 80u], stage[tx2 + 88u]);
      add_outputs(&o0, weights[at0_1 + 48u], stage[tx2 + 96u], stage[tx2 + 104u]);
      add_outputs(&o0, weights[at0_1 + 56u], stage[tx2 + 112u], stage[tx2 + 120u]);
      workgroupBarrier();
    }
  }
  weights[tx * 8u + rows0] = total0;
  workgroupBarrier();
  var sum0 = vec4<f32>();
  for (var x_0 = 0u; x_0 < 8u; x_0 += fuse_rounds) {
    for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
      let x = x_0 + iteration;
      sum0 += weights[x * 8u + rows0];
    }
  }
  let factor0 = vec4<f32>(normalizer(sum0.x));
  finish_four(batch, b0, row0 + rows0 * 4u, tx * 4u, o0.s0_0 * factor0);
  finish_four(batch, b0, row0 + rows0 * 4u, (tx + 8u) * 4u, o0.s0_1 * factor0);
  let factor1 = vec4<f32>(normalizer(sum0.y));
  finish_four(batch, b0, row0 + rows0 * 4u + 1u, tx * 4u, o0.s1_0 * factor1);
  finish_four(batch, b0, row0 + rows0 * 4u + 1u, (tx + 8u) * 4u, o0.s1_1 * factor1);
  let factor2 = vec4<f32>(normalizer(sum0.z));
  finish_four(batch, b0, row0 + rows0 * 4u + 2u, tx * 4u, o0.s2_0 * factor2);
  finish_four(batch, b0, row0 + rows0 * 4u + 2u, (tx + 8u) * 4u, o0.s2_1 * factor2);
  let factor3 = vec4<f32>(normalizer(sum0.w));
  finish_four(batch, b0, row0 + rows0 * 4u + 3u, tx * 4u, o0.s3_0 * factor3);
  finish_four(batch, b0, row0 + rows0 * 4u + 3u, (tx + 8u) * 4u, o0.s3_1 * factor3);
}
