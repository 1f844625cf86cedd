func.func @case19(%a: tensor<54xi8>, %w: tensor<54x256xi8, #nm.encoding<6:32, block = 1x64, dim = 0>>, %c: tensor<256xi32>) -> tensor<256xi32> {
  %zero = arith.constant 0 : i32
  %start = linalg.fill ins(%zero : i32) outs(%c : tensor<256xi32>) -> tensor<256xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
    ins(%a, %w : tensor<54xi8>, tensor<54x256xi8, #nm.encoding<6:32, block = 1x64, dim = 0>>) outs(%start : tensor<256xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %x1 = arith.extsi %x : i8 to i32
    %y1 = arith.extsi %y : i8 to i32
    %p = arith.muli %x1, %y1 : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<256xi32>
  return %r : tensor<256xi32>
}
