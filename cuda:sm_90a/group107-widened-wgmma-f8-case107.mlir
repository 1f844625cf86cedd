func.func @case107(%a: tensor<28x228xf8E4M3FN>, %w: tensor<228x155xf8E4M3FN, #nm.encoding<3:4, block = 64x64, dim = 0>>, %c: tensor<28x155xf32>) -> tensor<28x155xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<28x155xf32>) -> tensor<28x155xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<28x228xf8E4M3FN>, tensor<228x155xf8E4M3FN, #nm.encoding<3:4, block = 64x64, dim = 0>>) outs(%start : tensor<28x155xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %z: f32):
    %x1 = arith.extf %x : f8E4M3FN to f32
    %y1 = arith.extf %y : f8E4M3FN to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<28x155xf32>
  return %r : tensor<28x155xf32>
}
