// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule --split-input-file 2>/dev/null | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=schedule=gemv --split-input-file 2>/dev/null | FileCheck %s --check-prefix=GIVEN

// The record has all ways to make the product, the one that was taken among
// them, and the best with another A.
// CHECK-LABEL: func.func @half
// CHECK: nm.spmm <1:1, block = 1x32>
// CHECK-SAME: estimate_us = [[TAKEN:[0-9.]+]], dense_us
// CHECK-SAME: alternatives = [
// CHECK-SAME: #nm.alternative<name = "own", strategy = "gemv", estimate_us = {{[0-9.]+}}>,
// CHECK-SAME: #nm.alternative<name = "dense", strategy = "cublas", estimate_us = [[TAKEN]], chosen = true>,
// CHECK-SAME: #nm.alternative<name = "transposed: coarsened", strategy = "wgmma", estimate_us = {{[0-9.]+}}, extra_us = {{[0-9.]+}}>]
func.func @half(%a: tensor<4096x4096xf16>, %v: tensor<512x4096xf16> {nm.values_of = 1 : i64}, %i: tensor<512x128xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %r = nm.spmm <4:32, block = 1x32> ins(%a, %v, %i : tensor<4096x4096xf16>, tensor<512x4096xf16>, tensor<512x128xi8>) outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}

// -----

// What cannot be taken says why. What kernels before the product take is part
// of an estimate.
// CHECK-LABEL: func.func @bytes
// CHECK: nm.spmm
// CHECK-SAME: #nm.alternative<name = "dense", {{.*}}why_not = "cuBLAS multiplies i8
// CHECK-SAME: #nm.alternative<name = "widened m-major", strategy = "{{[a-z_]+}}", estimate_us = {{[0-9.]+}}, extra_us = {{[0-9.]+}}
// GIVEN-LABEL: func.func @bytes
// GIVEN: alternatives = [#nm.alternative<name = "own", strategy = "gemv", estimate_us = {{[0-9.]+}}, chosen = true>,
// GIVEN-NOT: "dense"
func.func @bytes(%a: tensor<16x512xi8>, %v: tensor<128x130xi8> {nm.values_of = 1 : i64}, %i: tensor<128x130xi8> {nm.indices_of = 1 : i64}, %c: tensor<16x130xi32>) -> tensor<16x130xi32> {
  %r = nm.spmm <8:32> ins(%a, %v, %i : tensor<16x512xi8>, tensor<128x130xi8>, tensor<128x130xi8>) outs(%c : tensor<16x130xi32>) -> tensor<16x130xi32>
  return %r : tensor<16x130xi32>
}
