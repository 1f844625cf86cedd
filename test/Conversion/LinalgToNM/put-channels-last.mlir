// RUN: nm-opt %s --split-input-file --nm-put-channels-last=detect-weights --verify-diagnostics | FileCheck %s

// The image between two sparse convolutions, and all that is made of it, have
// their channels last; what comes in, and what is returned, stays in planes.

// CHECK: #[[$IN_PLANES:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>
// CHECK: #[[$LAST:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2, d3, d1)>
// CHECK: #[[$OF_CHANNELS:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK: #[[$IN_LAST:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d2 + d5, d3 + d6, d4)>
// CHECK: #[[$PLANES:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#identity = affine_map<(n, c, y, x) -> (n, c, y, x)>
#channel = affine_map<(n, c, y, x) -> (c)>

// CHECK-LABEL: func.func @between(
// expected-remark @below {{3 images have their channels last, so that fewer bytes are transposed}}
func.func @between(%x: tensor<1x64x10x10xf16>, %f: tensor<64x576xf16, #nm.encoding<2:4, dim = 1>>, %s: tensor<64xf16>) -> tensor<1x64x8x8xf16> {
  %zero = arith.constant 0.0 : f16
  %f4 = tensor.expand_shape %f [[0], [1, 2, 3]] output_shape [64, 3, 3, 64]
    : tensor<64x576xf16, #nm.encoding<2:4, dim = 1>> into tensor<64x3x3x64xf16>
  %ef = tensor.empty() : tensor<64x64x3x3xf16>
  %filter = linalg.transpose ins(%f4 : tensor<64x3x3x64xf16>) outs(%ef : tensor<64x64x3x3xf16>) permutation = [0, 3, 1, 2]
  %e = tensor.empty() : tensor<1x64x8x8xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%e : tensor<1x64x8x8xf16>) -> tensor<1x64x8x8xf16>
  // CHECK: %[[A:.*]] = linalg.generic {indexing_maps = [#[[$IN_PLANES]], #{{.*}}, #[[$LAST]]]
  // CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<1x64x10x10xf16>, tensor<64x64x3x3xf16>) outs(%{{.*}} : tensor<1x8x8x64xf16>) attrs = {nm.arithmetic = #nm.arithmetic<tf32>}
  %a = linalg.conv_2d_nchw_fchw {nm.arithmetic = #nm.arithmetic<tf32>} ins(%x, %filter : tensor<1x64x10x10xf16>, tensor<64x64x3x3xf16>)
    outs(%zeros : tensor<1x64x8x8xf16>) -> tensor<1x64x8x8xf16>
  // CHECK: %[[B:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[$OF_CHANNELS]], #{{.*}}]
  // CHECK-SAME: ins(%[[A]], %{{.*}} : tensor<1x8x8x64xf16>, tensor<64xf16>) outs(%{{.*}} : tensor<1x8x8x64xf16>)
  %b = linalg.generic {indexing_maps = [#identity, #channel, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%a, %s : tensor<1x64x8x8xf16>, tensor<64xf16>) outs(%e : tensor<1x64x8x8xf16>) {
  ^bb0(%in: f16, %scale: f16, %out: f16):
    %0 = arith.mulf %in, %scale : f16
    linalg.yield %0 : f16
  } -> tensor<1x64x8x8xf16>
  // CHECK: %[[P:.*]] = tensor.pad %[[B]] low[0, 1, 2, 0] high[0, 1, 0, 0]
  // CHECK: tensor<1x8x8x64xf16> to tensor<1x10x10x64xf16>
  %p = tensor.pad %b low[0, 0, 1, 2] high[0, 0, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f16
  } : tensor<1x64x8x8xf16> to tensor<1x64x10x10xf16>
  // CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[$IN_LAST]], #{{.*}}, #[[$PLANES]]]
  // CHECK-SAME: ins(%[[P]], %{{.*}} : tensor<1x10x10x64xf16>, tensor<64x64x3x3xf16>) outs(%{{.*}} : tensor<1x64x8x8xf16>)
  // CHECK-NOT: linalg.transpose
  // CHECK: return %[[R]]
  %r = linalg.conv_2d_nchw_fchw ins(%p, %filter : tensor<1x64x10x10xf16>, tensor<64x64x3x3xf16>)
    outs(%zeros : tensor<1x64x8x8xf16>) -> tensor<1x64x8x8xf16>
  return %r : tensor<1x64x8x8xf16>
}

// -----

// Slices, arithmetic, a pool, and a sum over places. The image that a call takes
// is put in planes again, once.

#pool = affine_map<(n, c, y, x, i, j) -> (n, c, 2 * y + i, 2 * x + j)>
#window = affine_map<(n, c, y, x, i, j) -> (i, j)>
#pooled = affine_map<(n, c, y, x, i, j) -> (n, c, y, x)>
#all = affine_map<(n, c, y, x) -> (n, c, y, x)>
#sum = affine_map<(n, c, y, x) -> (n, c)>

// CHECK: #[[$POOL:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d3)>
// CHECK: #[[$SUMMED:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>

// CHECK-LABEL: func.func @through(
// expected-remark @below {{6 images have their channels last}}
func.func @through(%x: tensor<2x64x9x9xf16>, %z: tensor<2x64x9x9xf16>, %f: tensor<128x576xf16, #nm.encoding<2:4, dim = 1>>) -> (tensor<2x128xf32>, tensor<2x64x4x4xf16>, tensor<2x64x4x4xf16>) {
  %f4 = tensor.expand_shape %f [[0], [1, 2, 3]] output_shape [128, 3, 3, 64]
    : tensor<128x576xf16, #nm.encoding<2:4, dim = 1>> into tensor<128x3x3x64xf16>
  %ef = tensor.empty() : tensor<128x64x3x3xf16>
  %filter = linalg.transpose ins(%f4 : tensor<128x3x3x64xf16>) outs(%ef : tensor<128x64x3x3xf16>) permutation = [0, 3, 1, 2]
  %zero = arith.constant 0.0 : f16
  %low = arith.constant 0xFC00 : f16
  %wide = arith.constant 0.0 : f32
  %ones = arith.constant dense<1.0> : tensor<2x64x9x9xf16>
  // CHECK: linalg.transpose ins(%{{.*}} : tensor<2x64x9x9xf16>) outs(%{{.*}} : tensor<2x9x9x64xf16>) permutation = [0, 2, 3, 1]
  // CHECK: linalg.transpose ins(%{{.*}} : tensor<2x64x9x9xf16>) outs(%{{.*}} : tensor<2x9x9x64xf16>) permutation = [0, 2, 3, 1]
  // CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<2x9x9x64xf16>
  %s = arith.addf %x, %z : tensor<2x64x9x9xf16>
  // CHECK: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<2x9x9x64xf16>
  // CHECK: %[[S:.*]] = arith.mulf %{{.*}}, %[[ONES]] : tensor<2x9x9x64xf16>
  %t = arith.mulf %s, %ones : tensor<2x64x9x9xf16>
  %ep = tensor.empty() : tensor<2x64x4x4xf16>
  %w = tensor.empty() : tensor<3x3xf16>
  %lows = linalg.fill ins(%low : f16) outs(%ep : tensor<2x64x4x4xf16>) -> tensor<2x64x4x4xf16>
  // CHECK: %[[P:.*]] = linalg.generic {indexing_maps = [#[[$POOL]],
  // CHECK-SAME: ins(%[[S]], %{{.*}} : tensor<2x9x9x64xf16>, tensor<3x3xf16>) outs(%{{.*}} : tensor<2x4x4x64xf16>)
  %p = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>} ins(%t, %w : tensor<2x64x9x9xf16>, tensor<3x3xf16>)
    outs(%lows : tensor<2x64x4x4xf16>) -> tensor<2x64x4x4xf16>
  // CHECK: %[[BACK:.*]] = linalg.transpose ins(%[[P]] : tensor<2x4x4x64xf16>) outs(%{{.*}} : tensor<2x64x4x4xf16>) permutation = [0, 3, 1, 2]
  // CHECK-NOT: linalg.transpose
  %e = tensor.empty() : tensor<2x64x6x6xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%e : tensor<2x64x6x6xf16>) -> tensor<2x64x6x6xf16>
  // CHECK: %[[I:.*]] = tensor.insert_slice %[[P]] into %{{.*}}[0, 1, 1, 0] [2, 4, 4, 64] [1, 1, 1, 1] : tensor<2x4x4x64xf16> into tensor<2x6x6x64xf16>
  %i = tensor.insert_slice %p into %zeros[0, 0, 1, 1] [2, 64, 4, 4] [1, 1, 1, 1] : tensor<2x64x4x4xf16> into tensor<2x64x6x6xf16>
  // CHECK: %[[O:.*]] = tensor.extract_slice %[[I]][0, 0, 1, 0] [2, 6, 5, 64] [1, 1, 1, 1] : tensor<2x6x6x64xf16> to tensor<2x6x5x64xf16>
  %o = tensor.extract_slice %i[0, 0, 0, 1] [2, 64, 6, 5] [1, 1, 1, 1] : tensor<2x64x6x6xf16> to tensor<2x64x6x5xf16>
  %ec = tensor.empty() : tensor<2x128x4x3xf16>
  %start = linalg.fill ins(%zero : f16) outs(%ec : tensor<2x128x4x3xf16>) -> tensor<2x128x4x3xf16>
  // CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%[[O]], %{{.*}} : tensor<2x6x5x64xf16>, tensor<128x64x3x3xf16>) outs(%{{.*}} : tensor<2x4x3x128xf16>)
  %c = linalg.conv_2d_nchw_fchw ins(%o, %filter : tensor<2x64x6x5xf16>, tensor<128x64x3x3xf16>)
    outs(%start : tensor<2x128x4x3xf16>) -> tensor<2x128x4x3xf16>
  %es = tensor.empty() : tensor<2x128xf32>
  %none = linalg.fill ins(%wide : f32) outs(%es : tensor<2x128xf32>) -> tensor<2x128xf32>
  // CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[$SUMMED]], #{{.*}}], {{.*}} ins(%[[C]] : tensor<2x4x3x128xf16>) outs(%{{.*}} : tensor<2x128xf32>)
  %r = linalg.generic {indexing_maps = [#all, #sum], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    ins(%c : tensor<2x128x4x3xf16>) outs(%none : tensor<2x128xf32>) {
  ^bb0(%in: f16, %out: f32):
    %0 = arith.extf %in : f16 to f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x128xf32>
  // CHECK: return %[[R]], %[[BACK]], %[[BACK]]
  return %r, %p, %p : tensor<2x128xf32>, tensor<2x64x4x4xf16>, tensor<2x64x4x4xf16>
}

// -----

// By one tap an image has the layout of the output. Of one image in planes,
// and of f32, nothing is gained; a dense filter changes nothing.

// CHECK-LABEL: func.func @points(
// CHECK-NOT: tensor<1x8x8x64xf16>
// CHECK: return
func.func @points(%x: tensor<1x64x8x8xf16>, %f: tensor<64x64xf16, #nm.encoding<2:4, dim = 1>>) -> tensor<1x64x8x8xf16> {
  %zero = arith.constant 0.0 : f16
  %filter = tensor.expand_shape %f [[0], [1, 2, 3]] output_shape [64, 64, 1, 1]
    : tensor<64x64xf16, #nm.encoding<2:4, dim = 1>> into tensor<64x64x1x1xf16>
  %e = tensor.empty() : tensor<1x64x8x8xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%e : tensor<1x64x8x8xf16>) -> tensor<1x64x8x8xf16>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %filter : tensor<1x64x8x8xf16>, tensor<64x64x1x1xf16>)
    outs(%zeros : tensor<1x64x8x8xf16>) -> tensor<1x64x8x8xf16>
  %b = linalg.conv_2d_nchw_fchw ins(%a, %filter : tensor<1x64x8x8xf16>, tensor<64x64x1x1xf16>)
    outs(%zeros : tensor<1x64x8x8xf16>) -> tensor<1x64x8x8xf16>
  return %b : tensor<1x64x8x8xf16>
}

