func.func @case34(%a: tensor<40x?xf16>, %w: tensor<40x224xf16, #nm.encoding<4:8, block = 1x32, dim = 0>>, %c: tensor<224x?xf16>, %m0: tensor<f32>, %m1: tensor<224xf32>) -> tensor<224x?xf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<224x?xf16>) -> tensor<224x?xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<40x?xf16>, tensor<40x224xf16, #nm.encoding<4:8, block = 1x32, dim = 0>>) outs(%start : tensor<224x?xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<224x?xf16>
  %i1 = arith.constant 1 : index
  %d1 = tensor.dim %c, %i1 : tensor<224x?xf16>
  %e = tensor.empty(%d1) : tensor<224x?xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<224x?xf16>, tensor<f32>, tensor<224xf32>) outs(%e : tensor<224x?xf16>) {
  ^bb0(%sum: f16, %e0: f32, %e2: f32, %unused: f16):
    %t0 = arith.extf %sum : f16 to f32
    %t1 = arith.mulf %t0, %e0 : f32
    %t2 = arith.mulf %t1, %e2 : f32
    %t3 = arith.negf %t2 : f32
    %t4 = math.exp %t3 : f32
    %t5 = arith.constant 1.0 : f32
    %t6 = arith.addf %t4, %t5 : f32
    %t7 = arith.divf %t2, %t6 : f32
    %y = arith.truncf %t7 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<224x?xf16>
  return %result : tensor<224x?xf16>
}
