enable f16;

struct Params {
  count: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read> in_1: array<f16>;
@group(0) @binding(3) var<storage, read_write> out_0: array<f32>;
@group(0) @binding(4) var<storage, read_write> out_1: array<f16>;
@group(0) @binding(5) var<storage, read_write> out_2: array<u32>;
@group(0) @binding(6) var<storage, read_write> out_3: array<i32>;
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
  let c0 = i;
  let v0 = in_0[i];
  let v1 = f32(in_1[i]);
  let v2 = v1;
  let v3 = v0 + v2;
  let v4 = fuse_relu1(v3);
  let v5 = f32(f16(v3));
  let v7 = v3 > 0.5f;
  let v8 = select(select(i32(clamp(v3, -2147483600.0f, 2147483500.0f)), 2147483647i, v3 >= 2147483600.0f), 0i, fuse_is_nan1(v3));
  out_0[i] = v4;
  out_1[i] = f16(v5);
  out_2[i] = select(0u, 1u, v7);
  out_3[i] = v8;
}
