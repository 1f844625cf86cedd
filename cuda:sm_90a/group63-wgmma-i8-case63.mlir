func.func @case63(%a: tensor<2x180xi8>, %w: tensor<218x180xi8, #nm.encoding<4:4, block = 16x64, dim = 1>>, %c: tensor<2x218xi32>) -> tensor<2x218xi32> {
  %zero = arith.constant 0 : i32
  %start = linalg.fill ins(%zero : i32) outs(%c : tensor<2x218xi32>) -> tensor<2x218xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<2x180xi8>, tensor<218x180xi8, #nm.encoding<4:4, block = 16x64, dim = 1>>) outs(%start : tensor<2x218xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %x1 = arith.extsi %x : i8 to i32
    %y1 = arith.extsi %y : i8 to i32
    %p = arith.muli %x1, %y1 : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<2x218xi32>
  return %r : tensor<2x218xi32>
}
