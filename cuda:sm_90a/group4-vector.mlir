func.func @case4(%a: tensor<192xf32>, %w: tensor<192x64xf32, #nm.encoding<1:12, block = 1x64, dim = 0>>, %c: tensor<64xf32>) -> tensor<64xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
    ins(%a, %w : tensor<192xf32>, tensor<192x64xf32, #nm.encoding<1:12, block = 1x64, dim = 0>>) outs(%c : tensor<64xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %result = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%r : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%sum: f32, %unused: f32):
    %minus = arith.negf %sum : f32
    %y = arith.negf %minus : f32
    linalg.yield %y : f32
  } -> tensor<64xf32>
  return %result : tensor<64xf32>
}
