func.func @case136(%a: tensor<8x272xi8>, %w: tensor<80x272xi8, #nm.encoding<4:4, block = 32x64, dim = 1>>, %c: tensor<80x8xi32>, %m0: tensor<f32>, %m1: tensor<80xf32>, %m2: tensor<80xf32>, %m3: tensor<80x8xf32>) -> tensor<80x8xbf16> {
  %zero = arith.constant 0 : i32
  %start = linalg.fill ins(%zero : i32) outs(%c : tensor<80x8xi32>) -> tensor<80x8xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<8x272xi8>, tensor<80x272xi8, #nm.encoding<4:4, block = 32x64, dim = 1>>) outs(%start : tensor<80x8xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %x1 = arith.extsi %x : i8 to i32
    %y1 = arith.extsi %y : i8 to i32
    %p = arith.muli %x1, %y1 : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<80x8xi32>
  %e = tensor.empty() : tensor<80x8xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0, %m1, %m2, %m3 : tensor<80x8xi32>, tensor<f32>, tensor<80xf32>, tensor<80xf32>, tensor<80x8xf32>) outs(%e : tensor<80x8xbf16>) {
  ^bb0(%sum: i32, %e0: f32, %e2: f32, %e3: f32, %e4: f32, %unused: bf16):
    %t0 = arith.sitofp %sum : i32 to f32
    %t1 = arith.mulf %t0, %e0 : f32
    %t2 = arith.mulf %t1, %e2 : f32
    %t3 = arith.addf %t2, %e3 : f32
    %t4 = arith.addf %t3, %e4 : f32
    %y = arith.truncf %t4 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<80x8xbf16>
  return %result : tensor<80x8xbf16>
}
