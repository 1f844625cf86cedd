// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file 2>/dev/null

// Each function is named for the constraint in NMPatches.td that it breaks.

func.func @c1_loops(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{expected a map of 3 loops to the image's 2 dimensions, but got affine_map<(d0, d1) -> (d0, d1)>}}
  %a = nm.patches %x map affine_map<(c, x) -> (c, x)> loops [8, 3, 14] groups [2, 1]
    : tensor<8x16xf32> -> tensor<24x14xf32>
  return
}

// -----

func.func @c1_quotient(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{expected a map to sums of loops times positive factors, but got affine_map<(d0, d1, d2) -> (d0, d2 floordiv 2 + d1)>}}
  %a = nm.patches %x map affine_map<(c, i, x) -> (c, x floordiv 2 + i)> loops [8, 3, 14] groups [2, 1]
    : tensor<8x16xf32> -> tensor<24x14xf32>
  return
}

// -----

func.func @c1_backwards(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{expected a map to sums of loops times positive factors}}
  %a = nm.patches %x map affine_map<(c, i, x) -> (c, x - i)> loops [8, 3, 14] groups [2, 1]
    : tensor<8x16xf32> -> tensor<24x14xf32>
  return
}

// -----

func.func @c2_groups(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{expected loops of at least 1 and two groups or more of all of them, but got loops [8, 3, 14] and groups [1, 1]}}
  %a = nm.patches %x map affine_map<(c, i, x) -> (c, x + i)> loops [8, 3, 14] groups [1, 1]
    : tensor<8x16xf32> -> tensor<24x14xf32>
  return
}

// -----

func.func @c2_shape(%x: tensor<8x16xf32>) {
  // expected-error @+1 {{expected size of dim 1 of result to be 14, but got 15}}
  %a = nm.patches %x map affine_map<(c, i, x) -> (c, x + i)> loops [8, 3, 14] groups [2, 1]
    : tensor<8x16xf32> -> tensor<24x15xf32>
  return
}

// -----

func.func @c3_type(%x: tensor<8x16xf16>) {
  // expected-error @+1 {{expected an image and a result of one element type and static shapes}}
  %a = nm.patches %x map affine_map<(c, i, x) -> (c, x + i)> loops [8, 3, 14] groups [2, 1]
    : tensor<8x16xf16> -> tensor<24x14xf32>
  return
}

// -----

func.func @c3_layout(%x: memref<8x16xf32>) {
  // expected-error @+1 {{expected an image and a result of one element type and static shapes}}
  %a = nm.patches %x map affine_map<(c, i, x) -> (c, x + i)> loops [8, 3, 14] groups [2, 1]
    : memref<8x16xf32> -> memref<24x14xf32, strided<[16, 1]>>
  return
}
