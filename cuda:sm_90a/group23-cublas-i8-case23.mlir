func.func @case23(%a: tensor<3x12x176xi8>, %w: tensor<128x176xi8, #nm.encoding<9:16, block = 2x6, dim = 1>>, %c: tensor<3x12x128xi32>, %m0: tensor<f32>, %m1: tensor<3x12xf32>, %m2: tensor<128xf32>, %m3: tensor<3x12x128xf32>) -> tensor<3x12x128xf32> {
  %zero = arith.constant 0 : i32
  %start = linalg.fill ins(%zero : i32) outs(%c : tensor<3x12x128xi32>) -> tensor<3x12x128xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<3x12x176xi8>, tensor<128x176xi8, #nm.encoding<9:16, block = 2x6, dim = 1>>) outs(%start : tensor<3x12x128xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %x1 = arith.extsi %x : i8 to i32
    %y1 = arith.extsi %y : i8 to i32
    %p = arith.muli %x1, %y1 : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<3x12x128xi32>
  %e = tensor.empty() : tensor<3x12x128xf32>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> ()>, affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2, %m3 : tensor<3x12x128xi32>, tensor<f32>, tensor<3x12xf32>, tensor<128xf32>, tensor<3x12x128xf32>) outs(%e : tensor<3x12x128xf32>) {
  ^bb0(%sum: i32, %e0: f32, %e1: f32, %e3: f32, %e4: f32, %unused: f32):
    %t0 = arith.sitofp %sum : i32 to f32
    %t1 = arith.mulf %t0, %e0 : f32
    %t2 = arith.mulf %t1, %e1 : f32
    %t3 = arith.addf %t2, %e3 : f32
    %t4 = arith.constant 0.707106769 : f32
    %t5 = arith.mulf %t3, %t4 : f32
    %t6 = math.erf %t5 : f32
    %t7 = arith.constant 0.5 : f32
    %t8 = arith.mulf %t3, %t7 : f32
    %t9 = arith.constant 1.0 : f32
    %t10 = arith.addf %t6, %t9 : f32
    %t11 = arith.mulf %t8, %t10 : f32
    %t12 = arith.addf %t11, %e4 : f32
    %minus = arith.negf %t12 : f32
    %y = arith.negf %minus : f32
    linalg.yield %y : f32
  } -> tensor<3x12x128xf32>
  return %result : tensor<3x12x128xf32>
}
