func.func @case119(%a: tensor<75x88xbf16>, %w: tensor<96x75xbf16, #nm.encoding<3:8, block = 1x24, dim = 1>>, %c: tensor<96x88xbf16>, %m0: tensor<f32>, %m1: tensor<88xbf16>) -> tensor<96x88xbf16> {
  %zero = arith.constant 0.0 : bf16
  %start = linalg.fill ins(%zero : bf16) outs(%c : tensor<96x88xbf16>) -> tensor<96x88xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<75x88xbf16>, tensor<96x75xbf16, #nm.encoding<3:8, block = 1x24, dim = 1>>) outs(%start : tensor<96x88xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<96x88xbf16>
  %e = tensor.empty() : tensor<96x88xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<96x88xbf16>, tensor<f32>, tensor<88xbf16>) outs(%e : tensor<96x88xbf16>) {
  ^bb0(%sum: bf16, %e0: f32, %e1: bf16, %unused: bf16):
    %t0 = arith.extf %sum : bf16 to f32
    %t1 = arith.mulf %t0, %e0 : f32
    %t2 = arith.extf %e1 : bf16 to f32
    %t3 = arith.mulf %t1, %t2 : f32
    %t4 = arith.mulf %t3, %t3 : f32
    %t5 = arith.constant 0.044715 : f32
    %t6 = arith.mulf %t3, %t5 : f32
    %t7 = arith.mulf %t4, %t6 : f32
    %t8 = arith.addf %t3, %t7 : f32
    %t9 = arith.constant 0.797884583 : f32
    %t10 = arith.mulf %t8, %t9 : f32
    %t11 = math.tanh %t10 : f32
    %t12 = arith.constant 0.5 : f32
    %t13 = arith.mulf %t3, %t12 : f32
    %t14 = arith.constant 1.0 : f32
    %t15 = arith.addf %t11, %t14 : f32
    %t16 = arith.mulf %t13, %t15 : f32
    %y = arith.truncf %t16 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<96x88xbf16>
  return %result : tensor<96x88xbf16>
}
