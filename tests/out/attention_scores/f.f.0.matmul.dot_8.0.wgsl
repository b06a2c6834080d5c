struct Params {
  extent_2: u32,
  extent_3: u32,
  extent_4: u32,
  scalar_3: f32,
  workgroups: u32,
  count: u32,
  extent_1: u32,
  offset_0: u32,
  stride_0_0: u32,
  stride_0_1: u32,
  stride_0_2: u32,
  offset_1: u32,
  stride_1_0: u32,
  stride_1_1: u32,
  stride_1_3: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> out_0: array<f32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_rounds = 1u;

fn finish(batch: u32, b0: u32, b1: u32, row: u32, column: u32, sum: f32) {
  if row >= p.extent_2 || column >= p.extent_3 {
    return;
  }
  let v0 = i32(row);
  let v1 = i32(column);
  let v2 = v0 >= v1;
  let v3 = sum;
  let v4 = p.scalar_3;
  let v5 = v3 * v4;
  let v7 = select(-1e30f, v5, v2);
  let at = (batch * p.extent_2 + row) * p.extent_3 + column;
  out_0[at] = v7;
}
var<workgroup> partial: array<f32, 256>;
fn a_read(at0: u32, at1: u32, at2: u32, at3: u32) -> vec4<f32> {
  let a_x0 = in_0[(p.offset_0 + at0 * p.stride_0_0 + at1 * p.stride_0_1 + at2 * p.stride_0_2 + at3) / 4u];
  return a_x0;
}
fn b_read(at0: u32, at1: u32, at2: u32, at3: u32) -> vec4<f32> {
  let b_x1 = in_1[(p.offset_1 + at0 * p.stride_1_0 + at1 * p.stride_1_1 + at2 + at3 * p.stride_1_3) / 4u];
  return b_x1;
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
  let lane = local % 32u;
  let output = id * 8u + local / 32u;
  let element = min(output, p.count - 1u);
  let column = element % p.extent_3;
  let row = element / p.extent_3 % p.extent_2;
  let batch = element / (p.extent_3 * p.extent_2);
  let batch_rest1 = batch / p.extent_1;
  let b1 = batch % p.extent_1;
  let b0 = batch_rest1;
  var sum = vec4<f32>();
  for (var depth_0 = lane * 4u; depth_0 < p.extent_4; depth_0 += fuse_rounds * 128u) {
    for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
      let depth = depth_0 + iteration * 128u;
      if fuse_rounds == 1u || depth < p.extent_4 {
        sum = fma(a_read(b0, b1, row, depth), b_read(b0, b1, depth, column), sum);
      }
    }
  }
  partial[local] = sum.x + sum.y + (sum.z + sum.w);
  workgroupBarrier();
  if lane < 16u {
    partial[local] = partial[local] + partial[local + 16u];
  }
  workgroupBarrier();
  if lane < 8u {
    partial[local] = partial[local] + partial[local + 8u];
  }
  workgroupBarrier();
  if lane < 4u {
    partial[local] = partial[local] + partial[local + 4u];
  }
  workgroupBarrier();
  if lane < 2u {
    partial[local] = partial[local] + partial[local + 2u];
  }
  workgroupBarrier();
  if lane < 1u {
    partial[local] = partial[local] + partial[local + 1u];
  }
  if lane == 0u && output < p.count {
    finish(batch, b0, b1, row, column, partial[local]);
  }
}
