func.func @case24(%a: tensor<146x16xf32>, %w: tensor<146x143xf32, #nm.encoding<1:2, block = 64x64, dim = 0>>, %c: tensor<16x143xf32>, %m0: tensor<16xf32>) -> tensor<16x143xf16> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<16x143xf32>) -> tensor<16x143xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<146x16xf32>, tensor<146x143xf32, #nm.encoding<1:2, block = 64x64, dim = 0>>) outs(%start : tensor<16x143xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<16x143xf32>
  %e = tensor.empty() : tensor<16x143xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0 : tensor<16x143xf32>, tensor<16xf32>) outs(%e : tensor<16x143xf16>) {
  ^bb0(%sum: f32, %e1: f32, %unused: f16):
    %t0 = arith.mulf %sum, %e1 : f32
    %t1 = arith.constant 0.0 : f32
    %t2 = arith.maximumf %t0, %t1 : f32
    %y = arith.truncf %t2 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<16x143xf16>
  return %result : tensor<16x143xf16>
}
