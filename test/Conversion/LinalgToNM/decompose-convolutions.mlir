// RUN: nm-opt %s --nm-decompose-convolutions --canonicalize --split-input-file | FileCheck %s
// RUN: nm-opt %s --nm-decompose-convolutions --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: remark: 'linalg.depthwise_conv_2d_nhwc_hwc' stays a convolution, of dense weights: a depthwise convolution sums the taps of one channel, which is no product
// REMARK: remark: 'linalg.conv_2d' stays a convolution, of dense weights: the image has no channels
// REMARK: remark: 'linalg.conv_2d_nhwc_hwcf_q' stays a convolution, of dense weights: expected 0 as the filter's zero point, at which a pruned weight is 0, but got 3

// Channels last: rows of A are patches.
// CHECK-DAG: #[[$READ:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d3, d2 * 2 + d4 * 3, d5)>
// CHECK-LABEL: func.func @nhwc
// CHECK: linalg.generic {indexing_maps = [#[[$READ]], {{.*}} ins(%{{.*}} : tensor<2x9x13x8xf32>) outs(%{{.*}} : tensor<2x4x4x3x3x8xf32>)
// CHECK: %[[A:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2], [3, 4, 5]] : {{.*}} into tensor<32x72xf32>
// CHECK: linalg.generic {{.*}} ins(%[[A]], %{{.*}} : tensor<32x72xf32>, tensor<72x16xf32, #nm.encoding<2:4>>) outs(%{{.*}} : tensor<32x16xf32>)
// CHECK: tensor.expand_shape %{{.*}} {{.*}} : tensor<32x16xf32> into tensor<2x4x4x16xf32>
func.func @nhwc(%x: tensor<2x9x13x8xf32>, %w: tensor<72x16xf32, #nm.encoding<2:4>>, %c: tensor<2x4x4x16xf32>) -> tensor<2x4x4x16xf32> {
  %f = tensor.expand_shape %w [[0, 1, 2], [3]] output_shape [3, 3, 8, 16] : tensor<72x16xf32, #nm.encoding<2:4>> into tensor<3x3x8x16xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<[1, 3]> : tensor<2xi64>}
    ins(%x, %f : tensor<2x9x13x8xf32>, tensor<3x3x8x16xf32>) outs(%c : tensor<2x4x4x16xf32>) -> tensor<2x4x4x16xf32>
  return %r : tensor<2x4x4x16xf32>
}

// -----

// Channels first: rows of an m-major A are runs of pixels. k is in the order of the matrix.
// CHECK-DAG: #[[$READ:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d3, d1 + d4, d2 + d5)>
// CHECK-LABEL: func.func @nchw_taps_first
// CHECK: linalg.generic {indexing_maps = [#[[$READ]], {{.*}} outs(%{{.*}} : tensor<2x3x3x8x4x5xf32>)
// CHECK: %[[A:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2, 3], [4, 5]] : {{.*}} into tensor<2x72x20xf32>
// CHECK: linalg.generic {{.*}} ins(%[[A]], %{{.*}} : tensor<2x72x20xf32>, tensor<16x72xf32, #nm.encoding<2:4, dim = 1>>) outs(%{{.*}} : tensor<2x16x20xf32>)
func.func @nchw_taps_first(%x: tensor<2x8x6x7xf32>, %w: tensor<16x72xf32, #nm.encoding<2:4, dim = 1>>, %c: tensor<2x16x4x5xf32>) -> tensor<2x16x4x5xf32> {
  %e = tensor.empty() : tensor<16x8x3x3xf32>
  %g = tensor.expand_shape %w [[0], [1, 2, 3]] output_shape [16, 3, 3, 8] : tensor<16x72xf32, #nm.encoding<2:4, dim = 1>> into tensor<16x3x3x8xf32>
  %f = linalg.transpose ins(%g : tensor<16x3x3x8xf32>) outs(%e : tensor<16x8x3x3xf32>) permutation = [0, 3, 1, 2]
  %r = linalg.conv_2d_nchw_fchw ins(%x, %f : tensor<2x8x6x7xf32>, tensor<16x8x3x3xf32>) outs(%c : tensor<2x16x4x5xf32>) -> tensor<2x16x4x5xf32>
  return %r : tensor<2x16x4x5xf32>
}

// -----

