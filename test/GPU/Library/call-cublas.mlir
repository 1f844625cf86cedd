// RUN: nm-opt %s --canonicalize --cse --nm-call-cublas --canonicalize | FileCheck %s
// RUN: nm-opt %s --nm-call-cublas=available=false | FileCheck %s --check-prefix=WITHOUT

// C is overwritten where it was filled with zeros before, and is not used in
// between, else added to.
// CHECK-DAG: func.func private @nmCublasMultiply(index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index, index)
// CHECK-DAG: func.func private @nmCublasTryMultiply({{.*}}) -> index
// CHECK-DAG: func.func private @nmCublasIsLoaded() -> index

// WITHOUT-LABEL: func.func @f32
// WITHOUT-NOT: nm.
// WITHOUT: return

// CHECK-LABEL: func.func @f32
// CHECK-SAME: %[[A:[^:]*]]: memref<?x64xf32>, %[[V:[^:]*]]: memref<64x96xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[C90:.*]] = arith.constant 90 : index
// CHECK-DAG: %[[C96:.*]] = arith.constant 96 : index
// CHECK: %[[CODE:.*]] = call @nmCublasIsLoaded()
// CHECK: %[[LOADED:.*]] = arith.cmpi ne, %[[CODE]], %[[C0]]
// CHECK: scf.if %[[LOADED]] {
// CHECK-NOT: linalg.fill
// CHECK: %[[M:.*]] = memref.dim %[[A]], %[[C0]]
// CHECK: %[[AP:.*]] = memref.extract_aligned_pointer_as_index %[[A]]
// CHECK: %[[BP:.*]] = memref.extract_aligned_pointer_as_index %[[V]]
// CHECK: call @nmCublasMultiply(%[[M]], %[[C90]], %[[C64]], %[[C1]], %[[AP]], %[[BP]], %{{.*}}, %[[C1]], %[[C1]], %[[C64]], %[[C96]], %[[C90]], %[[C0]], %[[C0]], %[[C0]], %[[C0]], %[[C0]])
// CHECK-NOT: nm.spmm
func.func @f32(%a: memref<?x64xf32>, %v: memref<64x96xf32>, %i: memref<64x3xi8>, %c: memref<?x90xf32>) {
  %zero = arith.constant 0.0 : f32
  %loaded = nm.has_cublas
  scf.if %loaded {
    linalg.fill ins(%zero : f32) outs(%c : memref<?x90xf32>)
    nm.spmm <1:1, block = 1x32> schedule #nm.cublas
      ins(%a, %v, %i : memref<?x64xf32>, memref<64x96xf32>, memref<64x3xi8>) outs(%c : memref<?x90xf32>)
  }
  return
}

// Batches, transposes, bytes and offsets; sums in i32.
// CHECK-LABEL: func.func @i8
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG: %[[C7:.*]] = arith.constant 7 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK: call @nmCublasMultiply(%[[C8]], %[[C16]], %[[C8]], %[[C2]], %{{.*}}, %{{.*}}, %{{.*}}, %[[C7]], %[[C6]], %[[C8]], %[[C16]], %[[C8]], %[[C64]], %[[C128]], %[[C1]], %[[C1]], %[[C1]])
func.func @i8(%a: memref<2x8x8xi8>, %v: memref<8x16xi8>, %i: memref<8x1xi8>, %c: memref<2x16x8xi32>) {
  nm.spmm <1:1, block = 1x16> transpose_a transpose_c schedule #nm.cublas
    ins(%a, %v, %i : memref<2x8x8xi8>, memref<8x16xi8>, memref<8x1xi8>) outs(%c : memref<2x16x8xi32>)
  return
}

