func.func @case49(%a: tensor<13x17xf16>, %w: tensor<256x17xf16, #nm.encoding<1:32, block = 1x64, dim = 1>>, %c: tensor<13x256xf16>, %m0: tensor<f16>, %m1: tensor<256xf16>) -> tensor<13x256xf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<13x256xf16>) -> tensor<13x256xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<13x17xf16>, tensor<256x17xf16, #nm.encoding<1:32, block = 1x64, dim = 1>>) outs(%start : tensor<13x256xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<13x256xf16>
  %e = tensor.empty() : tensor<13x256xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<13x256xf16>, tensor<f16>, tensor<256xf16>) outs(%e : tensor<13x256xf16>) {
  ^bb0(%sum: f16, %e0: f16, %e3: f16, %unused: f16):
    %t0 = arith.extf %sum : f16 to f32
    %t1 = arith.extf %e0 : f16 to f32
    %t2 = arith.mulf %t0, %t1 : f32
    %t3 = arith.extf %e3 : f16 to f32
    %t4 = arith.addf %t2, %t3 : f32
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
    %y = arith.truncf %t17 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<13x256xf16>
  return %result : tensor<13x256xf16>
}
