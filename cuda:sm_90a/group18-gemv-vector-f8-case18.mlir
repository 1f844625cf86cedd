func.func @case18(%a: tensor<94xf8E4M3FN>, %w: tensor<120x94xf8E4M3FN, #nm.encoding<2:12, block = 1x32, dim = 1>>, %c: tensor<120xf32>) -> tensor<120xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<120xf32>) -> tensor<120xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
    ins(%a, %w : tensor<94xf8E4M3FN>, tensor<120x94xf8E4M3FN, #nm.encoding<2:12, block = 1x32, dim = 1>>) outs(%start : tensor<120xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %z: f32):
    %x1 = arith.extf %x : f8E4M3FN to f32
    %y1 = arith.extf %y : f8E4M3FN to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<120xf32>
  return %r : tensor<120xf32>
}
