struct Params {
  count: u32,
  scalar_1: f32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read_write> out_0: array<f32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

const fuse_fast_math = false;
fn fuse_tanh1(x: f32) -> f32 {
  if fuse_fast_math {
    return f32(1.0) - f32(2.0) / (f32(1.0) + exp(f32(2.0) * x));
  }
  let z = x * x;
  let near = x + x * z * (f32(-0.33333332) + z * (f32(0.13331442) + z * (f32(-0.053739715) + z * (f32(0.020639088) + z * f32(-0.005704989)))));
  let e = exp(f32(-2.0) * abs(x));
  let far = (f32(1.0) - e) / (f32(1.0) + e);
  return select(select(far, -far, x < f32(0.0)), near, abs(x) < f32(0.625));
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
  let v2 = v0 * 0.5f;
  let v4 = v2 + 0.25f;
  let v5 = p.scalar_1;
  let v6 = v4 * v5;
  let v8 = v6 + 1.0f;
  let v9 = fuse_tanh1(v8);
  out_0[i] = v9;
}
