// RUN: nm-opt %s --nm-check-ops | FileCheck %s

// CHECK-LABEL: func.func @known(
// CHECK:         arith.truncf %{{.*}} : tensor<4xf64> to tensor<4xf8E5M2>
// CHECK:         arith.addi %{{.*}} : i128
func.func @known(%x: tensor<4xf64>, %i: i128) -> (tensor<4xf8E5M2>, i128) {
  %0 = arith.truncf %x : tensor<4xf64> to tensor<4xf8E5M2>
  %1 = arith.addi %i, %i : i128
  return %0, %1 : tensor<4xf8E5M2>, i128
}
