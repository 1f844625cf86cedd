func.func @case123(%a: tensor<118x126xf16>, %w: tensor<118x192xf16, #nm.encoding<3:4, block = 1x64, dim = 0>>, %c: tensor<126x192xf16>) -> tensor<126x192xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<118x126xf16>, tensor<118x192xf16, #nm.encoding<3:4, block = 1x64, dim = 0>>) outs(%c : tensor<126x192xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<126x192xf16>
  %e = tensor.empty() : tensor<126x192xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r : tensor<126x192xf16>) outs(%e : tensor<126x192xf16>) {
  ^bb0(%sum: f16, %unused: f16):
    %t0 = arith.extf %sum : f16 to f32
    %y = arith.truncf %t0 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<126x192xf16>
  return %result : tensor<126x192xf16>
}
