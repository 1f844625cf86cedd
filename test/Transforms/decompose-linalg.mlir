// RUN: nm-opt %s --nm-decompose-linalg | FileCheck %s

// CHECK-LABEL: func.func @softmax(
// CHECK-NOT:     linalg.softmax
// CHECK:         arith.maxnumf
// CHECK:         math.exp
// CHECK:         arith.addf
// CHECK:         arith.divf
func.func @softmax(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %r = linalg.softmax dimension(1) ins(%x : tensor<2x4xf32>) outs(%y : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @pack(
// CHECK-NOT:     linalg.pack
// CHECK:         tensor.pad
// CHECK:         tensor.expand_shape
// CHECK:         linalg.transpose
func.func @pack(%a: tensor<30x33xf32>, %e: tensor<4x5x8x7xf32>, %z: f32) -> tensor<4x5x8x7xf32> {
  %r = linalg.pack %a padding_value(%z : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 7]
      into %e : tensor<30x33xf32> -> tensor<4x5x8x7xf32>
  return %r : tensor<4x5x8x7xf32>
}

// CHECK-LABEL: func.func @unpack(
// CHECK-NOT:     linalg.unpack
// CHECK:         linalg.transpose
// CHECK:         tensor.collapse_shape
// CHECK:         tensor.extract_slice
func.func @unpack(%a: tensor<4x5x8x7xf32>, %e: tensor<30x33xf32>) -> tensor<30x33xf32> {
  %r = linalg.unpack %a inner_dims_pos = [0, 1] inner_tiles = [8, 7]
      into %e : tensor<4x5x8x7xf32> -> tensor<30x33xf32>
  return %r : tensor<30x33xf32>
}
