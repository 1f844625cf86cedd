func.func @case21(%a: tensor<?x?x187xf16>, %w: tensor<187x295xf16, #nm.encoding<3:8, block = 1x128, dim = 0>>, %c: tensor<?x?x295xf32>) -> tensor<?x?x295xf16> {
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<?x?x295xf32>) -> tensor<?x?x295xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x?x187xf16>, tensor<187x295xf16, #nm.encoding<3:8, block = 1x128, dim = 0>>) outs(%start : tensor<?x?x295xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %x1 = arith.extf %x : f16 to f32
    %y1 = arith.extf %y : f16 to f32
    %p = arith.mulf %x1, %y1 : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?x295xf32>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x?x295xf32>
  %i1 = arith.constant 1 : index
  %d1 = tensor.dim %c, %i1 : tensor<?x?x295xf32>
  %e = tensor.empty(%d0, %d1) : tensor<?x?x295xf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%r : tensor<?x?x295xf32>) outs(%e : tensor<?x?x295xf16>) {
  ^bb0(%sum: f32, %unused: f16):
    %t0 = arith.mulf %sum, %sum : f32
    %t1 = arith.constant 0.044715 : f32
    %t2 = arith.mulf %sum, %t1 : f32
    %t3 = arith.mulf %t0, %t2 : f32
    %t4 = arith.addf %sum, %t3 : f32
    %t5 = arith.constant 0.797884583 : f32
    %t6 = arith.mulf %t4, %t5 : f32
    %t7 = math.tanh %t6 : f32
    %t8 = arith.constant 0.5 : f32
    %t9 = arith.mulf %sum, %t8 : f32
    %t10 = arith.constant 1.0 : f32
    %t11 = arith.addf %t7, %t10 : f32
    %t12 = arith.mulf %t9, %t11 : f32
    %y = arith.truncf %t12 : f32 to f16
    linalg.yield %y : f16
  } -> tensor<?x?x295xf16>
  return %result : tensor<?x?x295xf16>
}
