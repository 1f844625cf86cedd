func.func @case120(%a: tensor<121x48xi8>, %w: tensor<48x166xi8, #nm.encoding<1:8, block = 1x32, dim = 0>>, %c: tensor<121x166xi32>) -> tensor<121x166xi32> {
  %zero = arith.constant 0 : i32
  %start = linalg.fill ins(%zero : i32) outs(%c : tensor<121x166xi32>) -> tensor<121x166xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<121x48xi8>, tensor<48x166xi8, #nm.encoding<1:8, block = 1x32, dim = 0>>) outs(%start : tensor<121x166xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %x1 = arith.extsi %x : i8 to i32
    %y1 = arith.extsi %y : i8 to i32
    %p = arith.muli %x1, %y1 : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<121x166xi32>
  return %r : tensor<121x166xi32>
}
