func.func @case131(%a: tensor<?x448xi8>, %w: tensor<448x128xi8, #nm.encoding<3:4, block = 1x64, dim = 0>>, %c: tensor<?x128xi32>) -> tensor<?x128xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<?x448xi8>, tensor<448x128xi8, #nm.encoding<3:4, block = 1x64, dim = 0>>) outs(%c : tensor<?x128xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %x1 = arith.extsi %x : i8 to i32
    %y1 = arith.extsi %y : i8 to i32
    %p = arith.muli %x1, %y1 : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<?x128xi32>
  return %r : tensor<?x128xi32>
}
