struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  offset_2: u32,
  offset_3: u32,
  stride_3_0: u32,
  workgroups: u32,
  column_tiles: u32,
  offset_1: u32,
  stride_1_0: u32,
  offset_0: u32,
  stride_0_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in_2: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> in_3: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> out_0: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_fast_math = false;

fn fuse_is_nan4(x: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}
fn fuse_relu4(x: vec4<f32>) -> vec4<f32> {
  if fuse_fast_math {
    return max(x, vec4<f32>(0.0));
  }
  return select(max(x, vec4<f32>(0.0)), x, fuse_is_nan4(x));
}
fn finish(batch: u32, row: u32, column: u32, sum: vec4<f32>) {
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let x2 = in_2[(p.offset_2 + column) / 4u];
  let x3 = in_3[(p.offset_3 + row * p.stride_3_0 + column) / 4u];
  let v0 = sum;
  let v1 = x2;
  let v2 = v0 + v1;
  let v3 = x3;
  let v4 = v2 + v3;
  let v5 = fuse_relu4(v4);
  let at = (batch * p.extent_0 + row) * p.extent_1 + column;
  out_0[at / 4u] = v5;
}
var<workgroup> partial: array<vec4<f32>, 512>;
fn b_read(at0: u32, at1: u32) -> vec4<f32> {
  let b_x1 = in_1[(p.offset_1 + at0 * p.stride_1_0 + at1) / 4u];
  return b_x1;
}
fn a_read(at0: u32, at1: u32) -> vec4<f32> {
  let a_x0 = in_0[(p.offset_0 + at0 * p.stride_0_0 + at1) / 4u];
  return a_x0;
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let id = workgroup.x + workgroup.y * workgroups.x;
  if id >= p.workgroups {
    return;
  }
  let lane = local % 4u;
  let k_group = local / 4u;
  let batch = id / p.column_tiles;
  let k_begin = 0u;
  let k_end = p.extent_2;
  let first = id % p.column_tiles * 4u;
  let columns_in_units = p.extent_1 / 4u;
  let stores = first + lane < columns_in_units;
  let column = min(first + lane, columns_in_units - 1u) * 4u;
  var sum_r0 = vec4<f32>();
  var sum_r1 = vec4<f32>();
  var sum_r2 = vec4<f32>();
  var sum_r3 = vec4<f32>();
  var sum_r4 = vec4<f32>();
  var sum_r5 = vec4<f32>();
  var sum_r6 = vec4<f32>();
  var sum_r7 = vec4<f32>();
  for (var k = k_begin + k_group * 8u; k < k_end; k += 512u) {
    let right_0 = b_read(k, column);
    let right_1 = b_read(k + 1u, column);
    let right_2 = b_read(k + 2u, column);
    let right_3 = b_read(k + 3u, column);
    let right_4 = b_read(k + 4u, column);
    let right_5 = b_read(k + 5u, column);
    let right_6 = b_read(k + 6u, column);
    let right_7 = b_read(k + 7u, column);
    {
      let left0 = a_read(0u, k);
      let left1 = a_read(0u, k + 4u);
      sum_r0 = fma(vec4<f32>(left0.x), right_0, sum_r0);
      sum_r0 = fma(vec4<f32>(left0.y), right_1, sum_r0);
      sum_r0 = fma(vec4<f32>(left0.z), right_2, sum_r0);
      sum_r0 = fma(vec4<f32>(left0.w), right_3, sum_r0);
      sum_r0 = fma(vec4<f32>(left1.x), right_4, sum_r0);
      sum_r0 = fma(vec4<f32>(left1.y), right_5, sum_r0);
      sum_r0 = fma(vec4<f32>(left1.z), right_6, sum_r0);
      sum_r0 = fma(vec4<f32>(left1.w), right_7, sum_r0);
    }
    {
      let left0 = a_read(min(1u, p.extent_0 - 1u), k);
      let left1 = a_read(min(1u, p.extent_0 - 1u), k + 4u);
      sum_r1 = fma(vec4<f32>(left0.x), right_0, sum_r1);
      sum_r1 = fma(vec4<f32>(left0.y), right_1, sum_r1);
      sum_r1 = fma(vec4<f32>(left0.z), right_2, sum_r1);
      sum_r1 = fma(vec4<f32>(left0.w), right_3, sum_r1);
      sum_r1 = fma(vec4<f32>(left1.x), right_4, sum_r1);
      sum_r1 = fma(vec4<f32>(left1.y), right_5, sum_r1);
      sum_r1 = fma(vec4<f32>(left1.z), right_6, sum_r1);
      sum_r1 = fma(vec4<f32>(left1.w), right_7, sum_r1);
    }
    {
      let left0 = a_read(min(2u, p.extent_0 - 1u), k);
      let left1 = a_read(min(2u, p.extent_0 - 1u), k + 4u);
      sum_r2 = fma(vec4<f32>(left0.x), right_0, sum_r2);
      sum_r2 = fma(vec4<f32>(left0.y), right_1, sum_r2);
      sum_r2 = fma(vec4<f32>(left0.z), right_2, sum_r2);
      sum_r2 = fma(vec4<f32>(left0.w), right_3, sum_r2);
      sum_r2 = fma(vec4<f32>(left1.x), right_4, sum_r2);
      sum_r2 = fma(vec4<f32>(left1.y), right_5, sum_r2);
      sum_r2 = fma(vec4<f32>(left1.z), right_6, sum_r2);
      sum_r2 = fma(vec4<f32>(left1.w), right_7, sum_r2);
    }
    {
      let left0 = a_read(min(3u, p.extent_0 - 1u), k);
      let left1 = a_read(min(3u, p.extent_0 - 1u), k + 4u);
      sum_r3 = fma(vec4<f32>(left0.x), right_0, sum_r3);
      sum_r3 = fma(vec4<f32>(left0.y), right_1, sum_r3);
      sum_r3 = fma(vec4<f32>(left0.z), right_2, sum_r3);
      sum_r3 = fma(vec4<f32>(left0.w), right_3, sum_r3);
      sum_r3 = fma(vec4<f32>(left1.x), right_4, sum_r3);
      sum_r3 = fma(vec4<f32>(left1.y), right_5, sum_r3);
      sum_r3 = fma(vec4<f32>(left1.z), right_6, sum_r3);
      sum_r3 = fma(vec4<f32>(left1.w), right_7, sum_r3);
    }
    if p.extent_0 > 4u {
      {
        let left0 = a_read(min(4u, p.extent_0 - 1u), k);
        let left1 = a_read(min(4u, p.extent_0 - 1u), k + 4u);
        sum_r4 = fma(vec4<f32>(left0.x), right_0, sum_r4);
        sum_r4 = fma(vec4<f32>(left0.y), right_1, sum_r4);
        sum_r4 = fma(vec4<f32>(left0.z), right_2, sum_r4);
        sum_r4 = fma(vec4<f32>(left0.w), right_3, sum_r4);
        sum_r4 = fma(vec4<f32>(left1.x), right_4, sum_r4);
        sum_r4 = fma(vec4<f32>(left1.y), right_5, sum_r4);
        sum_r4 = fma(vec4<f32>(left1.z), right_6, sum_r4);
        sum_r4 = fma(vec4<f32>(left1.w), right_7, sum_r4);
      }
      {
        let left0 = a_read(min(5u, p.extent_0 - 1u), k);
        let left1 = a_read(min(5u, p.extent_0 - 1u), k + 4u);
        sum_r5 = fma(vec4<f32>(left0.x), right_0, sum_r5);
        sum_r5 = fma(vec4<f32>(left0.y), right_1, sum_r5);
        sum_r5 = fma(vec4<f32>(left0.z), right_2, sum_r5);
        sum_r5 = fma(vec4<f32>(left0.w), right_3, sum_r5);
        sum_r5 = fma(vec4<f32>(left1.x), right_4, sum_r5);
        sum_r5 = fma(vec4<f32>(left1.y), right_5, sum_r5);
        sum_r5 = fma(vec4<f32>(left1.z), right_6, sum_r5);
        sum_r5 = fma(vec4<f32>(left1.w), right_7, sum_r5);
      }
      {
        let left0 = a_read(min(6u, p.extent_0 - 1u), k);
        let left1 = a_read(min(6u, p.extent_0 - 1u), k + 4u);
        sum_r6 = fma(vec4<f32>(left0.x), right_0, sum_r6);
        sum_r6 = fma(vec4<f32>(left0.y), right_1, sum_r6);
        sum_r6 = fma(vec4<f32>(left0.z), right_2, sum_r6);
        sum_r6 = fma(vec4<f32>(left0.w), right_3, sum_r6);
        sum_r6 = fma(vec4<f32>(left1.x), right_4, sum_r6);
        sum_r6 = fma(vec4<f32>(left1.y), right_5, sum_r6);
        sum_r6 = fma(vec4<f32>(left1.z), right_6, sum_r6);
        sum_r6 = fma(vec4<f32>(left1.w), right_7, sum_r6);
      }
      {
        let left0 = a_read(min(7u, p.extent_0 - 1u), k);
        let left1 = a_read(min(7u, p.extent_0 - 1u), k + 4u);
        sum_r7 = fma(vec4<f32>(left0.x), right_0, sum_r7);
        sum_r7 = fma(vec4<f32>(left0.y), right_1, sum_r7);
        sum_r7 = fma(vec4<f32>(left0.z), right_2, sum_r7);
        sum_r7 = fma(vec4<f32>(left0.w), right_3, sum_r7);
        sum_r7 = fma(vec4<f32>(left1.x), right_4, sum_r7);
        sum_r7 = fma(vec4<f32>(left1.y), right_5, sum_r7);
        sum_r7 = fma(vec4<f32>(left1.z), right_6, sum_r7);
        sum_r7 = fma(vec4<f32>(left1.w), right_7, sum_r7);
      }
    }
  }
  if k_group >= 32u {
    let place = lane + (k_group - 32u) * 4u;
    partial[place] = sum_r0;
    partial[place + 128u] = sum_r1;
    partial[place + 256u] = sum_r2;
    partial[place + 384u] = sum_r3;
  }
  workgroupBarrier();
  if k_group < 32u {
    let place = lane + k_group * 4u;
    partial[place] += sum_r0;
    partial[place + 128u] += sum_r1;
    partial[place + 256u] += sum_r2;
    partial[place + 384u] += sum_r3;
  }
  for (var left = 16u; left > 0u; left /= 2u) {
    workgroupBarrier();
    if k_group < left {
      let place = lane + k_group * 4u;
      let other = place + left * 4u;
      partial[place] += partial[other];
      partial[place + 128u] += partial[other + 128u];
      partial[place + 256u] += partial[other + 256u];
      partial[place + 384u] += partial[other + 384u];
    }
  }
  workgroupBarrier();
  if k_group < 4u && stores {
    finish(batch, k_group, column, partial[lane + k_group * 128u]);
  }
  if p.extent_0 > 4u {
    workgroupBarrier();
    if k_group >= 32u {
      let place = lane + (k_group - 32u) * 4u;
      partial[place] = sum_r4;
      partial[place + 128u] = sum_r5;
      partial[place + 256u] = sum_r6;
      partial[place + 384u] = sum_r7;
    }
    workgroupBarrier();
    if k_group < 32u {
      let place = lane + k_group * 4u;
      partial[place] += sum_r4;
      partial[place + 128u] += sum_r5;
      partial[place + 256u] += sum_r6;
      partial[place + 384u] += sum_r7;
    }
    for (var left = 16u; left > 0u; left /= 2u) {
      workgroupBarrier();
      if k_group < left {
        let place = lane + k_group * 4u;
        let other = place + left * 4u;
        partial[place] += partial[other];
        partial[place + 128u] += partial[other + 128u];
        partial[place + 256u] += partial[other + 256u];
        partial[place + 384u] += partial[other + 384u];
      }
    }
    workgroupBarrier();
    if k_group < 4u && stores {
      finish(batch, k_group + 4u, column, partial[lane + k_group * 128u]);
    }
  }
}
