// RUN: nm-opt %s --convert-nm-to-loops --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --convert-nm-to-loops --split-input-file 2>/dev/null

func.func @tensors(%a: tensor<3x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>,
                   %c: tensor<3x48xf32>) -> tensor<3x48xf32> {
  // expected-error @+1 {{'nm.spmm' op has no loops: expected operands to be memrefs, which bufferization makes of tensors}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
                     outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
  return %r : tensor<3x48xf32>
}

// -----

func.func @edge(%v: tensor<32x48xf32>, %i: tensor<32x48xi8>) -> tensor<64x48xf32, #nm.encoding<2:4>> {
  // expected-error @+1 {{'nm.assemble' op has no loops: expected no op of the program's edge, which nm-materialize-storage removes}}
  %w = nm.assemble %v, %i : tensor<32x48xf32>, tensor<32x48xi8> -> tensor<64x48xf32, #nm.encoding<2:4>>
  return %w : tensor<64x48xf32, #nm.encoding<2:4>>
}

// -----

// Every op that is left is named, and the others are converted.

func.func @both(%w: tensor<8x4xf32>, %b: memref<8x4xf32>) -> tensor<8x4xf32> {
  nm.prune <2:4> ins(%b : memref<8x4xf32>) outs(%b : memref<8x4xf32>)
  // expected-error @+1 {{'nm.prune' op has no loops}}
  %p = nm.prune <2:4> ins(%w : tensor<8x4xf32>) outs(%w : tensor<8x4xf32>) -> tensor<8x4xf32>
  // expected-error @+1 {{'nm.prune' op has no loops}}
  %q = nm.prune <2:4> ins(%p : tensor<8x4xf32>) outs(%p : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %q : tensor<8x4xf32>
}
