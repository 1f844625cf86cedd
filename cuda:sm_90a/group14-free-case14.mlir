func.func @case14(%a: tensor<1x2x88x64xf32>, %w: tensor<160x64xf32, #nm.encoding<55:64, block = 1x24, dim = 1>>, %c: tensor<1x2x88x160xf32>, %m0: tensor<160xf32>) -> tensor<1x2x88x160xbf16> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<1x2x88x160xf32>) -> tensor<1x2x88x160xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<1x2x88x64xf32>, tensor<160x64xf32, #nm.encoding<55:64, block = 1x24, dim = 1>>) outs(%start : tensor<1x2x88x160xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<1x2x88x160xf32>
  %e = tensor.empty() : tensor<1x2x88x160xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%r, %m0 : tensor<1x2x88x160xf32>, tensor<160xf32>) outs(%e : tensor<1x2x88x160xbf16>) {
  ^bb0(%sum: f32, %e2: f32, %unused: bf16):
    %t0 = arith.mulf %sum, %e2 : f32
    %t1 = arith.negf %t0 : f32
    %t2 = math.exp %t1 : f32
    %t3 = arith.constant 1.0 : f32
    %t4 = arith.addf %t2, %t3 : f32
    %t5 = arith.divf %t0, %t4 : f32
    %y = arith.truncf %t5 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<1x2x88x160xbf16>
  return %result : tensor<1x2x88x160xbf16>
}
