// RUN: nm-opt %s --nm-bufferized-to-llvm | FileCheck %s
// RUN: nm-opt %s --nm-bufferized-to-llvm | mlir-translate --mlir-to-llvmir \
// RUN:   | FileCheck %s --check-prefix=IR

// Nothing is called but the runtime, libc and libm.
// IR-DAG:    declare {{.*}}double @erf(double)
// IR-DAG:    declare {{.*}}@_mlir_memref_to_llvm_free(ptr)
// IR-DAG:    declare {{.*}}@_mlir_memref_to_llvm_alloc(i64)
// IR-DAG:    declare {{.*}}@nmParallelFor(i64, ptr, ptr)
// IR-NOT:    declare {{[^@]*}}@{{[a-km-z]}}

// CHECK-LABEL: llvm.func @elementwise(
// CHECK-NOT:     unrealized_conversion_cast
// CHECK:       llvm.func @_mlir_ciface_elementwise(
// Low precision is rounded by integer arithmetic, and f32 functions are
// polynomials.
func.func @elementwise(%a: memref<?x8xbf16>, %b: memref<?x8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<?x8xbf16>) outs(%b : memref<?x8xf32>) {
  ^bb0(%x: bf16, %y: f32):
    %0 = arith.addf %x, %x : bf16
    %1 = math.erf %0 : bf16
    %2 = arith.extf %1 : bf16 to f32
    linalg.yield %2 : f32
  }
  return
}

// CHECK-LABEL: llvm.func @reference(
// CHECK:         llvm.call @erf
func.func @reference(%c: memref<4xf64>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%c : memref<4xf64>) {
  ^bb0(%x: f64):
    %0 = math.erf %x : f64
    linalg.yield %0 : f64
  }
  return
}

// CHECK-LABEL: llvm.func @parallel(
// CHECK:         llvm.call @nmParallelFor(
// CHECK-LABEL: llvm.func @parallel.forall(
func.func @parallel(%b: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %b, %c0 : memref<?x8xf32>
  scf.forall (%i) = (0) to (%m) step (4) {
    %r = affine.min affine_map<(i)[m] -> (m - i, 4)>(%i)[%m]
    %tile = memref.subview %b[%i, 1] [%r, 4] [1, 1]
      : memref<?x8xf32> to memref<?x4xf32, strided<[8, 1], offset: ?>>
    %copy = memref.alloc(%r) : memref<?x4xf32>
    memref.copy %tile, %copy
      : memref<?x4xf32, strided<[8, 1], offset: ?>> to memref<?x4xf32>
    %v = vector.transfer_read %copy[%c0, %c0], %zero {in_bounds = [false, true]}
      : memref<?x4xf32>, vector<4x4xf32>
    %t = vector.transpose %v, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
    vector.transfer_write %t, %tile[%c0, %c0] {in_bounds = [false, true]}
      : vector<4x4xf32>, memref<?x4xf32, strided<[8, 1], offset: ?>>
    memref.dealloc %copy : memref<?x4xf32>
  }
  return
}
