// RUN: nm-opt %s --nm-to-cpu="threads=2 features=+avx512f" 2>&1 | FileCheck %s
// RUN: nm-opt %s --nm-to-cpu="schedule=loops" 2>&1 | FileCheck %s --check-prefix=LOOPS
// RUN: nm-opt %s --nm-to-cpu="dense-fallback=false schedule='vector<block = [32, 64, 128], thread = [16, 8]>'" 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: not nm-opt %s --nm-to-cpu="schedule=simt" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// One remark for each product, also for the dense one, which is a product with
// N = M.
// CHECK: remark: nm.spmm <2:4> {{.*}} strategy vector
// CHECK: remark: nm.spmm <1:1, block = 1x40> {{.*}} strategy vector
// LOOPS: remark: nm.spmm <2:4> {{.*}} strategy loops
// TILES: dense was not considered; schedule #nm.vector<block = [32, 64, 128], thread = [16, 8],
// UNKNOWN: error: expected a schedule of strategy vector, amx or loops on the cpu, but got #nm.simt

// Weights are packed by a function of their own; both functions have a C entry;
// the caller brings the result's memory.
// CHECK-DAG: llvm.func @nmParallelFor(i64, !llvm.ptr, !llvm.ptr)
// CHECK-DAG: llvm.func @_mlir_ciface_f.pack(
// CHECK-DAG: llvm.func @_mlir_ciface_f(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr)
// CHECK-NOT: memrefCopy
// CHECK-NOT: unrealized_conversion_cast
func.func @f(%a: tensor<?x256xf32>, %w: tensor<256x512xf32, #nm.encoding<2:4>>, %d: tensor<512x40xf32>) -> tensor<?x40xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x256xf32>
  %e = tensor.empty(%m) : tensor<?x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x512xf32>) -> tensor<?x512xf32>
  %h = linalg.matmul ins(%a, %w : tensor<?x256xf32>, tensor<256x512xf32, #nm.encoding<2:4>>) outs(%z : tensor<?x512xf32>) -> tensor<?x512xf32>
  %t = linalg.tanh ins(%h : tensor<?x512xf32>) outs(%e : tensor<?x512xf32>) -> tensor<?x512xf32>
  %e2 = tensor.empty(%m) : tensor<?x40xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x40xf32>) -> tensor<?x40xf32>
  %r = linalg.matmul ins(%t, %d : tensor<?x512xf32>, tensor<512x40xf32>) outs(%z2 : tensor<?x40xf32>) -> tensor<?x40xf32>
  return %r : tensor<?x40xf32>
}
