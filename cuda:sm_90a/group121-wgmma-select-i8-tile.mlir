func.func @case121(%a: tensor<135x64xi8>, %w: tensor<16x64xi8, #nm.encoding<2:8, block = 1x16, dim = 1>>, %c: tensor<135x16xi32>) -> tensor<135x16xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<135x64xi8>, tensor<16x64xi8, #nm.encoding<2:8, block = 1x16, dim = 1>>) outs(%c : tensor<135x16xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %x1 = arith.extsi %x : i8 to i32
    %y1 = arith.extsi %y : i8 to i32
    %p = arith.muli %x1, %y1 : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<135x16xi32>
  return %r : tensor<135x16xi32>
}
