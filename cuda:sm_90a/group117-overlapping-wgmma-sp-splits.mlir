func.func @case117(%a: tensor<55x143xf32>, %w: tensor<143x320xf32, #nm.encoding<2:5, block = 1x256, dim = 0>>, %c: tensor<55x320xf32>, %m0: tensor<320xf32>) -> tensor<55x320xf16> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<55x320xf32>) -> tensor<55x320xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<55x143xf32>, tensor<143x320xf32, #nm.encoding<2:5, block = 1x256, dim = 0>>) outs(%start : tensor<55x320xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<55x320xf32>
  %e = tensor.empty() : tensor<55x320xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0 : tensor<55x320xf32>, tensor<320xf32>) outs(%e : tensor<55x320xf16>) {
  ^bb0(%sum: f32, %e3: f32, %unused: f16):
    %t0 = arith.addf %sum, %e3 : f32
    %t1 = arith.negf %t0 : f32
    %t2 = math.exp %t1 : f32
    %t3 = arith.constant 1.0 : f32
    %t4 = arith.addf %t2, %t3 : f32
    %t5 = arith.divf %t0, %t4 : f32
    %y = arith.truncf %t5 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<55x320xf16>
  return %result : tensor<55x320xf16>
}
