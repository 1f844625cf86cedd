func.func @case92(%a: tensor<8x256xf16>, %q: tensor<256x128xi8, #nm.encoding<1:16, block = 1x8, dim = 0>>, %c: tensor<128x8xf16>, %m0: tensor<f16>, %m1: tensor<128xf32>, %m2: tensor<128x8xf32>, %scales: tensor<2x128xf16>) -> tensor<128x8xf16> {
  %dense = tensor.empty() : tensor<256x128xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0 floordiv 128, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%q, %scales : tensor<256x128xi8, #nm.encoding<1:16, block = 1x8, dim = 0>>, tensor<2x128xf16>) outs(%dense : tensor<256x128xf16>) {
  ^bb0(%value: i8, %scale: f16, %old: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<256x128xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<8x256xf16>, tensor<256x128xf16>) outs(%c : tensor<128x8xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<128x8xf16>
  %e = tensor.empty() : tensor<128x8xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<128x8xf16>, tensor<f16>, tensor<128xf32>, tensor<128x8xf32>) outs(%e : tensor<128x8xf16>) {
  ^bb0(%sum: f16, %e0: f16, %e2: f32, %e4: f32, %unused: f16):
    %t0 = arith.extf %sum : f16 to f32
    %t1 = arith.extf %e0 : f16 to f32
    %t2 = arith.mulf %t0, %t1 : f32
    %t3 = arith.mulf %t2, %e2 : f32
    %t4 = arith.mulf %t3, %t3 : f32
    %t5 = arith.constant 0.044715 : f32
    %t6 = arith.mulf %t3, %t5 : f32
    %t7 = arith.mulf %t4, %t6 : f32
    %t8 = arith.addf %t3, %t7 : f32
    %t9 = arith.constant 0.797884583 : f32
    %t10 = arith.mulf %t8, %t9 : f32
    %t11 = math.tanh %t10 : f32
    %t12 = arith.constant 0.5 : f32
    %t13 = arith.mulf %t3, %t12 : f32
    %t14 = arith.constant 1.0 : f32
    %t15 = arith.addf %t11, %t14 : f32
    %t16 = arith.mulf %t13, %t15 : f32
    %t17 = arith.addf %t16, %e4 : f32
    %y = arith.truncf %t17 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<128x8xf16>
  return %result : tensor<128x8xf16>
}
