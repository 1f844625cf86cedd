// Unstructured weights on the simulator: what is loaded is dense.

// RUN: nm-run %s --target=sim:sm_90a --random --check 2>&1 | FileCheck %s

// CHECK: check: result 0 of @loaded: passed
func.func @loaded(%a: tensor<7x200xf16>, %b: tensor<200x40xf16, #nm.encoding<unstructured, kept = 900>>) -> tensor<7x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<7x40xf32>) -> tensor<7x40xf32>
  %p = linalg.matmul ins(%a, %b : tensor<7x200xf16>, tensor<200x40xf16, #nm.encoding<unstructured, kept = 900>>) outs(%f : tensor<7x40xf32>) -> tensor<7x40xf32>
  return %p : tensor<7x40xf32>
}
