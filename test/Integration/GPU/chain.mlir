// RUN: nm-compile %s --target=cuda:sm_90a --emit=schedule 2>/dev/null | FileCheck %s

// Layers for NMGpuRunChain, whose kernels are short and depend on each other:
// products of every strategy, sums of parts, elementwise ops.
// CHECK-LABEL: func.func @vector
// CHECK: schedule #nm.gemv
// CHECK: schedule #nm.gemv
// CHECK-LABEL: func.func @few_rows
// CHECK: schedule #nm.mma_bitmap
// CHECK-LABEL: func.func @rows
// CHECK: schedule #nm.simt
// CHECK: schedule #nm.simt<{{.*}}split_k =
// CHECK-LABEL: func.func @with_dense
// CHECK: schedule #nm.simt
// CHECK: schedule #nm.cublas

func.func @vector(%x: tensor<1x1024xf32>, %up: tensor<1024x2048xf32, #nm.encoding<2:4>>, %down: tensor<2048x1024xf32, #nm.encoding<3:32, block = 1x8>>) -> tensor<1x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2048xf32>) -> tensor<1x2048xf32>
  %h = linalg.matmul ins(%x, %up : tensor<1x1024xf32>, tensor<1024x2048xf32, #nm.encoding<2:4>>) outs(%f : tensor<1x2048xf32>) -> tensor<1x2048xf32>
  %t = linalg.tanh ins(%h : tensor<1x2048xf32>) outs(%e : tensor<1x2048xf32>) -> tensor<1x2048xf32>
  %g = tensor.empty() : tensor<1x1024xf32>
  %y0 = linalg.fill ins(%zero : f32) outs(%g : tensor<1x1024xf32>) -> tensor<1x1024xf32>
  %y = linalg.matmul ins(%t, %down : tensor<1x2048xf32>, tensor<2048x1024xf32, #nm.encoding<3:32, block = 1x8>>) outs(%y0 : tensor<1x1024xf32>) -> tensor<1x1024xf32>
  return %y : tensor<1x1024xf32>
}

func.func @few_rows(%x: tensor<8x1024xf16>, %w: tensor<1024x1024xf16, #nm.encoding<1:4>>) -> tensor<8x1024xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<8x1024xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<8x1024xf16>) -> tensor<8x1024xf16>
  %t = linalg.tanh ins(%x : tensor<8x1024xf16>) outs(%e : tensor<8x1024xf16>) -> tensor<8x1024xf16>
  %y = linalg.matmul ins(%t, %w : tensor<8x1024xf16>, tensor<1024x1024xf16, #nm.encoding<1:4>>) outs(%f : tensor<8x1024xf16>) -> tensor<8x1024xf16>
  return %y : tensor<8x1024xf16>
}

func.func @rows(%x: tensor<96x512xf32>, %up: tensor<512x2048xf32, #nm.encoding<8:32, block = 1x32>>, %down: tensor<2048x512xf32, #nm.encoding<16:32, block = 1x32>>) -> tensor<96x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x2048xf32>) -> tensor<96x2048xf32>
  %h = linalg.matmul ins(%x, %up : tensor<96x512xf32>, tensor<512x2048xf32, #nm.encoding<8:32, block = 1x32>>) outs(%f : tensor<96x2048xf32>) -> tensor<96x2048xf32>
  %t = linalg.tanh ins(%h : tensor<96x2048xf32>) outs(%e : tensor<96x2048xf32>) -> tensor<96x2048xf32>
  %g = tensor.empty() : tensor<96x512xf32>
  %y0 = linalg.fill ins(%zero : f32) outs(%g : tensor<96x512xf32>) -> tensor<96x512xf32>
  %y = linalg.matmul ins(%t, %down : tensor<96x2048xf32>, tensor<2048x512xf32, #nm.encoding<16:32, block = 1x32>>) outs(%y0 : tensor<96x512xf32>) -> tensor<96x512xf32>
  return %y : tensor<96x512xf32>
}

// The second product is cuBLAS's where it can be loaded.
func.func @with_dense(%x: tensor<256x512xf32>, %up: tensor<512x512xf32, #nm.encoding<3:32, block = 1x32>>, %down: tensor<512x512xf32, #nm.encoding<4:4>>) -> tensor<256x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x512xf32>) -> tensor<256x512xf32>
  %h = linalg.matmul ins(%x, %up : tensor<256x512xf32>, tensor<512x512xf32, #nm.encoding<3:32, block = 1x32>>) outs(%f : tensor<256x512xf32>) -> tensor<256x512xf32>
  %t = linalg.tanh ins(%h : tensor<256x512xf32>) outs(%e : tensor<256x512xf32>) -> tensor<256x512xf32>
  %y = linalg.matmul {nm.arithmetic = #nm.arithmetic<ieee>} ins(%t, %down : tensor<256x512xf32>, tensor<512x512xf32, #nm.encoding<4:4>>) outs(%f : tensor<256x512xf32>) -> tensor<256x512xf32>
  return %y : tensor<256x512xf32>
}
