// Few rows by mma.sp, in blocks whose warps each have two steps of a tile of k,
// of which the last is ragged.

// RUN: nm-run %s --target=sim:sm_90a --random --check --compile-options="schedule=#nm.mma_sp<block=[8,32,1024],warp=[8,32],stages=3,split_k=1,slice_k=8>" | FileCheck %s

// CHECK: check: result 0 of @long: passed
func.func @long(%a: tensor<3x2204xf16>, %b: tensor<2204x40xf16, #nm.encoding<2:4>>) -> tensor<3x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x40xf32>) -> tensor<3x40xf32>
  %p = linalg.matmul ins(%a, %b : tensor<3x2204xf16>, tensor<2204x40xf16, #nm.encoding<2:4>>) outs(%f : tensor<3x40xf32>) -> tensor<3x40xf32>
  return %p : tensor<3x40xf32>
}
