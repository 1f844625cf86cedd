func.func @case44(%a: tensor<94x?xf16>, %w: tensor<94x216xf16, #nm.encoding<1:5, block = 1x24, dim = 0>>, %c: tensor<?x216xf16>, %m0: tensor<f32>, %m1: tensor<216xf16>) -> tensor<?x216xbf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<?x216xf16>) -> tensor<?x216xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<94x?xf16>, tensor<94x216xf16, #nm.encoding<1:5, block = 1x24, dim = 0>>) outs(%start : tensor<?x216xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<?x216xf16>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x216xf16>
  %e = tensor.empty(%d0) : tensor<?x216xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<?x216xf16>, tensor<f32>, tensor<216xf16>) outs(%e : tensor<?x216xbf16>) {
  ^bb0(%sum: f16, %e0: f32, %e3: f16, %unused: bf16):
    %t0 = arith.extf %sum : f16 to f32
    %t1 = arith.mulf %t0, %e0 : f32
    %t2 = arith.extf %e3 : f16 to f32
    %t3 = arith.addf %t1, %t2 : f32
    %y = arith.truncf %t3 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<?x216xbf16>
  return %result : tensor<?x216xbf16>
}
