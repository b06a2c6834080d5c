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
  stride_1_0: u32,
  offset_2: u32,
  stride_2_1: u32,
  offset_3: u32,
  stride_3_0: u32,
  stride_3_1: u32,
  offset_4: u32,
  stride_4_1: u32,
  offset_5: u32,
  stride_5_1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in_2: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> in_3: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> in_4: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> in_5: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> out_0: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_fast_math = false;

fn fuse_is_zero1(x: f32) -> bool {
  return ((bitcast<u32>(x) << u32(1u)) == u32(0u)) | (x == f32(0.0));
}
fn fuse_rsqrt1(x: f32) -> f32 {
  if fuse_fast_math {
    return inverseSqrt(x);
  }
  let infinity = bitcast<f32>((bitcast<u32>(x) & u32(0x80000000u)) | u32(fuse_inf_bits));
  return select(inverseSqrt(x), infinity, fuse_is_zero1(x));
}
var<workgroup> row_parts0: array<u32, 1600>;
var<workgroup> row_groups0: array<vec4<u32>, 16>;
var<workgroup> lhs_tile: array<vec4<f32>, 80>;
var<workgroup> rhs_tile: array<vec4<f32>, 1552>;
struct Sums {
  s0_0: vec4<f32>,
  s1_0: vec4<f32>,
  s2_0: vec4<f32>,
  s3_0: vec4<f32>,
  s4_0: vec4<f32>,
  s5_0: vec4<f32>,
  s6_0: vec4<f32>,
  s7_0: vec4<f32>,
}
fn update(c: ptr<function, Sums>, a0: vec4<f32>, a1: vec4<f32>, b0: vec4<f32>) {
  (*c).s0_0 = fma(vec4<f32>(a0.x), b0, (*c).s0_0);
  (*c).s1_0 = fma(vec4<f32>(a0.y), b0, (*c).s1_0);
  (*c).s2_0 = fma(vec4<f32>(a0.z), b0, (*c).s2_0);
  (*c).s3_0 = fma(vec4<f32>(a0.w), b0, (*c).s3_0);
  (*c).s4_0 = fma(vec4<f32>(a1.x), b0, (*c).s4_0);
  (*c).s5_0 = fma(vec4<f32>(a1.y), b0, (*c).s5_0);
  (*c).s6_0 = fma(vec4<f32>(a1.z), b0, (*c).s6_0);
  (*c).s7_0 = fma(vec4<f32>(a1.w), b0, (*c).s7_0);
}

