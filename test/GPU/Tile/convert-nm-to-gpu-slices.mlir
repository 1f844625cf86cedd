// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// The second half of a block's threads multiplies the second half of a tile's
// kept rows, for the same sums as the first.

// CHECK-LABEL: func.func @slices
// CHECK: gpu.launch
// CHECK-SAME: threads(%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}} = %c128,
// CHECK-SAME: dynamic_shared_memory_size %[[BYTES:[a-z0-9_]+]]
// CHECK: %[[MEMORY:.*]] = gpu.dynamic_shared_memory
// CHECK: %[[TID:.*]] = gpu.thread_id x
// CHECK: %[[SLICE:.*]] = arith.divui %[[TID]], %c64
// CHECK: %[[THREAD:.*]] = arith.remui %[[TID]], %c64
// CHECK: %[[WARP:.*]] = arith.divui %[[THREAD]], %c32

// Of the 64 kept rows, 32 each.
// CHECK: arith.muli %[[SLICE]], %c32

// The sums of both stand in the place of the tiles, once both are done.
// CHECK: gpu.barrier
// CHECK: %[[FIRST:.*]] = arith.muli %[[SLICE]], %c8
// CHECK: vector.store %{{.*}}, %[[SUMS:.*]][%[[FIRST]], %[[THREAD]], %c0] {alignment = 16 : i64} : memref<16x64x4xf32,
// CHECK-COUNT-7: vector.store %{{.*}}, %[[SUMS]][
// CHECK: gpu.barrier

// Each adds up every second line, always in the same order, and stores it.
// CHECK: %[[OWN:.*]] = vector.load %[[SUMS]][%[[SLICE]], %[[THREAD]], %c0] {alignment = 16 : i64}
// CHECK: %[[OTHER:.*]] = arith.addi %[[SLICE]], %c8
// CHECK: %[[ITS:.*]] = vector.load %[[SUMS]][%[[OTHER]], %[[THREAD]], %c0] {alignment = 16 : i64}
// CHECK: arith.addf %[[OWN]], %[[ITS]]
// CHECK-COUNT-6: vector.load %[[SUMS]][
// CHECK-NOT: gpu.barrier
// CHECK: gpu.terminator
func.func @slices(%c: memref<32x64xf32>) {
  scf.forall (%m) in (1) {
    %a = memref.alloc() : memref<128x32xf32, #gpu.address_space<workgroup>>
    %v = memref.alloc() : memref<64x64xf32, #gpu.address_space<workgroup>>
    %i = memref.alloc() : memref<64x64xi8, #gpu.address_space<workgroup>>
    nm.spmm <2:4> transpose_a schedule #nm.simt<block = [32, 64, 128], warp = [32, 32], thread = [8, 4], slice_k = 2>
      ins(%a, %v, %i : memref<128x32xf32, #gpu.address_space<workgroup>>, memref<64x64xf32, #gpu.address_space<workgroup>>, memref<64x64xi8, #gpu.address_space<workgroup>>)
      outs(%c : memref<32x64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
