// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// The host makes a map of A, of boxes of the tile's rows and a panel of 128
// bytes. Three copies fill a slot: the first lanes of three producer warps start
// one each, and say how many bytes arrive. Eight warps multiply, each thread of
// which says that it has read its part of the metadata.
// CHECK-LABEL: func.func @row_major
// CHECK-SAME: (%[[A:.*]]: memref<256x512xf16>,
// CHECK: %[[MAP:.*]] = nm.tensor_map %[[A]] box [128, 64] swizzled : memref<256x512xf16> -> vector<16xi64>
// CHECK: gpu.launch blocks({{.*}}) threads({{.*}}) in (%{{.*}} = %c384,
// CHECK: nvvm.mbarrier.init %{{.*}}, %c3_i32
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.mbarrier.init %{{.*}}, %c256_i32
// CHECK: gpu.barrier
// What came by the asynchronous proxy needs no fence before wgmma reads it.
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK-NOT: nvvm.fence.proxy
// CHECK: wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16
// CHECK: nvvm.mbarrier.arrive
// Neighbouring columns are stored together, from registers.
// CHECK-NOT: gpu.barrier
// CHECK: vector.store %{{.*}} {alignment = 4 : i64} : {{.*}}, vector<2xf16>
// CHECK: %[[PRODUCER:.*]] = arith.subi %{{.*}}, %c256 : index
// CHECK: arith.cmpi ult, %[[PRODUCER]], %c96 : index
// CHECK: %[[FIRST:.*]] = affine.apply
// CHECK: scf.for %[[K:.*]] = %c0 to %c512 step %c64 {
// CHECK: nvvm.mbarrier.try_wait.parity
// The box's columns come first. 128 rows of 128 bytes arrive.
// CHECK: arith.cmpi eq, %[[PRODUCER]], %c0 : index
// CHECK-NEXT: scf.if
// CHECK: nvvm.mbarrier.arrive.expect_tx %[[FILLED:.*]], %c16384_i32
// CHECK-DAG: %[[ADDRESS:.*]] = nm.tensor_map_address %[[MAP]] : vector<16xi64> -> !llvm.ptr
// CHECK-DAG: %[[COLUMN:.*]] = arith.index_castui %[[K]] : index to i32
// CHECK-DAG: %[[ROW:.*]] = arith.index_castui %[[FIRST]] : index to i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[ADDRESS]], %[[FILLED]], box[%[[COLUMN]], %[[ROW]]] : !llvm.ptr<7>, !llvm.ptr
// Blocks of 64 columns of weights lie apart: a copy for each.
// CHECK: arith.cmpi eq, %[[PRODUCER]], %c32 : index
// CHECK-NEXT: scf.if
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c8192_i32
// CHECK-COUNT-2: nvvm.cp.async.bulk.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, %c4096_i32
// CHECK: arith.cmpi eq, %[[PRODUCER]], %c64 : index
// CHECK-NEXT: scf.if
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c1024_i32
// CHECK-COUNT-2: nvvm.cp.async.bulk.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, %c512_i32
// CHECK-NOT: nvvm.cp.async
// CHECK: return
func.func @row_major(%a: memref<256x512xf16>, %v: memref<2x8x2048xf16>, %i: memref<2x8x512xi8>, %c: memref<256x128xf16>) {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  scf.forall (%m, %n) in (2, 1) {
    %rows = affine.apply affine_map<(d0) -> (d0 * 128)>(%m)
    %tile = memref.subview %c[%rows, 0] [128, 128] [1, 1] : memref<256x128xf16> to memref<128x128xf16, strided<[128, 1], offset: ?>>
    linalg.fill ins(%zero : f16) outs(%tile : memref<128x128xf16, strided<[128, 1], offset: ?>>)
    scf.for %k = %c0 to %c512 step %c64 {
      %step = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%k)
      %at = memref.subview %a[%rows, %k] [128, 64] [1, 1] : memref<256x512xf16> to memref<128x64xf16, strided<[512, 1], offset: ?>>
      %vt = memref.subview %v[0, %step, 0] [2, 1, 2048] [1, 1, 1] : memref<2x8x2048xf16> to memref<2x1x2048xf16, strided<[16384, 2048, 1], offset: ?>>
      %it = memref.subview %i[0, %step, 0] [2, 1, 512] [1, 1, 1] : memref<2x8x512xi8> to memref<2x1x512xi8, strided<[4096, 512, 1], offset: ?>>
      nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 4, producers = 4>
        ins(%at, %vt, %it : memref<128x64xf16, strided<[512, 1], offset: ?>>, memref<2x1x2048xf16, strided<[16384, 2048, 1], offset: ?>>, memref<2x1x512xi8, strided<[4096, 512, 1], offset: ?>>)
        outs(%tile : memref<128x128xf16, strided<[128, 1], offset: ?>>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Of an m-major A, panels have 64 rows of m each: two boxes.
// CHECK-LABEL: func.func @m_major
// CHECK: nm.tensor_map %{{.*}} box [64, 64] swizzled : memref<512x256xf16> -> vector<16xi64>
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c16384_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, box[%[[FIRST:.*]], %[[K:.*]]] : !llvm.ptr<7>, !llvm.ptr
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %{{.*}}, %{{.*}}, box[%{{.*}}, %[[K]]] : !llvm.ptr<7>, !llvm.ptr
func.func @m_major(%a: memref<512x256xf16>, %v: memref<2x8x2048xf16>, %i: memref<2x8x512xi8>, %c: memref<256x128xf16>) {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  scf.forall (%m, %n) in (2, 1) {
    %rows = affine.apply affine_map<(d0) -> (d0 * 128)>(%m)
    %tile = memref.subview %c[%rows, 0] [128, 128] [1, 1] : memref<256x128xf16> to memref<128x128xf16, strided<[128, 1], offset: ?>>
    linalg.fill ins(%zero : f16) outs(%tile : memref<128x128xf16, strided<[128, 1], offset: ?>>)
    scf.for %k = %c0 to %c512 step %c64 {
      %step = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%k)
      %at = memref.subview %a[%k, %rows] [64, 128] [1, 1] : memref<512x256xf16> to memref<64x128xf16, strided<[256, 1], offset: ?>>
      %vt = memref.subview %v[0, %step, 0] [2, 1, 2048] [1, 1, 1] : memref<2x8x2048xf16> to memref<2x1x2048xf16, strided<[16384, 2048, 1], offset: ?>>
      %it = memref.subview %i[0, %step, 0] [2, 1, 512] [1, 1, 1] : memref<2x8x512xi8> to memref<2x1x512xi8, strided<[4096, 512, 1], offset: ?>>
      nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma_pairs> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 4, producers = 4>
        ins(%at, %vt, %it : memref<64x128xf16, strided<[256, 1], offset: ?>>, memref<2x1x2048xf16, strided<[16384, 2048, 1], offset: ?>>, memref<2x1x512xi8, strided<[4096, 512, 1], offset: ?>>)
        outs(%tile : memref<128x128xf16, strided<[128, 1], offset: ?>>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Of 200 rows 72 are in the second block. A slot is filled up once; then boxes
// of 64 rows are copied that A has rows of.
// CHECK-LABEL: func.func @ragged
// CHECK: nm.tensor_map %{{.*}} box [64, 64] swizzled : memref<200x512xf16> -> vector<16xi64>
// CHECK: %[[REST:.*]] = arith.subi %c200, %{{.*}} : index
// CHECK: %[[BOXES:.*]] = arith.ceildivui %[[REST]], %c64 : index
// CHECK: %[[LEAST:.*]] = arith.minui %[[BOXES]], %c2 : index
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi ult, %{{.*}}, %c4 : index
// CHECK: %[[COUNT:.*]] = arith.select %[[IS_FIRST]], %c2, %[[LEAST]] : index
// CHECK: %[[BYTES:.*]] = arith.muli %[[COUNT]], %c8192 : index
// CHECK: %[[BYTES32:.*]] = arith.index_castui %[[BYTES]] : index to i32
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %[[BYTES32]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: %[[HAS:.*]] = arith.cmpi ugt, %[[COUNT]], %c1 : index
// CHECK: scf.if %[[HAS]] {
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK-NOT: nvvm.cp.async.bulk.tensor
func.func @ragged(%a: memref<200x512xf16>, %v: memref<2x8x2048xf16>, %i: memref<2x8x512xi8>, %c: memref<200x128xf16>) {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  scf.forall (%m, %n) in (2, 1) {
    %rows = affine.apply affine_map<(d0) -> (d0 * 128)>(%m)
    %count = affine.min affine_map<(d0) -> (128, d0 * -128 + 200)>(%m)
    %tile = memref.subview %c[%rows, 0] [%count, 128] [1, 1] : memref<200x128xf16> to memref<?x128xf16, strided<[128, 1], offset: ?>>
    linalg.fill ins(%zero : f16) outs(%tile : memref<?x128xf16, strided<[128, 1], offset: ?>>)
    scf.for %k = %c0 to %c512 step %c64 {
      %step = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%k)
      %at = memref.subview %a[%rows, %k] [%count, 64] [1, 1] : memref<200x512xf16> to memref<?x64xf16, strided<[512, 1], offset: ?>>
      %vt = memref.subview %v[0, %step, 0] [2, 1, 2048] [1, 1, 1] : memref<2x8x2048xf16> to memref<2x1x2048xf16, strided<[16384, 2048, 1], offset: ?>>
      %it = memref.subview %i[0, %step, 0] [2, 1, 512] [1, 1, 1] : memref<2x8x512xi8> to memref<2x1x512xi8, strided<[4096, 512, 1], offset: ?>>
      nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 4, producers = 4, box_rows = 64>
        ins(%at, %vt, %it : memref<?x64xf16, strided<[512, 1], offset: ?>>, memref<2x1x2048xf16, strided<[16384, 2048, 1], offset: ?>>, memref<2x1x512xi8, strided<[4096, 512, 1], offset: ?>>)
        outs(%tile : memref<?x128xf16, strided<[128, 1], offset: ?>>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
