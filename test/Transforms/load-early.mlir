// RUN: nm-opt %s --nm-load-early --split-input-file | FileCheck %s

// What computes a place comes along. A copy under a condition is one of a
// constant, too. Behind the barrier a constant is loaded where it was.

// CHECK-LABEL: func.func @constants(
// CHECK: gpu.launch
// CHECK: %[[I:.*]] = gpu.thread_id x
// CHECK: %[[J:.*]] = arith.addi %[[I]],
// CHECK-NEXT: %[[V:.*]] = memref.subview %[[W:.+]][4] [8]
// CHECK-NEXT: memref.load %[[V]][%[[J]]] {nm.early_load}
// CHECK: scf.if
// CHECK-NEXT: nvgpu.device_async_copy %[[W]]{{.*}} {nm.early_load}
// CHECK: memref.load %arg0[%[[I]]] : memref<64xf32>
// CHECK-NEXT: nvgpu.device_async_copy %arg0[{{.*}} 4 : memref<64xf32>
// CHECK-NEXT: nvvm.cp.async.commit.group
// CHECK: gpu.barrier
// CHECK-NEXT: memref.load %[[W]][%[[I]]] : memref<64xf32>
module attributes {nm.chip = #nm.chip<"sm_90a">} {
  memref.global "private" constant @weights : memref<64xf32> = dense<1.0>
  func.func @constants(%a: memref<64xf32>, %o: memref<64xf32>, %few: i1,
                       %s: memref<8xf32, #gpu.address_space<workgroup>>) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c66 = arith.constant 66 : index
    %w = memref.get_global @weights : memref<64xf32>
    gpu.launch blocks(%x, %y, %z) in (%gx = %c66, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c4, %by = %c1, %bz = %c1) {
      %i = gpu.thread_id x
      %0 = memref.load %a[%i] : memref<64xf32>
      %1 = nvgpu.device_async_copy %a[%c4], %s[%c1], 4 : memref<64xf32> to memref<8xf32, #gpu.address_space<workgroup>>
      %j = arith.addi %i, %c4 : index
      %v = memref.subview %w[4] [8] [1] : memref<64xf32> to memref<8xf32, strided<[1], offset: 4>>
      %2 = memref.load %v[%j] : memref<8xf32, strided<[1], offset: 4>>
      scf.if %few {
        %3 = nvgpu.device_async_copy %w[%j], %s[%c4], 4 : memref<64xf32> to memref<8xf32, #gpu.address_space<workgroup>>
      }
      nvvm.cp.async.commit.group
      gpu.barrier
      %4 = memref.load %w[%i] : memref<64xf32>
      %5 = arith.addf %0, %2 : f32
      %6 = arith.addf %5, %4 : f32
      memref.store %6, %o[%i] : memref<64xf32>
      gpu.terminator
    }
    return
  }
}

// -----

// A place that is loaded, memory that is no constant, and grids that start when
// all before them is over.

// CHECK-LABEL: func.func @not_early(
// CHECK-NOT: nm.early_load
// CHECK: return
// CHECK-LABEL: func.func @too_large(
// CHECK-NOT: nm.early_load
// CHECK: return
module attributes {nm.chip = #nm.chip<"sm_90a">} {
  memref.global "private" constant @weights : memref<64xf32> = dense<1.0>
  memref.global "private" @state : memref<64xf32>
  func.func @not_early(%a: memref<64xindex>, %o: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %w = memref.get_global @weights : memref<64xf32>
    %s = memref.get_global @state : memref<64xf32>
    gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1) {
      %i = gpu.thread_id x
      %0 = memref.load %a[%i] : memref<64xindex>
      %1 = memref.load %w[%0] : memref<64xf32>
      %2 = memref.load %s[%i] : memref<64xf32>
      %3 = arith.addf %1, %2 : f32
      memref.store %3, %o[%i] : memref<64xf32>
      gpu.terminator
    }
    return
  }
  func.func @too_large(%o: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %c133 = arith.constant 133 : index
    %w = memref.get_global @weights : memref<64xf32>
    gpu.launch blocks(%x, %y, %z) in (%gx = %c133, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1) {
      %i = gpu.thread_id x
      %0 = memref.load %w[%i] : memref<64xf32>
      memref.store %0, %o[%i] : memref<64xf32>
      gpu.terminator
    }
    return
  }
}

// -----

// Older chips start none early.

// CHECK-LABEL: func.func @older(
// CHECK-NOT: nm.early_load
// CHECK: return
module attributes {nm.chip = #nm.chip<"sm_80">} {
  memref.global "private" constant @weights : memref<64xf32> = dense<1.0>
  func.func @older(%o: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %w = memref.get_global @weights : memref<64xf32>
    gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1) {
      %i = gpu.thread_id x
      %0 = memref.load %w[%i] : memref<64xf32>
      memref.store %0, %o[%i] : memref<64xf32>
      gpu.terminator
    }
    return
  }
}
