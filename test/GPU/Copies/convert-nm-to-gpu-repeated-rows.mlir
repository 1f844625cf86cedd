// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse | FileCheck %s

// The host makes two maps of A: of A as 48 windows of 6 rows, whose boxes have
// the same four rows of each of 16 windows; and of boxes of 32 rows of k. Six of
// eight tiles have groups of windows, two for each 16 of them, and the other two
// have rows 288 to 319 and 320 to 327 twice. Zeros fill up what is past A's end.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[A:.*]]: memref<328x256xf16>,
// CHECK: %[[WINDOWS:.*]] = memref.reinterpret_cast %[[A]] to offset: [0], sizes: [48, 6, 256], strides: [1536, 256, 1]
// CHECK: %[[MAP:.*]] = nm.tensor_map %[[WINDOWS]] box [16, 4, 64] swizzled
// CHECK: %[[TWICE:.*]] = nm.tensor_map %[[A]] box [32, 64] swizzled : memref<328x256xf16> -> vector<16xi64>
// CHECK: wgmma.mma_async.sp
// CHECK: scf.for %[[K:.*]] = %c0 to %c512 step %c64 {
// CHECK: %[[TILE:.*]] = arith.divui %[[K]], %c64 : index
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.*}}, %c16384_i32
// CHECK: %[[IS_OF_WINDOWS:.*]] = arith.cmpi ult, %[[TILE]], %c6 : index
// CHECK: scf.if %[[IS_OF_WINDOWS]] {
// CHECK: %[[GROUP:.*]] = arith.remui %[[TILE]], %c2 : index
// CHECK: %[[ROW:.*]] = arith.muli %[[GROUP]], %c2 : index
// CHECK: %[[CHUNK:.*]] = arith.divui %[[TILE]], %c2 : index
// CHECK: %[[WINDOW:.*]] = arith.muli %[[CHUNK]], %c16 : index
// CHECK-DAG: %[[ROW32:.*]] = arith.index_castui %[[ROW]] : index to i32
// CHECK-DAG: %[[WINDOW32:.*]] = arith.index_castui %[[WINDOW]] : index to i32
// CHECK-DAG: %[[ADDRESS:.*]] = nm.tensor_map_address %[[MAP]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[ADDRESS]], %{{.*}}, box[%{{.*}}, %[[ROW32]], %[[WINDOW32]]] : !llvm.ptr<7>, !llvm.ptr
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[ADDRESS]], %{{.*}}, box[%{{.*}}, %[[ROW32]], %[[WINDOW32]]] : !llvm.ptr<7>, !llvm.ptr
// CHECK: } else {
// CHECK: %[[NUMBER:.*]] = arith.subi %[[TILE]], %c6 : index
// CHECK: %[[ROWS:.*]] = arith.muli %[[NUMBER]], %c32 : index
// CHECK: %[[FIRST:.*]] = arith.addi %[[ROWS]], %c288 : index
// CHECK: %[[FIRST32:.*]] = arith.index_castui %[[FIRST]] : index to i32
// CHECK: %[[ADDRESS:.*]] = nm.tensor_map_address %[[TWICE]]
// Two panels, and the second half of each.
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[ADDRESS]], %{{.*}}, box[%[[COLUMN:.*]], %[[FIRST32]]] : !llvm.ptr<7>, !llvm.ptr
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[ADDRESS]], %{{.*}}, box[%[[SECOND:.*]], %[[FIRST32]]] : !llvm.ptr<7>, !llvm.ptr
// CHECK: arith.addi %{{.*}}, %c4096_i32 : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[ADDRESS]], %{{.*}}, box[%[[COLUMN]], %[[FIRST32]]] : !llvm.ptr<7>, !llvm.ptr
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[ADDRESS]], %{{.*}}, box[%[[SECOND]], %[[FIRST32]]] : !llvm.ptr<7>, !llvm.ptr
// CHECK-NOT: nvvm.cp.async.bulk.tensor
func.func @rows(%x: memref<328x256xf16>, %v: memref<2x8x2048xf16>, %i: memref<2x8x512xi8>, %c: memref<256x128xf16>) {
  %a = nm.repeated_rows windows 6 %x : memref<328x256xf16> -> memref<512x256xf16, strided<[256, 1]>>
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
      %at = memref.subview %a[%k, %rows] [64, 128] [1, 1] : memref<512x256xf16, strided<[256, 1]>> to memref<64x128xf16, strided<[256, 1], offset: ?>>
      %vt = memref.subview %v[0, %step, 0] [2, 1, 2048] [1, 1, 1] : memref<2x8x2048xf16> to memref<2x1x2048xf16, strided<[16384, 2048, 1], offset: ?>>
      %it = memref.subview %i[0, %step, 0] [2, 1, 512] [1, 1, 1] : memref<2x8x512xi8> to memref<2x1x512xi8, strided<[4096, 512, 1], offset: ?>>
      nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma_pairs> schedule #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 4, producers = 4>
        ins(%at, %vt, %it : memref<64x128xf16, strided<[256, 1], offset: ?>>, memref<2x1x2048xf16, strided<[16384, 2048, 1], offset: ?>>, memref<2x1x512xi8, strided<[4096, 512, 1], offset: ?>>)
        outs(%tile : memref<128x128xf16, strided<[128, 1], offset: ?>>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
