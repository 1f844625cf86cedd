func.func @case74(%a: tensor<3x20x60xi8>, %w: tensor<192x60xi8, #nm.encoding<1:16, block = 1x24, dim = 1>>, %c: tensor<3x20x192xi32>, %m0: tensor<f32>) -> tensor<3x20x192xbf16> {
  %zero = arith.constant 0 : i32
  %start = linalg.fill ins(%zero : i32) outs(%c : tensor<3x20x192xi32>) -> tensor<3x20x192xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %w : tensor<3x20x60xi8>, tensor<192x60xi8, #nm.encoding<1:16, block = 1x24, dim = 1>>) outs(%start : tensor<3x20x192xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %x1 = arith.extsi %x : i8 to i32
    %y1 = arith.extsi %y : i8 to i32
    %p = arith.muli %x1, %y1 : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<3x20x192xi32>
  %e = tensor.empty() : tensor<3x20x192xbf16>
  %result = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> ()>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%r, %m0 : tensor<3x20x192xi32>, tensor<f32>) outs(%e : tensor<3x20x192xbf16>) {
  ^bb0(%sum: i32, %e0: f32, %unused: bf16):
    %t0 = arith.sitofp %sum : i32 to f32
    %t1 = arith.mulf %t0, %e0 : f32
    %y = arith.truncf %t1 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<3x20x192xbf16>
  return %result : tensor<3x20x192xbf16>
}
