func.func @case142(%a: tensor<94x?xbf16>, %w: tensor<94x192xbf16, #nm.encoding<9:32, dim = 0>>, %c: tensor<?x192xbf16>, %m0: tensor<f32>, %m1: tensor<192xf32>) -> tensor<?x192xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<94x?xbf16>, tensor<94x192xbf16, #nm.encoding<9:32, dim = 0>>) outs(%c : tensor<?x192xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<?x192xbf16>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x192xbf16>
  %e = tensor.empty(%d0) : tensor<?x192xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<?x192xbf16>, tensor<f32>, tensor<192xf32>) outs(%e : tensor<?x192xbf16>) {
  ^bb0(%sum: bf16, %e0: f32, %e2: f32, %unused: bf16):
    %t0 = arith.extf %sum : bf16 to f32
    %t1 = arith.mulf %t0, %e0 : f32
    %t2 = arith.mulf %t1, %e2 : f32
    %t3 = arith.mulf %t2, %t2 : f32
    %t4 = arith.constant 0.044715 : f32
    %t5 = arith.mulf %t2, %t4 : f32
    %t6 = arith.mulf %t3, %t5 : f32
    %t7 = arith.addf %t2, %t6 : f32
    %t8 = arith.constant 0.797884583 : f32
    %t9 = arith.mulf %t7, %t8 : f32
    %t10 = math.tanh %t9 : f32
    %t11 = arith.constant 0.5 : f32
    %t12 = arith.mulf %t2, %t11 : f32
    %t13 = arith.constant 1.0 : f32
    %t14 = arith.addf %t10, %t13 : f32
    %t15 = arith.mulf %t12, %t14 : f32
    %y = arith.truncf %t15 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<?x192xbf16>
  return %result : tensor<?x192xbf16>
}
