func.func @case93(%a: tensor<17x497xbf16>, %q: tensor<497x145xi8, #nm.encoding<1:16, block = 1x32, dim = 0>>, %c: tensor<17x145xf32>, %m0: tensor<f32>, %m1: tensor<145xbf16>, %m2: tensor<17x145xbf16>, %scales: tensor<145x2xbf16>) -> tensor<17x145xf32> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<17x145xf32>) -> tensor<17x145xf32>
  %dense = tensor.empty() : tensor<497x145xbf16>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0 floordiv 256)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%q, %scales : tensor<497x145xi8, #nm.encoding<1:16, block = 1x32, dim = 0>>, tensor<145x2xbf16>) outs(%dense : tensor<497x145xbf16>) {
  ^bb0(%value: i8, %scale: bf16, %old: bf16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to bf16
    %weight = arith.mulf %scale, %exact : bf16
    linalg.yield %weight : bf16
  } -> tensor<497x145xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<17x497xbf16>, tensor<497x145xbf16>) outs(%start : tensor<17x145xf32>) {
  ^bb0(%x: bf16, %y: bf16, %z: f32):
    %x1 = arith.extf %x : bf16 to f32
    %y1 = arith.extf %y : bf16 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<17x145xf32>
  %e = tensor.empty() : tensor<17x145xf32>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<17x145xf32>, tensor<f32>, tensor<145xbf16>, tensor<17x145xbf16>) outs(%e : tensor<17x145xf32>) {
  ^bb0(%sum: f32, %e0: f32, %e3: bf16, %e4: bf16, %unused: f32):
    %t0 = arith.mulf %sum, %e0 : f32
    %t1 = arith.extf %e3 : bf16 to f32
    %t2 = arith.addf %t0, %t1 : f32
    %t3 = arith.extf %e4 : bf16 to f32
    %t4 = arith.constant 0.707106769 : f32
    %t5 = arith.mulf %t2, %t4 : f32
    %t6 = math.erf %t5 : f32
    %t7 = arith.constant 0.5 : f32
    %t8 = arith.mulf %t2, %t7 : f32
    %t9 = arith.constant 1.0 : f32
    %t10 = arith.addf %t6, %t9 : f32
    %t11 = arith.mulf %t8, %t10 : f32
    %t12 = arith.addf %t11, %t3 : f32
    %minus = arith.negf %t12 : f32
    %y = arith.negf %minus : f32
    linalg.yield %y : f32
  } -> tensor<17x145xf32>
  return %result : tensor<17x145xf32>
}
