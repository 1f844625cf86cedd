// What libraries compute bf16 by counts in their products' estimates, though
// this compiler's code leaves the instructions out.
// RUN: nm-compile %s --mcpu=znver5 --mattr=-avx512vbmi --threads=1 --emit=schedule 2>&1 | FileCheck %s
// RUN: nm-compile %s --mcpu=znver4 --mattr=-avx512vbmi --threads=1 --emit=schedule 2>&1 | FileCheck %s
// RUN: nm-compile %s --mcpu=znver5 --mattr=-avx512bf16,-avx512vbmi --threads=1 --emit=schedule 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WITHOUT

// CHECK: for a dense BLAS (0.{{[0-9]*}}x) on 1 thread; dense weights would take
// WITHOUT: ({{[1-9]}}.{{[0-9]*}}x) on 1 thread; the product with its zeros skipped is faster

func.func @f(%x: tensor<16x1024xbf16>, %w: tensor<1024x1024xbf16, #nm.encoding<2:4, dim = 1>>) -> tensor<16x1024xbf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x1024xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<16x1024xbf16>, tensor<1024x1024xbf16, #nm.encoding<2:4, dim = 1>>) outs(%i : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %o = tensor.empty() : tensor<16x1024xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<16x1024xf32>) outs(%o : tensor<16x1024xbf16>) {
  ^bb0(%a: f32, %u: bf16):
    %v = arith.truncf %a : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<16x1024xbf16>
  return %y : tensor<16x1024xbf16>
}
