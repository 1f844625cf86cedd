func.func @case6(%a: tensor<87x24xf32>, %w: tensor<195x24xf32, #nm.encoding<5:12, block = 1x128, dim = 1>>, %c: tensor<87x195xf32>) -> tensor<87x195xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<87x24xf32>, tensor<195x24xf32, #nm.encoding<5:12, block = 1x128, dim = 1>>) outs(%c : tensor<87x195xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<87x195xf32>
  %e = tensor.empty() : tensor<87x195xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r : tensor<87x195xf32>) outs(%e : tensor<87x195xf16>) {
  ^bb0(%sum: f32, %unused: f16):
    %t0 = arith.mulf %sum, %sum : f32
    %t1 = arith.constant 0.044715 : f32
    %t2 = arith.mulf %sum, %t1 : f32
    %t3 = arith.mulf %t0, %t2 : f32
    %t4 = arith.addf %sum, %t3 : f32
    %t5 = arith.constant 0.797884583 : f32
    %t6 = arith.mulf %t4, %t5 : f32
    %t7 = math.tanh %t6 : f32
    %t8 = arith.constant 0.5 : f32
    %t9 = arith.mulf %sum, %t8 : f32
    %t10 = arith.constant 1.0 : f32
    %t11 = arith.addf %t7, %t10 : f32
    %t12 = arith.mulf %t9, %t11 : f32
    %y = arith.truncf %t12 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<87x195xf16>
  return %result : tensor<87x195xf16>
}
