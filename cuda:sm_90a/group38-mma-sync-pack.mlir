func.func @case38(%a: tensor<128x?xf16>, %w: tensor<128x222xf16, #nm.encoding<5:64, block = 1x32, dim = 0>>, %c: tensor<?x222xf32>) -> tensor<?x222xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<128x?xf16>, tensor<128x222xf16, #nm.encoding<5:64, block = 1x32, dim = 0>>) outs(%c : tensor<?x222xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %x1 = arith.extf %x : f16 to f32
    %y1 = arith.extf %y : f16 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x222xf32>
  return %r : tensor<?x222xf32>
}
