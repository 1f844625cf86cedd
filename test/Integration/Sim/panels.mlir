// A product of an A that comes in panels, on the CPU and by a kernel, beside the
// reference: 100 rows of i8, whose panels have room for 128.
// RUN: nm-run %s --random --check | FileCheck %s
// RUN: nm-run %s --target=sim:sm_90a --random --check | FileCheck %s
// CHECK: check: result 0 of @panels: passed

func.func @panels(%a: tensor<16x2048xi8>, %c: tensor<100x64xi32>) -> tensor<100x64xi32> {
  %v = arith.constant dense<3> : tensor<128x64xi8>
  %i = arith.constant dense<[[0], [2], [1], [3], [0], [1], [2], [3]]> : tensor<8x1xi8>
  %r = nm.spmm <2:4, block = 16x64> panels_a 128
    ins(%a, %v, %i : tensor<16x2048xi8>, tensor<128x64xi8>, tensor<8x1xi8>) outs(%c : tensor<100x64xi32>) -> tensor<100x64xi32>
  return %r : tensor<100x64xi32>
}
