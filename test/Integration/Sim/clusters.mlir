// Blocks of a cluster that read each other's shared memory, and each fault that
// they can have. What the simulator says is printed where no caller collects
// errors.

// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_90}, convert-kernels-to-sim, nm-attach-chip{chip=}, convert-scf-to-cf, expand-strided-metadata, gpu-to-llvm, reconcile-unrealized-casts)" -o %t
// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_80}, convert-kernels-to-sim, nm-attach-chip{chip=}, convert-scf-to-cf, expand-strided-metadata, gpu-to-llvm, reconcile-unrealized-casts)" -o %t.old
// DEFINE: %{function} =
// DEFINE: %{module} = %t
// DEFINE: %{run} = env NM_SIM_PRINT=1 mlir-runner %{module} --entry-point-result=void -e %{function} --shared-libs=%nm_lib_dir/libnm_sim.so,%nm_lib_dir/libnm_runtime.so 2>&1 | FileCheck %s

module attributes {gpu.container_module} {
gpu.module @kernels {
  llvm.mlir.global internal @shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<32 x i32>

  // The thread's word of its block's memory, and of the next block's.
  llvm.func @own() -> !llvm.ptr<3> {
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %buffer = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %word = llvm.getelementptr %buffer[%thread] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.return %word : !llvm.ptr<3>
  }
  llvm.func @next() -> !llvm.ptr<7> {
    %one = llvm.mlir.constant(1 : i32) : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %count = nvvm.read.ptx.sreg.cluster.nctarank : i32
    %after = llvm.add %rank, %one : i32
    %next = llvm.urem %after, %count : i32
    %own = llvm.call @own() : () -> !llvm.ptr<3>
    %word = nvvm.mapa %own, %next : !llvm.ptr<3> -> !llvm.ptr<7>
    llvm.return %word : !llvm.ptr<7>
  }
  // 100 times the block's number in the grid, and the thread's.
  llvm.func @number() -> i32 {
    %hundred = llvm.mlir.constant(100 : i32) : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %0 = llvm.mul %block, %hundred : i32
    %1 = llvm.add %0, %thread : i32
    llvm.return %1 : i32
  }
  llvm.func @meet() {
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
    llvm.return
  }

  // x[i] is what the next block has: 132 in x[0], 32 in x[32] of clusters of 2.
  llvm.func @exchange(%allocated: !llvm.ptr, %x: !llvm.ptr, %offset: i64, %size: i64, %stride: i64) attributes {gpu.kernel, nvvm.kernel} {
    %own = llvm.call @own() : () -> !llvm.ptr<3>
    %number = llvm.call @number() : () -> i32
    llvm.store %number, %own : i32, !llvm.ptr<3>
    llvm.call @meet() : () -> ()
    %next = llvm.call @next() : () -> !llvm.ptr<7>
    %value = llvm.load %next : !llvm.ptr<7> -> i32
    %width = nvvm.read.ptx.sreg.ntid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.mul %block, %width : i32
    %i = llvm.add %first, %thread : i32
    %to = llvm.getelementptr %x[%i] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    llvm.store %value, %to : i32, !llvm.ptr
    llvm.call @meet() : () -> ()
    llvm.return
  }

  // Writes to the next block, through a generic pointer.
  llvm.func @push() attributes {gpu.kernel, nvvm.kernel} {
    %next = llvm.call @next() : () -> !llvm.ptr<7>
    %generic = llvm.addrspacecast %next : !llvm.ptr<7> to !llvm.ptr
    %number = llvm.call @number() : () -> i32
    llvm.store %number, %generic : i32, !llvm.ptr
    nvvm.cluster.arrive
    nvvm.cluster.wait
    %own = llvm.call @own() : () -> !llvm.ptr<3>
    %value = llvm.load %own : !llvm.ptr<3> -> i32
    llvm.return
  }

  // Over global memory, which the cluster's barrier orders too.
  llvm.func @global(%allocated: !llvm.ptr, %x: !llvm.ptr, %offset: i64, %size: i64, %stride: i64) attributes {gpu.kernel, nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %own = llvm.getelementptr %x[%block] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %first = llvm.icmp "eq" %thread, %zero : i32
    llvm.cond_br %first, ^write, ^meet
  ^write:
    llvm.store %one, %own : i32, !llvm.ptr
    llvm.br ^meet
  ^meet:
    llvm.call @meet() : () -> ()
    %other = llvm.xor %block, %one : i32
    %there = llvm.getelementptr %x[%other] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    %value = llvm.load %there : !llvm.ptr -> i32
    llvm.return
  }

  // As @exchange, without the first barrier.
  llvm.func @no_first() attributes {gpu.kernel, nvvm.kernel} {
    %own = llvm.call @own() : () -> !llvm.ptr<3>
    %number = llvm.call @number() : () -> i32
    llvm.store %number, %own : i32, !llvm.ptr<3>
    %next = llvm.call @next() : () -> !llvm.ptr<7>
    %value = llvm.load %next : !llvm.ptr<7> -> i32 loc("read.mlir":1:2)
    llvm.call @meet() : () -> ()
    llvm.return
  }

  // Without the last one.
  llvm.func @no_last() attributes {gpu.kernel, nvvm.kernel} {
    %own = llvm.call @own() : () -> !llvm.ptr<3>
    %number = llvm.call @number() : () -> i32
    llvm.store %number, %own : i32, !llvm.ptr<3>
    llvm.call @meet() : () -> ()
    %next = llvm.call @next() : () -> !llvm.ptr<7>
    %value = llvm.load %next : !llvm.ptr<7> -> i32 loc("read.mlir":3:4)
    llvm.return
  }

  // Only the second block reads. The first one ends later here, by luck.
  llvm.func @may_end() attributes {gpu.kernel, nvvm.kernel} {
    %own = llvm.call @own() : () -> !llvm.ptr<3>
    %number = llvm.call @number() : () -> i32
    llvm.store %number, %own : i32, !llvm.ptr<3>
    llvm.call @meet() : () -> ()
    %zero = llvm.mlir.constant(0 : i32) : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
    %is_second = llvm.icmp "ne" %rank, %zero : i32
    llvm.cond_br %is_second, ^read, ^end
  ^read:
    %next = llvm.call @next() : () -> !llvm.ptr<7>
    %value = llvm.load %next : !llvm.ptr<7> -> i32 loc("read.mlir":5:6)
    llvm.br ^end
  ^end:
    llvm.return
  }

  // What the other block reads is overwritten.
  llvm.func @overwrite() attributes {gpu.kernel, nvvm.kernel} {
    %own = llvm.call @own() : () -> !llvm.ptr<3>
    %number = llvm.call @number() : () -> i32
    llvm.store %number, %own : i32, !llvm.ptr<3>
    llvm.call @meet() : () -> ()
    %next = llvm.call @next() : () -> !llvm.ptr<7>
    %value = llvm.load %next : !llvm.ptr<7> -> i32 loc("read.mlir":7:8)
    llvm.store %value, %own : i32, !llvm.ptr<3> loc("write.mlir":1:2)
    llvm.call @meet() : () -> ()
    llvm.return
  }

  // After its arrival, a thread's writes are not before the others' reads.
  llvm.func @late_write() attributes {gpu.kernel, nvvm.kernel} {
    %own = llvm.call @own() : () -> !llvm.ptr<3>
    %number = llvm.call @number() : () -> i32
    nvvm.cluster.arrive {aligned}
    llvm.store %number, %own : i32, !llvm.ptr<3> loc("write.mlir":3:4)
    nvvm.cluster.wait {aligned}
    %next = llvm.call @next() : () -> !llvm.ptr<7>
    %value = llvm.load %next : !llvm.ptr<7> -> i32 loc("read.mlir":9:10)
    llvm.call @meet() : () -> ()
    llvm.return
  }

  llvm.func @out_of_bounds() attributes {gpu.kernel, nvvm.kernel} {
    %next = llvm.call @next() : () -> !llvm.ptr<7>
    %four = llvm.getelementptr %next[1] : (!llvm.ptr<7>) -> !llvm.ptr<7>, i32
    %number = llvm.call @number() : () -> i32
    llvm.store %number, %four : i32, !llvm.ptr<7> loc("write.mlir":5:6)
    llvm.call @meet() : () -> ()
    llvm.return
  }

  llvm.func @no_such_block() attributes {gpu.kernel, nvvm.kernel} {
    %two = llvm.mlir.constant(2 : i32) : i32
    %own = llvm.call @own() : () -> !llvm.ptr<3>
    %word = nvvm.mapa %own, %two : !llvm.ptr<3> -> !llvm.ptr<7> loc("map.mlir":1:2)
    llvm.return
  }

  // Half of a warp arrives at a barrier that lanes execute as one.
  llvm.func @half_warp() attributes {gpu.kernel, nvvm.kernel} {
    %sixteen = llvm.mlir.constant(16 : i32) : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %takes_part = llvm.icmp "ult" %thread, %sixteen : i32
    llvm.cond_br %takes_part, ^meet, ^end
  ^meet:
    nvvm.cluster.arrive {aligned} loc("meet.mlir":1:2)
    nvvm.cluster.wait {aligned}
    llvm.br ^end
  ^end:
    llvm.return
  }

  // One that each lane executes by itself waits for those that have not ended.
  llvm.func @half_warp_each() attributes {gpu.kernel, nvvm.kernel} {
    %sixteen = llvm.mlir.constant(16 : i32) : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %takes_part = llvm.icmp "ult" %thread, %sixteen : i32
    llvm.cond_br %takes_part, ^meet, ^end
  ^meet:
    nvvm.cluster.arrive
    nvvm.cluster.wait
    llvm.br ^end
  ^end:
    llvm.return
  }

  // Who arrives and ends is not counted twice.
  llvm.func @arrive_and_end() attributes {gpu.kernel, nvvm.kernel} {
    %sixteen = llvm.mlir.constant(16 : i32) : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %ends = llvm.icmp "ult" %thread, %sixteen : i32
    llvm.cond_br %ends, ^arrive, ^meet
  ^arrive:
    nvvm.cluster.arrive
    llvm.return
  ^meet:
    %own = llvm.call @own() : () -> !llvm.ptr<3>
    %number = llvm.call @number() : () -> i32
    llvm.store %number, %own : i32, !llvm.ptr<3>
    nvvm.cluster.arrive
    nvvm.cluster.wait
    %next = llvm.call @next() : () -> !llvm.ptr<7>
    %value = llvm.load %next : !llvm.ptr<7> -> i32
    nvvm.cluster.arrive
    nvvm.cluster.wait
    llvm.return
  }

  // The second block waits at a barrier of its own that half of it never
  // reaches, for that waits for the first block.
  llvm.func @stuck() attributes {gpu.kernel, nvvm.kernel} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %sixteen = llvm.mlir.constant(16 : i32) : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %is_second = llvm.icmp "ne" %rank, %zero : i32
    %is_low = llvm.icmp "ult" %thread, %sixteen : i32
    %waits = llvm.and %is_second, %is_low : i1
    llvm.cond_br %waits, ^barrier, ^meet
  ^barrier:
    nvvm.barrier0 loc("meet.mlir":3:4)
    llvm.br ^meet
  ^meet:
    nvvm.cluster.arrive
    nvvm.cluster.wait loc("meet.mlir":5:6)
    llvm.return
  }

