struct Params {
  count: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<i32>;
@group(0) @binding(2) var<storage, read> in_1: array<i32>;
@group(0) @binding(3) var<storage, read> in_2: array<u32>;
@group(0) @binding(4) var<storage, read_write> out_0: array<i32>;
@group(0) @binding(5) var<storage, read_write> out_1: array<i32>;
@group(0) @binding(6) var<storage, read_write> out_2: array<u32>;
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
  let v2 = v0 / select(v1, 1i, (v1 == 0i) | ((v0 == i32(-2147483648)) & (v1 == -1i)));
  let v3 = v0 % select(v1, 1i, (v1 == 0i) | ((v0 == i32(-2147483648)) & (v1 == -1i)));
  let v5 = v3 + 2147483647i;
  let v6 = in_2[i];
  let v8 = v6 * 3u;
  let v10 = v8 - 7u;
  out_0[i] = v2;
  out_1[i] = v5;
  out_2[i] = v10;
}
