func.func @product(%x: tensor<5x700xf32>,
    %w: tensor<40x700xf32, #nm.encoding<unstructured, kept = 300, dim = 1>>)
    -> tensor<5x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x40xf32>) -> tensor<5x40xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
      affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%x, %w : tensor<5x700xf32>,
        tensor<40x700xf32, #nm.encoding<unstructured, kept = 300, dim = 1>>)
    outs(%f : tensor<5x40xf32>) -> tensor<5x40xf32>
  return %p : tensor<5x40xf32>
}
