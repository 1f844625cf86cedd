func.func @case20(%a: tensor<145x191xf32>, %w: tensor<145x89xf32, #nm.encoding<3:4, block = 4x4, dim = 0>>, %c: tensor<191x89xf32>, %m0: tensor<f32>, %m1: tensor<191xf32>, %m2: tensor<89xf32>, %m3: tensor<89xf32>, %m4: tensor<191x89xf32>) -> tensor<191x89xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<145x191xf32>, tensor<145x89xf32, #nm.encoding<3:4, block = 4x4, dim = 0>>) outs(%c : tensor<191x89xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<191x89xf32>
  %e = tensor.empty() : tensor<191x89xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2, %m3, %m4 : tensor<191x89xf32>, tensor<f32>, tensor<191xf32>, tensor<89xf32>, tensor<89xf32>, tensor<191x89xf32>) outs(%e : tensor<191x89xf16>) {
  ^bb0(%sum: f32, %e0: f32, %e1: f32, %e2: f32, %e3: f32, %e4: f32, %unused: f16):
    %t0 = arith.mulf %sum, %e0 : f32
    %t1 = arith.mulf %t0, %e1 : f32
    %t2 = arith.mulf %t1, %e2 : f32
    %t3 = arith.addf %t2, %e3 : f32
    %t4 = arith.negf %t3 : f32
    %t5 = math.exp %t4 : f32
    %t6 = arith.constant 1.0 : f32
    %t7 = arith.addf %t5, %t6 : f32
    %t8 = arith.divf %t3, %t7 : f32
    %t9 = arith.addf %t8, %e4 : f32
    %y = arith.truncf %t9 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<191x89xf16>
  return %result : tensor<191x89xf16>
}
