func.func @case81(%a: tensor<4x256xf32>, %w: tensor<219x256xf32, #nm.encoding<1:16, block = 1x128, dim = 1>>, %c: tensor<4x219xf32>, %m0: tensor<f32>, %m1: tensor<4xf32>, %m2: tensor<4x219xf32>) -> tensor<4x219xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<4x219xf32>) -> tensor<4x219xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<4x256xf32>, tensor<219x256xf32, #nm.encoding<1:16, block = 1x128, dim = 1>>) outs(%start : tensor<4x219xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x219xf32>
  %e = tensor.empty() : tensor<4x219xf32>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<4x219xf32>, tensor<f32>, tensor<4xf32>, tensor<4x219xf32>) outs(%e : tensor<4x219xf32>) {
  ^bb0(%sum: f32, %e0: f32, %e1: f32, %e4: f32, %unused: f32):
    %t0 = arith.mulf %sum, %e0 : f32
    %t1 = arith.mulf %t0, %e1 : f32
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
    %t15 = arith.addf %t14, %e4 : f32
    %minus = arith.negf %t15 : f32
    %y = arith.negf %minus : f32
    linalg.yield %y : f32
  } -> tensor<4x219xf32>
  return %result : tensor<4x219xf32>
}