  llvm.func @wait_alone() attributes {gpu.kernel, nvvm.kernel} {
    nvvm.cluster.wait loc("meet.mlir":7:8)
    llvm.return
  }

  llvm.func @arrive_twice() attributes {gpu.kernel, nvvm.kernel} {
    nvvm.cluster.arrive
    nvvm.cluster.arrive loc("meet.mlir":9:10)
    nvvm.cluster.wait
    llvm.return
  }

  llvm.func @endless() attributes {gpu.kernel, nvvm.kernel} {
    llvm.br ^loop
  ^loop:
    nvvm.cluster.arrive loc("meet.mlir":11:12)
    nvvm.cluster.wait loc("meet.mlir":13:14)
    llvm.br ^loop
  }
}

// REDEFINE: %{function} = exchange
// RUN: %{run} --check-prefix=EXCHANGE --implicit-check-not=error
// EXCHANGE: simulated exchange: 6 blocks of 32 threads in clusters of 2, 128 bytes of shared memory
// EXCHANGE-NEXT: shared loads: 6 requests, 6 wavefronts (1.00 a request), 0 bank conflicts
// EXCHANGE: 12 barriers of warps
// EXCHANGE-NEXT: 100, 131, 0, 31, 300, 231, 531, 431
func.func @exchange() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c6 = arith.constant 6 : index
  %c32 = arith.constant 32 : index
  %x = memref.alloc() {alignment = 128 : i64} : memref<192xi32>
  gpu.launch_func @kernels::@exchange clusters in (%c2, %c1, %c1) blocks in (%c6, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : memref<192xi32>)
  %format = llvm.mlir.addressof @format : !llvm.ptr
  %i0 = arith.constant 0 : index
  %i31 = arith.constant 31 : index
  %i63 = arith.constant 63 : index
  %i64 = arith.constant 64 : index
  %i127 = arith.constant 127 : index
  %i159 = arith.constant 159 : index
  %i191 = arith.constant 191 : index
  %v0 = memref.load %x[%i0] : memref<192xi32>
  %v31 = memref.load %x[%i31] : memref<192xi32>
  %v32 = memref.load %x[%c32] : memref<192xi32>
  %v63 = memref.load %x[%i63] : memref<192xi32>
  %v64 = memref.load %x[%i64] : memref<192xi32>
  %v127 = memref.load %x[%i127] : memref<192xi32>
  %v159 = memref.load %x[%i159] : memref<192xi32>
  %v191 = memref.load %x[%i191] : memref<192xi32>
  llvm.call @printf(%format, %v0, %v31, %v32, %v63, %v64, %v127, %v159, %v191) vararg(!llvm.func<i32 (ptr, ...)>) : (!llvm.ptr, i32, i32, i32, i32, i32, i32, i32, i32) -> i32
  memref.dealloc %x : memref<192xi32>
  return
}
llvm.func @printf(!llvm.ptr, ...) -> i32
llvm.mlir.global internal constant @format("%d, %d, %d, %d, %d, %d, %d, %d\0A\00")