// Weights with the k of each column side by side: B as its transpose, which the
// last argument says, with rows of k.
// CHECK-LABEL: func.func @i8_columns
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C12:.*]] = arith.constant 12 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK: call @nmCublasMultiply(%[[C4]], %[[C12]], %[[C16]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[C16]], %[[C16]], %[[C12]], {{.*}}, %[[C4]])
func.func @i8_columns(%a: memref<4x16xi8>, %v: memref<2x1x128xi8>, %i: memref<2x1x2xi8>, %c: memref<4x12xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%c : memref<4x12xi32>)
  nm.spmm <1:1, block = 1x8> packing #nm.packing<panel = 8, index_bits = 1, chunk_rows = 16, index_rows = 16> schedule #nm.cublas
    ins(%a, %v, %i : memref<4x16xi8>, memref<2x1x128xi8>, memref<2x1x2xi8>) outs(%c : memref<4x12xi32>)
  return
}

// The other branch also runs where cuBLAS refuses; each product asks by itself.
// CHECK-LABEL: func.func @two_branches
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: call @nmCublasIsLoaded()
// CHECK: %[[QUEUED:.*]] = scf.if %{{.*}} -> (index) {
// CHECK-NOT: linalg.fill
// CHECK: %[[DONE:.*]] = func.call @nmCublasTryMultiply(
// CHECK: scf.yield %[[DONE]] : index
// CHECK: } else {
// CHECK: scf.yield %[[C0]] : index
// CHECK: %[[LEFT:.*]] = arith.cmpi eq, %[[QUEUED]], %[[C0]] : index
// CHECK: scf.if %[[LEFT]] {
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: nm.spmm {{.*}} schedule #nm.loops
// CHECK-NEXT: }
// CHECK: call @nmCublasIsLoaded()
// CHECK: func.call @nmCublasTryMultiply(
// CHECK: nm.spmm {{.*}} schedule #nm.loops

// WITHOUT-LABEL: func.func @two_branches
// WITHOUT-NOT: schedule #nm.cublas
// WITHOUT-COUNT-2: schedule #nm.loops
func.func @two_branches(%a: memref<4x64xf32>, %v: memref<64x96xf32>, %i: memref<64x3xi8>, %c: memref<4x96xf32>, %d: memref<4x96xf32>) {
  %zero = arith.constant 0.0 : f32
  %loaded = nm.has_cublas
  scf.if %loaded {
    linalg.fill ins(%zero : f32) outs(%c : memref<4x96xf32>)
    nm.spmm <1:1, block = 1x32> schedule #nm.cublas
      ins(%a, %v, %i : memref<4x64xf32>, memref<64x96xf32>, memref<64x3xi8>) outs(%c : memref<4x96xf32>)
  } else {
    linalg.fill ins(%zero : f32) outs(%c : memref<4x96xf32>)
    nm.spmm <1:1, block = 1x32> schedule #nm.loops
      ins(%a, %v, %i : memref<4x64xf32>, memref<64x96xf32>, memref<64x3xi8>) outs(%c : memref<4x96xf32>)
  }
  %again = nm.has_cublas
  scf.if %again {
    nm.spmm <1:1, block = 1x32> schedule #nm.cublas
      ins(%a, %v, %i : memref<4x64xf32>, memref<64x96xf32>, memref<64x3xi8>) outs(%d : memref<4x96xf32>)
  } else {
    nm.spmm <1:1, block = 1x32> schedule #nm.loops
      ins(%a, %v, %i : memref<4x64xf32>, memref<64x96xf32>, memref<64x3xi8>) outs(%d : memref<4x96xf32>)
  }
  return
}

// CHECK-LABEL: func.func @fill_in_front
// CHECK: memref.alloc() : memref<4x96xf32>
// CHECK-NOT: linalg.fill
// CHECK: memref.store %{{.*}} : memref<8xf32>
// CHECK: call @nmCublasMultiply(
func.func @fill_in_front(%a: memref<4x64xf32>, %v: memref<64x96xf32>, %i: memref<64x3xi8>, %other: memref<8xf32>) -> memref<4x96xf32> {
  %first = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<4x96xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x96xf32>)
  memref.store %zero, %other[%first] : memref<8xf32>
  nm.spmm <1:1, block = 1x32> schedule #nm.cublas
    ins(%a, %v, %i : memref<4x64xf32>, memref<64x96xf32>, memref<64x3xi8>) outs(%c : memref<4x96xf32>)
  return %c : memref<4x96xf32>
}

