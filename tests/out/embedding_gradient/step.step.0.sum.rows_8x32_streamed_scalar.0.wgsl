struct Params {
  workgroups: u32,
  count: u32,
  row_length: u32,
  offset_0: u32,
  offset_1: u32,
  offset_2: u32,
  offset_3: u32,
  offset_4: u32,
  size_8: u32,
  extent_2: u32,
  stride_0_1: u32,
  stride_0_2: u32,
  stride_2_1: u32,
  stride_2_2: u32,
  stride_1_1: u32,
  stride_1_2: u32,
  size_16: u32,
  stride_3_1: u32,
  stride_3_2: u32,
  stride_4_1: u32,
  stride_4_2: u32,
  offset_5: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<i32>;
@group(0) @binding(2) var<storage, read> in_2: array<f32>;
@group(0) @binding(3) var<storage, read> in_1: array<f32>;
@group(0) @binding(4) var<storage, read_write> out_0: array<f32>;
@group(0) @binding(5) var<storage, read_write> out_1: array<f32>;
@group(0) @binding(6) var<storage, read_write> out_2: array<f32>;
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
fn fuse_hidden1(x: f32, opaque: u32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ u32(opaque));
}
fn fuse_lost1(a: f32, b: f32, s: f32) -> f32 {
  let ordered = abs(a) >= abs(b);
  return (select(b, a, ordered) - s) + select(a, b, ordered);
}
fn fuse_is_nan1(x: f32) -> bool {
  return (bitcast<u32>(x) & u32(0x7fffffffu)) > u32(0x7f800000u);
}
fn fuse_restored1(sum: f32, lost: f32) -> f32 {
  return select(sum + lost, sum, fuse_is_nan1(lost));
}
var<workgroup> shared0: array<u32, 256>;

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
  let at = local;
  let lane = at % 32u;
  let row_at = block * 8u + at / 32u;
  let valid = row_at < p.count;
  let row = min(row_at, p.count - 1u);
  let k0 = row;
  let end = p.row_length;
  let base0 = p.offset_0;
  let base1 = p.offset_1;
  let base2 = p.offset_2;
  let base3 = p.offset_3;
  let base4 = p.offset_4;
  let v1 = i32(p.size_8);
  let v3 = v1 - 1i;
  var running12_0 = f32();
  var lost12 = f32();
  let opaque = select(0u, 1u, p.row_length == 4294967295u);
  // unroll
  for (var chunk = lane; chunk < end; chunk += 32u) {
    let e0 = chunk;
    let elements1_0 = e0 / p.extent_2;
    let r1_0 = e0 % p.extent_2;
    let v0_0 = in_0[base0 + elements1_0 * p.stride_0_1 + r1_0 * p.stride_0_2];
    let v9_0 = in_2[base2 + elements1_0 * p.stride_2_1 + r1_0 * p.stride_2_2];
    let v4_0 = min(v0_0, v3);
    let v6_0 = max(v4_0, 0i);
    let v7_0 = in_1[base1 + elements1_0 * p.stride_1_1 + r1_0 * p.stride_1_2 + u32(v6_0) * p.size_16];
    let v8_0 = fuse_tanh1(v7_0);
    let v10_0 = v8_0 - v9_0;
    let v11_0 = v10_0 * v10_0;
    if valid {
      out_0[base3 + elements1_0 * p.stride_3_1 + r1_0 * p.stride_3_2] = v8_0;
      out_1[base4 + elements1_0 * p.stride_4_1 + r1_0 * p.stride_4_2] = v10_0;
    }
    let own12_0_0 = v11_0;
    let sum12 = fuse_hidden1(running12_0 + own12_0_0, opaque);
    lost12 = lost12 + fuse_lost1(running12_0, own12_0_0, sum12);
    running12_0 = sum12;
  }
  let restored12_0 = fuse_restored1(running12_0, lost12);
  shared0[local] = bitcast<u32>(restored12_0);
  workgroupBarrier();
  if lane < 16u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 16u]);
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  if lane < 8u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 8u]);
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  if lane < 4u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 4u]);
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  if lane < 2u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 2u]);
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  if lane < 1u {
    let merged0_0 = bitcast<f32>(shared0[local]) + bitcast<f32>(shared0[local + 1u]);
    shared0[local] = bitcast<u32>(merged0_0);
  }
  workgroupBarrier();
  let s0_0_0_all = bitcast<f32>(shared0[local - lane]);
  let v12 = s0_0_0_all;
  if lane == 0u && valid {
    out_2[p.offset_5] = v12;
  }
}
