// RUN: nm-opt %s --nm-to-sim="chip=sm_90a" 2>/dev/null | FileCheck %s --implicit-check-not=gpu.launch --implicit-check-not=gpu.module

// The kernel of the pipeline nm-to-nvvm, as a function of the host, and its
// launch.
// CHECK-DAG: llvm.func @nmSimLaunch(!llvm.ptr, !llvm.ptr)
// CHECK-DAG: llvm.func @nmSimAccess(!llvm.ptr, i32, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG: llvm.func @f.pack(
// CHECK: llvm.func @f(
// CHECK: llvm.call @nmSimLaunch(
// CHECK: llvm.func internal @kernels.f_kernel(
// CHECK: llvm.call @nmSimBarrier(
func.func @f(%a: tensor<64x128xf32>, %w: tensor<128x64xf32, #nm.encoding<8:32, block = 1x32>>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %w : tensor<64x128xf32>, tensor<128x64xf32, #nm.encoding<8:32, block = 1x32>>)
    outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
