// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_90a},func.func(nm-prefetch-weights{bytes=1048576}))" --split-input-file | FileCheck %s
// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_80},func.func(nm-prefetch-weights))" --split-input-file | FileCheck %s --check-prefix=OFF --implicit-check-not=nvvm.cp.async.bulk.prefetch
// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_90a},func.func(nm-prefetch-weights{bytes=0}))" --split-input-file | FileCheck %s --check-prefix=OFF --implicit-check-not=nvvm.cp.async.bulk.prefetch

// The first launch asks for 4 x 4 KiB of each of 64 panels, the second for all
// of a weight that has less than what it may ask for, twice as much since a
// kernel stands between, and the last for nothing. The small weight is no
// reason to.
memref.global constant @w0 : memref<64x64x1024xf16> = dense<1.0>
memref.global constant @w1 : memref<64x64x1024xf16> = dense<2.0>
memref.global constant @w2 : memref<32x32x1024xi8> = dense<3>
memref.global constant @small : memref<4x16x16xf16> = dense<4.0>

// OFF-LABEL: func.func @chain
// CHECK-LABEL: func.func @chain
func.func @chain(%y: memref<4xf16>, %z: memref<4xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %w0 = memref.get_global @w0 : memref<64x64x1024xf16>
  // CHECK: %[[W1:.*]] = memref.get_global @w1
  %w1 = memref.get_global @w1 : memref<64x64x1024xf16>
  // CHECK: %[[W2:.*]] = memref.get_global @w2
  %w2 = memref.get_global @w2 : memref<32x32x1024xi8>
  %small = memref.get_global @small : memref<4x16x16xf16>
  // CHECK: gpu.launch blocks(%[[B:[^,]*]],
  // CHECK-SAME: in (%[[GRID:[^ ]*]] =
  // CHECK-SAME: threads(%[[T:[^,]*]],
  // CHECK: memref.store
  // CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[T]], %[[GRID]]
  // CHECK-NEXT: %[[SLOT:.*]] = arith.addi %[[FIRST]], %[[B]]
  // CHECK: %[[N:.*]] = arith.constant 256 : index
  // CHECK-NEXT: %[[IS_ONE:.*]] = arith.cmpi ult, %[[SLOT]], %[[N]]
  // CHECK-NEXT: scf.if %[[IS_ONE]] {
  // CHECK: arith.divui %[[SLOT]], %c4{{.*}}
  // CHECK: arith.remui %[[SLOT]], %c4{{.*}}
  // CHECK-DAG: arith.constant 131072 : index
  // CHECK-DAG: memref.extract_aligned_pointer_as_index %[[W1]]
  // CHECK: %[[BYTES:.*]] = arith.constant 4096 : i32
  // CHECK: nvvm.cp.async.bulk.prefetch %{{.*}}, %[[BYTES]] : <1>
  // CHECK-NEXT: }
  // CHECK-NEXT: gpu.terminator
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c128, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1) {
    %v = memref.load %w0[%c0, %c0, %c0] : memref<64x64x1024xf16>
    memref.store %v, %y[%c0] : memref<4xf16>
    gpu.terminator
  }
  // CHECK: gpu.launch
  // CHECK: memref.extract_aligned_pointer_as_index %[[W2]]
  // CHECK: nvvm.cp.async.bulk.prefetch
  // CHECK: gpu.terminator
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c128, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1) {
    %v = memref.load %w1[%c0, %c0, %c0] : memref<64x64x1024xf16>
    memref.store %v, %y[%c0] : memref<4xf16>
    gpu.terminator
  }
  // CHECK-NOT: nvvm.cp.async.bulk.prefetch
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1) {
    %v = memref.load %small[%c0, %c0, %c0] : memref<4x16x16xf16>
    memref.store %v, %y[%c0] : memref<4xf16>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c128, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1) {
    %v = memref.load %w2[%c0, %c0, %c0] : memref<32x32x1024xi8>
    memref.store %v, %z[%c0] : memref<4xi8>
    gpu.terminator
  }
  return
}

// -----

// Packed arguments are weights, other arguments are not. What runs in a branch
// reads its weights too late for the launch before it, and too soon for the one
// behind.
// OFF-LABEL: func.func @arguments
// CHECK-LABEL: func.func @arguments(
// CHECK-SAME: %[[P:[^ ]*]]: memref<8x128x1024xf16> {nm.packed_values_of
func.func @arguments(%p: memref<8x128x1024xf16> {nm.packed_values_of = 0 : i64},
                     %x: memref<8x128x1024xf16>, %which: i1, %y: memref<4xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  // CHECK: gpu.launch
  // CHECK: memref.extract_aligned_pointer_as_index %[[P]]
  // CHECK: nvvm.cp.async.bulk.prefetch
  // CHECK: gpu.terminator
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c128, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1) {
    %v = memref.load %p[%c0, %c0, %c0] : memref<8x128x1024xf16>
    memref.store %v, %y[%c0] : memref<4xf16>
    gpu.terminator
  }
  // CHECK-NOT: nvvm.cp.async.bulk.prefetch
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c128, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1) {
    %v = memref.load %p[%c0, %c0, %c0] : memref<8x128x1024xf16>
    %u = memref.load %x[%c0, %c0, %c0] : memref<8x128x1024xf16>
    %s = arith.addf %u, %v : f16
    memref.store %s, %y[%c0] : memref<4xf16>
    gpu.terminator
  }
  scf.if %which {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c128, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1) {
      %v = memref.load %p[%c0, %c0, %c0] : memref<8x128x1024xf16>
      memref.store %v, %y[%c1] : memref<4xf16>
      gpu.terminator
    }
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c128, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1) {
    %v = memref.load %p[%c0, %c0, %c0] : memref<8x128x1024xf16>
    memref.store %v, %y[%c0] : memref<4xf16>
    gpu.terminator
  }
  return
}