// CHECK-LABEL: func.func @images_of_points(
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x8x8x64xf16>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x8x8x64xf16>)
// expected-remark @below {{2 images have their channels last}}
func.func @images_of_points(%x: tensor<2x64x10x10xf16>, %g: tensor<64x576xf16, #nm.encoding<2:4, dim = 1>>, %f: tensor<64x64xf16, #nm.encoding<2:4, dim = 1>>) -> tensor<2x64x8xf16> {
  %zero = arith.constant 0.0 : f16
  %filter = tensor.expand_shape %f [[0], [1, 2, 3]] output_shape [64, 64, 1, 1]
    : tensor<64x64xf16, #nm.encoding<2:4, dim = 1>> into tensor<64x64x1x1xf16>
  %g4 = tensor.expand_shape %g [[0], [1, 2, 3]] output_shape [64, 3, 3, 64]
    : tensor<64x576xf16, #nm.encoding<2:4, dim = 1>> into tensor<64x3x3x64xf16>
  %eg = tensor.empty() : tensor<64x64x3x3xf16>
  %taps = linalg.transpose ins(%g4 : tensor<64x3x3x64xf16>) outs(%eg : tensor<64x64x3x3xf16>) permutation = [0, 3, 1, 2]
  %e = tensor.empty() : tensor<2x64x8x8xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%e : tensor<2x64x8x8xf16>) -> tensor<2x64x8x8xf16>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %taps : tensor<2x64x10x10xf16>, tensor<64x64x3x3xf16>)
    outs(%zeros : tensor<2x64x8x8xf16>) -> tensor<2x64x8x8xf16>
  %b = linalg.conv_2d_nchw_fchw ins(%a, %filter : tensor<2x64x8x8xf16>, tensor<64x64x1x1xf16>)
    outs(%zeros : tensor<2x64x8x8xf16>) -> tensor<2x64x8x8xf16>
  %es = tensor.empty() : tensor<2x64x8xf16>
  %none = linalg.fill ins(%zero : f16) outs(%es : tensor<2x64x8xf16>) -> tensor<2x64x8xf16>
  %r = linalg.reduce ins(%b : tensor<2x64x8x8xf16>) outs(%none : tensor<2x64x8xf16>) dimensions = [3]
    (%in: f16, %out: f16) {
      %0 = arith.addf %in, %out : f16
      linalg.yield %0 : f16
    }
  return %r : tensor<2x64x8xf16>
}

