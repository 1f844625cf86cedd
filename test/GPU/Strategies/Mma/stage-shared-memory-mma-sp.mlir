// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --nm-stage-shared-memory --canonicalize --cse --split-input-file | FileCheck %s

// A stays row-major, with the 16-byte words of eight rows in different banks;
// packed weights are copied as they are, and metadata stays where it is.
// CHECK-LABEL: func.func @row_major
// CHECK-SAME: %[[A:[^:]*]]: memref<64x64xf16>, %[[V:[^:]*]]: memref<8x1x512xf16>, %[[I:[^:]*]]: memref<8x1x128xi8>
// CHECK: %[[AS:.*]] = memref.alloc() : memref<64x64xf16, #nm.tile_layout<[64, 1], xor = [1:3 with 0:0 for 3]>, #gpu.address_space<workgroup>>
// CHECK: %[[T0:.*]] = nm.copy <direct> %[[A]] to %[[AS]]
// CHECK: %[[VS:.*]] = memref.alloc() : memref<8x1x512xf16, strided<[512, 512, 1]>, #gpu.address_space<workgroup>>
// CHECK: %[[T1:.*]] = nm.copy <direct> %[[V]] to %[[VS]]
// CHECK: %[[GROUP:.*]] = nm.group %[[T0]], %[[T1]]
// CHECK: nm.await <block> %[[GROUP]]
// CHECK: nm.spmm <2:4> packing #nm.sparse_operand<mma>
// CHECK-SAME: ins(%[[AS]], %[[VS]], %[[I]] :
func.func @row_major(%a: memref<64x64xf16>, %v: memref<8x1x512xf16>, %i: memref<8x1x128xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> packing #nm.sparse_operand<mma> schedule #nm.mma_sp<block = [64, 128, 64], warp = [32, 64], stages = 2>
      ins(%a, %v, %i : memref<64x64xf16>, memref<8x1x512xf16>, memref<8x1x128xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// So does an m-major one. Rows whose elements are too few for an asynchronous
// copy go through registers.
// CHECK-LABEL: func.func @m_major
// CHECK: memref.alloc() : memref<64x32xf16, #nm.tile_layout<[32, 1], xor = [1:3 with 0:1 for 2]>, #gpu.address_space<workgroup>>
// CHECK: nm.load_tile <elements>
// CHECK: nm.spmm <2:4> transpose_a
func.func @m_major(%a: memref<50x31xf16>, %v: memref<1x1x512xf16>, %i: memref<1x1x128xi8>, %c: memref<31x16xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> transpose_a packing #nm.sparse_operand<mma> schedule #nm.mma_sp<block = [32, 16, 64], warp = [32, 16], stages = 2>
      ins(%a, %v, %i : memref<50x31xf16>, memref<1x1x512xf16>, memref<1x1x128xi8>)
      outs(%c : memref<31x16xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
