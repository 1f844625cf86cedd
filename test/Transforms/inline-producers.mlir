// RUN: nm-opt %s --nm-inline-producers --split-input-file --verify-diagnostics | FileCheck %s

// Of a scatter; the temporary has one shape where it is written and another
// where it is read, and its loops are not in the order of its dimensions.

// CHECK-LABEL: @scattered
// CHECK-SAME: %[[K:[^:]*]]: memref<2x64xf16>, %[[S:[^:]*]]: memref<64xf16>, %[[CACHE:[^:]*]]: memref<2x256x64xf16>
// CHECK-NOT: memref.alloc
// CHECK-NOT: linalg
// CHECK: scf.parallel (%[[I:.*]], %[[J:.*]]) =
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %{{.*}}
// CHECK: %[[AT:.*]] = arith.addi %[[ROW]], %[[J]]
// CHECK: %[[D1:.*]] = arith.remui %[[AT]], %c64
// CHECK: memref.load %[[K]][%{{.*}}, %[[D1]]] : memref<2x64xf16>
// CHECK: memref.load %[[S]][%[[D1]]]
// CHECK: %[[Y:.*]] = arith.mulf
// CHECK: memref.store %[[Y]], %[[CACHE]]
// CHECK-NOT: dealloc
func.func @scattered(%k: memref<2x64xf16>, %s: memref<64xf16>, %cache: memref<2x256x64xf16>, %at: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %t = memref.alloc() : memref<128xf16>
  %t2 = memref.expand_shape %t [[0, 1]] output_shape [2, 64] : memref<128xf16> into memref<2x64xf16>
  %r = memref.expand_shape %t [[0, 1, 2]] output_shape [2, 1, 64] : memref<128xf16> into memref<2x1x64xf16>
  // expected-remark @below {{linalg.generic is a part of the loop that reads it}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]}
    ins(%k, %s : memref<2x64xf16>, memref<64xf16>) outs(%t2 : memref<2x64xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %z = arith.mulf %x, %y : f16
    linalg.yield %z : f16
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c2, %c64) step (%c1, %c1) {
    %x = memref.load %r[%i, %c0, %j] : memref<2x1x64xf16>
    memref.store %x, %cache[%i, %at, %j] : memref<2x256x64xf16>
    scf.reduce
  }
  memref.dealloc %t : memref<128xf16>
  return
}

// -----

// Sizes that are not known.

// CHECK-LABEL: @dynamic
// CHECK-NOT: linalg
// CHECK: scf.parallel (%[[I:.*]], %[[J:.*]]) =
// CHECK: memref.load %{{.*}} : memref<?x64xf16>
func.func @dynamic(%k: memref<?x64xf16>, %cache: memref<256x64xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %t = memref.alloc(%n) : memref<?x64xf16>
  // expected-remark @below {{linalg.generic is a part of the loop that reads it}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%k : memref<?x64xf16>) outs(%t : memref<?x64xf16>) {
  ^bb0(%x: f16, %o: f16):
    %z = arith.negf %x : f16
    linalg.yield %z : f16
  }
  %size = memref.dim %t, %c0 : memref<?x64xf16>
  scf.parallel (%i, %j) = (%c0, %c0) to (%size, %c64) step (%c1, %c1) {
    %x = memref.load %t[%i, %j] : memref<?x64xf16>
    memref.store %x, %cache[%i, %j] : memref<256x64xf16>
    scf.reduce
  }
  memref.dealloc %t : memref<?x64xf16>
  return
}

// -----

// What another op turns, in padded rows, before it is read.

