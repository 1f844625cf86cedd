// Products of f8: of zeros, of sums that it adds to, and one whose C has another
// type, for which an epilogue rounds its sums.

func.func @product(%a: tensor<7x48xf8E4M3FN>, %b: tensor<48x32xf8E4M3FN, #nm.encoding<2:4>>) -> tensor<7x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<7x32xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<7x32xf32>) -> tensor<7x32xf32>
  %r = linalg.matmul ins(%a, %b : tensor<7x48xf8E4M3FN>, tensor<48x32xf8E4M3FN, #nm.encoding<2:4>>) outs(%none : tensor<7x32xf32>) -> tensor<7x32xf32>
  return %r : tensor<7x32xf32>
}

func.func @sums(%a: tensor<7x48xf8E4M3FN>, %b: tensor<48x32xf8E4M3FN, #nm.encoding<2:4>>, %sums: tensor<7x32xf32>) -> tensor<7x32xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<7x48xf8E4M3FN>, tensor<48x32xf8E4M3FN, #nm.encoding<2:4>>) outs(%sums : tensor<7x32xf32>) -> tensor<7x32xf32>
  return %r : tensor<7x32xf32>
}

#map = affine_map<(m, n) -> (m, n)>
func.func @rounded(%a: tensor<?x48xf8E4M3FN>, %b: tensor<48x32xf8E4M3FN, #nm.encoding<2:4>>) -> tensor<?x32xf16> {
  %zero = arith.constant 0.0 : f32
  %dim = arith.constant 0 : index
  %m = tensor.dim %a, %dim : tensor<?x48xf8E4M3FN>
  %empty = tensor.empty(%m) : tensor<?x32xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %sums = linalg.matmul ins(%a, %b : tensor<?x48xf8E4M3FN>, tensor<48x32xf8E4M3FN, #nm.encoding<2:4>>) outs(%none : tensor<?x32xf32>) -> tensor<?x32xf32>
  %out = tensor.empty(%m) : tensor<?x32xf16>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%sums : tensor<?x32xf32>) outs(%out : tensor<?x32xf16>) {
  ^bb0(%sum: f32, %o: f16):
    %x = arith.truncf %sum : f32 to f16
    linalg.yield %x : f16
  } -> tensor<?x32xf16>
  return %r : tensor<?x32xf16>
}
