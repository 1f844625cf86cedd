// Copies that an mbarrier waits for.

// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip, gpu-kernel-outlining, gpu.module(convert-nvgpu-to-nvvm, convert-vector-to-llvm, convert-scf-to-cf, expand-strided-metadata, lower-affine, convert-gpu-to-nvvm, canonicalize, reconcile-unrealized-casts), convert-kernels-to-sim, nm-attach-chip{chip=}, convert-vector-to-scf, convert-scf-to-cf, expand-strided-metadata, gpu-to-llvm, convert-cf-to-llvm, reconcile-unrealized-casts)" -o %t
// DEFINE: %{function} =
// DEFINE: %{run} = mlir-runner %t --entry-point-result=void -e %{function} --shared-libs=%nm_lib_dir/libnm_sim.so,%nm_lib_dir/libnm_runtime.so 2>&1 | FileCheck %s

// A bulk copy, whose bytes the mbarrier expects.
// REDEFINE: %{function} = bulk
// RUN: %{run} --check-prefix=RIGHT --allow-empty
// RIGHT-NOT: error
func.func @bulk() {
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
    }
    nvvm.mbarrier.try_wait.parity %barrier, %parity, %ticks : !llvm.ptr<3>, i32, i32
    %value = memref.load %data[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %y[%tx] : memref<64xf32>
    gpu.terminator
  }
  scf.for %i = %c0 to %c64 step %c1 {
    %expected = memref.load %x[%i] : memref<64xf32>
    %got = memref.load %y[%i] : memref<64xf32>
    %same = arith.cmpf oeq, %got, %expected : f32
    cf.assert %same, "error: wrong copy"
  }
  memref.dealloc %x : memref<64xf32>
  memref.dealloc %y : memref<64xf32>
  return
}

// Copies of each thread, whose arrivals the count includes.
// REDEFINE: %{function} = threads
// RUN: %{run} --check-prefix=RIGHT --allow-empty
func.func @threads() {
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
    nvvm.cp.async.mbarrier.arrive %barrier {noinc = true} : !llvm.ptr<3>
    nvvm.mbarrier.try_wait.parity %barrier, %parity, %ticks : !llvm.ptr<3>, i32, i32
    %value = memref.load %data[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %y[%tx] : memref<64xf32>
    gpu.terminator
  }
  scf.for %i = %c0 to %c64 step %c1 {
    %expected = memref.load %x[%i] : memref<64xf32>
    %got = memref.load %y[%i] : memref<64xf32>
    %same = arith.cmpf oeq, %got, %expected : f32
    cf.assert %same, "error: wrong copy"
  }
  memref.dealloc %x : memref<64xf32>
  memref.dealloc %y : memref<64xf32>
  return
}

// All arrive, and test for the end of the phase again and again.
// REDEFINE: %{function} = tested
// RUN: %{run} --check-prefix=RIGHT --allow-empty
func.func @tested() {
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
      nvvm.mbarrier.expect_tx %barrier, %expected : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.shared.cluster.global %to, %from, %barrier, %size : !llvm.ptr<3>, !llvm.ptr<1>
    }
    %state = nvvm.mbarrier.arrive %barrier : !llvm.ptr<3> -> i64
    scf.while : () -> () {
      %over = nvvm.mbarrier.test.wait %barrier, %state : !llvm.ptr<3>, i64 -> i1
      %true = arith.constant true
      %more = arith.xori %over, %true : i1
      scf.condition(%more)
    } do {
      scf.yield
    }
    scf.while : () -> () {
      %over = nvvm.mbarrier.try_wait %barrier, %parity : !llvm.ptr<3>, i32 -> i1
      %true = arith.constant true
      %more = arith.xori %over, %true : i1
      scf.condition(%more)
    } do {
      scf.yield
    }
    %value = memref.load %data[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %y[%tx] : memref<64xf32>
    gpu.terminator
  }
  scf.for %i = %c0 to %c64 step %c1 {
    %expected = memref.load %x[%i] : memref<64xf32>
    %got = memref.load %y[%i] : memref<64xf32>
    %same = arith.cmpf oeq, %got, %expected : f32
    cf.assert %same, "error: wrong copy"
  }
  memref.dealloc %x : memref<64xf32>
  memref.dealloc %y : memref<64xf32>
  return
}

// As @tested, but one more than there are is to arrive.
// REDEFINE: %{function} = tested_forever
// RUN: %{run} --check-prefix=FOREVER
// FOREVER: hang: nvvm.mbarrier.test.wait at
func.func @tested_forever() {
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
    %count = arith.constant 65 : i32
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
      nvvm.mbarrier.expect_tx %barrier, %expected : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.shared.cluster.global %to, %from, %barrier, %size : !llvm.ptr<3>, !llvm.ptr<1>
    }
    %state = nvvm.mbarrier.arrive %barrier : !llvm.ptr<3> -> i64
    scf.while : () -> () {
      %over = nvvm.mbarrier.test.wait %barrier, %state : !llvm.ptr<3>, i64 -> i1
      %true = arith.constant true
      %more = arith.xori %over, %true : i1
      scf.condition(%more)
    } do {
      scf.yield
    }
    scf.while : () -> () {
      %over = nvvm.mbarrier.try_wait %barrier, %parity : !llvm.ptr<3>, i32 -> i1
      %true = arith.constant true
      %more = arith.xori %over, %true : i1
      scf.condition(%more)
    } do {
      scf.yield
    }
    %value = memref.load %data[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %value, %y[%tx] : memref<64xf32>
    gpu.terminator
  }
  scf.for %i = %c0 to %c64 step %c1 {
    %expected = memref.load %x[%i] : memref<64xf32>
    %got = memref.load %y[%i] : memref<64xf32>
    %same = arith.cmpf oeq, %got, %expected : f32
    cf.assert %same, "error: wrong copy"
  }
  memref.dealloc %x : memref<64xf32>
  memref.dealloc %y : memref<64xf32>
  return
}
