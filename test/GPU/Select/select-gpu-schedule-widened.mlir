// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-propagate-layouts --nm-select-gpu-schedule --split-input-file 2>%t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.log

// The tensor cores transpose no bytes: a product of f8 and vector-wise weights
// is one of f16, whose A a kernel makes m-major as it widens it.
// REMARK: k = 2048, f16: strategy wgmma {{.*}}; operands of f8E4M3FN are widened to f16, which has all of their values: estimated {{[0-9.]+}} us before the product;
// CHECK-DAG: #[[$TURNED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[$SAME:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @floats
// CHECK-SAME: %[[A:.*]]: tensor<4096x2048xf8E4M3FN>, %[[V:.*]]: tensor<512x4096xf8E4M3FN>
// CHECK-NOT: linalg.transpose
// CHECK: %[[WIDE_A:.*]] = linalg.generic {indexing_maps = [#[[$TURNED]], #[[$SAME]]], iterator_types = ["parallel", "parallel"]} ins(%[[A]] : tensor<4096x2048xf8E4M3FN>) outs(%{{.*}} : tensor<2048x4096xf16>)
// CHECK: arith.extf %{{.*}} : f8E4M3FN to f16
// CHECK: %[[WIDE_V:.*]] = linalg.generic {indexing_maps = [#[[$SAME]], #[[$SAME]]]{{.*}} ins(%[[V]]
// CHECK: nm.spmm <8:32, block = 1x128> transpose_a schedule #nm.wgmma<{{.*}} ins(%[[WIDE_A]], %[[WIDE_V]], %{{.*}}) outs(%{{.*}} : tensor<4096x4096xf32>)
// CHECK-SAME: dense_us = 6
func.func @floats(%a: tensor<4096x2048xf8E4M3FN>, %v: tensor<512x4096xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<512x32xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <8:32, block = 1x128> ins(%a, %v, %i : tensor<4096x2048xf8E4M3FN>, tensor<512x4096xf8E4M3FN>, tensor<512x32xi8>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// A dense product of 8 bits that is faster is left.
// REMARK: k = 4096, f8E4M3FN: strategy cublas
// CHECK-LABEL: func.func @half
// CHECK-NOT: linalg.generic
func.func @half(%a: tensor<4096x4096xf8E4M3FN>, %v: tensor<2048x4096xf8E4M3FN> {nm.values_of = 1 : i64}, %i: tensor<2048x32xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <16:32, block = 1x128> ins(%a, %v, %i : tensor<4096x4096xf8E4M3FN>, tensor<2048x4096xf8E4M3FN>, tensor<2048x32xi8>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// Sums of f32 are integers, to which C is added; batches of an m-major A stay so.
// CHECK-LABEL: func.func @integers
// CHECK: linalg.generic {indexing_maps = [#[[MAP:.*]], #[[MAP]]], iterator_types = ["parallel", "parallel", "parallel"]} ins(%{{.*}} : tensor<2x3072x1024xi8>)
// CHECK: arith.sitofp %{{.*}} : i8 to f16
// CHECK: nm.spmm <8:32, block = 1x64> transpose_a transpose_c schedule #nm.wgmma<
// CHECK-SAME: epilogue ins(%arg3 : tensor<2x4096x1024xi32>) maps [#{{.*}}] {
// CHECK: ^bb0(%[[SUM:.*]]: f32, %[[C:.*]]: i32):
// CHECK: %[[INTEGER:.*]] = arith.fptosi %[[SUM]] : f32 to i32
// CHECK: %[[STORED:.*]] = arith.addi %[[C]], %[[INTEGER]] : i32
// CHECK: nm.yield %[[STORED]]
func.func @integers(%a: tensor<2x3072x1024xi8>, %v: tensor<768x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<768x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<2x4096x1024xi32>) -> tensor<2x4096x1024xi32> {
  %r = nm.spmm <8:32, block = 1x64> transpose_a transpose_c ins(%a, %v, %i : tensor<2x3072x1024xi8>, tensor<768x4096xi8>, tensor<768x64xi8>) outs(%c : tensor<2x4096x1024xi32>) -> tensor<2x4096x1024xi32>
  return %r : tensor<2x4096x1024xi32>
}

// -----

// Longer sums might be rounded.
// REMARK: k = 8224, i8: strategy cublas {{.*}}; widened m-major it is estimated to take {{[0-9.]+}} us, but sums of i8 would not be exact: it has 1028 kept rows of k, and may have 1024, or constant weights that add up to at most 131072 in each column
// CHECK-LABEL: func.func @long_sums
// CHECK-NOT: linalg.generic
func.func @long_sums(%a: tensor<1001x8224xi8>, %v: tensor<1028x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<1028x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<1001x4096xi32>) -> tensor<1001x4096xi32> {
  %r = nm.spmm <4:32, block = 1x64> ins(%a, %v, %i : tensor<1001x8224xi8>, tensor<1028x4096xi8>, tensor<1028x64xi8>) outs(%c : tensor<1001x4096xi32>) -> tensor<1001x4096xi32>
  return %r : tensor<1001x4096xi32>
}

// -----

// Sums of constant weights are known to be short enough: of 2752 rows that are
// 47, 129344 times what A has at most, but not of 48.
// REMARK: m = 2048, n = 4096, k = 11008, f16: strategy wgmma
// REMARK: m = 2048, n = 4096, k = 11008, i8: {{.*}}would not be exact: it has 2752 kept rows of k
// CHECK-LABEL: func.func @known
// CHECK: arith.constant dense<4.700000e+01> : tensor<2752x4096xf16>
// CHECK: nm.spmm <4:16, block = 1x128> transpose_a schedule #nm.wgmma<
// CHECK: nm.spmm {{.*}}schedule #nm.cublas<
func.func @known(%a: tensor<2048x11008xi8>, %c: tensor<2048x4096xi32>, %c2: tensor<2048x4096xi32>) -> (tensor<2048x4096xi32>, tensor<2048x4096xi32>) {
  %v = arith.constant dense<47> : tensor<2752x4096xi8>
  %v2 = arith.constant dense<-48> : tensor<2752x4096xi8>
  %i = arith.constant dense<2> : tensor<2752x32xi8>
  %r = nm.spmm <4:16, block = 1x128> ins(%a, %v, %i : tensor<2048x11008xi8>, tensor<2752x4096xi8>, tensor<2752x32xi8>) outs(%c : tensor<2048x4096xi32>) -> tensor<2048x4096xi32>
  %r2 = nm.spmm <4:16, block = 1x128> ins(%a, %v2, %i : tensor<2048x11008xi8>, tensor<2752x4096xi8>, tensor<2752x32xi8>) outs(%c2 : tensor<2048x4096xi32>) -> tensor<2048x4096xi32>
  return %r, %r2 : tensor<2048x4096xi32>, tensor<2048x4096xi32>
}

// -----

// What C of f8 has before is added to the sum, and that is rounded once.
// Constant weights are widened when they are compiled.
// CHECK-LABEL: func.func @small_result
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x1024xf8E5M2>) outs(%{{.*}} : tensor<1024x?xf16>)
// CHECK: arith.constant dense<1.500000e+00> : tensor<256x4096xf16>
// CHECK: nm.spmm <8:32, block = 1x64> transpose_a schedule #nm.wgmma<
// CHECK-SAME: epilogue ins(%arg1 : tensor<?x4096xf8E5M2>)
// CHECK: ^bb0(%[[SUM:.*]]: f32, %[[C:.*]]: f8E5M2):
// CHECK: %[[WIDE_C:.*]] = arith.extf %[[C]] : f8E5M2 to f32
// CHECK: %[[ADDED:.*]] = arith.addf %[[WIDE_C]], %[[SUM]] : f32
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[ADDED]] : f32 to f8E5M2
// CHECK: nm.yield %[[ROUNDED]]
func.func @small_result(%a: tensor<?x1024xf8E5M2>, %c: tensor<?x4096xf8E5M2>) -> tensor<?x4096xf8E5M2> {
  %v = arith.constant dense<1.5> : tensor<256x4096xf8E5M2>
  %i = arith.constant dense<2> : tensor<256x64xi8>
  %r = nm.spmm <8:32, block = 1x64> ins(%a, %v, %i : tensor<?x1024xf8E5M2>, tensor<256x4096xf8E5M2>, tensor<256x64xi8>) outs(%c : tensor<?x4096xf8E5M2>) -> tensor<?x4096xf8E5M2>
  return %r : tensor<?x4096xf8E5M2>
}

// -----

// Weights that come with each call would have to be widened at each of them.
// REMARK: k = 1536, f8E4M3FN: strategy gemv
// CHECK-LABEL: func.func @computed
// CHECK-NOT: linalg.generic
func.func @computed(%a: tensor<512x1536xf8E4M3FN>, %v: tensor<384x4096xf8E4M3FN>, %i: tensor<384x64xi8>, %c: tensor<512x4096xf32>) -> tensor<512x4096xf32> {
  %r = nm.spmm <8:32, block = 1x64> ins(%a, %v, %i : tensor<512x1536xf8E4M3FN>, tensor<384x4096xf8E4M3FN>, tensor<384x64xi8>) outs(%c : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  return %r : tensor<512x4096xf32>
}
