// RUN: split-file %s %t
// RUN: nm-compile %t/gathered.mlir --target=sim:sm_90a --schedule=wgmma --with-reference -o %t/gathered.so
// RUN: nm-run %t/gathered.so --check --random --dynamic-size=1 | FileCheck %s
// RUN: nm-run %t/gathered.so --check --random --dynamic-size=77 | FileCheck %s
// RUN: nm-run %t/gathered.so --check --random --dynamic-size=200 | FileCheck %s
// RUN: nm-compile %t/sparse.mlir --target=sim:sm_90a --schedule=wgmma_sp --with-reference -o %t/sparse.so
// RUN: nm-run %t/sparse.so --check --random --dynamic-size=1 | FileCheck %s
// RUN: nm-run %t/sparse.so --check --random --dynamic-size=77 | FileCheck %s
// RUN: nm-run %t/sparse.so --check --random --dynamic-size=200 | FileCheck %s

// The blocks of a product in f32 store the splits that the product behind takes,
// of whatever number of rows: three kernels, of which the first splits %a.
// CHECK-COUNT-3: simulated f_kernel
// CHECK-NOT: simulated
// CHECK: check: result 0 of @f: passed

//--- gathered.mlir
// Bias and ReLU between both.
func.func @f(%a: tensor<?x512xf32>, %w: tensor<512x256xf32, #nm.encoding<8:32, block = 1x128, dim = 0>>, %bias: tensor<256xf32>, %v: tensor<256x384xf32, #nm.encoding<8:32, block = 1x128, dim = 0>>) -> tensor<?x384xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x512xf32>
  %e = tensor.empty(%m) : tensor<?x256xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<?x256xf32>) -> tensor<?x256xf32>
  %r = linalg.matmul ins(%a, %w : tensor<?x512xf32>, tensor<512x256xf32, #nm.encoding<8:32, block = 1x128, dim = 0>>) outs(%c : tensor<?x256xf32>) -> tensor<?x256xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%r, %bias : tensor<?x256xf32>, tensor<256xf32>) outs(%e : tensor<?x256xf32>) {
  ^bb0(%x: f32, %b: f32, %old: f32):
    %sum = arith.addf %x, %b : f32
    %y = arith.maximumf %sum, %zero : f32
    linalg.yield %y : f32
  } -> tensor<?x256xf32>
  %f = tensor.empty(%m) : tensor<?x384xf32>
  %d = linalg.fill ins(%zero : f32) outs(%f : tensor<?x384xf32>) -> tensor<?x384xf32>
  %s = linalg.matmul ins(%h, %v : tensor<?x256xf32>, tensor<256x384xf32, #nm.encoding<8:32, block = 1x128, dim = 0>>) outs(%d : tensor<?x384xf32>) -> tensor<?x384xf32>
  return %s : tensor<?x384xf32>
}

//--- sparse.mlir
// Nothing between both, and columns that are no whole tiles.
func.func @f(%a: tensor<?x384xf32>, %w: tensor<384x192xf32, #nm.encoding<2:4, dim = 0>>, %v: tensor<192x136xf32, #nm.encoding<2:4, dim = 0>>) -> tensor<?x136xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x384xf32>
  %e = tensor.empty(%m) : tensor<?x192xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<?x192xf32>) -> tensor<?x192xf32>
  %r = linalg.matmul ins(%a, %w : tensor<?x384xf32>, tensor<384x192xf32, #nm.encoding<2:4, dim = 0>>) outs(%c : tensor<?x192xf32>) -> tensor<?x192xf32>
  %f = tensor.empty(%m) : tensor<?x136xf32>
  %d = linalg.fill ins(%zero : f32) outs(%f : tensor<?x136xf32>) -> tensor<?x136xf32>
  %s = linalg.matmul ins(%r, %v : tensor<?x192xf32>, tensor<192x136xf32, #nm.encoding<2:4, dim = 0>>) outs(%d : tensor<?x136xf32>) -> tensor<?x136xf32>
  return %s : tensor<?x136xf32>
}
