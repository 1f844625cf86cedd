// RUN: nm-opt %s --canonicalize --split-input-file | FileCheck %s

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

// Column 0 keeps units 0 and 3. Column 1 has one non-zero, as -0.0 is none, and
// is filled at its lowest free position.

// CHECK-LABEL: func.func @compress_constant
func.func @compress_constant(%v0: tensor<2x2xf32>, %i0: tensor<2x2xi8>) -> (tensor<2x2xf32>, tensor<2x2xi8>) {
  // CHECK-DAG: %[[V:.*]] = arith.constant dense<{{\[}}[1.000000e+00, 0.000000e+00], [2.000000e+00, 5.000000e+00]]> : tensor<2x2xf32>
  // CHECK-DAG: %[[I:.*]] = arith.constant dense<{{\[}}[0, 0], [3, 2]]> : tensor<2x2xi8>
  // CHECK: return %[[V]], %[[I]]
  %b = arith.constant dense<[[1.0, 0.0], [0.0, -0.0], [0.0, 5.0], [2.0, 0.0]]> : tensor<4x2xf32>
  %v, %i = nm.compress <2:4> ins(%b : tensor<4x2xf32>)
    outs(%v0, %i0 : tensor<2x2xf32>, tensor<2x2xi8>) -> tensor<2x2xf32>, tensor<2x2xi8>
  return %v, %i : tensor<2x2xf32>, tensor<2x2xi8>
}

// -----

// W[n×k] with k = 3: the last window is padded. Blocks of 1x2 pad n = 3, too.

// CHECK-LABEL: func.func @compress_ragged
func.func @compress_ragged(%v0: tensor<2x4xi8>, %i0: tensor<2x2xi8>) -> (tensor<2x4xi8>, tensor<2x2xi8>) {
  // CHECK-DAG: %[[V:.*]] = arith.constant dense<{{\[}}[4, 0, 6, 0], [7, 8, 0, 0]]> : tensor<2x4xi8>
  // CHECK-DAG: %[[I:.*]] = arith.constant dense<{{\[}}[1, 0], [0, 0]]> : tensor<2x2xi8>
  // CHECK: return %[[V]], %[[I]]
  %w = arith.constant dense<[[0, 4, 7], [0, 0, 8], [6, 0, 0]]> : tensor<3x3xi8>
  %v, %i = nm.compress <1:2, block = 1x2> dim 1 ins(%w : tensor<3x3xi8>)
    outs(%v0, %i0 : tensor<2x4xi8>, tensor<2x2xi8>) -> tensor<2x4xi8>, tensor<2x2xi8>
  return %v, %i : tensor<2x4xi8>, tensor<2x2xi8>
}

// -----

// A constant that breaks its pattern is left for nm-materialize-storage, or for
// the check at run time.

// CHECK-LABEL: func.func @compress_broken
func.func @compress_broken(%v0: tensor<1x1xf32>, %i0: tensor<1x1xi8>) -> (tensor<1x1xf32>, tensor<1x1xi8>) {
  // CHECK: nm.compress
  %b = arith.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %v, %i = nm.compress <1:2> ins(%b : tensor<2x1xf32>)
    outs(%v0, %i0 : tensor<1x1xf32>, tensor<1x1xi8>) -> tensor<1x1xf32>, tensor<1x1xi8>
  return %v, %i : tensor<1x1xf32>, tensor<1x1xi8>
}

// -----

// CHECK-LABEL: func.func @decompress_constant
func.func @decompress_constant(%b0: tensor<3x2xf16>) -> tensor<3x2xf16> {
  // The unit at position 3 lies past k.
  // CHECK: %[[B:.*]] = arith.constant dense<{{\[}}[0.000000e+00, 2.000000e+00], [1.000000e+00, 0.000000e+00], [3.000000e+00, 0.000000e+00]]> : tensor<3x2xf16>
  // CHECK: return %[[B]]
  %v = arith.constant dense<[[1.0, 2.0], [3.0, 0.0]]> : tensor<2x2xf16>
  %i = arith.constant dense<[[1, 0], [2, 3]]> : tensor<2x2xi8>
  %b = nm.decompress <2:4> ins(%v, %i : tensor<2x2xf16>, tensor<2x2xi8>)
    outs(%b0 : tensor<3x2xf16>) -> tensor<3x2xf16>
  return %b : tensor<3x2xf16>
}

// -----

// Indices outside of their window, or repeated in it, are not followed.

