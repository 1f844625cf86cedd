// RUN: nm-compile %s --target=sim:sm_90a --emit=nvvm -o - | FileCheck %s
// RUN: nm-run %s --target=sim:sm_90a --random --dynamic-size=66 --check | FileCheck %s --check-prefix=RAN
// RUN: nm-run %s --target=sim:sm_90a --random --dynamic-size=2 --compile-options="schedule=gemv" --check | FileCheck %s --check-prefix=RAN
// RUN: nm-run %s --target=sim:sm_90a --random --dynamic-size=16 --compile-options="schedule=mma_sp prefetch-weights=3000000" --check | FileCheck %s --check-prefix=RAN
// RUN: not nm-compile %s --target=sim:sm_90a --prefetch-weights=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not nm-compile %s --prefetch-weights=4096 2>&1 | FileCheck %s --check-prefix=CPU

// Kernels that prefetch the next product's weights, whose bounds the simulator
// checks, by threads of one role and of several.

// RAN: check: result 0 of @{{.*}}: passed
// NEGATIVE: expected prefetch-weights between 0 and 1073741824, but got '-1'
// CPU: expected the target cuda or sim with prefetch-weights, but got cpu
// CHECK-COUNT-4: nvvm.cp.async.bulk.prefetch
// CHECK-NOT: nvvm.cp.async.bulk.prefetch
!weight = tensor<1408x1536xf16, #nm.encoding<2:4>>
!back = tensor<1536x1408xf16, #nm.encoding<2:4>>
func.func @chain(%x: tensor<?x1408xf16>, %b: !weight, %c: !back) -> tensor<?x1536xf16> {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1408xf16>
  %e = tensor.empty(%m) : tensor<?x1536xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<?x1536xf16>) -> tensor<?x1536xf16>
  %eb = tensor.empty(%m) : tensor<?x1408xf16>
  %fb = linalg.fill ins(%zero : f16) outs(%eb : tensor<?x1408xf16>) -> tensor<?x1408xf16>
  %0 = linalg.matmul ins(%x, %b : tensor<?x1408xf16>, !weight) outs(%f : tensor<?x1536xf16>) -> tensor<?x1536xf16>
  %1 = linalg.matmul ins(%0, %c : tensor<?x1536xf16>, !back) outs(%fb : tensor<?x1408xf16>) -> tensor<?x1408xf16>
  %2 = linalg.matmul ins(%1, %b : tensor<?x1408xf16>, !weight) outs(%f : tensor<?x1536xf16>) -> tensor<?x1536xf16>
  return %2 : tensor<?x1536xf16>
}
