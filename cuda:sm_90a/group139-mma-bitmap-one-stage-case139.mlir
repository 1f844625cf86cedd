func.func @case139(%a: tensor<3x104xf16>, %w: tensor<104x256xf16, #nm.encoding<1:2, block = 1x64, dim = 0>>, %c: tensor<256x3xf16>) -> tensor<256x3xf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<256x3xf16>) -> tensor<256x3xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<3x104xf16>, tensor<104x256xf16, #nm.encoding<1:2, block = 1x64, dim = 0>>) outs(%start : tensor<256x3xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<256x3xf16>
  return %r : tensor<256x3xf16>
}
