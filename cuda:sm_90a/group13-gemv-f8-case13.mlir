func.func @case13(%a: tensor<?x?x147xf8E4M3FN>, %w: tensor<147x186xf8E4M3FN, #nm.encoding<2:4, block = 16x1, dim = 0>>, %c: tensor<?x?x186xf32>) -> tensor<?x?x186xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<?x?x186xf32>) -> tensor<?x?x186xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x?x147xf8E4M3FN>, tensor<147x186xf8E4M3FN, #nm.encoding<2:4, block = 16x1, dim = 0>>) outs(%start : tensor<?x?x186xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %z: f32):
    %x1 = arith.extf %x : f8E4M3FN to f32
    %y1 = arith.extf %y : f8E4M3FN to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?x186xf32>
  return %r : tensor<?x?x186xf32>
}
