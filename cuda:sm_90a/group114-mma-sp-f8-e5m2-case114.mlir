func.func @case114(%a: tensor<64x108xf8E5M2>, %w: tensor<108x64xf8E5M2, #nm.encoding<1:12, block = 1x5, dim = 0>>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<64x108xf8E5M2>, tensor<108x64xf8E5M2, #nm.encoding<1:12, block = 1x5, dim = 0>>) outs(%start : tensor<64x64xf32>) {
  ^bb0(%x: f8E5M2, %y: f8E5M2, %z: f32):
    %x1 = arith.extf %x : f8E5M2 to f32
    %y1 = arith.extf %y : f8E5M2 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
