func.func @case12(%a: tensor<28x160xf32>, %w: tensor<160x286xf32, #nm.encoding<6:32, block = 1x256, dim = 0>>, %c: tensor<28x286xf32>, %m0: tensor<f32>, %m1: tensor<28xf32>, %m2: tensor<286xf32>, %m3: tensor<28x286xf32>) -> tensor<28x286xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<28x160xf32>, tensor<160x286xf32, #nm.encoding<6:32, block = 1x256, dim = 0>>) outs(%c : tensor<28x286xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<28x286xf32>
  %e = tensor.empty() : tensor<28x286xf32>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2, %m3 : tensor<28x286xf32>, tensor<f32>, tensor<28xf32>, tensor<286xf32>, tensor<28x286xf32>) outs(%e : tensor<28x286xf32>) {
  ^bb0(%sum: f32, %e0: f32, %e1: f32, %e2: f32, %e4: f32, %unused: f32):
    %t0 = arith.mulf %sum, %e0 : f32
    %t1 = arith.mulf %t0, %e1 : f32
    %t2 = arith.mulf %t1, %e2 : f32
    %t3 = arith.mulf %t2, %t2 : f32
    %t4 = arith.constant 0.044715 : f32
    %t5 = arith.mulf %t2, %t4 : f32
    %t6 = arith.mulf %t3, %t5 : f32
    %t7 = arith.addf %t2, %t6 : f32
    %t8 = arith.constant 0.797884583 : f32
    %t9 = arith.mulf %t7, %t8 : f32
    %t10 = math.tanh %t9 : f32
    %t11 = arith.constant 0.5 : f32
    %t12 = arith.mulf %t2, %t11 : f32
    %t13 = arith.constant 1.0 : f32
    %t14 = arith.addf %t10, %t13 : f32
    %t15 = arith.mulf %t12, %t14 : f32
    %t16 = arith.addf %t15, %e4 : f32
    %minus = arith.negf %t16 : f32
    %y = arith.negf %minus : f32
    linalg.yield %y : f32
  } -> tensor<28x286xf32>
  return %result : tensor<28x286xf32>
}
