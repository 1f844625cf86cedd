// Products of computed operands that the library multiplies as they are.
#q = affine_map<(b, h, g, m, n, k) -> (b, h, g, m, k)>
#k = affine_map<(b, h, g, m, n, k) -> (b, h, k, n)>
#s = affine_map<(b, h, g, m, n, k) -> (b, h, g, m, n)>
#a4 = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#b4 = affine_map<(b, h, m, n, k) -> (b, h, k, n)>
#c4 = affine_map<(b, h, m, n, k) -> (b, h, m, n)>

// Groups of heads, and keys that are transposed before.
func.func @groups(%q: tensor<2x3x4x5x16xf32>, %k: tensor<2x3x9x16xf32>) -> tensor<2x3x4x5x9xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x16x9xf32>
  %t = linalg.transpose ins(%k : tensor<2x3x9x16xf32>) outs(%e : tensor<2x3x16x9xf32>) permutation = [0, 1, 3, 2]
  %o = tensor.empty() : tensor<2x3x4x5x9xf32>
  %c = linalg.fill ins(%zero : f32) outs(%o : tensor<2x3x4x5x9xf32>) -> tensor<2x3x4x5x9xf32>
  %r = linalg.contract indexing_maps = [#q, #k, #s]
    ins(%q, %t : tensor<2x3x4x5x16xf32>, tensor<2x3x16x9xf32>) outs(%c : tensor<2x3x4x5x9xf32>) -> tensor<2x3x4x5x9xf32>
  return %r : tensor<2x3x4x5x9xf32>
}

// Batches of rows of heads: values as a projection leaves them, and C as the next
// one wants it.
func.func @heads(%p: tensor<1x4x7x10xf32>, %v: tensor<1x10x4x8xf32>) -> tensor<1x7x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x10x8xf32>
  %t = linalg.transpose ins(%v : tensor<1x10x4x8xf32>) outs(%e : tensor<1x4x10x8xf32>) permutation = [0, 2, 1, 3]
  %o = tensor.empty() : tensor<1x7x4x8xf32>
  %c = linalg.fill ins(%zero : f32) outs(%o : tensor<1x7x4x8xf32>) -> tensor<1x7x4x8xf32>
  %r = linalg.contract indexing_maps = [#a4, #b4, affine_map<(b, h, m, n, k) -> (b, m, h, n)>]
    ins(%p, %t : tensor<1x4x7x10xf32>, tensor<1x4x10x8xf32>) outs(%c : tensor<1x7x4x8xf32>) -> tensor<1x7x4x8xf32>
  return %r : tensor<1x7x4x8xf32>
}

// Sizes that are known when the function runs.
func.func @dynamic(%a: tensor<?x?x?x8xf32>, %b: tensor<?x?x8x?xf32>) -> tensor<?x?x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %d0 = tensor.dim %a, %c0 : tensor<?x?x?x8xf32>
  %d1 = tensor.dim %a, %c1 : tensor<?x?x?x8xf32>
  %d2 = tensor.dim %a, %c2 : tensor<?x?x?x8xf32>
  %d3 = tensor.dim %b, %c3 : tensor<?x?x8x?xf32>
  %o = tensor.empty(%d0, %d1, %d2, %d3) : tensor<?x?x?x?xf32>
  %c = linalg.fill ins(%zero : f32) outs(%o : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %r = linalg.contract indexing_maps = [#a4, #b4, #c4]
    ins(%a, %b : tensor<?x?x?x8xf32>, tensor<?x?x8x?xf32>) outs(%c : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// Batches of two strides, as shows when the function runs: a call for each of the
// outer ones.
func.func @two_strides(%a: tensor<?x?x5x8xf32>, %b: tensor<2x3x8x6xf32>) -> tensor<2x3x5x6xf32> {
  %zero = arith.constant 0.0 : f32
  %s = tensor.extract_slice %a[1, 2, 0, 0] [2, 3, 5, 8] [1, 1, 1, 1] : tensor<?x?x5x8xf32> to tensor<2x3x5x8xf32>
  %o = tensor.empty() : tensor<2x3x5x6xf32>
  %c = linalg.fill ins(%zero : f32) outs(%o : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %r = linalg.contract indexing_maps = [#a4, #b4, #c4]
    ins(%s, %b : tensor<2x3x5x8xf32>, tensor<2x3x8x6xf32>) outs(%c : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  return %r : tensor<2x3x5x6xf32>
}

// A vector by a matrix in each batch.
func.func @vectors(%a: tensor<6x8xf32>, %b: tensor<6x8x5xf32>) -> tensor<6x5xf32> {
  %zero = arith.constant 0.0 : f32
  %o = tensor.empty() : tensor<6x5xf32>
  %c = linalg.fill ins(%zero : f32) outs(%o : tensor<6x5xf32>) -> tensor<6x5xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, n, k) -> (b, k)>, affine_map<(b, n, k) -> (b, k, n)>, affine_map<(b, n, k) -> (b, n)>]
    ins(%a, %b : tensor<6x8xf32>, tensor<6x8x5xf32>) outs(%c : tensor<6x5xf32>) -> tensor<6x5xf32>
  return %r : tensor<6x5xf32>
}
