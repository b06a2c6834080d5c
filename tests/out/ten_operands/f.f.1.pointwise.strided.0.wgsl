struct Params {
  count: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> temporary_0: array<f32>;
@group(0) @binding(2) var<storage, read> in_q: array<f32>;
@group(0) @binding(3) var<storage, read> in_r: array<f32>;
@group(0) @binding(4) var<storage, read> in_s: array<f32>;
@group(0) @binding(5) var<storage, read> in_t: array<f32>;
@group(0) @binding(6) var<storage, read_write> result_0: array<f32>;


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
  let v0 = temporary_0[i];
  let v1 = in_q[i];
  let v2 = in_r[i];
  let v3 = v1 * v2;
  let v4 = v0 + v3;
  let v5 = in_s[i];
  let v6 = in_t[i];
  let v7 = v5 * v6;
  let v8 = v4 + v7;
  result_0[i] = v8;
}
