struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  offset_2: u32,
  offset_3: u32,
  stride_3_0: u32,
  workgroups: u32,
  row_tiles: u32,
  column_tiles: u32,
  offset_0: u32,
  stride_0_0: u32,
  offset_1: u32,
  stride_1_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in_2: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> in_3: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> out_0: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_fast_math = false;

fn fuse_is_nan4(x: vec4<f32>) -> vec4<bool> {
  return (bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
}
fn fuse_relu4(x: vec4<f32>) -> vec4<f32> {
  if fuse_fast_math {
    return max(x, vec4<f32>(0.0));
  }
  return select(max(x, vec4<f32>(0.0)), x, fuse_is_nan4(x));
}
fn finish(batch: u32, row: u32, column: u32, sum: vec4<f32>) {
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let x2 = in_2[(p.offset_2 + column) / 4u];
  let x3 = in_3[(p.offset_3 + row * p.stride_3_0 + column) / 4u];
  let v0 = sum;
  let v1 = x2;
  let v2 = v0 + v1;
  let v3 = x3;
  let v4 = v2 + v3;
  let v5 = fuse_relu4(v4);
  let at = (batch * p.extent_0 + row) * p.extent_1 + column;
  out_0[at / 4u] = v5;
}
struct Sums {
  s0_0: vec4<f32>,
  s0_1: vec4<f32>,
  s1_0: vec4<f32>,
  s1_1: vec4<f32>,
  s2_0: vec4<f32>,
  s2_1: vec4<f32>,
  s3_0: vec4<f32>,
  s3_1: vec4<f32>,
  s4_0: vec4<f32>,
  s4_1: vec4<f32>,
  s5_0: vec4<f32>,
  s5_1: vec4<f32>,
  s6_0: vec4<f32>,
  s6_1: vec4<f32>,
  s7_0: vec4<f32>,
  s7_1: vec4<f32>,
}
fn update(c: ptr<function, Sums>, a0: vec4<f32>, a1: vec4<f32>, b0: vec4<f32>, b1: vec4<f32>) {
  (*c).s0_0.x = fma(a0.x, b0.x, (*c).s0_0.x);
  (*c).s1_0.x = fma(a0.y, b0.x, (*c).s1_0.x);
  (*c).s0_0.y = fma(a0.x, b0.y, (*c).s0_0.y);
  (*c).s1_0.y = fma(a0.y, b0.y, (*c).s1_0.y);
  (*c).s0_0.z = fma(a0.x, b0.z, (*c).s0_0.z);
  (*c).s1_0.z = fma(a0.y, b0.z, (*c).s1_0.z);
  (*c).s0_0.w = fma(a0.x, b0.w, (*c).s0_0.w);
  (*c).s1_0.w = fma(a0.y, b0.w, (*c).s1_0.w);
  (*c).s0_1.x = fma(a0.x, b1.x, (*c).s0_1.x);
  (*c).s1_1.x = fma(a0.y, b1.x, (*c).s1_1.x);
  (*c).s0_1.y = fma(a0.x, b1.y, (*c).s0_1.y);
  (*c).s1_1.y = fma(a0.y, b1.y, (*c).s1_1.y);
  (*c).s0_1.z = fma(a0.x, b1.z, (*c).s0_1.z);
  (*c).s1_1.z = fma(a0.y, b1.z, (*c).s1_1.z);
  (*c).s0_1.w = fma(a0.x, b1.w, (*c).s0_1.w);
  (*c).s1_1.w = fma(a0.y, b1.w, (*c).s1_1.w);
  (*c).s2_1.w = fma(a0.z, b1.w, (*c).s2_1.w);
  (*c).s3_1.w = fma(a0.w, b1.w, (*c).s3_1.w);
  (*c).s2_1.z = fma(a0.z, b1.z, (*c).s2_1.z);
  (*c).s3_1.z = fma(a0.w, b1.z, (*c).s3_1.z);
  (*c).s2_1.y = fma(a0.z, b1.y, (*c).s2_1.y);
  (*c).s3_1.y = fma(a0.w, b1.y, (*c).s3_1.y);
  (*c).s2_1.x = fma(a0.z, b1.x, (*c).s2_1.x);
  (*c).s3_1.x = fma(a0.w, b1.x, (*c).s3_1.x);
  (*c).s2_0.w = fma(a0.z, b0.w, (*c).s2_0.w);
  (*c).s3_0.w = fma(a0.w, b0.w, (*c).s3_0.w);
  (*c).s2_0.z = fma(a0.z, b0.z, (*c).s2_0.z);
  (*c).s3_0.z = fma(a0.w, b0.z, (*c).s3_0.z);
  (*c).s2_0.y = fma(a0.z, b0.y, (*c).s2_0.y);
  (*c).s3_0.y = fma(a0.w, b0.y, (*c).s3_0.y);
  (*c).s2_0.x = fma(a0.z, b0.x, (*c).s2_0.x);
  (*c).s3_0.x = fma(a0.w, b0.x, (*c).s3_0.x);
  (*c).s4_0.x = fma(a1.x, b0.x, (*c).s4_0.x);
  (*c).s5_0.x = fma(a1.y, b0.x, (*c).s5_0.x);
  (*c).s4_0.y = fma(a1.x, b0.y, (*c).s4_0.y);
  (*c).s5_0.y = fma(a1.y, b0.y, (*c).s5_0.y);
  (*c).s4_0.z = fma(a1.x, b0.z, (*c).s4_0.z);
  (*c).s5_0.z = fma(a1.y, b0.z, (*c).s5_0.z);
  (*c).s4_0.w = fma(a1.x, b0.w, (*c).s4_0.w);
  (*c).s5_0.w = fma(a1.y, b0.w, (*c).s5_0.w);
  (*c).s4_1.x = fma(a1.x, b1.x, (*c).s4_1.x);
  (*c).s5_1.x = fma(a1.y, b1.x, (*c).s5_1.x);
  (*c).s4_1.y = fma(a1.x, b1.y, (*c).s4_1.y);
  (*c).s5_1.y = fma(a1.y, b1.y, (*c).s5_1.y);
  (*c).s4_1.z = fma(a1.x, b1.z, (*c).s4_1.z);
  (*c).s5_1.z = fma(a1.y, b1.z, (*c).s5_1.z);
  (*c).s4_1.w = fma(a1.x, b1.w, (*c).s4_1.w);
  (*c).s5_1.w = fma(a1.y, b1.w, (*c).s5_1.w);
  (*c).s6_1.w = fma(a1.z, b1.w, (*c).s6_1.w);
  (*c).s7_1.w = fma(a1.w, b1.w, (*c).s7_1.w);
  (*c).s6_1.z = fma(a1.z, b1.z, (*c).s6_1.z);
  (*c).s7_1.z = fma(a1.w, b1.z, (*c).s7_1.z);
  (*c).s6_1.y = fma(a1.z, b1.y, (*c).s6_1.y);
  (*c).s7_1.y = fma(a1.w, b1.y, (*c).s7_1.y);
  (*c).s6_1.x = fma(a1.z, b1.x, (*c).s6_1.x);
  (*c).s7_1.x = fma(a1.w, b1.x, (*c).s7_1.x);
  (*c).s6_0.w = fma(a1.z, b0.w, (*c).s6_0.w);
  (*c).s7_0.w = fma(a1.w, b0.w, (*c).s7_0.w);
  (*c).s6_0.z = fma(a1.z, b0.z, (*c).s6_0.z);
  (*c).s7_0.z = fma(a1.w, b0.z, (*c).s7_0.z);
  (*c).s6_0.y = fma(a1.z, b0.y, (*c).s6_0.y);
  (*c).s7_0.y = fma(a1.w, b0.y, (*c).s7_0.y);
  (*c).s6_0.x = fma(a1.z, b0.x, (*c).s6_0.x);
  (*c).s7_0.x = fma(a1.w, b0.x, (*c).s7_0.x);
}

@compute @workgroup_size(32)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let id = workgroup.x + workgroup.y * workgroups.x;
  if id >= p.workgroups {
    return;
  }
  let tile = id;
  let batch = 0u;
  let k_begin = 0u;
  let k_end = p.extent_2;
  let row0 = tile / p.column_tiles * 32u;
  let column0 = tile % p.column_tiles * 64u;
  let tx = local % 8u;
  let ty = local / 8u;
  var c = Sums();
  if row0 + ty * 4u >= p.extent_0 || column0 + tx * 4u >= p.extent_1 {
    return;
  }
  let a0_at = min(row0 + ty * 4u, p.extent_0 - 1u);
  let a0_base0 = p.offset_0 + a0_at * p.stride_0_0;
  let a1_at = min(row0 + ty * 4u + 1u, p.extent_0 - 1u);
  let a1_base0 = p.offset_0 + a1_at * p.stride_0_0;
  let a2_at = min(row0 + ty * 4u + 2u, p.extent_0 - 1u);
  let a2_base0 = p.offset_0 + a2_at * p.stride_0_0;
  let a3_at = min(row0 + ty * 4u + 3u, p.extent_0 - 1u);
  let a3_base0 = p.offset_0 + a3_at * p.stride_0_0;
  let a4_at = min(row0 + ty * 4u + 16u, p.extent_0 - 1u);
  let a4_base0 = p.offset_0 + a4_at * p.stride_0_0;
  let a5_at = min(row0 + ty * 4u + 17u, p.extent_0 - 1u);
  let a5_base0 = p.offset_0 + a5_at * p.stride_0_0;
  let a6_at = min(row0 + ty * 4u + 18u, p.extent_0 - 1u);
  let a6_base0 = p.offset_0 + a6_at * p.stride_0_0;
  let a7_at = min(row0 + ty * 4u + 19u, p.extent_0 - 1u);
  let a7_base0 = p.offset_0 + a7_at * p.stride_0_0;
  let b0_at = min(column0 + tx * 4u, p.extent_1 - 4u);
  let b0_base1 = p.offset_1 + b0_at;
  let b4_at = min(column0 + tx * 4u + 32u, p.extent_1 - 4u);
  let b4_base1 = p.offset_1 + b4_at;
  for (var k = k_begin; k < k_end; k += 4u) {
    var a0_0: vec4<f32>;
    {
      let a_x0 = in_0[(a0_base0 + k) / 4u];
      a0_0 = a_x0;
    }
    var a1_0: vec4<f32>;
    {
      let a_x0 = in_0[(a1_base0 + k) / 4u];
      a1_0 = a_x0;
    }
    var a2_0: vec4<f32>;
    {
      let a_x0 = in_0[(a2_base0 + k) / 4u];
      a2_0 = a_x0;
    }
    var a3_0: vec4<f32>;
    {
      let a_x0 = in_0[(a3_base0 + k) / 4u];
      a3_0 = a_x0;
    }
    var a4_0: vec4<f32>;
    {
      let a_x0 = in_0[(a4_base0 + k) / 4u];
      a4_0 = a_x0;
    }
    var a5_0: vec4<f32>;
    {
      let a_x0 = in_0[(a5_base0 + k) / 4u];
      a5_0 = a_x0;
    }
    var a6_0: vec4<f32>;
    {
      let a_x0 = in_0[(a6_base0 + k) / 4u];
      a6_0 = a_x0;
    }
    var a7_0: vec4<f32>;
    {
      let a_x0 = in_0[(a7_base0 + k) / 4u];
      a7_0 = a_x0;
    }
    var b0_0: vec4<f32>;
    {
      let b_x1 = in_1[(b0_base1 + k * p.stride_1_0) / 4u];
      b0_0 = b_x1;
    }
    var b0_1: vec4<f32>;
    {
      let b_x1 = in_1[(b0_base1 + (k + 1u) * p.stride_1_0) / 4u];
      b0_1 = b_x1;
    }
    var b0_2: vec4<f32>;
    {
      let b_x1 = in_1[(b0_base1 + (k + 2u) * p.stride_1_0) / 4u];
      b0_2 = b_x1;
    }
    var b0_3: vec4<f32>;
    {
      let b_x1 = in_1[(b0_base1 + (k + 3u) * p.stride_1_0) / 4u];
      b0_3 = b_x1;
    }
    var b4_0: vec4<f32>;
    {
      let b_x1 = in_1[(b4_base1 + k * p.stride_1_0) / 4u];
      b4_0 = b_x1;
    }
    var b4_1: vec4<f32>;
    {
      let b_x1 = in_1[(b4_base1 + (k + 1u) * p.stride_1_0) / 4u];
      b4_1 = b_x1;
    }
    var b4_2: vec4<f32>;
    {
      let b_x1 = in_1[(b4_base1 + (k + 2u) * p.stride_1_0) / 4u];
      b4_2 = b_x1;
    }
    var b4_3: vec4<f32>;
    {
      let b_x1 = in_1[(b4_base1 + (k + 3u) * p.stride_1_0) / 4u];
      b4_3 = b_x1;
    }
    update(&c, vec4<f32>(a0_0.x, a1_0.x, a2_0.x, a3_0.x), vec4<f32>(a4_0.x, a5_0.x, a6_0.x, a7_0.x), b0_0, b4_0);
    update(&c, vec4<f32>(a0_0.y, a1_0.y, a2_0.y, a3_0.y), vec4<f32>(a4_0.y, a5_0.y, a6_0.y, a7_0.y), b0_1, b4_1);
    update(&c, vec4<f32>(a0_0.z, a1_0.z, a2_0.z, a3_0.z), vec4<f32>(a4_0.z, a5_0.z, a6_0.z, a7_0.z), b0_2, b4_2);
    update(&c, vec4<f32>(a0_0.w, a1_0.w, a2_0.w, a3_0.w), vec4<f32>(a4_0.w, a5_0.w, a6_0.w, a7_0.w), b0_3, b4_3);
  }
  var sums = array<vec4<f32>, 16>(c.s0_0, c.s0_1, c.s1_0, c.s1_1, c.s2_0, c.s2_1, c.s3_0, c.s3_1, c.s4_0, c.s4_1, c.s5_0, c.s5_1, c.s6_0, c.s6_1, c.s7_0, c.s7_1);
  for (var place = 0u; place < 16u; place++) {
    let own = place / 2u;
    finish(batch, row0 + ty * 4u + own / 4u * 16u + own % 4u, column0 + (tx + place % 2u * 8u) * 4u, sums[place]);
  }
}