// CHECK-LABEL: func.func @dense(
// CHECK-COUNT-2: linalg.conv_2d_nchw_fchw
func.func @dense(%x: tensor<2x64x10x10xf16>, %f: tensor<64x64x3x3xf16>) -> tensor<2x64x6x6xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<2x64x8x8xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%e : tensor<2x64x8x8xf16>) -> tensor<2x64x8x8xf16>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %f : tensor<2x64x10x10xf16>, tensor<64x64x3x3xf16>)
    outs(%zeros : tensor<2x64x8x8xf16>) -> tensor<2x64x8x8xf16>
  %o = tensor.empty() : tensor<2x64x6x6xf16>
  %none = linalg.fill ins(%zero : f16) outs(%o : tensor<2x64x6x6xf16>) -> tensor<2x64x6x6xf16>
  %b = linalg.conv_2d_nchw_fchw ins(%a, %f : tensor<2x64x8x8xf16>, tensor<64x64x3x3xf16>)
    outs(%none : tensor<2x64x6x6xf16>) -> tensor<2x64x6x6xf16>
  return %b : tensor<2x64x6x6xf16>
}

// -----

// What comes and goes with channels last stays so; a tensor that is no image of a
// convolution keeps its layout.

// CHECK-LABEL: func.func @last(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<1x10x10x64xf16>,
// CHECK-NOT: linalg.transpose ins(%[[X]]
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<1x10x10x64xf16>) outs(%{{.*}} : tensor<1x10x10x64xf16>)
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%[[A]], %{{.*}}) outs(%{{.*}} : tensor<1x8x8x64xf16>)
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[C]] : tensor<1x8x8x64xf16>) outs(%{{.*}} : tensor<1x8x8x64xf16>)
// CHECK: %[[O:.*]] = linalg.transpose ins(%{{.*}} : tensor<2x5x6x7xf16>) outs(%{{.*}} : tensor<2x7x5x6xf16>) permutation = [0, 3, 1, 2]
// CHECK: return %[[R]], %[[O]]
// expected-remark @below {{2 images have their channels last}}
func.func @last(%x: tensor<1x10x10x64xf16>, %f: tensor<64x576xf16, #nm.encoding<2:4, dim = 1>>, %q: tensor<2x5x6x7xf16>) -> (tensor<1x8x8x64xf16>, tensor<2x7x5x6xf16>) {
  %zero = arith.constant 0.0 : f16
  %f4 = tensor.expand_shape %f [[0], [1, 2, 3]] output_shape [64, 3, 3, 64]
    : tensor<64x576xf16, #nm.encoding<2:4, dim = 1>> into tensor<64x3x3x64xf16>
  %ef = tensor.empty() : tensor<64x64x3x3xf16>
  %filter = linalg.transpose ins(%f4 : tensor<64x3x3x64xf16>) outs(%ef : tensor<64x64x3x3xf16>) permutation = [0, 3, 1, 2]
  %e = tensor.empty() : tensor<1x64x10x10xf16>
  %a = linalg.transpose ins(%x : tensor<1x10x10x64xf16>) outs(%e : tensor<1x64x10x10xf16>) permutation = [0, 3, 1, 2]
  %ec = tensor.empty() : tensor<1x64x8x8xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%ec : tensor<1x64x8x8xf16>) -> tensor<1x64x8x8xf16>
  %c = linalg.conv_2d_nchw_fchw ins(%a, %filter : tensor<1x64x10x10xf16>, tensor<64x64x3x3xf16>)
    outs(%zeros : tensor<1x64x8x8xf16>) -> tensor<1x64x8x8xf16>
  %el = tensor.empty() : tensor<1x8x8x64xf16>
  %r = linalg.transpose ins(%c : tensor<1x64x8x8xf16>) outs(%el : tensor<1x8x8x64xf16>) permutation = [0, 2, 3, 1]
  %eq = tensor.empty() : tensor<2x7x5x6xf16>
  %o = linalg.transpose ins(%q : tensor<2x5x6x7xf16>) outs(%eq : tensor<2x7x5x6xf16>) permutation = [0, 3, 1, 2]
  return %r, %o : tensor<1x8x8x64xf16>, tensor<2x7x5x6xf16>
}

