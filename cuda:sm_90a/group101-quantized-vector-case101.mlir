func.func @case101(%a: tensor<32xf16>, %q: tensor<173x32xi8, #nm.encoding<2:2, block = 8x16, dim = 1>>, %c: tensor<173xf16>, %scales: tensor<173xf16>) -> tensor<173xf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<173xf16>) -> tensor<173xf16>
  %dense = tensor.empty() : tensor<173x32xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%q, %scales : tensor<173x32xi8, #nm.encoding<2:2, block = 8x16, dim = 1>>, tensor<173xf16>) outs(%dense : tensor<173x32xf16>) {
  ^bb0(%value: i8, %scale: f16, %old: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %scale, %exact : f16
    linalg.yield %weight : f16
  } -> tensor<173x32xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
    ins(%a, %w : tensor<32xf16>, tensor<173x32xf16>) outs(%start : tensor<173xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<173xf16>
  return %r : tensor<173xf16>
}
