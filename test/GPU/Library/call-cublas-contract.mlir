// RUN: nm-opt %s --nm-call-cublas --canonicalize --cse | FileCheck %s
// RUN: nm-opt %s --nm-call-cublas=available=false --canonicalize --cse | FileCheck %s --check-prefix=WITHOUT --implicit-check-not=nm.contract --implicit-check-not=call

#q = affine_map<(h, g, m, n, k) -> (h, g, m, k)>
#k = affine_map<(h, g, m, n, k) -> (h, n, k)>
#s = affine_map<(h, g, m, n, k) -> (h, g, m, n)>

// Heads of one group are more rows of one matrix; keys are read as their
// transpose. Zeros are not added to: flags are 0. The arguments are m, n, k, two
// loops of batches, three pointers, two types, the strides along these batches,
// rows and columns of A, B and C, and flags.
// CHECK-LABEL: func.func @groups
// CHECK-SAME: %[[Q:[^:]*]]: memref<2x4x64x32xf16>, %[[K:[^:]*]]: memref<2x96x32xf16>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C96:.*]] = arith.constant 96 : index
// CHECK-DAG: %[[C256:.*]] = arith.constant 256 : index
// CHECK-DAG: %[[C3072:.*]] = arith.constant 3072 : index
// CHECK-DAG: %[[C8192:.*]] = arith.constant 8192 : index
// CHECK-DAG: %[[C24576:.*]] = arith.constant 24576 : index
// CHECK: call @nmCublasIsLoaded()
// CHECK: %[[QUEUED:.*]] = scf.if
// CHECK-NOT: linalg
// CHECK: %[[AP:.*]] = memref.extract_aligned_pointer_as_index %[[Q]]
// CHECK: %[[BP:.*]] = memref.extract_aligned_pointer_as_index %[[K]]
// CHECK: func.call @nmCublasTryContract(%[[C256]], %[[C96]], %[[C32]], %[[C1]], %[[C2]], %[[AP]], %[[BP]], %{{.*}}, %{{.*}}, %[[C1]], %[[C0]], %[[C8192]], %[[C32]], %[[C1]], %[[C0]], %[[C3072]], %[[C1]], %[[C32]], %[[C0]], %[[C24576]], %[[C96]], %[[C1]], %[[C0]])
// CHECK: arith.cmpi eq, %[[QUEUED]], %[[C0]]
// CHECK: scf.if
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: linalg.generic
// WITHOUT-LABEL: func.func @groups
// WITHOUT: linalg.fill
// WITHOUT: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
func.func @groups(%q: memref<2x4x64x32xf16>, %k: memref<2x96x32xf16>, %c: memref<2x4x64x96xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<2x4x64x96xf32>)
  nm.contract indexing_maps = [#q, #k, #s]
    ins(%q, %k : memref<2x4x64x32xf16>, memref<2x96x32xf16>) outs(%c : memref<2x4x64x96xf32>)
  return
}

// Sizes of batches and rows that are not known are one loop where tensors are
// contiguous. C is added to: bit 0; TensorFloat-32 is allowed: bit 1.
// CHECK-LABEL: func.func @dynamic
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-NOT: memref.alloc
// CHECK: func.call @nmCublasTryContract({{.*}}, %[[C3]])
// CHECK-NOT: memref.alloc
func.func @dynamic(%a: memref<?x?x?x8xf32>, %b: memref<?x?x8x?xf32>, %c: memref<?x?x?x?xf32>) {
  nm.contract indexing_maps = [affine_map<(b, h, m, n, k) -> (b, h, m, k)>, affine_map<(b, h, m, n, k) -> (b, h, k, n)>, affine_map<(b, h, m, n, k) -> (b, h, m, n)>]
    arithmetic <tf32> ins(%a, %b : memref<?x?x?x8xf32>, memref<?x?x8x?xf32>) outs(%c : memref<?x?x?x?xf32>)
  return
}

// Whether these batches are one loop shows when the call is made.
// CHECK-LABEL: func.func @unknown_strides
// CHECK-NOT: memref.alloc
// CHECK: func.call @nmCublasTryContract(
func.func @unknown_strides(%a: memref<2x3x5x8xf32, strided<[?, ?, ?, 1], offset: ?>>, %b: memref<2x3x8x7xf32>, %c: memref<2x3x5x7xf32>) {
  nm.contract indexing_maps = [affine_map<(b, h, m, n, k) -> (b, h, m, k)>, affine_map<(b, h, m, n, k) -> (b, h, k, n)>, affine_map<(b, h, m, n, k) -> (b, h, m, n)>]
    ins(%a, %b : memref<2x3x5x8xf32, strided<[?, ?, ?, 1], offset: ?>>, memref<2x3x8x7xf32>) outs(%c : memref<2x3x5x7xf32>)
  return
}

