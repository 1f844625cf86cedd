// Each class of fault, in a kernel that has it and little else. What the
// simulator says is printed where no caller collects errors.

// RUN: nm-opt %s --pass-pipeline="builtin.module(gpu-kernel-outlining, gpu.module(convert-nvgpu-to-nvvm, convert-scf-to-cf, expand-strided-metadata, lower-affine, convert-gpu-to-nvvm, canonicalize, reconcile-unrealized-casts), nm-attach-chip, convert-kernels-to-sim, nm-attach-chip{chip=}, convert-scf-to-cf, expand-strided-metadata, gpu-to-llvm, reconcile-unrealized-casts)" -o %t
// DEFINE: %{function} =
// DEFINE: %{run} = mlir-runner %t --entry-point-result=void -e %{function} --shared-libs=%nm_lib_dir/libnm_sim.so,%nm_lib_dir/libnm_runtime.so 2>&1 | FileCheck %s

// REDEFINE: %{function} = fine
// RUN: %{run} --check-prefix=FINE --allow-empty
// FINE-NOT: error
func.func @fine() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %bytes = arith.constant 256 : i32
  %x = memref.alloc() : memref<64xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %shared = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %one = arith.constant 1.0 : f32
    memref.store %one, %shared[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %other = arith.subi %c63, %tx : index
    %value = memref.load %shared[%other] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %x[%tx] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  return
}

// The last thread is one too far.
// REDEFINE: %{function} = global_bounds
// RUN: %{run} --check-prefix=GLOBAL-BOUNDS
// GLOBAL-BOUNDS: error: simulated kernel global_bounds_kernel: 1 fault
// GLOBAL-BOUNDS-NEXT: global access out of bounds: llvm.load at {{.*}}faults.mlir:[[@LINE+8]]:14: block (0, 0, 0), thread (63, 0, 0): reads 4 bytes at 0x{{[0-9a-f]+}}, byte 256 of memref argument 0, which has 256
func.func @global_bounds() {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %x = memref.alloc() : memref<64xf32>
  %y = memref.alloc() : memref<64xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) {
    %next = arith.addi %tx, %c1 : index
    %value = memref.load %x[%next] : memref<64xf32>
    memref.store %value, %y[%tx] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  memref.dealloc %y : memref<64xf32>
  return
}

// The last 16 bytes are too many.
// REDEFINE: %{function} = prefetch_bounds
// RUN: %{run} --check-prefix=PREFETCH-BOUNDS
// PREFETCH-BOUNDS: global access out of bounds: nvvm.cp.async.bulk.prefetch at {{.*}}: block (0, 0, 0), thread (0, 0, 0): prefetches 272 bytes at 0x{{[0-9a-f]+}}, byte 0 of memref argument 0, which has 256
// PREFETCH-BOUNDS: misaligned access: {{.*}}: prefetches 16 bytes at 0x{{[0-9a-f]+}}, which is no multiple of 16; byte 4 of memref argument 0
// PREFETCH-BOUNDS: operand out of range: {{.*}}: expected to prefetch a multiple of 16 bytes, but got 8
func.func @prefetch_bounds() {
  %c1 = arith.constant 1 : index
  %x = memref.alloc() : memref<64xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c1, %ny = %c1, %nz = %c1) {
    %c4 = arith.constant 4 : i64
    %c8 = arith.constant 8 : i32
    %c16 = arith.constant 16 : i32
    %c272 = arith.constant 272 : i32
    %base = memref.extract_aligned_pointer_as_index %x : memref<64xf32> -> index
    %address = arith.index_cast %base : index to i64
    %next = arith.addi %address, %c4 : i64
    %first = llvm.inttoptr %address : i64 to !llvm.ptr<1>
    %second = llvm.inttoptr %next : i64 to !llvm.ptr<1>
    nvvm.cp.async.bulk.prefetch %first, %c272 : !llvm.ptr<1>
    nvvm.cp.async.bulk.prefetch %second, %c16 : !llvm.ptr<1>
    nvvm.cp.async.bulk.prefetch %first, %c8 : !llvm.ptr<1>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  return
}

