func.func @case104(%a: tensor<80xf8E5M2>, %w: tensor<62x80xf8E5M2, #nm.encoding<3:5, block = 1x24, dim = 1>>, %c: tensor<62xf32>, %m0: tensor<f32>, %m1: tensor<62xf32>) -> tensor<62xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
    ins(%a, %w : tensor<80xf8E5M2>, tensor<62x80xf8E5M2, #nm.encoding<3:5, block = 1x24, dim = 1>>) outs(%c : tensor<62xf32>) {
  ^bb0(%x: f8E5M2, %y: f8E5M2, %z: f32):
    %x1 = arith.extf %x : f8E5M2 to f32
    %y1 = arith.extf %y : f8E5M2 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<62xf32>
  %e = tensor.empty() : tensor<62xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%r, %m0, %m1 : tensor<62xf32>, tensor<f32>, tensor<62xf32>) outs(%e : tensor<62xf16>) {
  ^bb0(%sum: f32, %e0: f32, %e3: f32, %unused: f16):
    %t0 = arith.mulf %sum, %e0 : f32
    %t1 = arith.addf %t0, %e3 : f32
    %y = arith.truncf %t1 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<62xf16>
  return %result : tensor<62xf16>
}
