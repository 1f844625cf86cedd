func.func @case32(%a: tensor<2x148x143xf16>, %w: tensor<148x93xf16, #nm.encoding<2:2, block = 5x32, dim = 0>>, %c: tensor<2x143x93xf16>, %m0: tensor<93xf32>) -> tensor<2x143x93xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<2x148x143xf16>, tensor<148x93xf16, #nm.encoding<2:2, block = 5x32, dim = 0>>) outs(%c : tensor<2x143x93xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<2x143x93xf16>
  %e = tensor.empty() : tensor<2x143x93xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%r, %m0 : tensor<2x143x93xf16>, tensor<93xf32>) outs(%e : tensor<2x143x93xf16>) {
  ^bb0(%sum: f16, %e3: f32, %unused: f16):
    %t0 = arith.extf %sum : f16 to f32
    %t1 = arith.addf %t0, %e3 : f32
    %t2 = arith.constant 0.0 : f32
    %t3 = arith.maximumf %t1, %t2 : f32
    %y = arith.truncf %t3 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<2x143x93xf16>
  return %result : tensor<2x143x93xf16>
}