// REDEFINE: %{function} = shared_bounds
// RUN: %{run} --check-prefix=SHARED-BOUNDS
// SHARED-BOUNDS: shared access out of bounds: llvm.store at {{.*}}faults.mlir:[[@LINE+10]]:5: block (0, 0, 0), thread (32, 0, 0): writes 4 bytes at byte 128 of shared memory, which has 128; and 31 more there
func.func @shared_bounds() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %bytes = arith.constant 128 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %shared = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %one = arith.constant 1.0 : f32
    memref.store %one, %shared[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}

// REDEFINE: %{function} = misaligned
// RUN: %{run} --check-prefix=MISALIGNED
// MISALIGNED: misaligned access: llvm.load at {{.*}}faults.mlir:[[@LINE+7]]:14: block (0, 0, 0), thread (1, 0, 0): reads 16 bytes at 0x{{[0-9a-f]+}}, which is no multiple of 16; byte 4 of memref argument 0
func.func @misaligned() {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %x = memref.alloc() : memref<64xf32>
  %y = memref.alloc() : memref<32x4xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) {
    %value = vector.load %x[%tx] {alignment = 16 : i64} : memref<64xf32>, vector<4xf32>
    %c0 = arith.constant 0 : index
    vector.store %value, %y[%tx, %c0] : memref<32x4xf32>, vector<4xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  memref.dealloc %y : memref<32x4xf32>
  return
}

// REDEFINE: %{function} = uninitialized
// RUN: %{run} --check-prefix=UNINITIALIZED
// UNINITIALIZED: read of shared memory that nobody wrote: llvm.load at {{.*}}faults.mlir:[[@LINE+10]]:14: block (0, 0, 0), thread (0, 0, 0): reads 4 bytes at byte 0 of shared memory
func.func @uninitialized() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %bytes = arith.constant 256 : i32
  %x = memref.alloc() : memref<64xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %shared = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %value = memref.load %shared[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %x[%tx] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  return
}

// As @fine, but with no barrier between.
// REDEFINE: %{function} = shared_race
// RUN: %{run} --check-prefix=SHARED-RACE
// SHARED-RACE: race on shared memory: llvm.load at {{.*}}faults.mlir:[[@LINE+14]]:14: block (0, 0, 0), thread (16, 0, 0): reads 4 bytes at byte 60 of shared memory, where thread 15 of 32 writes (llvm.store at {{.*}}faults.mlir:[[@LINE+12]]:5), in no order
func.func @shared_race() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  %bytes = arith.constant 256 : i32
  %x = memref.alloc() : memref<64xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %shared = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %one = arith.constant 1.0 : f32
    memref.store %one, %shared[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    %other = arith.subi %c31, %tx : index
    %value = memref.load %shared[%other] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %x[%tx] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  return
}

// Both blocks write there.
// REDEFINE: %{function} = global_race
// RUN: %{run} --check-prefix=GLOBAL-RACE
// GLOBAL-RACE: race on global memory: llvm.store at {{.*}}faults.mlir:[[@LINE+9]]:5: block ({{.}}, 0, 0), thread (0, 0, 0): writes 4 bytes at {{.*}}, byte 0 of memref argument 0, which has 256, where thread 0 of block {{.}} writes, in no order
func.func @global_race() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %x = memref.alloc() : memref<64xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) {
    %number = arith.index_castui %bx : index to i32
    %value = arith.uitofp %number : i32 to f32
    memref.store %value, %x[%tx] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  return
}

// Both blocks write the same, and so do the warps of each.
// REDEFINE: %{function} = equal_stores
// RUN: %{run} --check-prefix=FINE --allow-empty
func.func @equal_stores() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %x = memref.alloc() : memref<64xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) {
    %one = arith.constant 1.0 : f32
    %at = arith.remui %tx, %c32 : index
    memref.store %one, %x[%at] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  return
}

