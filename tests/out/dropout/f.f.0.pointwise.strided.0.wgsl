struct Params {
  count: u32,
  extent_1: u32,
  size_2: u32,
  scalar_3: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<f32>;
@group(0) @binding(2) var<storage, read_write> out_0: array<f32>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_fast_math = false;

fn fuse_multiply_high1(x: u32, y: u32) -> u32 {
  let x0 = x & u32(0xffffu);
  let x1 = x >> u32(16u);
  let y0 = u32(y & 0xffffu);
  let y1 = u32(y >> 16u);
  let low = x1 * y0 + ((x0 * y0) >> u32(16u));
  let high = x0 * y1 + (low & u32(0xffffu));
  return x1 * y1 + (low >> u32(16u)) + (high >> u32(16u));
}
fn fuse_philox1(x: u32, y: u32) -> u32 {
  var c0 = x >> u32(2u);
  var c1 = u32();
  var c2 = u32();
  var c3 = u32();
  var k0 = y;
  var k1 = u32();
  for (var round = 0u; round < 10u; round++) {
    let high0 = fuse_multiply_high1(c0, 0xd2511f53u);
    let high1 = fuse_multiply_high1(c2, 0xcd9e8d57u);
    let low0 = c0 * u32(0xd2511f53u);
    let low1 = c2 * u32(0xcd9e8d57u);
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 += u32(0x9e3779b9u);
    k1 += u32(0xbb67ae85u);
  }
  let word = x & u32(3u);
  return select(select(c0, c1, word == u32(1u)), select(c2, c3, word == u32(3u)), word >= u32(2u));
}
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
  let r1 = i / p.extent_1;
  let c1 = i - r1 * p.extent_1;
  let c0 = r1;
  let v0 = i32(c0);
  let v1 = u32(v0);
  let v2 = u32(p.size_2);
  let v3 = v1 * v2;
  let v4 = i32(c1);
  let v5 = u32(v4);
  let v6 = v3 + v5;
  let v7 = p.scalar_3;
  let v8 = fuse_philox1(v6, v7);
  let v10 = v8 / 256u;
  let v11 = f32(v10);
  let v13 = v11 * 5.9604645e-8f;
  let v15 = v13 >= 0.25f;
  let v16 = in_0[i];
  let v17 = fuse_relu1(v16);
  let v19 = v17 * 1.3333334f;
  let v21 = select(0.0f, v19, v15);
  out_0[i] = v21;
}
