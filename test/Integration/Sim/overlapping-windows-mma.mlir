// Windows as groups of four rows, of which neighbours share two, by strategy
// mma_sp: an odd M, operands of 8 bits, and weights that are constant.

// DEFINE: %{function} =
// DEFINE: %{run} = nm-run %s --target=sim:sm_90a --random --check --function=%{function} --compile-options="schedule=mma_sp"

// CHECK: check: result 0 of @{{.*}}: passed

// REDEFINE: %{function} = odd_window
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = bytes
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = bytes_of_odd_k
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = constant
// RUN: %{run} | FileCheck %s

// Two windows of 2:3 are one of 4:6.
func.func @odd_window(%a: tensor<40x75xf16>, %b: tensor<75x40xf16, #nm.encoding<2:3>>, %c: tensor<40x40xf16>) -> tensor<40x40xf16> {
  %p = linalg.matmul ins(%a, %b : tensor<40x75xf16>, tensor<75x40xf16, #nm.encoding<2:3>>) outs(%c : tensor<40x40xf16>) -> tensor<40x40xf16>
  return %p : tensor<40x40xf16>
}

func.func @bytes(%a: tensor<40x76xi8>, %b: tensor<76x48xi8, #nm.encoding<4:6>>, %c: tensor<40x48xi32>) -> tensor<40x48xi32> {
  %p = linalg.matmul ins(%a, %b : tensor<40x76xi8>, tensor<76x48xi8, #nm.encoding<4:6>>) outs(%c : tensor<40x48xi32>) -> tensor<40x48xi32>
  return %p : tensor<40x48xi32>
}

func.func @bytes_of_odd_k(%a: tensor<43x77xi8>, %b: tensor<77x48xi8, #nm.encoding<4:6>>, %c: tensor<43x48xi32>) -> tensor<43x48xi32> {
  %p = linalg.matmul ins(%a, %b : tensor<43x77xi8>, tensor<77x48xi8, #nm.encoding<4:6>>) outs(%c : tensor<43x48xi32>) -> tensor<43x48xi32>
  return %p : tensor<43x48xi32>
}

func.func @constant(%a: tensor<40x12xf16>, %c: tensor<40x2xf32>) -> tensor<40x2xf32> {
  %b = arith.constant dense<[[1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [-1.0, 4.0], [0.5, -2.0], [0.0, 1.5],
                             [0.0, 1.0], [3.0, 1.0], [0.0, 0.0], [1.0, 2.0], [2.0, 0.0], [5.0, 2.5]]> : tensor<12x2xf16, #nm.encoding<4:6>>
  %p = linalg.matmul ins(%a, %b : tensor<40x12xf16>, tensor<12x2xf16, #nm.encoding<4:6>>) outs(%c : tensor<40x2xf32>) -> tensor<40x2xf32>
  return %p : tensor<40x2xf32>
}
