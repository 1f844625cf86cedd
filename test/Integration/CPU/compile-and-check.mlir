// Whole functions against themselves in float64, through the compiler, the
// shared object and the runtime.
//
// RUN: split-file %s %t
// RUN: nm-run %t/calls.mlir --random --check
// RUN: nm-run %t/calls.mlir --random --check --dynamic-size=1
// RUN: nm-run %t/calls.mlir --random --check --dynamic-size=0
// RUN: nm-run %t/constant.mlir --random --check --dynamic-size=33
// RUN: nm-run %t/dense.mlir --random --check
// RUN: nm-run %t/low-precision.mlir --random --check
// RUN: nm-run %t/products.mlir --random --check
// RUN: nm-run %t/steps.mlir --random --check
// RUN: nm-run %t/attention.mlir --random --check --dynamic-size=40

//--- calls.mlir
func.func private @gelu(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %h = arith.constant dense<0.5> : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %b = tensor.empty(%m) : tensor<?x4xf32>
  %bb = linalg.broadcast ins(%h : tensor<4xf32>) outs(%b : tensor<?x4xf32>) dimensions = [0]
  %e = math.erf %x : tensor<?x4xf32>
  %r = arith.mulf %e, %bb : tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
func.func @block(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>, %w: tensor<8x4xf32, #nm.encoding<2:4>>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %z = arith.constant 0.1 : f32
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %y = linalg.fill ins(%z : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %q = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x4xf32, #nm.encoding<2:4>>) outs(%y : tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = func.call @gelu(%q) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %t = arith.addf %s, %r : tensor<?x4xf32>
  return %t : tensor<?x4xf32>
}
//--- constant.mlir
func.func @constant(%x: tensor<?x8xf32>, %bias: tensor<4xf32>) -> (tensor<?x4xf32>, tensor<?x8xf32>) {
  %w = arith.constant dense<[[1.,0.,3.,0.],[0.,2.,0.,1.],[5.,0.,3.,0.],[0.,2.,0.,1.],[1.,0.,3.,0.],[0.,2.,0.,1.],[1.,0.,3.,0.],[0.,2.,0.,1.]]> : tensor<8x4xf32>
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %z = arith.constant 0.1 : f32
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %y = linalg.fill ins(%z : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %r = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x4xf32>) outs(%y : tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = tensor.empty(%m) : tensor<?x4xf32>
  %bb = linalg.broadcast ins(%bias : tensor<4xf32>) outs(%b : tensor<?x4xf32>) dimensions = [0]
  %s = arith.addf %r, %bb : tensor<?x4xf32>
  %g = math.tanh %s : tensor<?x4xf32>
  return %g, %x : tensor<?x4xf32>, tensor<?x8xf32>
}
//--- dense.mlir
func.func @dense(%x: tensor<64x96xf16>, %w: tensor<96x48xf16>, %i: tensor<8x32xi8>, %j: tensor<32x16xi8>) -> (tensor<64x48xf16>, tensor<8x16xi32>) {
  %z = arith.constant 0.0 : f16
  %zi = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x48xf16>
  %y = linalg.fill ins(%z : f16) outs(%e : tensor<64x48xf16>) -> tensor<64x48xf16>
  %r = linalg.matmul ins(%x, %w : tensor<64x96xf16>, tensor<96x48xf16>) outs(%y : tensor<64x48xf16>) -> tensor<64x48xf16>
  %ei = tensor.empty() : tensor<8x16xi32>
  %yi = linalg.fill ins(%zi : i32) outs(%ei : tensor<8x16xi32>) -> tensor<8x16xi32>
  %ri = linalg.matmul ins(%i, %j : tensor<8x32xi8>, tensor<32x16xi8>) outs(%yi : tensor<8x16xi32>) -> tensor<8x16xi32>
  return %r, %ri : tensor<64x48xf16>, tensor<8x16xi32>
}
//--- low-precision.mlir
func.func @gelu(%x: tensor<8x24xbf16>, %w: tensor<24x20xbf16, #nm.encoding<2:4>>, %y: tensor<8x8xf64>) -> (tensor<8x20xbf16>, tensor<8x8xf64>, tensor<8x20xbf16>) {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<8x20xbf16>
  %z = linalg.fill ins(%zero : bf16) outs(%e : tensor<8x20xbf16>) -> tensor<8x20xbf16>
  %p = linalg.matmul ins(%x, %w : tensor<8x24xbf16>, tensor<24x20xbf16, #nm.encoding<2:4>>)
                     outs(%z : tensor<8x20xbf16>) -> tensor<8x20xbf16>
  %r = math.tanh %p : tensor<8x20xbf16>
  %s = math.erf %y : tensor<8x8xf64>
  return %r, %s, %r : tensor<8x20xbf16>, tensor<8x8xf64>, tensor<8x20xbf16>
}
//--- attention.mlir
// Products of activations, a softmax and a transposed weight.
func.func @attention(%q: tensor<2x?x16xf32>, %k: tensor<2x?x16xf32>, %w: tensor<24x16xf32, #nm.encoding<1:4, dim = 1>>, %x: tensor<?x16xf32>) -> (tensor<2x?x?xf32>, tensor<?x24xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %q, %c1 : tensor<2x?x16xf32>
  %n = tensor.dim %k, %c1 : tensor<2x?x16xf32>
  %e = tensor.empty(%m, %n) : tensor<2x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %s = linalg.batch_matmul
    indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>]
    ins(%q, %k : tensor<2x?x16xf32>, tensor<2x?x16xf32>) outs(%z : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x?x?xf32>) outs(%e : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %rows = tensor.dim %x, %c0 : tensor<?x16xf32>
  %e2 = tensor.empty(%rows) : tensor<?x24xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x24xf32>) -> tensor<?x24xf32>
  %y = linalg.matmul
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%x, %w : tensor<?x16xf32>, tensor<24x16xf32, #nm.encoding<1:4, dim = 1>>) outs(%z2 : tensor<?x24xf32>) -> tensor<?x24xf32>
  return %p, %y : tensor<2x?x?xf32>, tensor<?x24xf32>
}
//--- products.mlir
// Weights with constant indices, a ragged k and n, a batch, and a transposed A.
func.func @products(%a: tensor<2x?x10xf32>, %t: tensor<10x3xf16>, %x: tensor<10xi8>, %v: tensor<6x4xf32>, %v16: tensor<6x4xf16>, %v8: tensor<6x4xi8>, %c: tensor<2x?x3xf32>, %d: tensor<3x3xf16>, %y: tensor<3xi32>) -> (tensor<2x?x3xf32>, tensor<3x3xf16>, tensor<3xi32>) {
  %i = arith.constant dense<[[0, 2], [1, 3], [0, 1], [2, 3], [0, 0], [1, 1]]> : tensor<6x2xi8>
  %r = nm.spmm <2:4, block = 1x2> ins(%a, %v, %i : tensor<2x?x10xf32>, tensor<6x4xf32>, tensor<6x2xi8>) outs(%c : tensor<2x?x3xf32>) -> tensor<2x?x3xf32>
  %s = nm.spmm <2:4, block = 1x2> transpose_a ins(%t, %v16, %i : tensor<10x3xf16>, tensor<6x4xf16>, tensor<6x2xi8>) outs(%d : tensor<3x3xf16>) -> tensor<3x3xf16>
  %u = nm.spmv <2:4, block = 1x2> ins(%x, %v8, %i : tensor<10xi8>, tensor<6x4xi8>, tensor<6x2xi8>) outs(%y : tensor<3xi32>) -> tensor<3xi32>
  return %r, %s, %u : tensor<2x?x3xf32>, tensor<3x3xf16>, tensor<3xi32>
}
//--- steps.mlir
// Each turn of the loop yields a product of what the turn before yielded.
func.func @steps(%x: tensor<5x16xf32>, %w: tensor<16x16xf32, #nm.encoding<2:4>>, %y: tensor<5x16xf32>) -> tensor<5x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %x) -> tensor<5x16xf32> {
    %p = linalg.matmul ins(%h, %w : tensor<5x16xf32>, tensor<16x16xf32, #nm.encoding<2:4>>)
                       outs(%y : tensor<5x16xf32>) -> tensor<5x16xf32>
    scf.yield %p : tensor<5x16xf32>
  }
  return %r : tensor<5x16xf32>
}
