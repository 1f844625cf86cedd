func.func @case109(%a: tensor<1x147x116xi8>, %w: tensor<352x147xi8, #nm.encoding<3:5, block = 32x128, dim = 1>>, %c: tensor<1x352x116xi32>) -> tensor<1x352x116xi32> {
  %zero = arith.constant 0 : i32
  %start = linalg.fill ins(%zero : i32) outs(%c : tensor<1x352x116xi32>) -> tensor<1x352x116xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, d1)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<1x147x116xi8>, tensor<352x147xi8, #nm.encoding<3:5, block = 32x128, dim = 1>>) outs(%start : tensor<1x352x116xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %x1 = arith.extsi %x : i8 to i32
    %y1 = arith.extsi %y : i8 to i32
    %p = arith.muli %x1, %y1 : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<1x352x116xi32>
  return %r : tensor<1x352x116xi32>
}
