func.func @case98(%a: tensor<3x180x188xf16>, %q: tensor<180x153xi8, #nm.encoding<2:8, block = 5x32, dim = 0>>, %c: tensor<3x188x153xf16>, %m0: tensor<f32>, %m1: tensor<153xf32>, %m2: tensor<3x188x153xf32>, %scales: tensor<2x153xf16>) -> tensor<3x188x153xbf16> {
  %zero = arith.constant 0.0 : f16
  %start = linalg.fill ins(%zero : f16) outs(%c : tensor<3x188x153xf16>) -> tensor<3x188x153xf16>
  %dense = tensor.empty() : tensor<180x153xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0 floordiv 120, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%q, %scales : tensor<180x153xi8, #nm.encoding<2:8, block = 5x32, dim = 0>>, tensor<2x153xf16>) outs(%dense : tensor<180x153xf16>) {
  ^bb0(%value: i8, %scale: f16, %old: f16):
    %exact = arith.sitofp %value : i8 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<180x153xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<3x180x188xf16>, tensor<180x153xf16>) outs(%start : tensor<3x188x153xf16>) {
  ^bb0(%x: f16, %y: f16, %z: f16):
    %p = arith.mulf %x, %y : f16
    %s = arith.addf %z, %p : f16
    linalg.yield %s : f16
  } -> tensor<3x188x153xf16>
  %e = tensor.empty() : tensor<3x188x153xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> ()>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<3x188x153xf16>, tensor<f32>, tensor<153xf32>, tensor<3x188x153xf32>) outs(%e : tensor<3x188x153xbf16>) {
  ^bb0(%sum: f16, %e0: f32, %e3: f32, %e4: f32, %unused: bf16):
    %t0 = arith.extf %sum : f16 to f32
    %t1 = arith.mulf %t0, %e0 : f32
    %t2 = arith.addf %t1, %e3 : f32
    %t3 = arith.constant 0.0 : f32
    %t4 = arith.maximumf %t2, %t3 : f32
    %t5 = arith.addf %t4, %e4 : f32
    %y = arith.truncf %t5 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<3x188x153xbf16>
  return %result : tensor<3x188x153xbf16>
}