// CHECK-LABEL: @in_turn
// CHECK-SAME: %[[K:[^:]*]]: memref<3x2x7xf16>
// CHECK-NOT: memref.alloc
// CHECK-NOT: linalg
// CHECK: scf.parallel
// CHECK: memref.load %[[K]]
// CHECK: arith.negf
// CHECK: memref.store
// CHECK-NOT: dealloc
func.func @in_turn(%k: memref<3x2x7xf16>, %cache: memref<9x3x7xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %t = memref.alloc() : memref<3x2x8xf16>
  %t7 = memref.subview %t[0, 0, 0] [3, 2, 7] [1, 1, 1] : memref<3x2x8xf16> to memref<3x2x7xf16, strided<[16, 8, 1]>>
  // expected-remark @below {{linalg.generic is a part of the loop that reads it}}
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%k : memref<3x2x7xf16>) outs(%t7 : memref<3x2x7xf16, strided<[16, 8, 1]>>) {
  ^bb0(%x: f16, %o: f16):
    %z = arith.negf %x : f16
    linalg.yield %z : f16
  }
  %u = memref.alloc() : memref<2x3x7xf16>
  // expected-remark @below {{linalg.transpose is a part of the loop that reads it}}
  linalg.transpose ins(%t7 : memref<3x2x7xf16, strided<[16, 8, 1]>>) outs(%u : memref<2x3x7xf16>) permutation = [1, 0, 2]
  scf.parallel (%i, %j, %l) = (%c0, %c0, %c0) to (%c2, %c3, %c7) step (%c1, %c1, %c1) {
    %x = memref.load %u[%i, %j, %l] : memref<2x3x7xf16>
    memref.store %x, %cache[%i, %j, %l] : memref<9x3x7xf16>
    scf.reduce
  }
  memref.dealloc %t : memref<3x2x8xf16>
  memref.dealloc %u : memref<2x3x7xf16>
  return
}

// -----

// A transposition has tiles of its own.

// CHECK-LABEL: @turned
// CHECK: linalg.transpose
func.func @turned(%k: memref<8x8xf16>, %cache: memref<8x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %t = memref.alloc() : memref<8x8xf16>
  linalg.transpose ins(%k : memref<8x8xf16>) outs(%t : memref<8x8xf16>) permutation = [1, 0]
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) step (%c1, %c1) {
    %x = memref.load %t[%i, %j] : memref<8x8xf16>
    memref.store %x, %cache[%i, %j] : memref<8x8xf16>
    scf.reduce
  }
  return
}

// -----

// A loop that reads elements in another order, or some of them, or that writes
// what the op reads; a temporary that others read; and an op whose input another
// one changes before the loop.

// CHECK-LABEL: @stays
// CHECK-COUNT-5: linalg.generic
func.func @stays(%k: memref<8x8xf16>, %cache: memref<8x8xf16>, %out: memref<8x8xf16>, %other: memref<8x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f16
  %t = memref.alloc() : memref<8x8xf16>
  %u = memref.alloc() : memref<8x8xf16>
  %v = memref.alloc() : memref<8x8xf16>
  %w = memref.alloc() : memref<8x8xf16>
  %y = memref.alloc() : memref<8x8xf16>
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%k : memref<8x8xf16>) outs(%t : memref<8x8xf16>) {
  ^bb0(%x: f16, %o: f16):
    linalg.yield %x : f16
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) step (%c1, %c1) {
    %x = memref.load %t[%j, %i] : memref<8x8xf16>
    memref.store %x, %out[%i, %j] : memref<8x8xf16>
    scf.reduce
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%k : memref<8x8xf16>) outs(%u : memref<8x8xf16>) {
  ^bb0(%x: f16, %o: f16):
    linalg.yield %x : f16
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c8) step (%c1, %c1) {
    %x = memref.load %u[%i, %j] : memref<8x8xf16>
    memref.store %x, %out[%i, %j] : memref<8x8xf16>
    scf.reduce
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%cache : memref<8x8xf16>) outs(%v : memref<8x8xf16>) {
  ^bb0(%x: f16, %o: f16):
    linalg.yield %x : f16
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) step (%c1, %c1) {
    %x = memref.load %v[%i, %j] : memref<8x8xf16>
    memref.store %x, %cache[%j, %i] : memref<8x8xf16>
    scf.reduce
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%k : memref<8x8xf16>) outs(%w : memref<8x8xf16>) {
  ^bb0(%x: f16, %o: f16):
    linalg.yield %x : f16
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) step (%c1, %c1) {
    %x = memref.load %w[%i, %j] : memref<8x8xf16>
    memref.store %x, %out[%i, %j] : memref<8x8xf16>
    scf.reduce
  }
  memref.copy %w, %other : memref<8x8xf16> to memref<8x8xf16>
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%k : memref<8x8xf16>) outs(%y : memref<8x8xf16>) {
  ^bb0(%x: f16, %o: f16):
    linalg.yield %x : f16
  }
  linalg.fill ins(%zero : f16) outs(%k : memref<8x8xf16>)
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) step (%c1, %c1) {
    %x = memref.load %y[%i, %j] : memref<8x8xf16>
    memref.store %x, %out[%i, %j] : memref<8x8xf16>
    scf.reduce
  }
  return
}
