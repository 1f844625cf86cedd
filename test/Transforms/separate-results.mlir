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

// What is returned in another shape is allocated in it.
// CHECK-LABEL: func.func @reshaped(
// CHECK-SAME:    %[[N:.*]]: index) -> (memref<2x?x4xf32>, memref<3x4xf32>)
// CHECK:         %[[WHOLE:.*]] = memref.alloc(%[[N]]) {alignment = 64 : i64} : memref<2x?x4xf32>
// CHECK-NEXT:    %[[VIEW:.*]] = memref.collapse_shape %[[WHOLE]] {{\[\[}}0, 1], [2]] : memref<2x?x4xf32> into memref<?x4xf32>
// CHECK-NEXT:    linalg.fill {{.*}} outs(%[[VIEW]]
// CHECK:         %[[OTHER:.*]] = memref.alloc() : memref<3x4xf32>
// CHECK-NEXT:    memref.collapse_shape %[[OTHER]] {{.*}} into memref<12xf32>
// CHECK:         return %[[WHOLE]], %[[OTHER]]
func.func @reshaped(%n: index) -> (memref<2x?x4xf32>, memref<3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2 : index
  %rows = arith.muli %n, %two : index
  %a = memref.alloc(%rows) {alignment = 64 : i64} : memref<?x4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<?x4xf32>)
  %r = memref.expand_shape %a [[0, 1], [2]] output_shape [2, %n, 4] : memref<?x4xf32> into memref<2x?x4xf32>
  %c = memref.alloc() : memref<12xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<12xf32>)
  %s = memref.expand_shape %c [[0, 1]] output_shape [3, 4] : memref<12xf32> into memref<3x4xf32>
  return %r, %s : memref<2x?x4xf32>, memref<3x4xf32>
}

// In fewer dimensions, some of a size that is known in the function alone.
// CHECK-LABEL: func.func @collapsed(
// CHECK-SAME:    %[[N:.*]]: index) -> (memref<?x4xf32>, memref<12xf32>)
// CHECK:         %[[ROWS:.*]] = arith.muli %[[N]], %{{.*}}
// CHECK:         %[[WHOLE:.*]] = memref.alloc(%[[ROWS]]) {alignment = 64 : i64} : memref<?x4xf32>
// CHECK-NEXT:    %[[VIEW:.*]] = memref.expand_shape %[[WHOLE]] {{\[\[}}0, 1], [2]] output_shape [2, %[[N]], 4] : memref<?x4xf32> into memref<2x?x4xf32>
// CHECK-NEXT:    linalg.fill {{.*}} outs(%[[VIEW]]
// CHECK:         %[[OTHER:.*]] = memref.alloc() : memref<12xf32>
// CHECK-NEXT:    memref.expand_shape %[[OTHER]] {{.*}} into memref<3x4xf32>
// CHECK:         return %[[WHOLE]], %[[OTHER]]
func.func @collapsed(%n: index) -> (memref<?x4xf32>, memref<12xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc(%n) {alignment = 64 : i64} : memref<2x?x4xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<2x?x4xf32>)
  %r = memref.collapse_shape %a [[0, 1], [2]] : memref<2x?x4xf32> into memref<?x4xf32>
  %c = memref.alloc() : memref<3x4xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<3x4xf32>)
  %s = memref.collapse_shape %c [[0, 1]] : memref<3x4xf32> into memref<12xf32>
  return %r, %s : memref<?x4xf32>, memref<12xf32>
}
