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
  stride_0_1: u32,
  offset_1: u32,
  stride_1_0: u32,
  stride_1_2: u32,
  offset_2: u32,
  stride_2_0: u32,
  stride_2_1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in_2: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> scratch: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_switch = false;
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
var<workgroup> parts: array<vec4<f32>, 256>;
var<workgroup> group_rows: array<vec2<f32>, 16>;
fn xq_read(at0: u32, at1: u32, at2: u32) -> vec4<f32> {
  let xq_x0 = in_0[(p.offset_0 + at0 * p.stride_0_0 + at1 * p.stride_0_1 + at2) / 4u];
  return xq_x0;
}
fn xk_read(at0: u32, at1: u32, at2: u32) -> vec4<f32> {
  let xk_x1 = in_1[(p.offset_1 + at0 * p.stride_1_0 + at1 + at2 * p.stride_1_2) / 4u];
  return xk_x1;
}
fn xv_read(at0: u32, at1: u32, at2: u32) -> vec4<f32> {
  let xv_x2 = in_2[(p.offset_2 + at0 * p.stride_2_0 + at1 * p.stride_2_1 + at2) / 4u];
  return xv_x2;
}
fn store0_0(lane: u32, batch: u32, b0: u32, row0: u32, column0: u32) {
  var output = vec4<f32>();
  for (var x_0 = 0u; x_0 < 16u; x_0 += fuse_rounds) {
    for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
      let x = x_0 + iteration;
      output += parts[x * 8u + lane];
    }
  }
  finish(batch, b0, row0, column0, output);
}

@compute @workgroup_size(128)
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
  let row0 = p.row_tiles - 1u - id / (p.extent_0 * p.splits);
  var key_begin = part * p.split_depth;
  var key_end = min(p.extent_3, key_begin + p.split_depth);
  let b0 = batch;
  let first_query = i32(row0);
  let last_query = i32(min(row0 + 1u, p.extent_1) - 1u);
  let limit0 = u32(max(last_query + 1i, 0i));
  let exact0 = 1.0f * f32(p.extent_1) + 1.0f * f32(p.extent_3) < 1073741800.0f;
  key_end = select(key_end, min(key_end, limit0), exact0);
  let negative_infinity = -bitcast<f32>(fuse_inf_bits);
  let lane = local % 8u;
  let group = local / 8u;
  let depth0 = lane * 4u;
  let inside_depth0 = min(depth0, p.extent_4 - 4u);
  let column0 = lane * 4u;
  let inside_column0 = min(column0, p.extent_2 - 4u);
  let query0 = min(row0, p.extent_1 - 1u);
  let q0_0 = xq_read(b0, query0, inside_depth0);
  var largest0 = negative_infinity;
  var total0 = 0.0f;
  var o0_0 = vec4<f32>();
  var turn = 0u;
  for (var k0 = key_begin; k0 < key_end; k0 += 64u) {
    let key = k0 + group * 4u;
    let key0 = min(key, p.extent_3 - 1u);
    let k0_0 = xk_read(b0, inside_depth0, key0);
    let key1 = min(key + 1u, p.extent_3 - 1u);
    let k1_0 = xk_read(b0, inside_depth0, key1);
    let key2 = min(key + 2u, p.extent_3 - 1u);
    let k2_0 = xk_read(b0, inside_depth0, key2);
    let key3 = min(key + 3u, p.extent_3 - 1u);
    let k3_0 = xk_read(b0, inside_depth0, key3);
    let v0_0 = select(vec4<f32>(), xv_read(b0, key0, inside_column0), key < p.extent_3);
    let v1_0 = select(vec4<f32>(), xv_read(b0, key1, inside_column0), key + 1u < p.extent_3);
    let v2_0 = select(vec4<f32>(), xv_read(b0, key2, inside_column0), key + 2u < p.extent_3);
    let v3_0 = select(vec4<f32>(), xv_read(b0, key3, inside_column0), key + 3u < p.extent_3);
    parts[turn * 128u + local] = vec4<f32>(dot(q0_0, k0_0), dot(q0_0, k1_0), dot(q0_0, k2_0), dot(q0_0, k3_0));
    workgroupBarrier();
    var s0 = vec4<f32>();
    for (var x_0 = 0u; x_0 < 8u; x_0 += fuse_rounds) {
      for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
        let x = x_0 + iteration;
        s0 += parts[turn * 128u + group * 8u + x];
      }
    }
    s0 = score(b0, row0, key, s0);
    s0 = select(vec4<f32>(negative_infinity), s0, vec4<u32>(key) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(p.extent_3));
    let larger0 = max(largest0, max(max(s0.x, s0.y), max(s0.z, s0.w)));
    let reference0 = select(larger0, 0.0f, larger0 < -3.4028234663852886e38f);
    let scale0 = exp(largest0 - reference0);
    let weights0 = exp(s0 - vec4<f32>(reference0));
    largest0 = larger0;
    total0 = total0 * scale0 + dot(weights0, vec4<f32>(1.0f));
    o0_0 *= vec4<f32>(scale0);
    o0_0 = fma(vec4<f32>(weights0.x), v0_0, o0_0);
    o0_0 = fma(vec4<f32>(weights0.y), v1_0, o0_0);
    o0_0 = fma(vec4<f32>(weights0.z), v2_0, o0_0);
    o0_0 = fma(vec4<f32>(weights0.w), v3_0, o0_0);
    turn = 1u - turn;
  }
  if lane == 0u {
    group_rows[group] = vec2<f32>(largest0, total0);
  }
  workgroupBarrier();
  var most0 = negative_infinity;
  for (var x_0 = 0u; x_0 < 16u; x_0 += fuse_rounds) {
    for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
      let x = x_0 + iteration;
      most0 = max(most0, group_rows[x].x);
    }
  }
  let common0 = select(most0, 0.0f, most0 < -3.4028234663852886e38f);
  var sum0 = 0.0f;
  for (var x_0 = 0u; x_0 < 16u; x_0 += fuse_rounds) {
    for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
      let x = x_0 + iteration;
      sum0 += group_rows[x].y * exp(group_rows[x].x - common0);
    }
  }
  let factor0 = exp(largest0 - common0);
  if local == 0u {
    finish_row(batch, row0, most0, sum0);
  }
  parts[local] = o0_0 * vec4<f32>(factor0);
  workgroupBarrier();
  if fuse_switch {
    switch group {
      case 0u: {
        store0_0(lane, batch, b0, row0, column0);
      }
      default: {
      }
    }
  } else {
    if group == 0u {
      store0_0(lane, batch, b0, row0, column0);
    }
  }
}
