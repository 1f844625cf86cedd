func.func @case86(%a: tensor<3x165x256xf8E4M3FN>, %w: tensor<64x256xf8E4M3FN, #nm.encoding<2:8, block = 1x16, dim = 1>>, %c: tensor<3x165x64xf32>) -> tensor<3x165x64xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<3x165x64xf32>) -> tensor<3x165x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<3x165x256xf8E4M3FN>, tensor<64x256xf8E4M3FN, #nm.encoding<2:8, block = 1x16, dim = 1>>) outs(%start : tensor<3x165x64xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %z: f32):
    %x1 = arith.extf %x : f8E4M3FN to f32
    %y1 = arith.extf %y : f8E4M3FN to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<3x165x64xf32>
  return %r : tensor<3x165x64xf32>
}
