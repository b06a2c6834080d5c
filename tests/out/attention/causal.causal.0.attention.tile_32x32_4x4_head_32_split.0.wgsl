struct Params {
  extent_1: u32,
  extent_2: u32,
  extent_3: u32,
  extent_4: u32,
  extent_0: u32,
  count: u32,
  splits: u32,
  workgroups: u32,
  row_tiles: u32,
  split_depth: u32,
  offset_0: u32,
  stride_0_0: u32,
  offset_1: u32,
  stride_1_0: u32,
  offset_2: u32,
  stride_2_0: u32,
  stride_0_1: u32,
  stride_1_2: u32,
  stride_2_1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in_2: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> scratch: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_rounds = 1u;

fn score(b0: u32, row: u32, column: u32, sum: vec4<f32>) -> vec4<f32> {
  let s0 = vec4<i32>(vec4<u32>(column) + vec4<u32>(0u, 1u, 2u, 3u));
  let s1 = vec4<i32>(vec4<u32>(row));
  let s2 = s0 <= s1;
  let s3 = sum;
  let s5 = s3 * vec4<f32>(0.176f);
  let s7 = select(vec4<f32>(-bitcast<f32>(fuse_inf_bits)), s5, s2);
  return s7;
}
var<private> split: u32;
fn finish(batch: u32, b0: u32, row: u32, column: u32, output: vec4<f32>) {
  if row >= p.extent_1 || column >= p.extent_2 {
    return;
  }
  let at = ((split * p.extent_0 + batch) * p.extent_1 + row) * p.extent_2 + column;
  scratch[at / 4u] = output;
}
fn finish_row(batch: u32, row: u32, largest: f32, total: f32) {
  if row >= p.extent_1 {
    return;
  }
  let at = p.splits * p.count + ((split * p.extent_0 + batch) * p.extent_1 + row) * 4u;
  scratch[at / 4u] = vec4<f32>(largest, total, 0.0f, 0.0f);
}
var<workgroup> query_tile: array<vec4<f32>, 256>;
var<workgroup> stage: array<vec4<f32>, 128>;
var<workgroup> weights: array<vec4<f32>, 256>;
var<workgroup> row_parts: array<vec4<f32>, 64>;
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
  s1_0: vec4<f32>,
  s2_0: vec4<f32>,
  s3_0: vec4<f32>,
}
fn add_outputs(c: ptr<function, Outputs>, a0: vec4<f32>, b0: vec4<f32>) {
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
  let batch = id % p.extent_0;
  let part = id / p.extent_0 % p.splits;
  split = part;
  let row0 = (p.row_tiles - 1u - id / (p.extent_0 * p.splits)) * 32u;
  var key_begin = part * p.split_depth;
  var key_end = min(p.extent_3, key_begin + p.split_depth);
  let b0 = batch;
  let first_query = i32(row0);
  let last_query = i32(min(row0 + 32u, p.extent_1) - 1u);
  let limit0 = u32(max(last_query + 1i, 0i));
  let exact0 = 1.0f * f32(p.extent_1) + 1.0f * f32(p.extent_3) < 1073741800.0f;
  key_end = select(key_end, min(key_end, limit0), exact0);
  let negative_infinity = -bitcast<f32>(fuse_inf_bits);
  let tx = local % 8u;
  let ty = local / 8u;
  let rows0 = ty;
  let tx0 = tx ^ 0u;
  let tx2 = tx ^ 2u;
  let tx4 = tx ^ 4u;
  let tx6 = tx ^ 6u;
  let xq_base0 = p.offset_0 + b0 * p.stride_0_0;
  let xq0_o = local / 4u;
  let xq0_k = local % 4u * 4u;
  let xq0_to = xq0_k * 8u + xq0_o / 4u;
  var xq0_x0: vec4<f32>;
  let xq1_o = (local + 64u) / 4u;
  let xq1_k = (local + 64u) % 4u * 4u;
  let xq1_to = xq1_k * 8u + xq1_o / 4u;
  var xq1_x0: vec4<f32>;
  let xk_base1 = p.offset_1 + b0 * p.stride_1_0;
  let xk0_o = local / 4u;
  let xk0_k = local % 4u * 4u;
  let xk0_to = xk0_k * 8u + ((xk0_o / 4u) ^ (xk0_k / 4u % 4u * 2u));
  var xk0_x1: vec4<f32>;
  let xk1_o = (local + 64u) / 4u;
  let xk1_k = (local + 64u) % 4u * 4u;
  let xk1_to = xk1_k * 8u + ((xk1_o / 4u) ^ (xk1_k / 4u % 4u * 2u));
  var xk1_x1: vec4<f32>;
  let xv_base2 = p.offset_2 + b0 * p.stride_2_0;
  let xv0_o = local % 8u * 4u;
  let xv0_k = local / 8u;
  let xv0_to = xv0_k * 8u + ((xv0_o / 4u) ^ (xv0_k / 4u % 4u * 2u));
  var xv0_x2: vec4<f32>;
  for (var d0 = 0u; d0 < p.extent_4; d0 += 16u) {
    {
      let start = d0 + xq0_k;
      let outer = min(row0 + xq0_o, p.extent_1 - 1u);
      xq0_x0 = in_0[(xq_base0 + start + outer * p.stride_0_1) / 4u];
    }
    {
      let start = d0 + xq1_k;
      let outer = min(row0 + xq1_o, p.extent_1 - 1u);
      xq1_x0 = in_0[(xq_base0 + start + outer * p.stride_0_1) / 4u];
    }
    {
      let value = xq0_x0;
      query_tile[d0 * 8u + xq0_to][xq0_o % 4u] = value.x;
      query_tile[d0 * 8u + xq0_to + 8u][xq0_o % 4u] = value.y;
      query_tile[d0 * 8u + xq0_to + 16u][xq0_o % 4u] = value.z;
      query_tile[d0 * 8u + xq0_to + 24u][xq0_o % 4u] = value.w;
    }
    {
      let value = xq1_x0;
      query_tile[d0 * 8u + xq1_to][xq1_o % 4u] = value.x;
      query_tile[d0 * 8u + xq1_to + 8u][xq1_o % 4u] = value.y;
      query_tile[d0 * 8u + xq1_to + 16u][xq1_o % 4u] = value.z;
      query_tile[d0 * 8u + xq1_to + 24u][xq1_o % 4u] = value.w;
    }
  }
  var largest0 = vec4<f32>(negative_infinity);
  var total0 = vec4<f32>();
  var o0 = Outputs();
  if key_begin < key_end {
    {
      let start = xk0_k;
      let outer = min(key_begin + xk0_o, p.extent_3 - 1u);
      xk0_x1 = in_1[(xk_base1 + start + outer * p.stride_1_2) / 4u];
    }
    {
      let start = xk1_k;
      let outer = min(key_begin + xk1_o, p.extent_3 - 1u);
      xk1_x1 = in_1[(xk_base1 + start + outer * p.stride_1_2) / 4u];
    }
  }
  for (var k0 = key_begin; k0 < key_end; k0 += 32u) {
    var c0 = Products();
    for (var d0 = 0u; d0 < p.extent_4; d0 += 16u) {
      {
        let value = xk0_x1;
        stage[xk0_to][xk0_o % 4u] = value.x;
        stage[xk0_to + 8u][xk0_o % 4u] = value.y;
        stage[xk0_to + 16u][xk0_o % 4u] = value.z;
        stage[xk0_to + 24u][xk0_o % 4u] = value.w;
      }
      {
        let value = xk1_x1;
        stage[xk1_to][xk1_o % 4u] = value.x;
        stage[xk1_to + 8u][xk1_o % 4u] = value.y;
        stage[xk1_to + 16u][xk1_o % 4u] = value.z;
        stage[xk1_to + 24u][xk1_o % 4u] = value.w;
      }
      workgroupBarrier();
      if d0 + 16u < p.extent_4 {
        {
          let start = d0 + 16u + xk0_k;
          let outer = min(k0 + xk0_o, p.extent_3 - 1u);
          xk0_x1 = in_1[(xk_base1 + start + outer * p.stride_1_2) / 4u];
        }
        {
          let start = d0 + 16u + xk1_k;
          let outer = min(k0 + xk1_o, p.extent_3 - 1u);
          xk1_x1 = in_1[(xk_base1 + start + outer * p.stride_1_2) / 4u];
        }
      } else {
        {
          let start = min(k0 + xv0_k, p.extent_3 - 1u);
          let outer = min(xv0_o, p.extent_2 - 4u);
          xv0_x2 = in_2[(xv_base2 + start * p.stride_2_1 + outer) / 4u];
        }
      }
      let lhs0_0 = d0 * 8u + rows0;
      add_products(&c0, query_tile[lhs0_0], stage[tx0]);
      add_products(&c0, query_tile[lhs0_0 + 8u], stage[tx0 + 8u]);
      add_products(&c0, query_tile[lhs0_0 + 16u], stage[tx0 + 16u]);
      add_products(&c0, query_tile[lhs0_0 + 24u], stage[tx0 + 24u]);
      add_products(&c0, query_tile[lhs0_0 + 32u], stage[tx2 + 32u]);
      add_products(&c0, query_tile[lhs0_0 + 40u], stage[tx2 + 40u]);
      add_products(&c0, query_tile[lhs0_0 + 48u], stage[tx2 + 48u]);
      add_products(&c0, query_tile[lhs0_0 + 56u], stage[tx2 + 56u]);
      add_products(&c0, query_tile[lhs0_0 + 64u], stage[tx4 + 64u]);
      add_products(&c0, query_tile[lhs0_0 + 72u], stage[tx4 + 72u]);
      add_products(&c0, query_tile[lhs0_0 + 80u], stage[tx4 + 80u]);
      add_products(&c0, query_tile[lhs0_0 + 88u], stage[tx4 + 88u]);
      add_products(&c0, query_tile[lhs0_0 + 96u], stage[tx6 + 96u]);
      add_products(&c0, query_tile[lhs0_0 + 104u], stage[tx6 + 104u]);
      add_products(&c0, query_tile[lhs0_0 + 112u], stage[tx6 + 112u]);
      add_products(&c0, query_tile[lhs0_0 + 120u], stage[tx6 + 120u]);
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
    row_parts[tx * 8u + rows0] = vec4<f32>(max(max(most0.x, most0.y), max(most0.z, most0.w)), max(max(most1.x, most1.y), max(most1.z, most1.w)), max(max(most2.x, most2.y), max(most2.z, most2.w)), max(max(most3.x, most3.y), max(most3.z, most3.w)));
    workgroupBarrier();
    var larger0 = largest0;
    for (var x_0 = 0u; x_0 < 8u; x_0 += fuse_rounds) {
      for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
        let x = x_0 + iteration;
        larger0 = max(larger0, row_parts[x * 8u + rows0]);
      }
    }
    let reference0 = select(larger0, vec4<f32>(), larger0 < vec4<f32>(-3.4028234663852886e38f));
    let scale0 = exp(largest0 - reference0);
    largest0 = larger0;
    c0.s0_0 = exp(c0.s0_0 - vec4<f32>(reference0.x));
    o0.s0_0 *= vec4<f32>(scale0.x);
    c0.s1_0 = exp(c0.s1_0 - vec4<f32>(reference0.y));
    o0.s1_0 *= vec4<f32>(scale0.y);
    c0.s2_0 = exp(c0.s2_0 - vec4<f32>(reference0.z));
    o0.s2_0 *= vec4<f32>(scale0.z);
    c0.s3_0 = exp(c0.s3_0 - vec4<f32>(reference0.w));
    o0.s3_0 *= vec4<f32>(scale0.w);
    total0 = total0 * scale0 + vec4<f32>(dot(c0.s0_0, vec4<f32>(1.0f)), dot(c0.s1_0, vec4<f32>(1.0f)), dot(c0.s2_0, vec4<f32>(1.0f)), dot(c0.s3_0, vec4<f32>(1.0f)));
    let weight0_0 = rows0 ^ (tx % 8u);
    weights[tx * 4u * 8u + weight0_0] = vec4<f32>(c0.s0_0.x, c0.s1_0.x, c0.s2_0.x, c0.s3_0.x);
    weights[(tx * 4u + 1u) * 8u + weight0_0] = vec4<f32>(c0.s0_0.y, c0.s1_0.y, c0.s2_0.y, c0.s3_0.y);
    weights[(tx * 4u + 2u) * 8u + weight0_0] = vec4<f32>(c0.s0_0.z, c0.s1_0.z, c0.s2_0.z, c0.s3_0.z);
    weights[(tx * 4u + 3u) * 8u + weight0_0] = vec4<f32>(c0.s0_0.w, c0.s1_0.w, c0.s2_0.w, c0.s3_0.w);
    for (var v0 = 0u; v0 < 32u && k0 + v0 < key_end; v0 += 8u) {
      {
        let value = select(vec4<f32>(), xv0_x2, k0 + v0 + xv0_k < p.extent_3);
        stage[xv0_to] = value;
      }
      workgroupBarrier();
      if v0 + 8u < 32u && k0 + v0 + 8u < key_end {
        {
          let start = min(k0 + v0 + 8u + xv0_k, p.extent_3 - 1u);
          let outer = min(xv0_o, p.extent_2 - 4u);
          xv0_x2 = in_2[(xv_base2 + start * p.stride_2_1 + outer) / 4u];
        }
      } else {
        if k0 + 32u < key_end {
          {
            let start = xk0_k;
            let outer = min(k0 + 32u + xk0_o, p.extent_3 - 1u);
            xk0_x1 = in_1[(xk_base1 + start + outer * p.stride_1_2) / 4u];
          }
          {
            let start = xk1_k;
            let outer = min(k0 + 32u + xk1_o, p.extent_3 - 1u);
            xk1_x1 = in_1[(xk_base1 + start + outer * p.stride_1_2) / 4u];
          }
        }
      }
      let at0_0 = v0 * 8u + (rows0 ^ (v0 / 4u % 8u));
      let at0_1 = v0 * 8u + (rows0 ^ ((v0 / 4u + 1u) % 8u));
      add_outputs(&o0, weights[at0_0], stage[tx0]);
      add_outputs(&o0, weights[at0_0 + 8u], stage[tx0 + 8u]);
      add_outputs(&o0, weights[at0_0 + 16u], stage[tx0 + 16u]);
      add_outputs(&o0, weights[at0_0 + 24u], stage[tx0 + 24u]);
      add_outputs(&o0, weights[at0_1 + 32u], stage[tx2 + 32u]);
      add_outputs(&o0, weights[at0_1 + 40u], stage[tx2 + 40u]);
      add_outputs(&o0, weights[at0_1 + 48u], stage[tx2 + 48u]);
      add_outputs(&o0, weights[at0_1 + 56u], stage[tx2 + 56u]);
      workgroupBarrier();
    }
  }
  row_parts[tx * 8u + rows0] = total0;
  workgroupBarrier();
  var sum0 = vec4<f32>();
  for (var x_0 = 0u; x_0 < 8u; x_0 += fuse_rounds) {
    for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
      let x = x_0 + iteration;
      sum0 += row_parts[x * 8u + rows0];
    }
  }
  if tx == 0u {
    finish_row(batch, row0 + rows0 * 4u, largest0.x, sum0.x);
    finish_row(batch, row0 + rows0 * 4u + 1u, largest0.y, sum0.y);
    finish_row(batch, row0 + rows0 * 4u + 2u, largest0.z, sum0.z);
    finish_row(batch, row0 + rows0 * 4u + 3u, largest0.w, sum0.w);
  }
  finish(batch, b0, row0 + rows0 * 4u, tx * 4u, o0.s0_0);
  finish(batch, b0, row0 + rows0 * 4u + 1u, tx * 4u, o0.s1_0);
  finish(batch, b0, row0 + rows0 * 4u + 2u, tx * 4u, o0.s2_0);
  finish(batch, b0, row0 + rows0 * 4u + 3u, tx * 4u, o0.s3_0);
}
