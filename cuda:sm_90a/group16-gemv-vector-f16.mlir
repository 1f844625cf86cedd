func.func @case16(%a: tensor<20xf16>, %w: tensor<20x121xf16, #nm.encoding<1:8, block = 1x4, dim = 0>>, %c: tensor<121xf32>, %m0: tensor<121xf32>, %m1: tensor<121xf32>) -> tensor<121xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
    ins(%a, %w : tensor<20xf16>, tensor<20x121xf16, #nm.encoding<1:8, block = 1x4, dim = 0>>) outs(%c : tensor<121xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %x1 = arith.extf %x : f16 to f32
    %y1 = arith.extf %y : f16 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<121xf32>
  %e = tensor.empty() : tensor<121xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%r, %m0, %m1 : tensor<121xf32>, tensor<121xf32>, tensor<121xf32>) outs(%e : tensor<121xbf16>) {
  ^bb0(%sum: f32, %e2: f32, %e3: f32, %unused: bf16):
    %t0 = arith.mulf %sum, %e2 : f32
    %t1 = arith.addf %t0, %e3 : f32
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
    %y = arith.truncf %t14 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<121xbf16>
  return %result : tensor<121xbf16>
}
