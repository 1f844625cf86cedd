func.func @case112(%a: tensor<?x188xf8E4M3FN>, %w: tensor<188x82xf8E4M3FN, #nm.encoding<1:4, dim = 0>>, %c: tensor<82x?xf32>, %m0: tensor<?xf32>, %m1: tensor<82xf32>, %m2: tensor<82x?xf32>) -> tensor<82x?xbf16> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<82x?xf32>) -> tensor<82x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x188xf8E4M3FN>, tensor<188x82xf8E4M3FN, #nm.encoding<1:4, dim = 0>>) outs(%start : tensor<82x?xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %z: f32):
    %x1 = arith.extf %x : f8E4M3FN to f32
    %y1 = arith.extf %y : f8E4M3FN to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<82x?xf32>
  %i1 = arith.constant 1 : index
  %d1 = tensor.dim %c, %i1 : tensor<82x?xf32>
  %e = tensor.empty(%d1) : tensor<82x?xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<82x?xf32>, tensor<?xf32>, tensor<82xf32>, tensor<82x?xf32>) outs(%e : tensor<82x?xbf16>) {
  ^bb0(%sum: f32, %e1: f32, %e2: f32, %e4: f32, %unused: bf16):
    %t0 = arith.mulf %sum, %e1 : f32
    %t1 = arith.mulf %t0, %e2 : f32
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
    %y = arith.truncf %t15 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<82x?xbf16>
  return %result : tensor<82x?xbf16>
}
