func.func @case76(%a: tensor<2x8xf16>, %w: tensor<8x141xf16, #nm.encoding<2:16, block = 1x4, dim = 0>>, %c: tensor<141x2xf16>, %m0: tensor<141xf32>) -> tensor<141x2xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<2x8xf16>, tensor<8x141xf16, #nm.encoding<2:16, block = 1x4, dim = 0>>) outs(%c : tensor<141x2xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<141x2xf16>
  %e = tensor.empty() : tensor<141x2xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0 : tensor<141x2xf16>, tensor<141xf32>) outs(%e : tensor<141x2xf16>) {
  ^bb0(%sum: f16, %e3: f32, %unused: f16):
    %t0 = arith.extf %sum : f16 to f32
    %t1 = arith.addf %t0, %e3 : f32
    %t2 = arith.constant 0.707106769 : f32
    %t3 = arith.mulf %t1, %t2 : f32
    %t4 = math.erf %t3 : f32
    %t5 = arith.constant 0.5 : f32
    %t6 = arith.mulf %t1, %t5 : f32
    %t7 = arith.constant 1.0 : f32
    %t8 = arith.addf %t4, %t7 : f32
    %t9 = arith.mulf %t6, %t8 : f32
    %y = arith.truncf %t9 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<141x2xf16>
  return %result : tensor<141x2xf16>
}
