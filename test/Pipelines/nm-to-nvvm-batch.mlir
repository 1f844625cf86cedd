// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule='gemv<split_k = 1>'" 2>/dev/null | FileCheck %s

// A batch's tile of C without its leading dimensions is a view, which bufferization
// leaves in the loop over k, and which is stored to behind it.
// CHECK-LABEL: func @batch(
// CHECK: gpu.launch_func {{.*}}@kernels::
// CHECK: gpu.binary @kernels
func.func @batch(
    %a: tensor<2x3x3x143xf32>, %values: tensor<150x18xf32> {nm.values_of = 1 : i64},
    %indices: tensor<75x3xi8> {nm.indices_of = 1 : i64},
    %c: tensor<2x3x17x3xf32>) -> tensor<2x3x17x3xf32> {
  %zero = arith.constant 0.0 : f32
  %filled = linalg.fill ins(%zero : f32) outs(%c : tensor<2x3x17x3xf32>)
      -> tensor<2x3x17x3xf32>
  %r = nm.spmm <5:5, block = 2x6> transpose_c
    ins(%a, %values, %indices : tensor<2x3x3x143xf32>, tensor<150x18xf32>, tensor<75x3xi8>)
    outs(%filled : tensor<2x3x17x3xf32>) -> tensor<2x3x17x3xf32>
  return %r : tensor<2x3x17x3xf32>
}
