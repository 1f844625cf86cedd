func.func @case41(%a: tensor<17x114xbf16>, %w: tensor<114x64xbf16, #nm.encoding<2:4, block = 1x16, dim = 0>>, %c: tensor<17x64xbf16>, %m0: tensor<17xbf16>, %m1: tensor<64xbf16>) -> tensor<17x64xbf16> {
  %zero = arith.constant 0.0 : bf16
  %start = linalg.fill ins(%zero : bf16) outs(%c : tensor<17x64xbf16>) -> tensor<17x64xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<17x114xbf16>, tensor<114x64xbf16, #nm.encoding<2:4, block = 1x16, dim = 0>>) outs(%start : tensor<17x64xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<17x64xbf16>
  %e = tensor.empty() : tensor<17x64xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<17x64xbf16>, tensor<17xbf16>, tensor<64xbf16>) outs(%e : tensor<17x64xbf16>) {
  ^bb0(%sum: bf16, %e1: bf16, %e2: bf16, %unused: bf16):
    %t0 = arith.extf %sum : bf16 to f32
    %t1 = arith.extf %e1 : bf16 to f32
    %t2 = arith.mulf %t0, %t1 : f32
    %t3 = arith.extf %e2 : bf16 to f32
    %t4 = arith.mulf %t2, %t3 : f32
    %t5 = arith.negf %t4 : f32
    %t6 = math.exp %t5 : f32
    %t7 = arith.constant 1.0 : f32
    %t8 = arith.addf %t6, %t7 : f32
    %t9 = arith.divf %t4, %t8 : f32
    %y = arith.truncf %t9 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<17x64xbf16>
  return %result : tensor<17x64xbf16>
}