// An argument may be the memory that is written in between.
// CHECK-LABEL: func.func @fill_of_an_argument
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : memref<4x96xf32>)
// CHECK: memref.store %{{.*}} : memref<8xf32>
// CHECK: call @nmCublasMultiply(
func.func @fill_of_an_argument(%a: memref<4x64xf32>, %v: memref<64x96xf32>, %i: memref<64x3xi8>, %c: memref<4x96xf32>, %other: memref<8xf32>) {
  %first = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4x96xf32>)
  memref.store %zero, %other[%first] : memref<8xf32>
  nm.spmm <1:1, block = 1x32> schedule #nm.cublas
    ins(%a, %v, %i : memref<4x64xf32>, memref<64x96xf32>, memref<64x3xi8>) outs(%c : memref<4x96xf32>)
  return
}

// TensorFloat-32 is allowed only where the product says so.
// CHECK-LABEL: func.func @arithmetic
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK: call @nmCublasMultiply({{.*}}, %[[C1]])
// CHECK: call @nmCublasMultiply({{.*}}, %[[C3]])
// CHECK: call @nmCublasMultiply({{.*}}, %[[C1]])
func.func @arithmetic(%a: memref<8x64xf32>, %v: memref<64x96xf32>, %i: memref<64x3xi8>, %c: memref<8x90xf32>) {
  nm.spmm <1:1, block = 1x32> schedule #nm.cublas arithmetic <ieee>
    ins(%a, %v, %i : memref<8x64xf32>, memref<64x96xf32>, memref<64x3xi8>) outs(%c : memref<8x90xf32>)
  nm.spmm <1:1, block = 1x32> schedule #nm.cublas arithmetic <tf32>
    ins(%a, %v, %i : memref<8x64xf32>, memref<64x96xf32>, memref<64x3xi8>) outs(%c : memref<8x90xf32>)
  nm.spmm <1:1, block = 1x32> schedule #nm.cublas
    ins(%a, %v, %i : memref<8x64xf32>, memref<64x96xf32>, memref<64x3xi8>) outs(%c : memref<8x90xf32>)
  return
}

// Fast accumulation is bit 3, and a transposed B bit 2.
// CHECK-LABEL: func.func @fast_accum
// CHECK-DAG: %[[C13:.*]] = arith.constant 13 : index
// CHECK: call @nmCublas{{.*}}({{.*}}, %[[C13]])
func.func @fast_accum(%a: memref<8x16xf8E4M3FN>, %v: memref<6x1x128xf8E4M3FN>, %i: memref<6x1x2xi8>, %c: memref<8x48xf32>) {
  nm.spmm <1:1, block = 1x8> packing #nm.packing<panel = 8, index_bits = 1, chunk_rows = 16, index_rows = 16>
    schedule #nm.cublas arithmetic <fast_accum>
    ins(%a, %v, %i : memref<8x16xf8E4M3FN>, memref<6x1x128xf8E4M3FN>, memref<6x1x2xi8>) outs(%c : memref<8x48xf32>)
  return
}