// REDEFINE: %{function} = push
// RUN: %{run} --check-prefix=PUSH --implicit-check-not=error
// PUSH: simulated push: 2x2x2 blocks of 32 threads in clusters of 2x2x2
// PUSH-NEXT: shared loads: 8 requests
func.func @push() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@push clusters in (%c2, %c2, %c2) blocks in (%c2, %c2, %c2) threads in (%c32, %c1, %c1)
  return
}

// REDEFINE: %{function} = global
// RUN: %{run} --check-prefix=GLOBAL --implicit-check-not=error
// GLOBAL: simulated global: 4 blocks
func.func @global() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %x = memref.alloc() {alignment = 128 : i64} : memref<192xi32>
  gpu.launch_func @kernels::@global clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : memref<192xi32>)
  memref.dealloc %x : memref<192xi32>
  return
}

// REDEFINE: %{function} = half_warp_each
// RUN: %{run} --check-prefix=EACH --implicit-check-not=error
// EACH: simulated half_warp_each
func.func @half_warp_each() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@half_warp_each clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

// REDEFINE: %{function} = arrive_and_end
// RUN: %{run} --check-prefix=ARRIVE --implicit-check-not=error
// ARRIVE: simulated arrive_and_end
func.func @arrive_and_end() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@arrive_and_end clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

