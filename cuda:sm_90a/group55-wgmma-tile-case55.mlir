func.func @case55(%a: tensor<1x2x101x1xf16>, %w: tensor<101x448xf16, #nm.encoding<7:20, block = 1x256, dim = 0>>, %c: tensor<1x2x1x448xf16>) -> tensor<1x2x1x448xf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<1x2x1x448xf16>) -> tensor<1x2x1x448xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d2)>, affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<1x2x101x1xf16>, tensor<101x448xf16, #nm.encoding<7:20, block = 1x256, dim = 0>>) outs(%start : tensor<1x2x1x448xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<1x2x1x448xf16>
  %e = tensor.empty() : tensor<1x2x1x448xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%r : tensor<1x2x1x448xf16>) outs(%e : tensor<1x2x1x448xf16>) {
  ^bb0(%sum: f16, %unused: f16):
    %t0 = arith.extf %sum : f16 to f32
    %y = arith.truncf %t0 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<1x2x1x448xf16>
  return %result : tensor<1x2x1x448xf16>
}
