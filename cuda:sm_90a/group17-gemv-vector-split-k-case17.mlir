func.func @case17(%a: tensor<64xf32>, %w: tensor<117x64xf32, #nm.encoding<9:16, block = 1x8, dim = 1>>, %c: tensor<117xf32>) -> tensor<117xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
    ins(%a, %w : tensor<64xf32>, tensor<117x64xf32, #nm.encoding<9:16, block = 1x8, dim = 1>>) outs(%c : tensor<117xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<117xf32>
  %e = tensor.empty() : tensor<117xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%r : tensor<117xf32>) outs(%e : tensor<117xbf16>) {
  ^bb0(%sum: f32, %unused: bf16):
    %t0 = arith.negf %sum : f32
    %t1 = math.exp %t0 : f32
    %t2 = arith.constant 1.0 : f32
    %t3 = arith.addf %t1, %t2 : f32
    %t4 = arith.divf %sum, %t3 : f32
    %y = arith.truncf %t4 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<117xbf16>
  return %result : tensor<117xbf16>
}
