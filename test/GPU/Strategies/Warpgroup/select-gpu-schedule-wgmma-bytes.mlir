// RUN: nm-opt %s --convert-linalg-to-nm --nm-materialize-storage --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule 2>&1 | FileCheck %s

// Operands of 8 bits whose units are multiples of 16 rows and 64 columns: sums
// of f8 are promoted.
// CHECK: remark: nm.spmm <8:32, block = 64x64> {{.*}} i8: strategy wgmma
// CHECK: remark: nm.spmm <8:32, block = 64x64> {{.*}} f8E4M3FN: strategy wgmma
// Units of eight rows are widened.
// CHECK: remark: nm.spmm <8:32, block = 8x64> {{.*}} f16: strategy wgmma {{.*}}; operands of f8E4M3FN are widened to f16
// CHECK-LABEL: func.func @integers
// CHECK: schedule #nm.wgmma<block = [512, 64, 128], {{.*}}producers = 4
// CHECK-NOT: promote
// CHECK-LABEL: func.func @floats
// CHECK: schedule #nm.wgmma<block = [{{.*}}promote = true
// CHECK-LABEL: func.func @eight_rows

func.func @integers(%a: tensor<4096x4096xi8>, %b: tensor<4096x4096xi8, #nm.encoding<8:32, block = 64x64>>) -> tensor<4096x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4096x4096xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xi8>, tensor<4096x4096xi8, #nm.encoding<8:32, block = 64x64>>) outs(%f : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}

func.func @floats(%a: tensor<4096x4096xf8E4M3FN>, %b: tensor<4096x4096xf8E4M3FN, #nm.encoding<8:32, block = 64x64>>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN, #nm.encoding<8:32, block = 64x64>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

func.func @eight_rows(%a: tensor<4096x4096xf8E4M3FN>, %b: tensor<4096x4096xf8E4M3FN, #nm.encoding<8:32, block = 8x64>>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN, #nm.encoding<8:32, block = 8x64>>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
