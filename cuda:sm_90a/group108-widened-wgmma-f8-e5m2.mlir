func.func @case108(%a: tensor<?x?x15xf8E5M2>, %w: tensor<382x15xf8E5M2, #nm.encoding<1:2, block = 1x192, dim = 1>>, %c: tensor<?x?x382xf32>, %m0: tensor<f32>, %m1: tensor<382xf32>) -> tensor<?x?x382xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x?x15xf8E5M2>, tensor<382x15xf8E5M2, #nm.encoding<1:2, block = 1x192, dim = 1>>) outs(%c : tensor<?x?x382xf32>) {
  ^bb0(%x: f8E5M2, %y: f8E5M2, %z: f32):
    %x1 = arith.extf %x : f8E5M2 to f32
    %y1 = arith.extf %y : f8E5M2 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?x382xf32>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x?x382xf32>
  %i1 = arith.constant 1 : index
  %d1 = tensor.dim %c, %i1 : tensor<?x?x382xf32>
  %e = tensor.empty(%d0, %d1) : tensor<?x?x382xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> ()>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<?x?x382xf32>, tensor<f32>, tensor<382xf32>) outs(%e : tensor<?x?x382xf16>) {
  ^bb0(%sum: f32, %e0: f32, %e3: f32, %unused: f16):
    %t0 = arith.mulf %sum, %e0 : f32
    %t1 = arith.addf %t0, %e3 : f32
    %t2 = arith.constant 0.0 : f32
    %t3 = arith.maximumf %t1, %t2 : f32
    %y = arith.truncf %t3 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<?x?x382xf16>
  return %result : tensor<?x?x382xf16>
}
