func.func @case113(%a: tensor<?x?x144xf8E4M3FN>, %w: tensor<144x84xf8E4M3FN, #nm.encoding<2:20, block = 1x6, dim = 0>>, %c: tensor<?x?x84xf32>) -> tensor<?x?x84xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x?x144xf8E4M3FN>, tensor<144x84xf8E4M3FN, #nm.encoding<2:20, block = 1x6, dim = 0>>) outs(%c : tensor<?x?x84xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %z: f32):
    %x1 = arith.extf %x : f8E4M3FN to f32
    %y1 = arith.extf %y : f8E4M3FN to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?x84xf32>
  return %r : tensor<?x?x84xf32>
}
