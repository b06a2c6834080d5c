struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  offset_2: u32,
  offset_3: u32,
  stride_3_0: u32,
  splits: u32,
  count: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_2: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_3: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> scratch: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> out_0: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_fast_math = false;
const fuse_rounds = 1u;

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

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let units = p.count / 4u;
  let id = workgroup.x + workgroup.y * workgroups.x;
  let i = id * 256u + local;
  if i >= units {
    return;
  }
  let column = i * 4u % p.extent_1;
  let line = i * 4u / p.extent_1;
  let row = line % p.extent_0;
  let batch = line / p.extent_0;
  var sum = vec4<f32>();
  for (var s_0 = 0u; s_0 < p.splits; s_0 += fuse_rounds) {
    for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
      let s = s_0 + iteration;
      if fuse_rounds == 1u || s < p.splits {
        sum += scratch[s * units + i];
      }
    }
  }
  finish(batch, row, column, sum);
}
