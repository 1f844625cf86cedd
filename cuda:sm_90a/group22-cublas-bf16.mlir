func.func @case22(%a: tensor<?x512xbf16>, %w: tensor<512x238xbf16, #nm.encoding<4:4, block = 64x64, dim = 0>>, %c: tensor<?x238xf32>, %m0: tensor<238xf32>, %m1: tensor<?x238xf32>) -> tensor<?x238xf16> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<?x238xf32>) -> tensor<?x238xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x512xbf16>, tensor<512x238xbf16, #nm.encoding<4:4, block = 64x64, dim = 0>>) outs(%start : tensor<?x238xf32>) {
  ^bb0(%x: bf16, %y: bf16, %z: f32):
    %x1 = arith.extf %x : bf16 to f32
    %y1 = arith.extf %y : bf16 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x238xf32>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x238xf32>
  %e = tensor.empty(%d0) : tensor<?x238xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<?x238xf32>, tensor<238xf32>, tensor<?x238xf32>) outs(%e : tensor<?x238xf16>) {
  ^bb0(%sum: f32, %e3: f32, %e4: f32, %unused: f16):
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
    %t14 = arith.addf %t13, %e4 : f32
    %y = arith.truncf %t14 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<?x238xf16>
  return %result : tensor<?x238xf16>
}
