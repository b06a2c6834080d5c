struct Params {
  extent_1: u32,
  extent_2: u32,
  extent_3: u32,
  extent_4: u32,
  offset_6: u32,
  stride_6_0: u32,
  offset_7: u32,
  stride_7_0: u32,
  offset_8: u32,
  stride_8_0: u32,
  workgroups: u32,
  row_tiles: u32,
  offset_0: u32,
  stride_0_0: u32,
  offset_1: u32,
  stride_1_0: u32,
  extent_5: u32,
  offset_2: u32,
  stride_2_0: u32,
  offset_3: u32,
  stride_3_0: u32,
  offset_4: u32,
  stride_4_0: u32,
  offset_5: u32,
  stride_5_0: u32,
  stride_1_2: u32,
  stride_0_1: u32,
  stride_3_2: u32,
  stride_2_1: u32,
  stride_4_1: u32,
  stride_5_1: u32,
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> in_0: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> in_1: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> in_2: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> in_3: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> in_4: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> in_5: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read> in_6: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> out_0: array<vec4<f32>>;
@group(0) @binding(9) var<storage, read_write> out_1: array<vec4<f32>>;
var<private> fuse_nan_bits: u32 = 0x7fc00000u;
var<private> fuse_inf_bits: u32 = 0x7f800000u;

struct Weights {
  w0: vec4<f32>,
  w1: vec4<f32>,
}
fn weights(b0: u32, row: u32, column: u32, c0: vec4<f32>, c1: vec4<f32>) -> Weights {
  let inside_row = min(row, p.extent_1 - 1u);
  let inside_column = min(column, p.extent_3 - 4u);
  let x6 = in_4[(p.offset_6 + b0 * p.stride_6_0 + inside_column) / 4u];
  let x7 = in_5[(p.offset_7 + b0 * p.stride_7_0 + inside_column) / 4u];
  let x8 = in_6[(p.offset_8 + b0 * p.stride_8_0 + inside_column) / 4u];
  let s0 = c0;
  let s2 = s0 * vec4<f32>(0.25f);
  let s4 = s2 == vec4<f32>(-bitcast<f32>(fuse_inf_bits));
  let s6 = x6;
  let s7 = s2 - s6;
  let s8 = exp(s7);
  let s9 = x7;
  let s10 = s8 * s9;
  let s11 = select(s10, vec4<f32>(0.0f), s4);
  let s12 = c1;
  let s13 = x8;
  let s14 = s12 - s13;
  let s15 = s11 * s14;
  let s16 = select(s15, vec4<f32>(0.0f), s4);
  let s17 = s16 * vec4<f32>(0.25f);
  return Weights(s11, s17);
}
fn finish(batch: u32, b0: u32, row: u32, column: u32, sum0: vec4<f32>, sum1: vec4<f32>) {
  if row >= p.extent_1 || column >= p.extent_2 {
    return;
  }
  let v0 = sum0;
  let v1 = sum1;
  let at = (batch * p.extent_1 + row) * p.extent_2 + column;
  out_0[at / 4u] = v0;
  out_1[at / 4u] = v1;
}
var<workgroup> lhs_tile: array<vec4<f32>, 64>;
var<workgroup> stage: array<vec4<f32>, 64>;
var<workgroup> weight_tile: array<vec4<f32>, 256>;
struct Products {
  s0_0: vec4<f32>,
  s1_0: vec4<f32>,
  s2_0: vec4<f32>,
  s3_0: vec4<f32>,
}
fn add_products(c: ptr<function, Products>, a0: vec4<f32>, b0: vec4<f32>) {
  (*c).s0_0 = fma(vec4<f32>(a0.x), b0, (*c).s0_0);
  (*c).s1_0 = fma(vec4<f32>(a0.y), b0, (*c).s1_0);
  (*c).s2_0 = fma(vec4<f32>(a0.z), b0, (*c).s2_0);
  (*c).s3_0 = fma(vec4<f32>(a0.w), b0, (*c).s3_0);
}
struct Outputs {
  s0_0: vec4<f32>,
  s1_0: vec4<f32>,
  s2_0: vec4<f32>,
  s3_0: vec4<f32>,
}
fn add_outputs(c: ptr<function, Outputs>, a0: vec4<f32>, b0: vec4<f32>) {
  (*c).s0_0 = fma(vec4<f32>(a0.x), b0, (*c).s0_0);
  (*c).s1_0 = fma(vec4<f32>(a0.y), b0, (*c).s1_0);
  (*c).s2_0 = fma(vec4<f32>(a0.z), b0, (*c).s2_0);
  (*c).s3_0 = fma(vec4<f32>(a0.w), b0, (*c).s3_0);
}

@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let id = workgroup.x + workgroup.y * workgroups.x;
  if id >= p.workgroups {
    return;
  }
  let batch = id / p.row_tiles;
  let position = id % p.row_tiles;
  let row0 = position * 32u;
  var key_begin = 0u;
  var key_end = p.extent_3;
  let b0 = batch;
  let negative_infinity = -bitcast<f32>(fuse_inf_bits);
  let xa_base0 = p.offset_0 + b0 * p.stride_0_0;
  let xa0_o = local / 2u;
  let xa0_k = local % 2u * 4u;
  let xa0_to = xa0_k * 8u + ((xa0_o / 4u) ^ (xa0_k / 4u % 4u * 2u));
  var xa0_x0: vec4<f32>;
  let xb_base1 = p.offset_1 + b0 * p.stride_1_0;
  let xb0_o = local / 2u;
  let xb0_k = local % 2u * 4u;
  let xb0_to = xb0_k * 8u + ((xb0_o / 4u) ^ (xb0_k / 4u % 4u * 2u));
  var xb0_x1: vec4<f32>;
  let xc_base2 = p.offset_2 + b0 * p.stride_2_0;
  let xc0_o = local / 2u;
  let xc0_k = local % 2u * 4u;
  let xc0_to = xc0_k * 8u + ((xc0_o / 4u) ^ (xc0_k / 4u % 4u * 2u));
  var xc0_x2: vec4<f32>;
  let xd_base3 = p.offset_3 + b0 * p.stride_3_0;
  let xd0_o = local / 2u;
  let xd0_k = local % 2u * 4u;
  let xd0_to = xd0_k * 8u + ((xd0_o / 4u) ^ (xd0_k / 4u % 4u * 2u));
  var xd0_x3: vec4<f32>;
  let xv_base4 = p.offset_4 + b0 * p.stride_4_0;
  let xv0_o = local % 8u * 4u;
  let xv0_k = local / 8u;
  let xv0_to = xv0_k * 8u + ((xv0_o / 4u) ^ (xv0_k / 4u % 4u * 2u));
  var xv0_x4: vec4<f32>;
  let xw_base5 = p.offset_5 + b0 * p.stride_5_0;
  let xw0_o = local % 8u * 4u;
  let xw0_k = local / 8u;
  let xw0_to = xw0_k * 8u + ((xw0_o / 4u) ^ (xw0_k / 4u % 4u * 2u));
  var xw0_x5: vec4<f32>;
  let tx = local % 8u;
  let ty = local / 8u;
  let rows0 = ty;
  let tx0 = tx ^ 0u;
  let tx2 = tx ^ 2u;
  var o0 = Outputs();
  var o1 = Outputs();
  if key_begin < key_end {
    {
      let start = min(xb0_k, p.extent_4 - 4u);
      let outer = min(key_begin + xb0_o, p.extent_3 - 1u);
      xb0_x1 = in_1[(xb_base1 + start + outer * p.stride_1_2) / 4u];
    }
    {
      let start = min(xa0_k, p.extent_4 - 4u);
      let outer = min(row0 + xa0_o, p.extent_1 - 1u);
      xa0_x0 = in_0[(xa_base0 + start + outer * p.stride_0_1) / 4u];
    }
  }
  for (var k0 = key_begin; k0 < key_end; k0 += 32u) {
    var c0 = Products();
    for (var d0 = 0u; d0 < p.extent_4; d0 += 8u) {
      {
        let value = select(vec4<f32>(), xb0_x1, d0 + xb0_k < p.extent_4);
        stage[xb0_to][xb0_o % 4u] = value.x;
        stage[xb0_to + 8u][xb0_o % 4u] = value.y;
        stage[xb0_to + 16u][xb0_o % 4u] = value.z;
        stage[xb0_to + 24u][xb0_o % 4u] = value.w;
      }
      {
        let value = select(vec4<f32>(), xa0_x0, d0 + xa0_k < p.extent_4);
        lhs_tile[xa0_to][xa0_o % 4u] = value.x;
        lhs_tile[xa0_to + 8u][xa0_o % 4u] = value.y;
        lhs_tile[xa0_to + 16u][xa0_o % 4u] = value.z;
        lhs_tile[xa0_to + 24u][xa0_o % 4u] = value.w;
      }
      workgroupBarrier();
      if d0 + 8u < p.extent_4 {
        {
          let start = min(d0 + 8u + xb0_k, p.extent_4 - 4u);
          let outer = min(k0 + xb0_o, p.extent_3 - 1u);
          xb0_x1 = in_1[(xb_base1 + start + outer * p.stride_1_2) / 4u];
        }
        {
          let start = min(d0 + 8u + xa0_k, p.extent_4 - 4u);
          let outer = min(row0 + xa0_o, p.extent_1 - 1u);
          xa0_x0 = in_0[(xa_base0 + start + outer * p.stride_0_1) / 4u];
        }
      } else {
        {
          let start = min(xd0_k, p.extent_5 - 4u);
          let outer = min(k0 + xd0_o, p.extent_3 - 1u);
          xd0_x3 = in_3[(xd_base3 + start + outer * p.stride_3_2) / 4u];
        }
        {
          let start = min(xc0_k, p.extent_5 - 4u);
          let outer = min(row0 + xc0_o, p.extent_1 - 1u);
          xc0_x2 = in_2[(xc_base2 + start + outer * p.stride_2_1) / 4u];
        }
      }
      let lhs0_0 = rows0;
      let lhs0_2 = rows0 ^ 2u;
      add_products(&c0, lhs_tile[lhs0_0], stage[tx0]);
      add_products(&c0, lhs_tile[lhs0_0 + 8u], stage[tx0 + 8u]);
      add_products(&c0, lhs_tile[lhs0_0 + 16u], stage[tx0 + 16u]);
      add_products(&c0, lhs_tile[lhs0_0 + 24u], stage[tx0 + 24u]);
      add_products(&c0, lhs_tile[lhs0_2 + 32u], stage[tx2 + 32u]);
      add_products(&c0, lhs_tile[lhs0_2 + 40u], stage[tx2 + 40u]);
      add_products(&c0, lhs_tile[lhs0_2 + 48u], stage[tx2 + 48u]);
      add_products(&c0, lhs_tile[lhs0_2 + 56u], stage[tx2 + 56u]);
      workgroupBarrier();
    }
    var c1 = Products();
    for (var d0 = 0u; d0 < p.extent_5; d0 += 8u) {
      {
        let value = select(vec4<f32>(), xd0_x3, d0 + xd0_k < p.extent_5);
        stage[xd0_to][xd0_o % 4u] = value.x;
        stage[xd0_to + 8u][xd0_o % 4u] = value.y;
        stage[xd0_to + 16u][xd0_o % 4u] = value.z;
        stage[xd0_to + 24u][xd0_o % 4u] = value.w;
      }
      {
        let value = select(vec4<f32>(), xc0_x2, d0 + xc0_k < p.extent_5);
        lhs_tile[xc0_to][xc0_o % 4u] = value.x;
        lhs_tile[xc0_to + 8u][xc0_o % 4u] = value.y;
        lhs_tile[xc0_to + 16u][xc0_o % 4u] = value.z;
        lhs_tile[xc0_to + 24u][xc0_o % 4u] = value.w;
      }
      workgroupBarrier();
      if d0 + 8u < p.extent_5 {
        {
          let start = min(d0 + 8u + xd0_k, p.extent_5 - 4u);
          let outer = min(k0 + xd0_o, p.extent_3 - 1u);
          xd0_x3 = in_3[(xd_base3 + start + outer * p.stride_3_2) / 4u];
        }
        {
          let start = min(d0 + 8u + xc0_k, p.extent_5 - 4u);
          let outer = min(row0 + xc0_o, p.extent_1 - 1u);
          xc0_x2 = in_2[(xc_base2 + start + outer * p.stride_2_1) / 4u];
        }
      } else {
        {
          let start = min(k0 + xv0_k, p.extent_3 - 1u);
          let outer = min(xv0_o, p.extent_2 - 4u);
          xv0_x4 = in_3[(xv_base4 + start * p.stride_4_1 + outer) / 4u];
        }
      }
      let lhs0_0 = rows0;
      let lhs0_2 = rows0 ^ 2u;
      add_products(&c1, lhs_tile[lhs0_0], stage[tx0]);
      add_products(&c1, lhs_tile[lhs0_0 + 8u], stage[tx0 + 8u]);
      add_products(&c1, lhs_tile[lhs0_0 + 16u], stage[tx0 + 16u]);
      add_products(&c1, lhs_tile[lhs0_0 + 24u], stage[tx0 + 24u]);
      add_products(&c1, lhs_tile[lhs0_2 + 32u], stage[tx2 + 32u]);
      add_products(&c1, lhs_tile[lhs0_2 + 40u], stage[tx2 + 40u]);
      add_products(&c1, lhs_tile[lhs0_2 + 48u], stage[tx2 + 48u]);
      add_products(&c1, lhs_tile[lhs0_2 + 56u], stage[tx2 + 56u]);
      workgroupBarrier();
    }
    var w0 = weights(b0, row0 + rows0 * 4u, k0 + tx * 4u, c0.s0_0, c1.s0_0);
    var w1 = weights(b0, row0 + rows0 * 4u + 1u, k0 + tx * 4u, c0.s1_0, c1.s1_0);
    var w2 = weights(b0, row0 + rows0 * 4u + 2u, k0 + tx * 4u, c0.s2_0, c1.s2_0);
    var w3 = weights(b0, row0 + rows0 * 4u + 3u, k0 + tx * 4u, c0.s3_0, c1.s3_0);
    if k0 + 32u > p.extent_3 {
      let exists = vec4<u32>(k0 + tx * 4u) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(p.extent_3);
      w0.w0 = select(vec4<f32>(), w0.w0, exists);
      w0.w1 = select(vec4<f32>(), w0.w1, exists);
      w1.w0 = select(vec4<f32>(), w1.w0, exists);
      w1.w1 = select(vec4<f32>(), w1.w1, exists);
      w2.w0 = select(vec4<f32>(), w2.w0, exists);
      w2.w1 = select(vec4<f32>(), w2.w1, exists);
      w3.w0 = select(vec4<f32>(), w3.w0, exists);
      w3.w1 = select(vec4<f32>(), w3.w1, exists);
    }
    let weight0_0 = rows0 ^ (tx % 8u);
    weight_tile[tx * 4u * 8u + weight0_0] = vec4<f32>(w0.w0.x, w1.w0.x, w2.w0.x, w3.w0.x);
    weight_tile[(tx * 4u + 1u) * 8u + weight0_0] = vec4<f32>(w0.w0.y, w1.w0.y, w2.w0.y, w3.w0.y);
    weight_tile[(tx * 4u + 2u) * 8u + weight0_0] = vec4<f32>(w0.w0.z, w1.w0.z, w2.w0.z, w3.w0.z);
    weight_tile[(tx * 4u + 3u) * 8u + weight0_0] = vec4<f32>(w0.w0.w, w1.w0.w, w2.w0.w, w3.w0.w);
    for (var v0 = 0u; v0 < 32u && k0 + v0 < key_end; v0 += 8u) {
      {
        let value = select(vec4<f32>(), xv0_x4, k0 + v0 + xv0_k < p.extent_3);
        stage[xv0_to] = value;
      }
      workgroupBarrier();
      if v0 + 8u < 32u && k0 + v0 + 8u < key_end {
        {
          let start = min(k0 + v0 + 8u + xv0_k, p.extent_3 - 1u);
          let outer = min(xv0_o, p.extent_2 - 4u);
          xv0_x4 = in_3[(xv_base4 + start * p.stride_4_1 + outer) / 4u];
        }
      } else {
        {
          let start = min(k0 + xw0_k, p.extent_3 - 1u);
          let outer = min(xw0_o, p.extent_2 - 4u);
          xw0_x5 = in_1[(xw_base5 + start * p.stride_5_1 + outer) / 4u];
        }
      }
      let at0_0 = v0 * 8u + (rows0 ^ (v0 / 4u % 8u));
      let at0_1 = v0 * 8u + (rows0 ^ ((v0 / 4u + 1u) % 8u));
      add_outputs(&o0, weight_tile[at0_0], stage[tx0]);
      add_outputs(&o0, weight_tile[at0_0 + 8u], stage[tx0 + 8u]);
      add_outputs(&o0, weight_tile[at0_0 + 16u], stage[tx0 + 16u]);
      add_outputs(&o0, weight_tile[at0_0 + 24u], stage[tx0 + 24u]);
      add_outputs(&o0, weight_tile[at0_1 + 32u], stage[tx2 + 32u]);
      add_outputs(&o0, weight_tile[at0_1 + 40u], stage[tx2 + 40u]);
      add_outputs(&o0, weight_tile[at0_1 + 48u], stage[tx2 + 48u]);
      add_outputs(&o0, weight_tile[at0_1 + 56u], stage[tx2 + 56u]);
      workgroupBarrier();
    }
    let weight1_0 = rows0 ^ (tx % 8u);
    weight_tile[tx * 4u * 8u + weight1_0] = vec4<f32>(w0.w1.x, w1.w1.x, w2.w1.x, w3.w1.x);
    weight_tile[(tx * 4u + 1u) * 8u + weight1_0] = vec4<f32>(w0.w1.y, w1.w1.y, w2.w1.y, w3.w1.y);
    weight_tile[(tx * 4u + 2u) * 8u + weight1_0] = vec4<f32>(w0.w1.z, w1.w1.z, w2.w1.z, w3.w1.z);
    weight_tile[(tx * 4u + 3u) * 8u + weight1_0] = vec4<f32>(w0.w1.w, w1.w1.w, w2.w1.w, w3.w1.w);
    for (var v0 = 0u; v0 < 32u && k0 + v0 < key_end; v0 += 8u) {
      {
        let value = select(vec4<f32>(), xw0_x5, k0 + v0 + xw0_k < p.extent_3);
        stage[xw0_to] = value;
      }
      workgroupBarrier();
      if v0 + 8u < 32u && k0 + v0 + 8u < key_end {
        {
          let start = min(k0 + v0 + 8u + xw0_k, p.extent_3 - 1u);
          let outer = min(xw0_o, p.extent_2 - 4u);
          xw0_x5 = in_1[(xw_base5 + start * p.stride_5_1 + outer) / 4u];
        }
      } else {
        if k0 + 32u < key_end {
          {
            let start = min(xb0_k, p.extent_4 - 4u);
            let outer = min(k0 + 32u + xb0_o, p.extent_3 - 1u);
            xb0_x1 = in_1[(xb_base1 + start + outer * p.stride_1_2) / 4u];
          }
          {
            let start = min(xa0_k, p.extent_4 - 4u);
            let outer = min(row0 + xa0_o, p.extent_1 - 1u);
            xa0_x0 = in_0[(xa_base0 + start + outer * p.stride_0_1) / 4u];
          }
        }
      }
      let at0_0 = v0 * 8u + (rows0 ^ (v0 / 4u % 8u));
      let at0_1 = v0 * 8u + (rows0 ^ ((v0 / 4u + 1u) % 8u));
      add_outputs(&o1, weight_tile[at0_0], stage[tx0]);
      add_outputs(&o1, weight_tile[at0_0 + 8u], stage[tx0 + 8u]);
      add_outputs(&o1, weight_tile[at0_0 + 16u], stage[tx0 + 16u]);
      add_outputs(&o1, weight_tile[at0_0 + 24u], stage[tx0 + 24u]);
      add_outputs(&o1, weight_tile[at0_1 + 32u], stage[tx2 + 32u]);
      add_outputs(&o1, weight_tile[at0_1 + 40u], stage[tx2 + 40u]);
      add_outputs(&o1, weight_tile[at0_1 + 48u], stage[tx2 + 48u]);
      add_outputs(&o1, weight_tile[at0_1 + 56u], stage[tx2 + 56u]);
      workgroupBarrier();
    }
  }
  finish(batch, b0, row0 + rows0 * 4u, tx * 4u, o0.s0_0, o1.s0_0);
  finish(batch, b0, row0 + rows0 * 4u + 1u, tx * 4u, o0.s1_0, o1.s1_0);
  finish(batch, b0, row0 + rows0 * 4u + 2u, tx * 4u, o0.s2_0, o1.s2_0);
  finish(batch, b0, row0 + rows0 * 4u + 3u, tx * 4u, o0.s3_0, o1.s3_0);
}
