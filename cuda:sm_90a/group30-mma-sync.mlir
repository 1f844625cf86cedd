func.func @case30(%a: tensor<3x3x2x384xf16>, %w: tensor<384x73xf16, #nm.encoding<1:2, block = 64x64, dim = 0>>, %c: tensor<3x3x2x73xf16>, %m0: tensor<3x3x2xf16>, %m1: tensor<73xf32>, %m2: tensor<73xf32>) -> tensor<3x3x2x73xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<3x3x2x384xf16>, tensor<384x73xf16, #nm.encoding<1:2, block = 64x64, dim = 0>>) outs(%c : tensor<3x3x2x73xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<3x3x2x73xf16>
  %e = tensor.empty() : tensor<3x3x2x73xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d3)>, affine_map<(d0, d1, d2, d3) -> (d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<3x3x2x73xf16>, tensor<3x3x2xf16>, tensor<73xf32>, tensor<73xf32>) outs(%e : tensor<3x3x2x73xf16>) {
  ^bb0(%sum: f16, %e1: f16, %e2: f32, %e3: f32, %unused: f16):
    %t0 = arith.extf %sum : f16 to f32
    %t1 = arith.extf %e1 : f16 to f32
    %t2 = arith.mulf %t0, %t1 : f32
    %t3 = arith.mulf %t2, %e2 : f32
    %t4 = arith.addf %t3, %e3 : f32
    %t5 = arith.constant 0.0 : f32
    %t6 = arith.maximumf %t4, %t5 : f32
    %y = arith.truncf %t6 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<3x3x2x73xf16>
  return %result : tensor<3x3x2x73xf16>
}
