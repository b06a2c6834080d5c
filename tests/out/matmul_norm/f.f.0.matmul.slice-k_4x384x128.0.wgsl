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
var<workgroup> row_parts0: array<u32, 400>;
var<workgroup> row_groups0: array<vec4<u32>, 4>;
var<workgroup> lhs_tile: array<vec4<f32>, 256>;
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
fn b_read(at0: u32, at1: u32) -> vec4<f32> {
  let b_x1 = in_1[(p.offset_1 + at0 * p.stride_1_0 + at1) / 4u];
  return b_x1;
}
var<workgroup> handed: array<vec4<f32>, 1536>;

@compute @workgroup_size(768)
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
  let row0 = tile / p.column_tiles * 4u;
  let column0 = tile % p.column_tiles * 384u;
  let k_group = local / 96u;
  let position = local % 96u;
  let tx = position % 96u;
  let ty = position / 96u;
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
  let at_column_0 = min(column_0, p.extent_1 - 4u);
  let a0_o = local / 32u;
  let a0_k = local % 32u * 4u;
  let a0_to = a0_k * 2u + a0_o / 4u;
  let a0_at = min(row0 + a0_o, p.extent_0 - 1u);
  let a0_base0 = p.offset_0 + a0_at * p.stride_0_0;
  var a0_x0: vec4<f32>;
  if k_begin < k_end {
    if local < 128u {
      let start = min(k_begin + a0_k, k_end - 4u);
      a0_x0 = in_0[(a0_base0 + start) / 4u];
    }
  }
  for (var k0 = k_begin; k0 < k_end; k0 += 128u) {
    if local < 128u {
      let value = select(vec4<f32>(), a0_x0, k0 + a0_k < k_end);
      lhs_tile[a0_to][a0_o % 4u] = value.x;
      lhs_tile[a0_to + 2u][a0_o % 4u] = value.y;
      lhs_tile[a0_to + 4u][a0_o % 4u] = value.z;
      lhs_tile[a0_to + 6u][a0_o % 4u] = value.w;
    }
    workgroupBarrier();
    if k0 + 128u < k_end {
      if local < 128u {
        let start = min(k0 + 128u + a0_k, k_end - 4u);
        a0_x0 = in_0[(a0_base0 + start) / 4u];
      }
    }
    let step_end = min(k0 + 128u, k_end);
    for (var k = k0 + k_group * 8u; k < step_end; k += 64u) {
      let slice = (k - k0) * 2u + ty;
      let right0_0_0 = select(vec4<f32>(), b_read(min(k, k_end - 1u), min(column0 + tx * 4u, p.extent_1 - 4u)), k < k_end);
      let right0_0_1 = select(vec4<f32>(), b_read(min(k + 1u, k_end - 1u), min(column0 + tx * 4u, p.extent_1 - 4u)), k + 1u < k_end);
      let right0_0_2 = select(vec4<f32>(), b_read(min(k + 2u, k_end - 1u), min(column0 + tx * 4u, p.extent_1 - 4u)), k + 2u < k_end);
      let right0_0_3 = select(vec4<f32>(), b_read(min(k + 3u, k_end - 1u), min(column0 + tx * 4u, p.extent_1 - 4u)), k + 3u < k_end);
      let right0_0_4 = select(vec4<f32>(), b_read(min(k + 4u, k_end - 1u), min(column0 + tx * 4u, p.extent_1 - 4u)), k + 4u < k_end);
      let right0_0_5 = select(vec4<f32>(), b_read(min(k + 5u, k_end - 1u), min(column0 + tx * 4u, p.extent_1 - 4u)), k + 5u < k_end);
      let right0_0_6 = select(vec4<f32>(), b_read(min(k + 6u, k_end - 1u), min(column0 + tx * 4u, p.extent_1 - 4u)), k + 6u < k_end);
      let right0_0_7 = select(vec4<f32>(), b_read(min(k + 7u, k_end - 1u), min(column0 + tx * 4u, p.extent_1 - 4u)), k + 7u < k_end);
      update(&c, lhs_tile[slice], right0_0_0);
      update(&c, lhs_tile[slice + 2u], right0_0_1);
      update(&c, lhs_tile[slice + 4u], right0_0_2);
      update(&c, lhs_tile[slice + 6u], right0_0_3);
      update(&c, lhs_tile[slice + 8u], right0_0_4);
      update(&c, lhs_tile[slice + 10u], right0_0_5);
      update(&c, lhs_tile[slice + 12u], right0_0_6);
      update(&c, lhs_tile[slice + 14u], right0_0_7);
    }
    workgroupBarrier();
  }
  if k_group >= 4u && k_group < 8u {
    handed[(k_group - 4u) * 4u * 96u + position] = c.s0_0;
    handed[((k_group - 4u) * 4u + 1u) * 96u + position] = c.s1_0;
    handed[((k_group - 4u) * 4u + 2u) * 96u + position] = c.s2_0;
    handed[((k_group - 4u) * 4u + 3u) * 96u + position] = c.s3_0;
  }
  workgroupBarrier();
  if k_group < 4u {
    c.s0_0 += handed[k_group * 4u * 96u + position];
    c.s1_0 += handed[(k_group * 4u + 1u) * 96u + position];
    c.s2_0 += handed[(k_group * 4u + 2u) * 96u + position];
    c.s3_0 += handed[(k_group * 4u + 3u) * 96u + position];
  }
  workgroupBarrier();
  if k_group >= 2u && k_group < 4u {
    handed[(k_group - 2u) * 4u * 96u + position] = c.s0_0;
    handed[((k_group - 2u) * 4u + 1u) * 96u + position] = c.s1_0;
    handed[((k_group - 2u) * 4u + 2u) * 96u + position] = c.s2_0;
    handed[((k_group - 2u) * 4u + 3u) * 96u + position] = c.s3_0;
  }
  workgroupBarrier();
  if k_group < 2u {
    c.s0_0 += handed[k_group * 4u * 96u + position];
    c.s1_0 += handed[(k_group * 4u + 1u) * 96u + position];
    c.s2_0 += handed[(k_group * 4u + 2u) * 96u + position];
    c.s3_0 += handed[(k_group * 4u + 3u) * 96u + position];
  }
  workgroupBarrier();
  if k_group >= 1u && k_group < 2u {
    handed[(k_group - 1u) * 4u * 96u + position] = c.s0_0;
    handed[((k_group - 1u) * 4u + 1u) * 96u + position] = c.s1_0;
    handed[((k_group - 1u) * 4u + 2u) * 96u + position] = c.s2_0;
    handed[((k_group - 1u) * 4u + 3u) * 96u + position] = c.s3_0;
  }
  workgroupBarrier();
  if k_group < 1u {
    c.s0_0 += handed[k_group * 4u * 96u + position];
    c.s1_0 += handed[(k_group * 4u + 1u) * 96u + position];
    c.s2_0 += handed[(k_group * 4u + 2u) * 96u + position];
    c.s3_0 += handed[(k_group * 4u + 3u) * 96u + position];
  }
  workgroupBarrier();
  let v1_column0 = in_2[(p.offset_2 + at_column_0 * p.stride_2_1) / 4u];
  let v3_0_0 = in_3[(p.offset_3 + at_row_0 * p.stride_3_0 + at_column_0 * p.stride_3_1) / 4u];
  let v3_1_0 = in_3[(p.offset_3 + at_row_1 * p.stride_3_0 + at_column_0 * p.stride_3_1) / 4u];
  let v3_2_0 = in_3[(p.offset_3 + at_row_2 * p.stride_3_0 + at_column_0 * p.stride_3_1) / 4u];
  let v3_3_0 = in_3[(p.offset_3 + at_row_3 * p.stride_3_0 + at_column_0 * p.stride_3_1) / 4u];
  let v16_column0 = in_4[(p.offset_4 + at_column_0 * p.stride_4_1) / 4u];
  let v18_column0 = in_5[(p.offset_5 + at_column_0 * p.stride_5_1) / 4u];
  let v0_0_0 = c.s0_0;
  let v0_1_0 = c.s1_0;
  let v0_2_0 = c.s2_0;
  let v0_3_0 = c.s3_0;
  let v2_0_0 = v0_0_0 + v1_column0;
  let v2_1_0 = v0_1_0 + v1_column0;
  let v2_2_0 = v0_2_0 + v1_column0;
  let v2_3_0 = v0_3_0 + v1_column0;
  let v4_0_0 = v2_0_0 + v3_0_0;
  let v4_1_0 = v2_1_0 + v3_1_0;
  let v4_2_0 = v2_2_0 + v3_2_0;
  let v4_3_0 = v2_3_0 + v3_3_0;
  if k_group == 0u {
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
  }
  workgroupBarrier();
  if local < 16u {
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
  let v7_row0 = v5_row0 / 384.0f;
  let v7_row1 = v5_row1 / 384.0f;
  let v7_row2 = v5_row2 / 384.0f;
  let v7_row3 = v5_row3 / 384.0f;
  let v8_0_0 = v4_0_0 - vec4<f32>(v7_row0);
  let v8_1_0 = v4_1_0 - vec4<f32>(v7_row1);
  let v8_2_0 = v4_2_0 - vec4<f32>(v7_row2);
  let v8_3_0 = v4_3_0 - vec4<f32>(v7_row3);
  let v9_0_0 = v8_0_0 * v8_0_0;
  let v9_1_0 = v8_1_0 * v8_1_0;
  let v9_2_0 = v8_2_0 * v8_2_0;
  let v9_3_0 = v8_3_0 * v8_3_0;
  if k_group == 0u {
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
  }
  workgroupBarrier();
  if local < 16u {
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
  let v11_row0 = v10_row0 / 384.0f;
  let v11_row1 = v10_row1 / 384.0f;
  let v11_row2 = v10_row2 / 384.0f;
  let v11_row3 = v10_row3 / 384.0f;
  let v13_row0 = v11_row0 + 1e-5f;
  let v13_row1 = v11_row1 + 1e-5f;
  let v13_row2 = v11_row2 + 1e-5f;
  let v13_row3 = v11_row3 + 1e-5f;
  let v14_row0 = fuse_rsqrt1(v13_row0);
  let v14_row1 = fuse_rsqrt1(v13_row1);
  let v14_row2 = fuse_rsqrt1(v13_row2);
  let v14_row3 = fuse_rsqrt1(v13_row3);
  let v15_0_0 = v8_0_0 * vec4<f32>(v14_row0);
  let v15_1_0 = v8_1_0 * vec4<f32>(v14_row1);
  let v15_2_0 = v8_2_0 * vec4<f32>(v14_row2);
  let v15_3_0 = v8_3_0 * vec4<f32>(v14_row3);
  let v17_0_0 = v15_0_0 * v16_column0;
  let v17_1_0 = v15_1_0 * v16_column0;
  let v17_2_0 = v15_2_0 * v16_column0;
  let v17_3_0 = v15_3_0 * v16_column0;
  let v19_0_0 = v17_0_0 + v18_column0;
  let v19_1_0 = v17_1_0 + v18_column0;
  let v19_2_0 = v17_2_0 + v18_column0;
  let v19_3_0 = v17_3_0 + v18_column0;
  if k_group == 0u {
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
  }
}
