func.func @case90(%a: tensor<20x42xf16>, %q: tensor<42x16xi8, #nm.encoding<2:4, dim = 0>>, %c: tensor<16x20xf16>, %scales: tensor<16x2xf16>) -> tensor<16x20xbf16> {
  %dense = tensor.empty() : tensor<42x16xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0 floordiv 32)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%q, %scales : tensor<42x16xi8, #nm.encoding<2:4, dim = 0>>, tensor<16x2xf16>) outs(%dense : tensor<42x16xf16>) {
  ^bb0(%value: i8, %scale: f16, %old: f16):
    %exact = arith.sitofp %value : i8 to f16
    %weight = arith.mulf %scale, %exact : f16
    linalg.yield %weight : f16
  } -> tensor<42x16xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<20x42xf16>, tensor<42x16xf16>) outs(%c : tensor<16x20xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<16x20xf16>
  %e = tensor.empty() : tensor<16x20xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r : tensor<16x20xf16>) outs(%e : tensor<16x20xbf16>) {
  ^bb0(%sum: f16, %unused: bf16):
    %t0 = arith.extf %sum : f16 to f32
    %y = arith.truncf %t0 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<16x20xbf16>
  return %result : tensor<16x20xbf16>
}
