// RUN: nm-opt %s --one-shot-bufferize=bufferize-function-boundaries | FileCheck %s

// Slices are stored where the indices say, into the argument's memory: a copy is
// made of none.
// CHECK-LABEL: func.func @rows
// CHECK-SAME:    %[[X:.*]]: memref<3x1x6xf32{{.*}}>, %[[P:.*]]: memref<3x1xi32{{.*}}>, %[[C:.*]]: memref<5x6xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         scf.parallel (%[[I:.*]], %[[ONE:.*]], %[[J:.*]]) =
// CHECK:           %[[AT:.*]] = memref.load %[[P]][%[[I]], %{{.*}}]
// CHECK:           %[[INDEX:.*]] = arith.index_cast %[[AT]] : i32 to index
// CHECK:           %[[ROW:.*]] = nm.check_index %[[INDEX]] in %{{.*}}, "{{.*}}tensor.scatter: expected an index from 0 to below {1} in dimension 0, but got {0}"
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ult, %[[INDEX]]
// CHECK:           %[[ELEMENT:.*]] = memref.load %[[X]][%[[I]], %[[ONE]], %[[J]]]
// CHECK:           scf.if %{{.*}} {
// CHECK:             memref.store %[[ELEMENT]], %[[C]][%[[ROW]], %[[J]]]
func.func @rows(%x: tensor<3x1x6xf32>, %p: tensor<3x1xi32>, %c: memref<5x6xf32>) {
  %t = bufferization.to_tensor %c restrict writable : memref<5x6xf32> to tensor<5x6xf32>
  %u = tensor.scatter %x into %t[%p] scatter_dims([0]) unique
    : (tensor<3x1x6xf32>, tensor<5x6xf32>, tensor<3x1xi32>) -> tensor<5x6xf32>
  bufferization.materialize_in_destination %u in restrict writable %c
    : (tensor<5x6xf32>, memref<5x6xf32>) -> ()
  return
}

// The destination of another reader is copied first.
// CHECK-LABEL: func.func @read
// CHECK:         memref.alloc() {{.*}} : memref<5xf32>
// CHECK:         memref.copy
// CHECK:         scf.parallel
func.func @read(%x: tensor<2xf32>, %p: tensor<2x1xindex>, %t: tensor<5xf32>)
    -> (tensor<5xf32>, tensor<5xf32>) {
  %u = tensor.scatter %x into %t[%p] scatter_dims([0]) unique
    : (tensor<2xf32>, tensor<5xf32>, tensor<2x1xindex>) -> tensor<5xf32>
  return %u, %t : tensor<5xf32>, tensor<5xf32>
}
