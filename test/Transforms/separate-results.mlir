// RUN: nm-opt %s --nm-separate-results | FileCheck %s

// CHECK-LABEL: func.func @twice(
// CHECK-SAME:    %[[A:.*]]: memref<?x4xf32>, %[[B:.*]]: memref<2xf32>)
// CHECK:         %[[M:.*]] = memref.dim %[[A]], %{{.*}}
// CHECK:         %[[COPY:.*]] = memref.alloc(%[[M]]) : memref<?x4xf32>
// CHECK:         memref.copy %[[A]], %[[COPY]]
// CHECK:         return %[[A]], %[[B]], %[[COPY]]
func.func @twice(%a: memref<?x4xf32>, %b: memref<2xf32>) -> (memref<?x4xf32>, memref<2xf32>, memref<?x4xf32>) {
  return %a, %b, %a : memref<?x4xf32>, memref<2xf32>, memref<?x4xf32>
}
