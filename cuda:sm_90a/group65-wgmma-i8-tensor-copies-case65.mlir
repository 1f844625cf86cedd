func.func @case65(%a: tensor<3x1x53x1968xi8>, %w: tensor<1968x256xi8, #nm.encoding<6:8, block = 128x64, dim = 0>>, %c: tensor<3x1x256x53xi32>) -> tensor<3x1x256x53xi32> {
  %zero = arith.constant 0 : i32
  %start = linalg.fill ins(%zero : i32) outs(%c : tensor<3x1x256x53xi32>) -> tensor<3x1x256x53xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d2)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<3x1x53x1968xi8>, tensor<1968x256xi8, #nm.encoding<6:8, block = 128x64, dim = 0>>) outs(%start : tensor<3x1x256x53xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %x1 = arith.extsi %x : i8 to i32
    %y1 = arith.extsi %y : i8 to i32
    %p = arith.muli %x1, %y1 : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<3x1x256x53xi32>
  return %r : tensor<3x1x256x53xi32>
}
