// One row and a few by weights whose windows have a bit for each row: windows
// that are all of a word, that straddle two, and of blocks; rows of k and columns
// that fill steps and panels up, where an infinite activation stands in the last
// window.

// RUN: split-file %s %t
// DEFINE: %{run} = nm-run --target=sim:sm_90a --random --check
// RUN: %{run} %t/half.mlir --compile-options="schedule=#nm.gemv<block=[1,32,1024],warp=[1,32],thread=[1,1],stages=2,slice_k=4,packing=<panel=32,index_bits=0,chunk_rows=8,index_rows=32>>" | FileCheck %s
// RUN: %{run} %t/straddling.mlir --compile-options="schedule=#nm.gemv<block=[3,64,600],warp=[3,32],thread=[3,1],stages=1,slice_k=2,packing=<panel=32,index_bits=0,chunk_rows=2,index_rows=18>>" | FileCheck %s
// RUN: %{run} %t/blocks.mlir --compile-options="schedule=#nm.gemv<block=[2,64,512],warp=[2,64],thread=[2,2],stages=2,slice_k=4,packing=<panel=64,index_bits=0,chunk_rows=4,chunk_columns=2,index_rows=8>>" | FileCheck %s

// CHECK: check: result 0 of @{{half|straddling|blocks}}: passed

//--- half.mlir
func.func @half(%x: tensor<1000xf16>, %b: tensor<1000x70xf16, #nm.encoding<16:32>>) -> tensor<70xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<70xf32>) -> tensor<70xf32>
  %p = linalg.vecmat ins(%x, %b : tensor<1000xf16>, tensor<1000x70xf16, #nm.encoding<16:32>>) outs(%f : tensor<70xf32>) -> tensor<70xf32>
  return %p : tensor<70xf32>
}

//--- straddling.mlir
func.func @straddling(%a: tensor<3x777xbf16>, %b: tensor<777x50xbf16, #nm.encoding<6:20>>) -> tensor<3x50xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x50xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x50xf32>) -> tensor<3x50xf32>
  %p = linalg.matmul ins(%a, %b : tensor<3x777xbf16>, tensor<777x50xbf16, #nm.encoding<6:20>>) outs(%f : tensor<3x50xf32>) -> tensor<3x50xf32>
  return %p : tensor<3x50xf32>
}

//--- blocks.mlir
func.func @blocks(%a: tensor<2x700xi8>, %b: tensor<700x100xi8, #nm.encoding<8:16, block = 2x2>>) -> tensor<2x100xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x100xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<2x100xi32>) -> tensor<2x100xi32>
  %p = linalg.matmul ins(%a, %b : tensor<2x700xi8>, tensor<700x100xi8, #nm.encoding<8:16, block = 2x2>>) outs(%f : tensor<2x100xi32>) -> tensor<2x100xi32>
  return %p : tensor<2x100xi32>
}
