func.func @case59(%a: tensor<192x30xf16>, %w: tensor<330x192xf16, #nm.encoding<19:24, block = 1x192, dim = 1>>, %c: tensor<30x330xf16>, %m0: tensor<330xf32>) -> tensor<30x330xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<192x30xf16>, tensor<330x192xf16, #nm.encoding<19:24, block = 1x192, dim = 1>>) outs(%c : tensor<30x330xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<30x330xf16>
  %e = tensor.empty() : tensor<30x330xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0 : tensor<30x330xf16>, tensor<330xf32>) outs(%e : tensor<30x330xbf16>) {
  ^bb0(%sum: f16, %e3: f32, %unused: bf16):
    %t0 = arith.extf %sum : f16 to f32
    %t1 = arith.addf %t0, %e3 : f32
    %t2 = arith.mulf %t1, %t1 : f32
    %t3 = arith.constant 0.044715 : f32
    %t4 = arith.mulf %t1, %t3 : f32
    %t5 = arith.mulf %t2, %t4 : f32
    %t6 = arith.addf %t1, %t5 : f32
    %t7 = arith.constant 0.797884583 : f32
    %t8 = arith.mulf %t6, %t7 : f32
    %t9 = math.tanh %t8 : f32
    %t10 = arith.constant 0.5 : f32
    %t11 = arith.mulf %t1, %t10 : f32
    %t12 = arith.constant 1.0 : f32
    %t13 = arith.addf %t9, %t12 : f32
    %t14 = arith.mulf %t11, %t13 : f32
    %y = arith.truncf %t14 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<30x330xbf16>
  return %result : tensor<30x330xbf16>
}
