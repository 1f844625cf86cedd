// RUN: nm-opt %s --split-input-file --nm-attach-chip=chip=sm_90a --nm-propagate-layouts="schedule=wgmma_sp" --nm-select-gpu-schedule="schedule=wgmma_sp" --canonicalize | FileCheck %s

// Tensor copies of strategy wgmma_sp take rows of patches from an image whose
// channels are last, without its padding; others, and images at odd places in
// memory, have patches.

// CHECK: #[[$LAST:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d3 - 1, d2 + d4 - 1, d5)>
#last = affine_map<(b, y, x, i, j, c) -> (b, i + y, j + x, c)>
#identity = affine_map<(a, b, c, d, e, f) -> (a, b, c, d, e, f)>

// CHECK-LABEL: func.func @channels_last(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<2x14x14x64xf16>
// CHECK-NOT: linalg.generic
// CHECK: %[[A:.*]] = nm.patches %[[X]] map #[[$LAST]] loops [2, 14, 14, 3, 3, 64] groups [3, 3] : tensor<2x14x14x64xf16> -> tensor<392x576xf16>
// CHECK: nm.spmm <2:4> schedule #nm.wgmma_sp<{{.*}} producers = 4{{.*}}> ins(%[[A]],
func.func @channels_last(%x: tensor<2x14x14x64xf16>, %v: tensor<288x64xf16> {nm.values_of = 1 : i64}, %i: tensor<288x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<392x64xf16>) -> tensor<392x64xf16> {
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%b: index, %y: index, %z: index, %d: index):
    tensor.yield %zero : f16
  } : tensor<2x14x14x64xf16> to tensor<2x16x16x64xf16>
  %e = tensor.empty() : tensor<2x14x14x3x3x64xf16>
  %g = linalg.generic {indexing_maps = [#last, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%p : tensor<2x16x16x64xf16>) outs(%e : tensor<2x14x14x3x3x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<2x14x14x3x3x64xf16>
  %a = tensor.collapse_shape %g [[0, 1, 2], [3, 4, 5]] : tensor<2x14x14x3x3x64xf16> into tensor<392x576xf16>
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<392x576xf16>, tensor<288x64xf16>, tensor<288x64xi8>)
    outs(%c : tensor<392x64xf16>) -> tensor<392x64xf16>
  return %r : tensor<392x64xf16>
}

// -----

// A kernel puts the channels of planes last, a ninth of the patches.

// CHECK: #[[$PLANES:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d3 - 1, d2 + d4 - 1, d5)>
#planes = affine_map<(b, i, j, c, y, x) -> (b, c, i + y, j + x)>
#identity = affine_map<(a, b, c, d, e, f) -> (a, b, c, d, e, f)>

