// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_90a},nm-pair-products)" --verify-diagnostics | FileCheck %s

// Of many rows columns of both products alternate, so that a thread has both of two
// neighbours. Warpgroups are those of a single product.
// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_90a},nm-select-gpu-schedule)" 2>/dev/null | FileCheck %s --check-prefix=SINGLE
// SINGLE: schedule #nm.wgmma_sp<block = [256, 128, 64], warpgroup = [256, 64],

// Where no warps of their own copy, threads find sums in shared memory: half of a
// block's columns are each product's.
// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_90a},nm-pair-products{schedule=wgmma_sp<block=[256,128,64],warpgroup=[256,64],producers=0>})" 2>/dev/null | FileCheck %s --check-prefix=HALVES
// HALVES: tensor.expand_shape {{.*}} into tensor<2048x32x2x64xf16>

// Store buffers that are given have the columns of one product.
// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_90a},nm-pair-products{schedule=wgmma_sp<block=[256,128,64],warpgroup=[256,64],stages=4,producers=4,store_buffers=2>})" 2>/dev/null | FileCheck %s --check-prefix=BUFFERS
// BUFFERS-NOT: tensor.expand_shape

#elements = affine_map<(m, n) -> (m, n)>

// CHECK-LABEL: func.func @gated(
// CHECK: nm.spmm <2:4> schedule #nm.wgmma_sp<block = [256, 128, 64], warpgroup = [256, 64],
// CHECK: tensor.expand_shape {{.*}} into tensor<2048x2048x2x1xf16>
func.func @gated(%a: tensor<2048x512xf16>, %c: tensor<2048x2048xf16>) -> tensor<2048x2048xf16> {
  %v0 = arith.constant dense<2.0> : tensor<256x2048xf16>
  %i0 = arith.constant dense<0> : tensor<256x2048xi8>
  %v1 = arith.constant dense<1.0> : tensor<256x2048xf16>
  %i1 = arith.constant dense<1> : tensor<256x2048xi8>
  %gate = nm.spmm <2:4> ins(%a, %v0, %i0 : tensor<2048x512xf16>, tensor<256x2048xf16>, tensor<256x2048xi8>) outs(%c : tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
    epilogue {
    ^bb0(%s: f32):
      %y = arith.truncf %s : f32 to f16
      nm.yield %y : f16
    }
  // expected-remark @below {{two products of one A that are combined are one, of n = 2 x 2048: blocks have 64 columns of each}}
  %up = nm.spmm <2:4> ins(%a, %v1, %i1 : tensor<2048x512xf16>, tensor<256x2048xf16>, tensor<256x2048xi8>) outs(%c : tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
    epilogue ins(%gate : tensor<2048x2048xf16>) maps [#elements] {
    ^bb0(%s: f32, %g: f16):
      %g32 = arith.extf %g : f16 to f32
      %s16 = arith.truncf %s : f32 to f16
      %s32 = arith.extf %s16 : f16 to f32
      %p = arith.mulf %s32, %g32 : f32
      %t = arith.truncf %p : f32 to f16
      nm.yield %t : f16
    }
  return %up : tensor<2048x2048xf16>
}
