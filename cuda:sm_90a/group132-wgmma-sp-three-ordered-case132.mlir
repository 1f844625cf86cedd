func.func @case132(%a: tensor<?x?x?x256xf8E5M2>, %w: tensor<426x256xf8E5M2, #nm.encoding<1:64, block = 1x256, dim = 1>>, %c: tensor<?x?x426x?xf32>) -> tensor<?x?x426x?xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<?x?x426x?xf32>) -> tensor<?x?x426x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d2)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x?x?x256xf8E5M2>, tensor<426x256xf8E5M2, #nm.encoding<1:64, block = 1x256, dim = 1>>) outs(%start : tensor<?x?x426x?xf32>) {
  ^bb0(%x: f8E5M2, %y: f8E5M2, %z: f32):
    %x1 = arith.extf %x : f8E5M2 to f32
    %y1 = arith.extf %y : f8E5M2 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?x426x?xf32>
  return %r : tensor<?x?x426x?xf32>
}
