func.func @case100(%a: tensor<50x45xbf16>, %q: tensor<50x62xi8, #nm.encoding<1:5, block = 1x2, dim = 0>>, %c: tensor<45x62xbf16>, %scales: tensor<2x62xbf16>) -> tensor<45x62xbf16> {
  %zero = arith.constant 0.0 : bf16
  %start = linalg.fill ins(%zero : bf16) outs(%c : tensor<45x62xbf16>) -> tensor<45x62xbf16>
  %dense = tensor.empty() : tensor<50x62xbf16>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0 floordiv 25, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%q, %scales : tensor<50x62xi8, #nm.encoding<1:5, block = 1x2, dim = 0>>, tensor<2x62xbf16>) outs(%dense : tensor<50x62xbf16>) {
  ^bb0(%value: i8, %scale: bf16, %old: bf16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to bf16
    %weight = arith.mulf %exact, %scale : bf16
    linalg.yield %weight : bf16
  } -> tensor<50x62xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<50x45xbf16>, tensor<50x62xbf16>) outs(%start : tensor<45x62xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<45x62xbf16>
  return %r : tensor<45x62xbf16>
}
