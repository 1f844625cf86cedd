// GPU kernels keep subnormal numbers, in f32 and where they round to bf16.

// RUN: nm-compile %s --target=cuda:sm_90a --emit=ptx --dense-fallback=false -o - 2>/dev/null | FileCheck %s --implicit-check-not=.ftz
// RUN: nm-compile %s --target=cuda:sm_80 --emit=ptx --dense-fallback=false -o - 2>/dev/null | FileCheck %s --implicit-check-not=.ftz

// CHECK-DAG: fma.rn.f32
// CHECK-DAG: cvt.rn.bf16.f32
func.func @few_rows(%x: tensor<1x64xbf16>, %w: tensor<64x32xbf16, #nm.encoding<2:4>>,
                    %y: tensor<1x32xbf16>) -> tensor<1x32xbf16> {
  %r = linalg.matmul ins(%x, %w : tensor<1x64xbf16>, tensor<64x32xbf16, #nm.encoding<2:4>>)
                     outs(%y : tensor<1x32xbf16>) -> tensor<1x32xbf16>
  return %r : tensor<1x32xbf16>
}
func.func @many_rows(%x: tensor<64x64xf32>, %w: tensor<64x32xf32, #nm.encoding<2:4, block = 1x32>>,
                     %y: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %r = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x32xf32, #nm.encoding<2:4, block = 1x32>>)
                     outs(%y : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}
