// RUN: nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// One launch of a block for each tile; buffers are views of dynamic shared
// memory; positions of a panel come in one load; all operands of a row are
// loaded before the products of the row before, which is none for the first; a
// thread's sums start at zero and C, which was filled with zero, is not read.
// CHECK-LABEL: func.func @vector_wise
// CHECK-SAME: %[[C:[^:]*]]: memref<128x256xf32>) {
// CHECK-NOT: linalg.fill
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c4, %{{.*}} = %c1, %{{.*}} = %c1) threads({{.*}}) in (%{{.*}} = %c128, %{{.*}} = %c1, %{{.*}} = %c1) dynamic_shared_memory_size %c{{.*}}_i32
// CHECK: %[[MEMORY:.*]] = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
// CHECK: memref.view %[[MEMORY]][%c0]
// CHECK: gpu.barrier
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : {{.*}}, vector<16xi8>
// CHECK: %[[POSITION:.*]] = arith.index_castui %{{.*}} : i8 to index
// CHECK: %[[A:.*]] = vector.load %[[AS:.*]][%[[POSITION]], %{{.*}}] {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK: %[[X:.*]] = vector.extract %[[A]][0]
// CHECK: %[[B:.*]] = vector.load %{{.*}} {alignment = 16 : i64} : memref<8x16x16xf32, {{.*}}, vector<4xf32>
// CHECK: %[[B0:.*]] = vector.extract %[[B]][0]
// CHECK: nvvm.bar.warp.sync
// CHECK: %[[SUM:.*]] = llvm.intr.fma(%cst, %cst, %cst)
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<32x64xf32
// CHECK: nvvm.bar.warp.sync
// CHECK: llvm.intr.fma(%[[X]], %[[B0]], %[[SUM]])
// CHECK-COUNT-16: vector.store
// CHECK-NOT: vector.store
// CHECK: gpu.terminator
func.func @vector_wise(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %c: memref<128x256xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m, %n) = (0, 0) to (128, 256) step (64, 128) {
    %ct = memref.subview %c[%m, %n] [64, 128] [1, 1] : memref<128x256xf32> to memref<64x128xf32, strided<[256, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%ct : memref<64x128xf32, strided<[256, 1], offset: ?>>)
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8], copy_a = squares, defer = true>
      ins(%a, %v, %i : memref<64x32xf32>, memref<8x16x16xf32>, memref<8x16x1xi8>)
      outs(%ct : memref<64x128xf32, strided<[256, 1], offset: ?>>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// A warp's columns share their units: positions come from global memory to
// registers, those of the next tile before this one is awaited, and say where
// the rows are interleaved to; copies are issued behind the first loads, and
// what was loaded for the next tile is stored among the later half of the
// rows. The last row of a tile is multiplied in the next, behind the barrier.
// CHECK-LABEL: func.func @units_of_warps
// CHECK: gpu.launch blocks
// CHECK: %[[FIRST:.*]] = vector.load {{.*}} {alignment = 16 : i64} : memref<2x16xi8, strided<[48, 1]>>, vector<16xi8>
// CHECK: %[[WORDS:.*]] = vector.bitcast %[[FIRST]] : vector<16xi8> to vector<4xi32>
// CHECK: scf.for {{.*}} iter_args(%[[SUM:[^ ]*]] = %cst,
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<2x16xi8, strided<[48, 1], offset: ?>>, vector<16xi8>
// CHECK: nvvm.cp.async.wait.group
// CHECK-NEXT: gpu.barrier
// CHECK-NOT: nvgpu.device_async_copy
// CHECK: arith.andi %{{.*}}, %c117901063_i32
// CHECK: arith.andi %{{.*}}, %c404232216_i32
// CHECK: vector.load {{.*}} : memref<32x64xf32, strided<[68, 1], offset: ?>
// CHECK-NOT: nvgpu.device_async_copy
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-4: nvgpu.device_async_copy
// CHECK-NEXT: nvvm.cp.async.commit.group
// CHECK: llvm.intr.fma(%arg{{[0-9]+}}, %arg{{[0-9]+}}, %[[SUM]])
// CHECK-NOT: vector.store
// CHECK-COUNT-8: nvvm.bar.warp.sync
// CHECK: vector.store {{.*}} : memref<32x64xf32
// CHECK: llvm.intr.fma
// CHECK: nvvm.bar.warp.sync
// CHECK: vector.store {{.*}} : memref<32x64xf32
// CHECK: scf.yield
func.func @units_of_warps(%a: memref<64x96xf32>, %v: memref<2x48x32xf32>, %i: memref<2x48x1xi8>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
    scf.for %k = %c0 to %c96 step %c32 {
      %w = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%k)
      %at = memref.subview %a[0, %k] [64, 32] [1, 1] : memref<64x96xf32> to memref<64x32xf32, strided<[96, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [2, 16, 32] [1, 1, 1] : memref<2x48x32xf32> to memref<2x16x32xf32, strided<[1536, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [2, 16, 1] [1, 1, 1] : memref<2x48x1xi8> to memref<2x16x1xi8, strided<[48, 1, 1], offset: ?>>
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
        schedule #nm.simt<block = [64, 64, 32], warp = [64, 32], thread = [8, 8], stages = 2, copy_a = squares, layout_a = interleaved, prefetch = true, defer = true>
        ins(%at, %vt, %it : memref<64x32xf32, strided<[96, 1], offset: ?>>, memref<2x16x32xf32, strided<[1536, 32, 1], offset: ?>>, memref<2x16x1xi8, strided<[48, 1, 1], offset: ?>>)
        outs(%c : memref<64x64xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// All of an m-major A comes by asynchronous copies: more than a row leaves time
// for are spread over the first half of the rows.
// CHECK-LABEL: func.func @many_copies
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: nvvm.bar.warp.sync
// CHECK-NEXT: nvgpu.device_async_copy
// CHECK: llvm.intr.fma
// CHECK: nvvm.bar.warp.sync
// CHECK-NEXT: nvgpu.device_async_copy
// CHECK: llvm.intr.fma
// CHECK-COUNT-6: nvvm.bar.warp.sync
// CHECK: nvvm.cp.async.commit.group
// CHECK-NOT: nvgpu.device_async_copy
// CHECK: scf.yield
func.func @many_copies(%a: memref<96x128xf32>, %v: memref<2x48x32xf32>, %i: memref<2x48x1xi8>, %c: memref<128x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<128x64xf32>)
    scf.for %k = %c0 to %c96 step %c32 {
      %w = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%k)
      %at = memref.subview %a[%k, 0] [32, 128] [1, 1] : memref<96x128xf32> to memref<32x128xf32, strided<[128, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [2, 16, 32] [1, 1, 1] : memref<2x48x32xf32> to memref<2x16x32xf32, strided<[1536, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [2, 16, 1] [1, 1, 1] : memref<2x48x1xi8> to memref<2x16x1xi8, strided<[48, 1, 1], offset: ?>>
      nm.spmm <16:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8>
        schedule #nm.simt<block = [128, 64, 32], warp = [128, 32], thread = [16, 8], stages = 2, prefetch = true, defer = true>
        ins(%at, %vt, %it : memref<32x128xf32, strided<[128, 1], offset: ?>>, memref<2x16x32xf32, strided<[1536, 32, 1], offset: ?>>, memref<2x16x1xi8, strided<[48, 1, 1], offset: ?>>)
        outs(%c : memref<128x64xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Without prefetch positions come from shared memory, once they were awaited.
// CHECK-LABEL: func.func @no_prefetch
// CHECK: gpu.launch blocks
// CHECK: scf.for
// CHECK-NOT: vector<16xi8>
// CHECK: nvvm.cp.async.wait.group
// CHECK-NEXT: gpu.barrier
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<4x16xi8, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>, vector<16xi8>
// CHECK: llvm.intr.fma
func.func @no_prefetch(%a: memref<64x96xf32>, %v: memref<4x48x32xf32>, %i: memref<4x48x1xi8>, %c: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<64x128xf32>)
    scf.for %k = %c0 to %c96 step %c32 {
      %w = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%k)
      %at = memref.subview %a[0, %k] [64, 32] [1, 1] : memref<64x96xf32> to memref<64x32xf32, strided<[96, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [4, 16, 32] [1, 1, 1] : memref<4x48x32xf32> to memref<4x16x32xf32, strided<[1536, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [4, 16, 1] [1, 1, 1] : memref<4x48x1xi8> to memref<4x16x1xi8, strided<[48, 1, 1], offset: ?>>
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8], stages = 2, prefetch = false, copy_a = matrices, defer = true>
        ins(%at, %vt, %it : memref<64x32xf32, strided<[96, 1], offset: ?>>, memref<4x16x32xf32, strided<[1536, 32, 1], offset: ?>>, memref<4x16x1xi8, strided<[48, 1, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Element-wise: each column has a position of its own, and those of four are
// read at once. Lanes that follow one another go down a column, so that eight
// of them read one row of A: there are four of them to a column here. What C
// holds is added, and rows that it does not have are not stored; blocks in the
// interior do not look. All sums are complete before the first branch.
// CHECK-LABEL: func.func @element_wise
// CHECK: %[[ROWS:.*]] = memref.dim
// CHECK: gpu.launch blocks
// CHECK: %[[LANE:.*]] = arith.remui %thread_id_x, %c32
// CHECK: %[[LANEN:.*]] = arith.divui %[[LANE]], %c4
// CHECK: %[[LANEM:.*]] = arith.remui %[[LANE]], %c4
// CHECK: vector.load {{.*}} {alignment = 4 : i64} : {{.*}}, vector<4xi8>
// CHECK: %[[POSITION:.*]] = arith.index_castui %{{.*}} : i8 to index
// CHECK: vector.load %{{.*}}[%[[POSITION]], %{{.*}}] {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK: llvm.intr.fma
// CHECK-COUNT-32: llvm.inline_asm has_side_effects "", "=f,0" %{{.*}} : (f32) -> f32
// CHECK-NOT: llvm.inline_asm
// CHECK: %[[WHOLE:.*]] = arith.cmpi ugt
// CHECK: scf.if %[[WHOLE]]
// CHECK: vector.load %{{.*}}[%{{.*}}, %{{.*}}] {alignment = 16 : i64} : memref<?x64xf32
// CHECK: arith.addf
// CHECK: } else {
// CHECK: scf.if
// CHECK: vector.store
func.func @element_wise(%a: memref<?x32xf32>, %v: memref<16x64xf32>, %i: memref<16x64xi8>, %c: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %a, %c0 : memref<?x32xf32>
  scf.forall (%bm) = (0) to (%m) step (64) {
    %rows = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 64)>(%bm)[%m]
    %at = memref.subview %a[%bm, 0] [%rows, 32] [1, 1] : memref<?x32xf32> to memref<?x32xf32, strided<[32, 1], offset: ?>>
    %ct = memref.subview %c[%bm, 0] [%rows, 64] [1, 1] : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
    nm.spmm <2:4> schedule #nm.simt<block = [64, 64, 32], warp = [32, 32], thread = [8, 4], copy_a = squares>
      ins(%at, %v, %i : memref<?x32xf32, strided<[32, 1], offset: ?>>, memref<16x64xf32>, memref<16x64xi8>)
      outs(%ct : memref<?x64xf32, strided<[64, 1], offset: ?>>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Block-wise: more kept rows than are unrolled make a loop. C is whole, so no
// branch would draw products into it.
// CHECK-LABEL: func.func @block_wise
// CHECK: gpu.launch blocks
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c16 iter_args
// CHECK: llvm.intr.fma
// CHECK: scf.yield
// CHECK-NOT: llvm.inline_asm
// CHECK: vector.store
func.func @block_wise(%a: memref<32x128xf32>, %v: memref<64x64xf32>, %i: memref<1x1xi8>, %c: memref<32x64xf32>) {
  scf.forall (%m) in (1) {
    nm.spmm <1:2, block = 64x64> schedule #nm.simt<block = [32, 64, 128], warp = [32, 32], thread = [8, 4], copy_a = squares>
      ins(%a, %v, %i : memref<32x128xf32>, memref<64x64xf32>, memref<1x1xi8>)
      outs(%c : memref<32x64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Blocks without a product: a thread computes four neighbours at once where
// rows are aligned, and one by one at their end.
// CHECK-LABEL: func.func @elementwise
// CHECK-SAME: %[[P:[^:]*]]: memref<2x8x1000xf32>, %[[C:[^:]*]]: memref<8x1000xf16>
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c64, %{{.*}} = %c1
// CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c4
// CHECK: scf.if
// CHECK: %[[P0:.*]] = vector.load %{{.*}}[%c0, %[[COLUMN]]] {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK: %[[P1:.*]] = vector.load %{{.*}}[%c0, %[[COLUMN]]] {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[P0]], %[[P1]] : vector<4xf32>
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : vector<4xf32> to vector<4xf16>
// CHECK: vector.store %[[ROUNDED]], %{{.*}}[%c0, %[[COLUMN]]] {alignment = 8 : i64}
// CHECK: else
// CHECK-COUNT-4: memref.store %{{.*}} : memref<1x?xf16
#map = affine_map<(d0) -> (256, 1000 - d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @elementwise(%p: memref<2x8x1000xf32>, %c: memref<8x1000xf16>) {
  scf.forall (%i, %j) = (0, 0) to (8, 1000) step (1, 256) {
    %size = affine.min #map(%j)
    %p0 = memref.subview %p[0, %i, %j] [1, 1, %size] [1, 1, 1] : memref<2x8x1000xf32> to memref<1x?xf32, strided<[1000, 1], offset: ?>>
    %p1 = memref.subview %p[1, %i, %j] [1, 1, %size] [1, 1, 1] : memref<2x8x1000xf32> to memref<1x?xf32, strided<[1000, 1], offset: ?>>
    %t = memref.subview %c[%i, %j] [1, %size] [1, 1] : memref<8x1000xf16> to memref<1x?xf16, strided<[1000, 1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%p0, %p1 : memref<1x?xf32, strided<[1000, 1], offset: ?>>, memref<1x?xf32, strided<[1000, 1], offset: ?>>)
        outs(%t : memref<1x?xf16, strided<[1000, 1], offset: ?>>) {
    ^bb0(%x: f32, %y: f32, %o: f16):
      %s = arith.addf %x, %y : f32
      %r = arith.truncf %s : f32 to f16
      linalg.yield %r : f16
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// The second row of partial sums begins in the middle of four: elements are
// computed one by one, though its view does not say where it came from.
// CHECK-LABEL: func.func @unaligned_rows
// CHECK: gpu.launch
// CHECK-NOT: vector.load
// CHECK-NOT: vector.store
// CHECK: memref.load
// CHECK: return
#map = affine_map<(d0) -> (256, 30 - d0)>
#id = affine_map<(d0) -> (d0)>
func.func @unaligned_rows(%p: memref<2x30xf32>, %c: memref<30xf32>) {
  scf.forall (%j) = (0) to (30) step (256) {
    %size = affine.min #map(%j)
    %p0 = memref.subview %p[0, %j] [1, %size] [1, 1] : memref<2x30xf32> to memref<?xf32, strided<[1], offset: ?>>
    %p1 = memref.subview %p[1, %j] [1, %size] [1, 1] : memref<2x30xf32> to memref<?xf32, strided<[1], offset: ?>>
    %t = memref.subview %c[%j] [%size] [1] : memref<30xf32> to memref<?xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%p0, %p1 : memref<?xf32, strided<[1], offset: ?>>, memref<?xf32, strided<[1], offset: ?>>)
        outs(%t : memref<?xf32, strided<[1], offset: ?>>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// A batch has one row of 30 elements: the next begins in the middle of four,
// though what is left of C without batches has the stride of the outer ones.
// CHECK-LABEL: func.func @unaligned_batches
// CHECK: gpu.launch
// CHECK-NOT: vector.store {{.*}} : memref<1x30xf32
// CHECK: memref.store %{{.*}}, %{{.*}} : memref<1x30xf32, strided<[60, 1], offset: ?>>
// CHECK-NOT: vector.store {{.*}} : memref<1x30xf32
// CHECK: return
func.func @unaligned_batches(%a: memref<2x2x1x8xf32>, %v: memref<2x4x16xf32>, %i: memref<2x4x16xi8>, %c: memref<2x2x1x30xf32>) {
  scf.forall (%x, %y) = (0, 0) to (2, 2) step (1, 1) {
    %at = memref.subview %a[%x, %y, 0, 0] [1, 1, 1, 8] [1, 1, 1, 1] : memref<2x2x1x8xf32> to memref<1x1x1x8xf32, strided<[16, 8, 8, 1], offset: ?>>
    %ct = memref.subview %c[%x, %y, 0, 0] [1, 1, 1, 30] [1, 1, 1, 1] : memref<2x2x1x30xf32> to memref<1x1x1x30xf32, strided<[60, 30, 30, 1], offset: ?>>
    nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 8> schedule #nm.simt<block = [32, 32, 8], warp = [32, 32], thread = [8, 4], copy_a = squares, defer = true, packing = <panel = 16, index_bits = 8>>
      ins(%at, %v, %i : memref<1x1x1x8xf32, strided<[16, 8, 8, 1], offset: ?>>, memref<2x4x16xf32>, memref<2x4x16xi8>) outs(%ct : memref<1x1x1x30xf32, strided<[60, 30, 30, 1], offset: ?>>)
  } {mapping = [#gpu.block<linear_dim_0>, #gpu.block<linear_dim_1>]}
  return
}

// -----

// A's tile is row-major where a unit has four rows: a word of a row of A is
// multiplied with four rows of weights. The last words of a tile are multiplied
// with the next.
// CHECK-LABEL: func.func @rows_of_units
// CHECK: scf.for {{.*}} iter_args(
// CHECK: %[[POSITION:.*]] = memref.load %{{.*}}[%{{.*}}, %c0, %{{.*}}] : memref<1x4x16xi8
// CHECK: %[[UNIT:.*]] = arith.index_castui %[[POSITION]] : i8 to index
// CHECK: %[[K:.*]] = arith.muli %[[UNIT]], %c4
// CHECK: %[[PLACE:.*]] = arith.xori %[[K]], %{{.*}}
// CHECK: %[[WORD:.*]] = vector.load %{{.*}}[%[[ROW:.*]], %[[PLACE]]] {alignment = 16 : i64} : memref<64x64xf32, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK: %[[A0:.*]] = vector.extract %[[WORD]][0]
// CHECK: %[[A3:.*]] = vector.extract %[[WORD]][3]
// CHECK: arith.addi %[[ROW]], %c1
// CHECK-COUNT-4: vector.load %{{.*}} {alignment = 16 : i64} : memref<1x16x64xf32
// CHECK: llvm.intr.fma(%arg{{[0-9]+}}, %arg{{[0-9]+}}, %arg{{[0-9]+}})
// CHECK: llvm.intr.fma(%[[A0]], %{{.*}}, %{{.*}})
// CHECK: llvm.intr.fma(%[[A3]], %{{.*}}, %{{.*}})
func.func @rows_of_units(%a: memref<64x192xf32>, %v: memref<1x48x64xf32>, %i: memref<1x12x16xi8>, %c: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c192 = arith.constant 192 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  scf.forall (%m, %n) in (1, 1) {
    scf.for %k = %c0 to %c192 step %c64 {
      %row = arith.divui %k, %c4 : index
      %unit = arith.divui %k, %c16 : index
      %ak = memref.subview %a[0, %k] [64, 64] [1, 1] : memref<64x192xf32> to memref<64x64xf32, strided<[192, 1], offset: ?>>
      %vk = memref.subview %v[0, %row, 0] [1, 16, 64] [1, 1, 1] : memref<1x48x64xf32> to memref<1x16x64xf32, strided<[3072, 64, 1], offset: ?>>
      %ik = memref.subview %i[0, %unit, 0] [1, 4, 16] [1, 1, 1] : memref<1x12x16xi8> to memref<1x4x16xi8, strided<[192, 16, 1], offset: ?>>
      nm.spmm <2:8, block = 4x4> packing #nm.packing<panel = 64, index_bits = 8>
        schedule #nm.simt<block = [64, 64, 64], warp = [64, 16], thread = [8, 4], stages = 2, layout_a = row_major, defer = true>
        ins(%ak, %vk, %ik : memref<64x64xf32, strided<[192, 1], offset: ?>>, memref<1x16x64xf32, strided<[3072, 64, 1], offset: ?>>, memref<1x4x16xi8, strided<[192, 16, 1], offset: ?>>)
        outs(%c : memref<64x64xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// The columns of a thread are neighbours, and one unit: it has one position in
// each kept row.
// CHECK-LABEL: func.func @units_of_threads
// CHECK: gpu.launch blocks
// CHECK: arith.muli %{{.*}}, %c8 : index
// CHECK-COUNT-8: memref.load %{{.*}} : memref<1x8x8xi8
// CHECK-NOT: memref.load
// CHECK: gpu.terminator
func.func @units_of_threads(%a: memref<64x32xf32>, %v: memref<1x8x64xf32>, %i: memref<1x8x8xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:8, block = 1x8> packing #nm.packing<panel = 64, index_bits = 8>
      schedule #nm.simt<block = [64, 64, 32], warp = [64, 32], thread = [8, 8], copy_a = squares, defer = true>
      ins(%a, %v, %i : memref<64x32xf32>, memref<1x8x64xf32>, memref<1x8x8xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
