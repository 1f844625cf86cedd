func.func @case47(%a: tensor<68x?xf16>, %w: tensor<128x68xf16, #nm.encoding<1:2, block = 2x8, dim = 1>>, %c: tensor<?x128xf16>) -> tensor<?x128xf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<?x128xf16>) -> tensor<?x128xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<68x?xf16>, tensor<128x68xf16, #nm.encoding<1:2, block = 2x8, dim = 1>>) outs(%start : tensor<?x128xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<?x128xf16>
  return %r : tensor<?x128xf16>
}
