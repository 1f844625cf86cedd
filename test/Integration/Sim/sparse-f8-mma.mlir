// Weights of f8 as the sparse operand of mma.sp, with scales of rows and columns,
// and results of each type.

// DEFINE: %{function} =
// DEFINE: %{chip} = sm_89
// DEFINE: %{run} = nm-run %s --target=sim:%{chip} --random --check --function=%{function} --compile-options="schedule=mma_sp"

// CHECK: check: result 0 of @{{.*}}: passed

// REDEFINE: %{function} = f8_to_bf16
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = f8_to_f8
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = e5m2_to_bf16
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = e5m2_to_e5m2
// RUN: %{run} | FileCheck %s
// REDEFINE: %{function} = f8_to_f16
// RUN: %{run} | FileCheck %s
// REDEFINE: %{chip} = sm_120
// RUN: %{run} | FileCheck %s

#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
#mn = affine_map<(m, n) -> (m, n)>

func.func @f8_to_bf16(%a: tensor<37x204xf8E4M3FN>, %b: tensor<204x100xf8E4M3FN, #nm.encoding<2:4>>, %r: tensor<37xf32>, %s: tensor<100xf32>) -> tensor<37x100xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<37x100xf32>) -> tensor<37x100xf32>
  %p = linalg.matmul ins(%a, %b : tensor<37x204xf8E4M3FN>, tensor<204x100xf8E4M3FN, #nm.encoding<2:4>>) outs(%f : tensor<37x100xf32>) -> tensor<37x100xf32>
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

func.func @e5m2_to_bf16(%a: tensor<37x204xf8E5M2>, %b: tensor<204x100xf8E5M2, #nm.encoding<2:4>>, %r: tensor<37xf32>, %s: tensor<100xf32>) -> tensor<37x100xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<37x100xf32>) -> tensor<37x100xf32>
  %p = linalg.matmul ins(%a, %b : tensor<37x204xf8E5M2>, tensor<204x100xf8E5M2, #nm.encoding<2:4>>) outs(%f : tensor<37x100xf32>) -> tensor<37x100xf32>
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

func.func @f8_to_f8(%a: tensor<130x256xf8E4M3FN>, %b: tensor<256x100xf8E4M3FN, #nm.encoding<1:4>>) -> tensor<130x100xf8E4M3FN> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<130x100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<130x100xf32>) -> tensor<130x100xf32>
  %p = linalg.matmul ins(%a, %b : tensor<130x256xf8E4M3FN>, tensor<256x100xf8E4M3FN, #nm.encoding<1:4>>) outs(%f : tensor<130x100xf32>) -> tensor<130x100xf32>
  %o = tensor.empty() : tensor<130x100xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<130x100xf32>) outs(%o : tensor<130x100xf8E4M3FN>) {
  ^bb0(%x: f32, %w: f8E4M3FN):
    %1 = arith.truncf %x : f32 to f8E4M3FN
    linalg.yield %1 : f8E4M3FN
  } -> tensor<130x100xf8E4M3FN>
  return %q : tensor<130x100xf8E4M3FN>
}

func.func @e5m2_to_e5m2(%a: tensor<130x256xf8E5M2>, %b: tensor<256x100xf8E5M2, #nm.encoding<1:4>>) -> tensor<130x100xf8E5M2> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<130x100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<130x100xf32>) -> tensor<130x100xf32>
  %p = linalg.matmul ins(%a, %b : tensor<130x256xf8E5M2>, tensor<256x100xf8E5M2, #nm.encoding<1:4>>) outs(%f : tensor<130x100xf32>) -> tensor<130x100xf32>
  %o = tensor.empty() : tensor<130x100xf8E5M2>
  %q = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<130x100xf32>) outs(%o : tensor<130x100xf8E5M2>) {
  ^bb0(%x: f32, %w: f8E5M2):
    %1 = arith.truncf %x : f32 to f8E5M2
    linalg.yield %1 : f8E5M2
  } -> tensor<130x100xf8E5M2>
  return %q : tensor<130x100xf8E5M2>
}

func.func @f8_to_f16(%a: tensor<7x1000xf8E4M3FN>, %b: tensor<1000x90xf8E4M3FN, #nm.encoding<2:8>>, %s: tensor<90xf32>) -> tensor<7x90xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x90xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<7x90xf32>) -> tensor<7x90xf32>
  %p = linalg.matmul ins(%a, %b : tensor<7x1000xf8E4M3FN>, tensor<1000x90xf8E4M3FN, #nm.encoding<2:8>>) outs(%f : tensor<7x90xf32>) -> tensor<7x90xf32>
  %o = tensor.empty() : tensor<7x90xf16>
  %q = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<7x90xf32>, tensor<90xf32>) outs(%o : tensor<7x90xf16>) {
  ^bb0(%x: f32, %z: f32, %w: f16):
    %1 = arith.mulf %x, %z : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<7x90xf16>
  return %q : tensor<7x90xf16>
}
