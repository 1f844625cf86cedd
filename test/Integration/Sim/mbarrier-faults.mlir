// What goes wrong with copies that an mbarrier waits for: each kernel differs from
// @bulk or @threads of mbarriers.mlir by what its comment says.

// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip, gpu-kernel-outlining, gpu.module(convert-nvgpu-to-nvvm, convert-vector-to-llvm, convert-scf-to-cf, expand-strided-metadata, lower-affine, convert-gpu-to-nvvm, canonicalize, reconcile-unrealized-casts), convert-kernels-to-sim, nm-attach-chip{chip=}, convert-vector-to-scf, convert-scf-to-cf, expand-strided-metadata, gpu-to-llvm, convert-cf-to-llvm, reconcile-unrealized-casts)" -o %t
// DEFINE: %{function} =
// DEFINE: %{run} = mlir-runner %t --entry-point-result=void -e %{function} --shared-libs=%nm_lib_dir/libnm_sim.so,%nm_lib_dir/libnm_runtime.so 2>&1 | FileCheck %s

// The phase before the first counts as over.
// REDEFINE: %{function} = wrong_phase
// RUN: %{run} --check-prefix=PHASE
// PHASE: read of shared memory that nobody wrote: llvm.load at
// PHASE: race on shared memory: nvvm.cp.async.bulk.shared.cluster.global at {{.*}}, where thread {{[0-9]+}} of 64 reads (llvm.load at
func.func @wrong_phase() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared_bytes = arith.constant 512 : i32
  %x = memref.alloc() : memref<64xf32>
  %y = memref.alloc() : memref<64xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    %int = arith.index_cast %i : index to i32
    %value = arith.sitofp %int : i32 to f32
    memref.store %value, %x[%i] : memref<64xf32>
    memref.store %value, %y[%i] : memref<64xf32>
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %shared_bytes {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %data = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %place = arith.constant 256 : i64
    %zero = arith.constant 0 : i64
    %ticks = arith.constant 1000 : i32
    %count = arith.constant 1 : i32
    %parity = arith.constant 1 : i32
    %barrier = llvm.inttoptr %place : i64 to !llvm.ptr<3>
    %base = memref.extract_aligned_pointer_as_index %x : memref<64xf32> -> index
    %number = arith.index_cast %base : index to i64
    %from = llvm.inttoptr %number : i64 to !llvm.ptr<1>
    %isFirst = arith.cmpi eq, %tx, %c0 : index
    scf.if %isFirst {
      nvvm.mbarrier.init %barrier, %count : !llvm.ptr<3>, i32
    }
    gpu.barrier
    scf.if %isFirst {
      %expected = arith.constant 256 : i32
      %size = arith.constant 256 : i32
      %to_place = arith.constant 0 : i64
      %to = llvm.inttoptr %to_place : i64 to !llvm.ptr<3>
      nvvm.mbarrier.arrive.expect_tx %barrier, %expected : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.shared.cluster.global %to, %from, %barrier, %size : !llvm.ptr<3>, !llvm.ptr<1>
    }
    nvvm.mbarrier.try_wait.parity %barrier, %parity, %ticks : !llvm.ptr<3>, i32, i32
    %value = memref.load %data[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %y[%tx] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  memref.dealloc %y : memref<64xf32>
  return
}

// The same where threads copy.
// REDEFINE: %{function} = wrong_phase_of_threads
// RUN: %{run} --check-prefix=THREADS
// THREADS: read of an asynchronous copy before its wait: llvm.load at {{.*}}, which nobody waited for (nvvm.cp.async.shared.global at
func.func @wrong_phase_of_threads() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared_bytes = arith.constant 512 : i32
  %x = memref.alloc() : memref<64xf32>
  %y = memref.alloc() : memref<64xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    %int = arith.index_cast %i : index to i32
    %value = arith.sitofp %int : i32 to f32
    memref.store %value, %x[%i] : memref<64xf32>
    memref.store %value, %y[%i] : memref<64xf32>
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %shared_bytes {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %data = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %place = arith.constant 256 : i64
    %zero = arith.constant 0 : i64
    %ticks = arith.constant 1000 : i32
    %count = arith.constant 64 : i32
    %parity = arith.constant 1 : i32
    %barrier = llvm.inttoptr %place : i64 to !llvm.ptr<3>
    %base = memref.extract_aligned_pointer_as_index %x : memref<64xf32> -> index
    %number = arith.index_cast %base : index to i64
    %from = llvm.inttoptr %number : i64 to !llvm.ptr<1>
    %isFirst = arith.cmpi eq, %tx, %c0 : index
    scf.if %isFirst {
      nvvm.mbarrier.init %barrier, %count : !llvm.ptr<3>, i32
    }
    gpu.barrier
    %lane_int = arith.index_cast %tx : index to i64
    %four = arith.constant 4 : i64
    %byte = arith.muli %lane_int, %four : i64
    %source = arith.addi %number, %byte : i64
    %to = llvm.inttoptr %byte : i64 to !llvm.ptr<3>
    %own = llvm.inttoptr %source : i64 to !llvm.ptr<1>
    nvvm.cp.async.shared.global %to, %own, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.mbarrier.arrive %barrier {noinc = true} : !llvm.ptr<3>
    nvvm.mbarrier.try_wait.parity %barrier, %parity, %ticks : !llvm.ptr<3>, i32, i32
    %value = memref.load %data[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %y[%tx] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  memref.dealloc %y : memref<64xf32>
  return
}

// The mbarrier expects other bytes than are copied.
// REDEFINE: %{function} = wrong_bytes
// RUN: %{run} --check-prefix=BYTES
// BYTES: barrier that not all threads reach: nvvm.mbarrier.try_wait.parity at {{.*}}: no thread can go on: 64 threads from number 0 on are at nvvm.mbarrier.try_wait.parity
func.func @wrong_bytes() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared_bytes = arith.constant 512 : i32
  %x = memref.alloc() : memref<64xf32>
  %y = memref.alloc() : memref<64xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    %int = arith.index_cast %i : index to i32
    %value = arith.sitofp %int : i32 to f32
    memref.store %value, %x[%i] : memref<64xf32>
    memref.store %value, %y[%i] : memref<64xf32>
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %shared_bytes {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %data = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %place = arith.constant 256 : i64
    %zero = arith.constant 0 : i64
    %ticks = arith.constant 1000 : i32
    %count = arith.constant 1 : i32
    %parity = arith.constant 0 : i32
    %barrier = llvm.inttoptr %place : i64 to !llvm.ptr<3>
    %base = memref.extract_aligned_pointer_as_index %x : memref<64xf32> -> index
    %number = arith.index_cast %base : index to i64
    %from = llvm.inttoptr %number : i64 to !llvm.ptr<1>
    %isFirst = arith.cmpi eq, %tx, %c0 : index
    scf.if %isFirst {
      nvvm.mbarrier.init %barrier, %count : !llvm.ptr<3>, i32
    }
    gpu.barrier
    scf.if %isFirst {
      %expected = arith.constant 128 : i32
      %size = arith.constant 256 : i32
      %to_place = arith.constant 0 : i64
      %to = llvm.inttoptr %to_place : i64 to !llvm.ptr<3>
      nvvm.mbarrier.arrive.expect_tx %barrier, %expected : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.shared.cluster.global %to, %from, %barrier, %size : !llvm.ptr<3>, !llvm.ptr<1>
    }
    nvvm.mbarrier.try_wait.parity %barrier, %parity, %ticks : !llvm.ptr<3>, i32, i32
    %value = memref.load %data[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %y[%tx] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  memref.dealloc %y : memref<64xf32>
  return
}

// Nobody arrives a second time.
// REDEFINE: %{function} = wrong_count
// RUN: %{run} --check-prefix=COUNT
// COUNT: barrier that not all threads reach: nvvm.mbarrier.try_wait.parity
func.func @wrong_count() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared_bytes = arith.constant 512 : i32
  %x = memref.alloc() : memref<64xf32>
  %y = memref.alloc() : memref<64xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    %int = arith.index_cast %i : index to i32
    %value = arith.sitofp %int : i32 to f32
    memref.store %value, %x[%i] : memref<64xf32>
    memref.store %value, %y[%i] : memref<64xf32>
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %shared_bytes {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %data = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %place = arith.constant 256 : i64
    %zero = arith.constant 0 : i64
    %ticks = arith.constant 1000 : i32
    %count = arith.constant 2 : i32
    %parity = arith.constant 0 : i32
    %barrier = llvm.inttoptr %place : i64 to !llvm.ptr<3>
    %base = memref.extract_aligned_pointer_as_index %x : memref<64xf32> -> index
    %number = arith.index_cast %base : index to i64
    %from = llvm.inttoptr %number : i64 to !llvm.ptr<1>
    %isFirst = arith.cmpi eq, %tx, %c0 : index
    scf.if %isFirst {
      nvvm.mbarrier.init %barrier, %count : !llvm.ptr<3>, i32
    }
    gpu.barrier
    scf.if %isFirst {
      %expected = arith.constant 256 : i32
      %size = arith.constant 256 : i32
      %to_place = arith.constant 0 : i64
      %to = llvm.inttoptr %to_place : i64 to !llvm.ptr<3>
      nvvm.mbarrier.arrive.expect_tx %barrier, %expected : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.shared.cluster.global %to, %from, %barrier, %size : !llvm.ptr<3>, !llvm.ptr<1>
    }
    nvvm.mbarrier.try_wait.parity %barrier, %parity, %ticks : !llvm.ptr<3>, i32, i32
    %value = memref.load %data[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %y[%tx] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  memref.dealloc %y : memref<64xf32>
  return
}

// More arrive than the count.
// REDEFINE: %{function} = arrivals
// RUN: %{run} --check-prefix=ARRIVALS
// ARRIVALS: operand out of range: nvvm.mbarrier.arrive at {{.*}}: arrives 4 times at an mbarrier that expects 3 more of 3 in its phase
func.func @arrivals() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared_bytes = arith.constant 512 : i32
  %x = memref.alloc() : memref<64xf32>
  %y = memref.alloc() : memref<64xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    %int = arith.index_cast %i : index to i32
    %value = arith.sitofp %int : i32 to f32
    memref.store %value, %x[%i] : memref<64xf32>
    memref.store %value, %y[%i] : memref<64xf32>
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %shared_bytes {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %data = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %place = arith.constant 256 : i64
    %zero = arith.constant 0 : i64
    %ticks = arith.constant 1000 : i32
    %count = arith.constant 3 : i32
    %parity = arith.constant 0 : i32
    %barrier = llvm.inttoptr %place : i64 to !llvm.ptr<3>
    %base = memref.extract_aligned_pointer_as_index %x : memref<64xf32> -> index
    %number = arith.index_cast %base : index to i64
    %from = llvm.inttoptr %number : i64 to !llvm.ptr<1>
    %isFirst = arith.cmpi eq, %tx, %c0 : index
    scf.if %isFirst {
      nvvm.mbarrier.init %barrier, %count : !llvm.ptr<3>, i32
    }
    gpu.barrier
    %lane_int = arith.index_cast %tx : index to i64
    %four = arith.constant 4 : i64
    %byte = arith.muli %lane_int, %four : i64
    %source = arith.addi %number, %byte : i64
    %to = llvm.inttoptr %byte : i64 to !llvm.ptr<3>
    %own = llvm.inttoptr %source : i64 to !llvm.ptr<1>
    nvvm.cp.async.shared.global %to, %own, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
    %arrivals = arith.constant 4 : i32
    %state = nvvm.mbarrier.arrive %barrier, %arrivals : !llvm.ptr<3> -> i64
    nvvm.cp.async.mbarrier.arrive %barrier {noinc = true} : !llvm.ptr<3>
    nvvm.mbarrier.try_wait.parity %barrier, %parity, %ticks : !llvm.ptr<3>, i32, i32
    %value = memref.load %data[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %y[%tx] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  memref.dealloc %y : memref<64xf32>
  return
}

// What is in flight is overwritten.
// REDEFINE: %{function} = overwritten
// RUN: %{run} --check-prefix=OVERWRITTEN
// OVERWRITTEN: race on shared memory: llvm.store at {{.*}}, where thread 0 of 64 has an asynchronous copy in flight to there (nvvm.cp.async.bulk.shared.cluster.global at
func.func @overwritten() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared_bytes = arith.constant 512 : i32
  %x = memref.alloc() : memref<64xf32>
  %y = memref.alloc() : memref<64xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    %int = arith.index_cast %i : index to i32
    %value = arith.sitofp %int : i32 to f32
    memref.store %value, %x[%i] : memref<64xf32>
    memref.store %value, %y[%i] : memref<64xf32>
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %shared_bytes {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %data = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %place = arith.constant 256 : i64
    %zero = arith.constant 0 : i64
    %ticks = arith.constant 1000 : i32
    %count = arith.constant 1 : i32
    %parity = arith.constant 0 : i32
    %barrier = llvm.inttoptr %place : i64 to !llvm.ptr<3>
    %base = memref.extract_aligned_pointer_as_index %x : memref<64xf32> -> index
    %number = arith.index_cast %base : index to i64
    %from = llvm.inttoptr %number : i64 to !llvm.ptr<1>
    %isFirst = arith.cmpi eq, %tx, %c0 : index
    scf.if %isFirst {
      nvvm.mbarrier.init %barrier, %count : !llvm.ptr<3>, i32
    }
    gpu.barrier
    scf.if %isFirst {
      %expected = arith.constant 256 : i32
      %size = arith.constant 256 : i32
      %to_place = arith.constant 0 : i64
      %to = llvm.inttoptr %to_place : i64 to !llvm.ptr<3>
      nvvm.mbarrier.arrive.expect_tx %barrier, %expected : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.shared.cluster.global %to, %from, %barrier, %size : !llvm.ptr<3>, !llvm.ptr<1>
      %one = arith.constant 1.0 : f32
      memref.store %one, %data[%c1] : memref<64xf32, #gpu.address_space<workgroup>>
    }
    nvvm.mbarrier.try_wait.parity %barrier, %parity, %ticks : !llvm.ptr<3>, i32, i32
    %value = memref.load %data[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %y[%tx] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  memref.dealloc %y : memref<64xf32>
  return
}

// 16 bytes more than x has.
// REDEFINE: %{function} = beyond_global
// RUN: %{run} --check-prefix=GLOBAL
// GLOBAL: global access out of bounds: nvvm.cp.async.bulk.shared.cluster.global at {{.*}}: copies 272 bytes to byte 0 of shared memory from byte 0 of memref argument 0, which has 256
func.func @beyond_global() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared_bytes = arith.constant 512 : i32
  %x = memref.alloc() : memref<64xf32>
  %y = memref.alloc() : memref<64xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    %int = arith.index_cast %i : index to i32
    %value = arith.sitofp %int : i32 to f32
    memref.store %value, %x[%i] : memref<64xf32>
    memref.store %value, %y[%i] : memref<64xf32>
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %shared_bytes {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %data = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %place = arith.constant 256 : i64
    %zero = arith.constant 0 : i64
    %ticks = arith.constant 1000 : i32
    %count = arith.constant 1 : i32
    %parity = arith.constant 0 : i32
    %barrier = llvm.inttoptr %place : i64 to !llvm.ptr<3>
    %base = memref.extract_aligned_pointer_as_index %x : memref<64xf32> -> index
    %number = arith.index_cast %base : index to i64
    %from = llvm.inttoptr %number : i64 to !llvm.ptr<1>
    %isFirst = arith.cmpi eq, %tx, %c0 : index
    scf.if %isFirst {
      nvvm.mbarrier.init %barrier, %count : !llvm.ptr<3>, i32
    }
    gpu.barrier
    scf.if %isFirst {
      %expected = arith.constant 272 : i32
      %size = arith.constant 272 : i32
      %to_place = arith.constant 0 : i64
      %to = llvm.inttoptr %to_place : i64 to !llvm.ptr<3>
      nvvm.mbarrier.arrive.expect_tx %barrier, %expected : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.shared.cluster.global %to, %from, %barrier, %size : !llvm.ptr<3>, !llvm.ptr<1>
    }
    nvvm.mbarrier.try_wait.parity %barrier, %parity, %ticks : !llvm.ptr<3>, i32, i32
    %value = memref.load %data[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %y[%tx] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  memref.dealloc %y : memref<64xf32>
  return
}

// 16 bytes more than shared memory has.
// REDEFINE: %{function} = beyond_shared
// RUN: %{run} --check-prefix=SHARED
// SHARED: shared access out of bounds: nvvm.cp.async.bulk.shared.cluster.global at {{.*}}: copies 256 bytes to byte 272 of shared memory, which has 512
func.func @beyond_shared() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared_bytes = arith.constant 512 : i32
  %x = memref.alloc() : memref<64xf32>
  %y = memref.alloc() : memref<64xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    %int = arith.index_cast %i : index to i32
    %value = arith.sitofp %int : i32 to f32
    memref.store %value, %x[%i] : memref<64xf32>
    memref.store %value, %y[%i] : memref<64xf32>
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %shared_bytes {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %data = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %place = arith.constant 256 : i64
    %zero = arith.constant 0 : i64
    %ticks = arith.constant 1000 : i32
    %count = arith.constant 1 : i32
    %parity = arith.constant 0 : i32
    %barrier = llvm.inttoptr %place : i64 to !llvm.ptr<3>
    %base = memref.extract_aligned_pointer_as_index %x : memref<64xf32> -> index
    %number = arith.index_cast %base : index to i64
    %from = llvm.inttoptr %number : i64 to !llvm.ptr<1>
    %isFirst = arith.cmpi eq, %tx, %c0 : index
    scf.if %isFirst {
      nvvm.mbarrier.init %barrier, %count : !llvm.ptr<3>, i32
    }
    gpu.barrier
    scf.if %isFirst {
      %expected = arith.constant 256 : i32
      %size = arith.constant 256 : i32
      %to_place = arith.constant 272 : i64
      %to = llvm.inttoptr %to_place : i64 to !llvm.ptr<3>
      nvvm.mbarrier.arrive.expect_tx %barrier, %expected : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.shared.cluster.global %to, %from, %barrier, %size : !llvm.ptr<3>, !llvm.ptr<1>
    }
    nvvm.mbarrier.try_wait.parity %barrier, %parity, %ticks : !llvm.ptr<3>, i32, i32
    %value = memref.load %data[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %y[%tx] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  memref.dealloc %y : memref<64xf32>
  return
}

// Nobody makes the mbarrier.
// REDEFINE: %{function} = no_init
// RUN: %{run} --check-prefix=INIT
// INIT: read of shared memory that nobody wrote: nvvm.mbarrier.arrive.expect_tx at {{.*}}: uses an mbarrier at byte 256, which nobody has initialized
func.func @no_init() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %shared_bytes = arith.constant 512 : i32
  %x = memref.alloc() : memref<64xf32>
  %y = memref.alloc() : memref<64xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    %int = arith.index_cast %i : index to i32
    %value = arith.sitofp %int : i32 to f32
    memref.store %value, %x[%i] : memref<64xf32>
    memref.store %value, %y[%i] : memref<64xf32>
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c64, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %shared_bytes {
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %data = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %place = arith.constant 256 : i64
    %zero = arith.constant 0 : i64
    %ticks = arith.constant 1000 : i32
    %count = arith.constant 1 : i32
    %parity = arith.constant 0 : i32
    %barrier = llvm.inttoptr %place : i64 to !llvm.ptr<3>
    %base = memref.extract_aligned_pointer_as_index %x : memref<64xf32> -> index
    %number = arith.index_cast %base : index to i64
    %from = llvm.inttoptr %number : i64 to !llvm.ptr<1>
    %isFirst = arith.cmpi eq, %tx, %c0 : index
    scf.if %isFirst {
    }
    gpu.barrier
    scf.if %isFirst {
      %expected = arith.constant 256 : i32
      %size = arith.constant 256 : i32
      %to_place = arith.constant 0 : i64
      %to = llvm.inttoptr %to_place : i64 to !llvm.ptr<3>
      nvvm.mbarrier.arrive.expect_tx %barrier, %expected : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.shared.cluster.global %to, %from, %barrier, %size : !llvm.ptr<3>, !llvm.ptr<1>
    }
    nvvm.mbarrier.try_wait.parity %barrier, %parity, %ticks : !llvm.ptr<3>, i32, i32
    %value = memref.load %data[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %y[%tx] : memref<64xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64xf32>
  memref.dealloc %y : memref<64xf32>
  return
}
