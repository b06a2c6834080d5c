struct Params {
  count: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read> in_1: array<f32>;
@group(0) @binding(3) var<storage, read> in_2: array<f32>;
@group(0) @binding(4) var<storage, read> in_3: array<f32>;
@group(0) @binding(5) var<storage, read> in_4: array<f32>;
@group(0) @binding(6) var<storage, read> in_5: array<f32>;
@group(0) @binding(7) var<storage, read> in_6: array<f32>;
@group(0) @binding(8) var<storage, read> in_7: array<f32>;
@group(0) @binding(9) var<storage, read> in_8: array<f32>;
@group(0) @binding(10) var<storage, read> in_9: array<f32>;
@group(0) @binding(11) var<storage, read_write> out_0: array<f32>;
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
  let v0 = in_0[i];
  let v1 = in_1[i];
  let v2 = v0 * v1;
  let v3 = in_2[i];
  let v4 = in_3[i];
  let v5 = v3 * v4;
  let v6 = v2 + v5;
  let v7 = in_4[i];
  let v8 = in_5[i];
  let v9 = v7 * v8;
  let v10 = v6 + v9;
  let v11 = in_6[i];
  let v12 = in_7[i];
  let v13 = v11 * v12;
  let v14 = v10 + v13;
  let v15 = in_8[i];
  let v16 = in_9[i];
  let v17 = v15 * v16;
  let v18 = v14 + v17;
  out_0[i] = v18;
}
