// Unstructured weights on the simulator: what is loaded is dense.

// RUN: nm-run %s --target=sim:sm_90a --random --check --function=loaded 2>&1 | FileCheck %s
// RUN: nm-run %s --target=sim:sm_90a --random --check --function=blocks 2>&1 | FileCheck %s
// RUN: nm-run %s --target=cpu --random --check --function=blocks 2>&1 | FileCheck %s

// CHECK: check: result 0 of @{{.*}}: passed
func.func @loaded(%a: tensor<7x200xf16>, %b: tensor<200x40xf16, #nm.encoding<unstructured, kept = 900>>) -> tensor<7x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<7x40xf32>) -> tensor<7x40xf32>
  %p = linalg.matmul ins(%a, %b : tensor<7x200xf16>, tensor<200x40xf16, #nm.encoding<unstructured, kept = 900>>) outs(%f : tensor<7x40xf32>) -> tensor<7x40xf32>
  return %p : tensor<7x40xf32>
}

// In blocks, with edges that cut some.
func.func @blocks(%a: tensor<7x100xf16>, %b: tensor<100x44xf16, #nm.encoding<unstructured, kept = 960, block = 8x8>>) -> tensor<7x44xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x44xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<7x44xf32>) -> tensor<7x44xf32>
  %p = linalg.matmul ins(%a, %b : tensor<7x100xf16>, tensor<100x44xf16, #nm.encoding<unstructured, kept = 960, block = 8x8>>) outs(%f : tensor<7x44xf32>) -> tensor<7x44xf32>
  return %p : tensor<7x44xf32>
}
