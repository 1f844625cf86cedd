func.func @case88(%a: tensor<4x66xf16>, %q: tensor<66x127xi8, #nm.encoding<2:20, dim = 0>>, %c: tensor<127x4xf16>, %scales: tensor<127x1xf16>) -> tensor<127x4xf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<127x4xf16>) -> tensor<127x4xf16>
  %dense = tensor.empty() : tensor<66x127xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0 floordiv 16384)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%q, %scales : tensor<66x127xi8, #nm.encoding<2:20, dim = 0>>, tensor<127x1xf16>) outs(%dense : tensor<66x127xf16>) {
  ^bb0(%value: i8, %scale: f16, %old: f16):
    %exact = arith.sitofp %value : i8 to f16
    %weight = arith.mulf %scale, %exact : f16
    linalg.yield %weight : f16
  } -> tensor<66x127xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<4x66xf16>, tensor<66x127xf16>) outs(%start : tensor<127x4xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<127x4xf16>
  return %r : tensor<127x4xf16>
}