// As many clusters run at a time as there can be stacks, whatever the host has.
// REDEFINE: %{function} = many
// RUN: env NM_NUM_THREADS=8 %{run} --check-prefix=MANY --implicit-check-not=error
// MANY: simulated half_warp_each: 64 blocks of 1024 threads in clusters of 8
func.func @many() {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  gpu.launch_func @kernels::@half_warp_each clusters in (%c8, %c1, %c1) blocks in (%c64, %c1, %c1) threads in (%c1024, %c1, %c1)
  return
}

// REDEFINE: %{function} = no_first
// RUN: %{run} --check-prefix=NO-FIRST
// NO-FIRST-DAG: read of shared memory that nobody wrote: llvm.load at read.mlir:1:2: block (0, 0, 0), thread (0, 0, 0): reads 4 bytes at byte 0 of shared memory of block 1 of its cluster
// NO-FIRST-DAG: race on shared memory: llvm.load at read.mlir:1:2: block (1, 0, 0), thread (0, 0, 0): reads 4 bytes at byte 0 of shared memory of block 0 of its cluster, where thread 0 of 32 writes (llvm.store at {{.*}}), in no order
func.func @no_first() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@no_first clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

// REDEFINE: %{function} = no_last
// RUN: %{run} --check-prefix=NO-LAST
// NO-LAST: access of shared memory of a block that has ended: llvm.load at read.mlir:3:4: block (0, 0, 0), thread (0, 0, 0): reads 4 bytes at byte 0 of shared memory of block 1 of its cluster
func.func @no_last() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@no_last clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

// REDEFINE: %{function} = may_end
// RUN: %{run} --check-prefix=MAY-END
// MAY-END: access of shared memory of a block that has ended: llvm.load at read.mlir:5:6: block (1, 0, 0), thread (31, 0, 0): reads 4 bytes at byte 124 of shared memory of block 0 of its cluster, which may have ended by then: no barrier of the cluster comes after that and before its end
func.func @may_end() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@may_end clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

// REDEFINE: %{function} = overwrite
// RUN: %{run} --check-prefix=OVERWRITE
// OVERWRITE: race on shared memory: llvm.store at write.mlir:1:2: block (0, 0, 0), thread (0, 0, 0): writes 4 bytes at byte 0 of shared memory, where a thread of block 1 of the cluster reads (llvm.load at read.mlir:7:8), in no order
func.func @overwrite() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@overwrite clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

// REDEFINE: %{function} = late_write
// RUN: %{run} --check-prefix=LATE
// LATE: race on shared memory: llvm.load at read.mlir:9:10: block (1, 0, 0), thread (0, 0, 0): reads 4 bytes at byte 0 of shared memory of block 0 of its cluster, where thread 0 of 32 writes (llvm.store at write.mlir:3:4), in no order
func.func @late_write() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@late_write clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

