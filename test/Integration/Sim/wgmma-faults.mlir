// What may not be done with products of warpgroups: each kernel differs from @ops of
// wgmma.mlir by what its comment says.

// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip, gpu-kernel-outlining, gpu.module(convert-nvgpu-to-nvvm, convert-vector-to-llvm, convert-scf-to-cf, expand-strided-metadata, lower-affine, convert-gpu-to-nvvm, canonicalize, reconcile-unrealized-casts), convert-kernels-to-sim, nm-attach-chip{chip=}, convert-vector-to-scf, convert-scf-to-cf, expand-strided-metadata, gpu-to-llvm, convert-cf-to-llvm, reconcile-unrealized-casts)" -o %t
// DEFINE: %{function} =
// DEFINE: %{run} = mlir-runner %t --entry-point-result=void -e %{function} --shared-libs=%nm_lib_dir/libnm_sim.so,%nm_lib_dir/libnm_runtime.so 2>&1 | FileCheck %s

// As @ops with one product, whose sums are used before they are waited for.
// REDEFINE: %{function} = used_early
// RUN: %{run} --check-prefix=EARLY
// EARLY: register of a product that is in flight: llvm.store at {{.*}}: uses the sums of nvvm.wgmma.mma_async at {{.*}}, which nobody waited for
func.func @used_early() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %bytes = arith.constant 4096 : i32
  %x = memref.alloc() : memref<64x8xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c128, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %t = arith.index_cast %tx : index to i32
    %c16_ = arith.constant 16 : index
    %dynamic = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %memory = memref.view %dynamic[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<2048xf16, #gpu.address_space<workgroup>>
    // Chunk c of row r of A is at 1024 c + 16 r: A[r, k] = r % 8 + k.
    %isRow = arith.cmpi ult, %tx, %c64 : index
    scf.if %isRow {
      scf.for %k = %c0 to %c16_ step %c1 {
        %in8 = arith.remui %tx, %c8 : index
        %sum = arith.addi %in8, %k : index
        %int = arith.index_cast %sum : index to i32
        %half = arith.sitofp %int : i32 to f16
        %chunk = arith.divui %k, %c8 : index
        %c512 = arith.constant 512 : index
        %0 = arith.muli %chunk, %c512 : index
        %1 = arith.muli %tx, %c8 : index
        %2 = arith.remui %k, %c8 : index
        %3 = arith.addi %0, %1 : index
        %4 = arith.addi %3, %2 : index
        memref.store %half, %memory[%4] : memref<2048xf16, #gpu.address_space<workgroup>>
      }
    }
    // Row k of B is at 2048 + 16 k: B[k, j] = k - j.
    scf.for %j = %c0 to %c8 step %c1 {
      %c1024 = arith.constant 1024 : index
      %isK = arith.cmpi ult, %tx, %c16_ : index
      scf.if %isK {
        %difference = arith.subi %tx, %j : index
        %int = arith.index_cast %difference : index to i32
        %half = arith.sitofp %int : i32 to f16
        %0 = arith.muli %tx, %c8 : index
        %1 = arith.addi %0, %j : index
        %2 = arith.addi %1, %c1024 : index
        memref.store %half, %memory[%2] : memref<2048xf16, #gpu.address_space<workgroup>>
      }
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %a = arith.constant 34363932672 : i64
    %b = arith.constant 34360262784 : i64
    %zero = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32)>
    nvvm.wgmma.fence.aligned
    %sums = nvvm.wgmma.mma_async %a, %b, %zero, #nvvm.shape<m = 64, n = 8, k = 16>, D[<f32>, #nvvm.wgmma_scale_out<zero>], A[<f16>, #nvvm.wgmma_scale_in<one>, <row>], B[<f16>, #nvvm.wgmma_scale_in<one>, <row>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
    nvvm.wgmma.commit.group.sync.aligned
    %s0 = llvm.extractvalue %sums[0] : !llvm.struct<(f32, f32, f32, f32)>
    %s1 = llvm.extractvalue %sums[1] : !llvm.struct<(f32, f32, f32, f32)>
    %s2 = llvm.extractvalue %sums[2] : !llvm.struct<(f32, f32, f32, f32)>
    %s3 = llvm.extractvalue %sums[3] : !llvm.struct<(f32, f32, f32, f32)>
    // Sum i of thread t is in row 16 (t / 32) + t / 4 % 8 + 8 (i / 2), column 2 (t % 4) + i % 2.
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %warp = arith.divui %tx, %c32 : index
    %first = arith.muli %warp, %c16 : index
    %quad = arith.divui %tx, %c4 : index
    %in_warp = arith.remui %quad, %c8 : index
    %row = arith.addi %first, %in_warp : index
    %below = arith.addi %row, %c8 : index
    %in_quad = arith.remui %tx, %c4 : index
    %column = arith.muli %in_quad, %c2 : index
    %next = arith.addi %column, %c1 : index
    memref.store %s0, %x[%row, %column] : memref<64x8xf32>
    memref.store %s1, %x[%row, %next] : memref<64x8xf32>
    memref.store %s2, %x[%below, %column] : memref<64x8xf32>
    memref.store %s3, %x[%below, %next] : memref<64x8xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64x8xf32>
  return
}

