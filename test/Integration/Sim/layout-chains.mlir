// Chains of products on tensor cores, which take an m-major A: they are
// transposed where they enter, and nowhere else. Checked with odd m, whose rows
// are padded.

// DEFINE: %{function} =
// DEFINE: %{run} = nm-run %s --target=sim --random --check --function=%{function} --compile-options="schedule=mma_sync"
// DEFINE: %{emit} = nm-compile %s --target=sim:sm_90a --emit=schedule --schedule=mma_sync -o -

// RUN: %{emit} 2>/dev/null | FileCheck %s

// A linear layer, GELU, and another.
// REDEFINE: %{function} = feed_forward
// RUN: %{run} | FileCheck %s --check-prefix=FEED-FORWARD
// FEED-FORWARD: check: result 0 of @feed_forward: passed
// CHECK-LABEL: func.func @feed_forward
// CHECK: linalg.transpose ins(%arg0 : tensor<77x64xf16>)
// CHECK-NOT: linalg.transpose
// CHECK: nm.spmm {{.*}} transpose_a transpose_c schedule #nm.mma_sync{{.*}} -> tensor<128x77xf16>
// CHECK-NOT: linalg.transpose
// CHECK: nm.spmm {{.*}} transpose_a schedule #nm.mma_sync{{.*}} -> tensor<77x64xf16>
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @feed_forward(%x: tensor<77x64xf16>, %w1: tensor<64x128xf16, #nm.encoding<2:8, block = 1x16>>, %b1: tensor<128xf16>,
                        %w2: tensor<128x64xf16, #nm.encoding<4:8, block = 1x16>>, %b2: tensor<64xf16>) -> tensor<77x64xf16> {
  %zero = arith.constant 0.0 : f16
  %e1 = tensor.empty() : tensor<77x128xf16>
  %z1 = linalg.fill ins(%zero : f16) outs(%e1 : tensor<77x128xf16>) -> tensor<77x128xf16>
  %h = linalg.matmul ins(%x, %w1 : tensor<77x64xf16>, tensor<64x128xf16, #nm.encoding<2:8, block = 1x16>>) outs(%z1 : tensor<77x128xf16>) -> tensor<77x128xf16>
  %g = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
    ins(%h, %b1 : tensor<77x128xf16>, tensor<128xf16>) outs(%e1 : tensor<77x128xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %root = arith.constant 0.70710678 : f32
    %0 = arith.addf %a, %b : f16
    %1 = arith.extf %0 : f16 to f32
    %2 = arith.mulf %1, %root : f32
    %3 = math.erf %2 : f32
    %4 = arith.addf %3, %one : f32
    %5 = arith.mulf %1, %half : f32
    %6 = arith.mulf %4, %5 : f32
    %7 = arith.truncf %6 : f32 to f16
    linalg.yield %7 : f16
  } -> tensor<77x128xf16>
  %e2 = tensor.empty() : tensor<77x64xf16>
  %z2 = linalg.fill ins(%zero : f16) outs(%e2 : tensor<77x64xf16>) -> tensor<77x64xf16>
  %y = linalg.matmul ins(%g, %w2 : tensor<77x128xf16>, tensor<128x64xf16, #nm.encoding<4:8, block = 1x16>>) outs(%z2 : tensor<77x64xf16>) -> tensor<77x64xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
    ins(%y, %b2 : tensor<77x64xf16>, tensor<64xf16>) outs(%e2 : tensor<77x64xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %0 = arith.addf %a, %b : f16
    linalg.yield %0 : f16
  } -> tensor<77x64xf16>
  return %r : tensor<77x64xf16>
}

// A feed-forward block of an encoder, of a batch: the residual is added and the
// layer normalised in row-major layout, in which threads share the sums of a row;
// the normalised layer is written in the m-major layout that the next one takes.
// REDEFINE: %{function} = encoder
// RUN: %{run} | FileCheck %s --check-prefix=ENCODER
// ENCODER: check: result 0 of @encoder: passed
// CHECK-LABEL: func.func @encoder
// CHECK: linalg.transpose ins(%{{.*}} : tensor<74x64xf16>)
// CHECK-NOT: linalg.transpose
// CHECK: nm.spmm {{.*}} transpose_a transpose_c schedule #nm.mma_sync
// CHECK-NOT: linalg.transpose
// CHECK: nm.spmm {{.*}} transpose_a schedule #nm.mma_sync
// CHECK-NOT: linalg.transpose
// CHECK: nm.spmm {{.*}} transpose_a schedule #nm.mma_sync
// CHECK-NOT: linalg.transpose
// CHECK: return
#bsh = affine_map<(b, s, h) -> (b, s, h)>
#bs = affine_map<(b, s, h) -> (b, s)>
#h = affine_map<(b, s, h) -> (h)>
func.func @encoder(%x: tensor<2x37x64xf16>, %w1: tensor<64x128xf16, #nm.encoding<2:8, block = 1x16>>,
                   %w2: tensor<128x64xf16, #nm.encoding<2:8, block = 1x16>>, %gamma: tensor<64xf16>,
                   %w3: tensor<64x64xf16, #nm.encoding<2:8, block = 1x16>>) -> tensor<2x37x64xf16> {
  %zero = arith.constant 0.0 : f16
  %zero32 = arith.constant 0.0 : f32
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x37x64xf16> into tensor<74x64xf16>
  %e1 = tensor.empty() : tensor<74x128xf16>
  %z1 = linalg.fill ins(%zero : f16) outs(%e1 : tensor<74x128xf16>) -> tensor<74x128xf16>
  %h = linalg.matmul ins(%rows, %w1 : tensor<74x64xf16>, tensor<64x128xf16, #nm.encoding<2:8, block = 1x16>>) outs(%z1 : tensor<74x128xf16>) -> tensor<74x128xf16>
  %e2 = tensor.empty() : tensor<74x64xf16>
  %z2 = linalg.fill ins(%zero : f16) outs(%e2 : tensor<74x64xf16>) -> tensor<74x64xf16>
  %y = linalg.matmul ins(%h, %w2 : tensor<74x128xf16>, tensor<128x64xf16, #nm.encoding<2:8, block = 1x16>>) outs(%z2 : tensor<74x64xf16>) -> tensor<74x64xf16>
  %y3 = tensor.expand_shape %y [[0, 1], [2]] output_shape [2, 37, 64] : tensor<74x64xf16> into tensor<2x37x64xf16>
  %e3 = tensor.empty() : tensor<2x37x64xf16>
  %r = linalg.generic {indexing_maps = [#bsh, #bsh, #bsh], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%y3, %x : tensor<2x37x64xf16>, tensor<2x37x64xf16>) outs(%e3 : tensor<2x37x64xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %0 = arith.addf %a, %b : f16
    linalg.yield %0 : f16
  } -> tensor<2x37x64xf16>
  %es = tensor.empty() : tensor<2x37xf32>
  %zs = linalg.fill ins(%zero32 : f32) outs(%es : tensor<2x37xf32>) -> tensor<2x37xf32>
  %sum = linalg.generic {indexing_maps = [#bsh, #bs], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%r : tensor<2x37x64xf16>) outs(%zs : tensor<2x37xf32>) {
  ^bb0(%a: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<2x37xf32>
  %squares = linalg.generic {indexing_maps = [#bsh, #bs, #bs], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%r, %sum : tensor<2x37x64xf16>, tensor<2x37xf32>) outs(%zs : tensor<2x37xf32>) {
  ^bb0(%a: f16, %s: f32, %o: f32):
    %share = arith.constant 0.015625 : f32
    %0 = arith.extf %a : f16 to f32
    %1 = arith.mulf %s, %share : f32
    %2 = arith.subf %0, %1 : f32
    %3 = arith.mulf %2, %2 : f32
    %4 = arith.addf %3, %o : f32
    linalg.yield %4 : f32
  } -> tensor<2x37xf32>
  %n = linalg.generic {indexing_maps = [#bsh, #bs, #bs, #h, #bsh], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%r, %sum, %squares, %gamma : tensor<2x37x64xf16>, tensor<2x37xf32>, tensor<2x37xf32>, tensor<64xf16>) outs(%e3 : tensor<2x37x64xf16>) {
  ^bb0(%a: f16, %s: f32, %q: f32, %g: f16, %o: f16):
    %share = arith.constant 0.015625 : f32
    %least = arith.constant 1.0e-5 : f32
    %0 = arith.extf %a : f16 to f32
    %1 = arith.mulf %s, %share : f32
    %2 = arith.subf %0, %1 : f32
    %3 = arith.mulf %q, %share : f32
    %4 = arith.addf %3, %least : f32
    %5 = math.rsqrt %4 : f32
    %6 = arith.mulf %2, %5 : f32
    %7 = arith.extf %g : f16 to f32
    %8 = arith.mulf %6, %7 : f32
    %9 = arith.truncf %8 : f32 to f16
    linalg.yield %9 : f16
  } -> tensor<2x37x64xf16>
  %rows2 = tensor.collapse_shape %n [[0, 1], [2]] : tensor<2x37x64xf16> into tensor<74x64xf16>
  %last = linalg.matmul ins(%rows2, %w3 : tensor<74x64xf16>, tensor<64x64xf16, #nm.encoding<2:8, block = 1x16>>) outs(%z2 : tensor<74x64xf16>) -> tensor<74x64xf16>
  %out = tensor.expand_shape %last [[0, 1], [2]] output_shape [2, 37, 64] : tensor<74x64xf16> into tensor<2x37x64xf16>
  return %out : tensor<2x37x64xf16>
}
