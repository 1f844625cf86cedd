// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_90a},nm-pair-products)" -o /dev/null 2>&1 | FileCheck %s
// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_80},nm-pair-products)" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OLDER

// Of one row, 128 of 132 multiprocessors have a block each, with 224 columns of both
// products; of two rows and of short k blocks are those of one product.
// OLDER-NOT: have 112 columns of each

#elements = affine_map<(m, n) -> (m, n)>

// CHECK: one, of n = 2 x 14336: blocks have 112 columns of each
func.func @one_row(%a: tensor<1x2048xf16>, %c: tensor<1x14336xf16>) -> tensor<1x14336xf16> {
  %v0 = arith.constant dense<2.0> : tensor<1024x14336xf16>
  %i0 = arith.constant dense<0> : tensor<1024x14336xi8>
  %v1 = arith.constant dense<1.0> : tensor<1024x14336xf16>
  %gate = nm.spmm <2:4> ins(%a, %v0, %i0 : tensor<1x2048xf16>, tensor<1024x14336xf16>, tensor<1024x14336xi8>) outs(%c : tensor<1x14336xf16>) -> tensor<1x14336xf16>
    epilogue {
    ^bb0(%s: f32):
      %y = arith.truncf %s : f32 to f16
      nm.yield %y : f16
    }
  %up = nm.spmm <2:4> ins(%a, %v1, %i0 : tensor<1x2048xf16>, tensor<1024x14336xf16>, tensor<1024x14336xi8>) outs(%c : tensor<1x14336xf16>) -> tensor<1x14336xf16>
    epilogue ins(%gate : tensor<1x14336xf16>) maps [#elements] {
    ^bb0(%s: f32, %g: f16):
      %t = arith.truncf %s : f32 to f16
      %p = arith.mulf %t, %g : f16
      nm.yield %p : f16
    }
  return %up : tensor<1x14336xf16>
}

// CHECK: one, of n = 2 x 14336:
// CHECK-NOT: have 112 columns of each
func.func @two_rows(%a: tensor<2x2048xf16>, %c: tensor<2x14336xf16>) -> tensor<2x14336xf16> {
  %v0 = arith.constant dense<2.0> : tensor<1024x14336xf16>
  %i0 = arith.constant dense<0> : tensor<1024x14336xi8>
  %v1 = arith.constant dense<1.0> : tensor<1024x14336xf16>
  %gate = nm.spmm <2:4> ins(%a, %v0, %i0 : tensor<2x2048xf16>, tensor<1024x14336xf16>, tensor<1024x14336xi8>) outs(%c : tensor<2x14336xf16>) -> tensor<2x14336xf16>
    epilogue {
    ^bb0(%s: f32):
      %y = arith.truncf %s : f32 to f16
      nm.yield %y : f16
    }
  %up = nm.spmm <2:4> ins(%a, %v1, %i0 : tensor<2x2048xf16>, tensor<1024x14336xf16>, tensor<1024x14336xi8>) outs(%c : tensor<2x14336xf16>) -> tensor<2x14336xf16>
    epilogue ins(%gate : tensor<2x14336xf16>) maps [#elements] {
    ^bb0(%s: f32, %g: f16):
      %t = arith.truncf %s : f32 to f16
      %p = arith.mulf %t, %g : f16
      nm.yield %p : f16
    }
  return %up : tensor<2x14336xf16>
}

// CHECK: one, of n = 2 x 14336:
// CHECK-NOT: have 112 columns of each
func.func @short(%a: tensor<1x1024xf16>, %c: tensor<1x14336xf16>) -> tensor<1x14336xf16> {
  %v0 = arith.constant dense<2.0> : tensor<512x14336xf16>
  %i0 = arith.constant dense<0> : tensor<512x14336xi8>
  %v1 = arith.constant dense<1.0> : tensor<512x14336xf16>
  %gate = nm.spmm <2:4> ins(%a, %v0, %i0 : tensor<1x1024xf16>, tensor<512x14336xf16>, tensor<512x14336xi8>) outs(%c : tensor<1x14336xf16>) -> tensor<1x14336xf16>
    epilogue {
    ^bb0(%s: f32):
      %y = arith.truncf %s : f32 to f16
      nm.yield %y : f16
    }
  %up = nm.spmm <2:4> ins(%a, %v1, %i0 : tensor<1x1024xf16>, tensor<512x14336xf16>, tensor<512x14336xi8>) outs(%c : tensor<1x14336xf16>) -> tensor<1x14336xf16>
    epilogue ins(%gate : tensor<1x14336xf16>) maps [#elements] {
    ^bb0(%s: f32, %g: f16):
      %t = arith.truncf %s : f32 to f16
      %p = arith.mulf %t, %g : f16
      nm.yield %p : f16
    }
  return %up : tensor<1x14336xf16>
}