// Of a 1x1 filter there are no patches.
// CHECK-LABEL: func.func @point
// CHECK-NOT: linalg.generic {{.*}} tensor<1x8x1x1x4x5xf32>
// CHECK: %[[A:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] : tensor<1x8x4x5xf32> into tensor<1x8x20xf32>
// CHECK: linalg.generic {{.*}} ins(%[[A]], %{{.*}} : tensor<1x8x20xf32>, tensor<8x16xf32>)
func.func @point(%x: tensor<1x8x4x5xf32>, %c: tensor<1x16x4x5xf32>) -> tensor<1x16x4x5xf32> {
  %f = arith.constant dense<1.0> : tensor<16x8x1x1xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%x, %f : tensor<1x8x4x5xf32>, tensor<16x8x1x1xf32>) outs(%c : tensor<1x16x4x5xf32>) -> tensor<1x16x4x5xf32>
  return %r : tensor<1x16x4x5xf32>
}

// -----

// Each group is a product of slices.
// CHECK-LABEL: func.func @groups
// CHECK-COUNT-2: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x36x20xf32>, tensor<36x6xf32>)
func.func @groups(%x: tensor<1x2x4x6x7xf32>, %f: tensor<2x6x4x3x3xf32>, %c: tensor<1x2x6x4x5xf32>) -> tensor<1x2x6x4x5xf32> {
  %r = linalg.conv_2d_ngchw_gfchw ins(%x, %f : tensor<1x2x4x6x7xf32>, tensor<2x6x4x3x3xf32>) outs(%c : tensor<1x2x6x4x5xf32>) -> tensor<1x2x6x4x5xf32>
  return %r : tensor<1x2x6x4x5xf32>
}

// -----

// CHECK-LABEL: func.func @depthwise
// CHECK: linalg.depthwise_conv_2d_nhwc_hwc
func.func @depthwise(%x: tensor<1x6x7x8xf32>, %f: tensor<3x3x8xf32>, %c: tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32> {
  %r = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %f : tensor<1x6x7x8xf32>, tensor<3x3x8xf32>) outs(%c : tensor<1x4x5x8xf32>) -> tensor<1x4x5x8xf32>
  return %r : tensor<1x4x5x8xf32>
}

// -----

// CHECK-LABEL: func.func @no_channels
// CHECK: linalg.conv_2d
func.func @no_channels(%x: tensor<6x7xf32>, %f: tensor<3x3xf32>, %c: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %r = linalg.conv_2d ins(%x, %f : tensor<6x7xf32>, tensor<3x3xf32>) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

// -----

// CHECK-LABEL: func.func @filter_zero_point
// CHECK: linalg.conv_2d_nhwc_hwcf_q
func.func @filter_zero_point(%x: tensor<1x6x7x8xi8>, %f: tensor<3x3x8x16xi8>, %c: tensor<1x4x5x16xi32>) -> tensor<1x4x5x16xi32> {
  %zx = arith.constant 5 : i32
  %zw = arith.constant 3 : i32
  %r = linalg.conv_2d_nhwc_hwcf_q ins(%x, %f, %zx, %zw : tensor<1x6x7x8xi8>, tensor<3x3x8x16xi8>, i32, i32) outs(%c : tensor<1x4x5x16xi32>) -> tensor<1x4x5x16xi32>
  return %r : tensor<1x4x5x16xi32>
}

// -----

// The product with the image as it is, less the zero point times each channel's weights.
// CHECK-LABEL: func.func @image_zero_point
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<20x72xi8>, tensor<72x16xi8>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<72x16xi8>) outs(%{{.*}} : tensor<16xi32>)
// CHECK: arith.subi
// CHECK-NOT: linalg.conv_2d
func.func @image_zero_point(%x: tensor<1x6x7x8xi8>, %f: tensor<3x3x8x16xi8>, %c: tensor<1x4x5x16xi32>) -> tensor<1x4x5x16xi32> {
  %zx = arith.constant 5 : i32
  %zw = arith.constant 0 : i32
  %r = linalg.conv_2d_nhwc_hwcf_q ins(%x, %f, %zx, %zw : tensor<1x6x7x8xi8>, tensor<3x3x8x16xi8>, i32, i32) outs(%c : tensor<1x4x5x16xi32>) -> tensor<1x4x5x16xi32>
  return %r : tensor<1x4x5x16xi32>
}
