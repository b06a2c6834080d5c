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
  offset_2: u32,
  stride_2_0: u32,
  size_14: u32,
  size_15: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read> in_1: array<f32>;
@group(0) @binding(3) var<storage, read> in_2: array<i32>;
@group(0) @binding(4) var<storage, read_write> out_0: array<f32>;
@group(0) @binding(5) var<storage, read_write> out_1: array<f32>;
@group(0) @binding(6) var<storage, read_write> out_2: array<f32>;
@group(0) @binding(7) var<storage, read_write> out_3: array<f32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

const fuse_fast_math = false;
fn fuse_is_nan4(x: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}
fn fuse_max_key4(x: vec4<f32>) -> vec4<i32> {
  let bits = bitcast<vec4<i32>>(x);
  let key = bits ^ ((bits >> vec4<u32>(31u)) & vec4<i32>(0x7fffffff));
  return select(key, vec4<i32>(0x7fffffff), fuse_is_nan4(x));
}
fn fuse_of_key1(key: i32) -> f32 {
  return bitcast<f32>(key ^ ((key >> u32(31u)) & i32(0x7fffffff)));
}
fn fuse_is_zero1(x: f32) -> bool {
  return ((bitcast<u32>(x) << u32(1u)) == u32(0u)) | (x == f32(0.0));
}
fn fuse_is_positive1(x: f32) -> bool {
  return (bitcast<u32>(x) - u32(1u)) < u32(0x7f800000u);
}
fn fuse_log1(x: f32) -> f32 {
  if fuse_fast_math {
    return log(x);
  }
  let value = select(bitcast<f32>(u32(fuse_nan_bits)), log(x), fuse_is_positive1(x));
  return select(value, bitcast<f32>(u32(fuse_inf_bits | 0x80000000u)), fuse_is_zero1(x));
}
var<workgroup> row_parts0: array<u32, 544>;
var<workgroup> row_groups0: array<vec4<u32>, 8>;
var<workgroup> lhs_tile: array<vec4<f32>, 12>;
var<workgroup> rhs_tile: array<vec4<f32>, 516>;
struct Sums {
  s0_0: vec4<f32>,
  s0_1: vec4<f32>,
  s1_0: vec4<f32>,
  s1_1: vec4<f32>,
  s2_0: vec4<f32>,
  s2_1: vec4<f32>,
  s3_0: vec4<f32>,
  s3_1: vec4<f32>,
}
fn update(c: ptr<function, Sums>, a0: vec4<f32>, b0: vec4<f32>, b1: vec4<f32>) {
  (*c).s0_0 = fma(vec4<f32>(a0[0]), b0, (*c).s0_0);
  (*c).s0_1 = fma(vec4<f32>(a0[0]), b1, (*c).s0_1);
  (*c).s1_0 = fma(vec4<f32>(a0[1]), b0, (*c).s1_0);
  (*c).s1_1 = fma(vec4<f32>(a0[1]), b1, (*c).s1_1);
  (*c).s2_0 = fma(vec4<f32>(a0[2]), b0, (*c).s2_0);
  (*c).s2_1 = fma(vec4<f32>(a0[2]), b1, (*c).s2_1);
  (*c).s3_0 = fma(vec4<f32>(a0[3]), b0, (*c).s3_0);
  (*c).s3_1 = fma(vec4<f32>(a0[3]), b1, (*c).s3_1);
}
fn put_lhs_tile(outer: u32, depth: u32, value: f32) {
  lhs_tile[(depth + 0u) * 3u + outer / 4u][outer % 4u] = value;
}
fn put_rhs_tile(outer: u32, depth: u32, value: f32) {
  rhs_tile[(depth + 0u) * 129u + outer / 4u][outer % 4u] = value;
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
  let tile = id;
  let batch = 0u;
  let k_begin = 0u;
  let k_end = p.extent_2;
  let row0 = tile / p.column_tiles * 8u;
  let column0 = tile % p.column_tiles * 512u;
  let tx = local % 64u;
  let ty = local / 64u;
  var c = Sums();
  let row_0 = row0 + ty * 4u;
  let at_row_0 = min(row_0, p.extent_0 - 1u);
  let row_1 = row0 + ty * 4u + 1u;
  let at_row_1 = min(row_1, p.extent_0 - 1u);
  let row_2 = row0 + ty * 4u + 2u;
  let at_row_2 = min(row_2, p.extent_0 - 1u);
  let row_3 = row0 + ty * 4u + 3u;
  let at_row_3 = min(row_3, p.extent_0 - 1u);
  let column_0 = column0 + tx * 4u;
  let at_column_0 = min(column_0, p.extent_1 - 1u);
  let last_lane_0 = p.extent_1 - 1u - at_column_0;
  let inside_0 = vec4<u32>(column_0) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(p.extent_1);
  let column_1 = column0 + (tx + 64u) * 4u;
  let at_column_1 = min(column_1, p.extent_1 - 1u);
  let last_lane_1 = p.extent_1 - 1u - at_column_1;
  let inside_1 = vec4<u32>(column_1) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(p.extent_1);
  let a0_o = (local + 0u) / 4u;
  let a0_k = ((local + 0u) % 4u) * 1u;
  let a0_at = min(row0 + a0_o, p.extent_0 - 1u);
  let a0_base0 = (p.offset_0 + a0_at * p.stride_0_0);
  var a0_x0: f32;
  let b0_o = ((local + 0u) % 512u) * 1u;
  let b0_k = (local + 0u) / 512u;
  let b0_at = min(column0 + b0_o, p.extent_1 - 1u);
  let b0_base1 = (p.offset_1 + b0_at * p.stride_1_1);
  var b0_x1: f32;
  let b1_o = ((local + 128u) % 512u) * 1u;
  let b1_k = (local + 128u) / 512u;
  let b1_at = min(column0 + b1_o, p.extent_1 - 1u);
  let b1_base1 = (p.offset_1 + b1_at * p.stride_1_1);
  var b1_x1: f32;
  let b2_o = ((local + 256u) % 512u) * 1u;
  let b2_k = (local + 256u) / 512u;
  let b2_at = min(column0 + b2_o, p.extent_1 - 1u);
  let b2_base1 = (p.offset_1 + b2_at * p.stride_1_1);
  var b2_x1: f32;
  let b3_o = ((local + 384u) % 512u) * 1u;
  let b3_k = (local + 384u) / 512u;
  let b3_at = min(column0 + b3_o, p.extent_1 - 1u);
  let b3_base1 = (p.offset_1 + b3_at * p.stride_1_1);
  var b3_x1: f32;
  let b4_o = ((local + 512u) % 512u) * 1u;
  let b4_k = (local + 512u) / 512u;
  let b4_at = min(column0 + b4_o, p.extent_1 - 1u);
  let b4_base1 = (p.offset_1 + b4_at * p.stride_1_1);
  var b4_x1: f32;
  let b5_o = ((local + 640u) % 512u) * 1u;
  let b5_k = (local + 640u) / 512u;
  let b5_at = min(column0 + b5_o, p.extent_1 - 1u);
  let b5_base1 = (p.offset_1 + b5_at * p.stride_1_1);
  var b5_x1: f32;
  let b6_o = ((local + 768u) % 512u) * 1u;
  let b6_k = (local + 768u) / 512u;
  let b6_at = min(column0 + b6_o, p.extent_1 - 1u);
  let b6_base1 = (p.offset_1 + b6_at * p.stride_1_1);
  var b6_x1: f32;
  let b7_o = ((local + 896u) % 512u) * 1u;
  let b7_k = (local + 896u) / 512u;
  let b7_at = min(column0 + b7_o, p.extent_1 - 1u);
  let b7_base1 = (p.offset_1 + b7_at * p.stride_1_1);
  var b7_x1: f32;
  let b8_o = ((local + 1024u) % 512u) * 1u;
  let b8_k = (local + 1024u) / 512u;
  let b8_at = min(column0 + b8_o, p.extent_1 - 1u);
  let b8_base1 = (p.offset_1 + b8_at * p.stride_1_1);
  var b8_x1: f32;
  let b9_o = ((local + 1152u) % 512u) * 1u;
  let b9_k = (local + 1152u) / 512u;
  let b9_at = min(column0 + b9_o, p.extent_1 - 1u);
  let b9_base1 = (p.offset_1 + b9_at * p.stride_1_1);
  var b9_x1: f32;
  let b10_o = ((local + 1280u) % 512u) * 1u;
  let b10_k = (local + 1280u) / 512u;
  let b10_at = min(column0 + b10_o, p.extent_1 - 1u);
  let b10_base1 = (p.offset_1 + b10_at * p.stride_1_1);
  var b10_x1: f32;
  let b11_o = ((local + 1408u) % 512u) * 1u;
  let b11_k = (local + 1408u) / 512u;
  let b11_at = min(column0 + b11_o, p.extent_1 - 1u);
  let b11_base1 = (p.offset_1 + b11_at * p.stride_1_1);
  var b11_x1: f32;
  let b12_o = ((local + 1536u) % 512u) * 1u;
  let b12_k = (local + 1536u) / 512u;
  let b12_at = min(column0 + b12_o, p.extent_1 - 1u);
  let b12_base1 = (p.offset_1 + b12_at * p.stride_1_1);
  var b12_x1: f32;
  let b13_o = ((local + 1664u) % 512u) * 1u;
  let b13_k = (local + 1664u) / 512u;
  let b13_at = min(column0 + b13_o, p.extent_1 - 1u);
  let b13_base1 = (p.offset_1 + b13_at * p.stride_1_1);
  var b13_x1: f32;
  let b14_o = ((local + 1792u) % 512u) * 1u;
  let b14_k = (local + 1792u) / 512u;
  let b14_at = min(column0 + b14_o, p.extent_1 - 1u);
  let b14_base1 = (p.offset_1 + b14_at * p.stride_1_1);
  var b14_x1: f32;
  let b15_o = ((local + 1920u) % 512u) * 1u;
  let b15_k = (local + 1920u) / 512u;
  let b15_at = min(column0 + b15_o, p.extent_1 - 1u);
  let b15_base1 = (p.offset_1 + b15_at * p.stride_1_1);
  var b15_x1: f32;
  if k_begin < k_end {
    if local + 0u < 32u {
      let a0_depth = min(k_begin + a0_k, k_end - 1u);
      a0_x0 = in_0[a0_base0 + a0_depth * p.stride_0_1];
    }
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
    let b8_depth = min(k_begin + b8_k, k_end - 1u);
    b8_x1 = in_1[b8_base1 + b8_depth * p.stride_1_0];
    let b9_depth = min(k_begin + b9_k, k_end - 1u);
    b9_x1 = in_1[b9_base1 + b9_depth * p.stride_1_0];
    let b10_depth = min(k_begin + b10_k, k_end - 1u);
    b10_x1 = in_1[b10_base1 + b10_depth * p.stride_1_0];
    let b11_depth = min(k_begin + b11_k, k_end - 1u);
    b11_x1 = in_1[b11_base1 + b11_depth * p.stride_1_0];
    let b12_depth = min(k_begin + b12_k, k_end - 1u);
    b12_x1 = in_1[b12_base1 + b12_depth * p.stride_1_0];
    let b13_depth = min(k_begin + b13_k, k_end - 1u);
    b13_x1 = in_1[b13_base1 + b13_depth * p.stride_1_0];
    let b14_depth = min(k_begin + b14_k, k_end - 1u);
    b14_x1 = in_1[b14_base1 + b14_depth * p.stride_1_0];
    let b15_depth = min(k_begin + b15_k, k_end - 1u);
    b15_x1 = in_1[b15_base1 + b15_depth * p.stride_1_0];
  }
  for (var k0 = k_begin; k0 < k_end; k0 += 4u) {
    if local + 0u < 32u {
      put_lhs_tile(a0_o, a0_k, select(f32(), a0_x0, k0 + a0_k < k_end));
    }
    put_rhs_tile(b0_o, b0_k, select(f32(), b0_x1, k0 + b0_k < k_end));
    put_rhs_tile(b1_o, b1_k, select(f32(), b1_x1, k0 + b1_k < k_end));
    put_rhs_tile(b2_o, b2_k, select(f32(), b2_x1, k0 + b2_k < k_end));
    put_rhs_tile(b3_o, b3_k, select(f32(), b3_x1, k0 + b3_k < k_end));
    put_rhs_tile(b4_o, b4_k, select(f32(), b4_x1, k0 + b4_k < k_end));
    put_rhs_tile(b5_o, b5_k, select(f32(), b5_x1, k0 + b5_k < k_end));
    put_rhs_tile(b6_o, b6_k, select(f32(), b6_x1, k0 + b6_k < k_end));
    put_rhs_tile(b7_o, b7_k, select(f32(), b7_x1, k0 + b7_k < k_end));
    put_rhs_tile(b8_o, b8_k, select(f32(), b8_x1, k0 + b8_k < k_end));
    put_rhs_tile(b9_o, b9_k, select(f32(), b9_x1, k0 + b9_k < k_end));
    put_rhs_tile(b10_o, b10_k, select(f32(), b10_x1, k0 + b10_k < k_end));
    put_rhs_tile(b11_o, b11_k, select(f32(), b11_x1, k0 + b11_k < k_end));
    put_rhs_tile(b12_o, b12_k, select(f32(), b12_x1, k0 + b12_k < k_end));
    put_rhs_tile(b13_o, b13_k, select(f32(), b13_x1, k0 + b13_k < k_end));
    put_rhs_tile(b14_o, b14_k, select(f32(), b14_x1, k0 + b14_k < k_end));
    put_rhs_tile(b15_o, b15_k, select(f32(), b15_x1, k0 + b15_k < k_end));
    workgroupBarrier();
    if k0 + 4u < k_end {
      if local + 0u < 32u {
        let a0_depth = min(k0 + 4u + a0_k, k_end - 1u);
        a0_x0 = in_0[a0_base0 + a0_depth * p.stride_0_1];
      }
      let b0_depth = min(k0 + 4u + b0_k, k_end - 1u);
      b0_x1 = in_1[b0_base1 + b0_depth * p.stride_1_0];
      let b1_depth = min(k0 + 4u + b1_k, k_end - 1u);
      b1_x1 = in_1[b1_base1 + b1_depth * p.stride_1_0];
      let b2_depth = min(k0 + 4u + b2_k, k_end - 1u);
      b2_x1 = in_1[b2_base1 + b2_depth * p.stride_1_0];
      let b3_depth = min(k0 + 4u + b3_k, k_end - 1u);
      b3_x1 = in_1[b3_base1 + b3_depth * p.stride_1_0];
      let b4_depth = min(k0 + 4u + b4_k, k_end - 1u);
      b4_x1 = in_1[b4_base1 + b4_depth * p.stride_1_0];
      let b5_depth = min(k0 + 4u + b5_k, k_end - 1u);
      b5_x1 = in_1[b5_base1 + b5_depth * p.stride_1_0];
      let b6_depth = min(k0 + 4u + b6_k, k_end - 1u);
      b6_x1 = in_1[b6_base1 + b6_depth * p.stride_1_0];
      let b7_depth = min(k0 + 4u + b7_k, k_end - 1u);
      b7_x1 = in_1[b7_base1 + b7_depth * p.stride_1_0];
      let b8_depth = min(k0 + 4u + b8_k, k_end - 1u);
      b8_x1 = in_1[b8_base1 + b8_depth * p.stride_1_0];
      let b9_depth = min(k0 + 4u + b9_k, k_end - 1u);
      b9_x1 = in_1[b9_base1 + b9_depth * p.stride_1_0];
      let b10_depth = min(k0 + 4u + b10_k, k_end - 1u);
      b10_x1 = in_1[b10_base1 + b10_depth * p.stride_1_0];
      let b11_depth = min(k0 + 4u + b11_k, k_end - 1u);
      b11_x1 = in_1[b11_base1 + b11_depth * p.stride_1_0];
      let b12_depth = min(k0 + 4u + b12_k, k_end - 1u);
      b12_x1 = in_1[b12_base1 + b12_depth * p.stride_1_0];
      let b13_depth = min(k0 + 4u + b13_k, k_end - 1u);
      b13_x1 = in_1[b13_base1 + b13_depth * p.stride_1_0];
      let b14_depth = min(k0 + 4u + b14_k, k_end - 1u);
      b14_x1 = in_1[b14_base1 + b14_depth * p.stride_1_0];
      let b15_depth = min(k0 + 4u + b15_k, k_end - 1u);
      b15_x1 = in_1[b15_base1 + b15_depth * p.stride_1_0];
    }
    update(&c, lhs_tile[ty + 0u], rhs_tile[tx + 0u], rhs_tile[tx + 64u]);
    update(&c, lhs_tile[ty + 3u], rhs_tile[tx + 129u], rhs_tile[tx + 193u]);
    update(&c, lhs_tile[ty + 6u], rhs_tile[tx + 258u], rhs_tile[tx + 322u]);
    update(&c, lhs_tile[ty + 9u], rhs_tile[tx + 387u], rhs_tile[tx + 451u]);
    workgroupBarrier();
  }
  let v6_row0 = in_2[p.offset_2 + at_row_0 * p.stride_2_0];
  let v6_row1 = in_2[p.offset_2 + at_row_1 * p.stride_2_0];
  let v6_row2 = in_2[p.offset_2 + at_row_2 * p.stride_2_0];
  let v6_row3 = in_2[p.offset_2 + at_row_3 * p.stride_2_0];
  let v0_0_0 = c.s0_0;
  let v0_0_1 = c.s0_1;
  let v0_1_0 = c.s1_0;
  let v0_1_1 = c.s1_1;
  let v0_2_0 = c.s2_0;
  let v0_2_1 = c.s2_1;
  let v0_3_0 = c.s3_0;
  let v0_3_1 = c.s3_1;
  let v8_row0 = max(v6_row0, 0i);
  let v8_row1 = max(v6_row1, 0i);
  let v8_row2 = max(v6_row2, 0i);
  let v8_row3 = max(v6_row3, 0i);
  let v9 = i32(p.size_14);
  let v11 = v9 - 1i;
  let v12_row0 = min(v8_row0, v11);
  let v12_row1 = min(v8_row1, v11);
  let v12_row2 = min(v8_row2, v11);
  let v12_row3 = min(v8_row3, v11);
  let v13_column0 = vec4<i32>(vec4<u32>(column_0) + vec4<u32>(0u, 1u, 2u, 3u));
  let v13_column1 = vec4<i32>(vec4<u32>(column_1) + vec4<u32>(0u, 1u, 2u, 3u));
  let v14_0_0 = vec4<i32>(v12_row0) == v13_column0;
  let v14_0_1 = vec4<i32>(v12_row0) == v13_column1;
  let v14_1_0 = vec4<i32>(v12_row1) == v13_column0;
  let v14_1_1 = vec4<i32>(v12_row1) == v13_column1;
  let v14_2_0 = vec4<i32>(v12_row2) == v13_column0;
  let v14_2_1 = vec4<i32>(v12_row2) == v13_column1;
  let v14_3_0 = vec4<i32>(v12_row3) == v13_column0;
  let v14_3_1 = vec4<i32>(v12_row3) == v13_column1;
  let v16 = f32(p.size_15);
  let v17 = 1.0f / v16;
  let v18 = -v17;
  let v20_0_0 = select(vec4<f32>(0.0f), vec4<f32>(v18), v14_0_0);
  let v20_0_1 = select(vec4<f32>(0.0f), vec4<f32>(v18), v14_0_1);
  let v20_1_0 = select(vec4<f32>(0.0f), vec4<f32>(v18), v14_1_0);
  let v20_1_1 = select(vec4<f32>(0.0f), vec4<f32>(v18), v14_1_1);
  let v20_2_0 = select(vec4<f32>(0.0f), vec4<f32>(v18), v14_2_0);
  let v20_2_1 = select(vec4<f32>(0.0f), vec4<f32>(v18), v14_2_1);
  let v20_3_0 = select(vec4<f32>(0.0f), vec4<f32>(v18), v14_3_0);
  let v20_3_1 = select(vec4<f32>(0.0f), vec4<f32>(v18), v14_3_1);
  let part1_0_0_word0 = select(vec4<i32>(-2139095041i), fuse_max_key4(v0_0_0), inside_0);
  let part1_0_1_word0 = select(vec4<i32>(-2139095041i), fuse_max_key4(v0_0_1), inside_1);
  let part1_0_v_0_0 = max(part1_0_0_word0, part1_0_1_word0);
  let part1_0_0_0 = max(part1_0_v_0_0.x, part1_0_v_0_0.y);
  let part1_0_1_0 = max(part1_0_v_0_0.z, part1_0_v_0_0.w);
  let part1_0_2_0 = max(part1_0_0_0, part1_0_1_0);
  row_parts0[ty * 4u * 68u + tx] = bitcast<u32>(part1_0_2_0);
  let part1_1_0_word0 = select(vec4<i32>(-2139095041i), fuse_max_key4(v0_1_0), inside_0);
  let part1_1_1_word0 = select(vec4<i32>(-2139095041i), fuse_max_key4(v0_1_1), inside_1);
  let part1_1_v_0_0 = max(part1_1_0_word0, part1_1_1_word0);
  let part1_1_0_0 = max(part1_1_v_0_0.x, part1_1_v_0_0.y);
  let part1_1_1_0 = max(part1_1_v_0_0.z, part1_1_v_0_0.w);
  let part1_1_2_0 = max(part1_1_0_0, part1_1_1_0);
  row_parts0[(ty * 4u + 1u) * 68u + tx] = bitcast<u32>(part1_1_2_0);
  let part1_2_0_word0 = select(vec4<i32>(-2139095041i), fuse_max_key4(v0_2_0), inside_0);
  let part1_2_1_word0 = select(vec4<i32>(-2139095041i), fuse_max_key4(v0_2_1), inside_1);
  let part1_2_v_0_0 = max(part1_2_0_word0, part1_2_1_word0);
  let part1_2_0_0 = max(part1_2_v_0_0.x, part1_2_v_0_0.y);
  let part1_2_1_0 = max(part1_2_v_0_0.z, part1_2_v_0_0.w);
  let part1_2_2_0 = max(part1_2_0_0, part1_2_1_0);
  row_parts0[(ty * 4u + 2u) * 68u + tx] = bitcast<u32>(part1_2_2_0);
  let part1_3_0_word0 = select(vec4<i32>(-2139095041i), fuse_max_key4(v0_3_0), inside_0);
  let part1_3_1_word0 = select(vec4<i32>(-2139095041i), fuse_max_key4(v0_3_1), inside_1);
  let part1_3_v_0_0 = max(part1_3_0_word0, part1_3_1_word0);
  let part1_3_0_0 = max(part1_3_v_0_0.x, part1_3_v_0_0.y);
  let part1_3_1_0 = max(part1_3_v_0_0.z, part1_3_v_0_0.w);
  let part1_3_2_0 = max(part1_3_0_0, part1_3_1_0);
  row_parts0[(ty * 4u + 3u) * 68u + tx] = bitcast<u32>(part1_3_2_0);
  workgroupBarrier();
  if local < 32u {
    let part_row = local / 4u;
    let part_group = local % 4u;
    let parts = part_row * 68u + part_group;
    let part0_word0 = bitcast<i32>(row_parts0[parts]);
    let part1_word0 = bitcast<i32>(row_parts0[parts + 4u]);
    let part2_word0 = bitcast<i32>(row_parts0[parts + 8u]);
    let part3_word0 = bitcast<i32>(row_parts0[parts + 12u]);
    let part4_word0 = bitcast<i32>(row_parts0[parts + 16u]);
    let part5_word0 = bitcast<i32>(row_parts0[parts + 20u]);
    let part6_word0 = bitcast<i32>(row_parts0[parts + 24u]);
    let part7_word0 = bitcast<i32>(row_parts0[parts + 28u]);
    let part8_word0 = bitcast<i32>(row_parts0[parts + 32u]);
    let part9_word0 = bitcast<i32>(row_parts0[parts + 36u]);
    let part10_word0 = bitcast<i32>(row_parts0[parts + 40u]);
    let part11_word0 = bitcast<i32>(row_parts0[parts + 44u]);
    let part12_word0 = bitcast<i32>(row_parts0[parts + 48u]);
    let part13_word0 = bitcast<i32>(row_parts0[parts + 52u]);
    let part14_word0 = bitcast<i32>(row_parts0[parts + 56u]);
    let part15_word0 = bitcast<i32>(row_parts0[parts + 60u]);
    let group_0_0 = max(part0_word0, part1_word0);
    let group_1_0 = max(part2_word0, part3_word0);
    let group_2_0 = max(part4_word0, part5_word0);
    let group_3_0 = max(part6_word0, part7_word0);
    let group_4_0 = max(part8_word0, part9_word0);
    let group_5_0 = max(part10_word0, part11_word0);
    let group_6_0 = max(part12_word0, part13_word0);
    let group_7_0 = max(part14_word0, part15_word0);
    let group_8_0 = max(group_0_0, group_1_0);
    let group_9_0 = max(group_2_0, group_3_0);
    let group_10_0 = max(group_4_0, group_5_0);
    let group_11_0 = max(group_6_0, group_7_0);
    let group_12_0 = max(group_8_0, group_9_0);
    let group_13_0 = max(group_10_0, group_11_0);
    let group_14_0 = max(group_12_0, group_13_0);
    row_groups0[part_row][part_group] = bitcast<u32>(group_14_0);
  }
  workgroupBarrier();
  let groups1_0_word0 = bitcast<vec4<i32>>(row_groups0[ty * 4u]);
  let groups1_0_0_0 = max(groups1_0_word0.x, groups1_0_word0.y);
  let groups1_0_1_0 = max(groups1_0_word0.z, groups1_0_word0.w);
  let groups1_0_2_0 = max(groups1_0_0_0, groups1_0_1_0);
  let v1_row0 = fuse_of_key1(groups1_0_2_0);
  let groups1_1_word0 = bitcast<vec4<i32>>(row_groups0[ty * 4u + 1u]);
  let groups1_1_0_0 = max(groups1_1_word0.x, groups1_1_word0.y);
  let groups1_1_1_0 = max(groups1_1_word0.z, groups1_1_word0.w);
  let groups1_1_2_0 = max(groups1_1_0_0, groups1_1_1_0);
  let v1_row1 = fuse_of_key1(groups1_1_2_0);
  let groups1_2_word0 = bitcast<vec4<i32>>(row_groups0[ty * 4u + 2u]);
  let groups1_2_0_0 = max(groups1_2_word0.x, groups1_2_word0.y);
  let groups1_2_1_0 = max(groups1_2_word0.z, groups1_2_word0.w);
  let groups1_2_2_0 = max(groups1_2_0_0, groups1_2_1_0);
  let v1_row2 = fuse_of_key1(groups1_2_2_0);
  let groups1_3_word0 = bitcast<vec4<i32>>(row_groups0[ty * 4u + 3u]);
  let groups1_3_0_0 = max(groups1_3_word0.x, groups1_3_word0.y);
  let groups1_3_1_0 = max(groups1_3_word0.z, groups1_3_word0.w);
  let groups1_3_2_0 = max(groups1_3_0_0, groups1_3_1_0);
  let v1_row3 = fuse_of_key1(groups1_3_2_0);
  let v2_0_0 = v0_0_0 - vec4<f32>(v1_row0);
  let v2_0_1 = v0_0_1 - vec4<f32>(v1_row0);
  let v2_1_0 = v0_1_0 - vec4<f32>(v1_row1);
  let v2_1_1 = v0_1_1 - vec4<f32>(v1_row1);
  let v2_2_0 = v0_2_0 - vec4<f32>(v1_row2);
  let v2_2_1 = v0_2_1 - vec4<f32>(v1_row2);
  let v2_3_0 = v0_3_0 - vec4<f32>(v1_row3);
  let v2_3_1 = v0_3_1 - vec4<f32>(v1_row3);
  let v3_0_0 = exp(v2_0_0);
  let v3_0_1 = exp(v2_0_1);
  let v3_1_0 = exp(v2_1_0);
  let v3_1_1 = exp(v2_1_1);
  let v3_2_0 = exp(v2_2_0);
  let v3_2_1 = exp(v2_2_1);
  let v3_3_0 = exp(v2_3_0);
  let v3_3_1 = exp(v2_3_1);
  let part4_0_0_word0 = select(vec4<f32>(), v3_0_0, inside_0);
  let part4_0_1_word0 = select(vec4<f32>(), v3_0_1, inside_1);
  let part4_0_v_0_0 = part4_0_0_word0 + part4_0_1_word0;
  let part4_0_0_0 = part4_0_v_0_0.x + part4_0_v_0_0.y;
  let part4_0_1_0 = part4_0_v_0_0.z + part4_0_v_0_0.w;
  let part4_0_2_0 = part4_0_0_0 + part4_0_1_0;
  row_parts0[ty * 4u * 68u + tx] = bitcast<u32>(part4_0_2_0);
  let part4_1_0_word0 = select(vec4<f32>(), v3_1_0, inside_0);
  let part4_1_1_word0 = select(vec4<f32>(), v3_1_1, inside_1);
  let part4_1_v_0_0 = part4_1_0_word0 + part4_1_1_word0;
  let part4_1_0_0 = part4_1_v_0_0.x + part4_1_v_0_0.y;
  let part4_1_1_0 = part4_1_v_0_0.z + part4_1_v_0_0.w;
  let part4_1_2_0 = part4_1_0_0 + part4_1_1_0;
  row_parts0[(ty * 4u + 1u) * 68u + tx] = bitcast<u32>(part4_1_2_0);
  let part4_2_0_word0 = select(vec4<f32>(), v3_2_0, inside_0);
  let part4_2_1_word0 = select(vec4<f32>(), v3_2_1, inside_1);
  let part4_2_v_0_0 = part4_2_0_word0 + part4_2_1_word0;
  let part4_2_0_0 = part4_2_v_0_0.x + part4_2_v_0_0.y;
  let part4_2_1_0 = part4_2_v_0_0.z + part4_2_v_0_0.w;
  let part4_2_2_0 = part4_2_0_0 + part4_2_1_0;
  row_parts0[(ty * 4u + 2u) * 68u + tx] = bitcast<u32>(part4_2_2_0);
  let part4_3_0_word0 = select(vec4<f32>(), v3_3_0, inside_0);
  let part4_3_1_word0 = select(vec4<f32>(), v3_3_1, inside_1);
  let part4_3_v_0_0 = part4_3_0_word0 + part4_3_1_word0;
  let part4_3_0_0 = part4_3_v_0_0.x + part4_3_v_0_0.y;
  let part4_3_1_0 = part4_3_v_0_0.z + part4_3_v_0_0.w;
  let part4_3_2_0 = part4_3_0_0 + part4_3_1_0;
  row_parts0[(ty * 4u + 3u) * 68u + tx] = bitcast<u32>(part4_3_2_0);
  workgroupBarrier();
  if local < 32u {
    let part_row = local / 4u;
    let part_group = local % 4u;
    let parts = part_row * 68u + part_group;
    let part0_word0 = bitcast<f32>(row_parts0[parts]);
    let part1_word0 = bitcast<f32>(row_parts0[parts + 4u]);
    let part2_word0 = bitcast<f32>(row_parts0[parts + 8u]);
    let part3_word0 = bitcast<f32>(row_parts0[parts + 12u]);
    let part4_word0 = bitcast<f32>(row_parts0[parts + 16u]);
    let part5_word0 = bitcast<f32>(row_parts0[parts + 20u]);
    let part6_word0 = bitcast<f32>(row_parts0[parts + 24u]);
    let part7_word0 = bitcast<f32>(row_parts0[parts + 28u]);
    let part8_word0 = bitcast<f32>(row_parts0[parts + 32u]);
    let part9_word0 = bitcast<f32>(row_parts0[parts + 36u]);
    let part10_word0 = bitcast<f32>(row_parts0[parts + 40u]);
    let part11_word0 = bitcast<f32>(row_parts0[parts + 44u]);
    let part12_word0 = bitcast<f32>(row_parts0[parts + 48u]);
    let part13_word0 = bitcast<f32>(row_parts0[parts + 52u]);
    let part14_word0 = bitcast<f32>(row_parts0[parts + 56u]);
    let part15_word0 = bitcast<f32>(row_parts0[parts + 60u]);
    let group_0_0 = part0_word0 + part1_word0;
    let group_1_0 = part2_word0 + part3_word0;
    let group_2_0 = part4_word0 + part5_word0;
    let group_3_0 = part6_word0 + part7_word0;
    let group_4_0 = part8_word0 + part9_word0;
    let group_5_0 = part10_word0 + part11_word0;
    let group_6_0 = part12_word0 + part13_word0;
    let group_7_0 = part14_word0 + part15_word0;
    let group_8_0 = group_0_0 + group_1_0;
    let group_9_0 = group_2_0 + group_3_0;
    let group_10_0 = group_4_0 + group_5_0;
    let group_11_0 = group_6_0 + group_7_0;
    let group_12_0 = group_8_0 + group_9_0;
    let group_13_0 = group_10_0 + group_11_0;
    let group_14_0 = group_12_0 + group_13_0;
    row_groups0[part_row][part_group] = bitcast<u32>(group_14_0);
  }
  workgroupBarrier();
  let groups4_0_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u]);
  let groups4_0_0_0 = groups4_0_word0.x + groups4_0_word0.y;
  let groups4_0_1_0 = groups4_0_word0.z + groups4_0_word0.w;
  let groups4_0_2_0 = groups4_0_0_0 + groups4_0_1_0;
  let v4_row0 = groups4_0_2_0;
  let groups4_1_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 1u]);
  let groups4_1_0_0 = groups4_1_word0.x + groups4_1_word0.y;
  let groups4_1_1_0 = groups4_1_word0.z + groups4_1_word0.w;
  let groups4_1_2_0 = groups4_1_0_0 + groups4_1_1_0;
  let v4_row1 = groups4_1_2_0;
  let groups4_2_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 2u]);
  let groups4_2_0_0 = groups4_2_word0.x + groups4_2_word0.y;
  let groups4_2_1_0 = groups4_2_word0.z + groups4_2_word0.w;
  let groups4_2_2_0 = groups4_2_0_0 + groups4_2_1_0;
  let v4_row2 = groups4_2_2_0;
  let groups4_3_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 3u]);
  let groups4_3_0_0 = groups4_3_word0.x + groups4_3_word0.y;
  let groups4_3_1_0 = groups4_3_word0.z + groups4_3_word0.w;
  let groups4_3_2_0 = groups4_3_0_0 + groups4_3_1_0;
  let v4_row3 = groups4_3_2_0;
  let v5_row0 = fuse_log1(v4_row0);
  let v5_row1 = fuse_log1(v4_row1);
  let v5_row2 = fuse_log1(v4_row2);
  let v5_row3 = fuse_log1(v4_row3);
  let v21_row0 = v17 / v4_row0;
  let v21_row1 = v17 / v4_row1;
  let v21_row2 = v17 / v4_row2;
  let v21_row3 = v17 / v4_row3;
  let v22_0_0 = vec4<f32>(v21_row0) * v3_0_0;
  let v22_0_1 = vec4<f32>(v21_row0) * v3_0_1;
  let v22_1_0 = vec4<f32>(v21_row1) * v3_1_0;
  let v22_1_1 = vec4<f32>(v21_row1) * v3_1_1;
  let v22_2_0 = vec4<f32>(v21_row2) * v3_2_0;
  let v22_2_1 = vec4<f32>(v21_row2) * v3_2_1;
  let v22_3_0 = vec4<f32>(v21_row3) * v3_3_0;
  let v22_3_1 = vec4<f32>(v21_row3) * v3_3_1;
  let v23_0_0 = v20_0_0 + v22_0_0;
  let v23_0_1 = v20_0_1 + v22_0_1;
  let v23_1_0 = v20_1_0 + v22_1_0;
  let v23_1_1 = v20_1_1 + v22_1_1;
  let v23_2_0 = v20_2_0 + v22_2_0;
  let v23_2_1 = v20_2_1 + v22_2_1;
  let v23_3_0 = v20_3_0 + v22_3_0;
  let v23_3_1 = v20_3_1 + v22_3_1;
  if row_0 < p.extent_0 {
    if column_0 < p.extent_1 {
      let at = (batch * p.extent_0 + row_0) * p.extent_1 + column_0;
      if 0u <= last_lane_0 {
        out_0[at] = v0_0_0.x;
      }
      if 1u <= last_lane_0 {
        out_0[at + 1u] = v0_0_0.y;
      }
      if 2u <= last_lane_0 {
        out_0[at + 2u] = v0_0_0.z;
      }
      if 3u <= last_lane_0 {
        out_0[at + 3u] = v0_0_0.w;
      }
      if 0u <= last_lane_0 {
        out_3[at] = v23_0_0.x;
      }
      if 1u <= last_lane_0 {
        out_3[at + 1u] = v23_0_0.y;
      }
      if 2u <= last_lane_0 {
        out_3[at + 2u] = v23_0_0.z;
      }
      if 3u <= last_lane_0 {
        out_3[at + 3u] = v23_0_0.w;
      }
    }
    if column_1 < p.extent_1 {
      let at = (batch * p.extent_0 + row_0) * p.extent_1 + column_1;
      if 0u <= last_lane_1 {
        out_0[at] = v0_0_1.x;
      }
      if 1u <= last_lane_1 {
        out_0[at + 1u] = v0_0_1.y;
      }
      if 2u <= last_lane_1 {
        out_0[at + 2u] = v0_0_1.z;
      }
      if 3u <= last_lane_1 {
        out_0[at + 3u] = v0_0_1.w;
      }
      if 0u <= last_lane_1 {
        out_3[at] = v23_0_1.x;
      }
      if 1u <= last_lane_1 {
        out_3[at + 1u] = v23_0_1.y;
      }
      if 2u <= last_lane_1 {
        out_3[at + 2u] = v23_0_1.z;
      }
      if 3u <= last_lane_1 {
        out_3[at + 3u] = v23_0_1.w;
      }
    }
    if tx == 0u {
      out_1[batch * p.extent_0 + row_0] = v1_row0;
      out_2[batch * p.extent_0 + row_0] = v5_row0;
    }
  }
  if row_1 < p.extent_0 {
    if column_0 < p.extent_1 {
      let at = (batch * p.extent_0 + row_1) * p.extent_1 + column_0;
      if 0u <= last_lane_0 {
        out_0[at] = v0_1_0.x;
      }
      if 1u <= last_lane_0 {
        out_0[at + 1u] = v0_1_0.y;
      }
      if 2u <= last_lane_0 {
        out_0[at + 2u] = v0_1_0.z;
      }
      if 3u <= last_lane_0 {
        out_0[at + 3u] = v0_1_0.w;
      }
      if 0u <= last_lane_0 {
        out_3[at] = v23_1_0.x;
      }
      if 1u <= last_lane_0 {
        out_3[at + 1u] = v23_1_0.y;
      }
      if 2u <= last_lane_0 {
        out_3[at + 2u] = v23_1_0.z;
      }
      if 3u <= last_lane_0 {
        out_3[at + 3u] = v23_1_0.w;
      }
    }
    if column_1 < p.extent_1 {
      let at = (batch * p.extent_0 + row_1) * p.extent_1 + column_1;
      if 0u <= last_lane_1 {
        out_0[at] = v0_1_1.x;
      }
      if 1u <= last_lane_1 {
        out_0[at + 1u] = v0_1_1.y;
      }
      if 2u <= last_lane_1 {
        out_0[at + 2u] = v0_1_1.z;
      }
      if 3u <= last_lane_1 {
        out_0[at + 3u] = v0_1_1.w;
      }
      if 0u <= last_lane_1 {
        out_3[at] = v23_1_1.x;
      }
      if 1u <= last_lane_1 {
        out_3[at + 1u] = v23_1_1.y;
      }
      if 2u <= last_lane_1 {
        out_3[at + 2u] = v23_1_1.z;
      }
      if 3u <= last_lane_1 {
        out_3[at + 3u] = v23_1_1.w;
      }
    }
    if tx == 0u {
      out_1[batch * p.extent_0 + row_1] = v1_row1;
      out_2[batch * p.extent_0 + row_1] = v5_row1;
    }
  }
  if row_2 < p.extent_0 {
    if column_0 < p.extent_1 {
      let at = (batch * p.extent_0 + row_2) * p.extent_1 + column_0;
      if 0u <= last_lane_0 {
        out_0[at] = v0_2_0.x;
      }
      if 1u <= last_lane_0 {
        out_0[at + 1u] = v0_2_0.y;
      }
      if 2u <= last_lane_0 {
        out_0[at + 2u] = v0_2_0.z;
      }
      if 3u <= last_lane_0 {
        out_0[at + 3u] = v0_2_0.w;
      }
      if 0u <= last_lane_0 {
        out_3[at] = v23_2_0.x;
      }
      if 1u <= last_lane_0 {
        out_3[at + 1u] = v23_2_0.y;
      }
      if 2u <= last_lane_0 {
        out_3[at + 2u] = v23_2_0.z;
      }
      if 3u <= last_lane_0 {
        out_3[at + 3u] = v23_2_0.w;
      }
    }
    if column_1 < p.extent_1 {
      let at = (batch * p.extent_0 + row_2) * p.extent_1 + column_1;
      if 0u <= last_lane_1 {
        out_0[at] = v0_2_1.x;
      }
      if 1u <= last_lane_1 {
        out_0[at + 1u] = v0_2_1.y;
      }
      if 2u <= last_lane_1 {
        out_0[at + 2u] = v0_2_1.z;
      }
      if 3u <= last_lane_1 {
        out_0[at + 3u] = v0_2_1.w;
      }
      if 0u <= last_lane_1 {
        out_3[at] = v23_2_1.x;
      }
      if 1u <= last_lane_1 {
        out_3[at + 1u] = v23_2_1.y;
      }
      if 2u <= last_lane_1 {
        out_3[at + 2u] = v23_2_1.z;
      }
      if 3u <= last_lane_1 {
        out_3[at + 3u] = v23_2_1.w;
      }
    }
    if tx == 0u {
      out_1[batch * p.extent_0 + row_2] = v1_row2;
      out_2[batch * p.extent_0 + row_2] = v5_row2;
    }
  }
  if row_3 < p.extent_0 {
    if column_0 < p.extent_1 {
      let at = (batch * p.extent_0 + row_3) * p.extent_1 + column_0;
      if 0u <= last_lane_0 {
        out_0[at] = v0_3_0.x;
      }
      if 1u <= last_lane_0 {
        out_0[at + 1u] = v0_3_0.y;
      }
      if 2u <= last_lane_0 {
        out_0[at + 2u] = v0_3_0.z;
      }
      if 3u <= last_lane_0 {
        out_0[at + 3u] = v0_3_0.w;
      }
      if 0u <= last_lane_0 {
        out_3[at] = v23_3_0.x;
      }
      if 1u <= last_lane_0 {
        out_3[at + 1u] = v23_3_0.y;
      }
      if 2u <= last_lane_0 {
        out_3[at + 2u] = v23_3_0.z;
      }
      if 3u <= last_lane_0 {
        out_3[at + 3u] = v23_3_0.w;
      }
    }
    if column_1 < p.extent_1 {
      let at = (batch * p.extent_0 + row_3) * p.extent_1 + column_1;
      if 0u <= last_lane_1 {
        out_0[at] = v0_3_1.x;
      }
      if 1u <= last_lane_1 {
        out_0[at + 1u] = v0_3_1.y;
      }
      if 2u <= last_lane_1 {
        out_0[at + 2u] = v0_3_1.z;
      }
      if 3u <= last_lane_1 {
        out_0[at + 3u] = v0_3_1.w;
      }
      if 0u <= last_lane_1 {
        out_3[at] = v23_3_1.x;
      }
      if 1u <= last_lane_1 {
        out_3[at + 1u] = v23_3_1.y;
      }
      if 2u <= last_lane_1 {
        out_3[at + 2u] = v23_3_1.z;
      }
      if 3u <= last_lane_1 {
        out_3[at + 3u] = v23_3_1.w;
      }
    }
    if tx == 0u {
      out_1[batch * p.extent_0 + row_3] = v1_row3;
      out_2[batch * p.extent_0 + row_3] = v5_row3;
    }
  }
}
