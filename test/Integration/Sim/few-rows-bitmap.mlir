// Few rows by weights that lanes expand: a kept weight is found wherever it is,
// and no load of shared memory meets a bank twice.

// DEFINE: %{columns} =
// DEFINE: %{run} = env NM_SIM_PRINT=1 nm-run %s --target=sim:sm_90a --random --check --compile-options="schedule=#nm.mma_bitmap<block=[8,32,512],warp=[8,%{columns}],stages=3,split_k=1,slice_k=4>" 2>&1
// REDEFINE: %{columns} = 32
// RUN: %{run} --function=half | FileCheck %s
// RUN: %{run} --function=windows_of_ten | FileCheck %s

// Of two warps side by side each has one run of a column, which has no other
// behind it.
// REDEFINE: %{columns} = 16
// RUN: %{run} --function=half | FileCheck %s
// RUN: %{run} --function=windows_of_ten | FileCheck %s

// CHECK: shared loads: {{.*}}, 0 bank conflicts
// CHECK: check: result 0 of @{{half|windows_of_ten}}: passed
func.func @half(%a: tensor<7x1200xf16>, %b: tensor<1200x40xf16, #nm.encoding<8:16>>) -> tensor<7x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<7x40xf32>) -> tensor<7x40xf32>
  %p = linalg.matmul ins(%a, %b : tensor<7x1200xf16>, tensor<1200x40xf16, #nm.encoding<8:16>>) outs(%f : tensor<7x40xf32>) -> tensor<7x40xf32>
  return %p : tensor<7x40xf32>
}

func.func @windows_of_ten(%a: tensor<3x777xbf16>, %b: tensor<777x50xbf16, #nm.encoding<3:10>>) -> tensor<3x50xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x50xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x50xf32>) -> tensor<3x50xf32>
  %p = linalg.matmul ins(%a, %b : tensor<3x777xbf16>, tensor<777x50xbf16, #nm.encoding<3:10>>) outs(%f : tensor<3x50xf32>) -> tensor<3x50xf32>
  return %p : tensor<3x50xf32>
}
