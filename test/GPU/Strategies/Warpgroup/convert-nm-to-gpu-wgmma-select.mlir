// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse | FileCheck %s

// Of 2:8 a word of four kept bytes is of 16 bytes of a row: one permutation of
// each half of them, and one of both. Four words are wgmma's first operand, the
// weights of 64 columns its second.
// CHECK-LABEL: func.func @two_of_eight
// CHECK-DAG: %[[HALVES:.*]] = arith.constant 30224 : i32
// CHECK: %[[SELECTOR:.*]] = vector.load %{{.*}} {alignment = 2 : i64} : memref<{{.*}}xi8, {{.*}}>, vector<2xi8>
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<{{.*}}xi8, {{.*}}>, vector<16xi8>
// CHECK: nvvm.prmt <default> %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: %[[LOW:.*]] = nvvm.prmt
// CHECK: nvvm.prmt {{.*}}%[[HALVES]]
// CHECK-COUNT-9: nvvm.prmt
// CHECK-NOT: nvvm.prmt
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: llvm.inline_asm has_side_effects {{.*}}setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 {$0, {{.*}}, $31}, {$64, $65, $66, $67}, $68, p; }"
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// A lane has four neighbours of each 16 columns, of two rows.
// CHECK-COUNT-8: vector.store %{{.*}} : memref<64x64xi32>, vector<4xi32>
func.func @two_of_eight(%a: memref<64x128xi8>, %v: memref<1x32x64xi8>, %i: memref<1x8x2xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <2:8, block = 1x64> packing #nm.packing<panel = 64, index_bits = 4, index_rows = 4, tile_rows = 32>
      schedule #nm.wgmma_select<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 4, index_rows = 4, tile_rows = 32>>
      ins(%a, %v, %i : memref<64x128xi8>, memref<1x32x64xi8>, memref<1x8x2xi8>)
      outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Of 4:8 a word is of eight bytes, and one permutation. The products of a tile
// of f8 begin at zero, and are added to promoted sums.
// CHECK-LABEL: func.func @four_of_eight
// CHECK: vector.load %{{.*}} {alignment = 8 : i64} : {{.*}}, vector<8xf8E5M2>
// CHECK-COUNT-4: nvvm.prmt
// CHECK-NOT: nvvm.prmt
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: setp.ne.b32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n64k32.f32.e5m2.e5m2 {{.*}}, p, 1, 1; }"
// CHECK-COUNT-4: nvvm.prmt
// CHECK: setp.ne.b32 p, 1, 0; wgmma.mma_async
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK-COUNT-32: arith.addf
func.func @four_of_eight(%a: memref<64x128xf8E5M2>, %v: memref<1x64x64xf8E5M2>, %i: memref<1x16x2xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <4:8, block = 1x64> packing #nm.packing<panel = 64, index_bits = 4, index_rows = 4, tile_rows = 64>
      schedule #nm.wgmma_select<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, producers = 4, promote = true, packing = <panel = 64, index_bits = 4, index_rows = 4, tile_rows = 64>>
      ins(%a, %v, %i : memref<64x128xf8E5M2>, memref<1x64x64xf8E5M2>, memref<1x16x2xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Of 1:4 windows are half as long, so that the second of two has bytes from the
// fifth on: 0x4040 is added to selectors.
// CHECK-LABEL: func.func @windows_of_four
// CHECK: arith.constant 16448 : i32
func.func @windows_of_four(%a: memref<64x128xi8>, %v: memref<1x32x64xi8>, %i: memref<1x8x2xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <1:4, block = 1x64> packing #nm.packing<panel = 64, index_bits = 4, index_rows = 4, tile_rows = 32>
      schedule #nm.wgmma_select<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 4, index_rows = 4, tile_rows = 32>>
      ins(%a, %v, %i : memref<64x128xi8>, memref<1x32x64xi8>, memref<1x8x2xi8>)
      outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Of 1:8 a word is of 32 bytes: four permutations, and three that join them.
// CHECK-LABEL: func.func @one_of_eight
// CHECK-COUNT-8: vector.load %{{.*}} {alignment = 16 : i64}
// CHECK-COUNT-28: nvvm.prmt
// CHECK-NOT: nvvm.prmt
// CHECK: nvvm.wgmma.fence.aligned
func.func @one_of_eight(%a: memref<64x256xi8>, %v: memref<1x32x64xi8>, %i: memref<1x8x2xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <1:8, block = 1x64> packing #nm.packing<panel = 64, index_bits = 4, index_rows = 4, tile_rows = 32>
      schedule #nm.wgmma_select<block = [64, 64, 256], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 4, index_rows = 4, tile_rows = 32>>
      ins(%a, %v, %i : memref<64x256xi8>, memref<1x32x64xi8>, memref<1x8x2xi8>)
      outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Of 3:8 a thread makes three words of 32 bytes, each of which is loaded once, by
// two accesses of a row: the first word has windows 0 and 1, of one access, the
// second windows 1 and 2, of both, the third windows 2 and 3. So the first step,
// of words 0 and 1, loads both, and the second, of word 2 and of word 0 of the
// next run, the first of the latter. All words have two sources.
// CHECK-LABEL: func.func @three_of_eight
// CHECK: vector.load %{{.*}} {alignment = 2 : i64} : memref<{{.*}}xi8, {{.*}}>, vector<2xi8>
// CHECK-COUNT-2: vector.load %{{.*}} {alignment = 16 : i64} : memref<{{.*}}xi8, {{.*}}>, vector<16xi8>
// CHECK-NOT: alignment = 16
// CHECK: vector.load %{{.*}} {alignment = 2 : i64}
// CHECK-COUNT-2: vector.load %{{.*}} {alignment = 16 : i64}
// CHECK-NOT: alignment = 16
// CHECK-COUNT-12: nvvm.prmt
// CHECK-NOT: nvvm.prmt
// CHECK-COUNT-2: vector.load %{{.*}} {alignment = 16 : i64}
// CHECK-NOT: alignment = 16
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-COUNT-12: nvvm.prmt
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-COUNT-12: nvvm.prmt
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-NOT: nvvm.wgmma.fence.aligned
func.func @three_of_eight(%a: memref<64x256xi8>, %v: memref<1x96x64xi8>, %i: memref<1x24x2xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <3:8, block = 1x64> packing #nm.packing<panel = 64, index_bits = 4, index_rows = 4, tile_rows = 96, lane_words = 3>
      schedule #nm.wgmma_select<block = [64, 64, 256], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 4, index_rows = 4, tile_rows = 96, lane_words = 3>>
      ins(%a, %v, %i : memref<64x256xi8>, memref<1x96x64xi8>, memref<1x24x2xi8>)
      outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
