// RUN: nm-opt %s --nm-materialize-storage | FileCheck %s

#w = #nm.encoding<2:4>
#wt = #nm.encoding<1:2, block = 1x2, dim = 1>

// The example of the pass's description.
// CHECK-LABEL: func.func @argument
// CHECK-SAME: %[[A:.*]]: tensor<5x64xf32>, %[[V:.*]]: tensor<32x48xf32> {nm.values_of = 1 : i64}, %[[I:.*]]: tensor<32x48xi8> {nm.indices_of = 1 : i64}, %[[C:.*]]: tensor<5x48xf32>
func.func @argument(%a: tensor<5x64xf32>, %w: tensor<64x48xf32, #w>, %c: tensor<5x48xf32>) -> tensor<5x48xf32> {
  // CHECK-NOT: nm.disassemble
  %v, %i = nm.disassemble %w : tensor<64x48xf32, #w> -> tensor<32x48xf32>, tensor<32x48xi8>
  // CHECK: nm.spmm <2:4> ins(%[[A]], %[[V]], %[[I]]
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %r : tensor<5x48xf32>
}

// -0.0 is a zero; a window with fewer than N non-zeros keeps its lowest free
// positions.
// CHECK-LABEL: func.func @constant
func.func @constant() -> (tensor<2x2xf32>, tensor<2x2xi8>) {
  // CHECK-DAG: %[[V:.*]] = arith.constant dense<{{\[}}[0.000000e+00, 1.000000e+00], [3.000000e+00, 2.000000e+00]]> : tensor<2x2xf32>
  // CHECK-DAG: %[[I:.*]] = arith.constant dense<{{\[}}[0, 0], [3, 2]]> : tensor<2x2xi8>
  // CHECK: return %[[V]], %[[I]]
  %w = arith.constant dense<[[-0.0, 1.0], [0.0, 0.0], [0.0, 2.0], [3.0, 0.0]]> : tensor<4x2xf32, #w>
  %v, %i = nm.disassemble %w : tensor<4x2xf32, #w> -> tensor<2x2xf32>, tensor<2x2xi8>
  return %v, %i : tensor<2x2xf32>, tensor<2x2xi8>
}

// k is the second dimension; a unit spans two rows of n.
// CHECK-LABEL: func.func @transposed_constant
func.func @transposed_constant() -> (tensor<1x2xi8>, tensor<1x1xi8>) {
  // CHECK-DAG: %[[V:.*]] = arith.constant dense<{{\[}}[5, 6]]> : tensor<1x2xi8>
  // CHECK-DAG: %[[I:.*]] = arith.constant dense<1> : tensor<1x1xi8>
  // CHECK: return %[[V]], %[[I]]
  %w = arith.constant dense<[[0, 5], [0, 6]]> : tensor<2x2xi8, #wt>
  %v, %i = nm.disassemble %w : tensor<2x2xi8, #wt> -> tensor<1x2xi8>, tensor<1x1xi8>
  return %v, %i : tensor<1x2xi8>, tensor<1x1xi8>
}

// CHECK-LABEL: func.func @resource
func.func @resource() -> (tensor<2x1xf32>, tensor<2x1xi8>) {
  // CHECK-DAG: arith.constant dense<{{\[}}[1.000000e+00], [2.000000e+00]]> : tensor<2x1xf32>
  // CHECK-DAG: arith.constant dense<{{\[}}[1], [3]]> : tensor<2x1xi8>
  %w = arith.constant dense_resource<weight> : tensor<4x1xf32, #w>
  %v, %i = nm.disassemble %w : tensor<4x1xf32, #w> -> tensor<2x1xf32>, tensor<2x1xi8>
  return %v, %i : tensor<2x1xf32>, tensor<2x1xi8>
}

// Calls pass the parts.
// CHECK-LABEL: func.func @caller
// CHECK-SAME: %[[V:.*]]: tensor<32x48xf32> {nm.values_of = 0 : i64}, %[[I:.*]]: tensor<32x48xi8> {nm.indices_of = 0 : i64}) -> (tensor<32x48xf32>, tensor<32x48xi8>)
func.func @caller(%w: tensor<64x48xf32, #w>) -> tensor<64x48xf32, #w> {
  // CHECK: %[[R:.*]]:2 = call @identity(%[[V]], %[[I]]) : (tensor<32x48xf32>, tensor<32x48xi8>) -> (tensor<32x48xf32>, tensor<32x48xi8>)
  // CHECK: return %[[R]]#0, %[[R]]#1
  %r = call @identity(%w) : (tensor<64x48xf32, #w>) -> tensor<64x48xf32, #w>
  return %r : tensor<64x48xf32, #w>
}

// CHECK-LABEL: func.func private @identity
func.func private @identity(%w: tensor<64x48xf32, #w>) -> tensor<64x48xf32, #w> {
  return %w : tensor<64x48xf32, #w>
}

// CHECK: func.func private @external(tensor<32x48xf32> {nm.values_of = 0 : i64}, tensor<32x48xi8> {nm.indices_of = 0 : i64}) -> tensor<4xf32>
func.func private @external(tensor<64x48xf32, #w>) -> tensor<4xf32>

// A constant that is passed on is condensed once, for all uses.
// CHECK-LABEL: func.func @passes_constant
func.func @passes_constant() -> (tensor<4xf32>, tensor<4x1xf32, #w>) {
  // CHECK-DAG: %[[V:.*]] = arith.constant dense<{{\[}}[1.000000e+00], [2.000000e+00]]> : tensor<2x1xf32>
  // CHECK-DAG: %[[I:.*]] = arith.constant dense<{{\[}}[1], [3]]> : tensor<2x1xi8>
  // CHECK: %[[R:.*]] = call @takes_constant(%[[V]], %[[I]])
  // CHECK: return %[[R]], %[[V]], %[[I]]
  %w = arith.constant dense<[[0.0], [1.0], [0.0], [2.0]]> : tensor<4x1xf32, #w>
  %r = call @takes_constant(%w) : (tensor<4x1xf32, #w>) -> tensor<4xf32>
  return %r, %w : tensor<4xf32>, tensor<4x1xf32, #w>
}
func.func private @takes_constant(tensor<4x1xf32, #w>) -> tensor<4xf32>

// CHECK-LABEL: func.func @nested
// CHECK-SAME: tensor<2x1xf32> {nm.values_of = 0 : i64}
module {
  func.func @nested(%w: tensor<4x1xf32, #w>) -> tensor<4x1xf32, #w> {
    return %w : tensor<4x1xf32, #w>
  }
}

{-# dialect_resources: { builtin: { weight: "0x04000000000000000000803f0000000000000040" } } #-}
