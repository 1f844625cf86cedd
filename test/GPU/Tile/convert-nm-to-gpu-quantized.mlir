// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --convert-nm-to-gpu --canonicalize --cse | FileCheck %s

// A lane's eight values of four bits are one word. Its second register, of the
// lane's second row, has them times sixteen.
// CHECK-LABEL: func.func @four
// CHECK: gpu.launch
// CHECK: %[[FIRST:.*]] = memref.load %{{.*}} : memref<1x16xf16>
// CHECK: %[[SECOND:.*]] = memref.load %{{.*}} : memref<1x16xf16>
// CHECK: vector.load %{{.*}} {alignment = 4 : i64} : memref<1x1x256xi8{{.*}}, vector<4xi8>
// CHECK: %[[BOTH:.*]] = vector.broadcast %[[FIRST]] : f16 to vector<2xf16>
// CHECK: llvm.inline_asm "lop3.b32 $0, $1, $2, $3, $4;", "=r,r,n,n,n" %{{.*}}, %c983055_i32, %c1677747200_i32, %c234_i32
// CHECK: arith.subf %{{.*}}, %{{.*}} : vector<2xf16>
// CHECK: arith.mulf %{{.*}}, %[[BOTH]] : vector<2xf16>
// CHECK: llvm.inline_asm "lop3.b32 $0, $1, $2, $3, $4;", "=r,r,n,n,n" %{{.*}}, %c15728880_i32
// CHECK: vector.fma %{{.*}} : vector<2xf16>
// CHECK: nvvm.mma.sp.sync
// CHECK: nvvm.mma.sp.sync
// CHECK-NOT: nvvm.mma.sp.sync
func.func @four(%a: memref<8x64xf16>, %v: memref<1x1x256xi8>, %i: memref<1x1x128xi8>, %s: memref<1x16xf16>, %c: memref<8x16xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> packing #nm.sparse_operand<mma, bits = 4> schedule #nm.mma_sp<block = [8, 16, 64], warp = [8, 16], bits = 4> quantization <bits = 4, group = 64>
      ins(%a, %v, %i : memref<8x64xf16>, memref<1x1x256xi8>, memref<1x1x128xi8>)
      scales(%s : memref<1x16xf16>) outs(%c : memref<8x16xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Of eight bits, a half of the rows of a step has a scale of its own, and bf16
// is the upper half of f32.
// CHECK-LABEL: func.func @eight
// CHECK-COUNT-4: memref.load %{{.*}} : memref<2x16xbf16>
// CHECK: vector.load %{{.*}} {alignment = 8 : i64} : memref<1x1x512xi8{{.*}}, vector<8xi8>
// CHECK: arith.subf %{{.*}}, %{{.*}} : f32
// CHECK: vector.fma %{{.*}} : vector<2xbf16>
// CHECK: nvvm.mma.sp.sync
func.func @eight(%a: memref<8x64xbf16>, %v: memref<1x1x512xi8>, %i: memref<1x1x128xi8>, %s: memref<2x16xbf16>, %c: memref<8x16xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> packing #nm.sparse_operand<mma, bits = 8> schedule #nm.mma_sp<block = [8, 16, 64], warp = [8, 16], bits = 8> quantization <bits = 8, group = 32>
      ins(%a, %v, %i : memref<8x64xbf16>, memref<1x1x512xi8>, memref<1x1x128xi8>)
      scales(%s : memref<2x16xbf16>) outs(%c : memref<8x16xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Warps that multiply by fours leave the products of a tile in flight, and wait
// for all of them before the sums are stored.
// CHECK-LABEL: func.func @fours
// CHECK-COUNT-4: wgmma.mma_async.sp
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: llvm.fence syncscope("block") acq_rel
func.func @fours(%a: memref<64x128xf16>, %v: memref<4x2x256xi8>, %i: memref<4x2x128xi8>, %s: memref<1x64xf16>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> packing #nm.sparse_operand<mma, bits = 4> schedule #nm.mma_sp<block = [64, 64, 128], warp = [64, 16], stages = 3, bits = 4> quantization <bits = 4, group = 128>
      ins(%a, %v, %i : memref<64x128xf16>, memref<4x2x256xi8>, memref<4x2x128xi8>)
      scales(%s : memref<1x64xf16>) outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// With two stages there is no buffer for that.
// CHECK-LABEL: func.func @two_stages
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 0
func.func @two_stages(%a: memref<64x128xf16>, %v: memref<4x2x256xi8>, %i: memref<4x2x128xi8>, %s: memref<1x64xf16>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:4> packing #nm.sparse_operand<mma, bits = 4> schedule #nm.mma_sp<block = [64, 64, 128], warp = [64, 16], stages = 2, bits = 4> quantization <bits = 4, group = 128>
      ins(%a, %v, %i : memref<64x128xf16>, memref<4x2x256xi8>, memref<4x2x128xi8>)
      scales(%s : memref<1x64xf16>) outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Of columns that share their rows, a lane's eight values of 16 kept rows are one
// word for each 16 columns. The rows are of two windows, each of a group of its
// own.
// CHECK-LABEL: func.func @vectors
// CHECK: vector.load %{{.*}} {alignment = 8 : i64} : memref<1x1x256xi8{{.*}}, vector<8xi8>
// CHECK-COUNT-4: memref.load %{{.*}} : memref<2x32xf16
// CHECK: llvm.inline_asm "lop3.b32 $0, $1, $2, $3, $4;", "=r,r,n,n,n" %{{.*}}, %c983055_i32, %c1677747200_i32, %c234_i32
// CHECK: arith.subf %{{.*}}, %{{.*}} : vector<2xf16>
// CHECK-COUNT-4: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
func.func @vectors(%a: memref<16x64xf16>, %v: memref<1x1x256xi8>, %i: memref<1x16x1xi8>, %s: memref<2x32xf16>, %c: memref<16x32xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <8:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 16, bits = 4> schedule #nm.mma_sync<block = [16, 32, 64], warp = [16, 32], bits = 4, packing = <panel = 32, index_bits = 8, chunk_rows = 16>> quantization <bits = 4, group = 32>
      ins(%a, %v, %i : memref<16x64xf16>, memref<1x1x256xi8>, memref<1x16x1xi8>)
      scales(%s : memref<2x32xf16>) outs(%c : memref<16x32xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