// Batches of two strides, and rows of every other element, are copied.
// CHECK-LABEL: func.func @copied
// CHECK-SAME: %[[A:[^:]*]]: memref<2x5x3x8xf32>, %[[B:[^:]*]]: memref<2x3x8x7xf32, strided<[336, 112, 14, 2]>>, %[[C:[^:]*]]: memref
// CHECK: scf.if
// CHECK: %[[AC:.*]] = memref.alloc() : memref<2x3x5x8xf32>
// CHECK: linalg.generic {{.*}} ins(%[[A]] : {{.*}}) outs(%[[AC]] :
// CHECK: %[[BC:.*]] = memref.alloc() : memref<2x3x8x7xf32>
// CHECK: linalg.generic {{.*}} ins(%[[B]] : {{.*}}) outs(%[[BC]] :
// CHECK: func.call @nmCublasTryContract(
// CHECK: memref.dealloc %[[AC]]
// CHECK: memref.dealloc %[[BC]]
// CHECK: scf.if
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[C]] :
func.func @copied(%a: memref<2x5x3x8xf32>, %b: memref<2x3x8x7xf32, strided<[336, 112, 14, 2]>>, %c: memref<2x3x5x7xf32>) {
  nm.contract indexing_maps = [affine_map<(b, h, m, n, k) -> (b, m, h, k)>, affine_map<(b, h, m, n, k) -> (b, h, k, n)>, affine_map<(b, h, m, n, k) -> (b, h, m, n)>]
    ins(%a, %b : memref<2x5x3x8xf32>, memref<2x3x8x7xf32, strided<[336, 112, 14, 2]>>) outs(%c : memref<2x3x5x7xf32>)
  return
}

// A C without contiguous rows or columns is copied there and back, and other
// sums than zeros are read.
// CHECK-LABEL: func.func @copied_c
// CHECK-SAME: %[[C:[^:]*]]: memref<5x7xf32, strided<[28, 2]>>
// CHECK: %[[CC:.*]] = memref.alloc() : memref<5x7xf32>
// CHECK: linalg.generic {{.*}} ins(%[[C]] : {{.*}}) outs(%[[CC]] :
// CHECK: func.call @nmCublasTryContract(
// CHECK: linalg.generic {{.*}} ins(%[[CC]] : {{.*}}) outs(%[[C]] :
func.func @copied_c(%a: memref<5x8xf32>, %b: memref<8x7xf32>, %c: memref<5x7xf32, strided<[28, 2]>>) {
  nm.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : memref<5x8xf32>, memref<8x7xf32>) outs(%c : memref<5x7xf32, strided<[28, 2]>>)
  return
}

// Loops sum in f32, and round once.
// WITHOUT-LABEL: func.func @narrow
// WITHOUT: %[[SUMS:.*]] = memref.alloc() : memref<5x7xf32>
// WITHOUT: linalg.generic {{.*}} ins(%[[C:.*]] : memref<5x7xf16>) outs(%[[SUMS]]
// WITHOUT: linalg.generic {{.*}} outs(%[[SUMS]]
// WITHOUT: linalg.generic {{.*}} ins(%[[SUMS]] : memref<5x7xf32>) outs(%[[C]]
// WITHOUT: memref.dealloc %[[SUMS]]
func.func @narrow(%a: memref<5x8xf16>, %b: memref<8x7xf16>, %c: memref<5x7xf16>) {
  nm.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : memref<5x8xf16>, memref<8x7xf16>) outs(%c : memref<5x7xf16>)
  return
}

// A fill is not the product's where something adds to C in between.
// CHECK-LABEL: func.func @filled_before
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK: linalg.fill
// CHECK: memref.copy
// CHECK: func.call @nmCublasTryContract({{.*}}, %[[C1]])
func.func @filled_before(%a: memref<5x8xf32>, %b: memref<8x7xf32>, %c: memref<5x7xf32>, %d: memref<5x7xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<5x7xf32>)
  memref.copy %d, %c : memref<5x7xf32> to memref<5x7xf32>
  nm.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : memref<5x8xf32>, memref<8x7xf32>) outs(%c : memref<5x7xf32>)
  return
}
