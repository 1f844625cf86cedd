func.func @case138(%a: tensor<38x22xbf16>, %w: tensor<22x64xbf16, #nm.encoding<1:16, block = 1x32, dim = 0>>, %c: tensor<38x64xbf16>, %m0: tensor<64xf32>, %m1: tensor<64xf32>, %m2: tensor<38x64xbf16>) -> tensor<38x64xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<38x22xbf16>, tensor<22x64xbf16, #nm.encoding<1:16, block = 1x32, dim = 0>>) outs(%c : tensor<38x64xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<38x64xbf16>
  %e = tensor.empty() : tensor<38x64xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<38x64xbf16>, tensor<64xf32>, tensor<64xf32>, tensor<38x64xbf16>) outs(%e : tensor<38x64xbf16>) {
  ^bb0(%sum: bf16, %e2: f32, %e3: f32, %e4: bf16, %unused: bf16):
    %t0 = arith.extf %sum : bf16 to f32
    %t1 = arith.mulf %t0, %e2 : f32
    %t2 = arith.addf %t1, %e3 : f32
    %t3 = arith.extf %e4 : bf16 to f32
    %t4 = arith.constant 0.707106769 : f32
    %t5 = arith.mulf %t2, %t4 : f32
    %t6 = math.erf %t5 : f32
    %t7 = arith.constant 0.5 : f32
    %t8 = arith.mulf %t2, %t7 : f32
    %t9 = arith.constant 1.0 : f32
    %t10 = arith.addf %t6, %t9 : f32
    %t11 = arith.mulf %t8, %t10 : f32
    %t12 = arith.addf %t11, %t3 : f32
    %y = arith.truncf %t12 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<38x64xbf16>
  return %result : tensor<38x64xbf16>
}
