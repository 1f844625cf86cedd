func.func @case39(%a: tensor<65x?xbf16>, %w: tensor<65x242xbf16, #nm.encoding<17:20, block = 1x64, dim = 0>>, %c: tensor<?x242xbf16>, %m0: tensor<?xbf16>, %m1: tensor<?x242xbf16>) -> tensor<?x242xbf16> {
  %zero = arith.constant 0.0 : bf16
  %start = linalg.fill ins(%zero : bf16) outs(%c : tensor<?x242xbf16>) -> tensor<?x242xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<65x?xbf16>, tensor<65x242xbf16, #nm.encoding<17:20, block = 1x64, dim = 0>>) outs(%start : tensor<?x242xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<?x242xbf16>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x242xbf16>
  %e = tensor.empty(%d0) : tensor<?x242xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<?x242xbf16>, tensor<?xbf16>, tensor<?x242xbf16>) outs(%e : tensor<?x242xbf16>) {
  ^bb0(%sum: bf16, %e1: bf16, %e4: bf16, %unused: bf16):
    %t0 = arith.extf %sum : bf16 to f32
    %t1 = arith.extf %e1 : bf16 to f32
    %t2 = arith.mulf %t0, %t1 : f32
    %t3 = arith.extf %e4 : bf16 to f32
    %t4 = arith.negf %t2 : f32
    %t5 = math.exp %t4 : f32
    %t6 = arith.constant 1.0 : f32
    %t7 = arith.addf %t5, %t6 : f32
    %t8 = arith.divf %t2, %t7 : f32
    %t9 = arith.addf %t8, %t3 : f32
    %y = arith.truncf %t9 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<?x242xbf16>
  return %result : tensor<?x242xbf16>
}
