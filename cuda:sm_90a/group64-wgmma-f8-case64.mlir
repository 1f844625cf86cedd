func.func @case64(%a: tensor<204x728xf8E4M3FN>, %w: tensor<223x728xf8E4M3FN, #nm.encoding<2:8, block = 32x64, dim = 1>>, %c: tensor<204x223xf32>, %m0: tensor<f32>, %m1: tensor<223xf32>) -> tensor<204x223xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<204x223xf32>) -> tensor<204x223xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<204x728xf8E4M3FN>, tensor<223x728xf8E4M3FN, #nm.encoding<2:8, block = 32x64, dim = 1>>) outs(%start : tensor<204x223xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %z: f32):
    %x1 = arith.extf %x : f8E4M3FN to f32
    %y1 = arith.extf %y : f8E4M3FN to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<204x223xf32>
  %e = tensor.empty() : tensor<204x223xf32>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<204x223xf32>, tensor<f32>, tensor<223xf32>) outs(%e : tensor<204x223xf32>) {
  ^bb0(%sum: f32, %e0: f32, %e2: f32, %unused: f32):
    %t0 = arith.mulf %sum, %e0 : f32
    %t1 = arith.mulf %t0, %e2 : f32
    %t2 = arith.negf %t1 : f32
    %t3 = math.exp %t2 : f32
    %t4 = arith.constant 1.0 : f32
    %t5 = arith.addf %t3, %t4 : f32
    %t6 = arith.divf %t1, %t5 : f32
    %minus = arith.negf %t6 : f32
    %y = arith.negf %minus : f32
    linalg.yield %y : f32
  } -> tensor<204x223xf32>
  return %result : tensor<204x223xf32>
}
