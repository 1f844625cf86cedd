// RUN: nm-opt %s --nm-expand-copies | FileCheck %s

// CHECK-LABEL: func.func @strided(
// CHECK-SAME:    %[[A:.*]]: memref<4x8xf32, strided<[16, 1]>>, %[[B:.*]]: memref<4x8xf32>)
// CHECK-NEXT:    linalg.copy ins(%[[A]] : memref<4x8xf32, strided<[16, 1]>>) outs(%[[B]] : memref<4x8xf32>)
func.func @strided(%a: memref<4x8xf32, strided<[16, 1]>>, %b: memref<4x8xf32>) {
  memref.copy %a, %b : memref<4x8xf32, strided<[16, 1]>> to memref<4x8xf32>
  return
}

// CHECK-LABEL: func.func @row_major(
// CHECK-NEXT:    memref.copy
func.func @row_major(%a: memref<?x8xf32>, %b: memref<?x8xf32>) {
  memref.copy %a, %b : memref<?x8xf32> to memref<?x8xf32>
  return
}
