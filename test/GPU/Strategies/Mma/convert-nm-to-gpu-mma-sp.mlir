// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --nm-stage-shared-memory --convert-nm-to-gpu --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,PLAIN
// RUN: nm-opt %s --nm-attach-chip=chip=sm_100a --nm-stage-shared-memory --convert-nm-to-gpu --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,ORDERED

// A warp's 16 columns, by 8 rows of A: two instructions for 64 rows of k, whose
// metadata is one word. A lane's weights are 16 bytes.
// CHECK-LABEL: func.func @tile
// CHECK: gpu.launch
// CHECK-SAME: threads
// CHECK: %[[METADATA:.*]] = vector.bitcast %{{.*}} : vector<4xi8> to vector<1xi32>
// CHECK: %[[WORD:.*]] = vector.extract %[[METADATA]][0]
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: vector.load %{{.*}} : memref<1x1x512xf16{{.*}}, vector<8xf16>
// CHECK: nvgpu.ldmatrix %{{.*}} {numTiles = 4 : i32, transpose = false}
// PLAIN: nvvm.mma.sp.sync A[{{.*}}] sparseMetadata[%[[WORD]]] selector[%[[FIRST:.*]]] {
// ORDERED: nvvm.mma.sp.sync A[{{.*}}] sparseMetadata[%[[WORD]]] selector[%[[FIRST:.*]]] {{.*}}orderedMetadata
// CHECK: nvvm.mma.sp.sync A[{{.*}}] sparseMetadata[%[[WORD]]] selector[
// CHECK-NOT: nvvm.mma.sp.sync
func.func @tile(%a: memref<8x64xf16>, %v: memref<1x1x512xf16>, %i: memref<1x1x128xi8>, %c: memref<8x16xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> packing #nm.sparse_operand<mma> schedule #nm.mma_sp<block = [8, 16, 64], warp = [8, 16]>
      ins(%a, %v, %i : memref<8x64xf16>, memref<1x1x512xf16>, memref<1x1x128xi8>)
      outs(%c : memref<8x16xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Two warps take a step of 64 rows of the tile each, and put their sums where a
// thread finds both.
// CHECK-LABEL: func.func @slices
// CHECK: gpu.launch
// CHECK: %[[WARP:.*]] = arith.divui %{{.*}}, %c32_i32
// CHECK: %[[SLICE:.*]] = arith.index_castui %[[WARP]]
// CHECK: vector.load %{{.*}}[%c0, %[[SLICE]], %{{.*}}] {{.*}} : memref<1x2x512xf16{{.*}}, vector<8xf16>
// CHECK: nvvm.mma.sp.sync
// CHECK: nvvm.mma.sp.sync
// CHECK-NOT: nvvm.mma.sp.sync
// CHECK: gpu.barrier
// CHECK: %[[FIRST:.*]] = arith.muli %[[SLICE]], %c8
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]]
// CHECK: vector.store %{{.*}}, %{{.*}}[%[[ROW]], %{{.*}}] {{.*}} : memref<16x16xf32
// CHECK: gpu.barrier
// CHECK: %[[A:.*]] = vector.load %{{.*}} : memref<16x16xf32
// CHECK: %[[B:.*]] = vector.load %{{.*}} : memref<16x16xf32
// CHECK: arith.addf %[[A]], %[[B]]
func.func @slices(%a: memref<8x128xf16>, %v: memref<1x2x512xf16>, %i: memref<1x2x128xi8>, %c: memref<8x16xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> packing #nm.sparse_operand<mma> schedule #nm.mma_sp<block = [8, 16, 128], warp = [8, 16], slice_k = 2>
      ins(%a, %v, %i : memref<8x128xf16>, memref<1x2x512xf16>, memref<1x2x128xi8>)
      outs(%c : memref<8x16xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Of bytes, an instruction takes all 64 rows of k, and its sums are i32. A lane's
// weights are 16 bytes, too.
// CHECK-LABEL: func.func @bytes
// CHECK: vector.load %{{.*}} : memref<1x1x512xi8{{.*}}, vector<16xi8>
// CHECK: nvgpu.ldmatrix %{{.*}} {numTiles = 4 : i32, transpose = false} : {{.*}} -> vector<4x4xi8>
// CHECK: nvvm.mma.sp.sync A[{{.*}}] {{.*}}intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>, multiplicandAPtxType = #nvvm.mma_type<s8>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 64>
// CHECK-NOT: nvvm.mma.sp.sync
// CHECK: arith.addi %{{.*}}, %{{.*}} : vector<4xi32>
func.func @bytes(%a: memref<8x64xi8>, %v: memref<1x1x512xi8>, %i: memref<1x1x128xi8>, %c: memref<8x16xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> packing #nm.sparse_operand<mma> schedule #nm.mma_sp<block = [8, 16, 64], warp = [8, 16]>
      ins(%a, %v, %i : memref<8x64xi8>, memref<1x1x512xi8>, memref<1x1x128xi8>)
      outs(%c : memref<8x16xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Weights as wgmma_sp has them: a lane names a row of 16 bytes to ldmatrix, and
// lanes exchange sums, of which those of rows r and r + 8 are columns 2r and
// 2r + 1.
// CHECK-LABEL: func.func @pairs
// CHECK: nvgpu.ldmatrix %{{.*}} {numTiles = 4 : i32, transpose = false} : memref<2048xf16
// CHECK-COUNT-8: nvvm.mma.sp.sync
// CHECK-NOT: nvvm.mma.sp.sync
// CHECK: nvvm.shfl.sync
func.func @pairs(%a: memref<8x64xf16>, %v: memref<1x1x2048xf16>, %i: memref<1x1x512xi8>, %c: memref<8x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #nm.mma_sp<block = [8, 64, 64], warp = [8, 64], pairs = true>
      ins(%a, %v, %i : memref<8x64xf16>, memref<1x1x2048xf16>, memref<1x1x512xi8>)
      outs(%c : memref<8x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