// -----

// A constant filter in which 2:4 holds, of a network in one dimension.

// CHECK-LABEL: func.func @detected(
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x17x64xf16>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x17x64xf16>, tensor<1x64x1xf16>) outs(%{{.*}} : tensor<2x1x9xf16>)
// expected-remark @below {{1 images have their channels last}}
func.func @detected(%x: tensor<2x64x17xf16>) -> tensor<2x1x9xf16> {
  %filter = arith.constant dense<"0x003C004000000000003C004000000000003C004000000000003C004000000000003C004000000000003C004000000000003C004000000000003C004000000000003C004000000000003C004000000000003C004000000000003C004000000000003C004000000000003C004000000000003C004000000000003C004000000000"> : tensor<1x64x1xf16>
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<2x64x17xf16>
  %a = linalg.negf ins(%x : tensor<2x64x17xf16>) outs(%e : tensor<2x64x17xf16>) -> tensor<2x64x17xf16>
  %o = tensor.empty() : tensor<2x1x9xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%o : tensor<2x1x9xf16>) -> tensor<2x1x9xf16>
  %r = linalg.conv_1d_ncw_fcw {strides = dense<2> : tensor<1xi64>} ins(%a, %filter : tensor<2x64x17xf16>, tensor<1x64x1xf16>)
    outs(%zeros : tensor<2x1x9xf16>) -> tensor<2x1x9xf16>
  return %r : tensor<2x1x9xf16>
}

