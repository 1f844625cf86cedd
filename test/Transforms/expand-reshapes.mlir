// RUN: nm-opt %s --nm-expand-reshapes --split-input-file | FileCheck %s
// RUN: nm-opt %s --nm-expand-reshapes --expand-strided-metadata --split-input-file | FileCheck %s --check-prefix=THEN

// The example of the pass's description; the pass after it takes the result.

// CHECK-DAG: #[[$MAP:.*]] = affine_map<()[s0] -> (s0 * 48)>
// CHECK-LABEL: func.func @two_unknown
// CHECK-SAME: %[[M:.*]]: memref<?x48xf32>, %[[A:.*]]: index, %[[B:.*]]: index
// THEN-LABEL: func.func @two_unknown
// THEN-NOT: memref.expand_shape
func.func @two_unknown(%m: memref<?x48xf32>, %a: index, %b: index) -> memref<?x?x48xf32> {
  // CHECK: %[[BASE:[^,]*]], {{.*}} = memref.extract_strided_metadata %[[M]]
  // CHECK: %[[STRIDE:.*]] = affine.apply #[[$MAP]]()[%[[B]]]
  // CHECK: %[[R:.*]] = memref.reinterpret_cast %[[BASE]] to offset: [0], sizes: [%[[A]], %[[B]], 48], strides: [%[[STRIDE]], 48, 1]
  // CHECK: return %[[R]]
  %r = memref.expand_shape %m [[0, 1], [2]] output_shape [%a, %b, 48] : memref<?x48xf32> into memref<?x?x48xf32>
  return %r : memref<?x?x48xf32>
}

// -----

// A strided source: its offset and strides are kept.

// CHECK-LABEL: func.func @strided
// CHECK-SAME: %[[M:.*]]: memref<?x48xf32, strided<[?, 2], offset: ?>>, %[[A:.*]]: index, %[[B:.*]]: index
func.func @strided(%m: memref<?x48xf32, strided<[?, 2], offset: ?>>, %a: index, %b: index)
    -> memref<?x3x?x6x8xf32, strided<[?, ?, ?, 16, 2], offset: ?>> {
  // CHECK: %[[BASE:[^,]*]], %[[OFFSET:[^,]*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[M]]
  // CHECK: memref.reinterpret_cast %[[BASE]] to offset: [%[[OFFSET]]], sizes: [%[[A]], 3, %[[B]], 6, 8], strides: [%{{.*}}, %{{.*}}, %[[STRIDES]]#0, 16, 2]
  %r = memref.expand_shape %m [[0, 1, 2], [3, 4]] output_shape [%a, 3, %b, 6, 8]
    : memref<?x48xf32, strided<[?, 2], offset: ?>> into memref<?x3x?x6x8xf32, strided<[?, ?, ?, 16, 2], offset: ?>>
  return %r : memref<?x3x?x6x8xf32, strided<[?, ?, ?, 16, 2], offset: ?>>
}

// -----

// One unknown size in a group is left to upstream.

// CHECK-LABEL: func.func @one_unknown
func.func @one_unknown(%m: memref<?x?xf32>, %a: index, %b: index) -> memref<?x4x?x2xf32> {
  // CHECK: memref.expand_shape
  %r = memref.expand_shape %m [[0, 1], [2, 3]] output_shape [%a, 4, %b, 2] : memref<?x?xf32> into memref<?x4x?x2xf32>
  return %r : memref<?x4x?x2xf32>
}
