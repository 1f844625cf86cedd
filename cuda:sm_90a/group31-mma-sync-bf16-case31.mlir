func.func @case31(%a: tensor<192x?xbf16>, %w: tensor<192x414xbf16, #nm.encoding<57:64, block = 1x256, dim = 0>>, %c: tensor<?x414xbf16>, %m0: tensor<bf16>, %m1: tensor<?xbf16>, %m2: tensor<414xbf16>) -> tensor<?x414xbf16> {
  %zero = arith.constant 0.0 : bf16
  %start = linalg.fill ins(%zero : bf16) outs(%c : tensor<?x414xbf16>) -> tensor<?x414xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<192x?xbf16>, tensor<192x414xbf16, #nm.encoding<57:64, block = 1x256, dim = 0>>) outs(%start : tensor<?x414xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<?x414xbf16>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x414xbf16>
  %e = tensor.empty(%d0) : tensor<?x414xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<?x414xbf16>, tensor<bf16>, tensor<?xbf16>, tensor<414xbf16>) outs(%e : tensor<?x414xbf16>) {
  ^bb0(%sum: bf16, %e0: bf16, %e1: bf16, %e3: bf16, %unused: bf16):
    %t0 = arith.extf %sum : bf16 to f32
    %t1 = arith.extf %e0 : bf16 to f32
    %t2 = arith.mulf %t0, %t1 : f32
    %t3 = arith.extf %e1 : bf16 to f32
    %t4 = arith.mulf %t2, %t3 : f32
    %t5 = arith.extf %e3 : bf16 to f32
    %t6 = arith.addf %t4, %t5 : f32
    %t7 = arith.negf %t6 : f32
    %t8 = math.exp %t7 : f32
    %t9 = arith.constant 1.0 : f32
    %t10 = arith.addf %t8, %t9 : f32
    %t11 = arith.divf %t6, %t10 : f32
    %y = arith.truncf %t11 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<?x414xbf16>
  return %result : tensor<?x414xbf16>
}
