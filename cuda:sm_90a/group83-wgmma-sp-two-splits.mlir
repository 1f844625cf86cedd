func.func @case83(%a: tensor<?x128xf32>, %w: tensor<129x128xf32, #nm.encoding<1:32, block = 1x6, dim = 1>>, %c: tensor<?x129xf32>) -> tensor<?x129xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x128xf32>, tensor<129x128xf32, #nm.encoding<1:32, block = 1x6, dim = 1>>) outs(%c : tensor<?x129xf32>) attrs = {nm.arithmetic = #nm.arithmetic<bf16x3>} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x129xf32>
  return %r : tensor<?x129xf32>
}
