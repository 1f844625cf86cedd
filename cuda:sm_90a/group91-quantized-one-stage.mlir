func.func @case91(%a: tensor<40x111xbf16>, %q: tensor<111x64xi8, #nm.encoding<2:8, block = 1x4, dim = 0>>, %c: tensor<40x64xbf16>, %m0: tensor<40xf32>, %m1: tensor<40x64xf32>, %scales: tensor<64x2xbf16>) -> tensor<40x64xbf16> {
  %dense = tensor.empty() : tensor<111x64xbf16>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0 floordiv 64)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%q, %scales : tensor<111x64xi8, #nm.encoding<2:8, block = 1x4, dim = 0>>, tensor<64x2xbf16>) outs(%dense : tensor<111x64xbf16>) {
  ^bb0(%value: i8, %scale: bf16, %old: bf16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to bf16
    %weight = arith.mulf %scale, %exact : bf16
    linalg.yield %weight : bf16
  } -> tensor<111x64xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<40x111xbf16>, tensor<111x64xbf16>) outs(%c : tensor<40x64xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<40x64xbf16>
  %e = tensor.empty() : tensor<40x64xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<40x64xbf16>, tensor<40xf32>, tensor<40x64xf32>) outs(%e : tensor<40x64xbf16>) {
  ^bb0(%sum: bf16, %e1: f32, %e4: f32, %unused: bf16):
    %t0 = arith.extf %sum : bf16 to f32
    %t1 = arith.mulf %t0, %e1 : f32
    %t2 = arith.addf %t1, %e4 : f32
    %y = arith.truncf %t2 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<40x64xbf16>
  return %result : tensor<40x64xbf16>
}
