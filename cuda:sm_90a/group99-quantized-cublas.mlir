func.func @case99(%a: tensor<?x198xf16>, %q: tensor<198x121xi8, #nm.encoding<1:8, block = 3x5, dim = 0>>, %c: tensor<?x121xf16>, %m0: tensor<121xf16>, %m1: tensor<121xf32>, %scales: tensor<2x121xf16>) -> tensor<?x121xbf16> {
  %dense = tensor.empty() : tensor<198x121xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0 floordiv 120, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%q, %scales : tensor<198x121xi8, #nm.encoding<1:8, block = 3x5, dim = 0>>, tensor<2x121xf16>) outs(%dense : tensor<198x121xf16>) {
  ^bb0(%value: i8, %scale: f16, %old: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<198x121xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x198xf16>, tensor<198x121xf16>) outs(%c : tensor<?x121xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<?x121xf16>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x121xf16>
  %e = tensor.empty(%d0) : tensor<?x121xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<?x121xf16>, tensor<121xf16>, tensor<121xf32>) outs(%e : tensor<?x121xbf16>) {
  ^bb0(%sum: f16, %e2: f16, %e3: f32, %unused: bf16):
    %t0 = arith.extf %sum : f16 to f32
    %t1 = arith.extf %e2 : f16 to f32
    %t2 = arith.mulf %t0, %t1 : f32
    %t3 = arith.addf %t2, %e3 : f32
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
  } -> tensor<?x121xbf16>
  return %result : tensor<?x121xbf16>
}