// -----

// Of many products with dense filters, which are likely to be cuDNN's, too; few
// images of them stay in planes.

// CHECK-LABEL: func.func @many(
// CHECK: outs(%{{.*}} : tensor<32x28x28x128xf16>)
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<32x28x28x128xf16>, tensor<128x128x3x3xf16>)
// expected-remark @below {{have their channels last, so that fewer bytes are transposed}}
func.func @many(%x: tensor<32x128x30x30xf16>) -> tensor<32x128x26x26xf16> {
  %zero = arith.constant 0.0 : f16
  %f = arith.constant dense<1.0> : tensor<128x128x3x3xf16>
  %e = tensor.empty() : tensor<32x128x28x28xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%e : tensor<32x128x28x28xf16>) -> tensor<32x128x28x28xf16>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %f : tensor<32x128x30x30xf16>, tensor<128x128x3x3xf16>)
    outs(%zeros : tensor<32x128x28x28xf16>) -> tensor<32x128x28x28xf16>
  %d = tensor.empty() : tensor<32x128x26x26xf16>
  %none = linalg.fill ins(%zero : f16) outs(%d : tensor<32x128x26x26xf16>) -> tensor<32x128x26x26xf16>
  %b = linalg.conv_2d_nchw_fchw ins(%a, %f : tensor<32x128x28x28xf16>, tensor<128x128x3x3xf16>)
    outs(%none : tensor<32x128x26x26xf16>) -> tensor<32x128x26x26xf16>
  return %b : tensor<32x128x26x26xf16>
}

