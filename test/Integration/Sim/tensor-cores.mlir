// Products on tensor cores whose operands come by ldmatrix, and leave by
// stmatrix; and the faults that they can have.

// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip, gpu-kernel-outlining, gpu.module(convert-nvgpu-to-nvvm, convert-vector-to-llvm, convert-scf-to-cf, expand-strided-metadata, lower-affine, convert-gpu-to-nvvm, canonicalize, reconcile-unrealized-casts), convert-kernels-to-sim, nm-attach-chip{chip=}, convert-vector-to-scf, convert-scf-to-cf, expand-strided-metadata, gpu-to-llvm, convert-cf-to-llvm, reconcile-unrealized-casts)" -o %t
// DEFINE: %{function} =
// DEFINE: %{run} = mlir-runner %t --entry-point-result=void -e %{function} --shared-libs=%nm_lib_dir/libnm_sim.so,%nm_lib_dir/libnm_runtime.so 2>&1 | FileCheck %s

// The transpose of C = A B, which are 16 x 16 and 16 x 8, where A[i, k] = i + k
// and B[k, j] = k - j, so that C[i, j] = 120 i + 1240 - 16 i j - 120 j. The loads
// of B and the stores of C transpose.
// REDEFINE: %{function} = dense
// RUN: %{run} --check-prefix=RIGHT --allow-empty
// RIGHT-NOT: error
func.func @dense() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %bytes = arith.constant 1024 : i32
  %x = memref.alloc() : memref<8x16xf16>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %c512 = arith.constant 512 : index
    %c768 = arith.constant 768 : index
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %a = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<16x16xf16, #gpu.address_space<workgroup>>
    %b = memref.view %memory[%c512][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<16x8xf16, #gpu.address_space<workgroup>>
    %c = memref.view %memory[%c768][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<8x16xf16, #gpu.address_space<workgroup>>
    // Lane l writes half a row of A, and if it is even, a row of B.
    %row = arith.remui %tx, %c16 : index
    %half = arith.divui %tx, %c16 : index
    %first = arith.muli %half, %c8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %k = arith.addi %first, %i : index
      %sum = arith.addi %row, %k : index
      %int = arith.index_cast %sum : index to i32
      %value = arith.sitofp %int : i32 to f16
      memref.store %value, %a[%row, %k] : memref<16x16xf16, #gpu.address_space<workgroup>>
      %isFirst = arith.cmpi eq, %half, %c0 : index
      scf.if %isFirst {
        %difference = arith.subi %row, %i : index
        %bInt = arith.index_cast %difference : index to i32
        %bValue = arith.sitofp %bInt : i32 to f16
        memref.store %bValue, %b[%row, %i] : memref<16x8xf16, #gpu.address_space<workgroup>>
      }
    }
    gpu.barrier
    %fa = nvgpu.ldmatrix %a[%row, %first] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
    %fb = nvgpu.ldmatrix %b[%row, %c0] {numTiles = 2 : i32, transpose = true} : memref<16x8xf16, #gpu.address_space<workgroup>> -> vector<2x2xf16>
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %fc = nvgpu.mma.sync (%fa, %fb, %zero) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %halves = arith.truncf %fc : vector<2x2xf32> to vector<2x2xf16>
    %upper = vector.extract %halves[0] : vector<2xf16> from vector<2x2xf16>
    %lower = vector.extract %halves[1] : vector<2xf16> from vector<2x2xf16>
    %word0 = llvm.bitcast %upper : vector<2xf16> to i32
    %word1 = llvm.bitcast %lower : vector<2xf16> to i32
    // Matrix 0 is rows 0 to 7 of C, columns 0 to 7 of its transpose.
    %cRow = arith.remui %tx, %c8 : index
    %matrix = arith.divui %row, %c8 : index
    %cColumn = arith.muli %matrix, %c8 : index
    %base = memref.extract_aligned_pointer_as_index %c : memref<8x16xf16, #gpu.address_space<workgroup>> -> index
    %cLine = arith.muli %cRow, %c16 : index
    %element = arith.addi %cLine, %cColumn : index
    %c2 = arith.constant 2 : index
    %byte = arith.muli %element, %c2 : index
    %address = arith.addi %base, %byte : index
    %number = arith.index_cast %address : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr<3>
    nvvm.stmatrix %pointer, %word0, %word1 {layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32, i32
    gpu.barrier
    scf.for %i = %c0 to %c8 step %c1 {
      %isFirst = arith.cmpi eq, %half, %c0 : index
      scf.if %isFirst {
        %value = memref.load %c[%i, %row] : memref<8x16xf16, #gpu.address_space<workgroup>>
        memref.store %value, %x[%i, %row] : memref<8x16xf16>
      }
    }
    gpu.terminator
  }
  %c120 = arith.constant 120 : index
  %c1240 = arith.constant 1240 : index
  scf.for %j = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c16 step %c1 {
      %got = memref.load %x[%j, %i] : memref<8x16xf16>
      %gotInt = arith.fptosi %got : f16 to i32
      %0 = arith.muli %i, %c120 : index
      %1 = arith.addi %0, %c1240 : index
      %2 = arith.muli %i, %j : index
      %3 = arith.muli %2, %c16 : index
      %4 = arith.subi %1, %3 : index
      %5 = arith.muli %j, %c120 : index
      %6 = arith.subi %4, %5 : index
      %expected = arith.index_cast %6 : index to i32
      // f16 has even numbers only from 2048 on; all of these are multiples of 8.
      %same = arith.cmpi eq, %gotInt, %expected : i32
      cf.assert %same, "error: wrong sum"
    }
  }
  memref.dealloc %x : memref<8x16xf16>
  return
}

