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

// CHECK-LABEL: func.func @primitives
// CHECK-NOT: linalg.{{reduce|map}}
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]}
// CHECK: arith.addf
// CHECK: linalg.broadcast
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]}
// CHECK: math.exp
// CHECK: linalg.transpose
func.func @primitives(%x: tensor<2x4xf32>, %s: tensor<2xf32>, %y: tensor<2x4xf32>, %t: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<2x4xf32>) outs(%s : tensor<2xf32>) dimensions = [1]
  %all = linalg.broadcast ins(%sum : tensor<2xf32>) outs(%y : tensor<2x4xf32>) dimensions = [1]
  %exp = linalg.map {math.exp} ins(%all : tensor<2x4xf32>) outs(%y : tensor<2x4xf32>)
  %r = linalg.transpose ins(%exp : tensor<2x4xf32>) outs(%t : tensor<4x2xf32>) permutation = [1, 0]
  return %r : tensor<4x2xf32>
}
