// Few weights, as code by simt_columns: many warps have code that differs in its numbers alone.
func.func @code(%a: tensor<9x216xf32>, %c: tensor<188x216xf32>) -> tensor<188x216xf32> {
  %b = arith.constant dense<"DRAW 9x188xf32 31"> : tensor<9x188xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<9x188xf32>, tensor<9x216xf32>) outs(%c : tensor<188x216xf32>) -> tensor<188x216xf32>
  return %p : tensor<188x216xf32>
}
