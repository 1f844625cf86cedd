// RUN: nm-opt %s --split-input-file --verify-diagnostics --nm-check-sizes
// RUN: not nm-opt %s --split-input-file --nm-check-sizes 2>&1 | FileCheck %s

// What is always false is an error at once.

// CHECK: error: 'tensor.pad' op expected padding low of dimension 0 to be at least 0, but got -1
func.func @pad(%a: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{expected padding low of dimension 0 to be at least 0, but got -1}}
  %0 = tensor.pad %a low[-1] high[2] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @cast(%a: tensor<5xf32>) -> tensor<4xf32> {
  %0 = tensor.cast %a : tensor<5xf32> to tensor<?xf32>
  // expected-error @below {{expected dimension 0 of operand 0 to be 4, but got 5}}
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<4xf32>
  return %1 : tensor<4xf32>
}
