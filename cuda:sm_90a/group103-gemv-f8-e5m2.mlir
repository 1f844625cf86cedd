func.func @case103(%a: tensor<?x86xf8E5M2>, %w: tensor<125x86xf8E5M2, #nm.encoding<1:2, block = 16x1, dim = 1>>, %c: tensor<?x125xf32>, %m0: tensor<?x125xf32>) -> tensor<?x125xf16> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<?x125xf32>) -> tensor<?x125xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x86xf8E5M2>, tensor<125x86xf8E5M2, #nm.encoding<1:2, block = 16x1, dim = 1>>) outs(%start : tensor<?x125xf32>) {
  ^bb0(%x: f8E5M2, %y: f8E5M2, %z: f32):
    %x1 = arith.extf %x : f8E5M2 to f32
    %y1 = arith.extf %y : f8E5M2 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x125xf32>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x125xf32>
  %e = tensor.empty(%d0) : tensor<?x125xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0 : tensor<?x125xf32>, tensor<?x125xf32>) outs(%e : tensor<?x125xf16>) {
  ^bb0(%sum: f32, %e4: f32, %unused: f16):
    %t0 = arith.constant 0.0 : f32
    %t1 = arith.maximumf %sum, %t0 : f32
    %t2 = arith.addf %t1, %e4 : f32
    %y = arith.truncf %t2 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<?x125xf16>
  return %result : tensor<?x125xf16>
}
