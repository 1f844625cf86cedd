func.func @case28(%a: tensor<3x1x11x170xf32>, %w: tensor<56x170xf32, #nm.encoding<1:2, block = 16x1, dim = 1>>, %c: tensor<3x1x11x56xf32>, %m0: tensor<f32>, %m1: tensor<3x1x11x56xf32>) -> tensor<3x1x11x56xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<3x1x11x170xf32>, tensor<56x170xf32, #nm.encoding<1:2, block = 16x1, dim = 1>>) outs(%c : tensor<3x1x11x56xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<3x1x11x56xf32>
  %e = tensor.empty() : tensor<3x1x11x56xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> ()>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<3x1x11x56xf32>, tensor<f32>, tensor<3x1x11x56xf32>) outs(%e : tensor<3x1x11x56xf16>) {
  ^bb0(%sum: f32, %e0: f32, %e4: f32, %unused: f16):
    %t0 = arith.mulf %sum, %e0 : f32
    %t1 = arith.addf %t0, %e4 : f32
    %y = arith.truncf %t1 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<3x1x11x56xf16>
  return %result : tensor<3x1x11x56xf16>
}
