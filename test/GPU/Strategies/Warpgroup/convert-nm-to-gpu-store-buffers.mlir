// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

#schedule = #nm.wgmma_sp<block = [128, 64, 64], warpgroup = [128, 64], stages = 3, producers = 4, blocks = 2, store_buffers = 1>

// Of row-major C a thread has pairs of columns, 4 bytes, of two rows of each
// eight, which it stores to the slot when the copy before has been read. A
// thread of the warpgroup then copies the box of 64 x 64.
// CHECK-LABEL: func.func @row_major
// CHECK: %[[MAP:.*]] = nm.tensor_map %{{.*}} box [64, 64] swizzled : memref<128x64xf16>
// CHECK: gpu.launch
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
// CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %c128
// CHECK-COUNT-16: llvm.store %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT: nvvm.barrier id = %{{.*}} number_of_threads = %c128
// CHECK: scf.if
// CHECK: %[[AT:.*]] = nm.tensor_map_address %[[MAP]]
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[AT]], %{{.*}}, box[
// CHECK: nvvm.cp.async.bulk.commit.group
// CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK-NOT: vector.store
// All copies have read their slots when the role ends.
// CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
func.func @row_major(%a: memref<128x64xf16>, %v: memref<1x1x2048xf16>, %i: memref<1x1x512xi8>, %c: memref<128x64xf16>) {
  %zero = arith.constant 0.0 : f16
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f16) outs(%c : memref<128x64xf16>)
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #schedule
      ins(%a, %v, %i : memref<128x64xf16>, memref<1x1x2048xf16>, memref<1x1x512xi8>)
      outs(%c : memref<128x64xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

#schedule = #nm.wgmma_sp<block = [128, 64, 64], warpgroup = [128, 64], stages = 3, producers = 4, blocks = 2, store_buffers = 2>

// Of a transposed C stmatrix stores four matrices at once, and even columns come
// before odd ones: the box is of C as [2 x n/2 x m]. With two slots, the copy
// before the last one has to be read.
// CHECK-LABEL: func.func @transposed
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [2, 32, 128], strides: [128, 256, 1] : memref<64x128xf16> to memref<2x32x128xf16, strided<[128, 256, 1]>>
// CHECK: nm.tensor_map %[[VIEW]] box [2, 32, 64] swizzled
// CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
// CHECK-COUNT-4: nvvm.stmatrix %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %{{.*}}, %{{.*}}, box[%{{.*}}, %{{.*}}, %{{.*}}]
// CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
// CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
func.func @transposed(%a: memref<128x64xf16>, %v: memref<1x1x2048xf16>, %i: memref<1x1x512xi8>, %c: memref<64x128xf16>) {
  %zero = arith.constant 0.0 : f16
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f16) outs(%c : memref<64x128xf16>)
    nm.spmm <2:4> transpose_c packing #nm.sparse_operand<wgmma_pairs> schedule #schedule
      ins(%a, %v, %i : memref<128x64xf16>, memref<1x1x2048xf16>, memref<1x1x512xi8>)
      outs(%c : memref<64x128xf16>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

#schedule = #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, blocks = 2, group_n = 2>

// Six tiles along n and two along m: 0 and 1 of the first row, of the second,
// then 2 and 3. A group along n has four tiles.
// CHECK-LABEL: func.func @groups_along_n
// CHECK: scf.for %[[TILE:.*]] = %{{.*}} to %c12
// CHECK: %[[GROUP:.*]] = arith.divui %[[TILE]], %c4
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %c2
// CHECK: %[[INSIDE:.*]] = arith.remui %[[TILE]], %c4
// CHECK: %[[LEFT:.*]] = arith.subi %c6, %[[FIRST]]
// CHECK: %[[WIDTH:.*]] = arith.minui %[[LEFT]], %c2
// CHECK-DAG: arith.divui %[[INSIDE]], %[[WIDTH]]
// CHECK-DAG: %[[COLUMN:.*]] = arith.remui %[[INSIDE]], %[[WIDTH]]
// CHECK: arith.addi %[[FIRST]], %[[COLUMN]]
func.func @groups_along_n(%a: memref<128x64xf16>, %v: memref<6x1x2048xf16>, %i: memref<6x1x512xi8>, %c: memref<128x384xf16>) {
  %zero = arith.constant 0.0 : f16
  scf.forall (%m, %n) = (0, 0) to (128, 384) step (64, 64) {
    %block = affine.apply affine_map<(d0) -> (d0 floordiv 64)>(%n)
    %at = memref.subview %a[%m, 0] [64, 64] [1, 1] : memref<128x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
    %vt = memref.subview %v[%block, 0, 0] [1, 1, 2048] [1, 1, 1] : memref<6x1x2048xf16> to memref<1x1x2048xf16, strided<[2048, 2048, 1], offset: ?>>
    %it = memref.subview %i[%block, 0, 0] [1, 1, 512] [1, 1, 1] : memref<6x1x512xi8> to memref<1x1x512xi8, strided<[512, 512, 1], offset: ?>>
    %ct = memref.subview %c[%m, %n] [64, 64] [1, 1] : memref<128x384xf16> to memref<64x64xf16, strided<[384, 1], offset: ?>>
    linalg.fill ins(%zero : f16) outs(%ct : memref<64x64xf16, strided<[384, 1], offset: ?>>)
    nm.spmm <2:4> packing #nm.sparse_operand<wgmma_pairs> schedule #schedule
      ins(%at, %vt, %it : memref<64x64xf16, strided<[64, 1], offset: ?>>, memref<1x1x2048xf16, strided<[2048, 2048, 1], offset: ?>>, memref<1x1x512xi8, strided<[512, 512, 1], offset: ?>>)
      outs(%ct : memref<64x64xf16, strided<[384, 1], offset: ?>>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
