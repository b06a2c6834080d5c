struct Params {
  count: u32,
  extent_1: u32,
  size_2: u32,
  offset_0: u32,
  stride_0_0: u32,
  stride_0_1: u32,
  size_6: u32,
  size_7: u32,
  offset_1: u32,
  stride_1_0: u32,
  stride_1_1: u32,
  offset_2: u32,
  stride_2_0: u32,
  stride_2_1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read> in_1: array<f32>;
@group(0) @binding(3) var<storage, read> in_2: array<f32>;
@group(0) @binding(4) var<storage, read_write> out_0: array<f32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_fast_math = false;

fn fuse_is_nan1(x: f32) -> bool {
  return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
}
fn fuse_relu1(x: f32) -> f32 {
  if fuse_fast_math {
    return max(x, f32(0.0));
  }
  return select(max(x, f32(0.0)), x, fuse_is_nan1(x));
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let id = workgroup.x + workgroup.y * workgroups.x;
  let i = id * 256u + local;
  if i >= p.count {
    return;
  }
  let r1 = i / p.extent_1;
  let c1 = i - r1 * p.extent_1;
  let c0 = r1;
  let v0 = i32(c0);
  let v1 = i32(p.size_2);
  let v2 = v0 < v1;
  let v4 = v1 - 1i;
  let v5 = min(v0, v4);
  let v7 = max(v5, 0i);
  let v8 = in_0[p.offset_0 + c0 * p.stride_0_0 + c1 * p.stride_0_1 + u32(v7) * p.size_6];
  let v9 = v0 - v1;
  let v10 = i32(p.size_7);
  let v11 = v10 - 1i;
  let v12 = min(v9, v11);
  let v13 = max(v12, 0i);
  let v14 = in_1[p.offset_1 + c0 * p.stride_1_0 + c1 * p.stride_1_1 + u32(v13) * p.size_6];
  let v16 = v14 * 2.0f;
  let v17 = select(v16, v8, v2);
  let v18 = in_2[p.offset_2 + c0 * p.stride_2_0 + c1 * p.stride_2_1];
  let v19 = v17 + v18;
  let v20 = fuse_relu1(v19);
  out_0[i] = v20;
}
