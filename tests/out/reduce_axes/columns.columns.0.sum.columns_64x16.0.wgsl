struct Params {
  workgroups: u32,
  count: u32,
  row_length: u32,
  offset_0: u32,
  stride_0_1: u32,
  offset_1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out_0: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

fn fuse_hidden4(x: vec4<f32>, opaque: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(opaque));
}
fn fuse_lost4(a: vec4<f32>, b: vec4<f32>, s: vec4<f32>) -> vec4<f32> {
  let ordered = abs(a) >= abs(b);
  return (select(b, a, ordered) - s) + select(a, b, ordered);
}
fn fuse_is_nan4(x: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}
fn fuse_restored4(sum: vec4<f32>, lost: vec4<f32>) -> vec4<f32> {
  return select(sum + lost, sum, fuse_is_nan4(lost));
}
var<workgroup> shared0: array<vec4<u32>, 256>;

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
  let block = id;
  let unit = local % 16u;
  let lane = local / 16u;
  let row_at = block * 64u + unit * 4u;
  let valid = row_at < p.count;
  let row = min(row_at, p.count - 4u);
  let k0 = row;
  let end = p.row_length;
  let base0 = p.offset_0 + k0;
  var running1_0 = vec4<f32>();
  var lost1 = vec4<f32>();
  let opaque = select(0u, 1u, p.row_length == 4294967295u);
  for (var chunk = lane; chunk < end; chunk += 64u) {
    let e0 = chunk;
    let e1 = chunk + 16u;
    let inside1 = e1 < end;
    let e2 = chunk + 32u;
    let inside2 = e2 < end;
    let e3 = chunk + 48u;
    let inside3 = e3 < end;
    let v0_0 = in_0[(base0 + e0 * p.stride_0_1) / 4u];
    var v0_1: vec4<f32>;
    if inside1 {
      v0_1 = in_0[(base0 + e1 * p.stride_0_1) / 4u];
    }
    var v0_2: vec4<f32>;
    if inside2 {
      v0_2 = in_0[(base0 + e2 * p.stride_0_1) / 4u];
    }
    var v0_3: vec4<f32>;
    if inside3 {
      v0_3 = in_0[(base0 + e3 * p.stride_0_1) / 4u];
    }
    let own1_0_0 = v0_0;
    let own1_1_0 = select(vec4<f32>(), v0_1, inside1);
    let total1_1_0 = own1_0_0 + own1_1_0;
    let own1_2_0 = select(vec4<f32>(), v0_2, inside2);
    let total1_2_0 = total1_1_0 + own1_2_0;
    let own1_3_0 = select(vec4<f32>(), v0_3, inside3);
    let total1_3_0 = total1_2_0 + own1_3_0;
    let sum1 = fuse_hidden4(running1_0 + total1_3_0, opaque);
    lost1 += fuse_lost4(running1_0, total1_3_0, sum1);
    running1_0 = sum1;
  }
  let restored1_0 = fuse_restored4(running1_0, lost1);
  shared0[local] = bitcast<vec4<u32>>(restored1_0);
  workgroupBarrier();
  if lane < 8u {
    let merged0_0 = bitcast<vec4<f32>>(shared0[local]) + bitcast<vec4<f32>>(shared0[local + 128u]);
    shared0[local] = bitcast<vec4<u32>>(merged0_0);
  }
  workgroupBarrier();
  if lane < 4u {
    let merged0_0 = bitcast<vec4<f32>>(shared0[local]) + bitcast<vec4<f32>>(shared0[local + 64u]);
    shared0[local] = bitcast<vec4<u32>>(merged0_0);
  }
  workgroupBarrier();
  if lane < 2u {
    let merged0_0 = bitcast<vec4<f32>>(shared0[local]) + bitcast<vec4<f32>>(shared0[local + 32u]);
    shared0[local] = bitcast<vec4<u32>>(merged0_0);
  }
  workgroupBarrier();
  if lane < 1u {
    let merged0_0 = bitcast<vec4<f32>>(shared0[local]) + bitcast<vec4<f32>>(shared0[local + 16u]);
    shared0[local] = bitcast<vec4<u32>>(merged0_0);
  }
  workgroupBarrier();
  let s0_0_0_all = bitcast<vec4<f32>>(shared0[unit]);
  let v1 = s0_0_0_all;
  if lane == 0u && valid {
    out_0[(p.offset_1 + k0) / 4u] = v1;
  }
}
