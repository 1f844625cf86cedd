func.func @case75(%a: tensor<284x132xf8E4M3FN>, %w: tensor<132x182xf8E4M3FN, #nm.encoding<2:4, dim = 0>>, %c: tensor<182x284xf32>, %m0: tensor<182xf32>, %m1: tensor<182xf32>, %m2: tensor<182x284xf32>) -> tensor<182x284xbf16> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<182x284xf32>) -> tensor<182x284xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<284x132xf8E4M3FN>, tensor<132x182xf8E4M3FN, #nm.encoding<2:4, dim = 0>>) outs(%start : tensor<182x284xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %z: f32):
    %x1 = arith.extf %x : f8E4M3FN to f32
    %y1 = arith.extf %y : f8E4M3FN to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<182x284xf32>
  %e = tensor.empty() : tensor<182x284xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<182x284xf32>, tensor<182xf32>, tensor<182xf32>, tensor<182x284xf32>) outs(%e : tensor<182x284xbf16>) {
  ^bb0(%sum: f32, %e2: f32, %e3: f32, %e4: f32, %unused: bf16):
    %t0 = arith.mulf %sum, %e2 : f32
    %t1 = arith.addf %t0, %e3 : f32
    %t2 = arith.addf %t1, %e4 : f32
    %y = arith.truncf %t2 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<182x284xbf16>
  return %result : tensor<182x284xbf16>
}
