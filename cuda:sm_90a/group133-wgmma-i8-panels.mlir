func.func @case133(%a: tensor<98x160xi8>, %w: tensor<205x160xi8, #nm.encoding<6:6, block = 16x192, dim = 1>>, %c: tensor<98x205xi32>) -> tensor<98x205xi32> {
  %zero = arith.constant 0 : i32
  %start = linalg.fill ins(%zero : i32) outs(%c : tensor<98x205xi32>) -> tensor<98x205xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<98x160xi8>, tensor<205x160xi8, #nm.encoding<6:6, block = 16x192, dim = 1>>) outs(%start : tensor<98x205xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %x1 = arith.extsi %x : i8 to i32
    %y1 = arith.extsi %y : i8 to i32
    %p = arith.muli %x1, %y1 : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<98x205xi32>
  return %r : tensor<98x205xi32>
}
