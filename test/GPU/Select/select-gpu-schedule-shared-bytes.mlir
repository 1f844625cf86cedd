// RUN: nm-opt %s --split-input-file --nm-to-nvvm="chip=sm_90a format=isa" --mlir-print-ir-after=nm-select-gpu-schedule --mlir-print-ir-after=convert-nm-to-gpu 2>&1 | FileCheck %s

// What models say that a block takes of shared memory is what its launch asks for.

// CHECK-LABEL: IR Dump After {{.*}}nm-select-gpu-schedule
// CHECK: schedule #nm.wgmma<{{.*}}shared_bytes = [[#BYTES:]],
// CHECK: dynamic_shared_memory_size %c[[#BYTES]]_i32
func.func @gathered(%a: tensor<4096x1024xf16>, %v: tensor<1024x4096xf16> {nm.values_of = 1 : i64}, %i: tensor<1024x64xi8> {nm.indices_of = 1 : i64}) -> tensor<1024x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1024x4096xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  %r = nm.spmm <8:32, block = 1x64> transpose_a ins(%a, %v, %i : tensor<4096x1024xf16>, tensor<1024x4096xf16>, tensor<1024x64xi8>) outs(%f : tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %r : tensor<1024x4096xf16>
}

// -----

// CHECK-LABEL: IR Dump After {{.*}}nm-select-gpu-schedule
// CHECK: schedule #nm.wgmma<{{.*}}splits = 3>{{.*}}shared_bytes = [[#BYTES:]],
// CHECK: dynamic_shared_memory_size %c[[#BYTES]]_i32
func.func @split(%a: tensor<1024x4096xf32>, %v: tensor<1024x1024xf32> {nm.values_of = 1 : i64}, %i: tensor<1024x16xi8> {nm.indices_of = 1 : i64}) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = nm.spmm <8:32, block = 1x64> ins(%a, %v, %i : tensor<1024x4096xf32>, tensor<1024x1024xf32>, tensor<1024x16xi8>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

// -----

// CHECK-LABEL: IR Dump After {{.*}}nm-select-gpu-schedule
// CHECK: schedule #nm.wgmma<{{.*}}shared_bytes = [[#BYTES:]],
// CHECK: dynamic_shared_memory_size %c[[#BYTES]]_i32
func.func @units(%a: tensor<1024x4096xi8>, %v: tensor<1024x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<16x64xi8> {nm.indices_of = 1 : i64}) -> tensor<1024x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1024x4096xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1024x4096xi32>) -> tensor<1024x4096xi32>
  %r = nm.spmm <1:4, block = 64x64> ins(%a, %v, %i : tensor<1024x4096xi8>, tensor<1024x4096xi8>, tensor<16x64xi8>) outs(%f : tensor<1024x4096xi32>) -> tensor<1024x4096xi32>
  return %r : tensor<1024x4096xi32>
}

// -----

// CHECK-LABEL: IR Dump After {{.*}}nm-select-gpu-schedule
// CHECK: schedule #nm.wgmma_sp<{{.*}}store_buffers{{.*}}shared_bytes = [[#BYTES:]],
// CHECK: dynamic_shared_memory_size %c[[#BYTES]]_i32
func.func @sparse(%a: tensor<1024x4096xf16>, %v: tensor<2048x11008xf16> {nm.values_of = 1 : i64}, %i: tensor<2048x11008xi8> {nm.indices_of = 1 : i64}) -> tensor<1024x11008xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1024x11008xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1024x11008xf16>) -> tensor<1024x11008xf16>
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<1024x4096xf16>, tensor<2048x11008xf16>, tensor<2048x11008xi8>) outs(%f : tensor<1024x11008xf16>) -> tensor<1024x11008xf16>
  return %r : tensor<1024x11008xf16>
}

// -----

// CHECK-LABEL: IR Dump After {{.*}}nm-select-gpu-schedule
// CHECK: schedule #nm.wgmma_sp<{{.*}}splits = 3{{.*}}shared_bytes = [[#BYTES:]],
// CHECK: dynamic_shared_memory_size %c[[#BYTES]]_i32
func.func @sparse_split(%a: tensor<1024x4096xf32>, %v: tensor<2048x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}) -> tensor<1024x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<1024x4096xf32>, tensor<2048x4096xf32>, tensor<2048x4096xi8>) outs(%f : tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  return %r : tensor<1024x4096xf32>
}

