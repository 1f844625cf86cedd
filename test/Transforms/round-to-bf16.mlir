// RUN: nm-opt %s --nm-round-to-bf16 --canonicalize | FileCheck %s
// RUN: nm-opt %s --nm-bufferized-to-llvm | mlir-translate --mlir-to-llvmir | opt -O2 -mattr=+avx512f,+avx512bw,+avx512vl -S | FileCheck %s --check-prefix=LLVM

// CHECK-LABEL: func.func @scalar(
// CHECK-SAME: %[[X:.*]]: f32)
// CHECK-DAG: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : i32
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[C32767:.*]] = arith.constant 32767 : i32
// CHECK: %[[IS_NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]] : f32
// CHECK: %[[NUMBER:.*]] = arith.select %[[IS_NAN]], %[[NAN]], %[[X]] : f32
// CHECK: %[[BITS:.*]] = arith.bitcast %[[NUMBER]] : f32 to i32
// CHECK: %[[HALF:.*]] = arith.shrui %[[BITS]], %[[C16]] : i32
// CHECK: %[[ODD:.*]] = arith.andi %[[HALF]], %[[C1]] : i32
// CHECK: %[[BIAS:.*]] = arith.addi %[[ODD]], %[[C32767]] : i32
// CHECK: %[[SUM:.*]] = arith.addi %[[BITS]], %[[BIAS]] : i32
// CHECK: %[[ROUNDED:.*]] = arith.shrui %[[SUM]], %[[C16]] : i32
// CHECK: %[[NARROW:.*]] = arith.trunci %[[ROUNDED]] : i32 to i16
// CHECK: arith.bitcast %[[NARROW]] : i16 to bf16
func.func @scalar(%x: f32) -> bf16 {
  %r = arith.truncf %x : f32 to bf16
  return %r : bf16
}

// LLVM makes no choice between vectors of bf16.

// CHECK-LABEL: func.func @vector(
// CHECK: arith.select {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK: arith.bitcast {{.*}} : vector<16xi16> to vector<16xbf16>
// LLVM-LABEL: @vector(
// LLVM-NOT: select {{.*}} bfloat
// LLVM: ret
func.func @vector(%x: vector<16xf32>) -> vector<16xbf16> {
  %r = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %r : vector<16xbf16>
}

// CHECK-LABEL: func.func @other_types(
// CHECK: arith.truncf {{.*}} : f32 to f16
// CHECK: arith.truncf {{.*}} : f64 to f32
func.func @other_types(%x: f32, %y: f64) -> (f16, f32) {
  %r = arith.truncf %x : f32 to f16
  %s = arith.truncf %y : f64 to f32
  return %r, %s : f16, f32
}
