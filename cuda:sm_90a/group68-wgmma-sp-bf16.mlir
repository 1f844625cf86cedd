func.func @case68(%a: tensor<21x169xbf16>, %w: tensor<169x191xbf16, #nm.encoding<1:2, block = 2x6, dim = 0>>, %c: tensor<21x191xf32>, %m0: tensor<bf16>, %m1: tensor<191xbf16>, %m2: tensor<191xf32>) -> tensor<21x191xbf16> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<21x191xf32>) -> tensor<21x191xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<21x169xbf16>, tensor<169x191xbf16, #nm.encoding<1:2, block = 2x6, dim = 0>>) outs(%start : tensor<21x191xf32>) {
  ^bb0(%x: bf16, %y: bf16, %z: f32):
    %x1 = arith.extf %x : bf16 to f32
    %y1 = arith.extf %y : bf16 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<21x191xf32>
  %e = tensor.empty() : tensor<21x191xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<21x191xf32>, tensor<bf16>, tensor<191xbf16>, tensor<191xf32>) outs(%e : tensor<21x191xbf16>) {
  ^bb0(%sum: f32, %e0: bf16, %e2: bf16, %e3: f32, %unused: bf16):
    %t0 = arith.extf %e0 : bf16 to f32
    %t1 = arith.mulf %sum, %t0 : f32
    %t2 = arith.extf %e2 : bf16 to f32
    %t3 = arith.mulf %t1, %t2 : f32
    %t4 = arith.addf %t3, %e3 : f32
    %y = arith.truncf %t4 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<21x191xbf16>
  return %result : tensor<21x191xbf16>
}