// -----

// CHECK-LABEL: func.func @few(
// CHECK-NOT: linalg.generic
func.func @few(%x: tensor<2x128x30x30xf16>) -> tensor<2x128x26x26xf16> {
  %zero = arith.constant 0.0 : f16
  %f = arith.constant dense<1.0> : tensor<128x128x3x3xf16>
  %e = tensor.empty() : tensor<2x128x28x28xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%e : tensor<2x128x28x28xf16>) -> tensor<2x128x28x28xf16>
  %a = linalg.conv_2d_nchw_fchw ins(%x, %f : tensor<2x128x30x30xf16>, tensor<128x128x3x3xf16>)
    outs(%zeros : tensor<2x128x28x28xf16>) -> tensor<2x128x28x28xf16>
  %d = tensor.empty() : tensor<2x128x26x26xf16>
  %none = linalg.fill ins(%zero : f16) outs(%d : tensor<2x128x26x26xf16>) -> tensor<2x128x26x26xf16>
  %b = linalg.conv_2d_nchw_fchw ins(%a, %f : tensor<2x128x28x28xf16>, tensor<128x128x3x3xf16>)
    outs(%none : tensor<2x128x26x26xf16>) -> tensor<2x128x26x26xf16>
  return %b : tensor<2x128x26x26xf16>
}

// -----

// A pool reads and writes channels last where its image comes and goes so. One
// behind a convolution that reads planes does not.

#pool = affine_map<(n, c, y, x, i, j) -> (n, c, 2 * y + i, 2 * x + j)>
#window = affine_map<(n, c, y, x, i, j) -> (i, j)>
#pooled = affine_map<(n, c, y, x, i, j) -> (n, c, y, x)>

