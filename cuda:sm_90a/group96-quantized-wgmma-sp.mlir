func.func @case96(%a: tensor<2x1x132x16xf16>, %q: tensor<134x16xi8, #nm.encoding<2:4, block = 1x128, dim = 1>>, %c: tensor<2x1x132x134xf32>, %scales: tensor<2x134xf16>) -> tensor<2x1x132x134xbf16> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<2x1x132x134xf32>) -> tensor<2x1x132x134xf32>
  %dense = tensor.empty() : tensor<134x16xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1 floordiv 12, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%q, %scales : tensor<134x16xi8, #nm.encoding<2:4, block = 1x128, dim = 1>>, tensor<2x134xf16>) outs(%dense : tensor<134x16xf16>) {
  ^bb0(%value: i8, %scale: f16, %old: f16):
    %exact = arith.sitofp %value : i8 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<134x16xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<2x1x132x16xf16>, tensor<134x16xf16>) outs(%start : tensor<2x1x132x134xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %x1 = arith.extf %x : f16 to f32
    %y1 = arith.extf %y : f16 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x1x132x134xf32>
  %e = tensor.empty() : tensor<2x1x132x134xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%r : tensor<2x1x132x134xf32>) outs(%e : tensor<2x1x132x134xbf16>) {
  ^bb0(%sum: f32, %unused: bf16):
    %t0 = arith.constant 0.0 : f32
    %t1 = arith.maximumf %sum, %t0 : f32
    %y = arith.truncf %t1 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<2x1x132x134xbf16>
  return %result : tensor<2x1x132x134xbf16>
}
