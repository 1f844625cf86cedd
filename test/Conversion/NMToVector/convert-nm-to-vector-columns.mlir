// RUN: nm-opt %s --convert-nm-to-vector=vector-bits=512 | FileCheck %s

// The first tile of k writes the sums of all columns; those behind it add to the
// sums of columns that have weights in them.

// CHECK-LABEL: func.func @tiles(
// CHECK:         %[[SUMS:.*]] = memref.alloc() {{.*}} : memref<48x64xf32>
// CHECK:         scf.for %{{.*}} = %{{.*}} to %c48
// CHECK-NOT:       scf.if
// CHECK-NOT:       vector.load %[[SUMS]]
// CHECK:           vector.store %{{.*}}, %[[SUMS]]
// CHECK:         scf.for %{{.*}} = %c1{{[_0-9]*}} to %c3{{[_0-9]*}} step
// CHECK:           scf.for %{{.*}} = %{{.*}} to %c48{{.*}} iter_args(%[[FIRST:.*]] = %{{.*}})
// CHECK:             %[[END:.*]] = arith.index_castui
// CHECK:             %[[HAS:.*]] = arith.cmpi slt, %[[FIRST]], %[[END]]
// CHECK:             scf.if %[[HAS]] {
// CHECK:               vector.load %[[SUMS]]
// CHECK:               vector.store %{{.*}}, %[[SUMS]]
// CHECK:             }
// CHECK:             scf.yield %[[END]]
func.func @tiles(%a: memref<64x160xf32>, %v: memref<1x1x1088xf32>, %i: memref<1x1x1088xi8>, %l: memref<48x3x8xi8>, %c: memref<64x48xf32>) {
  nm.spmm <1:1> packing #nm.columns<kept = 1024, tile_rows = 64> schedule #nm.vector<thread = [64, 1], kept = 1024, tile_rows = 64>
    ins(%a, %v, %i : memref<64x160xf32>, memref<1x1x1088xf32>, memref<1x1x1088xi8>)
    lists(%l : memref<48x3x8xi8>) outs(%c : memref<64x48xf32>)
  return
}
