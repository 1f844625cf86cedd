func.func @case45(%a: tensor<75x26xbf16>, %w: tensor<129x75xbf16, #nm.encoding<2:4, dim = 1>>, %c: tensor<129x26xbf16>) -> tensor<129x26xbf16> {
  %zero = arith.constant 0.0 : bf16
  %start = linalg.fill ins(%zero : bf16) outs(%c : tensor<129x26xbf16>) -> tensor<129x26xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<75x26xbf16>, tensor<129x75xbf16, #nm.encoding<2:4, dim = 1>>) outs(%start : tensor<129x26xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  } -> tensor<129x26xbf16>
  %e = tensor.empty() : tensor<129x26xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r : tensor<129x26xbf16>) outs(%e : tensor<129x26xbf16>) {
  ^bb0(%sum: bf16, %unused: bf16):
    %t0 = arith.extf %sum : bf16 to f32
    %t1 = arith.negf %t0 : f32
    %t2 = math.exp %t1 : f32
    %t3 = arith.constant 1.0 : f32
    %t4 = arith.addf %t2, %t3 : f32
    %t5 = arith.divf %t0, %t4 : f32
    %y = arith.truncf %t5 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<129x26xbf16>
  return %result : tensor<129x26xbf16>
}
