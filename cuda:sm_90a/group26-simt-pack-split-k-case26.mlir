func.func @case26(%a: tensor<?x?x52xf32>, %w: tensor<192x52xf32, #nm.encoding<2:8, block = 1x32, dim = 1>>, %c: tensor<?x?x192xf32>, %m0: tensor<192xf32>, %m1: tensor<192xf32>) -> tensor<?x?x192xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x?x52xf32>, tensor<192x52xf32, #nm.encoding<2:8, block = 1x32, dim = 1>>) outs(%c : tensor<?x?x192xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?x192xf32>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x?x192xf32>
  %i1 = arith.constant 1 : index
  %d1 = tensor.dim %c, %i1 : tensor<?x?x192xf32>
  %e = tensor.empty(%d0, %d1) : tensor<?x?x192xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<?x?x192xf32>, tensor<192xf32>, tensor<192xf32>) outs(%e : tensor<?x?x192xbf16>) {
  ^bb0(%sum: f32, %e2: f32, %e3: f32, %unused: bf16):
    %t0 = arith.mulf %sum, %e2 : f32
    %t1 = arith.addf %t0, %e3 : f32
    %t2 = arith.constant 0.0 : f32
    %t3 = arith.maximumf %t1, %t2 : f32
    %y = arith.truncf %t3 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<?x?x192xbf16>
  return %result : tensor<?x?x192xbf16>
}
