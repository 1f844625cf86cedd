// Bytes of short windows that threads select, of ragged products, for results
// of other types.

// DEFINE: %{function} =
// DEFINE: %{run} = nm-run %s --target=sim:sm_90a --random --check --function=%{function} --compile-options="schedule=wgmma_select"

// CHECK: check: result 0 of @{{.*}}: passed

// REDEFINE: %{function} = to_f16
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = to_i8
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = f8_to_bf16
// RUN: %{run} | FileCheck %s
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
#mn = affine_map<(m, n) -> (m, n)>

func.func @to_f16(%a: tensor<37x400xi8>, %b: tensor<400x100xi8, #nm.encoding<2:8, block = 1x48>>, %r: tensor<37xf32>, %s: tensor<100xf32>) -> tensor<37x100xf16> {
  %zero = arith.constant 0 : i32
  %small = arith.constant 0.0009765625 : f32
  %e = tensor.empty() : tensor<37x100xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<37x100xi32>) -> tensor<37x100xi32>
  %p = linalg.matmul ins(%a, %b : tensor<37x400xi8>, tensor<400x100xi8, #nm.encoding<2:8, block = 1x48>>) outs(%f : tensor<37x100xi32>) -> tensor<37x100xi32>
  %o = tensor.empty() : tensor<37x100xf16>
  %q = linalg.generic {indexing_maps = [#mn, #m, #n, #mn], iterator_types = ["parallel", "parallel"]} ins(%p, %r, %s : tensor<37x100xi32>, tensor<37xf32>, tensor<100xf32>) outs(%o : tensor<37x100xf16>) {
  ^bb0(%x: i32, %y: f32, %z: f32, %w: f16):
    %1 = arith.sitofp %x : i32 to f32
    %2 = arith.mulf %1, %y : f32
    %3 = arith.mulf %2, %z : f32
    %4 = arith.mulf %3, %small : f32
    %5 = arith.truncf %4 : f32 to f16
    linalg.yield %5 : f16
  } -> tensor<37x100xf16>
  return %q : tensor<37x100xf16>
}

func.func @to_i8(%a: tensor<70x400xi8>, %b: tensor<400x130xi8, #nm.encoding<4:8, block = 1x64>>, %s: tensor<130xf32>) -> tensor<70x130xi8> {
  %zero = arith.constant 0 : i32
  %least = arith.constant -128.0 : f32
  %most = arith.constant 127.0 : f32
  %e = tensor.empty() : tensor<70x130xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<70x130xi32>) -> tensor<70x130xi32>
  %p = linalg.matmul ins(%a, %b : tensor<70x400xi8>, tensor<400x130xi8, #nm.encoding<4:8, block = 1x64>>) outs(%f : tensor<70x130xi32>) -> tensor<70x130xi32>
  %o = tensor.empty() : tensor<70x130xi8>
  %q = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<70x130xi32>, tensor<130xf32>) outs(%o : tensor<70x130xi8>) {
  ^bb0(%x: i32, %z: f32, %w: i8):
    %1 = arith.sitofp %x : i32 to f32
    %2 = arith.mulf %1, %z : f32
    %3 = arith.maximumf %2, %least : f32
    %4 = arith.minimumf %3, %most : f32
    %5 = arith.fptosi %4 : f32 to i8
    linalg.yield %5 : i8
  } -> tensor<70x130xi8>
  return %q : tensor<70x130xi8>
}

func.func @f8_to_bf16(%a: tensor<37x400xf8E4M3FN>, %b: tensor<400x100xf8E4M3FN, #nm.encoding<1:8, block = 1x32>>, %r: tensor<37xf32>, %s: tensor<100xf32>) -> tensor<37x100xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<37x100xf32>) -> tensor<37x100xf32>
  %p = linalg.matmul ins(%a, %b : tensor<37x400xf8E4M3FN>, tensor<400x100xf8E4M3FN, #nm.encoding<1:8, block = 1x32>>) outs(%f : tensor<37x100xf32>) -> tensor<37x100xf32>
  %o = tensor.empty() : tensor<37x100xbf16>
  %q = linalg.generic {indexing_maps = [#mn, #m, #n, #mn], iterator_types = ["parallel", "parallel"]} ins(%p, %r, %s : tensor<37x100xf32>, tensor<37xf32>, tensor<100xf32>) outs(%o : tensor<37x100xbf16>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %w: bf16):
    %2 = arith.mulf %x, %y : f32
    %3 = arith.mulf %2, %z : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<37x100xbf16>
  return %q : tensor<37x100xbf16>
}
