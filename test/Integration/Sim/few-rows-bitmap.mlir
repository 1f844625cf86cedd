// Few rows by weights that lanes expand: a kept weight is found wherever it is,
// and no load of shared memory meets a bank twice.

// DEFINE: %{columns} =
// DEFINE: %{run} = env NM_SIM_PRINT=1 nm-run %s --target=sim:sm_90a --random --check --compile-options="schedule=#nm.mma_bitmap<block=[8,32,512],warp=[8,%{columns}],stages=3,split_k=1,slice_k=4>" 2>&1
// REDEFINE: %{columns} = 32
// RUN: %{run} --function=half | FileCheck %s
// RUN: %{run} --function=windows_of_ten | FileCheck %s
// RUN: %{run} --function=bytes | FileCheck %s
// RUN: %{run} --function=floats_of_bytes | FileCheck %s

// Of two warps side by side each has one run of a column, which has no other
// behind it.
// REDEFINE: %{columns} = 16
// RUN: %{run} --function=half | FileCheck %s
// RUN: %{run} --function=windows_of_ten | FileCheck %s
// RUN: %{run} --function=bytes | FileCheck %s
// RUN: %{run} --function=floats_of_bytes | FileCheck %s

// Of weights that keep two of a run, a lane has one word of a block. Behind its
// last value a run would read the words of two more blocks, of which there is
// one in the warp's memory.
// DEFINE: %{few} = env NM_SIM_PRINT=1 nm-run %s --target=sim:sm_90a --random --check --compile-options="schedule=#nm.mma_bitmap<block=[8,32,256],warp=[8,32],stages=2>" 2>&1
// RUN: %{few} --function=one_word | FileCheck %s
// RUN: %{few} --function=one_word_of_two_steps | FileCheck %s

// CHECK: shared loads: {{.*}}, 0 bank conflicts
// CHECK: check: result 0 of @{{half|windows_of_ten|bytes|floats_of_bytes|one_word|one_word_of_two_steps}}: passed
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

func.func @bytes(%a: tensor<7x1200xi8>, %b: tensor<1200x40xi8, #nm.encoding<9:16>>) -> tensor<7x40xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<7x40xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<7x40xi32>) -> tensor<7x40xi32>
  %p = linalg.matmul ins(%a, %b : tensor<7x1200xi8>, tensor<1200x40xi8, #nm.encoding<9:16>>) outs(%f : tensor<7x40xi32>) -> tensor<7x40xi32>
  return %p : tensor<7x40xi32>
}

// Windows of 128 rows are runs, which a step has four of.
func.func @floats_of_bytes(%a: tensor<5x1777xf8E4M3FN>, %b: tensor<1777x50xf8E4M3FN, #nm.encoding<34:128>>) -> tensor<5x50xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x50xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x50xf32>) -> tensor<5x50xf32>
  %p = linalg.matmul ins(%a, %b : tensor<5x1777xf8E4M3FN>, tensor<1777x50xf8E4M3FN, #nm.encoding<34:128>>) outs(%f : tensor<5x50xf32>) -> tensor<5x50xf32>
  return %p : tensor<5x50xf32>
}

// A step has 256 rows of windows of 64, and 128 rows of windows of 32.
func.func @one_word(%a: tensor<7x800xi8>, %b: tensor<800x40xi8, #nm.encoding<2:64>>) -> tensor<7x40xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<7x40xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<7x40xi32>) -> tensor<7x40xi32>
  %p = linalg.matmul ins(%a, %b : tensor<7x800xi8>, tensor<800x40xi8, #nm.encoding<2:64>>) outs(%f : tensor<7x40xi32>) -> tensor<7x40xi32>
  return %p : tensor<7x40xi32>
}

func.func @one_word_of_two_steps(%a: tensor<7x800xf8E5M2>, %b: tensor<800x40xf8E5M2, #nm.encoding<2:32>>) -> tensor<7x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<7x40xf32>) -> tensor<7x40xf32>
  %p = linalg.matmul ins(%a, %b : tensor<7x800xf8E5M2>, tensor<800x40xf8E5M2, #nm.encoding<2:32>>) outs(%f : tensor<7x40xf32>) -> tensor<7x40xf32>
  return %p : tensor<7x40xf32>
}