// -----

// CHECK-LABEL: IR Dump After {{.*}}nm-select-gpu-schedule
// CHECK: schedule #nm.wgmma_select<{{.*}}shared_bytes = [[#BYTES:]],
// CHECK: dynamic_shared_memory_size %c[[#BYTES]]_i32
func.func @selected(%a: tensor<1024x4096xi8>, %v: tensor<1024x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<1024x64xi8> {nm.indices_of = 1 : i64}) -> tensor<1024x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1024x4096xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1024x4096xi32>) -> tensor<1024x4096xi32>
  %r = nm.spmm <2:8, block = 1x64> ins(%a, %v, %i : tensor<1024x4096xi8>, tensor<1024x4096xi8>, tensor<1024x64xi8>) outs(%f : tensor<1024x4096xi32>) -> tensor<1024x4096xi32>
  return %r : tensor<1024x4096xi32>
}

// -----

// CHECK-LABEL: IR Dump After {{.*}}nm-select-gpu-schedule
// CHECK: schedule #nm.gemv<{{.*}}shared_bytes = [[#BYTES:]],
// CHECK: dynamic_shared_memory_size %c[[#BYTES]]_i32
func.func @row(%a: tensor<1x4096xf32>, %v: tensor<2732x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<2732x4096xi8> {nm.indices_of = 1 : i64}) -> tensor<1x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %r = nm.spmm <4:6> ins(%a, %v, %i : tensor<1x4096xf32>, tensor<2732x4096xf32>, tensor<2732x4096xi8>) outs(%f : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  return %r : tensor<1x4096xf32>
}

// -----

// CHECK-LABEL: IR Dump After {{.*}}nm-select-gpu-schedule
// CHECK: schedule #nm.gemv<{{.*}}shared_bytes = [[#BYTES:]],
// CHECK: dynamic_shared_memory_size %c[[#BYTES]]_i32
func.func @few_rows(%a: tensor<2x4096xi8>, %v: tensor<1024x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<1024x4096xi8> {nm.indices_of = 1 : i64}) -> tensor<2x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x4096xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<2x4096xi32>) -> tensor<2x4096xi32>
  %r = nm.spmm <8:32> ins(%a, %v, %i : tensor<2x4096xi8>, tensor<1024x4096xi8>, tensor<1024x4096xi8>) outs(%f : tensor<2x4096xi32>) -> tensor<2x4096xi32>
  return %r : tensor<2x4096xi32>
}

// -----

// CHECK-LABEL: IR Dump After {{.*}}nm-select-gpu-schedule
// CHECK: schedule #nm.mma_sp<{{.*}}shared_bytes = [[#BYTES:]],
// CHECK: dynamic_shared_memory_size %c[[#BYTES]]_i32
func.func @few_sparse(%a: tensor<8x4096xf16>, %v: tensor<2048x4096xf16> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}) -> tensor<8x4096xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<8x4096xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<8x4096xf16>) -> tensor<8x4096xf16>
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<8x4096xf16>, tensor<2048x4096xf16>, tensor<2048x4096xi8>) outs(%f : tensor<8x4096xf16>) -> tensor<8x4096xf16>
  return %r : tensor<8x4096xf16>
}

// -----

// CHECK-LABEL: IR Dump After {{.*}}nm-select-gpu-schedule
// CHECK: schedule #nm.simt<{{.*}}shared_bytes = [[#BYTES:]],
// CHECK: dynamic_shared_memory_size %c[[#BYTES]]_i32
func.func @cuda_cores(%a: tensor<256x1024xf32>, %v: tensor<256x2048xf32> {nm.values_of = 1 : i64}, %i: tensor<256x64xi8> {nm.indices_of = 1 : i64}) -> tensor<256x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x2048xf32>) -> tensor<256x2048xf32>
  %r = nm.spmm <8:32, block = 1x32> ins(%a, %v, %i : tensor<256x1024xf32>, tensor<256x2048xf32>, tensor<256x64xi8>) outs(%f : tensor<256x2048xf32>) -> tensor<256x2048xf32>
  return %r : tensor<256x2048xf32>
}
