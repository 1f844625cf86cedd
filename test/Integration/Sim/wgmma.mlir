// Products of warpgroups, as ops and as inline PTX, of operands in shared memory
// and in registers.

// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip, gpu-kernel-outlining, gpu.module(convert-nvgpu-to-nvvm, convert-vector-to-llvm, convert-scf-to-cf, expand-strided-metadata, lower-affine, convert-gpu-to-nvvm, canonicalize, reconcile-unrealized-casts), convert-kernels-to-sim, nm-attach-chip{chip=}, convert-vector-to-scf, convert-scf-to-cf, expand-strided-metadata, gpu-to-llvm, convert-cf-to-llvm, reconcile-unrealized-casts)" -o %t
// DEFINE: %{function} =
// DEFINE: %{run} = mlir-runner %t --entry-point-result=void -e %{function} --shared-libs=%nm_lib_dir/libnm_sim.so,%nm_lib_dir/libnm_runtime.so 2>&1 | FileCheck %s

// C = A B of 64 x 16 and 16 x 8, where A[i, k] = i % 8 + k and B[k, j] = k - j, so that
// C[i, j] = (i % 8) (120 - 16 j) + 1240 - 120 j. The first of three products is
// subtracted. B is transposed.
// REDEFINE: %{function} = ops
// RUN: %{run} --check-prefix=RIGHT --allow-empty
// RIGHT-NOT: error
func.func @ops() {
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
    %minus = nvvm.wgmma.mma_async %a, %b, %zero, #nvvm.shape<m = 64, n = 8, k = 16>, D[<f32>, #nvvm.wgmma_scale_out<zero>], A[<f16>, #nvvm.wgmma_scale_in<neg>, <row>], B[<f16>, #nvvm.wgmma_scale_in<one>, <row>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
    %none = nvvm.wgmma.mma_async %a, %b, %minus, #nvvm.shape<m = 64, n = 8, k = 16>, D[<f32>, #nvvm.wgmma_scale_out<one>], A[<f16>, #nvvm.wgmma_scale_in<one>, <row>], B[<f16>, #nvvm.wgmma_scale_in<one>, <row>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
    %sums = nvvm.wgmma.mma_async %a, %b, %none, #nvvm.shape<m = 64, n = 8, k = 16>, D[<f32>, #nvvm.wgmma_scale_out<one>], A[<f16>, #nvvm.wgmma_scale_in<one>, <row>], B[<f16>, #nvvm.wgmma_scale_in<one>, <row>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
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
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %got = memref.load %x[%i, %j] : memref<64x8xf32>
      %c120 = arith.constant 120 : index
      %c1240 = arith.constant 1240 : index
      %c16 = arith.constant 16 : index
      %in8 = arith.remui %i, %c8 : index
      %0 = arith.muli %j, %c16 : index
      %1 = arith.subi %c120, %0 : index
      %2 = arith.muli %in8, %1 : index
      %3 = arith.muli %j, %c120 : index
      %4 = arith.subi %c1240, %3 : index
      %5 = arith.addi %2, %4 : index
      %int = arith.index_cast %5 : index to i32
      %value = arith.sitofp %int : i32 to f32
      %same = arith.cmpf oeq, %got, %value : f32
      cf.assert %same, "error: wrong sum"
    }
  }
  memref.dealloc %x : memref<64x8xf32>
  return
}

