func.func @case116(%a: tensor<?x111xf16>, %w: tensor<215x111xf16, #nm.encoding<2:3, block = 1x16, dim = 1>>, %c: tensor<215x?xf16>, %m0: tensor<f32>, %m1: tensor<215xf32>, %m2: tensor<215x?xf32>) -> tensor<215x?xf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x111xf16>, tensor<215x111xf16, #nm.encoding<2:3, block = 1x16, dim = 1>>) outs(%c : tensor<215x?xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<215x?xf16>
  %i1 = arith.constant 1 : index
  %d1 = tensor.dim %c, %i1 : tensor<215x?xf16>
  %e = tensor.empty(%d1) : tensor<215x?xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<215x?xf16>, tensor<f32>, tensor<215xf32>, tensor<215x?xf32>) outs(%e : tensor<215x?xf16>) {
  ^bb0(%sum: f16, %e0: f32, %e3: f32, %e4: f32, %unused: f16):
    %t0 = arith.extf %sum : f16 to f32
    %t1 = arith.mulf %t0, %e0 : f32
    %t2 = arith.addf %t1, %e3 : f32
    %t3 = arith.constant 0.0 : f32
    %t4 = arith.maximumf %t2, %t3 : f32
    %t5 = arith.addf %t4, %e4 : f32
    %y = arith.truncf %t5 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<215x?xf16>
  return %result : tensor<215x?xf16>
}
