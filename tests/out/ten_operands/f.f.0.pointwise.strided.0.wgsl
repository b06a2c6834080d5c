struct Params {
  count: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_a: array<f32>;
@group(0) @binding(2) var<storage, read> in_b: array<f32>;
@group(0) @binding(3) var<storage, read> in_c: array<f32>;
@group(0) @binding(4) var<storage, read> in_d: array<f32>;
@group(0) @binding(5) var<storage, read> in_e: array<f32>;
@group(0) @binding(6) var<storage, read> in_p: array<f32>;
@group(0) @binding(7) var<storage, read> in_q: array<f32>;
@group(0) @binding(8) var<storage, read> in_r: array<f32>;
@group(0) @binding(9) var<storage, read> in_s: array<f32>;
@group(0) @binding(10) var<storage, read> in_t: array<f32>;
@group(0) @binding(11) var<storage, read_write> result_0: array<f32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;


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
  let v0 = in_a[i];
  let v1 = in_b[i];
  let v2 = v0 * v1;
  let v3 = in_c[i];
  let v4 = in_d[i];
  let v5 = v3 * v4;
  let v6 = v2 + v5;
  let v7 = in_e[i];
  let v8 = in_p[i];
  let v9 = v7 * v8;
  let v10 = v6 + v9;
  let v11 = in_q[i];
  let v12 = in_r[i];
  let v13 = v11 * v12;
  let v14 = v10 + v13;
  let v15 = in_s[i];
  let v16 = in_t[i];
  let v17 = v15 * v16;
  let v18 = v14 + v17;
  result_0[i] = v18;
}
