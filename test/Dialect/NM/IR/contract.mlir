// RUN: nm-opt %s | nm-opt | FileCheck %s
// RUN: nm-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --canonicalize | FileCheck %s --check-prefix=MEMORY

#q = affine_map<(h, g, m, n, k) -> (h, g, m, k)>
#k = affine_map<(h, g, m, n, k) -> (h, n, k)>
#s = affine_map<(h, g, m, n, k) -> (h, g, m, n)>

// CHECK-LABEL: func.func @scores
// CHECK: nm.contract indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}] ins(%{{.*}}, %{{.*}} : tensor<2x?x64x32xf16>, tensor<2x96x32xf16>) outs(%{{.*}} : tensor<2x?x64x96xf32>) -> tensor<2x?x64x96xf32>
// MEMORY-LABEL: func.func @scores
// MEMORY-SAME: %[[Q:[^:]*]]: memref<2x?x64x32xf16>, %[[K:[^:]*]]: memref<2x96x32xf16>, %[[C:[^:]*]]: memref<2x?x64x96xf32>
// MEMORY-NOT: memref.alloc
// MEMORY: nm.contract {{.*}} ins(%[[Q]], %[[K]] : {{.*}}) outs(%[[C]] : memref<2x?x64x96xf32>)
// MEMORY: return %[[C]]
func.func @scores(%q: tensor<2x?x64x32xf16>, %k: tensor<2x96x32xf16>, %c: tensor<2x?x64x96xf32>) -> tensor<2x?x64x96xf32> {
  %r = nm.contract indexing_maps = [#q, #k, #s]
    ins(%q, %k : tensor<2x?x64x32xf16>, tensor<2x96x32xf16>)
    outs(%c : tensor<2x?x64x96xf32>) -> tensor<2x?x64x96xf32>
  return %r : tensor<2x?x64x96xf32>
}

// C is read later, and is added to: the product works on a copy of it.
// MEMORY-LABEL: func.func @read_later
// MEMORY-SAME: %[[C:[^:]*]]: memref<7xf32>
// MEMORY: %[[COPY:.*]] = memref.alloc
// MEMORY: memref.copy %[[C]], %[[COPY]]
// MEMORY: nm.contract {{.*}} outs(%[[COPY]]
// CHECK-LABEL: func.func @read_later
// CHECK: nm.contract {{.*}} arithmetic <tf32> ins(
func.func @read_later(%a: tensor<9xf32>, %b: tensor<7x9xf32>, %c: tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>) {
  %r = nm.contract indexing_maps = [affine_map<(n, k) -> (k)>, affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n)>]
    arithmetic <tf32> ins(%a, %b : tensor<9xf32>, tensor<7x9xf32>) outs(%c : tensor<7xf32>) -> tensor<7xf32>
  return %r, %c : tensor<7xf32>, tensor<7xf32>
}
