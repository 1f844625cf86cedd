// RUN: nm-opt %s --pass-pipeline="builtin.module(gpu.module(nm-overlap-kernels))" --split-input-file | FileCheck %s

// The wait comes first of all.
// CHECK-LABEL: gpu.module @kernels
// CHECK: llvm.mlir.global external constant @nm_waits_copy(1 : i8) {addr_space = 1 : i32, alignment = 1 : i64} : i8
// CHECK: gpu.func @copy
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK-NEXT: gpu.thread_id
// CHECK-NEXT: memref.load
// CHECK-NEXT: memref.store

// Prefetches to L2 need not wait, but those behind an access.
// CHECK: @nm_waits_prefetching(
// CHECK: gpu.func @prefetching
// CHECK: scf.if
// CHECK-NEXT: nvvm.cp.async.bulk.prefetch
// CHECK-NEXT: }
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK-NEXT: arith.constant
// CHECK-NEXT: scf.if
// CHECK-NEXT: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: nvvm.cp.async.bulk.prefetch

// One that leaves at once waits too: the next kernel takes it for granted.
// CHECK: @nm_waits_nothing(
// CHECK: gpu.func @nothing
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK-NEXT: gpu.return

// Grids that the runtime launches when all before them is over need not wait,
// but the next kernel may start beside their last blocks.
// CHECK: @nm_waits_all_multiprocessors(
// CHECK-NOT: @nm_waits_too_large
// CHECK: gpu.func @too_large
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK-NEXT: gpu.return

// What they prefetch they may behind few blocks.
// CHECK: gpu.func @large_prefetching
// CHECK-NEXT: arith.constant
// CHECK-NEXT: nvvm.cp.async.bulk.prefetch
// CHECK-NEXT: nvvm.griddepcontrol wait

// Loads of constants need not wait either, and what is short says so.
// CHECK: @nm_waits_constants(
// CHECK: @nm_short_constants(
// CHECK: gpu.func @constants
// CHECK: memref.load {{.*}} {nm.early_load}
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK-NEXT: memref.load
// CHECK-NEXT: memref.store

// Under a condition they are such loads, too.
// CHECK: @nm_waits_condition(
// CHECK: gpu.func @condition
// CHECK: scf.if
// CHECK-NEXT: nvgpu.device_async_copy {{.*}} {nm.early_load}
// CHECK-NEXT: }
// CHECK-NEXT: nvvm.griddepcontrol wait

// Behind few blocks the next kernel starts at once, and prefetches while the
// kernel before both runs: 16 are few of 132, 17 are not.
// CHECK: @nm_waits_few_blocks(
// CHECK: gpu.func @few_blocks
// CHECK: memref.load {{.*}} {nm.early_load}
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: memref.load
// CHECK: gpu.func @more_blocks
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents

// A function that kernels call is over with them.
// CHECK-NOT: @nm_waits_called
// CHECK: gpu.func @called
// CHECK-NEXT: memref.store
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
  gpu.func @copy(%a: memref<64xf32>, %b: memref<64xf32>) kernel {
    %i = gpu.thread_id x
    %0 = memref.load %a[%i] : memref<64xf32>
    memref.store %0, %b[%i] : memref<64xf32>
    gpu.return
  }
  gpu.func @prefetching(%a: memref<64xf32>, %p: !llvm.ptr<1>, %x: f32, %first: i1) kernel {
    %bytes = arith.constant 64 : i32
    scf.if %first {
      nvvm.cp.async.bulk.prefetch %p, %bytes : !llvm.ptr<1>
    }
    %c0 = arith.constant 0 : index
    scf.if %first {
      memref.store %x, %a[%c0] : memref<64xf32>
    }
    nvvm.cp.async.bulk.prefetch %p, %bytes : !llvm.ptr<1>
    gpu.return
  }
  gpu.func @nothing() kernel {
    gpu.return
  }
  gpu.func @all_multiprocessors() kernel attributes {known_grid_size = array<i32: 66, 2, 1>} {
    gpu.return
  }
  gpu.func @too_large() kernel attributes {known_grid_size = array<i32: 67, 2, 1>} {
    gpu.return
  }
  gpu.func @large_prefetching(%p: !llvm.ptr<1>) kernel attributes {known_grid_size = array<i32: 67, 2, 1>} {
    %bytes = arith.constant 64 : i32
    nvvm.cp.async.bulk.prefetch %p, %bytes : !llvm.ptr<1>
    gpu.return
  }
  gpu.func @constants(%a: memref<64xf32>, %b: memref<64xf32>, %w: memref<64xf32>) kernel {
    %i = gpu.thread_id x {nm.short_kernel}
    %0 = memref.load %w[%i] {nm.early_load} : memref<64xf32>
    %1 = memref.load %a[%i] : memref<64xf32>
    memref.store %1, %b[%i] : memref<64xf32>
    gpu.return
  }
  gpu.func @condition(%w: memref<64xf32>, %s: memref<8xf32, #gpu.address_space<workgroup>>, %i: index, %some: i1) kernel {
    scf.if %some {
      %0 = nvgpu.device_async_copy %w[%i], %s[%i], 4 {nm.early_load} : memref<64xf32> to memref<8xf32, #gpu.address_space<workgroup>>
    }
    nvvm.cp.async.commit.group
    gpu.return
  }
  gpu.func @few_blocks(%a: memref<64xf32>, %b: memref<64xf32>, %w: memref<64xf32>) kernel attributes {known_grid_size = array<i32: 8, 2, 1>} {
    %i = gpu.thread_id x
    %0 = memref.load %w[%i] {nm.early_load} : memref<64xf32>
    %1 = memref.load %a[%i] : memref<64xf32>
    memref.store %1, %b[%i] : memref<64xf32>
    gpu.return
  }
  gpu.func @more_blocks() kernel attributes {known_grid_size = array<i32: 17, 1, 1>} {
    gpu.return
  }
  gpu.func @called(%a: memref<64xf32>, %x: f32, %i: index) {
    memref.store %x, %a[%i] : memref<64xf32>
    gpu.return
  }
}

// -----

// Older chips have no such instruction, nor may other targets.
// CHECK-LABEL: gpu.module @sm_89
// CHECK-NOT: griddepcontrol
// CHECK-NOT: nm_waits
// CHECK: gpu.return
gpu.module @sm_89 [#nvvm.target<chip = "sm_89">] {
  gpu.func @kernel() kernel {
    gpu.return
  }
}

// CHECK-LABEL: gpu.module @old_and_new
// CHECK-NOT: griddepcontrol
// CHECK: gpu.return
gpu.module @old_and_new [#nvvm.target<chip = "sm_100a">, #nvvm.target<chip = "sm_80">] {
  gpu.func @kernel() kernel {
    gpu.return
  }
}

// CHECK-LABEL: gpu.module @other
// CHECK-NOT: griddepcontrol
// CHECK: gpu.return
gpu.module @other [#rocdl.target] {
  gpu.func @kernel() kernel {
    gpu.return
  }
}

// CHECK-LABEL: gpu.module @none
// CHECK-NOT: griddepcontrol
// CHECK: gpu.return
gpu.module @none {
  gpu.func @kernel() kernel {
    gpu.return
  }
}

// CHECK-LABEL: gpu.module @sm_120
// CHECK: nvvm.griddepcontrol wait
gpu.module @sm_120 [#nvvm.target<chip = "sm_120">] {
  gpu.func @kernel() kernel {
    gpu.return
  }
}
