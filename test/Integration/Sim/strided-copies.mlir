// RUN: nm-run %s --target=sim:sm_90a --random --check --function=patches | FileCheck %s
// RUN: nm-run %s --target=sim:sm_80 --random --check --function=runs | FileCheck %s
// RUN: nm-run %s --target=sim:sm_90a --random --check --function=strided | FileCheck %s
// RUN: nm-compile %s --target=cuda:sm_90a --emit=gpu -o - 2>/dev/null | FileCheck %s --check-prefix=GPU
// CHECK: check: result 0 {{.*}}: passed

// Patches of images are copied by rows: channels of neighbouring places in 16
// bytes at once; in planes the runs of pixels, which start anywhere.
// GPU-LABEL: func.func @patches
// GPU: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [2, 3, 8, 10, 192], strides: [7680, 768, 768, 64, 1]
// GPU: vector.load {{.*}} vector<8xf16>
// GPU-LABEL: func.func @runs
// GPU: memref.reinterpret_cast %{{.*}} sizes: [2, 3, 3, 10, 24, 38]
// GPU-LABEL: func.func @strided
// GPU: memref.reinterpret_cast %{{.*}} to offset: [32],
// GPU: vector.load {{.*}} vector<8xbf16>
func.func @patches(%x: tensor<2x10x12x64xf16>) -> tensor<2x8x10x3x3x64xf16> {
  %e = tensor.empty() : tensor<2x8x10x3x3x64xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(n,y,x,a,b,c) -> (n, y + a, x + b, c)>, affine_map<(n,y,x,a,b,c) -> (n,y,x,a,b,c)>],
    iterator_types = ["parallel","parallel","parallel","parallel","parallel","parallel"]} ins(%x : tensor<2x10x12x64xf16>) outs(%e : tensor<2x8x10x3x3x64xf16>) {
  ^bb0(%i: f16, %o: f16): linalg.yield %i : f16 } -> tensor<2x8x10x3x3x64xf16>
  return %r : tensor<2x8x10x3x3x64xf16>
}
func.func @runs(%x: tensor<2x24x12x40xf32>) -> tensor<24x3x3x2x10x38xf32> {
  %e = tensor.empty() : tensor<24x3x3x2x10x38xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(c,a,b,n,y,x) -> (n, c, y + a, x + b)>, affine_map<(c,a,b,n,y,x) -> (c,a,b,n,y,x)>],
    iterator_types = ["parallel","parallel","parallel","parallel","parallel","parallel"]} ins(%x : tensor<2x24x12x40xf32>) outs(%e : tensor<24x3x3x2x10x38xf32>) {
  ^bb0(%i: f32, %o: f32): linalg.yield %i : f32 } -> tensor<24x3x3x2x10x38xf32>
  return %r : tensor<24x3x3x2x10x38xf32>
}
func.func @strided(%x: tensor<1x17x19x32xbf16>) -> tensor<1x8x5x3x2x32xbf16> {
  %e = tensor.empty() : tensor<1x8x5x3x2x32xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(n,y,x,a,b,c) -> (n, y*2 + a, x*3 + b*2 + 1, c)>, affine_map<(n,y,x,a,b,c) -> (n,y,x,a,b,c)>],
    iterator_types = ["parallel","parallel","parallel","parallel","parallel","parallel"]} ins(%x : tensor<1x17x19x32xbf16>) outs(%e : tensor<1x8x5x3x2x32xbf16>) {
  ^bb0(%i: bf16, %o: bf16): linalg.yield %i : bf16 } -> tensor<1x8x5x3x2x32xbf16>
  return %r : tensor<1x8x5x3x2x32xbf16>
}
