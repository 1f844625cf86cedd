// RUN: nm-opt %s --inline | FileCheck %s

// A function with nm ops takes the place of its call.
func.func private @product(%a: tensor<4x8xf32>, %v: tensor<4x4xf32>, %i: tensor<4x4xi8>, %bias: tensor<4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xi8>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
    epilogue ins(%bias : tensor<4xf32>) maps [affine_map<(m, n) -> (n)>] {
    ^bb0(%sum: f32, %b: f32):
      %0 = arith.addf %sum, %b : f32
      nm.yield %0 : f32
    }
  return %r : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @caller
// CHECK-NOT: call
// CHECK: %[[R:.*]] = nm.spmm <2:4>
// CHECK: nm.yield
// CHECK: return %[[R]]
func.func @caller(%a: tensor<4x8xf32>, %v: tensor<4x4xf32>, %i: tensor<4x4xi8>, %bias: tensor<4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = call @product(%a, %v, %i, %bias, %c) : (tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xi8>, tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// What warps do is part of the function that it is in.
// CHECK-LABEL: func.func @calls_role
// CHECK: nm.warps 0 to 4
func.func @calls_role() {
  call @role() : () -> ()
  return
}
func.func private @role() {
  %step = arith.constant 0 : index
  %ring = nm.barriers : !nm.barriers<2>
  nm.warps 0 to 4 {
    nm.wait %ring[%step] : !nm.barriers<2>
  }
  return
}

// Nothing is inlined into a role.
// CHECK-LABEL: func.func @role_calls
// CHECK: nm.warps 0 to 4
// CHECK: call @nothing
func.func @role_calls() {
  nm.warps 0 to 4 {
    func.call @nothing() : () -> ()
  }
  return
}
func.func private @nothing() {
  return
}
