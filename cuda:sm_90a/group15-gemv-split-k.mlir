func.func @case15(%a: tensor<?x100xf32>, %w: tensor<100x134xf32, #nm.encoding<1:2, dim = 0>>, %c: tensor<?x134xf32>) -> tensor<?x134xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<?x134xf32>) -> tensor<?x134xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x100xf32>, tensor<100x134xf32, #nm.encoding<1:2, dim = 0>>) outs(%start : tensor<?x134xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x134xf32>
  return %r : tensor<?x134xf32>
}
