struct Params {
  extent_0: u32,
  extent_1: u32,
  extent_2: u32,
  workgroups: u32,
  column_tiles: u32,
  split_depth: u32,
  offset_0: u32,
  stride_0_0: u32,
  stride_0_1: u32,
  offset_1: u32,
  stride_1_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> scratch: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

var<private> split: u32;
fn finish(batch: u32, row: u32, column: u32, sum: vec4<f32>) {
  if row >= p.extent_0 || column >= p.extent_1 {
    return;
  }
  let at = ((split + batch) * p.extent_0 + row) * p.extent_1 + column;
  scratch[at / 4u] = sum;
}
var<workgroup> partial: array<vec4<f32>, 128>;
fn a_read(at0: u32, at1: u32) -> f32 {
  let a_x0 = in_0[(p.offset_0 + at0 * p.stride_0_0 + at1 * p.stride_0_1) / 4u][(p.offset_0 + at0 * p.stride_0_0 + at1 * p.stride_0_1) % 4u];
  return a_x0;
}
fn b_read(at0: u32, at1: u32) -> vec4<f32> {
  let b_x1 = in_1[(p.offset_1 + at0 * p.stride_1_0 + at1) / 4u];
  return b_x1;
}

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
  let lane = local % 16u;
  let k_group = local / 16u;
  let batch = id / p.column_tiles % 1u;
  let part = id / p.column_tiles;
  split = part;
  let k_begin = part * p.split_depth;
  let k_end = min(p.extent_2, k_begin + p.split_depth);
  let first = id % p.column_tiles * 16u;
  let columns_in_units = p.extent_1 / 4u;
  let stores = first + lane < columns_in_units;
  let column = min(first + lane, columns_in_units - 1u) * 4u;
  var sum = vec4<f32>();
  for (var k = k_begin + k_group * 8u; k < k_end; k += 128u) {
    {
      let inside = k < k_end;
      let depth = min(k, k_end - 1u);
      sum = fma(vec4<f32>(select(f32(), a_read(0u, depth), inside)), select(vec4<f32>(), b_read(depth, column), inside), sum);
    }
    {
      let inside = k + 1u < k_end;
      let depth = min(k + 1u, k_end - 1u);
      sum = fma(vec4<f32>(select(f32(), a_read(0u, depth), inside)), select(vec4<f32>(), b_read(depth, column), inside), sum);
    }
    {
      let inside = k + 2u < k_end;
      let depth = min(k + 2u, k_end - 1u);
      sum = fma(vec4<f32>(select(f32(), a_read(0u, depth), inside)), select(vec4<f32>(), b_read(depth, column), inside), sum);
    }
    {
      let inside = k + 3u < k_end;
      let depth = min(k + 3u, k_end - 1u);
      sum = fma(vec4<f32>(select(f32(), a_read(0u, depth), inside)), select(vec4<f32>(), b_read(depth, column), inside), sum);
    }
    {
      let inside = k + 4u < k_end;
      let depth = min(k + 4u, k_end - 1u);
      sum = fma(vec4<f32>(select(f32(), a_read(0u, depth), inside)), select(vec4<f32>(), b_read(depth, column), inside), sum);
    }
    {
      let inside = k + 5u < k_end;
      let depth = min(k + 5u, k_end - 1u);
      sum = fma(vec4<f32>(select(f32(), a_read(0u, depth), inside)), select(vec4<f32>(), b_read(depth, column), inside), sum);
    }
    {
      let inside = k + 6u < k_end;
      let depth = min(k + 6u, k_end - 1u);
      sum = fma(vec4<f32>(select(f32(), a_read(0u, depth), inside)), select(vec4<f32>(), b_read(depth, column), inside), sum);
    }
    {
      let inside = k + 7u < k_end;
      let depth = min(k + 7u, k_end - 1u);
      sum = fma(vec4<f32>(select(f32(), a_read(0u, depth), inside)), select(vec4<f32>(), b_read(depth, column), inside), sum);
    }
  }
  if k_group >= 8u {
    let place = lane + (k_group - 8u) * 16u;
    partial[place] = sum;
  }
  workgroupBarrier();
  if k_group < 8u {
    let place = lane + k_group * 16u;
    partial[place] += sum;
  }
  for (var left = 4u; left > 0u; left /= 2u) {
    workgroupBarrier();
    if k_group < left {
      let place = lane + k_group * 16u;
      let other = place + left * 16u;
      partial[place] += partial[other];
    }
  }
  if k_group < 1u && stores {
    finish(batch, 0u, column, partial[lane]);
  }
}
