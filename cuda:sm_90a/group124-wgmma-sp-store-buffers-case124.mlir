func.func @case124(%a: tensor<?x176xbf16>, %w: tensor<176x64xbf16, #nm.encoding<1:8, block = 1x64, dim = 0>>, %c: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %zero = arith.constant 0.0 : bf16
  %start = linalg.fill ins(%zero : bf16) outs(%c : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x176xbf16>, tensor<176x64xbf16, #nm.encoding<1:8, block = 1x64, dim = 0>>) outs(%start : tensor<?x64xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<?x64xbf16>
  return %r : tensor<?x64xbf16>
}
