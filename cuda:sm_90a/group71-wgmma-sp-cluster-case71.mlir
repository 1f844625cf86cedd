func.func @case71(%a: tensor<68x144xf16>, %w: tensor<23x144xf16, #nm.encoding<2:4, block = 1x16, dim = 1>>, %c: tensor<68x23xf32>) -> tensor<68x23xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<68x23xf32>) -> tensor<68x23xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<68x144xf16>, tensor<23x144xf16, #nm.encoding<2:4, block = 1x16, dim = 1>>) outs(%start : tensor<68x23xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %x1 = arith.extf %x : f16 to f32
    %y1 = arith.extf %y : f16 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<68x23xf32>
  return %r : tensor<68x23xf32>
}
