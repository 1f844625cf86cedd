func.func @case43(%a: tensor<8x127xf16>, %w: tensor<32x127xf16, #nm.encoding<1:24, dim = 1>>, %c: tensor<8x32xf32>, %m0: tensor<8x32xf32>) -> tensor<8x32xf16> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<8x32xf32>) -> tensor<8x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<8x127xf16>, tensor<32x127xf16, #nm.encoding<1:24, dim = 1>>) outs(%start : tensor<8x32xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %x1 = arith.extf %x : f16 to f32
    %y1 = arith.extf %y : f16 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x32xf32>
  %e = tensor.empty() : tensor<8x32xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0 : tensor<8x32xf32>, tensor<8x32xf32>) outs(%e : tensor<8x32xf16>) {
  ^bb0(%sum: f32, %e4: f32, %unused: f16):
    %t0 = arith.addf %sum, %e4 : f32
    %y = arith.truncf %t0 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<8x32xf16>
  return %result : tensor<8x32xf16>
}
