// RUN: nm-opt %s --nm-name-steps --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// Names of ops, with a product's strategy and a body's arithmetic.
// CHECK-LABEL: func @names
func.func @names(%a: memref<8x16xf32>, %v: memref<8x8xf32>, %i: memref<8x8xi8>,
                 %c: memref<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  // CHECK: linalg.fill {{.*}} loc("linalg.fill"(
  linalg.fill ins(%zero : f32) outs(%c : memref<8x8xf32>)
  // CHECK: nm.spmm {{.*}} loc("nm.spmm <2:4> loops"(
  nm.spmm <2:4> schedule #nm.loops ins(%a, %v, %i : memref<8x16xf32>, memref<8x8xf32>, memref<8x8xi8>) outs(%c : memref<8x8xf32>)
  // CHECK: linalg.generic
  // CHECK: } loc("linalg.generic(mulf, exp)"(
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
    ins(%c : memref<8x8xf32>) outs(%v : memref<8x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    %two = arith.constant 2.0 : f32
    %p = arith.mulf %x, %two : f32
    %q = arith.mulf %p, %p : f32
    %e = math.exp %q : f32
    linalg.yield %e : f32
  }
  // CHECK: memref.copy {{.*}} loc("memref.copy"(
  memref.copy %v, %c : memref<8x8xf32> to memref<8x8xf32>
  return
}
