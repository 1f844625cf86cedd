func.func @pack(%a: tensor<30x33xf32>) -> tensor<4x5x8x7xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5x8x7xf32>
  %p = linalg.pack %a padding_value(%z : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 7] into %e : tensor<30x33xf32> -> tensor<4x5x8x7xf32>
  return %p : tensor<4x5x8x7xf32>
}
func.func @unpack(%a: tensor<5x4x7x8xf32>, %e: tensor<30x33xf32>) -> tensor<30x33xf32> {
  %p = linalg.unpack %a outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [7, 8] into %e : tensor<5x4x7x8xf32> -> tensor<30x33xf32>
  return %p : tensor<30x33xf32>
}
func.func @mm(%a: tensor<32x64xf16>, %b: tensor<64x48xf16>) -> tensor<32x48xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<4x8x8x8xf16>
  %e1 = tensor.empty() : tensor<6x8x8x8xf16>
  %e2 = tensor.empty() : tensor<4x6x8x8xf16>
  %e3 = tensor.empty() : tensor<32x48xf16>
  %p = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %e : tensor<32x64xf16> -> tensor<4x8x8x8xf16>
  %q = linalg.pack %b outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [8, 8] into %e1 : tensor<64x48xf16> -> tensor<6x8x8x8xf16>
  %f = linalg.fill ins(%z : f16) outs(%e2 : tensor<4x6x8x8xf16>) -> tensor<4x6x8x8xf16>
  %m = linalg.mmt4d ins(%p, %q : tensor<4x8x8x8xf16>, tensor<6x8x8x8xf16>) outs(%f : tensor<4x6x8x8xf16>) -> tensor<4x6x8x8xf16>
  %u = linalg.unpack %m inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %e3 : tensor<4x6x8x8xf16> -> tensor<32x48xf16>
  return %u : tensor<32x48xf16>
}
func.func @dyn(%a: tensor<?x?xf32>, %e: tensor<?x?x8x7xf32>) -> tensor<?x?x8x7xf32> {
  %z = arith.constant 0.0 : f32
  %p = linalg.pack %a padding_value(%z : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 7] into %e : tensor<?x?xf32> -> tensor<?x?x8x7xf32>
  return %p : tensor<?x?x8x7xf32>
}