// REDEFINE: %{function} = out_of_bounds
// RUN: %{run} --check-prefix=BOUNDS
// BOUNDS: error: simulated kernel out_of_bounds: 2 faults
// BOUNDS-NEXT: shared access out of bounds: llvm.store at write.mlir:5:6: block (0, 0, 0), thread (31, 0, 0): writes 4 bytes at byte 128 of shared memory of block 1 of its cluster, which has 128
func.func @out_of_bounds() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@out_of_bounds clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

// REDEFINE: %{function} = no_such_block
// RUN: %{run} --check-prefix=RANK
// RANK: operand out of range: nvvm.mapa at map.mlir:1:2: block (0, 0, 0), thread (0, 0, 0): expected a block of 0 to 1 of the cluster, but got 2
func.func @no_such_block() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@no_such_block clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

// REDEFINE: %{function} = half_warp
// RUN: %{run} --check-prefix=HALF
// HALF: collective instruction that not all lanes reach: nvvm.cluster.arrive at meet.mlir:1:2: block (0, 0, 0), thread (0, 0, 0): no thread can go on: 16 threads from number 0 on are at nvvm.cluster.arrive {{.*}}, 16 threads from number 16 on have ended; in block 1 of its cluster 16 threads
func.func @half_warp() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@half_warp clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

// REDEFINE: %{function} = stuck
// RUN: %{run} --check-prefix=STUCK
// STUCK: barrier that not all threads reach: nvvm.barrier0 at meet.mlir:3:4: block (1, 0, 0), thread (0, 0, 0): no thread can go on: 16 threads from number 0 on are at nvvm.barrier0 at meet.mlir:3:4, 16 threads from number 16 on are at nvvm.cluster.wait at meet.mlir:5:6; in block 0 of its cluster 32 threads from number 0 on are at nvvm.cluster.wait at meet.mlir:5:6
func.func @stuck() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@stuck clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

// REDEFINE: %{function} = wait_alone
// RUN: %{run} --check-prefix=ALONE
// ALONE: error: simulated kernel wait_alone: 64 faults
// ALONE-NEXT: barrier of a cluster whose arrive and wait are no pair: nvvm.cluster.wait at meet.mlir:7:8: block (0, 0, 0), thread (0, 0, 0): waits for the barrier of the cluster, and has not arrived there since it last did
func.func @wait_alone() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@wait_alone clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

// REDEFINE: %{function} = arrive_twice
// RUN: %{run} --check-prefix=TWICE
// TWICE: error: simulated kernel arrive_twice: 64 faults
// TWICE-NEXT: barrier of a cluster whose arrive and wait are no pair: nvvm.cluster.arrive at meet.mlir:9:10: block (0, 0, 0), thread (0, 0, 0): arrives at the barrier of the cluster again, and has not waited since it last did
func.func @arrive_twice() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@arrive_twice clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

// REDEFINE: %{function} = endless
// RUN: %{run} --check-prefix=ENDLESS
// ENDLESS: hang: nvvm.cluster.{{.*}} the cluster has passed 16384 barriers and goes on
func.func @endless() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@endless clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

// What the driver refuses.
// REDEFINE: %{function} = ragged
// RUN: %{run} --check-prefix=RAGGED
// RAGGED: error: simulated kernel push: expected a grid of whole clusters, but got 3 blocks in x for clusters of 2
func.func @ragged() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@push clusters in (%c2, %c1, %c1) blocks in (%c3, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

// REDEFINE: %{function} = large
// RUN: %{run} --check-prefix=LARGE
// LARGE: error: simulated kernel push: expected at most 8 blocks in a cluster, but got 16
func.func @large() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@push clusters in (%c8, %c2, %c1) blocks in (%c8, %c2, %c1) threads in (%c32, %c1, %c1)
  return
}

// REDEFINE: %{function} = empty
// RUN: %{run} --check-prefix=EMPTY
// EMPTY: error: simulated kernel push: expected a cluster of 1 to 8 in y, but got 0
func.func @empty() {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@push clusters in (%c2, %c0, %c1) blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}

// REDEFINE: %{function} = old
// REDEFINE: %{module} = %t.old
// RUN: %{run} --check-prefix=OLD
// OLD: error: simulated kernel push: expected no clusters on sm_80, for compute capability 9.0 is the first to have them, but got clusters of 2 blocks
func.func @old() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @kernels::@push clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
  return
}
}
