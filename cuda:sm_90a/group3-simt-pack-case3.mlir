func.func @case3(%a: tensor<42x133xf32>, %w: tensor<42x365xf32, #nm.encoding<8:16, block = 1x256, dim = 0>>, %c: tensor<133x365xf32>, %m0: tensor<f32>, %m1: tensor<365xf32>, %m2: tensor<133x365xf32>) -> tensor<133x365xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<42x133xf32>, tensor<42x365xf32, #nm.encoding<8:16, block = 1x256, dim = 0>>) outs(%c : tensor<133x365xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<133x365xf32>
  %e = tensor.empty() : tensor<133x365xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<133x365xf32>, tensor<f32>, tensor<365xf32>, tensor<133x365xf32>) outs(%e : tensor<133x365xbf16>) {
  ^bb0(%sum: f32, %e0: f32, %e2: f32, %e4: f32, %unused: bf16):
    %t0 = arith.mulf %sum, %e0 : f32
    %t1 = arith.mulf %t0, %e2 : f32
    %t2 = arith.constant 0.707106769 : f32
    %t3 = arith.mulf %t1, %t2 : f32
    %t4 = math.erf %t3 : f32
    %t5 = arith.constant 0.5 : f32
    %t6 = arith.mulf %t1, %t5 : f32
    %t7 = arith.constant 1.0 : f32
    %t8 = arith.addf %t4, %t7 : f32
    %t9 = arith.mulf %t6, %t8 : f32
    %t10 = arith.addf %t9, %e4 : f32
    %y = arith.truncf %t10 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<133x365xbf16>
  return %result : tensor<133x365xbf16>
}
