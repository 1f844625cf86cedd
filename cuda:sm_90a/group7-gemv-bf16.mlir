func.func @case7(%a: tensor<1x100xbf16>, %w: tensor<192x100xbf16, #nm.encoding<31:32, dim = 1>>, %c: tensor<192x1xbf16>, %m0: tensor<192xf32>, %m1: tensor<192x1xbf16>) -> tensor<192x1xbf16> {
  %zero = arith.constant 0.0 : bf16
  %start = linalg.fill ins(%zero : bf16) outs(%c : tensor<192x1xbf16>) -> tensor<192x1xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<1x100xbf16>, tensor<192x100xbf16, #nm.encoding<31:32, dim = 1>>) outs(%start : tensor<192x1xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<192x1xbf16>
  %e = tensor.empty() : tensor<192x1xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<192x1xbf16>, tensor<192xf32>, tensor<192x1xbf16>) outs(%e : tensor<192x1xbf16>) {
  ^bb0(%sum: bf16, %e2: f32, %e4: bf16, %unused: bf16):
    %t0 = arith.extf %sum : bf16 to f32
    %t1 = arith.mulf %t0, %e2 : f32
    %t2 = arith.extf %e4 : bf16 to f32
    %t3 = arith.addf %t1, %t2 : f32
    %y = arith.truncf %t3 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<192x1xbf16>
  return %result : tensor<192x1xbf16>
}
