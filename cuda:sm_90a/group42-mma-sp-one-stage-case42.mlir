func.func @case42(%a: tensor<8x?xf16>, %w: tensor<398x8xf16, #nm.encoding<1:8, block = 1x256, dim = 1>>, %c: tensor<398x?xf16>) -> tensor<398x?xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<8x?xf16>, tensor<398x8xf16, #nm.encoding<1:8, block = 1x256, dim = 1>>) outs(%c : tensor<398x?xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<398x?xf16>
  return %r : tensor<398x?xf16>
}
