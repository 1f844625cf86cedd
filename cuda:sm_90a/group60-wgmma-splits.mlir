func.func @case60(%a: tensor<1x112xf32>, %w: tensor<112x185xf32, #nm.encoding<2:2, block = 32x128, dim = 0>>, %c: tensor<1x185xf32>) -> tensor<1x185xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<1x185xf32>) -> tensor<1x185xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<1x112xf32>, tensor<112x185xf32, #nm.encoding<2:2, block = 32x128, dim = 0>>) outs(%start : tensor<1x185xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x185xf32>
  %e = tensor.empty() : tensor<1x185xf32>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r : tensor<1x185xf32>) outs(%e : tensor<1x185xf32>) {
  ^bb0(%sum: f32, %unused: f32):
    %minus = arith.negf %sum : f32
    %y = arith.negf %minus : f32
    linalg.yield %y : f32
  } -> tensor<1x185xf32>
  return %result : tensor<1x185xf32>
}
