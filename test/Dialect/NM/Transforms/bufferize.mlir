// RUN: nm-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --canonicalize | FileCheck %s

// A product accumulates into its destination, so a read-only one is copied.
// CHECK-LABEL: func.func @spmm
// CHECK-SAME: %[[A:[^:]*]]: memref<5x64xf32>, %[[V:[^:]*]]: memref<32x48xf32>, %[[I:[^:]*]]: memref<32x48xi8>, %[[C:[^:]*]]: memref<5x48xf32>
func.func @spmm(%a: tensor<5x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>,
                %c: tensor<5x48xf32> {bufferization.writable = false}) -> tensor<5x48xf32> {
  // CHECK: %[[COPY:.*]] = memref.alloc() {{.*}} : memref<5x48xf32>
  // CHECK: memref.copy %[[C]], %[[COPY]]
  // CHECK: nm.spmm <2:4> ins(%[[A]], %[[V]], %[[I]] : memref<5x64xf32>, memref<32x48xf32>, memref<32x48xi8>) outs(%[[COPY]] : memref<5x48xf32>)
  // CHECK: return %[[COPY]]
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<5x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %r : tensor<5x48xf32>
}

// A format op overwrites its destination, so nothing is copied into it.
// CHECK-LABEL: func.func @decompress
func.func @decompress(%v: tensor<32x48xf32>, %i: tensor<32x48xi8>,
                      %d: tensor<64x48xf32> {bufferization.writable = false}) -> tensor<64x48xf32> {
  // CHECK-NOT: memref.copy
  // CHECK: nm.decompress <2:4> ins(%{{.*}} : memref<32x48xf32>, memref<32x48xi8>) outs(%{{.*}} : memref<64x48xf32>)
  %r = nm.decompress <2:4> ins(%v, %i : tensor<32x48xf32>, tensor<32x48xi8>) outs(%d : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}
