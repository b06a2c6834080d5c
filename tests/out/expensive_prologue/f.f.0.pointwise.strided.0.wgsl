struct Params {
  count: u32,
  extent_1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_x: array<f32>;
@group(0) @binding(2) var<storage, read_write> temporary_0: array<f32>;

fn fuse_erf1(x: f32) -> f32 {
  let t = abs(x);
  let s = x * x;
  let near = x + x * (f32(0.128379166) + s * (f32(-0.376125336) + s * (f32(0.112819925) + s * (f32(-0.0267681349) + s * (f32(0.00499119423) + s * f32(-0.000596761703))))));
  let u = (f32(0.000383197126) + t * f32(-0.0000172853470)) * s + (f32(0.0242546219) + t * f32(-0.00388396438));
  let e = ((u * t + f32(-0.106777877)) * t + f32(-0.634846687)) * t + f32(-0.128717512);
  let far = f32(1.0) - exp(e * t - t);
  return select(select(far, -far, x < f32(0.0)), near, t <= f32(0.927734375));
}
fn fuse_gelu1(x: f32) -> f32 {
  return f32(0.5) * x * (f32(1.0) + fuse_erf1(x * f32(0.70710678)));
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
  let c1 = (i - r1 * p.extent_1);
  let c0 = r1;
  let v0 = in_x[i];
  let v1 = fuse_gelu1(v0);
  temporary_0[i] = v1;
}
