struct Params {
  workgroups: u32,
  count: u32,
  extent_1: u32,
  row_length: u32,
  offset_1: u32,
  offset_2: u32,
  stride_2_0: u32,
  offset_3: u32,
  stride_3_0: u32,
  offset_0: u32,
  stride_0_0: u32,
  scalar_11: f32,
  size_12: u32,
  extent_0: u32,
  stride_1_2: u32,
  stride_1_1: u32,
  stride_2_2: u32,
  stride_3_2: u32,
  offset_4: u32,
  stride_4_0: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_1: array<i32>;
@group(0) @binding(3) var<storage, read> in_2: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> in_3: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> out_0: array<vec4<f32>>;
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
var<workgroup> marks: array<atomic<u32>, 128>;
var<workgroup> marked_words: array<atomic<u32>, 4>;
fn load_1_1(at: u32, last: u32) -> vec4<i32> {
  return vec4<i32>(in_1[at + min(0u, last) * p.stride_1_1], in_1[at + min(1u, last) * p.stride_1_1], in_1[at + min(2u, last) * p.stride_1_1], in_1[at + min(3u, last) * p.stride_1_1]);
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
  let block = id;
  let unit = local % 256u;
  let lane = local / 256u;
  let row_at = block * 1024u + unit * 4u;
  let valid = row_at < p.count;
  let row = min(row_at, p.count - 4u);
  let rows1 = row / p.extent_1;
  let k1 = row % p.extent_1;
  let k0 = rows1;
  let end = p.row_length;
  let base1 = p.offset_1;
  let base2 = p.offset_2 + k0 * p.stride_2_0 + k1;
  let base3 = p.offset_3 + k0 * p.stride_3_0 + k1;
  let v0 = in_0[(p.offset_0 + k0 * p.stride_0_0 + k1) / 4u];
  let v1 = vec4<f32>(p.scalar_11);
  let v5 = vec4<i32>(i32(p.size_12));
  let v7 = v5 - vec4<i32>(1i);
  let v9 = vec4<i32>(vec4<u32>(k0));
  var running21_0 = vec4<f32>();
  var lost21 = vec4<f32>();
  let opaque = select(0u, 1u, p.row_length == 4294967295u);
  let first_at = block * 1024u / p.extent_1;
  let last_at = min(block * 1024u + 1023u, p.count - 1u) / p.extent_1;
  let first_place = i32(first_at);
  let last_place = i32(last_at);
  for (var chunk = 0u; chunk < end; chunk += 4096u) {
    workgroupBarrier();
    for (var word = local; word < 128u; word += 256u) {
      atomicStore(&marks[word], 0u);
    }
    if local < 4u {
      atomicStore(&marked_words[local], 0u);
    }
    workgroupBarrier();
    let chunk_end = min(end, chunk + 4096u);
    for (var at = chunk + local; at < chunk_end; at += 256u) {
      let integer_2 = in_1[base1 + at * p.stride_1_2];
      let integer_4 = max(integer_2, 0i);
      let integer_8 = min(integer_4, v7.x);
      if first_place <= integer_8 && integer_8 <= last_place {
        let place = at - chunk;
        atomicOr(&marks[place / 32u], 1u << (place % 32u));
        atomicOr(&marked_words[place / 1024u], 1u << (place / 32u % 32u));
      }
    }
    workgroupBarrier();
    for (var group = 0u; group < 4u; group++) {
      var words = atomicLoad(&marked_words[group]);
      while words != 0u {
        let word = group * 32u + firstTrailingBit(words);
        words = words & (words - 1u);
        var bits = atomicLoad(&marks[word]);
        while bits != 0u {
          let e0 = chunk + word * 32u + firstTrailingBit(bits);
          bits = bits & (bits - 1u);
          let inside1 = bits != 0u;
          let e1 = chunk + word * 32u + firstTrailingBit(bits);
          bits = bits & (bits - 1u);
          let inside2 = bits != 0u;
          let e2 = chunk + word * 32u + firstTrailingBit(bits);
          bits = bits & (bits - 1u);
          let inside3 = bits != 0u;
          let e3 = chunk + word * 32u + firstTrailingBit(bits);
          bits = bits & (bits - 1u);
          let v2_0 = load_1_1(base1 + e0 * p.stride_1_2, 3u);
          let v12_0 = in_2[(base2 + e0 * p.stride_2_2) / 4u];
          let v15_0 = in_3[(base3 + e0 * p.stride_3_2) / 4u];
          var v2_1: vec4<i32>;
          if inside1 {
            v2_1 = load_1_1(base1 + e1 * p.stride_1_2, 3u);
          }
          var v12_1: vec4<f32>;
          if inside1 {
            v12_1 = in_2[(base2 + e1 * p.stride_2_2) / 4u];
          }
          var v15_1: vec4<f32>;
          if inside1 {
            v15_1 = in_3[(base3 + e1 * p.stride_3_2) / 4u];
          }
          var v2_2: vec4<i32>;
          if inside2 {
            v2_2 = load_1_1(base1 + e2 * p.stride_1_2, 3u);
          }
          var v12_2: vec4<f32>;
          if inside2 {
            v12_2 = in_2[(base2 + e2 * p.stride_2_2) / 4u];
          }
          var v15_2: vec4<f32>;
          if inside2 {
            v15_2 = in_3[(base3 + e2 * p.stride_3_2) / 4u];
          }
          var v2_3: vec4<i32>;
          if inside3 {
            v2_3 = load_1_1(base1 + e3 * p.stride_1_2, 3u);
          }
          var v12_3: vec4<f32>;
          if inside3 {
            v12_3 = in_2[(base2 + e3 * p.stride_2_2) / 4u];
          }
          var v15_3: vec4<f32>;
          if inside3 {
            v15_3 = in_3[(base3 + e3 * p.stride_3_2) / 4u];
          }
          let v4_0 = max(v2_0, vec4<i32>(0i));
          let v8_0 = min(v4_0, v7);
          let v10_0 = v8_0 == v9;
          let v13_0 = vec4<f32>(1.0f) * v12_0;
          let v14_0 = v13_0 + v13_0;
          let v16_0 = v15_0 * v15_0;
          let v17_0 = vec4<f32>(1.0f) - v16_0;
          let v18_0 = v14_0 * v17_0;
          let v20_0 = select(vec4<f32>(0.0f), v18_0, v10_0);
          let v4_1 = max(v2_1, vec4<i32>(0i));
          let v8_1 = min(v4_1, v7);
          let v10_1 = v8_1 == v9;
          let v13_1 = vec4<f32>(1.0f) * v12_1;
          let v14_1 = v13_1 + v13_1;
          let v16_1 = v15_1 * v15_1;
          let v17_1 = vec4<f32>(1.0f) - v16_1;
          let v18_1 = v14_1 * v17_1;
          let v20_1 = select(vec4<f32>(0.0f), v18_1, v10_1);
          let v4_2 = max(v2_2, vec4<i32>(0i));
          let v8_2 = min(v4_2, v7);
          let v10_2 = v8_2 == v9;
          let v13_2 = vec4<f32>(1.0f) * v12_2;
          let v14_2 = v13_2 + v13_2;
          let v16_2 = v15_2 * v15_2;
          let v17_2 = vec4<f32>(1.0f) - v16_2;
          let v18_2 = v14_2 * v17_2;
          let v20_2 = select(vec4<f32>(0.0f), v18_2, v10_2);
          let v4_3 = max(v2_3, vec4<i32>(0i));
          let v8_3 = min(v4_3, v7);
          let v10_3 = v8_3 == v9;
          let v13_3 = vec4<f32>(1.0f) * v12_3;
          let v14_3 = v13_3 + v13_3;
          let v16_3 = v15_3 * v15_3;
          let v17_3 = vec4<f32>(1.0f) - v16_3;
          let v18_3 = v14_3 * v17_3;
          let v20_3 = select(vec4<f32>(0.0f), v18_3, v10_3);
          let own21_0_0 = v20_0;
          let own21_1_0 = select(vec4<f32>(), v20_1, inside1);
          let total21_1_0 = own21_0_0 + own21_1_0;
          let own21_2_0 = select(vec4<f32>(), v20_2, inside2);
          let total21_2_0 = total21_1_0 + own21_2_0;
          let own21_3_0 = select(vec4<f32>(), v20_3, inside3);
          let total21_3_0 = total21_2_0 + own21_3_0;
          let sum21 = fuse_hidden4(running21_0 + total21_3_0, opaque);
          lost21 += fuse_lost4(running21_0, total21_3_0, sum21);
          running21_0 = sum21;
        }
      }
    }
  }
  let restored21_0 = fuse_restored4(running21_0, lost21);
  let v21 = restored21_0;
  let v22 = v1 * v21;
  let v23 = v0 - v22;
  if lane == 0u && valid {
    out_0[(p.offset_4 + k0 * p.stride_4_0 + k1) / 4u] = v23;
  }
}