// cuBLASLt's epilogue of a bias and ReLU is number 6. Where it refuses, the other
// branch runs.
// CHECK-LABEL: func.func @epilogue
// CHECK-SAME: memref<8x64xf32>, %{{.*}}: memref<64x96xf32>, %{{.*}}: memref<64x3xi8>, %[[BIAS:.*]]: memref<96xf32>
// CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
// CHECK: %[[BP:.*]] = memref.extract_aligned_pointer_as_index %[[BIAS]]
// CHECK: %[[CODE:.*]] = func.call @nmCublasTryEpilogue({{.*}}, %[[C6]], %[[BP]])
// CHECK: scf.yield %[[CODE]]
// CHECK: linalg.fill
func.func @epilogue(%a: memref<8x64xf32>, %v: memref<64x96xf32>, %i: memref<64x3xi8>, %bias: memref<96xf32>, %c: memref<8x96xf32>) {
  %zero = arith.constant 0.0 : f32
  %loaded = nm.has_cublas
  scf.if %loaded {
    nm.spmm <1:1, block = 1x32> schedule #nm.cublas
      ins(%a, %v, %i : memref<8x64xf32>, memref<64x96xf32>, memref<64x3xi8>) outs(%c : memref<8x96xf32>)
      epilogue ins(%bias : memref<96xf32>) maps [affine_map<(m, n) -> (n)>] {
      ^bb0(%sum: f32, %b: f32):
        %none = arith.constant 0.0 : f32
        %x = arith.addf %sum, %b : f32
        %y = arith.maximumf %x, %none : f32
        nm.yield %y : f32
      }
  } else {
    linalg.fill ins(%zero : f32) outs(%c : memref<8x96xf32>)
  }
  return
}

// A bias that is not contiguous is none that the library could add.
// CHECK-LABEL: func.func @strided_bias
// CHECK-NOT: nmCublasTry
// CHECK: linalg.fill
// CHECK: return
func.func @strided_bias(%a: memref<8x64xf32>, %v: memref<64x96xf32>, %i: memref<64x3xi8>, %bias: memref<96xf32, strided<[2]>>, %c: memref<8x96xf32>) {
  %zero = arith.constant 0.0 : f32
  %loaded = nm.has_cublas
  scf.if %loaded {
    nm.spmm <1:1, block = 1x32> schedule #nm.cublas
      ins(%a, %v, %i : memref<8x64xf32>, memref<64x96xf32>, memref<64x3xi8>) outs(%c : memref<8x96xf32>)
      epilogue ins(%bias : memref<96xf32, strided<[2]>>) maps [affine_map<(m, n) -> (n)>] {
      ^bb0(%sum: f32, %b: f32):
        %x = arith.addf %sum, %b : f32
        nm.yield %x : f32
      }
  } else {
    linalg.fill ins(%zero : f32) outs(%c : memref<8x96xf32>)
  }
  return
}

// Of an A and a C whose elements of a row are apart, the library has copies.
// CHECK-LABEL: func @apart
// CHECK-SAME: %[[A:.*]]: memref<8x4xf32, strided<[8, 2]>>, {{.*}}, %[[C:[^:]*]]: memref<8x8xf32, strided<[16, 2]>>
// CHECK: %[[ROWS_OF_A:.*]] = memref.alloc() : memref<8x4xf32>
// CHECK: memref.copy %[[A]], %[[ROWS_OF_A]]
// CHECK: %[[ROWS_OF_C:.*]] = memref.alloc() : memref<8x8xf32>
// CHECK: memref.copy %[[C]], %[[ROWS_OF_C]]
// CHECK: call @nmCublasMultiply
// CHECK-DAG: memref.copy %[[ROWS_OF_C]], %[[C]]
// CHECK-DAG: memref.dealloc %[[ROWS_OF_C]]
// CHECK-DAG: memref.dealloc %[[ROWS_OF_A]]
func.func @apart(%a: memref<8x4xf32, strided<[8, 2]>>, %v: memref<4x8xf32>, %i: memref<4x1xi8>, %c: memref<8x8xf32, strided<[16, 2]>>) {
  nm.spmm <1:1, block = 1x8> schedule #nm.cublas
    ins(%a, %v, %i : memref<8x4xf32, strided<[8, 2]>>, memref<4x8xf32>, memref<4x1xi8>) outs(%c : memref<8x8xf32, strided<[16, 2]>>)
  return
}
