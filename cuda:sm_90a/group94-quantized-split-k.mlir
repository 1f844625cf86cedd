func.func @case94(%a: tensor<19x186xf16>, %q: tensor<224x186xi8, #nm.encoding<1:8, block = 1x64, dim = 1>>, %c: tensor<19x224xf16>, %scales: tensor<224xf16>) -> tensor<19x224xf16> {
  %dense = tensor.empty() : tensor<224x186xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%q, %scales : tensor<224x186xi8, #nm.encoding<1:8, block = 1x64, dim = 1>>, tensor<224xf16>) outs(%dense : tensor<224x186xf16>) {
  ^bb0(%value: i8, %scale: f16, %old: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<224x186xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<19x186xf16>, tensor<224x186xf16>) outs(%c : tensor<19x224xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<19x224xf16>
  return %r : tensor<19x224xf16>
}