// CHECK: #[[$POOL:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d3)>
// CHECK-LABEL: func.func @pool(
// CHECK-SAME: %[[X:.*]]: tensor<2x9x9x24xf32>
// expected-remark @below {{2 images have their channels last, so that fewer bytes are transposed}}
func.func @pool(%x: tensor<2x9x9x24xf32>, %w: tensor<2x2xf32>) -> tensor<2x4x4x24xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<2x24x9x9xf32>
  %planes = linalg.transpose ins(%x : tensor<2x9x9x24xf32>) outs(%ex : tensor<2x24x9x9xf32>) permutation = [0, 3, 1, 2]
  %e = tensor.empty() : tensor<2x24x4x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<2x24x4x4xf32>) -> tensor<2x24x4x4xf32>
  // CHECK: linalg.generic {indexing_maps = [#[[$POOL]], #{{.*}}, #{{.*}}]
  // CHECK-SAME: outs(%{{.*}} : tensor<2x4x4x24xf32>)
  %p = linalg.generic {indexing_maps = [#pool, #window, #pooled], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%planes, %w : tensor<2x24x9x9xf32>, tensor<2x2xf32>) outs(%zeros : tensor<2x24x4x4xf32>) {
  ^bb0(%in: f32, %size: f32, %out: f32):
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x24x4x4xf32>
  %el = tensor.empty() : tensor<2x4x4x24xf32>
  %last = linalg.transpose ins(%p : tensor<2x24x4x4xf32>) outs(%el : tensor<2x4x4x24xf32>) permutation = [0, 2, 3, 1]
  return %last : tensor<2x4x4x24xf32>
}

// CHECK-LABEL: func.func @behind_planes(
// CHECK: linalg.transpose
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-SAME: outs(%{{.*}} : tensor<2x24x8x8xf32>)
// CHECK: linalg.transpose
func.func @behind_planes(%x: tensor<2x10x10x16xf32>, %f: tensor<24x16x3x3xf32>, %w: tensor<2x2xf32>) -> tensor<2x4x4x24xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<2x16x10x10xf32>
  %planes = linalg.transpose ins(%x : tensor<2x10x10x16xf32>) outs(%ex : tensor<2x16x10x10xf32>) permutation = [0, 3, 1, 2]
  %e = tensor.empty() : tensor<2x24x8x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<2x24x8x8xf32>) -> tensor<2x24x8x8xf32>
  %a = linalg.conv_2d_nchw_fchw ins(%planes, %f : tensor<2x16x10x10xf32>, tensor<24x16x3x3xf32>)
    outs(%zeros : tensor<2x24x8x8xf32>) -> tensor<2x24x8x8xf32>
  %ep = tensor.empty() : tensor<2x24x4x4xf32>
  %none = linalg.fill ins(%zero : f32) outs(%ep : tensor<2x24x4x4xf32>) -> tensor<2x24x4x4xf32>
  %p = linalg.generic {indexing_maps = [#pool, #window, #pooled], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%a, %w : tensor<2x24x8x8xf32>, tensor<2x2xf32>) outs(%none : tensor<2x24x4x4xf32>) {
  ^bb0(%in: f32, %size: f32, %out: f32):
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x24x4x4xf32>
  %el = tensor.empty() : tensor<2x4x4x24xf32>
  %last = linalg.transpose ins(%p : tensor<2x24x4x4xf32>) outs(%el : tensor<2x4x4x24xf32>) permutation = [0, 2, 3, 1]
  return %last : tensor<2x4x4x24xf32>
}

// -----

// A mean over places reads channels last; a norm of keys that are transposed for a
// product stays.

#all = affine_map<(a, b, c, d) -> (a, b, c, d)>
#mean = affine_map<(a, b, c, d) -> (a, b)>
#norm = affine_map<(a, b, c, d) -> (a, b, c)>

// CHECK-LABEL: func.func @mean(
// expected-remark @below {{1 images have their channels last}}
func.func @mean(%x: tensor<2x7x7x24xf32>, %z: tensor<2x24xf32>) -> tensor<2x24xf32> {
  %ex = tensor.empty() : tensor<2x24x7x7xf32>
  %planes = linalg.transpose ins(%x : tensor<2x7x7x24xf32>) outs(%ex : tensor<2x24x7x7xf32>) permutation = [0, 3, 1, 2]
  // CHECK-NOT: linalg.transpose
  %r = linalg.generic {indexing_maps = [#all, #mean], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
    ins(%planes : tensor<2x24x7x7xf32>) outs(%z : tensor<2x24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<2x24xf32>
  return %r : tensor<2x24xf32>
}

// CHECK-LABEL: func.func @keys(
// CHECK: linalg.transpose
func.func @keys(%k: tensor<2x16x4x32xf32>, %z: tensor<2x16x4xf32>) -> (tensor<2x4x32x16xf32>, tensor<2x16x4xf32>) {
  %e = tensor.empty() : tensor<2x16x4x32xf32>
  %turned = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%k : tensor<2x16x4x32xf32>) outs(%e : tensor<2x16x4x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  } -> tensor<2x16x4x32xf32>
  %squares = linalg.generic {indexing_maps = [#all, #norm], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%turned : tensor<2x16x4x32xf32>) outs(%z : tensor<2x16x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<2x16x4xf32>
  %et = tensor.empty() : tensor<2x4x32x16xf32>
  %t = linalg.transpose ins(%turned : tensor<2x16x4x32xf32>) outs(%et : tensor<2x4x32x16xf32>) permutation = [0, 2, 3, 1]
  return %t, %squares : tensor<2x4x32x16xf32>, tensor<2x16x4xf32>
}
