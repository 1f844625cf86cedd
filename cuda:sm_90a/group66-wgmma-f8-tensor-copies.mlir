func.func @case66(%a: tensor<?x256xf8E4M3FN>, %w: tensor<256x143xf8E4M3FN, #nm.encoding<3:6, block = 16x128, dim = 0>>, %c: tensor<?x143xf32>) -> tensor<?x143xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x256xf8E4M3FN>, tensor<256x143xf8E4M3FN, #nm.encoding<3:6, block = 16x128, dim = 0>>) outs(%c : tensor<?x143xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %z: f32):
    %x1 = arith.extf %x : f8E4M3FN to f32
    %y1 = arith.extf %y : f8E4M3FN to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x143xf32>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x143xf32>
  %e = tensor.empty(%d0) : tensor<?x143xf32>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r : tensor<?x143xf32>) outs(%e : tensor<?x143xf32>) {
  ^bb0(%sum: f32, %unused: f32):
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
    %minus = arith.negf %t12 : f32
    %y = arith.negf %minus : f32
    linalg.yield %y : f32
  } -> tensor<?x143xf32>
  return %result : tensor<?x143xf32>
}
