func.func @case110(%a: tensor<?x147xf8E4M3FN>, %w: tensor<147x224xf8E4M3FN, #nm.encoding<2:8, block = 1x8, dim = 0>>, %c: tensor<224x?xf32>, %m0: tensor<?xf32>, %m1: tensor<224xf32>, %m2: tensor<224xf32>) -> tensor<224x?xf16> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<224x?xf32>) -> tensor<224x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x147xf8E4M3FN>, tensor<147x224xf8E4M3FN, #nm.encoding<2:8, block = 1x8, dim = 0>>) outs(%start : tensor<224x?xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %z: f32):
    %x1 = arith.extf %x : f8E4M3FN to f32
    %y1 = arith.extf %y : f8E4M3FN to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<224x?xf32>
  %i1 = arith.constant 1 : index
  %d1 = tensor.dim %c, %i1 : tensor<224x?xf32>
  %e = tensor.empty(%d1) : tensor<224x?xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<224x?xf32>, tensor<?xf32>, tensor<224xf32>, tensor<224xf32>) outs(%e : tensor<224x?xf16>) {
  ^bb0(%sum: f32, %e1: f32, %e2: f32, %e3: f32, %unused: f16):
    %t0 = arith.mulf %sum, %e1 : f32
    %t1 = arith.mulf %t0, %e2 : f32
    %t2 = arith.addf %t1, %e3 : f32
    %t3 = arith.constant 0.0 : f32
    %t4 = arith.maximumf %t2, %t3 : f32
    %y = arith.truncf %t4 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<224x?xf16>
  return %result : tensor<224x?xf16>
}
