func.func @case40(%a: tensor<138x156xf16>, %w: tensor<168x156xf16, #nm.encoding<2:4, block = 1x2, dim = 1>>, %c: tensor<168x138xf16>, %m0: tensor<f32>, %m1: tensor<168x138xf32>) -> tensor<168x138xf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<168x138xf16>) -> tensor<168x138xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<138x156xf16>, tensor<168x156xf16, #nm.encoding<2:4, block = 1x2, dim = 1>>) outs(%start : tensor<168x138xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<168x138xf16>
  %e = tensor.empty() : tensor<168x138xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<168x138xf16>, tensor<f32>, tensor<168x138xf32>) outs(%e : tensor<168x138xf16>) {
  ^bb0(%sum: f16, %e0: f32, %e4: f32, %unused: f16):
    %t0 = arith.extf %sum : f16 to f32
    %t1 = arith.mulf %t0, %e0 : f32
    %t2 = arith.constant 0.707106769 : f32
    %t3 = arith.mulf %t1, %t2 : f32
    %t4 = math.erf %t3 : f32
    %t5 = arith.constant 0.5 : f32
    %t6 = arith.mulf %t1, %t5 : f32
    %t7 = arith.constant 1.0 : f32
    %t8 = arith.addf %t4, %t7 : f32
    %t9 = arith.mulf %t6, %t8 : f32
    %t10 = arith.addf %t9, %e4 : f32
    %y = arith.truncf %t10 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<168x138xf16>
  return %result : tensor<168x138xf16>
}
