// RUN: nm-opt %s --nm-tile-to-blocks="min-task-elements=1024" -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=remark:

// Each op that is no product says whether threads share its loops, and which.

// CHECK: :[[@LINE+2]]:8: remark: linalg.exp is loops that threads share, in tasks of 11 iterations of loop 0
func.func @shared(%x: tensor<?x100xf32>, %c: tensor<?x100xf32>) -> tensor<?x100xf32> {
  %r = linalg.exp ins(%x : tensor<?x100xf32>) outs(%c : tensor<?x100xf32>) -> tensor<?x100xf32>
  return %r : tensor<?x100xf32>
}

// CHECK: :[[@LINE+2]]:8: remark: linalg.exp is loops that threads share, in tasks of 1 iteration of loop 0
func.func @single(%x: tensor<8x2000xf32>, %c: tensor<8x2000xf32>) -> tensor<8x2000xf32> {
  %r = linalg.exp ins(%x : tensor<8x2000xf32>) outs(%c : tensor<8x2000xf32>) -> tensor<8x2000xf32>
  return %r : tensor<8x2000xf32>
}

// CHECK: :[[@LINE+2]]:8: remark: linalg.exp is loops of one thread
func.func @small(%x: tensor<4x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = linalg.exp ins(%x : tensor<4x8xf32>) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