// The same three times as inline PTX, in a loop whose first iteration does not add to
// the sums.
// REDEFINE: %{function} = in_asm
// RUN: %{run} --check-prefix=RIGHT --allow-empty
func.func @in_asm() {
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
    %false = arith.constant 0 : i32
    %true = arith.constant 1 : i32
    %f0 = arith.constant 0.0 : f32
    %c3 = arith.constant 3 : index
    %r0, %r1, %r2, %r3, %adds = scf.for %step = %c0 to %c3 step %c1 iter_args(%i0 = %f0, %i1 = %f0, %i2 = %f0, %i3 = %f0, %add = %false) -> (f32, f32, f32, f32, i32) {
      llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;", "" : () -> ()
      %sums = llvm.inline_asm has_side_effects asm_dialect = att "{\0A.reg .pred p;\0Asetp.ne.b32 p, $10, 0;\0Awgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $8, $9, p, $11, 1, 0, $12;\0A}\0A", "=f,=f,=f,=f,0,1,2,3,l,l,r,n,n" %i0, %i1, %i2, %i3, %a, %b, %add, %true, %true : (f32, f32, f32, f32, i64, i64, i32, i32, i32) -> !llvm.struct<(f32, f32, f32, f32)>
      llvm.inline_asm has_side_effects "wgmma.commit_group.sync.aligned;", "" : () -> ()
      %s0 = llvm.extractvalue %sums[0] : !llvm.struct<(f32, f32, f32, f32)>
      %s1 = llvm.extractvalue %sums[1] : !llvm.struct<(f32, f32, f32, f32)>
      %s2 = llvm.extractvalue %sums[2] : !llvm.struct<(f32, f32, f32, f32)>
      %s3 = llvm.extractvalue %sums[3] : !llvm.struct<(f32, f32, f32, f32)>
      scf.yield %s0, %s1, %s2, %s3, %true : f32, f32, f32, f32, i32
    }
    llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "" : () -> ()
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
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %got = memref.load %x[%i, %j] : memref<64x8xf32>
      %c120 = arith.constant 120 : index
      %c1240 = arith.constant 1240 : index
      %c16 = arith.constant 16 : index
      %in8 = arith.remui %i, %c8 : index
      %0 = arith.muli %j, %c16 : index
      %1 = arith.subi %c120, %0 : index
      %2 = arith.muli %in8, %1 : index
      %3 = arith.muli %j, %c120 : index
      %4 = arith.subi %c1240, %3 : index
      %6 = arith.addi %2, %4 : index
      %c3 = arith.constant 3 : index
      %5 = arith.muli %6, %c3 : index
      %int = arith.index_cast %5 : index to i32
      %value = arith.sitofp %int : i32 to f32
      %same = arith.cmpf oeq, %got, %value : f32
      cf.assert %same, "error: wrong sum"
    }
  }
  memref.dealloc %x : memref<64x8xf32>
  return
}

// Ones in registers, of which each row keeps the first two of four columns, times 32
// rows: C[i, j] = 2 + 232 - 16 j.
// REDEFINE: %{function} = sparse_registers
// RUN: %{run} --check-prefix=RIGHT --allow-empty
func.func @sparse_registers() {
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
    // Chunk c of column j of B is at 2048 + 128 c + 16 j: B[k, j] = k - j.
    scf.for %j = %c0 to %c8 step %c1 {
      %c1024 = arith.constant 1024 : index
      %c32_ = arith.constant 32 : index
      %isK = arith.cmpi ult, %tx, %c32_ : index
      scf.if %isK {
        %difference = arith.subi %tx, %j : index
        %int = arith.index_cast %difference : index to i32
        %half = arith.sitofp %int : i32 to f16
        %c64_ = arith.constant 64 : index
        %chunk = arith.divui %tx, %c8 : index
        %in8 = arith.remui %tx, %c8 : index
        %0 = arith.muli %chunk, %c64_ : index
        %1 = arith.muli %j, %c8 : index
        %2 = arith.addi %0, %1 : index
        %3 = arith.addi %2, %in8 : index
        %4 = arith.addi %3, %c1024 : index
        memref.store %half, %memory[%4] : memref<2048xf16, #gpu.address_space<workgroup>>
      }
    }
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    %a = arith.constant 34363932672 : i64
    %b = arith.constant 34360262784 : i64
    %ones = arith.constant 0x3c003c00 : i32
    %metadata = arith.constant 0x44444444 : i32
    %two = arith.constant 2.0 : f32
    nvvm.wgmma.fence.aligned
    %sums = llvm.inline_asm has_side_effects asm_dialect = att "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {$0, $1, $2, $3}, {$8, $8, $8, $8}, $9, $10, 1, 1, 1, 1, 0;", "=f,=f,=f,=f,0,1,2,3,r,l,r" %two, %two, %two, %two, %ones, %b, %metadata : (f32, f32, f32, f32, i32, i64, i32) -> !llvm.struct<(f32, f32, f32, f32)>
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
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %got = memref.load %x[%i, %j] : memref<64x8xf32>
      %c234 = arith.constant 234 : index
      %c16 = arith.constant 16 : index
      %0 = arith.muli %j, %c16 : index
      %1 = arith.subi %c234, %0 : index
      %int = arith.index_cast %1 : index to i32
      %value = arith.sitofp %int : i32 to f32
      %same = arith.cmpf oeq, %got, %value : f32
      cf.assert %same, "error: wrong sum"
    }
  }
  memref.dealloc %x : memref<64x8xf32>
  return
}
