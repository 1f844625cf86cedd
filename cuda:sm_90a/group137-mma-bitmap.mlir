func.func @case137(%a: tensor<128x?xf16>, %w: tensor<128x64xf16, #nm.encoding<26:32, block = 1x8, dim = 0>>, %c: tensor<?x64xf16>, %m0: tensor<f16>, %m1: tensor<?xf32>, %m2: tensor<64xf32>) -> tensor<?x64xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<128x?xf16>, tensor<128x64xf16, #nm.encoding<26:32, block = 1x8, dim = 0>>) outs(%c : tensor<?x64xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<?x64xf16>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x64xf16>
  %e = tensor.empty(%d0) : tensor<?x64xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<?x64xf16>, tensor<f16>, tensor<?xf32>, tensor<64xf32>) outs(%e : tensor<?x64xbf16>) {
  ^bb0(%sum: f16, %e0: f16, %e1: f32, %e2: f32, %unused: bf16):
    %t0 = arith.extf %sum : f16 to f32
    %t1 = arith.extf %e0 : f16 to f32
    %t2 = arith.mulf %t0, %t1 : f32
    %t3 = arith.mulf %t2, %e1 : f32
    %t4 = arith.mulf %t3, %e2 : f32
    %t5 = arith.mulf %t4, %t4 : f32
    %t6 = arith.constant 0.044715 : f32
    %t7 = arith.mulf %t4, %t6 : f32
    %t8 = arith.mulf %t5, %t7 : f32
    %t9 = arith.addf %t4, %t8 : f32
    %t10 = arith.constant 0.797884583 : f32
    %t11 = arith.mulf %t9, %t10 : f32
    %t12 = math.tanh %t11 : f32
    %t13 = arith.constant 0.5 : f32
    %t14 = arith.mulf %t4, %t13 : f32
    %t15 = arith.constant 1.0 : f32
    %t16 = arith.addf %t12, %t15 : f32
    %t17 = arith.mulf %t14, %t16 : f32
    %y = arith.truncf %t17 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<?x64xbf16>
  return %result : tensor<?x64xbf16>
}
