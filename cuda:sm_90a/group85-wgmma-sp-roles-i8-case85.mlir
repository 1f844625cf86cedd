func.func @case85(%a: tensor<?x256xi8>, %w: tensor<256x23xi8, #nm.encoding<2:4, block = 1x2, dim = 0>>, %c: tensor<?x23xi32>, %m0: tensor<?x23xf32>) -> tensor<?x23xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x256xi8>, tensor<256x23xi8, #nm.encoding<2:4, block = 1x2, dim = 0>>) outs(%c : tensor<?x23xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %x1 = arith.extsi %x : i8 to i32
    %y1 = arith.extsi %y : i8 to i32
    %p = arith.muli %x1, %y1 : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<?x23xi32>
  %i0 = arith.constant 0 : index
  %d0 = tensor.dim %c, %i0 : tensor<?x23xi32>
  %e = tensor.empty(%d0) : tensor<?x23xf32>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
    ins(%r, %m0 : tensor<?x23xi32>, tensor<?x23xf32>) outs(%e : tensor<?x23xf32>) {
  ^bb0(%sum: i32, %e4: f32, %unused: f32):
    %t0 = arith.sitofp %sum : i32 to f32
    %t1 = arith.constant 0.0 : f32
    %t2 = arith.maximumf %t0, %t1 : f32
    %t3 = arith.addf %t2, %e4 : f32
    %minus = arith.negf %t3 : f32
    %y = arith.negf %minus : f32
    linalg.yield %y : f32
  } -> tensor<?x23xf32>
  return %result : tensor<?x23xf32>
}
