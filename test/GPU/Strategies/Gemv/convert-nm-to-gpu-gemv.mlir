// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// A warp's lanes take a column each; its first weights are on their way before
// x is staged. Indices of 5 bits are shifted out of words, and pick x from
// shared memory. The warps' sums are added in order.
// CHECK-LABEL: func.func @vector
// CHECK: gpu.launch blocks({{.*}}) in ({{.*}} = %c1, {{.*}} threads({{.*}}) in (%{{.*}} = %c128, {{.*}} dynamic_shared_memory_size %c1536_i32
// CHECK: %[[BYTES:.*]] = memref.view %{{.*}} to memref<1024xi8, #gpu.address_space<workgroup>>
// CHECK: %[[X:.*]] = memref.view %[[BYTES]]{{.*}} to memref<256xf32, #gpu.address_space<workgroup>>
// CHECK: %[[FIRST:.*]]:6 = scf.if
// CHECK-COUNT-4: vector.load %{{.*}} {alignment = 16 : i64} : memref<1x16x128xf32>, vector<4xf32>
// CHECK: vector.load %{{.*}} {alignment = 8 : i64} : memref<1x4x384xi8>, vector<8xi8>
// CHECK: vector.load %{{.*}} {alignment = 4 : i64} : memref<1x4x384xi8>, vector<4xi8>
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<256xf32>, vector<4xf32>
// CHECK: vector.store %{{.*}}, %[[X]][%{{.*}}] {alignment = 16 : i64}
// CHECK: gpu.barrier
// CHECK: %[[SUMS:.*]]:7 = scf.for %{{.*}} iter_args(%{{.*}} = %cst{{.*}}, %{{.*}} = %[[FIRST]]#0
// CHECK: %[[NEXT:.*]]:6 = scf.if
// CHECK: vector.bitcast %{{.*}} : vector<8xi8> to vector<2xi32>
// CHECK: arith.shli %{{.*}}, %c2_i32
// CHECK: arith.andi %{{.*}}, %c124_i32
// CHECK: vector.load %[[BYTES]][%{{.*}}] {alignment = 4 : i64} : {{.*}}, vector<4xi8>
// CHECK: vector.bitcast %{{.*}} : vector<4xi8> to vector<1xf32>
// CHECK: vector.fma
// CHECK: arith.shrui %{{.*}}, %c28_i32
// CHECK: arith.shli %{{.*}}, %c4_i32
// CHECK: arith.ori
// CHECK: scf.yield %{{.*}}, %[[NEXT]]#0, %[[NEXT]]#1
// CHECK: vector.store %[[SUMS]]#0
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-COUNT-3: arith.addf
// CHECK: memref.store {{.*}} : memref<32xf32>
// CHECK: gpu.terminator
func.func @vector(%x: memref<256xf32>, %v: memref<1x16x128xf32>, %i: memref<1x4x384xi8>, %y: memref<32xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%n) in (1) {
    linalg.fill ins(%zero : f32) outs(%y : memref<32xf32>)
    nm.spmv <8:32> packing #nm.packing<panel = 32, index_bits = 5, chunk_rows = 4, index_rows = 16>
      schedule #nm.gemv<block = [1, 32, 256], warp = [1, 32], thread = [1, 1], stages = 2, slice_k = 4>
      ins(%x, %v, %i : memref<256xf32>, memref<1x16x128xf32>, memref<1x4x384xi8>) outs(%y : memref<32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Two rows of f16 share a word of shared memory, columns of one unit a load of
// it, and C, which is not filled, is read. Rows and columns that it does not
// have are not stored.
// CHECK-LABEL: func.func @rows_of_f16
// CHECK: vector.load %{{.*}} {alignment = 8 : i64} : memref<?x64xf16>, vector<4xf16>
// CHECK: vector.store %{{.*}} : memref<128xi32, #gpu.address_space<workgroup>>, vector<4xi32>
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<1x8x128xf16>, vector<8xf16>
// CHECK: vector.load %{{.*}} {alignment = 4 : i64} : memref<512xi8, #gpu.address_space<workgroup>>, vector<4xi8>
// CHECK: vector.bitcast %{{.*}} : vector<1xi32> to vector<2xf16>
// CHECK: arith.extf
// CHECK: vector.fma %{{.*}} : vector<4xf32>
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK: memref.load %{{.*}} : memref<?x30xf32>
// CHECK: arith.addf
func.func @rows_of_f16(%a: memref<?x64xf16>, %v: memref<1x8x128xf16>, %i: memref<1x1x48xi8>, %c: memref<?x30xf32>) {
  scf.forall (%n) in (1) {
    nm.spmm <8:32, block = 1x16> packing #nm.packing<panel = 64, index_bits = 5, chunk_rows = 2, chunk_columns = 4, index_rows = 16>
      schedule #nm.gemv<block = [4, 64, 64], warp = [4, 64], thread = [4, 4]>
      ins(%a, %v, %i : memref<?x64xf16>, memref<1x8x128xf16>, memref<1x1x48xi8>) outs(%c : memref<?x30xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Each block of four rows has one index; i8 is summed in i32.
// CHECK-LABEL: func.func @blocks_of_i8
// CHECK: vector.load %{{.*}} {alignment = 4 : i64} : memref<1x8x128xi8>, vector<4xi8>
// CHECK: arith.extsi
// CHECK: arith.muli %{{.*}} : vector<1xi32>
// CHECK: arith.addi %{{.*}} : vector<1xi32>
// CHECK-NOT: llvm.inline_asm
func.func @blocks_of_i8(%x: memref<64xi8>, %v: memref<1x8x128xi8>, %i: memref<1x1x16xi8>, %y: memref<32xi32>) {
  scf.forall (%n) in (1) {
    nm.spmv <2:4, block = 4x4> packing #nm.packing<panel = 32, index_bits = 2, chunk_rows = 4, index_rows = 8>
      schedule #nm.gemv<block = [1, 32, 64], warp = [1, 32], thread = [1, 1]>
      ins(%x, %v, %i : memref<64xi8>, memref<1x8x128xi8>, memref<1x1x16xi8>) outs(%y : memref<32xi32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// f8 is taken apart two at a time; its NaNs are found a word at a time.
// CHECK-LABEL: func.func @f8
// CHECK: arith.andi %{{.*}}, %c{{-?[0-9]+}}_i32
// CHECK: vector.bitcast %{{.*}} : vector<1xi32> to vector<2xf16>
// CHECK: arith.cmpi ne
// CHECK: arith.select %{{.*}} : vector<1xi1>, vector<1xf32>
func.func @f8(%x: memref<64xf8E4M3FN>, %v: memref<1x2x512xf8E4M3FN>, %i: memref<1x1x256xi8>, %y: memref<32xf32>) {
  scf.forall (%n) in (1) {
    nm.spmv <2:4> packing #nm.packing<panel = 32, index_bits = 2, chunk_rows = 16, index_rows = 32>
      schedule #nm.gemv<block = [1, 32, 64], warp = [1, 32], thread = [1, 1]>
      ins(%x, %v, %i : memref<64xf8E4M3FN>, memref<1x2x512xf8E4M3FN>, memref<1x1x256xi8>) outs(%y : memref<32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// f8E5M2, two at a time, are the upper bytes of f16, NaNs included.
// CHECK-LABEL: func.func @f8_e5m2
// CHECK-DAG: %[[UPPER:.*]] = arith.constant -16711936 : i32
// CHECK: %[[BYTES:.*]] = arith.andi %{{.*}}, %[[UPPER]] : i32
// CHECK: %[[WORD:.*]] = vector.broadcast %[[BYTES]] : i32 to vector<1xi32>
// CHECK: vector.bitcast %[[WORD]] : vector<1xi32> to vector<2xf16>
// CHECK-NOT: arith.cmpi ne
// CHECK: return
func.func @f8_e5m2(%x: memref<64xf8E5M2>, %v: memref<1x2x512xf8E5M2>, %i: memref<1x1x256xi8>, %y: memref<32xf32>) {
  scf.forall (%n) in (1) {
    nm.spmv <2:4> packing #nm.packing<panel = 32, index_bits = 2, chunk_rows = 16, index_rows = 32>
      schedule #nm.gemv<block = [1, 32, 64], warp = [1, 32], thread = [1, 1]>
      ins(%x, %v, %i : memref<64xf8E5M2>, memref<1x2x512xf8E5M2>, memref<1x1x256xi8>) outs(%y : memref<32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Lanes without columns store nothing: sums are complete before the branch.
// CHECK-LABEL: func.func @idle_lanes
// CHECK: arith.muli %{{.*}} : vector<1xi32>
// CHECK: %[[SUM:.*]] = llvm.inline_asm has_side_effects "", "=r,0" %{{.*}} : (i32) -> i32
// CHECK: %[[SUMS:.*]] = vector.broadcast %[[SUM]]
// CHECK: scf.if
// CHECK: vector.store %[[SUMS]]
func.func @idle_lanes(%x: memref<64xi8>, %v: memref<1x8x96xi8>, %i: memref<1x4x1xi8>, %y: memref<24xi32>) {
  scf.forall (%n) in (1) {
    nm.spmv <1:2, block = 1x24> packing #nm.packing<panel = 24, index_bits = 1, chunk_rows = 4, index_rows = 8>
      schedule #nm.gemv<block = [1, 24, 64], warp = [1, 24], thread = [1, 1]>
      ins(%x, %v, %i : memref<64xi8>, memref<1x8x96xi8>, memref<1x4x1xi8>) outs(%y : memref<24xi32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Without a second buffer the loads of a step stay together, before the first
// is multiplied: a warp has two steps.
// CHECK-LABEL: func.func @steps_together
// CHECK: scf.for
// CHECK-COUNT-4: vector.load %{{.*}} {alignment = 16 : i64} : memref<1x16x128xf32>, vector<4xf32>
// CHECK-NOT: vector.fma
// CHECK: nvvm.bar.warp.sync %c-1_i32
// CHECK: vector.fma
func.func @steps_together(%x: memref<256xf32>, %v: memref<1x16x128xf32>, %i: memref<1x4x384xi8>, %y: memref<32xf32>) {
  scf.forall (%n) in (1) {
    nm.spmv <8:32> packing #nm.packing<panel = 32, index_bits = 5, chunk_rows = 4, index_rows = 16>
      schedule #nm.gemv<block = [1, 32, 256], warp = [1, 32], thread = [1, 1], slice_k = 2>
      ins(%x, %v, %i : memref<256xf32>, memref<1x16x128xf32>, memref<1x4x384xi8>) outs(%y : memref<32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// A single step need not.
// CHECK-LABEL: func.func @single_step
// CHECK-COUNT-4: vector.load %{{.*}} {alignment = 16 : i64} : memref<1x16x128xf32>, vector<4xf32>
// CHECK-NOT: nvvm.bar.warp.sync
// CHECK: gpu.terminator
func.func @single_step(%x: memref<256xf32>, %v: memref<1x16x128xf32>, %i: memref<1x4x384xi8>, %y: memref<32xf32>) {
  scf.forall (%n) in (1) {
    nm.spmv <8:32> packing #nm.packing<panel = 32, index_bits = 5, chunk_rows = 4, index_rows = 16>
      schedule #nm.gemv<block = [1, 32, 256], warp = [1, 32], thread = [1, 1], slice_k = 4>
      ins(%x, %v, %i : memref<256xf32>, memref<1x16x128xf32>, memref<1x4x384xi8>) outs(%y : memref<32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Positions of a bit for each row come from a window's end: the highest bit is
// found, and taken off. A window without bits gets some.
// CHECK-LABEL: func.func @bits
// CHECK: vector.load %{{.*}} {alignment = 4 : i64} : memref<1x4x128xi8>, vector<4xi8>
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[WORD:.*]], %c0_i32
// CHECK: %[[BITS:.*]] = arith.select %[[NONE]], %c255_i32, %[[WORD]]
// CHECK: %[[HIGHEST:.*]] = llvm.inline_asm "bfind.u32 $0, $1;", "=r,r" %[[BITS]]
// CHECK: %[[BIT:.*]] = arith.shli %c1_i32, %[[HIGHEST]]
// CHECK: %[[REST:.*]] = arith.xori %[[BITS]], %[[BIT]]
// CHECK: arith.muli %[[HIGHEST]], %c4_i32
// CHECK: llvm.inline_asm "bfind.u32 $0, $1;", "=r,r" %[[REST]]
func.func @bits(%x: memref<128xf32>, %v: memref<1x8x128xf32>, %i: memref<1x4x128xi8>, %y: memref<32xf32>) {
  scf.forall (%n) in (1) {
    nm.spmv <8:32> packing #nm.packing<panel = 32, index_bits = 0, chunk_rows = 4, index_rows = 8>
      schedule #nm.gemv<block = [1, 32, 128], warp = [1, 32], thread = [1, 1], slice_k = 4>
      ins(%x, %v, %i : memref<128xf32>, memref<1x8x128xf32>, memref<1x4x128xi8>) outs(%y : memref<32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