// Ones of e4m3 times halves of e5m2, which have the same bits, 32 of 64 kept, in
// inline PTX whose sums are both read and written.
// REDEFINE: %{function} = sparse_bytes
// RUN: %{run} --check-prefix=RIGHT --allow-empty
func.func @sparse_bytes() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %bytes = arith.constant 512 : i32
  %x = memref.alloc() : memref<32xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %ones = arith.constant 0x38383838 : i32
    %metadata = arith.constant 0x44444444 : i32
    %start = arith.constant 0.5 : f32
    %sums = llvm.inline_asm has_side_effects "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32 {$0, $1, $2, $3}, {$4, $4, $4, $4}, {$4, $4, $4, $4}, {$0, $1, $2, $3}, $5, 0;", "=f,=f,=f,=f,r,r,0,1,2,3" %ones, %metadata, %start, %start, %start, %start : (i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %sum = llvm.extractvalue %sums[3] : !llvm.struct<(f32, f32, f32, f32)>
    memref.store %sum, %x[%tx] : memref<32xf32>
    gpu.terminator
  }
  %expected = arith.constant 16.5 : f32
  scf.for %i = %c0 to %c32 step %c1 {
    %got = memref.load %x[%i] : memref<32xf32>
    %same = arith.cmpf oeq, %got, %expected : f32
    cf.assert %same, "error: wrong sum"
  }
  memref.dealloc %x : memref<32xf32>
  return
}

// As @sparse_bytes, but that metadata names columns in the wrong order.
// REDEFINE: %{function} = unordered_metadata
// RUN: %{run} --check-prefix=METADATA
// METADATA: operand out of range: mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32 at {{.*}}: block (0, 0, 0), thread (0, 0, 0): expected metadata to name two columns of each four, the lower one first
func.func @unordered_metadata() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %bytes = arith.constant 512 : i32
  %x = memref.alloc() : memref<32xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %ones = arith.constant 0x38383838 : i32
    %metadata = arith.constant 0x44444441 : i32
    %start = arith.constant 0.5 : f32
    %sums = llvm.inline_asm has_side_effects "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32 {$0, $1, $2, $3}, {$4, $4, $4, $4}, {$4, $4, $4, $4}, {$0, $1, $2, $3}, $5, 0;", "=f,=f,=f,=f,r,r,0,1,2,3" %ones, %metadata, %start, %start, %start, %start : (i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %sum = llvm.extractvalue %sums[3] : !llvm.struct<(f32, f32, f32, f32)>
    memref.store %sum, %x[%tx] : memref<32xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<32xf32>
  return
}

