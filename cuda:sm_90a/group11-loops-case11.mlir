func.func @case11(%a: tensor<?x425xf16>, %w: tensor<224x425xf16, #nm.encoding<20:32, block = 8x16, dim = 1>>, %c: tensor<?x224xf16>) -> tensor<?x224xf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<?x224xf16>) -> tensor<?x224xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x425xf16>, tensor<224x425xf16, #nm.encoding<20:32, block = 8x16, dim = 1>>) outs(%start : tensor<?x224xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<?x224xf16>
  return %r : tensor<?x224xf16>
}
