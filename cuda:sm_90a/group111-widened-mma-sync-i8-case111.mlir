func.func @case111(%a: tensor<?x?x45xi8>, %w: tensor<192x45xi8, #nm.encoding<5:20, block = 1x32, dim = 1>>, %c: tensor<?x?x192xi32>, %m0: tensor<f32>, %m1: tensor<?x?xf32>, %m2: tensor<192xf32>) -> tensor<?x?x192xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x?x45xi8>, tensor<192x45xi8, #nm.encoding<5:20, block = 1x32, dim = 1>>) outs(%c : tensor<?x?x192xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %x1 = arith.extsi %x : i8 to i32
    %y1 = arith.extsi %y : i8 to i32
    %p = arith.muli %x1, %y1 : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<?x?x192xi32>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x?x192xi32>
  %i1 = arith.constant 1 : index
  %d1 = tensor.dim %c, %i1 : tensor<?x?x192xi32>
  %e = tensor.empty(%d0, %d1) : tensor<?x?x192xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> ()>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2 : tensor<?x?x192xi32>, tensor<f32>, tensor<?x?xf32>, tensor<192xf32>) outs(%e : tensor<?x?x192xbf16>) {
  ^bb0(%sum: i32, %e0: f32, %e1: f32, %e2: f32, %unused: bf16):
    %t0 = arith.sitofp %sum : i32 to f32
    %t1 = arith.mulf %t0, %e0 : f32
    %t2 = arith.mulf %t1, %e1 : f32
    %t3 = arith.mulf %t2, %e2 : f32
    %t4 = arith.constant 0.707106769 : f32
    %t5 = arith.mulf %t3, %t4 : f32
    %t6 = math.erf %t5 : f32
    %t7 = arith.constant 0.5 : f32
    %t8 = arith.mulf %t3, %t7 : f32
    %t9 = arith.constant 1.0 : f32
    %t10 = arith.addf %t6, %t9 : f32
    %t11 = arith.mulf %t8, %t10 : f32
    %y = arith.truncf %t11 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<?x?x192xbf16>
  return %result : tensor<?x?x192xbf16>
}
