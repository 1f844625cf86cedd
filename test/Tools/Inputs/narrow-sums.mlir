func.func @batch_matmul(%a: tensor<2x9x2050xbf16>, %b: tensor<2x2050x7xbf16>, %c: tensor<2x9x7xbf16>) -> tensor<2x9x7xbf16> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<2x9x2050xbf16>, tensor<2x2050x7xbf16>)
                           outs(%c : tensor<2x9x7xbf16>) -> tensor<2x9x7xbf16>
  return %r : tensor<2x9x7xbf16>
}
func.func @contract(%a: tensor<3x5x2050xf16>, %b: tensor<3x7x2050xf16>, %c: tensor<3x5x7xf16>) -> tensor<3x5x7xf16> {
  %r = linalg.contract indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                                        affine_map<(b, m, n, k) -> (b, n, k)>,
                                        affine_map<(b, m, n, k) -> (b, m, n)>]
    ins(%a, %b : tensor<3x5x2050xf16>, tensor<3x7x2050xf16>)
    outs(%c : tensor<3x5x7xf16>) -> tensor<3x5x7xf16>
  return %r : tensor<3x5x7xf16>
}
func.func @dynamic(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>)
                     outs(%c : tensor<?x?xf16>) -> tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}
func.func @dot(%a: tensor<4100xf16>, %b: tensor<4100xf16>, %c: tensor<f16>) -> tensor<f16> {
  %r = linalg.dot ins(%a, %b : tensor<4100xf16>, tensor<4100xf16>) outs(%c : tensor<f16>) -> tensor<f16>
  return %r : tensor<f16>
}
func.func @batch_matvec(%a: tensor<2x5x2050xf16>, %b: tensor<2x2050xf16>, %c: tensor<2x5xf16>) -> tensor<2x5xf16> {
  %r = linalg.batch_matvec ins(%a, %b : tensor<2x5x2050xf16>, tensor<2x2050xf16>)
                           outs(%c : tensor<2x5xf16>) -> tensor<2x5xf16>
  return %r : tensor<2x5xf16>
}
func.func @mmt4d(%a: tensor<2x128x4x9xf16>, %b: tensor<3x128x4x9xf16>, %c: tensor<2x3x4x4xf16>) -> tensor<2x3x4x4xf16> {
  %r = linalg.mmt4d ins(%a, %b : tensor<2x128x4x9xf16>, tensor<3x128x4x9xf16>)
                    outs(%c : tensor<2x3x4x4xf16>) -> tensor<2x3x4x4xf16>
  return %r : tensor<2x3x4x4xf16>
}
func.func @conv(%a: tensor<1x5x4x300xf16>, %b: tensor<3x2x300x5xf16>, %c: tensor<1x3x3x5xf16>) -> tensor<1x3x3x5xf16> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%a, %b : tensor<1x5x4x300xf16>, tensor<3x2x300x5xf16>)
                                outs(%c : tensor<1x3x3x5xf16>) -> tensor<1x3x3x5xf16>
  return %r : tensor<1x3x3x5xf16>
}
func.func @f8(%a: tensor<2x5x2050xf8E5M2>, %b: tensor<2x2050x7xf8E5M2>, %c: tensor<2x5x7xf16>) -> tensor<2x5x7xf16> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<2x5x2050xf8E5M2>, tensor<2x2050x7xf8E5M2>)
                           outs(%c : tensor<2x5x7xf16>) -> tensor<2x5x7xf16>
  return %r : tensor<2x5x7xf16>
}
