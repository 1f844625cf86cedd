func.func @case70(%a: tensor<6x160xf16>, %w: tensor<200x160xf16, #nm.encoding<2:4, block = 1x2, dim = 1>>, %c: tensor<200x6xf16>) -> tensor<200x6xf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<200x6xf16>) -> tensor<200x6xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<6x160xf16>, tensor<200x160xf16, #nm.encoding<2:4, block = 1x2, dim = 1>>) outs(%start : tensor<200x6xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<200x6xf16>
  return %r : tensor<200x6xf16>
}
