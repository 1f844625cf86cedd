func.func @case126(%a: tensor<?x96xf8E4M3FN>, %w: tensor<160x96xf8E4M3FN, #nm.encoding<1:2, block = 16x64, dim = 1>>, %c: tensor<?x160xf32>, %m0: tensor<160xf32>) -> tensor<?x160xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x96xf8E4M3FN>, tensor<160x96xf8E4M3FN, #nm.encoding<1:2, block = 16x64, dim = 1>>) outs(%c : tensor<?x160xf32>) attrs = {nm.arithmetic = #nm.arithmetic<fast_accum>} {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %z: f32):
    %x1 = arith.extf %x : f8E4M3FN to f32
    %y1 = arith.extf %y : f8E4M3FN to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x160xf32>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x160xf32>
  %e = tensor.empty(%d0) : tensor<?x160xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0 : tensor<?x160xf32>, tensor<160xf32>) outs(%e : tensor<?x160xbf16>) {
  ^bb0(%sum: f32, %e3: f32, %unused: bf16):
    %t0 = arith.addf %sum, %e3 : f32
    %y = arith.truncf %t0 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<?x160xbf16>
  return %result : tensor<?x160xbf16>
}
