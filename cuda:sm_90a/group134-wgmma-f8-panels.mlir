func.func @case134(%a: tensor<165x3072xf8E4M3FN>, %w: tensor<89x3072xf8E4M3FN, #nm.encoding<3:4, block = 256x64, dim = 1>>, %c: tensor<89x165xf32>) -> tensor<89x165xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<89x165xf32>) -> tensor<89x165xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<165x3072xf8E4M3FN>, tensor<89x3072xf8E4M3FN, #nm.encoding<3:4, block = 256x64, dim = 1>>) outs(%start : tensor<89x165xf32>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %z: f32):
    %x1 = arith.extf %x : f8E4M3FN to f32
    %y1 = arith.extf %y : f8E4M3FN to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<89x165xf32>
  %e = tensor.empty() : tensor<89x165xf32>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r : tensor<89x165xf32>) outs(%e : tensor<89x165xf32>) {
  ^bb0(%sum: f32, %unused: f32):
    %t0 = arith.negf %sum : f32
    %t1 = math.exp %t0 : f32
    %t2 = arith.constant 1.0 : f32
    %t3 = arith.addf %t1, %t2 : f32
    %t4 = arith.divf %sum, %t3 : f32
    %minus = arith.negf %t4 : f32
    %y = arith.negf %minus : f32
    linalg.yield %y : f32
  } -> tensor<89x165xf32>
  return %result : tensor<89x165xf32>
}
