func.func @case69(%a: tensor<1x3x248x102xf16>, %w: tensor<102x64xf16, #nm.encoding<1:3, block = 1x5, dim = 0>>, %c: tensor<1x3x248x64xf16>, %m0: tensor<f32>) -> tensor<1x3x248x64xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<1x3x248x102xf16>, tensor<102x64xf16, #nm.encoding<1:3, block = 1x5, dim = 0>>) outs(%c : tensor<1x3x248x64xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<1x3x248x64xf16>
  %e = tensor.empty() : tensor<1x3x248x64xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> ()>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%r, %m0 : tensor<1x3x248x64xf16>, tensor<f32>) outs(%e : tensor<1x3x248x64xf16>) {
  ^bb0(%sum: f16, %e0: f32, %unused: f16):
    %t0 = arith.extf %sum : f16 to f32
    %t1 = arith.mulf %t0, %e0 : f32
    %t2 = arith.constant 0.0 : f32
    %t3 = arith.maximumf %t1, %t2 : f32
    %y = arith.truncf %t3 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<1x3x248x64xf16>
  return %result : tensor<1x3x248x64xf16>
}
