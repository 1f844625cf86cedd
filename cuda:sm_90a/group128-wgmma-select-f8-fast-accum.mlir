func.func @case128(%a: tensor<?x80xf8E5M2>, %w: tensor<46x80xf8E5M2, #nm.encoding<4:8, block = 1x16, dim = 1>>, %c: tensor<?x46xf32>, %m0: tensor<46xf32>) -> tensor<?x46xbf16> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<?x46xf32>) -> tensor<?x46xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x80xf8E5M2>, tensor<46x80xf8E5M2, #nm.encoding<4:8, block = 1x16, dim = 1>>) outs(%start : tensor<?x46xf32>) attrs = {nm.arithmetic = #nm.arithmetic<fast_accum>} {
  ^bb0(%x: f8E5M2, %y: f8E5M2, %z: f32):
    %x1 = arith.extf %x : f8E5M2 to f32
    %y1 = arith.extf %y : f8E5M2 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x46xf32>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x46xf32>
  %e = tensor.empty(%d0) : tensor<?x46xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0 : tensor<?x46xf32>, tensor<46xf32>) outs(%e : tensor<?x46xbf16>) {
  ^bb0(%sum: f32, %e3: f32, %unused: bf16):
    %t0 = arith.addf %sum, %e3 : f32
    %t1 = arith.mulf %t0, %t0 : f32
    %t2 = arith.constant 0.044715 : f32
    %t3 = arith.mulf %t0, %t2 : f32
    %t4 = arith.mulf %t1, %t3 : f32
    %t5 = arith.addf %t0, %t4 : f32
    %t6 = arith.constant 0.797884583 : f32
    %t7 = arith.mulf %t5, %t6 : f32
    %t8 = math.tanh %t7 : f32
    %t9 = arith.constant 0.5 : f32
    %t10 = arith.mulf %t0, %t9 : f32
    %t11 = arith.constant 1.0 : f32
    %t12 = arith.addf %t8, %t11 : f32
    %t13 = arith.mulf %t10, %t12 : f32
    %y = arith.truncf %t13 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<?x46xbf16>
  return %result : tensor<?x46xbf16>
}
