func.func @case115(%a: tensor<?x70xf8E5M2>, %w: tensor<112x70xf8E5M2, #nm.encoding<2:4, block = 1x2, dim = 1>>, %c: tensor<?x112xf32>, %m0: tensor<f32>, %m1: tensor<112xf32>) -> tensor<?x112xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x70xf8E5M2>, tensor<112x70xf8E5M2, #nm.encoding<2:4, block = 1x2, dim = 1>>) outs(%c : tensor<?x112xf32>) {
  ^bb0(%x: f8E5M2, %y: f8E5M2, %z: f32):
    %x1 = arith.extf %x : f8E5M2 to f32
    %y1 = arith.extf %y : f8E5M2 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x112xf32>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x112xf32>
  %e = tensor.empty(%d0) : tensor<?x112xf32>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<?x112xf32>, tensor<f32>, tensor<112xf32>) outs(%e : tensor<?x112xf32>) {
  ^bb0(%sum: f32, %e0: f32, %e2: f32, %unused: f32):
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
    %minus = arith.negf %t9 : f32
    %y = arith.negf %minus : f32
    linalg.yield %y : f32
  } -> tensor<?x112xf32>
  return %result : tensor<?x112xf32>
}
