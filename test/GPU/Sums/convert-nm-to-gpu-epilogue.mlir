// RUN: nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// A thread does what an epilogue does to the lines of sums that it has in
// registers, here in f16: the memory of sums in f32 goes. The bias is loaded as
// it lies, four at a time, once for each line.

// CHECK-LABEL: func.func @narrow
// CHECK-SAME: %[[BIAS:[^:]*]]: memref<256xf32>, %[[C:[^:]*]]: memref<128x256xf16>) {
// CHECK-NOT: linalg
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch blocks
// CHECK: llvm.intr.fma
// CHECK: %[[B:.*]] = vector.load {{.*}} {alignment = 16 : i64} : memref<128xf32, strided<[1], offset: ?>>, vector<4xf32>
// CHECK: %[[BIASED:.*]] = arith.addf %{{.*}}, %[[B]] : vector<4xf32>
// CHECK: %[[RELU:.*]] = arith.maximumf %[[BIASED]], %{{.*}} : vector<4xf32>
// CHECK: %[[H:.*]] = arith.truncf %[[RELU]] : vector<4xf32> to vector<4xf16>
// CHECK-COUNT-16: vector.store {{.*}} {alignment = 8 : i64} : memref<64x128xf16, strided<[256, 1], offset: ?>>, vector<4xf16>
// CHECK-NOT: vector.store
// CHECK: gpu.terminator
// CHECK-NOT: memref.dealloc
func.func @narrow(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %bias: memref<256xf32>, %c: memref<128x256xf16>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m, %n) = (0, 0) to (128, 256) step (64, 128) {
    %ct = memref.subview %c[%m, %n] [64, 128] [1, 1] : memref<128x256xf16> to memref<64x128xf16, strided<[256, 1], offset: ?>>
    %bt = memref.subview %bias[%n] [128] [1] : memref<256xf32> to memref<128xf32, strided<[1], offset: ?>>
    %sums = memref.alloc() : memref<64x128xf32>
    linalg.fill ins(%zero : f32) outs(%sums : memref<64x128xf32>)
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8], copy_a = squares, defer = true>
      ins(%a, %v, %i : memref<64x32xf32>, memref<8x16x16xf32>, memref<8x16x1xi8>)
      outs(%sums : memref<64x128xf32>)
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                    iterator_types = ["parallel", "parallel"]}
      ins(%bt, %sums : memref<128xf32, strided<[1], offset: ?>>, memref<64x128xf32>)
      outs(%ct : memref<64x128xf16, strided<[256, 1], offset: ?>>) {
    ^bb0(%b: f32, %s: f32, %out: f16):
      %biased = arith.addf %s, %b : f32
      %relu = arith.maximumf %biased, %zero : f32
      %h = arith.truncf %relu : f32 to f16
      linalg.yield %h : f16
    }
    memref.dealloc %sums : memref<64x128xf32>
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Where C ends inside of tiles, an operand is read no further: the last element
// stands for those past the end, which are not stored.

// CHECK-LABEL: func.func @ragged
// CHECK-SAME: %[[SCALE:[^:]*]]: memref<?xf32>, %[[C:[^:]*]]: memref<?x256xf32>) {
// CHECK: gpu.launch blocks
// CHECK: llvm.intr.fma
// CHECK: %[[ROW:.*]] = arith.minui %{{.*}} : index
// CHECK: %[[S:.*]] = memref.load %{{.*}}[%[[ROW]]] : memref<?xf32, strided<[1], offset: ?>>
// CHECK: %[[FOUR:.*]] = vector.broadcast %[[S]] : f32 to vector<4xf32>
// CHECK: %[[LINE:.*]] = arith.mulf %{{.*}}, %[[FOUR]] : vector<4xf32>
// CHECK: scf.if
// CHECK: vector.store %[[LINE]]
func.func @ragged(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %rows: index, %size: index,
                  %scale: memref<?xf32>, %c: memref<?x256xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m, %n) = (0, 0) to (%rows, 256) step (64, 128) {
    %ct = memref.subview %c[%m, %n] [%size, 128] [1, 1] : memref<?x256xf32> to memref<?x128xf32, strided<[256, 1], offset: ?>>
    %st = memref.subview %scale[%m] [%size] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%ct : memref<?x128xf32, strided<[256, 1], offset: ?>>)
    %at = memref.subview %a[0, 0] [%size, 32] [1, 1] : memref<64x32xf32> to memref<?x32xf32, strided<[32, 1]>>
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8], copy_a = squares, defer = true>
      ins(%at, %v, %i : memref<?x32xf32, strided<[32, 1]>>, memref<8x16x16xf32>, memref<8x16x1xi8>)
      outs(%ct : memref<?x128xf32, strided<[256, 1], offset: ?>>)
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>],
                    iterator_types = ["parallel", "parallel"]}
      ins(%st : memref<?xf32, strided<[1], offset: ?>>)
      outs(%ct : memref<?x128xf32, strided<[256, 1], offset: ?>>) {
    ^bb0(%f: f32, %s: f32):
      %y = arith.mulf %s, %f : f32
      linalg.yield %y : f32
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
