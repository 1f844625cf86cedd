// RUN: nm-opt %s --convert-nm-to-vector --canonicalize --cse | FileCheck %s

// Quads of weights are multiplied, in all lanes, by those of
// 16 rows of m. A of i8 has 128 added, and sums begin with what that makes.

// CHECK-LABEL: func.func @quads(
// CHECK-SAME: %[[A:.*]]: memref<32x128xi8>, %[[V:.*]]: memref<2x1x1024xi8>, %[[I:.*]]: memref<2x1x32xi8>, %[[C:.*]]: memref<32x64xi32>
func.func @quads(%a: memref<32x128xi8>, %v: memref<2x1x1024xi8>, %i: memref<2x1x32xi8>, %c: memref<32x64xi32>) {
  // CHECK-DAG: %[[OFFSET:.*]] = arith.constant dense<-128> : vector<64xi8>
  // CHECK-DAG: %[[ROWS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x128x32xi8>
  // CHECK-DAG: %[[KEPT:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2x8x64xi8>
  // CHECK-DAG: %[[OFFSETS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<64xi32>
  // CHECK: %[[LOADED:.*]] = vector.load %[[A]]
  // CHECK: arith.xori %[[LOADED]], %[[OFFSET]]
  // CHECK: vector.store %{{.*}}, %[[ROWS]]
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[OFFSET]], %{{.*}})
  // CHECK: %[[TOTAL:.*]] = vector.reduction <add>
  // CHECK: memref.store %[[TOTAL]], %[[OFFSETS]]
  // CHECK: vector.store %{{.*}}, %[[KEPT]]
  // CHECK: memref.load %[[OFFSETS]]
  // CHECK: %[[QUADS:.*]] = vector.load %[[KEPT]]{{.*}} : memref<2x8x64xi8>, vector<64xi8>
  // CHECK: vector.load %[[V]]{{.*}}, vector<4xi8>
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[QUADS]], %{{.*}})
  nm.spmm <8:32, block = 1x32>
    packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 32, index_rows = 32>
    schedule #nm.amx<block = [32, 64, 128], packing = <panel = 32, index_bits = 8, chunk_rows = 32, index_rows = 32>>
    ins(%a, %v, %i : memref<32x128xi8>, memref<2x1x1024xi8>, memref<2x1x32xi8>)
    outs(%c : memref<32x64xi32>)
  return
}

// Rows of A of 64 bytes: four rows of k become words of four vectors of m
// within lanes, and four columns have sums of 64 rows.

// CHECK-LABEL: func.func @long_rows(
func.func @long_rows(%a: memref<64x128xi8>, %v: memref<2x1x1024xi8>, %i: memref<2x1x32xi8>, %c: memref<64x64xi32>) {
  // CHECK-DAG: memref.alloc() {alignment = 64 : i64} : memref<1x128x64xi8>
  // CHECK-DAG: memref.alloc() {alignment = 64 : i64} : memref<4x8x64xi8>
  // CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 64, 1, 65, 2, 66, 3, 67, 4, 68, 5, 69, 6, 70, 7, 71, 16,
  // CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 64, 65, 2, 3, 66, 67, 4, 5, 68, 69, 6, 7, 70, 71, 16,
  nm.spmm <8:32, block = 1x32>
    packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 32, index_rows = 32>
    schedule #nm.amx<block = [64, 64, 128], packing = <panel = 32, index_bits = 8, chunk_rows = 32, index_rows = 32>>
    ins(%a, %v, %i : memref<64x128xi8>, memref<2x1x1024xi8>, memref<2x1x32xi8>)
    outs(%c : memref<64x64xi32>)
  return
}
