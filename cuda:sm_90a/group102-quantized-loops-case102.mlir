func.func @case102(%a: tensor<35x16xf16>, %q: tensor<16x384xi8, #nm.encoding<6:8, block = 1x256, dim = 0>>, %c: tensor<35x384xf32>, %m0: tensor<f32>, %m1: tensor<384xf32>, %m2: tensor<384xf32>, %scales: tensor<384x1xf16>) -> tensor<35x384xbf16> {
  %dense = tensor.empty() : tensor<16x384xf16>
  %w = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0 floordiv 16384)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%q, %scales : tensor<16x384xi8, #nm.encoding<6:8, block = 1x256, dim = 0>>, tensor<384x1xf16>) outs(%dense : tensor<16x384xf16>) {
  ^bb0(%value: i8, %scale: f16, %old: f16):
    %exact = arith.sitofp %value : i8 to f16
    %weight = arith.mulf %scale, %exact : f16
    linalg.yield %weight : f16
  } -> tensor<16x384xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<35x16xf16>, tensor<16x384xf16>) outs(%c : tensor<35x384xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %x1 = arith.extf %x : f16 to f32
    %y1 = arith.extf %y : f16 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<35x384xf32>
  %e = tensor.empty() : tensor<35x384xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<35x384xf32>, tensor<f32>, tensor<384xf32>, tensor<384xf32>) outs(%e : tensor<35x384xbf16>) {
  ^bb0(%sum: f32, %e0: f32, %e2: f32, %e3: f32, %unused: bf16):
    %t0 = arith.mulf %sum, %e0 : f32
    %t1 = arith.mulf %t0, %e2 : f32
    %t2 = arith.addf %t1, %e3 : f32
    %y = arith.truncf %t2 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<35x384xbf16>
  return %result : tensor<35x384xbf16>
}