@compute @workgroup_size(192)
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
  let row0 = tile / p.column_tiles * 16u;
  let column0 = tile % p.column_tiles * 384u;
  let tx = local % 96u;
  let ty = local / 96u;
  var c = Sums();
  let row_0 = row0 + ty * 4u;
  let at_row_0 = min(row_0, p.extent_0 - 1u);
  let row_1 = row0 + ty * 4u + 1u;
  let at_row_1 = min(row_1, p.extent_0 - 1u);
  let row_2 = row0 + ty * 4u + 2u;
  let at_row_2 = min(row_2, p.extent_0 - 1u);
  let row_3 = row0 + ty * 4u + 3u;
  let at_row_3 = min(row_3, p.extent_0 - 1u);
  let row_4 = row0 + ty * 4u + 8u;
  let at_row_4 = min(row_4, p.extent_0 - 1u);
  let row_5 = row0 + ty * 4u + 9u;
  let at_row_5 = min(row_5, p.extent_0 - 1u);
  let row_6 = row0 + ty * 4u + 10u;
  let at_row_6 = min(row_6, p.extent_0 - 1u);
  let row_7 = row0 + ty * 4u + 11u;
  let at_row_7 = min(row_7, p.extent_0 - 1u);
  let column_0 = column0 + tx * 4u;
  let at_column_0 = min(column_0, p.extent_1 - 4u);
  let a0_o = local / 4u;
  let a0_k = local % 4u * 4u;
  let a0_to = a0_k * 5u + a0_o / 4u;
  let a0_at = min(row0 + a0_o, p.extent_0 - 1u);
  let a0_base0 = p.offset_0 + a0_at * p.stride_0_0;
  var a0_x0: vec4<f32>;
  let b0_o = local % 96u * 4u;
  let b0_k = local / 96u;
  let b0_to = b0_k * 97u + b0_o / 4u;
  let b0_at = min(column0 + b0_o, p.extent_1 - 4u);
  let b0_base1 = p.offset_1 + b0_at;
  var b0_x1: vec4<f32>;
  let b1_o = (local + 192u) % 96u * 4u;
  let b1_k = (local + 192u) / 96u;
  let b1_to = b1_k * 97u + b1_o / 4u;
  let b1_at = min(column0 + b1_o, p.extent_1 - 4u);
  let b1_base1 = p.offset_1 + b1_at;
  var b1_x1: vec4<f32>;
  let b2_o = (local + 384u) % 96u * 4u;
  let b2_k = (local + 384u) / 96u;
  let b2_to = b2_k * 97u + b2_o / 4u;
  let b2_at = min(column0 + b2_o, p.extent_1 - 4u);
  let b2_base1 = p.offset_1 + b2_at;
  var b2_x1: vec4<f32>;
  let b3_o = (local + 576u) % 96u * 4u;
  let b3_k = (local + 576u) / 96u;
  let b3_to = b3_k * 97u + b3_o / 4u;
  let b3_at = min(column0 + b3_o, p.extent_1 - 4u);
  let b3_base1 = p.offset_1 + b3_at;
  var b3_x1: vec4<f32>;
  let b4_o = (local + 768u) % 96u * 4u;
  let b4_k = (local + 768u) / 96u;
  let b4_to = b4_k * 97u + b4_o / 4u;
  let b4_at = min(column0 + b4_o, p.extent_1 - 4u);
  let b4_base1 = p.offset_1 + b4_at;
  var b4_x1: vec4<f32>;
  let b5_o = (local + 960u) % 96u * 4u;
  let b5_k = (local + 960u) / 96u;
  let b5_to = b5_k * 97u + b5_o / 4u;
  let b5_at = min(column0 + b5_o, p.extent_1 - 4u);
  let b5_base1 = p.offset_1 + b5_at;
  var b5_x1: vec4<f32>;
  let b6_o = (local + 1152u) % 96u * 4u;
  let b6_k = (local + 1152u) / 96u;
  let b6_to = b6_k * 97u + b6_o / 4u;
  let b6_at = min(column0 + b6_o, p.extent_1 - 4u);
  let b6_base1 = p.offset_1 + b6_at;
  var b6_x1: vec4<f32>;
  let b7_o = (local + 1344u) % 96u * 4u;
  let b7_k = (local + 1344u) / 96u;
  let b7_to = b7_k * 97u + b7_o / 4u;
  let b7_at = min(column0 + b7_o, p.extent_1 - 4u);
  let b7_base1 = p.offset_1 + b7_at;
  var b7_x1: vec4<f32>;
  if k_begin < k_end {
    if local < 64u {
      let start = min(k_begin + a0_k, k_end - 4u);
      a0_x0 = in_0[(a0_base0 + start) / 4u];
    }
    {
      let start = min(k_begin + b0_k, k_end - 1u);
      b0_x1 = in_1[(b0_base1 + start * p.stride_1_0) / 4u];
    }
    {
      let start = min(k_begin + b1_k, k_end - 1u);
      b1_x1 = in_1[(b1_base1 + start * p.stride_1_0) / 4u];
    }
    {
      let start = min(k_begin + b2_k, k_end - 1u);
      b2_x1 = in_1[(b2_base1 + start * p.stride_1_0) / 4u];
    }
    {
      let start = min(k_begin + b3_k, k_end - 1u);
      b3_x1 = in_1[(b3_base1 + start * p.stride_1_0) / 4u];
    }
    {
      let start = min(k_begin + b4_k, k_end - 1u);
      b4_x1 = in_1[(b4_base1 + start * p.stride_1_0) / 4u];
    }
    {
      let start = min(k_begin + b5_k, k_end - 1u);
      b5_x1 = in_1[(b5_base1 + start * p.stride_1_0) / 4u];
    }
    {
      let start = min(k_begin + b6_k, k_end - 1u);
      b6_x1 = in_1[(b6_base1 + start * p.stride_1_0) / 4u];
    }
    {
      let start = min(k_begin + b7_k, k_end - 1u);
      b7_x1 = in_1[(b7_base1 + start * p.stride_1_0) / 4u];
    }
  }
  for (var k0 = k_begin; k0 < k_end; k0 += 16u) {
    if local < 64u {
      let value = select(vec4<f32>(), a0_x0, k0 + a0_k < k_end);
      lhs_tile[a0_to][a0_o % 4u] = value.x;
      lhs_tile[a0_to + 5u][a0_o % 4u] = value.y;
      lhs_tile[a0_to + 10u][a0_o % 4u] = value.z;
      lhs_tile[a0_to + 15u][a0_o % 4u] = value.w;
    }
    {
      let value = select(vec4<f32>(), b0_x1, k0 + b0_k < k_end);
      rhs_tile[b0_to] = value;
    }
    {
      let value = select(vec4<f32>(), b1_x1, k0 + b1_k < k_end);
      rhs_tile[b1_to] = value;
    }
    {
      let value = select(vec4<f32>(), b2_x1, k0 + b2_k < k_end);
      rhs_tile[b2_to] = value;
    }
    {
      let value = select(vec4<f32>(), b3_x1, k0 + b3_k < k_end);
      rhs_tile[b3_to] = value;
    }
    {
      let value = select(vec4<f32>(), b4_x1, k0 + b4_k < k_end);
      rhs_tile[b4_to] = value;
    }
    {
      let value = select(vec4<f32>(), b5_x1, k0 + b5_k < k_end);
      rhs_tile[b5_to] = value;
    }
    {
      let value = select(vec4<f32>(), b6_x1, k0 + b6_k < k_end);
      rhs_tile[b6_to] = value;
    }
    {
      let value = select(vec4<f32>(), b7_x1, k0 + b7_k < k_end);
      rhs_tile[b7_to] = value;
    }
    workgroupBarrier();
    if k0 + 16u < k_end {
      if local < 64u {
        let start = min(k0 + 16u + a0_k, k_end - 4u);
        a0_x0 = in_0[(a0_base0 + start) / 4u];
      }
      {
        let start = min(k0 + 16u + b0_k, k_end - 1u);
        b0_x1 = in_1[(b0_base1 + start * p.stride_1_0) / 4u];
      }
      {
        let start = min(k0 + 16u + b1_k, k_end - 1u);
        b1_x1 = in_1[(b1_base1 + start * p.stride_1_0) / 4u];
      }
      {
        let start = min(k0 + 16u + b2_k, k_end - 1u);
        b2_x1 = in_1[(b2_base1 + start * p.stride_1_0) / 4u];
      }
      {
        let start = min(k0 + 16u + b3_k, k_end - 1u);
        b3_x1 = in_1[(b3_base1 + start * p.stride_1_0) / 4u];
      }
      {
        let start = min(k0 + 16u + b4_k, k_end - 1u);
        b4_x1 = in_1[(b4_base1 + start * p.stride_1_0) / 4u];
      }
      {
        let start = min(k0 + 16u + b5_k, k_end - 1u);
        b5_x1 = in_1[(b5_base1 + start * p.stride_1_0) / 4u];
      }
      {
        let start = min(k0 + 16u + b6_k, k_end - 1u);
        b6_x1 = in_1[(b6_base1 + start * p.stride_1_0) / 4u];
      }
      {
        let start = min(k0 + 16u + b7_k, k_end - 1u);
        b7_x1 = in_1[(b7_base1 + start * p.stride_1_0) / 4u];
      }
    }
    update(&c, lhs_tile[ty], lhs_tile[ty + 2u], rhs_tile[tx]);
    update(&c, lhs_tile[ty + 5u], lhs_tile[ty + 7u], rhs_tile[tx + 97u]);
    update(&c, lhs_tile[ty + 10u], lhs_tile[ty + 12u], rhs_tile[tx + 194u]);
    update(&c, lhs_tile[ty + 15u], lhs_tile[ty + 17u], rhs_tile[tx + 291u]);
    update(&c, lhs_tile[ty + 20u], lhs_tile[ty + 22u], rhs_tile[tx + 388u]);
    update(&c, lhs_tile[ty + 25u], lhs_tile[ty + 27u], rhs_tile[tx + 485u]);
    update(&c, lhs_tile[ty + 30u], lhs_tile[ty + 32u], rhs_tile[tx + 582u]);
    update(&c, lhs_tile[ty + 35u], lhs_tile[ty + 37u], rhs_tile[tx + 679u]);
    update(&c, lhs_tile[ty + 40u], lhs_tile[ty + 42u], rhs_tile[tx + 776u]);
    update(&c, lhs_tile[ty + 45u], lhs_tile[ty + 47u], rhs_tile[tx + 873u]);
    update(&c, lhs_tile[ty + 50u], lhs_tile[ty + 52u], rhs_tile[tx + 970u]);
    update(&c, lhs_tile[ty + 55u], lhs_tile[ty + 57u], rhs_tile[tx + 1067u]);
    update(&c, lhs_tile[ty + 60u], lhs_tile[ty + 62u], rhs_tile[tx + 1164u]);
    update(&c, lhs_tile[ty + 65u], lhs_tile[ty + 67u], rhs_tile[tx + 1261u]);
    update(&c, lhs_tile[ty + 70u], lhs_tile[ty + 72u], rhs_tile[tx + 1358u]);
    update(&c, lhs_tile[ty + 75u], lhs_tile[ty + 77u], rhs_tile[tx + 1455u]);
    workgroupBarrier();
  }
  let v1_column0 = in_2[(p.offset_2 + at_column_0 * p.stride_2_1) / 4u];
  let v3_0_0 = in_3[(p.offset_3 + at_row_0 * p.stride_3_0 + at_column_0 * p.stride_3_1) / 4u];
  let v3_1_0 = in_3[(p.offset_3 + at_row_1 * p.stride_3_0 + at_column_0 * p.stride_3_1) / 4u];
  let v3_2_0 = in_3[(p.offset_3 + at_row_2 * p.stride_3_0 + at_column_0 * p.stride_3_1) / 4u];
  let v3_3_0 = in_3[(p.offset_3 + at_row_3 * p.stride_3_0 + at_column_0 * p.stride_3_1) / 4u];
  let v3_4_0 = in_3[(p.offset_3 + at_row_4 * p.stride_3_0 + at_column_0 * p.stride_3_1) / 4u];
  let v3_5_0 = in_3[(p.offset_3 + at_row_5 * p.stride_3_0 + at_column_0 * p.stride_3_1) / 4u];
  let v3_6_0 = in_3[(p.offset_3 + at_row_6 * p.stride_3_0 + at_column_0 * p.stride_3_1) / 4u];
  let v3_7_0 = in_3[(p.offset_3 + at_row_7 * p.stride_3_0 + at_column_0 * p.stride_3_1) / 4u];
  let v16_column0 = in_4[(p.offset_4 + at_column_0 * p.stride_4_1) / 4u];
  let v18_column0 = in_5[(p.offset_5 + at_column_0 * p.stride_5_1) / 4u];
  let v0_0_0 = c.s0_0;
  let v0_1_0 = c.s1_0;
  let v0_2_0 = c.s2_0;
  let v0_3_0 = c.s3_0;
  let v0_4_0 = c.s4_0;
  let v0_5_0 = c.s5_0;
  let v0_6_0 = c.s6_0;
  let v0_7_0 = c.s7_0;
  let v2_0_0 = v0_0_0 + v1_column0;
  let v2_1_0 = v0_1_0 + v1_column0;
  let v2_2_0 = v0_2_0 + v1_column0;
  let v2_3_0 = v0_3_0 + v1_column0;
  let v2_4_0 = v0_4_0 + v1_column0;
  let v2_5_0 = v0_5_0 + v1_column0;
  let v2_6_0 = v0_6_0 + v1_column0;
  let v2_7_0 = v0_7_0 + v1_column0;
  let v4_0_0 = v2_0_0 + v3_0_0;
  let v4_1_0 = v2_1_0 + v3_1_0;
  let v4_2_0 = v2_2_0 + v3_2_0;
  let v4_3_0 = v2_3_0 + v3_3_0;
  let v4_4_0 = v2_4_0 + v3_4_0;
  let v4_5_0 = v2_5_0 + v3_5_0;
  let v4_6_0 = v2_6_0 + v3_6_0;
  let v4_7_0 = v2_7_0 + v3_7_0;
  let part5_0_0_word0 = v4_0_0;
  let part5_0_0_0 = part5_0_0_word0.x + part5_0_0_word0.y;
  let part5_0_1_0 = part5_0_0_word0.z + part5_0_0_word0.w;
  let part5_0_2_0 = part5_0_0_0 + part5_0_1_0;
  row_parts0[ty * 4u * 100u + tx] = bitcast<u32>(part5_0_2_0);
  let part5_1_0_word0 = v4_1_0;
  let part5_1_0_0 = part5_1_0_word0.x + part5_1_0_word0.y;
  let part5_1_1_0 = part5_1_0_word0.z + part5_1_0_word0.w;
  let part5_1_2_0 = part5_1_0_0 + part5_1_1_0;
  row_parts0[(ty * 4u + 1u) * 100u + tx] = bitcast<u32>(part5_1_2_0);
  let part5_2_0_word0 = v4_2_0;
  let part5_2_0_0 = part5_2_0_word0.x + part5_2_0_word0.y;
  let part5_2_1_0 = part5_2_0_word0.z + part5_2_0_word0.w;
  let part5_2_2_0 = part5_2_0_0 + part5_2_1_0;
  row_parts0[(ty * 4u + 2u) * 100u + tx] = bitcast<u32>(part5_2_2_0);
  let part5_3_0_word0 = v4_3_0;
  let part5_3_0_0 = part5_3_0_word0.x + part5_3_0_word0.y;
  let part5_3_1_0 = part5_3_0_word0.z + part5_3_0_word0.w;
  let part5_3_2_0 = part5_3_0_0 + part5_3_1_0;
  row_parts0[(ty * 4u + 3u) * 100u + tx] = bitcast<u32>(part5_3_2_0);
  let part5_4_0_word0 = v4_4_0;
  let part5_4_0_0 = part5_4_0_word0.x + part5_4_0_word0.y;
  let part5_4_1_0 = part5_4_0_word0.z + part5_4_0_word0.w;
  let part5_4_2_0 = part5_4_0_0 + part5_4_1_0;
  row_parts0[(ty * 4u + 8u) * 100u + tx] = bitcast<u32>(part5_4_2_0);
  let part5_5_0_word0 = v4_5_0;
  let part5_5_0_0 = part5_5_0_word0.x + part5_5_0_word0.y;
  let part5_5_1_0 = part5_5_0_word0.z + part5_5_0_word0.w;
  let part5_5_2_0 = part5_5_0_0 + part5_5_1_0;
  row_parts0[(ty * 4u + 9u) * 100u + tx] = bitcast<u32>(part5_5_2_0);
  let part5_6_0_word0 = v4_6_0;
  let part5_6_0_0 = part5_6_0_word0.x + part5_6_0_word0.y;
  let part5_6_1_0 = part5_6_0_word0.z + part5_6_0_word0.w;
  let part5_6_2_0 = part5_6_0_0 + part5_6_1_0;
  row_parts0[(ty * 4u + 10u) * 100u + tx] = bitcast<u32>(part5_6_2_0);
  let part5_7_0_word0 = v4_7_0;
  let part5_7_0_0 = part5_7_0_word0.x + part5_7_0_word0.y;
  let part5_7_1_0 = part5_7_0_word0.z + part5_7_0_word0.w;
  let part5_7_2_0 = part5_7_0_0 + part5_7_1_0;
  row_parts0[(ty * 4u + 11u) * 100u + tx] = bitcast<u32>(part5_7_2_0);
  workgroupBarrier();
  if local < 64u {
    let part_row = local / 4u;
    let part_group = local % 4u;
    let parts = part_row * 100u + part_group;
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
    let part16_word0 = bitcast<f32>(row_parts0[parts + 64u]);
    let part17_word0 = bitcast<f32>(row_parts0[parts + 68u]);
    let part18_word0 = bitcast<f32>(row_parts0[parts + 72u]);
    let part19_word0 = bitcast<f32>(row_parts0[parts + 76u]);
    let part20_word0 = bitcast<f32>(row_parts0[parts + 80u]);
    let part21_word0 = bitcast<f32>(row_parts0[parts + 84u]);
    let part22_word0 = bitcast<f32>(row_parts0[parts + 88u]);
    let part23_word0 = bitcast<f32>(row_parts0[parts + 92u]);
    let group_0_0 = part0_word0 + part1_word0;
    let group_1_0 = part2_word0 + part3_word0;
    let group_2_0 = part4_word0 + part5_word0;
    let group_3_0 = part6_word0 + part7_word0;
    let group_4_0 = part8_word0 + part9_word0;
    let group_5_0 = part10_word0 + part11_word0;
    let group_6_0 = part12_word0 + part13_word0;
    let group_7_0 = part14_word0 + part15_word0;
    let group_8_0 = part16_word0 + part17_word0;
    let group_9_0 = part18_word0 + part19_word0;
    let group_10_0 = part20_word0 + part21_word0;
    let group_11_0 = part22_word0 + part23_word0;
    let group_12_0 = group_0_0 + group_1_0;
    let group_13_0 = group_2_0 + group_3_0;
    let group_14_0 = group_4_0 + group_5_0;
    let group_15_0 = group_6_0 + group_7_0;
    let group_16_0 = group_8_0 + group_9_0;
    let group_17_0 = group_10_0 + group_11_0;
    let group_18_0 = group_12_0 + group_13_0;
    let group_19_0 = group_14_0 + group_15_0;
    let group_20_0 = group_16_0 + group_17_0;
    let group_21_0 = group_18_0 + group_19_0;
    let group_22_0 = group_21_0 + group_20_0;
    row_groups0[part_row][part_group] = bitcast<u32>(group_22_0);
  }
  workgroupBarrier();
  let groups5_0_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u]);
  let groups5_0_0_0 = groups5_0_word0.x + groups5_0_word0.y;
  let groups5_0_1_0 = groups5_0_word0.z + groups5_0_word0.w;
  let groups5_0_2_0 = groups5_0_0_0 + groups5_0_1_0;
  let v5_row0 = groups5_0_2_0;
  let groups5_1_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 1u]);
  let groups5_1_0_0 = groups5_1_word0.x + groups5_1_word0.y;
  let groups5_1_1_0 = groups5_1_word0.z + groups5_1_word0.w;
  let groups5_1_2_0 = groups5_1_0_0 + groups5_1_1_0;
  let v5_row1 = groups5_1_2_0;
  let groups5_2_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 2u]);
  let groups5_2_0_0 = groups5_2_word0.x + groups5_2_word0.y;
  let groups5_2_1_0 = groups5_2_word0.z + groups5_2_word0.w;
  let groups5_2_2_0 = groups5_2_0_0 + groups5_2_1_0;
  let v5_row2 = groups5_2_2_0;
  let groups5_3_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 3u]);
  let groups5_3_0_0 = groups5_3_word0.x + groups5_3_word0.y;
  let groups5_3_1_0 = groups5_3_word0.z + groups5_3_word0.w;
  let groups5_3_2_0 = groups5_3_0_0 + groups5_3_1_0;
  let v5_row3 = groups5_3_2_0;
  let groups5_4_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 8u]);
  let groups5_4_0_0 = groups5_4_word0.x + groups5_4_word0.y;
  let groups5_4_1_0 = groups5_4_word0.z + groups5_4_word0.w;
  let groups5_4_2_0 = groups5_4_0_0 + groups5_4_1_0;
  let v5_row4 = groups5_4_2_0;
  let groups5_5_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 9u]);
  let groups5_5_0_0 = groups5_5_word0.x + groups5_5_word0.y;
  let groups5_5_1_0 = groups5_5_word0.z + groups5_5_word0.w;
  let groups5_5_2_0 = groups5_5_0_0 + groups5_5_1_0;
  let v5_row5 = groups5_5_2_0;
  let groups5_6_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 10u]);
  let groups5_6_0_0 = groups5_6_word0.x + groups5_6_word0.y;
  let groups5_6_1_0 = groups5_6_word0.z + groups5_6_word0.w;
  let groups5_6_2_0 = groups5_6_0_0 + groups5_6_1_0;
  let v5_row6 = groups5_6_2_0;
  let groups5_7_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 11u]);
  let groups5_7_0_0 = groups5_7_word0.x + groups5_7_word0.y;
  let groups5_7_1_0 = groups5_7_word0.z + groups5_7_word0.w;
  let groups5_7_2_0 = groups5_7_0_0 + groups5_7_1_0;
  let v5_row7 = groups5_7_2_0;
  let v7_row0 = v5_row0 / 384.0f;
  let v7_row1 = v5_row1 / 384.0f;
  let v7_row2 = v5_row2 / 384.0f;
  let v7_row3 = v5_row3 / 384.0f;
  let v7_row4 = v5_row4 / 384.0f;
  let v7_row5 = v5_row5 / 384.0f;
  let v7_row6 = v5_row6 / 384.0f;
  let v7_row7 = v5_row7 / 384.0f;
  let v8_0_0 = v4_0_0 - vec4<f32>(v7_row0);
  let v8_1_0 = v4_1_0 - vec4<f32>(v7_row1);
  let v8_2_0 = v4_2_0 - vec4<f32>(v7_row2);
  let v8_3_0 = v4_3_0 - vec4<f32>(v7_row3);
  let v8_4_0 = v4_4_0 - vec4<f32>(v7_row4);
  let v8_5_0 = v4_5_0 - vec4<f32>(v7_row5);
  let v8_6_0 = v4_6_0 - vec4<f32>(v7_row6);
  let v8_7_0 = v4_7_0 - vec4<f32>(v7_row7);
  let v9_0_0 = v8_0_0 * v8_0_0;
  let v9_1_0 = v8_1_0 * v8_1_0;
  let v9_2_0 = v8_2_0 * v8_2_0;
  let v9_3_0 = v8_3_0 * v8_3_0;
  let v9_4_0 = v8_4_0 * v8_4_0;
  let v9_5_0 = v8_5_0 * v8_5_0;
  let v9_6_0 = v8_6_0 * v8_6_0;
  let v9_7_0 = v8_7_0 * v8_7_0;
  let part10_0_0_word0 = v9_0_0;
  let part10_0_0_0 = part10_0_0_word0.x + part10_0_0_word0.y;
  let part10_0_1_0 = part10_0_0_word0.z + part10_0_0_word0.w;
  let part10_0_2_0 = part10_0_0_0 + part10_0_1_0;
  row_parts0[ty * 4u * 100u + tx] = bitcast<u32>(part10_0_2_0);
  let part10_1_0_word0 = v9_1_0;
  let part10_1_0_0 = part10_1_0_word0.x + part10_1_0_word0.y;
  let part10_1_1_0 = part10_1_0_word0.z + part10_1_0_word0.w;
  let part10_1_2_0 = part10_1_0_0 + part10_1_1_0;
  row_parts0[(ty * 4u + 1u) * 100u + tx] = bitcast<u32>(part10_1_2_0);
  let part10_2_0_word0 = v9_2_0;
  let part10_2_0_0 = part10_2_0_word0.x + part10_2_0_word0.y;
  let part10_2_1_0 = part10_2_0_word0.z + part10_2_0_word0.w;
  let part10_2_2_0 = part10_2_0_0 + part10_2_1_0;
  row_parts0[(ty * 4u + 2u) * 100u + tx] = bitcast<u32>(part10_2_2_0);
  let part10_3_0_word0 = v9_3_0;
  let part10_3_0_0 = part10_3_0_word0.x + part10_3_0_word0.y;
  let part10_3_1_0 = part10_3_0_word0.z + part10_3_0_word0.w;
  let part10_3_2_0 = part10_3_0_0 + part10_3_1_0;
  row_parts0[(ty * 4u + 3u) * 100u + tx] = bitcast<u32>(part10_3_2_0);
  let part10_4_0_word0 = v9_4_0;
  let part10_4_0_0 = part10_4_0_word0.x + part10_4_0_word0.y;
  let part10_4_1_0 = part10_4_0_word0.z + part10_4_0_word0.w;
  let part10_4_2_0 = part10_4_0_0 + part10_4_1_0;
  row_parts0[(ty * 4u + 8u) * 100u + tx] = bitcast<u32>(part10_4_2_0);
  let part10_5_0_word0 = v9_5_0;
  let part10_5_0_0 = part10_5_0_word0.x + part10_5_0_word0.y;
  let part10_5_1_0 = part10_5_0_word0.z + part10_5_0_word0.w;
  let part10_5_2_0 = part10_5_0_0 + part10_5_1_0;
  row_parts0[(ty * 4u + 9u) * 100u + tx] = bitcast<u32>(part10_5_2_0);
  let part10_6_0_word0 = v9_6_0;
  let part10_6_0_0 = part10_6_0_word0.x + part10_6_0_word0.y;
  let part10_6_1_0 = part10_6_0_word0.z + part10_6_0_word0.w;
  let part10_6_2_0 = part10_6_0_0 + part10_6_1_0;
  row_parts0[(ty * 4u + 10u) * 100u + tx] = bitcast<u32>(part10_6_2_0);
  let part10_7_0_word0 = v9_7_0;
  let part10_7_0_0 = part10_7_0_word0.x + part10_7_0_word0.y;
  let part10_7_1_0 = part10_7_0_word0.z + part10_7_0_word0.w;
  let part10_7_2_0 = part10_7_0_0 + part10_7_1_0;
  row_parts0[(ty * 4u + 11u) * 100u + tx] = bitcast<u32>(part10_7_2_0);
  workgroupBarrier();
  if local < 64u {
    let part_row = local / 4u;
    let part_group = local % 4u;
    let parts = part_row * 100u + part_group;
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
    let part16_word0 = bitcast<f32>(row_parts0[parts + 64u]);
    let part17_word0 = bitcast<f32>(row_parts0[parts + 68u]);
    let part18_word0 = bitcast<f32>(row_parts0[parts + 72u]);
    let part19_word0 = bitcast<f32>(row_parts0[parts + 76u]);
    let part20_word0 = bitcast<f32>(row_parts0[parts + 80u]);
    let part21_word0 = bitcast<f32>(row_parts0[parts + 84u]);
    let part22_word0 = bitcast<f32>(row_parts0[parts + 88u]);
    let part23_word0 = bitcast<f32>(row_parts0[parts + 92u]);
    let group_0_0 = part0_word0 + part1_word0;
    let group_1_0 = part2_word0 + part3_word0;
    let group_2_0 = part4_word0 + part5_word0;
    let group_3_0 = part6_word0 + part7_word0;
    let group_4_0 = part8_word0 + part9_word0;
    let group_5_0 = part10_word0 + part11_word0;
    let group_6_0 = part12_word0 + part13_word0;
    let group_7_0 = part14_word0 + part15_word0;
    let group_8_0 = part16_word0 + part17_word0;
    let group_9_0 = part18_word0 + part19_word0;
    let group_10_0 = part20_word0 + part21_word0;
    let group_11_0 = part22_word0 + part23_word0;
    let group_12_0 = group_0_0 + group_1_0;
    let group_13_0 = group_2_0 + group_3_0;
    let group_14_0 = group_4_0 + group_5_0;
    let group_15_0 = group_6_0 + group_7_0;
    let group_16_0 = group_8_0 + group_9_0;
    let group_17_0 = group_10_0 + group_11_0;
    let group_18_0 = group_12_0 + group_13_0;
    let group_19_0 = group_14_0 + group_15_0;
    let group_20_0 = group_16_0 + group_17_0;
    let group_21_0 = group_18_0 + group_19_0;
    let group_22_0 = group_21_0 + group_20_0;
    row_groups0[part_row][part_group] = bitcast<u32>(group_22_0);
  }
  workgroupBarrier();
  let groups10_0_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u]);
  let groups10_0_0_0 = groups10_0_word0.x + groups10_0_word0.y;
  let groups10_0_1_0 = groups10_0_word0.z + groups10_0_word0.w;
  let groups10_0_2_0 = groups10_0_0_0 + groups10_0_1_0;
  let v10_row0 = groups10_0_2_0;
  let groups10_1_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 1u]);
  let groups10_1_0_0 = groups10_1_word0.x + groups10_1_word0.y;
  let groups10_1_1_0 = groups10_1_word0.z + groups10_1_word0.w;
  let groups10_1_2_0 = groups10_1_0_0 + groups10_1_1_0;
  let v10_row1 = groups10_1_2_0;
  let groups10_2_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 2u]);
  let groups10_2_0_0 = groups10_2_word0.x + groups10_2_word0.y;
  let groups10_2_1_0 = groups10_2_word0.z + groups10_2_word0.w;
  let groups10_2_2_0 = groups10_2_0_0 + groups10_2_1_0;
  let v10_row2 = groups10_2_2_0;
  let groups10_3_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 3u]);
  let groups10_3_0_0 = groups10_3_word0.x + groups10_3_word0.y;
  let groups10_3_1_0 = groups10_3_word0.z + groups10_3_word0.w;
  let groups10_3_2_0 = groups10_3_0_0 + groups10_3_1_0;
  let v10_row3 = groups10_3_2_0;
  let groups10_4_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 8u]);
  let groups10_4_0_0 = groups10_4_word0.x + groups10_4_word0.y;
  let groups10_4_1_0 = groups10_4_word0.z + groups10_4_word0.w;
  let groups10_4_2_0 = groups10_4_0_0 + groups10_4_1_0;
  let v10_row4 = groups10_4_2_0;
  let groups10_5_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 9u]);
  let groups10_5_0_0 = groups10_5_word0.x + groups10_5_word0.y;
  let groups10_5_1_0 = groups10_5_word0.z + groups10_5_word0.w;
  let groups10_5_2_0 = groups10_5_0_0 + groups10_5_1_0;
  let v10_row5 = groups10_5_2_0;
  let groups10_6_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 10u]);
  let groups10_6_0_0 = groups10_6_word0.x + groups10_6_word0.y;
  let groups10_6_1_0 = groups10_6_word0.z + groups10_6_word0.w;
  let groups10_6_2_0 = groups10_6_0_0 + groups10_6_1_0;
  let v10_row6 = groups10_6_2_0;
  let groups10_7_word0 = bitcast<vec4<f32>>(row_groups0[ty * 4u + 11u]);
  let groups10_7_0_0 = groups10_7_word0.x + groups10_7_word0.y;
  let groups10_7_1_0 = groups10_7_word0.z + groups10_7_word0.w;
  let groups10_7_2_0 = groups10_7_0_0 + groups10_7_1_0;
  let v10_row7 = groups10_7_2_0;
  let v11_row0 = v10_row0 / 384.0f;
  let v11_row1 = v10_row1 / 384.0f;
  let v11_row2 = v10_row2 / 384.0f;
  let v11_row3 = v10_row3 / 384.0f;
  let v11_row4 = v10_row4 / 384.0f;
  let v11_row5 = v10_row5 / 384.0f;
  let v11_row6 = v10_row6 / 384.0f;
  let v11_row7 = v10_row7 / 384.0f;
  let v13_row0 = v11_row0 + 1e-5f;
  let v13_row1 = v11_row1 + 1e-5f;
  let v13_row2 = v11_row2 + 1e-5f;
  let v13_row3 = v11_row3 + 1e-5f;
  let v13_row4 = v11_row4 + 1e-5f;
  let v13_row5 = v11_row5 + 1e-5f;
  let v13_row6 = v11_row6 + 1e-5f;
  let v13_row7 = v11_row7 + 1e-5f;
  let v14_row0 = fuse_rsqrt1(v13_row0);
  let v14_row1 = fuse_rsqrt1(v13_row1);
  let v14_row2 = fuse_rsqrt1(v13_row2);
  let v14_row3 = fuse_rsqrt1(v13_row3);
  let v14_row4 = fuse_rsqrt1(v13_row4);
  let v14_row5 = fuse_rsqrt1(v13_row5);
  let v14_row6 = fuse_rsqrt1(v13_row6);
  let v14_row7 = fuse_rsqrt1(v13_row7);
  let v15_0_0 = v8_0_0 * vec4<f32>(v14_row0);
  let v15_1_0 = v8_1_0 * vec4<f32>(v14_row1);
  let v15_2_0 = v8_2_0 * vec4<f32>(v14_row2);
  let v15_3_0 = v8_3_0 * vec4<f32>(v14_row3);
  let v15_4_0 = v8_4_0 * vec4<f32>(v14_row4);
  let v15_5_0 = v8_5_0 * vec4<f32>(v14_row5);
  let v15_6_0 = v8_6_0 * vec4<f32>(v14_row6);
  let v15_7_0 = v8_7_0 * vec4<f32>(v14_row7);
  let v17_0_0 = v15_0_0 * v16_column0;
  let v17_1_0 = v15_1_0 * v16_column0;
  let v17_2_0 = v15_2_0 * v16_column0;
  let v17_3_0 = v15_3_0 * v16_column0;
  let v17_4_0 = v15_4_0 * v16_column0;
  let v17_5_0 = v15_5_0 * v16_column0;
  let v17_6_0 = v15_6_0 * v16_column0;
  let v17_7_0 = v15_7_0 * v16_column0;
  let v19_0_0 = v17_0_0 + v18_column0;
  let v19_1_0 = v17_1_0 + v18_column0;
  let v19_2_0 = v17_2_0 + v18_column0;
  let v19_3_0 = v17_3_0 + v18_column0;
  let v19_4_0 = v17_4_0 + v18_column0;
  let v19_5_0 = v17_5_0 + v18_column0;
  let v19_6_0 = v17_6_0 + v18_column0;
  let v19_7_0 = v17_7_0 + v18_column0;
  if row_0 < p.extent_0 {
    if column_0 < p.extent_1 {
      let at = (batch * p.extent_0 + row_0) * p.extent_1 + column_0;
      out_0[at / 4u] = v19_0_0;
    }
  }
  if row_1 < p.extent_0 {
    if column_0 < p.extent_1 {
      let at = (batch * p.extent_0 + row_1) * p.extent_1 + column_0;
      out_0[at / 4u] = v19_1_0;
    }
  }
  if row_2 < p.extent_0 {
    if column_0 < p.extent_1 {
      let at = (batch * p.extent_0 + row_2) * p.extent_1 + column_0;
      out_0[at / 4u] = v19_2_0;
    }
  }
  if row_3 < p.extent_0 {
    if column_0 < p.extent_1 {
      let at = (batch * p.extent_0 + row_3) * p.extent_1 + column_0;
      out_0[at / 4u] = v19_3_0;
    }
  }
  if row_4 < p.extent_0 {
    if column_0 < p.extent_1 {
      let at = (batch * p.extent_0 + row_4) * p.extent_1 + column_0;
      out_0[at / 4u] = v19_4_0;
    }
  }
  if row_5 < p.extent_0 {
    if column_0 < p.extent_1 {
      let at = (batch * p.extent_0 + row_5) * p.extent_1 + column_0;
      out_0[at / 4u] = v19_5_0;
    }
  }
  if row_6 < p.extent_0 {
    if column_0 < p.extent_1 {
      let at = (batch * p.extent_0 + row_6) * p.extent_1 + column_0;
      out_0[at / 4u] = v19_6_0;
    }
  }
  if row_7 < p.extent_0 {
    if column_0 < p.extent_1 {
      let at = (batch * p.extent_0 + row_7) * p.extent_1 + column_0;
      out_0[at / 4u] = v19_7_0;
    }
  }
}
