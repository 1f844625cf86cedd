func.func @case79(%a: tensor<2x185x184xf32>, %w: tensor<128x184xf32, #nm.encoding<1:4, block = 1x64, dim = 1>>, %c: tensor<2x185x128xf32>, %m0: tensor<2x185x128xf32>) -> tensor<2x185x128xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<2x185x128xf32>) -> tensor<2x185x128xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<2x185x184xf32>, tensor<128x184xf32, #nm.encoding<1:4, block = 1x64, dim = 1>>) outs(%start : tensor<2x185x128xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x185x128xf32>
  %e = tensor.empty() : tensor<2x185x128xf32>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%r, %m0 : tensor<2x185x128xf32>, tensor<2x185x128xf32>) outs(%e : tensor<2x185x128xf32>) {
  ^bb0(%sum: f32, %e4: f32, %unused: f32):
    %t0 = arith.constant 0.707106769 : f32
    %t1 = arith.mulf %sum, %t0 : f32
    %t2 = math.erf %t1 : f32
    %t3 = arith.constant 0.5 : f32
    %t4 = arith.mulf %sum, %t3 : f32
    %t5 = arith.constant 1.0 : f32
    %t6 = arith.addf %t2, %t5 : f32
    %t7 = arith.mulf %t4, %t6 : f32
    %t8 = arith.addf %t7, %e4 : f32
    %minus = arith.negf %t8 : f32
    %y = arith.negf %minus : f32
    linalg.yield %y : f32
  } -> tensor<2x185x128xf32>
  return %result : tensor<2x185x128xf32>
}