// CHECK-LABEL: func.func @decompress_bad_indices
func.func @decompress_bad_indices(%b0: tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>) {
  // CHECK-COUNT-2: nm.decompress
  %v = arith.constant dense<[[1.0], [3.0]]> : tensor<2x1xf32>
  %outside = arith.constant dense<[[1], [4]]> : tensor<2x1xi8>
  %repeated = arith.constant dense<[[1], [1]]> : tensor<2x1xi8>
  %b = nm.decompress <2:4> ins(%v, %outside : tensor<2x1xf32>, tensor<2x1xi8>)
    outs(%b0 : tensor<4x1xf32>) -> tensor<4x1xf32>
  %c = nm.decompress <2:4> ins(%v, %repeated : tensor<2x1xf32>, tensor<2x1xi8>)
    outs(%b0 : tensor<4x1xf32>) -> tensor<4x1xf32>
  return %b, %c : tensor<4x1xf32>, tensor<4x1xf32>
}

// -----

// Of equal magnitudes the lower position is kept.

// CHECK-LABEL: func.func @prune_constant
func.func @prune_constant(%p0: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // CHECK: %[[P:.*]] = arith.constant dense<{{\[}}[0.000000e+00, 2.000000e+00], [-3.000000e+00, -2.000000e+00], [0.000000e+00, 0.000000e+00], [2.000000e+00, 0.000000e+00]]> : tensor<4x2xf32>
  // CHECK: return %[[P]]
  %b = arith.constant dense<[[1.0, 2.0], [-3.0, -2.0], [0.5, 2.0], [2.0, 1.0]]> : tensor<4x2xf32>
  %p = nm.prune <2:4> ins(%b : tensor<4x2xf32>) outs(%p0 : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %p : tensor<4x2xf32>
}

// -----

// Panels of two columns, the last half empty, with fields of three bits:
// 0 | 1 << 3 = 8 and 3 | 2 << 3 = 19; then 2 and 3 alone.

// CHECK-LABEL: func.func @pack_constant
func.func @pack_constant(%pv0: tensor<2x2x2xf32>, %pi0: tensor<2x2x1xi8>) -> (tensor<2x2x2xf32>, tensor<2x2x1xi8>) {
  // CHECK-DAG: %[[V:.*]] = arith.constant dense<{{\[\[}}[1.000000e+00, 2.000000e+00], [4.000000e+00, 5.000000e+00]], {{\[}}[3.000000e+00, 0.000000e+00], [6.000000e+00, 0.000000e+00]]]> : tensor<2x2x2xf32>
  // CHECK-DAG: %[[I:.*]] = arith.constant dense<{{\[\[}}[8], [19]], {{\[}}[2], [3]]]> : tensor<2x2x1xi8>
  // CHECK: return %[[V]], %[[I]]
  %v = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %i = arith.constant dense<[[0, 1, 2], [3, 2, 3]]> : tensor<2x3xi8>
  %pv, %pi = nm.pack <2:4> #nm.packing<panel = 2, index_bits = 3> ins(%v, %i : tensor<2x3xf32>, tensor<2x3xi8>)
    outs(%pv0, %pi0 : tensor<2x2x2xf32>, tensor<2x2x1xi8>) -> tensor<2x2x2xf32>, tensor<2x2x1xi8>
  return %pv, %pi : tensor<2x2x2xf32>, tensor<2x2x1xi8>
}

// -----

// The two columns of a tile use units 0, 1, 3 and 7 of its window: indices are
// places in that list. The tile of the third is filled up.

// CHECK-LABEL: func.func @pack_col_info
func.func @pack_col_info(%pv0: tensor<3x2x1xf32>, %pi0: tensor<4x2x1xi8>) -> (tensor<4x2x1xi8>, tensor<4x2x1xi8>) {
  // CHECK-DAG: %[[I:.*]] = arith.constant dense<{{\[\[}}[0], [2]], {{\[}}[1], [3]], {{\[}}[0], [1]], {{\[}}[0], [0]]]> : tensor<4x2x1xi8>
  // CHECK-DAG: %[[L:.*]] = arith.constant dense<{{\[\[}}[0], [3]], {{\[}}[1], [7]], {{\[}}[2], [6]], {{\[}}[6], [6]]]> : tensor<4x2x1xi8>
  // CHECK: return %[[I]], %[[L]]
  %v = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %i = arith.constant dense<[[0, 1, 2], [3, 7, 6]]> : tensor<2x3xi8>
  %pv, %pi, %pl = nm.pack <2:8> #nm.packing<panel = 1, index_bits = 8, col_info = 2> ins(%v, %i : tensor<2x3xf32>, tensor<2x3xi8>)
    outs(%pv0, %pi0 : tensor<3x2x1xf32>, tensor<4x2x1xi8>) lists(%pi0 : tensor<4x2x1xi8>)
    -> tensor<3x2x1xf32>, tensor<4x2x1xi8>, tensor<4x2x1xi8>
  return %pi, %pl : tensor<4x2x1xi8>, tensor<4x2x1xi8>
}

// -----

// The third field spans two bytes: 0 | 1 << 3 | 6 << 6 = 0x188, and
// 3 | 2 << 3 | 7 << 6 = 0x1d3, low byte first.

// CHECK-LABEL: func.func @pack_straddling
func.func @pack_straddling(%pv0: tensor<1x2x3xi8>, %pi0: tensor<1x2x2xi8>) -> tensor<1x2x2xi8> {
  // CHECK: %[[I:.*]] = arith.constant dense<{{\[\[}}[-120, 1], [-45, 1]]]> : tensor<1x2x2xi8>
  // CHECK: return %[[I]]
  %v = arith.constant dense<1> : tensor<2x3xi8>
  %i = arith.constant dense<[[0, 1, 6], [3, 2, 7]]> : tensor<2x3xi8>
  %pv, %pi = nm.pack <2:8> #nm.packing<panel = 3, index_bits = 3> ins(%v, %i : tensor<2x3xi8>, tensor<2x3xi8>)
    outs(%pv0, %pi0 : tensor<1x2x3xi8>, tensor<1x2x2xi8>) -> tensor<1x2x3xi8>, tensor<1x2x2xi8>
  return %pi : tensor<1x2x2xi8>
}

// -----

// Splats are expanded, in and out.

// CHECK-LABEL: func.func @splats
func.func @splats(%p0: tensor<4x1xbf16>, %v0: tensor<2x1xbf16>, %i0: tensor<2x1xi8>)
    -> (tensor<4x1xbf16>, tensor<2x1xbf16>, tensor<2x1xi8>) {
  // CHECK-DAG: %[[P:.*]] = arith.constant dense<{{\[}}[3.000000e+00], [3.000000e+00], [0.000000e+00], [0.000000e+00]]> : tensor<4x1xbf16>
  // CHECK-DAG: %[[V:.*]] = arith.constant dense<0.000000e+00> : tensor<2x1xbf16>
  // CHECK-DAG: %[[I:.*]] = arith.constant dense<{{\[}}[0], [1]]> : tensor<2x1xi8>
  // CHECK: return %[[P]], %[[V]], %[[I]]
  %threes = arith.constant dense<3.0> : tensor<4x1xbf16>
  %zeros = arith.constant dense<-0.0> : tensor<4x1xbf16>
  %p = nm.prune <2:4> ins(%threes : tensor<4x1xbf16>) outs(%p0 : tensor<4x1xbf16>) -> tensor<4x1xbf16>
  %v, %i = nm.compress <2:4> ins(%zeros : tensor<4x1xbf16>)
    outs(%v0, %i0 : tensor<2x1xbf16>, tensor<2x1xi8>) -> tensor<2x1xbf16>, tensor<2x1xi8>
  return %p, %v, %i : tensor<4x1xbf16>, tensor<2x1xbf16>, tensor<2x1xi8>
}

// -----

// A splat too large for a constant, and one whose size overflows, are left.

// CHECK-LABEL: func.func @huge_splats
func.func @huge_splats(%p0: tensor<1000000000000x4xf32>, %q0: tensor<1099511627776x1099511627776xf32>)
    -> (tensor<1000000000000x4xf32>, tensor<1099511627776x1099511627776xf32>) {
  // CHECK-COUNT-2: nm.prune
  %b = arith.constant dense<1.0> : tensor<1000000000000x4xf32>
  %c = arith.constant dense<1.0> : tensor<1099511627776x1099511627776xf32>
  %p = nm.prune <2:4> ins(%b : tensor<1000000000000x4xf32>)
    outs(%p0 : tensor<1000000000000x4xf32>) -> tensor<1000000000000x4xf32>
  %q = nm.prune <2:4> ins(%c : tensor<1099511627776x1099511627776xf32>)
    outs(%q0 : tensor<1099511627776x1099511627776xf32>) -> tensor<1099511627776x1099511627776xf32>
  return %p, %q : tensor<1000000000000x4xf32>, tensor<1099511627776x1099511627776xf32>
}

// -----

// A weight of one element whose blocks make terabytes of padding is left, too.

// CHECK-LABEL: func.func @huge_padding
func.func @huge_padding(%v0: tensor<16777216x65536xf32>, %i0: tensor<256x1xi8>)
    -> (tensor<16777216x65536xf32>, tensor<256x1xi8>) {
  // CHECK: nm.compress
  %b = arith.constant dense<0.0> : tensor<1x1xf32>
  %v, %i = nm.compress <256:256, block = 65536x65536> ins(%b : tensor<1x1xf32>)
    outs(%v0, %i0 : tensor<16777216x65536xf32>, tensor<256x1xi8>) -> tensor<16777216x65536xf32>, tensor<256x1xi8>
  return %v, %i : tensor<16777216x65536xf32>, tensor<256x1xi8>
}

// -----

// dense_resource, little-endian floats 1, 0, 0, 2; and one whose blob is too
// short, which is not read.

// CHECK-LABEL: func.func @resources
func.func @resources(%v0: tensor<1x2xf32>, %i0: tensor<1x2xi8>) -> (tensor<1x2xf32>, tensor<1x2xi8>, tensor<1x2xf32>) {
  // CHECK-DAG: %[[V:.*]] = arith.constant dense<{{\[}}[1.000000e+00, 2.000000e+00]]> : tensor<1x2xf32>
  // CHECK-DAG: %[[I:.*]] = arith.constant dense<{{\[}}[0, 1]]> : tensor<1x2xi8>
  // CHECK: %[[SHORT:.*]]:2 = nm.compress
  // CHECK: return %[[V]], %[[I]], %[[SHORT]]#0
  %b = arith.constant dense_resource<weights> : tensor<2x2xf32>
  %c = arith.constant dense_resource<short> : tensor<2x2xf32>
  %v, %i = nm.compress <1:2> ins(%b : tensor<2x2xf32>)
    outs(%v0, %i0 : tensor<1x2xf32>, tensor<1x2xi8>) -> tensor<1x2xf32>, tensor<1x2xi8>
  %s, %t = nm.compress <1:2> ins(%c : tensor<2x2xf32>)
    outs(%v0, %i0 : tensor<1x2xf32>, tensor<1x2xi8>) -> tensor<1x2xf32>, tensor<1x2xi8>
  return %v, %i, %s : tensor<1x2xf32>, tensor<1x2xi8>, tensor<1x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803f000000000000000000000040",
      short: "0x040000000000803f"
    }
  }
