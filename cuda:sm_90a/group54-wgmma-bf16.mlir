func.func @case54(%a: tensor<39x234xbf16>, %w: tensor<39x164xbf16, #nm.encoding<5:5, block = 3x64, dim = 0>>, %c: tensor<234x164xbf16>, %m0: tensor<164xbf16>, %m1: tensor<234x164xf32>) -> tensor<234x164xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<39x234xbf16>, tensor<39x164xbf16, #nm.encoding<5:5, block = 3x64, dim = 0>>) outs(%c : tensor<234x164xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<234x164xbf16>
  %e = tensor.empty() : tensor<234x164xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<234x164xbf16>, tensor<164xbf16>, tensor<234x164xf32>) outs(%e : tensor<234x164xbf16>) {
  ^bb0(%sum: bf16, %e3: bf16, %e4: f32, %unused: bf16):
    %t0 = arith.extf %sum : bf16 to f32
    %t1 = arith.extf %e3 : bf16 to f32
    %t2 = arith.addf %t0, %t1 : f32
    %t3 = arith.constant 0.0 : f32
    %t4 = arith.maximumf %t2, %t3 : f32
    %t5 = arith.addf %t4, %e4 : f32
    %y = arith.truncf %t5 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<234x164xbf16>
  return %result : tensor<234x164xbf16>
}
