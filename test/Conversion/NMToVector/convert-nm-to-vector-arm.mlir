// RUN: nm-opt %s --convert-nm-to-vector="vector-bits=128 x86-permutes=false" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,DOT
// RUN: nm-opt %s --convert-nm-to-vector="vector-bits=128 x86-permutes=false i8mm=true" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,MATRIX

// Words of four columns are multiplied by those of four rows of m, or pairs of
// words of two columns by those of two rows of m.

// CHECK-LABEL: func.func @bytes(
// CHECK-SAME: %[[A:.*]]: memref<64x128xi8>, %[[V:.*]]: memref<2x1x1024xi8>
func.func @bytes(%a: memref<64x128xi8>, %v: memref<2x1x1024xi8>, %i: memref<2x1x32xi8>, %c: memref<64x64xi32>) {
  // CHECK-DAG: memref.alloc() {alignment = 64 : i64} : memref<1x128x64xi8>
  // CHECK-DAG: %[[KEPT:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4x8x64xi8>
  // CHECK-NOT: arith.xori
  // CHECK: vector.interleave %{{.*}}, %{{.*}} : vector<16xi8> -> vector<32xi8>
  // CHECK: vector.interleave %{{.*}}, %{{.*}} : vector<16xi16> -> vector<32xi16>
  // CHECK: vector.store %{{.*}}, %[[KEPT]]
  // MATRIX: %[[FIRST:.*]] = vector.load %[[KEPT]]
  // MATRIX: vector.shuffle %{{.*}}, %{{.*}} [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23] : vector<16xi32>, vector<16xi32>
  // MATRIX: vector.shuffle %{{.*}}, %{{.*}} [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31] : vector<16xi32>, vector<16xi32>
  // CHECK: vector.load %[[V]]{{.*}}, vector<16xi8>
  // CHECK: vector.load %[[KEPT]]{{.*}}, vector<16xi8>
  // DOT: vector.shuffle %{{.*}}, %{{.*}} [0, 0, 0, 0] : vector<4xi32>, vector<4xi32>
  // DOT-COUNT-64: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
  // DOT-NOT: llvm.call_intrinsic
  // MATRIX: vector.shuffle %{{.*}}, %{{.*}} [0, 2] : vector<2xi64>, vector<2xi64>
  // MATRIX-COUNT-32: llvm.call_intrinsic "llvm.aarch64.neon.smmla.v4i32.v16i8"
  // MATRIX-NOT: llvm.call_intrinsic
  // MATRIX: vector.shuffle %{{.*}}, %{{.*}} [0, 2, 4, 6] : vector<4xi32>, vector<4xi32>
  // MATRIX: vector.shuffle %{{.*}}, %{{.*}} [1, 3, 5, 7] : vector<4xi32>, vector<4xi32>
  nm.spmm <8:32, block = 1x32>
    packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 32, index_rows = 32>
    schedule #nm.amx<block = [64, 64, 128], packing = <panel = 32, index_bits = 8, chunk_rows = 32, index_rows = 32>>
    ins(%a, %v, %i : memref<64x128xi8>, memref<2x1x1024xi8>, memref<2x1x32xi8>)
    outs(%c : memref<64x64xi32>)
  return
}

// CHECK-LABEL: func.func @halves(
// CHECK-SAME: %[[A:.*]]: memref<16x64xbf16>, %[[V:.*]]: memref<2x2x1024xbf16>
func.func @halves(%a: memref<16x64xbf16>, %v: memref<2x2x1024xbf16>, %i: memref<2x2x64xi8>, %c: memref<16x64xf32>) {
  // CHECK: %[[WORDS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x32x32xbf16>
  // CHECK: vector.load %[[WORDS]]
  // CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23] : vector<16xi32>, vector<16xi32>
  // CHECK: vector.load %[[V]]{{.*}}, vector<8xbf16>
  // CHECK-COUNT-32: llvm.call_intrinsic "llvm.aarch64.neon.bfmmla"
  // CHECK-NOT: llvm.call_intrinsic
  nm.spmm <1:1, block = 1x16>
    packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 32, index_rows = 32>
    schedule #nm.amx<block = [16, 64, 64], packing = <panel = 32, index_bits = 8, chunk_rows = 32, index_rows = 32>>
    ins(%a, %v, %i : memref<16x64xbf16>, memref<2x2x1024xbf16>, memref<2x2x64xi8>)
    outs(%c : memref<16x64xf32>)
  return
}
