struct Params {
  extent_1: u32,
  extent_2: u32,
  extent_3: u32,
  extent_4: u32,
  count: u32,
  splits: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> scratch: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out_0: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;
const fuse_rounds = 1u;

fn finish(batch: u32, b0: u32, row: u32, column: u32, sum: vec4<f32>) {
  if row >= p.extent_1 || column >= p.extent_2 {
    return;
  }
  let v0 = sum;
  let at = (batch * p.extent_1 + row) * p.extent_2 + column;
  out_0[at / 4u] = v0;
}
fn normalizer(total: f32) -> f32 {
  if total == 0.0f {
    return select(bitcast<f32>(fuse_nan_bits), 0.0f, p.extent_3 == 0u);
  }
  return 1.0f / total;
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
  let column = i * 4u % p.extent_2;
  let line = i * 4u / p.extent_2;
  let row = line % p.extent_1;
  let batch = line / p.extent_1;
  let b0 = batch;
  let shares = p.splits * units + line;
  let share_step = p.count / p.extent_2;
  var largest = -bitcast<f32>(fuse_inf_bits);
  for (var s_0 = 0u; s_0 < p.splits; s_0 += fuse_rounds) {
    for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
      let s = s_0 + iteration;
      if fuse_rounds == 1u || s < p.splits {
        largest = max(largest, scratch[shares + s * share_step].x);
      }
    }
  }
  let reference = select(largest, 0.0f, largest < -3.4028234663852886e38f);
  var total = 0.0f;
  var output = vec4<f32>();
  for (var s_0 = 0u; s_0 < p.splits; s_0 += fuse_rounds) {
    for (var iteration = 0u; iteration < fuse_rounds; iteration++) {
      let s = s_0 + iteration;
      if fuse_rounds == 1u || s < p.splits {
        let weight = exp(scratch[shares + s * share_step].x - reference);
        total += weight * scratch[shares + s * share_step].y;
        output += weight * scratch[s * units + i];
      }
    }
  }
  finish(batch, b0, row, column, output * normalizer(total));
}
