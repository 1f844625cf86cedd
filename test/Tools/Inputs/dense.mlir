// Products whose weights keep half of every window, of each type that cuBLAS
// has: one accumulates, one has batches and an unknown number of rows, one has batches of short sums.

#map_a = affine_map<(b, m, n, k) -> (b, m, k)>
#map_b = affine_map<(b, m, n, k) -> (n, k)>
#map_a_kt = affine_map<(b, m, n, k) -> (b, k, m)>
#map_b_k = affine_map<(b, m, n, k) -> (k, n)>
#map_c = affine_map<(b, m, n, k) -> (b, m, n)>

func.func @f32(%a: tensor<7x36xf32>, %b: tensor<36x20xf32, #nm.encoding<2:4>>) -> tensor<7x20xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<7x20xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<7x20xf32>) -> tensor<7x20xf32>
  %r = linalg.matmul ins(%a, %b : tensor<7x36xf32>, tensor<36x20xf32, #nm.encoding<2:4>>) outs(%c : tensor<7x20xf32>) -> tensor<7x20xf32>
  return %r : tensor<7x20xf32>
}

func.func @f16(%a: tensor<7x36xf16>, %b: tensor<36x20xf16, #nm.encoding<2:4>>, %bias: tensor<7x20xf16>) -> tensor<7x20xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<7x36xf16>, tensor<36x20xf16, #nm.encoding<2:4>>) outs(%bias : tensor<7x20xf16>) -> tensor<7x20xf16>
  return %r : tensor<7x20xf16>
}

func.func @bf16(%a: tensor<2x?x36xbf16>, %b: tensor<20x36xbf16, #nm.encoding<2:4, dim = 1>>) -> tensor<2x?x20xf32> {
  %one = arith.constant 1 : index
  %m = tensor.dim %a, %one : tensor<2x?x36xbf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%m) : tensor<2x?x20xf32>
  %c = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x?x20xf32>) -> tensor<2x?x20xf32>
  %r = linalg.generic {indexing_maps = [#map_a, #map_b, #map_c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x?x36xbf16>, tensor<20x36xbf16, #nm.encoding<2:4, dim = 1>>) outs(%c : tensor<2x?x20xf32>) {
  ^bb0(%x: bf16, %y: bf16, %sum: f32):
    %wide_x = arith.extf %x : bf16 to f32
    %wide_y = arith.extf %y : bf16 to f32
    %product = arith.mulf %wide_x, %wide_y : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<2x?x20xf32>
  return %r : tensor<2x?x20xf32>
}

func.func @i8(%a: tensor<8x36xi8>, %b: tensor<36x20xi8, #nm.encoding<2:4>>, %sums: tensor<8x20xi32>) -> tensor<8x20xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<8x36xi8>, tensor<36x20xi8, #nm.encoding<2:4>>) outs(%sums : tensor<8x20xi32>) -> tensor<8x20xi32>
  return %r : tensor<8x20xi32>
}

func.func @i8_short(%a: tensor<3x36x16xi8>, %b: tensor<36x40xi8, #nm.encoding<2:4>>, %sums: tensor<3x16x40xi32>) -> tensor<3x16x40xi32> {
  %r = linalg.generic {indexing_maps = [#map_a_kt, #map_b_k, #map_c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<3x36x16xi8>, tensor<36x40xi8, #nm.encoding<2:4>>) outs(%sums : tensor<3x16x40xi32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %wide_x = arith.extsi %x : i8 to i32
    %wide_y = arith.extsi %y : i8 to i32
    %product = arith.muli %wide_x, %wide_y : i32
    %next = arith.addi %sum, %product : i32
    linalg.yield %next : i32
  } -> tensor<3x16x40xi32>
  return %r : tensor<3x16x40xi32>
}
