func.func @case56(%a: tensor<33x?xf16>, %w: tensor<33x104xf16, #nm.encoding<2:2, block = 1x64, dim = 0>>, %c: tensor<?x104xf16>) -> tensor<?x104xf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<?x104xf16>) -> tensor<?x104xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<33x?xf16>, tensor<33x104xf16, #nm.encoding<2:2, block = 1x64, dim = 0>>) outs(%start : tensor<?x104xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<?x104xf16>
  return %r : tensor<?x104xf16>
}