// A register that the product of the iteration before still reads.
// REDEFINE: %{function} = changed_register
// RUN: %{run} --check-prefix=CHANGED
// CHANGED: register of a product that is in flight: llvm.add at {{.*}}: changes an operand in registers of wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 at {{.*}}, which nobody waited for
func.func @changed_register() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %bytes = arith.constant 4096 : i32
  %x = memref.alloc() : memref<64x8xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c128, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %t = arith.index_cast %tx : index to i32
    %c16_ = arith.constant 16 : index
    %dynamic = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %memory = memref.view %dynamic[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<2048xf16, #gpu.address_space<workgroup>>
    // Chunk c of row r of A is at 1024 c + 16 r: A[r, k] = r % 8 + k.
    %isRow = arith.cmpi ult, %tx, %c64 : index
    scf.if %isRow {
      scf.for %k = %c0 to %c16_ step %c1 {
        %in8 = arith.remui %tx, %c8 : index
        %sum = arith.addi %in8, %k : index
        %int = arith.index_cast %sum : index to i32
        %half = arith.sitofp %int : i32 to f16
        %chunk = arith.divui %k, %c8 : index
        %c512 = arith.constant 512 : index
        %0 = arith.muli %chunk, %c512 : index
        %1 = arith.muli %tx, %c8 : index
        %2 = arith.remui %k, %c8 : index
        %3 = arith.addi %0, %1 : index
        %4 = arith.addi %3, %2 : index
        memref.store %half, %memory[%4] : memref<2048xf16, #gpu.address_space<workgroup>>
      }
    }
    // Row k of B is at 2048 + 16 k: B[k, j] = k - j.
    scf.for %j = %c0 to %c8 step %c1 {
      %c1024 = arith.constant 1024 : index
      %isK = arith.cmpi ult, %tx, %c16_ : index
      scf.if %isK {
        %difference = arith.subi %tx, %j : index
        %int = arith.index_cast %difference : index to i32
        %half = arith.sitofp %int : i32 to f16
        %0 = arith.muli %tx, %c8 : index
        %1 = arith.addi %0, %j : index
        %2 = arith.addi %1, %c1024 : index
        memref.store %half, %memory[%2] : memref<2048xf16, #gpu.address_space<workgroup>>
      }
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %a = arith.constant 34363932672 : i64
    %b = arith.constant 34360262784 : i64
    %metadata = arith.constant 0x44444444 : i32
    %c3 = arith.constant 3 : index
    %f0 = arith.constant 0.0 : f32
    %r0, %r1, %r2, %r3 = scf.for %step = %c0 to %c3 step %c1 iter_args(%i0 = %f0, %i1 = %f0, %i2 = %f0, %i3 = %f0) -> (f32, f32, f32, f32) {
      %int = arith.index_cast %step : index to i32
      %word = arith.addi %int, %metadata : i32
      nvvm.wgmma.fence.aligned
      %sums = llvm.inline_asm has_side_effects asm_dialect = att "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, {$8, $8, $8, $8}, $9, 1, 1, 1, 1;", "=f,=f,=f,=f,0,1,2,3,r,l" %i0, %i1, %i2, %i3, %word, %b : (f32, f32, f32, f32, i32, i64) -> !llvm.struct<(f32, f32, f32, f32)>
      nvvm.wgmma.commit.group.sync.aligned
      nvvm.wgmma.wait.group.sync.aligned 1
      %s0 = llvm.extractvalue %sums[0] : !llvm.struct<(f32, f32, f32, f32)>
      %s1 = llvm.extractvalue %sums[1] : !llvm.struct<(f32, f32, f32, f32)>
      %s2 = llvm.extractvalue %sums[2] : !llvm.struct<(f32, f32, f32, f32)>
      %s3 = llvm.extractvalue %sums[3] : !llvm.struct<(f32, f32, f32, f32)>
      scf.yield %s0, %s1, %s2, %s3 : f32, f32, f32, f32
    }
    nvvm.wgmma.wait.group.sync.aligned 0
    // Sum i of thread t is in row 16 (t / 32) + t / 4 % 8 + 8 (i / 2), column 2 (t % 4) + i % 2.
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %warp = arith.divui %tx, %c32 : index
    %first = arith.muli %warp, %c16 : index
    %quad = arith.divui %tx, %c4 : index
    %in_warp = arith.remui %quad, %c8 : index
    %row = arith.addi %first, %in_warp : index
    %below = arith.addi %row, %c8 : index
    %in_quad = arith.remui %tx, %c4 : index
    %column = arith.muli %in_quad, %c2 : index
    %next = arith.addi %column, %c1 : index
    memref.store %r0, %x[%row, %column] : memref<64x8xf32>
    memref.store %r1, %x[%row, %next] : memref<64x8xf32>
    memref.store %r2, %x[%below, %column] : memref<64x8xf32>
    memref.store %r3, %x[%below, %next] : memref<64x8xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64x8xf32>
  return
}

// Sums that are scaled, and added to with no fence between.
// REDEFINE: %{function} = scaled_without_fence
// RUN: %{run} --check-prefix=UNFENCED
// UNFENCED: product without a fence: nvvm.wgmma.mma_async at
func.func @scaled_without_fence() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %bytes = arith.constant 4096 : i32
  %x = memref.alloc() : memref<64x8xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c128, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %t = arith.index_cast %tx : index to i32
    %c16_ = arith.constant 16 : index
    %dynamic = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %memory = memref.view %dynamic[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<2048xf16, #gpu.address_space<workgroup>>
    // Chunk c of row r of A is at 1024 c + 16 r: A[r, k] = r % 8 + k.
    %isRow = arith.cmpi ult, %tx, %c64 : index
    scf.if %isRow {
      scf.for %k = %c0 to %c16_ step %c1 {
        %in8 = arith.remui %tx, %c8 : index
        %sum = arith.addi %in8, %k : index
        %int = arith.index_cast %sum : index to i32
        %half = arith.sitofp %int : i32 to f16
        %chunk = arith.divui %k, %c8 : index
        %c512 = arith.constant 512 : index
        %0 = arith.muli %chunk, %c512 : index
        %1 = arith.muli %tx, %c8 : index
        %2 = arith.remui %k, %c8 : index
        %3 = arith.addi %0, %1 : index
        %4 = arith.addi %3, %2 : index
        memref.store %half, %memory[%4] : memref<2048xf16, #gpu.address_space<workgroup>>
      }
    }
    // Row k of B is at 2048 + 16 k: B[k, j] = k - j.
    scf.for %j = %c0 to %c8 step %c1 {
      %c1024 = arith.constant 1024 : index
      %isK = arith.cmpi ult, %tx, %c16_ : index
      scf.if %isK {
        %difference = arith.subi %tx, %j : index
        %int = arith.index_cast %difference : index to i32
        %half = arith.sitofp %int : i32 to f16
        %0 = arith.muli %tx, %c8 : index
        %1 = arith.addi %0, %j : index
        %2 = arith.addi %1, %c1024 : index
        memref.store %half, %memory[%2] : memref<2048xf16, #gpu.address_space<workgroup>>
      }
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %a = arith.constant 34363932672 : i64
    %b = arith.constant 34360262784 : i64
    %zero = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32)>
    nvvm.wgmma.fence.aligned
    %sums = nvvm.wgmma.mma_async %a, %b, %zero, #nvvm.shape<m = 64, n = 8, k = 16>, D[<f32>, #nvvm.wgmma_scale_out<zero>], A[<f16>, #nvvm.wgmma_scale_in<one>, <row>], B[<f16>, #nvvm.wgmma_scale_in<one>, <row>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    %s0 = llvm.extractvalue %sums[0] : !llvm.struct<(f32, f32, f32, f32)>
    %s1 = llvm.extractvalue %sums[1] : !llvm.struct<(f32, f32, f32, f32)>
    %s2 = llvm.extractvalue %sums[2] : !llvm.struct<(f32, f32, f32, f32)>
    %s3 = llvm.extractvalue %sums[3] : !llvm.struct<(f32, f32, f32, f32)>
    %two = arith.constant 2.0 : f32
    %scaled = arith.mulf %s0, %two : f32
    %again = llvm.insertvalue %scaled, %sums[0] : !llvm.struct<(f32, f32, f32, f32)>
    %more = nvvm.wgmma.mma_async %a, %b, %again, #nvvm.shape<m = 64, n = 8, k = 16>, D[<f32>, #nvvm.wgmma_scale_out<one>], A[<f16>, #nvvm.wgmma_scale_in<one>, <row>], B[<f16>, #nvvm.wgmma_scale_in<one>, <row>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    %m0 = llvm.extractvalue %more[0] : !llvm.struct<(f32, f32, f32, f32)>
    // Sum i of thread t is in row 16 (t / 32) + t / 4 % 8 + 8 (i / 2), column 2 (t % 4) + i % 2.
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %warp = arith.divui %tx, %c32 : index
    %first = arith.muli %warp, %c16 : index
    %quad = arith.divui %tx, %c4 : index
    %in_warp = arith.remui %quad, %c8 : index
    %row = arith.addi %first, %in_warp : index
    %below = arith.addi %row, %c8 : index
    %in_quad = arith.remui %tx, %c4 : index
    %column = arith.muli %in_quad, %c2 : index
    %next = arith.addi %column, %c1 : index
    memref.store %m0, %x[%row, %column] : memref<64x8xf32>
    memref.store %s1, %x[%row, %next] : memref<64x8xf32>
    memref.store %s2, %x[%below, %column] : memref<64x8xf32>
    memref.store %s3, %x[%below, %next] : memref<64x8xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64x8xf32>
  return
}

// As @ops, but the operands are written through the generic proxy and read through
// the asynchronous one, with a fence of another proxy between.
// REDEFINE: %{function} = no_proxy_fence
// RUN: %{run} --check-prefix=PROXY
// PROXY: asynchronous read of what was written, without a fence: nvvm.wgmma.mma_async at {{.*}}: reads 16 bytes at byte {{[0-9]+}} of shared memory, where thread {{[0-9]+}} of 128 wrote through the generic proxy (llvm.store at {{.*}}), with no fence.proxy.async between
func.func @no_proxy_fence() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %bytes = arith.constant 4096 : i32
  %x = memref.alloc() : memref<64x8xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c128, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %t = arith.index_cast %tx : index to i32
    %c16_ = arith.constant 16 : index
    %dynamic = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %memory = memref.view %dynamic[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<2048xf16, #gpu.address_space<workgroup>>
    // Chunk c of row r of A is at 1024 c + 16 r: A[r, k] = r % 8 + k.
    %isRow = arith.cmpi ult, %tx, %c64 : index
    scf.if %isRow {
      scf.for %k = %c0 to %c16_ step %c1 {
        %in8 = arith.remui %tx, %c8 : index
        %sum = arith.addi %in8, %k : index
        %int = arith.index_cast %sum : index to i32
        %half = arith.sitofp %int : i32 to f16
        %chunk = arith.divui %k, %c8 : index
        %c512 = arith.constant 512 : index
        %0 = arith.muli %chunk, %c512 : index
        %1 = arith.muli %tx, %c8 : index
        %2 = arith.remui %k, %c8 : index
        %3 = arith.addi %0, %1 : index
        %4 = arith.addi %3, %2 : index
        memref.store %half, %memory[%4] : memref<2048xf16, #gpu.address_space<workgroup>>
      }
    }
    // Row k of B is at 2048 + 16 k: B[k, j] = k - j.
    scf.for %j = %c0 to %c8 step %c1 {
      %c1024 = arith.constant 1024 : index
      %isK = arith.cmpi ult, %tx, %c16_ : index
      scf.if %isK {
        %difference = arith.subi %tx, %j : index
        %int = arith.index_cast %difference : index to i32
        %half = arith.sitofp %int : i32 to f16
        %0 = arith.muli %tx, %c8 : index
        %1 = arith.addi %0, %j : index
        %2 = arith.addi %1, %c1024 : index
        memref.store %half, %memory[%2] : memref<2048xf16, #gpu.address_space<workgroup>>
      }
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}
    gpu.barrier
    %a = arith.constant 34363932672 : i64
    %b = arith.constant 34360262784 : i64
    %zero = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32)>
    nvvm.wgmma.fence.aligned
    %sums = nvvm.wgmma.mma_async %a, %b, %zero, #nvvm.shape<m = 64, n = 8, k = 16>, D[<f32>, #nvvm.wgmma_scale_out<zero>], A[<f16>, #nvvm.wgmma_scale_in<one>, <row>], B[<f16>, #nvvm.wgmma_scale_in<one>, <row>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    %s0 = llvm.extractvalue %sums[0] : !llvm.struct<(f32, f32, f32, f32)>
    %s1 = llvm.extractvalue %sums[1] : !llvm.struct<(f32, f32, f32, f32)>
    %s2 = llvm.extractvalue %sums[2] : !llvm.struct<(f32, f32, f32, f32)>
    %s3 = llvm.extractvalue %sums[3] : !llvm.struct<(f32, f32, f32, f32)>
    // Sum i of thread t is in row 16 (t / 32) + t / 4 % 8 + 8 (i / 2), column 2 (t % 4) + i % 2.
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %warp = arith.divui %tx, %c32 : index
    %first = arith.muli %warp, %c16 : index
    %quad = arith.divui %tx, %c4 : index
    %in_warp = arith.remui %quad, %c8 : index
    %row = arith.addi %first, %in_warp : index
    %below = arith.addi %row, %c8 : index
    %in_quad = arith.remui %tx, %c4 : index
    %column = arith.muli %in_quad, %c2 : index
    %next = arith.addi %column, %c1 : index
    memref.store %s0, %x[%row, %column] : memref<64x8xf32>
    memref.store %s1, %x[%row, %next] : memref<64x8xf32>
    memref.store %s2, %x[%below, %column] : memref<64x8xf32>
    memref.store %s3, %x[%below, %next] : memref<64x8xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<64x8xf32>
  return
}
