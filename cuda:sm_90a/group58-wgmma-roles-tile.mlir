func.func @case58(%a: tensor<1x1x152x284xf16>, %w: tensor<152x74xf16, #nm.encoding<3:4, block = 1x64, dim = 0>>, %c: tensor<1x1x284x74xf16>, %m0: tensor<1x1x284xf32>) -> tensor<1x1x284x74xbf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<1x1x284x74xf16>) -> tensor<1x1x284x74xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d2)>, affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<1x1x152x284xf16>, tensor<152x74xf16, #nm.encoding<3:4, block = 1x64, dim = 0>>) outs(%start : tensor<1x1x284x74xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<1x1x284x74xf16>
  %e = tensor.empty() : tensor<1x1x284x74xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%r, %m0 : tensor<1x1x284x74xf16>, tensor<1x1x284xf32>) outs(%e : tensor<1x1x284x74xbf16>) {
  ^bb0(%sum: f16, %e1: f32, %unused: bf16):
    %t0 = arith.extf %sum : f16 to f32
    %t1 = arith.mulf %t0, %e1 : f32
    %t2 = arith.constant 0.0 : f32
    %t3 = arith.maximumf %t1, %t2 : f32
    %y = arith.truncf %t3 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<1x1x284x74xbf16>
  return %result : tensor<1x1x284x74xbf16>
}
