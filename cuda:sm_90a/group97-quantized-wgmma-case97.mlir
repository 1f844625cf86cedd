func.func @case97(%a: tensor<64x154xbf16>, %q: tensor<64x444xi8, #nm.encoding<17:32, block = 1x256, dim = 0>>, %c: tensor<154x444xbf16>, %m0: tensor<154xf32>, %m1: tensor<444xbf16>, %scales: tensor<444x2xbf16>) -> tensor<154x444xbf16> {
  %zero = arith.constant 0.0 : bf16
  %start = linalg.fill ins(%zero : bf16) outs(%c : tensor<154x444xbf16>) -> tensor<154x444xbf16>
  %dense = tensor.empty() : tensor<64x444xbf16>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0 floordiv 32)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%q, %scales : tensor<64x444xi8, #nm.encoding<17:32, block = 1x256, dim = 0>>, tensor<444x2xbf16>) outs(%dense : tensor<64x444xbf16>) {
  ^bb0(%value: i8, %scale: bf16, %old: bf16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to bf16
    %weight = arith.mulf %scale, %exact : bf16
    linalg.yield %weight : bf16
  } -> tensor<64x444xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<64x154xbf16>, tensor<64x444xbf16>) outs(%start : tensor<154x444xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<154x444xbf16>
  %e = tensor.empty() : tensor<154x444xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<154x444xbf16>, tensor<154xf32>, tensor<444xbf16>) outs(%e : tensor<154x444xbf16>) {
  ^bb0(%sum: bf16, %e1: f32, %e3: bf16, %unused: bf16):
    %t0 = arith.extf %sum : bf16 to f32
    %t1 = arith.mulf %t0, %e1 : f32
    %t2 = arith.extf %e3 : bf16 to f32
    %t3 = arith.addf %t1, %t2 : f32
    %t4 = arith.constant 0.707106769 : f32
    %t5 = arith.mulf %t3, %t4 : f32
    %t6 = math.erf %t5 : f32
    %t7 = arith.constant 0.5 : f32
    %t8 = arith.mulf %t3, %t7 : f32
    %t9 = arith.constant 1.0 : f32
    %t10 = arith.addf %t6, %t9 : f32
    %t11 = arith.mulf %t8, %t10 : f32
    %y = arith.truncf %t11 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<154x444xbf16>
  return %result : tensor<154x444xbf16>
}