// A copy that has landed neither when its thread reads nor when others do.
// REDEFINE: %{function} = early_read
// RUN: %{run} --check-prefix=EARLY-READ
// EARLY-READ: read of an asynchronous copy before its wait: llvm.load at {{.*}}faults.mlir:[[@LINE+12]]:14: block (0, 0, 0), thread (0, 0, 0): reads 4 bytes at byte 0 of shared memory, where thread 0 of 32 has an asynchronous copy in flight to there, which nobody waited for (nvvm.cp.async.shared.global at {{.*}})
func.func @early_read() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %bytes = arith.constant 256 : i32
  %x = memref.alloc() : memref<64xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %shared = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %copy = nvgpu.device_async_copy %x[%tx], %shared[%tx], 1 : memref<64xf32> to memref<64xf32, #gpu.address_space<workgroup>>
    %group = nvgpu.device_async_create_group %copy
    %value = memref.load %shared[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    nvgpu.device_async_wait %group
    gpu.barrier
    memref.store %value, %x[%tx] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  return
}

// REDEFINE: %{function} = barrier_divergence
// RUN: %{run} --check-prefix=BARRIER
// BARRIER: barrier that not all threads reach: nvvm.barrier{{0?}} at {{.*}}faults.mlir:[[@LINE+8]]:7: block (0, 0, 0), thread (0, 0, 0): no thread can go on: 48 threads from number 0 on are at nvvm.barrier{{.*}}, 16 threads from number 48 on have ended
func.func @barrier_divergence() {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) {
    %c48 = arith.constant 48 : index
    %reaches = arith.cmpi ult, %tx, %c48 : index
    scf.if %reaches {
      gpu.barrier
    }
    gpu.terminator
  }
  return
}

// REDEFINE: %{function} = divergent_collective
// RUN: %{run} --check-prefix=COLLECTIVE
// COLLECTIVE: collective instruction that not all lanes reach: nvvm.shfl.sync at {{.*}}faults.mlir:[[@LINE+12]]:22: block (0, 0, 0), thread (0, 0, 0): no thread can go on: 16 threads from number 0 on are at nvvm.shfl.sync {{.*}}, 16 threads from number 16 on have ended
func.func @divergent_collective() {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %x = memref.alloc() : memref<64xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) {
    %c16 = arith.constant 16 : index
    %one = arith.constant 1 : i32
    %width = arith.constant 32 : i32
    %reaches = arith.cmpi ult, %tx, %c16 : index
    scf.if %reaches {
      %id = arith.index_cast %tx : index to i32
      %sum, %valid = gpu.shuffle xor %id, %one, %width : i32
      memref.store %sum, %x[%tx] : memref<64xi32>
    }
    gpu.terminator
  }
  memref.dealloc %x : memref<64xi32>
  return
}

// Thread 0 waits for a value that nobody writes.
// REDEFINE: %{function} = hang
// RUN: %{run} --check-prefix=HANG
// HANG: hang: llvm.{{.*}} at {{.*}}: block (0, 0, 0), thread (0, 0, 0): the block's threads have made {{[0-9]+}} steps without any of them reaching a barrier or the end; {{.*}}31 threads from number 1 on are at nvvm.barrier
func.func @hang() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %x = memref.alloc() : memref<1xf32>
  memref.store %zero, %x[%c0] : memref<1xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) {
    %first = arith.cmpi eq, %tx, %c0 : index
    scf.if %first {
      scf.while : () -> () {
        %value = memref.load %x[%c0] : memref<1xf32>
        %none = arith.cmpf oeq, %value, %zero : f32
        scf.condition(%none)
      } do {
        scf.yield
      }
    }
    gpu.barrier
    gpu.terminator
  }
  memref.dealloc %x : memref<1xf32>
  return
}

// What the driver refuses.
// REDEFINE: %{function} = too_much_shared
// RUN: %{run} --check-prefix=LIMIT
// LIMIT: error: simulated kernel too_much_shared_kernel: expected at most 232448 bytes of shared memory for a block of sm_90a, but got 300000
func.func @too_much_shared() {
  %c1 = arith.constant 1 : index
  %bytes = arith.constant 300000 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c1, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}
