enable f16;

struct Params {
  count: u32,
  extent_3: u32,
  extent_2: u32,
  extent_1: u32,
  offset_0: u32,
  stride_0_0: u32,
  stride_0_1: u32,
  stride_0_2: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read_write> out_0: array<vec4<f16>>;
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
  if i >= (p.count + 3u) / 4u {
    return;
  }
  let r3 = i / ((p.extent_3 + 3u) / 4u);
  let c3 = (i - r3 * ((p.extent_3 + 3u) / 4u)) * 4u;
  let r2 = r3 / p.extent_2;
  let c2 = r3 - r2 * p.extent_2;
  let r1 = r2 / p.extent_1;
  let c1 = r2 - r1 * p.extent_1;
  let c0 = r1;
  let v0 = vec4<f32>(in_0[(p.offset_0 + c0 * p.stride_0_0 + c1 * p.stride_0_1 + c2 * p.stride_0_2 + c3) / 4u]);
  out_0[i] = vec4<f16>(v0);
}