// CHECK-LABEL: func.func @planes(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<2x64x14x14xf16>
// CHECK: %[[LAST:.*]] = linalg.transpose ins(%[[X]] : tensor<2x64x14x14xf16>) outs(%{{.*}} : tensor<2x14x14x64xf16>) permutation = [0, 2, 3, 1]
// CHECK: %[[A:.*]] = nm.patches %[[LAST]] map #[[$PLANES]] loops [2, 14, 14, 3, 3, 64] groups [1, 2, 3] : tensor<2x14x14x64xf16> -> tensor<2x196x576xf16>
// CHECK: nm.spmm <2:4> transpose_c schedule #nm.wgmma_sp<{{.*}}> ins(%[[A]],
func.func @planes(%x: tensor<2x64x14x14xf16>, %v: tensor<288x64xf16> {nm.values_of = 1 : i64}, %i: tensor<288x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<2x64x196xf16>) -> tensor<2x64x196xf16> {
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%b: index, %y: index, %z: index, %d: index):
    tensor.yield %zero : f16
  } : tensor<2x64x14x14xf16> to tensor<2x64x16x16xf16>
  %e = tensor.empty() : tensor<2x3x3x64x14x14xf16>
  %g = linalg.generic {indexing_maps = [#planes, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%p : tensor<2x64x16x16xf16>) outs(%e : tensor<2x3x3x64x14x14xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<2x3x3x64x14x14xf16>
  %a = tensor.collapse_shape %g [[0], [1, 2, 3], [4, 5]] : tensor<2x3x3x64x14x14xf16> into tensor<2x576x196xf16>
  %r = nm.spmm <2:4> transpose_a transpose_c
    ins(%a, %v, %i : tensor<2x576x196xf16>, tensor<288x64xf16>, tensor<288x64xi8>)
    outs(%c : tensor<2x64x196xf16>) -> tensor<2x64x196xf16>
  return %r : tensor<2x64x196xf16>
}

// -----

// A line of channels is of one tap, which 96 channels are not whole lines of.

#last = affine_map<(b, y, x, i, j, c) -> (b, i + y, j + x, c)>
#identity = affine_map<(a, b, c, d, e, f) -> (a, b, c, d, e, f)>

// CHECK-LABEL: func.func @parts_of_lines(
// CHECK-NOT: nm.patches
// CHECK: nm.spmm <2:4>{{.*}} schedule #nm.wgmma_sp<
func.func @parts_of_lines(%x: tensor<2x16x16x96xf16>, %v: tensor<432x64xf16> {nm.values_of = 1 : i64}, %i: tensor<432x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<392x64xf16>) -> tensor<392x64xf16> {
  %e = tensor.empty() : tensor<2x14x14x3x3x96xf16>
  %g = linalg.generic {indexing_maps = [#last, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%x : tensor<2x16x16x96xf16>) outs(%e : tensor<2x14x14x3x3x96xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<2x14x14x3x3x96xf16>
  %a = tensor.collapse_shape %g [[0, 1, 2], [3, 4, 5]] : tensor<2x14x14x3x3x96xf16> into tensor<392x864xf16>
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<392x864xf16>, tensor<432x64xf16>, tensor<432x64xi8>)
    outs(%c : tensor<392x64xf16>) -> tensor<392x64xf16>
  return %r : tensor<392x64xf16>
}

// -----

// Steps of more than 8 are no tensor map's.

#last = affine_map<(b, y, x, i, c) -> (b, i + y * 9, x * 2, c)>
#identity = affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>

// CHECK-LABEL: func.func @long_steps(
// CHECK-NOT: nm.patches
// CHECK: nm.spmm <2:4>{{.*}} schedule #nm.wgmma_sp<
func.func @long_steps(%x: tensor<2x30x40x64xf16>, %v: tensor<96x64xf16> {nm.values_of = 1 : i64}, %i: tensor<96x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<160x64xf16>) -> tensor<160x64xf16> {
  %e = tensor.empty() : tensor<2x4x20x3x64xf16>
  %g = linalg.generic {indexing_maps = [#last, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%x : tensor<2x30x40x64xf16>) outs(%e : tensor<2x4x20x3x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<2x4x20x3x64xf16>
  %a = tensor.collapse_shape %g [[0, 1, 2], [3, 4]] : tensor<2x4x20x3x64xf16> into tensor<160x192xf16>
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<160x192xf16>, tensor<96x64xf16>, tensor<96x64xi8>)
    outs(%c : tensor<160x64xf16>) -> tensor<160x64xf16>
  return %r : tensor<160x64xf16>
}

// -----

// Channels from the fourth on start 6 bytes behind a multiple of 16.

#last = affine_map<(b, y, x, i, j, c) -> (b, i + y, j + x, c)>
#identity = affine_map<(a, b, c, d, e, f) -> (a, b, c, d, e, f)>

// CHECK-LABEL: func.func @odd_places(
// CHECK-NOT: nm.patches
// CHECK: nm.spmm <2:4>{{.*}} schedule #nm.wgmma_sp<
func.func @odd_places(%whole: tensor<2x16x16x80xf16>, %v: tensor<288x64xf16> {nm.values_of = 1 : i64}, %i: tensor<288x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<392x64xf16>) -> tensor<392x64xf16> {
  %x = tensor.extract_slice %whole[0, 0, 0, 3] [2, 16, 16, 64] [1, 1, 1, 1] : tensor<2x16x16x80xf16> to tensor<2x16x16x64xf16>
  %e = tensor.empty() : tensor<2x14x14x3x3x64xf16>
  %g = linalg.generic {indexing_maps = [#last, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%x : tensor<2x16x16x64xf16>) outs(%e : tensor<2x14x14x3x3x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<2x14x14x3x3x64xf16>
  %a = tensor.collapse_shape %g [[0, 1, 2], [3, 4, 5]] : tensor<2x14x14x3x3x64xf16> into tensor<392x576xf16>
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<392x576xf16>, tensor<288x64xf16>, tensor<288x64xi8>)
    outs(%c : tensor<392x64xf16>) -> tensor<392x64xf16>
  return %r : tensor<392x64xf16>
}
