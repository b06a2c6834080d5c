struct Params {
  extent_2: u32,
  extent_3: u32,
  extent_4: u32,
  scalar_3: f32,
  workgroups: u32,
  column_tiles: u32,
  extent_1: u32,
  offset_1: u32,
  stride_1_0: u32,
  stride_1_1: u32,
  stride_1_3: u32,
  offset_0: u32,
  stride_0_0: u32,
  stride_0_1: u32,
  stride_0_2: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> out_0: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

fn finish(batch: u32, b0: u32, b1: u32, row: u32, column: u32, sum: vec4<f32>) {
  if row >= p.extent_2 || column >= p.extent_3 {
    return;
  }
  let v0 = vec4<i32>(vec4<u32>(row));
  let v1 = vec4<i32>(vec4<u32>(column) + vec4<u32>(0u, 1u, 2u, 3u));
  let v2 = v0 >= v1;
  let v3 = sum;
  let v4 = vec4<f32>(p.scalar_3);
  let v5 = v3 * v4;
  let v7 = select(vec4<f32>(-1e30f), v5, v2);
  let at = (batch * p.extent_2 + row) * p.extent_3 + column;
  out_0[at / 4u] = v7;
}
var<workgroup> partial: array<vec4<f32>, 512>;
fn b_read(at0: u32, at1: u32, at2: u32, at3: u32) -> vec4<f32> {
  let b_x1 = in_1[(p.offset_1 + at0 * p.stride_1_0 + at1 * p.stride_1_1 + at2 + at3 * p.stride_1_3) / 4u];
  return b_x1;
}
fn a_read(at0: u32, at1: u32, at2: u32, at3: u32) -> vec4<f32> {
  let a_x0 = in_0[(p.offset_0 + at0 * p.stride_0_0 + at1 * p.stride_0_1 + at2 * p.stride_0_2 + at3) / 4u];
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
  let lane = local / 128u;
  let k_group = local % 128u;
  let batch = id / p.column_tiles;
  let k_begin = 0u;
  let k_end = p.extent_4;
  let batch_rest1 = batch / p.extent_1;
  let b1 = batch % p.extent_1;
  let b0 = batch_rest1;
  let first = id % p.column_tiles * 2u;
  let columns_in_units = p.extent_3 / 4u;
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
  for (var k = k_begin + k_group * 8u; k < k_end; k += 1024u) {
    let column_0 = b_read(b0, b1, k, column);
    let column_1 = b_read(b0, b1, k, column + 1u);
    let column_2 = b_read(b0, b1, k, column + 2u);
    let column_3 = b_read(b0, b1, k, column + 3u);
    let column_4 = b_read(b0, b1, k + 4u, column);
    let column_5 = b_read(b0, b1, k + 4u, column + 1u);
    let column_6 = b_read(b0, b1, k + 4u, column + 2u);
    let column_7 = b_read(b0, b1, k + 4u, column + 3u);
    let right_0 = vec4<f32>(column_0.x, column_1.x, column_2.x, column_3.x);
    let right_1 = vec4<f32>(column_0.y, column_1.y, column_2.y, column_3.y);
    let right_2 = vec4<f32>(column_0.z, column_1.z, column_2.z, column_3.z);
    let right_3 = vec4<f32>(column_0.w, column_1.w, column_2.w, column_3.w);
    let right_4 = vec4<f32>(column_4.x, column_5.x, column_6.x, column_7.x);
    let right_5 = vec4<f32>(column_4.y, column_5.y, column_6.y, column_7.y);
    let right_6 = vec4<f32>(column_4.z, column_5.z, column_6.z, column_7.z);
    let right_7 = vec4<f32>(column_4.w, column_5.w, column_6.w, column_7.w);
    {
      let left0 = a_read(b0, b1, 0u, k);
      let left1 = a_read(b0, b1, 0u, k + 4u);
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
      let left0 = a_read(b0, b1, min(1u, p.extent_2 - 1u), k);
      let left1 = a_read(b0, b1, min(1u, p.extent_2 - 1u), k + 4u);
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
      let left0 = a_read(b0, b1, min(2u, p.extent_2 - 1u), k);
      let left1 = a_read(b0, b1, min(2u, p.extent_2 - 1u), k + 4u);
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
      let left0 = a_read(b0, b1, min(3u, p.extent_2 - 1u), k);
      let left1 = a_read(b0, b1, min(3u, p.extent_2 - 1u), k + 4u);
      sum_r3 = fma(vec4<f32>(left0.x), right_0, sum_r3);
      sum_r3 = fma(vec4<f32>(left0.y), right_1, sum_r3);
      sum_r3 = fma(vec4<f32>(left0.z), right_2, sum_r3);
      sum_r3 = fma(vec4<f32>(left0.w), right_3, sum_r3);
      sum_r3 = fma(vec4<f32>(left1.x), right_4, sum_r3);
      sum_r3 = fma(vec4<f32>(left1.y), right_5, sum_r3);
      sum_r3 = fma(vec4<f32>(left1.z), right_6, sum_r3);
      sum_r3 = fma(vec4<f32>(left1.w), right_7, sum_r3);
    }
    if p.extent_2 > 4u {
      {
        let left0 = a_read(b0, b1, min(4u, p.extent_2 - 1u), k);
        let left1 = a_read(b0, b1, min(4u, p.extent_2 - 1u), k + 4u);
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
        let left0 = a_read(b0, b1, min(5u, p.extent_2 - 1u), k);
        let left1 = a_read(b0, b1, min(5u, p.extent_2 - 1u), k + 4u);
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
        let left0 = a_read(b0, b1, min(6u, p.extent_2 - 1u), k);
        let left1 = a_read(b0, b1, min(6u, p.extent_2 - 1u), k + 4u);
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
        let left0 = a_read(b0, b1, min(7u, p.extent_2 - 1u), k);
        let left1 = a_read(b0, b1, min(7u, p.extent_2 - 1u), k + 4u);
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
  if k_group >= 64u {
    let place = lane * 64u + (k_group - 64u);
    partial[place] = sum_r0;
    partial[place + 128u] = sum_r1;
    partial[place + 256u] = sum_r2;
    partial[place + 384u] = sum_r3;
  }
  workgroupBarrier();
  if k_group < 64u {
    let place = lane * 64u + k_group;
    partial[place] += sum_r0;
    partial[place + 128u] += sum_r1;
    partial[place + 256u] += sum_r2;
    partial[place + 384u] += sum_r3;
  }
  for (var left = 32u; left > 0u; left /= 2u) {
    workgroupBarrier();
    if k_group < left {
      let place = lane * 64u + k_group;
      let other = place + left;
      partial[place] += partial[other];
      partial[place + 128u] += partial[other + 128u];
      partial[place + 256u] += partial[other + 256u];
      partial[place + 384u] += partial[other + 384u];
    }
  }
  workgroupBarrier();
  if k_group < 4u && stores {
    finish(batch, b0, b1, k_group, column, partial[lane * 64u + k_group * 128u]);
  }
  if p.extent_2 > 4u {
    workgroupBarrier();
    if k_group >= 64u {
      let place = lane * 64u + (k_group - 64u);
      partial[place] = sum_r4;
      partial[place + 128u] = sum_r5;
      partial[place + 256u] = sum_r6;
      partial[place + 384u] = sum_r7;
    }
    workgroupBarrier();
    if k_group < 64u {
      let place = lane * 64u + k_group;
      partial[place] += sum_r4;
      partial[place + 128u] += sum_r5;
      partial[place + 256u] += sum_r6;
      partial[place + 384u] += sum_r7;
    }
    for (var left = 32u; left > 0u; left /= 2u) {
      workgroupBarrier();
      if k_group < left {
        let place = lane * 64u + k_group;
        let other = place + left;
        partial[place] += partial[other];
        partial[place + 128u] += partial[other + 128u];
        partial[place + 256u] += partial[other + 256u];
        partial[place + 384u] += partial[other + 384u];
      }
    }
    workgroupBarrier();
    if k_group < 4u && stores {
      finish(batch, b0, b1, k_group + 4u, column, partial[lane * 64u + k_group * 128u]);
    }
  }
}
