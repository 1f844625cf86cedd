// RUN: nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --canonicalize --cse --split-input-file | FileCheck %s

// A row-major tile of A goes by way of a passage, two pieces a warp. A copy to
// it takes four rows of 128 bytes, permuted by pairs of 16 bytes, as rows go in
// fours; a lane then loads four words of a column at once, which are one store.
// The barriers are the warp's own.
// CHECK-LABEL: func.func @passage
// CHECK: %[[T:.*]] = gpu.thread_id x
// CHECK: %[[AS:.*]] = memref.alloc() : memref<64x64xf32, strided<[68, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[PASSAGE:.*]] = memref.alloc() : memref<8x16x32xf32, #gpu.address_space<workgroup>>
// CHECK: %[[LANE:.*]] = arith.remui %[[T]], %c32
// CHECK: %[[CHUNK:.*]] = arith.remui %[[LANE]], %c8
// CHECK: %[[ROW:.*]] = arith.divui %[[LANE]], %c8
// CHECK: %[[WARP:.*]] = arith.divui %[[T]], %c32
// CHECK: %[[FIRST:.*]] = arith.muli %[[WARP]], %c16
// CHECK: %[[COLUMN:.*]] = arith.muli %[[CHUNK]], %c4
// CHECK: %[[FROM:.*]] = arith.addi %[[FIRST]], %[[ROW]]
// CHECK: %[[X:.*]] = vector.transfer_read %{{.*}}[%[[FROM]], %[[COLUMN]]]
// CHECK: vector.transfer_write %[[X]], %[[PASSAGE]][%[[WARP]], %[[ROW]], %[[COLUMN]]]
// CHECK: %[[ROW1:.*]] = arith.addi %[[ROW]], %c4
// CHECK: %[[SLOT1:.*]] = arith.xori %[[CHUNK]], %c2
// CHECK: %[[TO1:.*]] = arith.muli %[[SLOT1]], %c4
// CHECK: vector.transfer_write %{{.*}}, %[[PASSAGE]][%[[WARP]], %[[ROW1]], %[[TO1]]]
// CHECK-COUNT-2: vector.transfer_write %{{.*}}, %[[PASSAGE]][%[[WARP]]
// CHECK: %[[SECOND:.*]] = arith.addi %[[WARP]], %c4
// CHECK: %[[COLUMN2:.*]] = arith.addi %[[COLUMN]], %c32
// CHECK: vector.transfer_read %{{.*}}[%[[FROM]], %[[COLUMN2]]]
// CHECK-COUNT-4: vector.transfer_write %{{.*}}, %[[PASSAGE]][%[[SECOND]]
// CHECK: vector.transfer_write %{{.*}} : vector<4xf32>, memref<4x16x32xf32
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-4: nvgpu.ldmatrix %[[PASSAGE]][%[[WARP]], %{{.*}}, %{{.*}}] {numTiles = 4 : i32, transpose = false}
// CHECK: vector.store %{{.*}}, %[[AS]][%[[CHUNK]], %{{.*}}] {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK: vector.store
// CHECK: vector.store
// CHECK: vector.store
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-4: nvgpu.ldmatrix %[[PASSAGE]][%[[SECOND]]
// CHECK-NOT: nvgpu.ldmatrix
// CHECK: gpu.barrier
// CHECK: nm.spmm <8:32, block = 1x32> transpose_a packing
// CHECK-NOT: nm.interleaved_rows
// CHECK: gpu.barrier
func.func @passage(%a: memref<64x256xf32>, %v: memref<4x64x32xf32>, %i: memref<4x64x1xi8>, %c: memref<64x128xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.forall (%m, %n) in (1, 1) {
    scf.for %k = %c0 to %c256 step %c64 {
      %w = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%k)
      %at = memref.subview %a[0, %k] [64, 64] [1, 1] : memref<64x256xf32> to memref<64x64xf32, strided<[256, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [4, 16, 32] [1, 1, 1] : memref<4x64x32xf32> to memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [4, 16, 1] [1, 1, 1] : memref<4x64x1xi8> to memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>
      nm.spmm <8:32, block = 1x32> packing <panel = 32, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], stages = 2>
        ins(%at, %vt, %it : memref<64x64xf32, strided<[256, 1], offset: ?>>, memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>, memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// A third stage leaves no memory for one, and the tile goes through registers.
// CHECK-LABEL: func.func @no_memory
// CHECK: memref.alloc() : memref<64x64xf32
// CHECK-NOT: nvgpu.ldmatrix
// CHECK: nm.interleaved_rows
func.func @no_memory(%a: memref<64x256xf32>, %v: memref<8x64x32xf32>, %i: memref<8x64x1xi8>, %c: memref<64x256xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.forall (%m, %n) in (1, 1) {
    scf.for %k = %c0 to %c256 step %c64 {
      %w = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%k)
      %at = memref.subview %a[0, %k] [64, 64] [1, 1] : memref<64x256xf32> to memref<64x64xf32, strided<[256, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [8, 16, 32] [1, 1, 1] : memref<8x64x32xf32> to memref<8x16x32xf32, strided<[2048, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [8, 16, 1] [1, 1, 1] : memref<8x64x1xi8> to memref<8x16x1xi8, strided<[64, 1, 1], offset: ?>>
      nm.spmm <8:32, block = 1x32> packing <panel = 32, index_bits = 8>
        schedule #nm.simt<block = [64, 256, 64], warp = [64, 32], thread = [8, 8], stages = 3>
        ins(%at, %vt, %it : memref<64x64xf32, strided<[256, 1], offset: ?>>, memref<8x16x32xf32, strided<[2048, 32, 1], offset: ?>>, memref<8x16x1xi8, strided<[64, 1, 1], offset: ?>>)
        outs(%c : memref<64x256xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Columns that A may lack are zeros in the passage.
// CHECK-LABEL: func.func @edge
// CHECK: %[[K:.*]] = affine.min
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %[[K]]
// CHECK: %[[ELEMENTS:.*]] = arith.select %[[INSIDE]], %c4, %c0
// CHECK: %[[MASK:.*]] = vector.create_mask %[[ELEMENTS]] : vector<4xi1>
// CHECK: vector.transfer_read {{.*}}, %[[MASK]]
// CHECK: nvgpu.ldmatrix
func.func @edge(%a: memref<64x200xf32>, %v: memref<4x64x32xf32>, %i: memref<4x64x1xi8>, %c: memref<64x128xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.forall (%m, %n) in (1, 1) {
    scf.for %k = %c0 to %c256 step %c64 {
      %w = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%k)
      %size = affine.min affine_map<(d0) -> (64, 200 - d0)>(%k)
      %at = memref.subview %a[0, %k] [64, %size] [1, 1] : memref<64x200xf32> to memref<64x?xf32, strided<[200, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [4, 16, 32] [1, 1, 1] : memref<4x64x32xf32> to memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [4, 16, 1] [1, 1, 1] : memref<4x64x1xi8> to memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>
      nm.spmm <8:32, block = 1x32> packing <panel = 32, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 64], warp = [64, 32], thread = [8, 8], stages = 2>
        ins(%at, %vt, %it : memref<64x?xf32, strided<[200, 1], offset: ?>>, memref<4x16x32xf32, strided<[2048, 32, 1], offset: ?>>, memref<4x16x1xi8, strided<[64, 1, 1], offset: ?>>)
        outs(%c : memref<64x128xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
