func.func @case118(%a: tensor<4x28xi8>, %w: tensor<156x28xi8, #nm.encoding<7:10, dim = 1>>, %c: tensor<156x4xi32>) -> tensor<156x4xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<4x28xi8>, tensor<156x28xi8, #nm.encoding<7:10, dim = 1>>) outs(%c : tensor<156x4xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %x1 = arith.extsi %x : i8 to i32
    %y1 = arith.extsi %y : i8 to i32
    %p = arith.muli %x1, %y1 : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<156x4xi32>
  return %r : tensor<156x4xi32>
}
