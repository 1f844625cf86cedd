func.func @case50(%a: tensor<18x74xi8>, %w: tensor<74x160xi8, #nm.encoding<2:4, block = 1x4, dim = 0>>, %c: tensor<18x160xi32>, %m0: tensor<160xf32>, %m1: tensor<18x160xf32>) -> tensor<18x160xbf16> {
  %zero = arith.constant 0 : i32
  %start = linalg.fill ins(%zero : i32) outs(%c : tensor<18x160xi32>) -> tensor<18x160xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<18x74xi8>, tensor<74x160xi8, #nm.encoding<2:4, block = 1x4, dim = 0>>) outs(%start : tensor<18x160xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %x1 = arith.extsi %x : i8 to i32
    %y1 = arith.extsi %y : i8 to i32
    %p = arith.muli %x1, %y1 : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<18x160xi32>
  %e = tensor.empty() : tensor<18x160xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1 : tensor<18x160xi32>, tensor<160xf32>, tensor<18x160xf32>) outs(%e : tensor<18x160xbf16>) {
  ^bb0(%sum: i32, %e3: f32, %e4: f32, %unused: bf16):
    %t0 = arith.sitofp %sum : i32 to f32
    %t1 = arith.addf %t0, %e3 : f32
    %t2 = arith.mulf %t1, %t1 : f32
    %t3 = arith.constant 0.044715 : f32
    %t4 = arith.mulf %t1, %t3 : f32
    %t5 = arith.mulf %t2, %t4 : f32
    %t6 = arith.addf %t1, %t5 : f32
    %t7 = arith.constant 0.797884583 : f32
    %t8 = arith.mulf %t6, %t7 : f32
    %t9 = math.tanh %t8 : f32
    %t10 = arith.constant 0.5 : f32
    %t11 = arith.mulf %t1, %t10 : f32
    %t12 = arith.constant 1.0 : f32
    %t13 = arith.addf %t9, %t12 : f32
    %t14 = arith.mulf %t11, %t13 : f32
    %t15 = arith.addf %t14, %e4 : f32
    %y = arith.truncf %t15 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<18x160xbf16>
  return %result : tensor<18x160xbf16>
}
