// RUN: nm-opt %s --nm-select-schedule="threads=1 features=+avx512f" 2>/dev/null | FileCheck %s

// Where columns share no index, a row of a panel of f32 is a line.
// CHECK-LABEL: func.func @single(
// CHECK: nm.spmm <2:4>
// CHECK-SAME: packing = <panel = 16, index_bits = 2>
func.func @single(%a: tensor<128x256xf32>, %v: tensor<128x256xf32> {nm.values_of = 1 : i64}, %i: tensor<128x256xi8> {nm.indices_of = 1 : i64}, %c: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<128x256xf32>, tensor<128x256xf32>, tensor<128x256xi8>)
    outs(%c : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
}

// Where columns share indices, few rows share a wide panel.
// CHECK-LABEL: func.func @vectors(
// CHECK: nm.spmm <2:4, block = 1x32>
// CHECK-SAME: packing = <panel = 64, index_bits = 8>
func.func @vectors(%a: tensor<128x256xf32>, %v: tensor<128x256xf32> {nm.values_of = 1 : i64}, %i: tensor<128x8xi8> {nm.indices_of = 1 : i64}, %c: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %r = nm.spmm <2:4, block = 1x32> ins(%a, %v, %i : tensor<128x256xf32>, tensor<128x256xf32>, tensor<128x8xi8>)
    outs(%c : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
}
