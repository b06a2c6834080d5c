struct Params {
  extent_1: u32,
  extent_2: u32,
  extent_3: u32,
  extent_4: u32,
  workgroups: u32,
  row_tiles: u32,
  offset_1: u32,
  stride_1_0: u32,
  stride_1_2: u32,
  offset_0: u32,
  stride_0_0: u32,
  stride_0_1: u32,
  offset_2: u32,
  stride_2_0: u32,
  stride_2_1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in_2: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> out_0: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

fn score(b0: u32, row: u32, column: u32, sum: vec4<f32>) -> vec4<f32> {
  let s0 = vec4<i32>(vec4<u32>(column) + vec4<u32>(0u, 1u, 2u, 3u));
  let s1 = vec4<i32>(vec4<u32>(row));
  let s2 = s0 <= s1;
  let s3 = sum;
  let s5 = s3 * vec4<f32>(0.176f);
  let s7 = select(vec4<f32>(-bitcast<f32>(fuse_inf_bits)), s5, s2);
  return s7;
}
fn finish(batch: u32, b0: u32, row: u32, column: u32, sum: vec4<f32>) {
  if row >= p.extent_1 || column >= p.extent_2 {
    return;
  }
  let v0 = sum;
  let at = (batch * p.extent_1 + row) * p.extent_2 + column;
  out_0[at / 4u] = v0;
}
fn normalizer(total: f32) -> f32 {
  if total == 0.0f {
    return select(bitcast<f32>(fuse_nan_bits), 0.0f, p.extent_3 == 0u);
  }
  return 1.0f / total;
}
fn xk_read(at0: u32, at1: u32, at2: u32) -> vec4<f32> {
  let xk_x1 = in_1[(p.offset_1 + at0 * p.stride_1_0 + at1 + at2 * p.stride_1_2) / 4u];
  return xk_x1;
}
fn xq_read(at0: u32, at1: u32, at2: u32) -> vec4<f32> {
  let xq_x0 = in_0[(p.offset_0 + at0 * p.stride_0_0 + at1 * p.stride_0_1 + at2) / 4u];
  return xq_x0;
}
fn xv_read(at0: u32, at1: u32, at2: u32) -> vec4<f32> {
  let xv_x2 = in_2[(p.offset_2 + at0 * p.stride_2_0 + at1 * p.stride_2_1 + at2) / 4u];
  return xv_x2;
}

@compute @workgroup_size(16)
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
  let forwards = (countOneBits(batch) & 1u) == 1u;
  let row0 = select(p.row_tiles - 1u - position, position, forwards) * 64u;
  var key_begin = 0u;
  var key_end = p.extent_3;
  let b0 = batch;
  let first_query = i32(row0);
  let last_query = i32(min(row0 + 64u, p.extent_1) - 1u);
  let limit0 = u32(max(last_query + 1i, 0i));
  let exact0 = 1.0f * f32(p.extent_1) + 1.0f * f32(p.extent_3) < 1073741800.0f;
  key_end = select(key_end, min(key_end, limit0), exact0);
  let negative_infinity = -bitcast<f32>(fuse_inf_bits);
  let first = row0 + local * 4u;
  if first >= p.extent_1 {
    return;
  }
  let query0 = min(first, p.extent_1 - 1u);
  var largest0 = negative_infinity;
  var total0 = 0.0f;
  var o0_0 = vec4<f32>();
  var o0_1 = vec4<f32>();
  var o0_2 = vec4<f32>();
  var o0_3 = vec4<f32>();
  var o0_4 = vec4<f32>();
  var o0_5 = vec4<f32>();
  var o0_6 = vec4<f32>();
  var o0_7 = vec4<f32>();
  let query1 = min(first + 1u, p.extent_1 - 1u);
  var largest1 = negative_infinity;
  var total1 = 0.0f;
  var o1_0 = vec4<f32>();
  var o1_1 = vec4<f32>();
  var o1_2 = vec4<f32>();
  var o1_3 = vec4<f32>();
  var o1_4 = vec4<f32>();
  var o1_5 = vec4<f32>();
  var o1_6 = vec4<f32>();
  var o1_7 = vec4<f32>();
  let query2 = min(first + 2u, p.extent_1 - 1u);
  var largest2 = negative_infinity;
  var total2 = 0.0f;
  var o2_0 = vec4<f32>();
  var o2_1 = vec4<f32>();
  var o2_2 = vec4<f32>();
  var o2_3 = vec4<f32>();
  var o2_4 = vec4<f32>();
  var o2_5 = vec4<f32>();
  var o2_6 = vec4<f32>();
  var o2_7 = vec4<f32>();
  let query3 = min(first + 3u, p.extent_1 - 1u);
  var largest3 = negative_infinity;
  var total3 = 0.0f;
  var o3_0 = vec4<f32>();
  var o3_1 = vec4<f32>();
  var o3_2 = vec4<f32>();
  var o3_3 = vec4<f32>();
  var o3_4 = vec4<f32>();
  var o3_5 = vec4<f32>();
  var o3_6 = vec4<f32>();
  var o3_7 = vec4<f32>();
  for (var key = key_begin; key < key_end; key += 4u) {
    let key0 = min(key, p.extent_3 - 1u);
    let key1 = min(key + 1u, p.extent_3 - 1u);
    let key2 = min(key + 2u, p.extent_3 - 1u);
    let key3 = min(key + 3u, p.extent_3 - 1u);
    var s0 = vec4<f32>();
    var s1 = vec4<f32>();
    var s2 = vec4<f32>();
    var s3 = vec4<f32>();
    for (var depth = 0u; depth < p.extent_4; depth += 4u) {
      let k0 = xk_read(b0, depth, key0);
      let k1 = xk_read(b0, depth, key1);
      let k2 = xk_read(b0, depth, key2);
      let k3 = xk_read(b0, depth, key3);
      let q0 = xq_read(b0, query0, depth);
      s0 += vec4<f32>(dot(q0, k0), dot(q0, k1), dot(q0, k2), dot(q0, k3));
      let q1 = xq_read(b0, query1, depth);
      s1 += vec4<f32>(dot(q1, k0), dot(q1, k1), dot(q1, k2), dot(q1, k3));
      let q2 = xq_read(b0, query2, depth);
      s2 += vec4<f32>(dot(q2, k0), dot(q2, k1), dot(q2, k2), dot(q2, k3));
      let q3 = xq_read(b0, query3, depth);
      s3 += vec4<f32>(dot(q3, k0), dot(q3, k1), dot(q3, k2), dot(q3, k3));
    }
    s0 = score(b0, first, key, s0);
    s0 = select(vec4<f32>(negative_infinity), s0, vec4<u32>(key) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(p.extent_3));
    let larger0 = max(largest0, max(max(s0.x, s0.y), max(s0.z, s0.w)));
    let reference0 = select(larger0, 0.0f, larger0 < -3.4028234663852886e38f);
    let scale0 = exp(largest0 - reference0);
    let weights0 = exp(s0 - vec4<f32>(reference0));
    largest0 = larger0;
    total0 = total0 * scale0 + dot(weights0, vec4<f32>(1.0f));
    s1 = score(b0, first + 1u, key, s1);
    s1 = select(vec4<f32>(negative_infinity), s1, vec4<u32>(key) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(p.extent_3));
    let larger1 = max(largest1, max(max(s1.x, s1.y), max(s1.z, s1.w)));
    let reference1 = select(larger1, 0.0f, larger1 < -3.4028234663852886e38f);
    let scale1 = exp(largest1 - reference1);
    let weights1 = exp(s1 - vec4<f32>(reference1));
    largest1 = larger1;
    total1 = total1 * scale1 + dot(weights1, vec4<f32>(1.0f));
    s2 = score(b0, first + 2u, key, s2);
    s2 = select(vec4<f32>(negative_infinity), s2, vec4<u32>(key) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(p.extent_3));
    let larger2 = max(largest2, max(max(s2.x, s2.y), max(s2.z, s2.w)));
    let reference2 = select(larger2, 0.0f, larger2 < -3.4028234663852886e38f);
    let scale2 = exp(largest2 - reference2);
    let weights2 = exp(s2 - vec4<f32>(reference2));
    largest2 = larger2;
    total2 = total2 * scale2 + dot(weights2, vec4<f32>(1.0f));
    s3 = score(b0, first + 3u, key, s3);
    s3 = select(vec4<f32>(negative_infinity), s3, vec4<u32>(key) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(p.extent_3));
    let larger3 = max(largest3, max(max(s3.x, s3.y), max(s3.z, s3.w)));
    let reference3 = select(larger3, 0.0f, larger3 < -3.4028234663852886e38f);
    let scale3 = exp(largest3 - reference3);
    let weights3 = exp(s3 - vec4<f32>(reference3));
    largest3 = larger3;
    total3 = total3 * scale3 + dot(weights3, vec4<f32>(1.0f));
    {
      let column = min(0u, p.extent_2 - 4u);
      let v0 = select(vec4<f32>(), xv_read(b0, key0, column), key < p.extent_3);
      let v1 = select(vec4<f32>(), xv_read(b0, key1, column), key + 1u < p.extent_3);
      let v2 = select(vec4<f32>(), xv_read(b0, key2, column), key + 2u < p.extent_3);
      let v3 = select(vec4<f32>(), xv_read(b0, key3, column), key + 3u < p.extent_3);
      o0_0 *= vec4<f32>(scale0);
      o0_0 = fma(vec4<f32>(weights0.x), v0, o0_0);
      o0_0 = fma(vec4<f32>(weights0.y), v1, o0_0);
      o0_0 = fma(vec4<f32>(weights0.z), v2, o0_0);
      o0_0 = fma(vec4<f32>(weights0.w), v3, o0_0);
      o1_0 *= vec4<f32>(scale1);
      o1_0 = fma(vec4<f32>(weights1.x), v0, o1_0);
      o1_0 = fma(vec4<f32>(weights1.y), v1, o1_0);
      o1_0 = fma(vec4<f32>(weights1.z), v2, o1_0);
      o1_0 = fma(vec4<f32>(weights1.w), v3, o1_0);
      o2_0 *= vec4<f32>(scale2);
      o2_0 = fma(vec4<f32>(weights2.x), v0, o2_0);
      o2_0 = fma(vec4<f32>(weights2.y), v1, o2_0);
      o2_0 = fma(vec4<f32>(weights2.z), v2, o2_0);
      o2_0 = fma(vec4<f32>(weights2.w), v3, o2_0);
      o3_0 *= vec4<f32>(scale3);
      o3_0 = fma(vec4<f32>(weights3.x), v0, o3_0);
      o3_0 = fma(vec4<f32>(weights3.y), v1, o3_0);
      o3_0 = fma(vec4<f32>(weights3.z), v2, o3_0);
      o3_0 = fma(vec4<f32>(weights3.w), v3, o3_0);
    }
    {
      let column = min(4u, p.extent_2 - 4u);
      let v0 = select(vec4<f32>(), xv_read(b0, key0, column), key < p.extent_3);
      let v1 = select(vec4<f32>(), xv_read(b0, key1, column), key + 1u < p.extent_3);
      let v2 = select(vec4<f32>(), xv_read(b0, key2, column), key + 2u < p.extent_3);
      let v3 = select(vec4<f32>(), xv_read(b0, key3, column), key + 3u < p.extent_3);
      o0_1 *= vec4<f32>(scale0);
      o0_1 = fma(vec4<f32>(weights0.x), v0, o0_1);
      o0_1 = fma(vec4<f32>(weights0.y), v1, o0_1);
      o0_1 = fma(vec4<f32>(weights0.z), v2, o0_1);
      o0_1 = fma(vec4<f32>(weights0.w), v3, o0_1);
      o1_1 *= vec4<f32>(scale1);
      o1_1 = fma(vec4<f32>(weights1.x), v0, o1_1);
      o1_1 = fma(vec4<f32>(weights1.y), v1, o1_1);
      o1_1 = fma(vec4<f32>(weights1.z), v2, o1_1);
      o1_1 = fma(vec4<f32>(weights1.w), v3, o1_1);
      o2_1 *= vec4<f32>(scale2);
      o2_1 = fma(vec4<f32>(weights2.x), v0, o2_1);
      o2_1 = fma(vec4<f32>(weights2.y), v1, o2_1);
      o2_1 = fma(vec4<f32>(weights2.z), v2, o2_1);
      o2_1 = fma(vec4<f32>(weights2.w), v3, o2_1);
      o3_1 *= vec4<f32>(scale3);
      o3_1 = fma(vec4<f32>(weights3.x), v0, o3_1);
      o3_1 = fma(vec4<f32>(weights3.y), v1, o3_1);
      o3_1 = fma(vec4<f32>(weights3.z), v2, o3_1);
      o3_1 = fma(vec4<f32>(weights3.w), v3, o3_1);
    }
    {
      let column = min(8u, p.extent_2 - 4u);
      let v0 = select(vec4<f32>(), xv_read(b0, key0, column), key < p.extent_3);
      let v1 = select(vec4<f32>(), xv_read(b0, key1, column), key + 1u < p.extent_3);
      let v2 = select(vec4<f32>(), xv_read(b0, key2, column), key + 2u < p.extent_3);
      let v3 = select(vec4<f32>(), xv_read(b0, key3, column), key + 3u < p.extent_3);
      o0_2 *= vec4<f32>(scale0);
      o0_2 = fma(vec4<f32>(weights0.x), v0, o0_2);
      o0_2 = fma(vec4<f32>(weights0.y), v1, o0_2);
      o0_2 = fma(vec4<f32>(weights0.z), v2, o0_2);
      o0_2 = fma(vec4<f32>(weights0.w), v3, o0_2);
      o1_2 *= vec4<f32>(scale1);
      o1_2 = fma(vec4<f32>(weights1.x), v0, o1_2);
      o1_2 = fma(vec4<f32>(weights1.y), v1, o1_2);
      o1_2 = fma(vec4<f32>(weights1.z), v2, o1_2);
      o1_2 = fma(vec4<f32>(weights1.w), v3, o1_2);
      o2_2 *= vec4<f32>(scale2);
      o2_2 = fma(vec4<f32>(weights2.x), v0, o2_2);
      o2_2 = fma(vec4<f32>(weights2.y), v1, o2_2);
      o2_2 = fma(vec4<f32>(weights2.z), v2, o2_2);
      o2_2 = fma(vec4<f32>(weights2.w), v3, o2_2);
      o3_2 *= vec4<f32>(scale3);
      o3_2 = fma(vec4<f32>(weights3.x), v0, o3_2);
      o3_2 = fma(vec4<f32>(weights3.y), v1, o3_2);
      o3_2 = fma(vec4<f32>(weights3.z), v2, o3_2);
      o3_2 = fma(vec4<f32>(weights3.w), v3, o3_2);
    }
    {
      let column = min(12u, p.extent_2 - 4u);
      let v0 = select(vec4<f32>(), xv_read(b0, key0, column), key < p.extent_3);
      let v1 = select(vec4<f32>(), xv_read(b0, key1, column), key + 1u < p.extent_3);
      let v2 = select(vec4<f32>(), xv_read(b0, key2, column), key + 2u < p.extent_3);
      let v3 = select(vec4<f32>(), xv_read(b0, key3, column), key + 3u < p.extent_3);
      o0_3 *= vec4<f32>(scale0);
      o0_3 = fma(vec4<f32>(weights0.x), v0, o0_3);
      o0_3 = fma(vec4<f32>(weights0.y), v1, o0_3);
      o0_3 = fma(vec4<f32>(weights0.z), v2, o0_3);
      o0_3 = fma(vec4<f32>(weights0.w), v3, o0_3);
      o1_3 *= vec4<f32>(scale1);
      o1_3 = fma(vec4<f32>(weights1.x), v0, o1_3);
      o1_3 = fma(vec4<f32>(weights1.y), v1, o1_3);
      o1_3 = fma(vec4<f32>(weights1.z), v2, o1_3);
      o1_3 = fma(vec4<f32>(weights1.w), v3, o1_3);
      o2_3 *= vec4<f32>(scale2);
      o2_3 = fma(vec4<f32>(weights2.x), v0, o2_3);
      o2_3 = fma(vec4<f32>(weights2.y), v1, o2_3);
      o2_3 = fma(vec4<f32>(weights2.z), v2, o2_3);
      o2_3 = fma(vec4<f32>(weights2.w), v3, o2_3);
      o3_3 *= vec4<f32>(scale3);
      o3_3 = fma(vec4<f32>(weights3.x), v0, o3_3);
      o3_3 = fma(vec4<f32>(weights3.y), v1, o3_3);
      o3_3 = fma(vec4<f32>(weights3.z), v2, o3_3);
      o3_3 = fma(vec4<f32>(weights3.w), v3, o3_3);
    }
    {
      let column = min(16u, p.extent_2 - 4u);
      let v0 = select(vec4<f32>(), xv_read(b0, key0, column), key < p.extent_3);
      let v1 = select(vec4<f32>(), xv_read(b0, key1, column), key + 1u < p.extent_3);
      let v2 = select(vec4<f32>(), xv_read(b0, key2, column), key + 2u < p.extent_3);
      let v3 = select(vec4<f32>(), xv_read(b0, key3, column), key + 3u < p.extent_3);
      o0_4 *= vec4<f32>(scale0);
      o0_4 = fma(vec4<f32>(weights0.x), v0, o0_4);
      o0_4 = fma(vec4<f32>(weights0.y), v1, o0_4);
      o0_4 = fma(vec4<f32>(weights0.z), v2, o0_4);
      o0_4 = fma(vec4<f32>(weights0.w), v3, o0_4);
      o1_4 *= vec4<f32>(scale1);
      o1_4 = fma(vec4<f32>(weights1.x), v0, o1_4);
      o1_4 = fma(vec4<f32>(weights1.y), v1, o1_4);
      o1_4 = fma(vec4<f32>(weights1.z), v2, o1_4);
      o1_4 = fma(vec4<f32>(weights1.w), v3, o1_4);
      o2_4 *= vec4<f32>(scale2);
      o2_4 = fma(vec4<f32>(weights2.x), v0, o2_4);
      o2_4 = fma(vec4<f32>(weights2.y), v1, o2_4);
      o2_4 = fma(vec4<f32>(weights2.z), v2, o2_4);
      o2_4 = fma(vec4<f32>(weights2.w), v3, o2_4);
      o3_4 *= vec4<f32>(scale3);
      o3_4 = fma(vec4<f32>(weights3.x), v0, o3_4);
      o3_4 = fma(vec4<f32>(weights3.y), v1, o3_4);
      o3_4 = fma(vec4<f32>(weights3.z), v2, o3_4);
      o3_4 = fma(vec4<f32>(weights3.w), v3, o3_4);
    }
    {
      let column = min(20u, p.extent_2 - 4u);
      let v0 = select(vec4<f32>(), xv_read(b0, key0, column), key < p.extent_3);
      let v1 = select(vec4<f32>(), xv_read(b0, key1, column), key + 1u < p.extent_3);
      let v2 = select(vec4<f32>(), xv_read(b0, key2, column), key + 2u < p.extent_3);
      let v3 = select(vec4<f32>(), xv_read(b0, key3, column), key + 3u < p.extent_3);
      o0_5 *= vec4<f32>(scale0);
      o0_5 = fma(vec4<f32>(weights0.x), v0, o0_5);
      o0_5 = fma(vec4<f32>(weights0.y), v1, o0_5);
      o0_5 = fma(vec4<f32>(weights0.z), v2, o0_5);
      o0_5 = fma(vec4<f32>(weights0.w), v3, o0_5);
      o1_5 *= vec4<f32>(scale1);
      o1_5 = fma(vec4<f32>(weights1.x), v0, o1_5);
      o1_5 = fma(vec4<f32>(weights1.y), v1, o1_5);
      o1_5 = fma(vec4<f32>(weights1.z), v2, o1_5);
      o1_5 = fma(vec4<f32>(weights1.w), v3, o1_5);
      o2_5 *= vec4<f32>(scale2);
      o2_5 = fma(vec4<f32>(weights2.x), v0, o2_5);
      o2_5 = fma(vec4<f32>(weights2.y), v1, o2_5);
      o2_5 = fma(vec4<f32>(weights2.z), v2, o2_5);
      o2_5 = fma(vec4<f32>(weights2.w), v3, o2_5);
      o3_5 *= vec4<f32>(scale3);
      o3_5 = fma(vec4<f32>(weights3.x), v0, o3_5);
      o3_5 = fma(vec4<f32>(weights3.y), v1, o3_5);
      o3_5 = fma(vec4<f32>(weights3.z), v2, o3_5);
      o3_5 = fma(vec4<f32>(weights3.w), v3, o3_5);
    }
    {
      let column = min(24u, p.extent_2 - 4u);
      let v0 = select(vec4<f32>(), xv_read(b0, key0, column), key < p.extent_3);
      let v1 = select(vec4<f32>(), xv_read(b0, key1, column), key + 1u < p.extent_3);
      let v2 = select(vec4<f32>(), xv_read(b0, key2, column), key + 2u < p.extent_3);
      let v3 = select(vec4<f32>(), xv_read(b0, key3, column), key + 3u < p.extent_3);
      o0_6 *= vec4<f32>(scale0);
      o0_6 = fma(vec4<f32>(weights0.x), v0, o0_6);
      o0_6 = fma(vec4<f32>(weights0.y), v1, o0_6);
      o0_6 = fma(vec4<f32>(weights0.z), v2, o0_6);
      o0_6 = fma(vec4<f32>(weights0.w), v3, o0_6);
      o1_6 *= vec4<f32>(scale1);
      o1_6 = fma(vec4<f32>(weights1.x), v0, o1_6);
      o1_6 = fma(vec4<f32>(weights1.y), v1, o1_6);
      o1_6 = fma(vec4<f32>(weights1.z), v2, o1_6);
      o1_6 = fma(vec4<f32>(weights1.w), v3, o1_6);
      o2_6 *= vec4<f32>(scale2);
      o2_6 = fma(vec4<f32>(weights2.x), v0, o2_6);
      o2_6 = fma(vec4<f32>(weights2.y), v1, o2_6);
      o2_6 = fma(vec4<f32>(weights2.z), v2, o2_6);
      o2_6 = fma(vec4<f32>(weights2.w), v3, o2_6);
      o3_6 *= vec4<f32>(scale3);
      o3_6 = fma(vec4<f32>(weights3.x), v0, o3_6);
      o3_6 = fma(vec4<f32>(weights3.y), v1, o3_6);
      o3_6 = fma(vec4<f32>(weights3.z), v2, o3_6);
      o3_6 = fma(vec4<f32>(weights3.w), v3, o3_6);
    }
    {
      let column = min(28u, p.extent_2 - 4u);
      let v0 = select(vec4<f32>(), xv_read(b0, key0, column), key < p.extent_3);
      let v1 = select(vec4<f32>(), xv_read(b0, key1, column), key + 1u < p.extent_3);
      let v2 = select(vec4<f32>(), xv_read(b0, key2, column), key + 2u < p.extent_3);
      let v3 = select(vec4<f32>(), xv_read(b0, key3, column), key + 3u < p.extent_3);
      o0_7 *= vec4<f32>(scale0);
      o0_7 = fma(vec4<f32>(weights0.x), v0, o0_7);
      o0_7 = fma(vec4<f32>(weights0.y), v1, o0_7);
      o0_7 = fma(vec4<f32>(weights0.z), v2, o0_7);
      o0_7 = fma(vec4<f32>(weights0.w), v3, o0_7);
      o1_7 *= vec4<f32>(scale1);
      o1_7 = fma(vec4<f32>(weights1.x), v0, o1_7);
      o1_7 = fma(vec4<f32>(weights1.y), v1, o1_7);
      o1_7 = fma(vec4<f32>(weights1.z), v2, o1_7);
      o1_7 = fma(vec4<f32>(weights1.w), v3, o1_7);
      o2_7 *= vec4<f32>(scale2);
      o2_7 = fma(vec4<f32>(weights2.x), v0, o2_7);
      o2_7 = fma(vec4<f32>(weights2.y), v1, o2_7);
      o2_7 = fma(vec4<f32>(weights2.z), v2, o2_7);
      o2_7 = fma(vec4<f32>(weights2.w), v3, o2_7);
      o3_7 *= vec4<f32>(scale3);
      o3_7 = fma(vec4<f32>(weights3.x), v0, o3_7);
      o3_7 = fma(vec4<f32>(weights3.y), v1, o3_7);
      o3_7 = fma(vec4<f32>(weights3.z), v2, o3_7);
      o3_7 = fma(vec4<f32>(weights3.w), v3, o3_7);
    }
  }
  let factor0 = vec4<f32>(normalizer(total0));
  finish(batch, b0, first, 0u, o0_0 * factor0);
  finish(batch, b0, first, 4u, o0_1 * factor0);
  finish(batch, b0, first, 8u, o0_2 * factor0);
  finish(batch, b0, first, 12u, o0_3 * factor0);
  finish(batch, b0, first, 16u, o0_4 * factor0);
  finish(batch, b0, first, 20u, o0_5 * factor0);
  finish(batch, b0, first, 24u, o0_6 * factor0);
  finish(batch, b0, first, 28u, o0_7 * factor0);
  let factor1 = vec4<f32>(normalizer(total1));
  finish(batch, b0, first + 1u, 0u, o1_0 * factor1);
  finish(batch, b0, first + 1u, 4u, o1_1 * factor1);
  finish(batch, b0, first + 1u, 8u, o1_2 * factor1);
  finish(batch, b0, first + 1u, 12u, o1_3 * factor1);
  finish(batch, b0, first + 1u, 16u, o1_4 * factor1);
  finish(batch, b0, first + 1u, 20u, o1_5 * factor1);
  finish(batch, b0, first + 1u, 24u, o1_6 * factor1);
  finish(batch, b0, first + 1u, 28u, o1_7 * factor1);
  let factor2 = vec4<f32>(normalizer(total2));
  finish(batch, b0, first + 2u, 0u, o2_0 * factor2);
  finish(batch, b0, first + 2u, 4u, o2_1 * factor2);
  finish(batch, b0, first + 2u, 8u, o2_2 * factor2);
  finish(batch, b0, first + 2u, 12u, o2_3 * factor2);
  finish(batch, b0, first + 2u, 16u, o2_4 * factor2);
  finish(batch, b0, first + 2u, 20u, o2_5 * factor2);
  finish(batch, b0, first + 2u, 24u, o2_6 * factor2);
  finish(batch, b0, first + 2u, 28u, o2_7 * factor2);
  let factor3 = vec4<f32>(normalizer(total3));
  finish(batch, b0, first + 3u, 0u, o3_0 * factor3);
  finish(batch, b0, first + 3u, 4u, o3_1 * factor3);
  finish(batch, b0, first + 3u, 8u, o3_2 * factor3);
  finish(batch, b0, first + 3u, 12u, o3_3 * factor3);
  finish(batch, b0, first + 3u, 16u, o3_4 * factor3);
  finish(batch, b0, first + 3u, 20u, o3_5 * factor3);
  finish(batch, b0, first + 3u, 24u, o3_6 * factor3);
  finish(batch, b0, first + 3u, 28u, o3_7 * factor3);
}
