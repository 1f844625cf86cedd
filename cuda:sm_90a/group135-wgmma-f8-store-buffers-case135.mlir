func.func @case135(%a: tensor<3x392xf8E5M2>, %w: tensor<224x392xf8E5M2, #nm.encoding<5:8, block = 128x64, dim = 1>>, %c: tensor<3x224xf32>, %m0: tensor<3x224xf32>) -> tensor<3x224xbf16> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<3x224xf32>) -> tensor<3x224xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<3x392xf8E5M2>, tensor<224x392xf8E5M2, #nm.encoding<5:8, block = 128x64, dim = 1>>) outs(%start : tensor<3x224xf32>) {
  ^bb0(%x: f8E5M2, %y: f8E5M2, %z: f32):
    %x1 = arith.extf %x : f8E5M2 to f32
    %y1 = arith.extf %y : f8E5M2 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<3x224xf32>
  %e = tensor.empty() : tensor<3x224xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0 : tensor<3x224xf32>, tensor<3x224xf32>) outs(%e : tensor<3x224xbf16>) {
  ^bb0(%sum: f32, %e4: f32, %unused: bf16):
    %t0 = arith.addf %sum, %e4 : f32
    %y = arith.truncf %t0 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<3x224xbf16>
  return %result : tensor<3x224xbf16>
}