#-}

// -----

// CHECK-LABEL: func.func @disassemble_constant
func.func @disassemble_constant() -> (tensor<1x2xf32>, tensor<1x2xi8>) {
  // CHECK-DAG: %[[V:.*]] = arith.constant dense<{{\[}}[1.000000e+00, 2.000000e+00]]> : tensor<1x2xf32>
  // CHECK-DAG: %[[I:.*]] = arith.constant dense<{{\[}}[0, 1]]> : tensor<1x2xi8>
  // CHECK: return %[[V]], %[[I]]
  %w = arith.constant dense<[[1.0, 0.0], [0.0, 2.0]]> : tensor<2x2xf32, #nm.encoding<1:2, dim = 1>>
  %v, %i = nm.disassemble %w : tensor<2x2xf32, #nm.encoding<1:2, dim = 1>> -> tensor<1x2xf32>, tensor<1x2xi8>
  return %v, %i : tensor<1x2xf32>, tensor<1x2xi8>
}

// -----

// CHECK-LABEL: func.func @empty
func.func @empty(%v0: tensor<2x0xf32>, %i0: tensor<2x0xi8>) -> tensor<2x0xf32> {
  // CHECK-NOT: nm.compress
  %b = arith.constant dense<> : tensor<4x0xf32>
  %v, %i = nm.compress <2:4> ins(%b : tensor<4x0xf32>)
    outs(%v0, %i0 : tensor<2x0xf32>, tensor<2x0xi8>) -> tensor<2x0xf32>, tensor<2x0xi8>
  return %v : tensor<2x0xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Inverse ops
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @compress_of_decompress
// CHECK-SAME: %[[V:.*]]: tensor<32x48xf32>, %[[I:.*]]: tensor<32x48xi8>
func.func @compress_of_decompress(%v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %b0: tensor<64x48xf32>)
    -> (tensor<32x48xf32>, tensor<32x48xi8>) {
  // CHECK: return %[[V]], %[[I]]
  %b = nm.decompress <2:4> ins(%v, %i : tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%b0 : tensor<64x48xf32>) -> tensor<64x48xf32>
  %w, %j = nm.compress <2:4> ins(%b : tensor<64x48xf32>)
    outs(%v, %i : tensor<32x48xf32>, tensor<32x48xi8>) -> tensor<32x48xf32>, tensor<32x48xi8>
  return %w, %j : tensor<32x48xf32>, tensor<32x48xi8>
}

// -----

// CHECK-LABEL: func.func @compress_to_another_pattern
func.func @compress_to_another_pattern(%v: tensor<32x64xf32>, %i: tensor<32x64xi8>, %b0: tensor<64x64xf32>)
    -> (tensor<32x64xf32>, tensor<32x64xi8>, tensor<32x64xf32>) {
  // CHECK: nm.decompress
  // CHECK: nm.compress <4:8>
  // CHECK: nm.compress <2:4> dim 1
  %b = nm.decompress <2:4> ins(%v, %i : tensor<32x64xf32>, tensor<32x64xi8>)
    outs(%b0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %w, %j = nm.compress <4:8> ins(%b : tensor<64x64xf32>)
    outs(%v, %i : tensor<32x64xf32>, tensor<32x64xi8>) -> tensor<32x64xf32>, tensor<32x64xi8>
  %x, %l = nm.compress <2:4> dim 1 ins(%b : tensor<64x64xf32>)
    outs(%v, %i : tensor<32x64xf32>, tensor<32x64xi8>) -> tensor<32x64xf32>, tensor<32x64xi8>
  return %w, %j, %x : tensor<32x64xf32>, tensor<32x64xi8>, tensor<32x64xf32>
}

// -----

// CHECK-LABEL: func.func @decompress_of_compress
// CHECK-SAME: %[[B:.*]]: tensor<62x48xf32>
func.func @decompress_of_compress(%b: tensor<62x48xf32>, %v0: tensor<32x48xf32>, %i0: tensor<32x48xi8>) -> tensor<62x48xf32> {
  // CHECK: return %[[B]]
  %v, %i = nm.compress <2:4> ins(%b : tensor<62x48xf32>)
    outs(%v0, %i0 : tensor<32x48xf32>, tensor<32x48xi8>) -> tensor<32x48xf32>, tensor<32x48xi8>
  %c = nm.decompress <2:4> ins(%v, %i : tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%b : tensor<62x48xf32>) -> tensor<62x48xf32>
  return %c : tensor<62x48xf32>
}

// -----

// CHECK-LABEL: func.func @edges
// CHECK-SAME: %[[W:.*]]: tensor<64x48xf32, #nm.encoding<2:4>>, %[[V:.*]]: tensor<32x48xf32>, %[[I:.*]]: tensor<32x48xi8>
func.func @edges(%w: tensor<64x48xf32, #nm.encoding<2:4>>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>)
    -> (tensor<64x48xf32, #nm.encoding<2:4>>, tensor<32x48xf32>, tensor<32x48xi8>) {
  // CHECK: return %[[W]], %[[V]], %[[I]]
  %a, %b = nm.disassemble %w : tensor<64x48xf32, #nm.encoding<2:4>> -> tensor<32x48xf32>, tensor<32x48xi8>
  %x = nm.assemble %a, %b : tensor<32x48xf32>, tensor<32x48xi8> -> tensor<64x48xf32, #nm.encoding<2:4>>
  %y = nm.assemble %v, %i : tensor<32x48xf32>, tensor<32x48xi8> -> tensor<64x48xf32, #nm.encoding<2:4>>
  %c, %d = nm.disassemble %y : tensor<64x48xf32, #nm.encoding<2:4>> -> tensor<32x48xf32>, tensor<32x48xi8>
  return %x, %c, %d : tensor<64x48xf32, #nm.encoding<2:4>>, tensor<32x48xf32>, tensor<32x48xi8>
}

// -----

// One condensed form may stand for weights of another k: nothing is folded.

// CHECK-LABEL: func.func @edges_of_other_types
func.func @edges_of_other_types(%w: tensor<64x48xf32, #nm.encoding<2:4>>) -> tensor<63x48xf32, #nm.encoding<2:4>> {
  // CHECK: nm.disassemble
  // CHECK: nm.assemble
  %a, %b = nm.disassemble %w : tensor<64x48xf32, #nm.encoding<2:4>> -> tensor<32x48xf32>, tensor<32x48xi8>
  %x = nm.assemble %a, %b : tensor<32x48xf32>, tensor<32x48xi8> -> tensor<63x48xf32, #nm.encoding<2:4>>
  return %x : tensor<63x48xf32, #nm.encoding<2:4>>
}
