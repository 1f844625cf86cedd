// RUN: nm-opt %s --nm-decompose-convolutions --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-decompose-convolutions --split-input-file 2>/dev/null

func.func @depthwise(%x: tensor<1x6x7x8xf32>, %w: tensor<72x8xf32, #nm.encoding<2:4>>, %c: tensor<1x4x5x8x8xf32>) -> tensor<1x4x5x8x8xf32> {
  %f = tensor.expand_shape %w [[0, 1, 2], [3]] output_shape [3, 3, 8, 8] : tensor<72x8xf32, #nm.encoding<2:4>> into tensor<3x3x8x8xf32>
  // expected-error @+1 {{'linalg.depthwise_conv_2d_nhwc_hwcm' op expected a convolution that is a product of patches with its filter, which carries #nm.encoding<2:4>: a depthwise convolution sums the taps of one channel, which is no product}}
  %r = linalg.depthwise_conv_2d_nhwc_hwcm ins(%x, %f : tensor<1x6x7x8xf32>, tensor<3x3x8x8xf32>) outs(%c : tensor<1x4x5x8x8xf32>) -> tensor<1x4x5x8x8xf32>
  return %r : tensor<1x4x5x8x8xf32>
}

// -----

func.func @channels_of_wrong_dimension(%x: tensor<1x6x7x16xf32>, %w: tensor<16x144xf32, #nm.encoding<2:4>>, %c: tensor<1x4x5x16xf32>) -> tensor<1x4x5x16xf32> {
  %f = tensor.expand_shape %w [[0], [1, 2, 3]] output_shape [16, 3, 3, 16] : tensor<16x144xf32, #nm.encoding<2:4>> into tensor<16x3x3x16xf32>
  // expected-error @+1 {{expected dimension 1 of the weight, which its encoding says is n, to be the filter's output channels}}
  %r = linalg.conv_2d_nhwc_fhwc ins(%x, %f : tensor<1x6x7x16xf32>, tensor<16x3x3x16xf32>) outs(%c : tensor<1x4x5x16xf32>) -> tensor<1x4x5x16xf32>
  return %r : tensor<1x4x5x16xf32>
}

// -----

func.func @groups(%x: tensor<1x2x4x6x7xf32>, %w: tensor<72x6xf32, #nm.encoding<2:4>>, %c: tensor<1x2x6x4x5xf32>) -> tensor<1x2x6x4x5xf32> {
  %e = tensor.empty() : tensor<2x6x4x3x3xf32>
  %g = tensor.expand_shape %w [[0, 1, 2, 3], [4]] output_shape [2, 4, 3, 3, 6] : tensor<72x6xf32, #nm.encoding<2:4>> into tensor<2x4x3x3x6xf32>
  %f = linalg.transpose ins(%g : tensor<2x4x3x3x6xf32>) outs(%e : tensor<2x6x4x3x3xf32>) permutation = [0, 4, 1, 2, 3]
  // expected-error @+1 {{expected a convolution for each group, of the slices of its operands, where filters carry an #nm.encoding}}
  %r = linalg.conv_2d_ngchw_gfchw ins(%x, %f : tensor<1x2x4x6x7xf32>, tensor<2x6x4x3x3xf32>) outs(%c : tensor<1x2x6x4x5xf32>) -> tensor<1x2x6x4x5xf32>
  return %r : tensor<1x2x6x4x5xf32>
}

// -----

func.func @zero_point(%x: tensor<1x6x7x8xi8>, %w: tensor<72x16xi8, #nm.encoding<2:4>>, %c: tensor<1x4x5x16xi32>) -> tensor<1x4x5x16xi32> {
  %zx = arith.constant 5 : i32
  %zw = arith.constant 0 : i32
  %f = tensor.expand_shape %w [[0, 1, 2], [3]] output_shape [3, 3, 8, 16] : tensor<72x16xi8, #nm.encoding<2:4>> into tensor<3x3x8x16xi8>
  // expected-error @+1 {{expected 0 as the zero point of an image whose filter carries an #nm.encoding, but got 5}}
  %r = linalg.conv_2d_nhwc_hwcf_q ins(%x, %f, %zx, %zw : tensor<1x6x7x8xi8>, tensor<3x3x8x16xi8>, i32, i32) outs(%c : tensor<1x4x5x16xi32>) -> tensor<1x4x5x16xi32>
  return %r : tensor<1x4x5x16xi32>
}
