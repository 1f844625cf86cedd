func.func @case140(%a: tensor<?x32xbf16>, %w: tensor<32x96xbf16, #nm.encoding<16:32, dim = 0>>, %c: tensor<?x96xbf16>, %m0: tensor<f32>, %m1: tensor<?xf32>, %m2: tensor<96xf32>) -> tensor<?x96xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x32xbf16>, tensor<32x96xbf16, #nm.encoding<16:32, dim = 0>>) outs(%c : tensor<?x96xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<?x96xbf16>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x96xbf16>
  %e = tensor.empty(%d0) : tensor<?x96xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<?x96xbf16>, tensor<f32>, tensor<?xf32>, tensor<96xf32>) outs(%e : tensor<?x96xbf16>) {
  ^bb0(%sum: bf16, %e0: f32, %e1: f32, %e3: f32, %unused: bf16):
    %t0 = arith.extf %sum : bf16 to f32
    %t1 = arith.mulf %t0, %e0 : f32
    %t2 = arith.mulf %t1, %e1 : f32
    %t3 = arith.addf %t2, %e3 : f32
    %t4 = arith.constant 0.0 : f32
    %t5 = arith.maximumf %t3, %t4 : f32
    %y = arith.truncf %t5 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<?x96xbf16>
  return %result : tensor<?x96xbf16>
}