// REDEFINE: %{function} = sparse_halves
// RUN: %{run} --check-prefix=RIGHT --allow-empty
func.func @sparse_halves() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %bytes = arith.constant 512 : i32
  %x = memref.alloc() : memref<32xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %a = arith.constant dense<2.0> : vector<4x2xf16>
    %b = arith.constant dense<3.0> : vector<4x2xf16>
    %c = arith.constant dense<1.0> : vector<2x2xf32>
    %metadata = arith.constant dense<0x4444> : vector<2xi16>
    %sums = nvgpu.mma.sp.sync(%a, %b, %c) metadata(%metadata) {mmaShape = [16, 8, 32]} : (vector<4x2xf16>, vector<4x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %sum = vector.extract %sums[1, 1] : f32 from vector<2x2xf32>
    memref.store %sum, %x[%tx] : memref<32xf32>
    gpu.terminator
  }
  %expected = arith.constant 97.0 : f32
  scf.for %i = %c0 to %c32 step %c1 {
    %got = memref.load %x[%i] : memref<32xf32>
    %same = arith.cmpf oeq, %got, %expected : f32
    cf.assert %same, "error: wrong sum"
  }
  memref.dealloc %x : memref<32xf32>
  return
}

// The last of the matrices that 512 bytes hold. Its 8 rows are those that the
// first 8 lanes name; the others may point anywhere.
// REDEFINE: %{function} = last_matrix
// RUN: %{run} --check-prefix=RIGHT --allow-empty
func.func @last_matrix() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %bytes = arith.constant 512 : i32
  %x = memref.alloc() : memref<32xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %c16 = arith.constant 16 : i64
    %base = arith.constant 384 : i64
    %lane = arith.index_cast %tx : index to i64
    %byte = arith.muli %lane, %c16 : i64
    %address = arith.addi %byte, %base : i64
    %pointer = llvm.inttoptr %address : i64 to !llvm.ptr<3>
    %word = arith.constant 7 : i32
    nvvm.stmatrix %pointer, %word {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32
    gpu.terminator
  }
  memref.dealloc %x : memref<32xf32>
  return
}

// As @last_matrix, but one row further.
// REDEFINE: %{function} = matrix_beyond
// RUN: %{run} --check-prefix=BEYOND
// BEYOND: error: simulated kernel matrix_beyond_kernel: 1 fault
// BEYOND: shared access out of bounds: nvvm.stmatrix at {{.*}}: block (0, 0, 0), thread (7, 0, 0): writes 16 bytes at byte 512 of shared memory, which has 512
func.func @matrix_beyond() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %bytes = arith.constant 512 : i32
  %x = memref.alloc() : memref<32xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %c16 = arith.constant 16 : i64
    %base = arith.constant 400 : i64
    %lane = arith.index_cast %tx : index to i64
    %byte = arith.muli %lane, %c16 : i64
    %address = arith.addi %byte, %base : i64
    %pointer = llvm.inttoptr %address : i64 to !llvm.ptr<3>
    %word = arith.constant 7 : i32
    nvvm.stmatrix %pointer, %word {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32
    gpu.terminator
  }
  memref.dealloc %x : memref<32xf32>
  return
}

// What a matrix's lanes have written, other lanes read with no barrier between.
// REDEFINE: %{function} = unordered_matrix
// RUN: %{run} --check-prefix=UNORDERED
// UNORDERED: race on shared memory: llvm.load at {{.*}}, where thread {{[0-7]}} of 32 writes (nvvm.stmatrix at
func.func @unordered_matrix() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %bytes = arith.constant 512 : i32
  %x = memref.alloc() : memref<32xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) dynamic_shared_memory_size %bytes {
    %c16 = arith.constant 16 : i64
    %base = arith.constant 0 : i64
    %lane = arith.index_cast %tx : index to i64
    %byte = arith.muli %lane, %c16 : i64
    %address = arith.addi %byte, %base : i64
    %pointer = llvm.inttoptr %address : i64 to !llvm.ptr<3>
    %word = arith.constant 7 : i32
    nvvm.stmatrix %pointer, %word {layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : !llvm.ptr<3>, i32
    %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %values = memref.view %memory[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
    %value = memref.load %values[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %value, %x[%tx] : memref<32xf32>
    gpu.terminator
  }
  memref.dealloc %x : memref<32xf32>
  return
}
