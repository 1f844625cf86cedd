// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_90a},func.func(nm-form-rows),canonicalize,cse)" --split-input-file 2>%t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAYS < %t.log
// RUN: nm-opt %s --pass-pipeline="builtin.module(nm-attach-chip{chip=sm_80},func.func(nm-form-rows),canonicalize,cse)" --split-input-file 2>/dev/null | FileCheck %s --check-prefix=SM80
// RUN: nm-opt %s --nm-form-rows --split-input-file 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN-NOT: remark

// Three dimensions that are reduced together are one.
// CHECK-LABEL: func.func @whole
// CHECK: %[[ROW:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0, 1, 2]] : tensor<8x19x68xf32> into tensor<10336xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[ROW]]
// CHECK-NOT: linalg.generic
func.func @whole(%x: tensor<8x19x68xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> ()>], iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x : tensor<8x19x68xf32>) outs(%start : tensor<f32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.addf %sum, %in : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}

// -----

// A window of a pool, which nothing is fused with, keeps its dimensions, a
// longer one does not.
// CHECK-LABEL: func.func @windows
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "reduction"]}
// CHECK-LABEL: func.func @long_windows
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]}
func.func @windows(%x: tensor<64x32x32xf32>, %start: tensor<64xf32>) -> tensor<64xf32> {
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<64x32x32xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.maximumf %sum, %in : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %s : tensor<64xf32>
}
func.func @long_windows(%x: tensor<64x32x33xf32>, %start: tensor<64xf32>) -> tensor<64xf32> {
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<64x32x33xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.maximumf %sum, %in : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %s : tensor<64xf32>
}

// -----

// The op that reads the same and what was reduced has such rows, too, and so
// has the one that makes what both read.
// CHECK-LABEL: func.func @norm
// CHECK: %[[MADE:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} {{.*}} outs(%{{.*}} : tensor<5x96xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%[[MADE]]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[MADE]]
// CHECK: tensor.expand_shape {{.*}} into tensor<5x8x12xf32>
func.func @norm(%x: tensor<5x8x12xf32>, %y: tensor<5x8x12xf32>, %start: tensor<5xf32>) -> tensor<5x8x12xf32> {
  %e = tensor.empty() : tensor<5x8x12xf32>
  %made = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<5x8x12xf32>, tensor<5x8x12xf32>) outs(%e : tensor<5x8x12xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<5x8x12xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%made : tensor<5x8x12xf32>) outs(%start : tensor<5xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.mulf %in, %in : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%made, %s : tensor<5x8x12xf32>, tensor<5xf32>) outs(%e : tensor<5x8x12xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %0 = math.rsqrt %sum : f32
    %1 = arith.mulf %in, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<5x8x12xf32>
  return %r : tensor<5x8x12xf32>
}

// -----

// No kernel can have both the mean of an image and the product by what a
// product makes of that.
// CHECK-LABEL: func.func @gate
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "reduction"]}
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]}
func.func @gate(%x: tensor<5x8x12xf32>, %w: tensor<5x5xf32>, %start: tensor<5xf32>) -> tensor<5x8x12xf32> {
  %e = tensor.empty() : tensor<5x8x12xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<5x8x12xf32>) outs(%start : tensor<5xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.addf %sum, %in : f32
    linalg.yield %0 : f32
  } -> tensor<5xf32>
  %g = linalg.vecmat ins(%s, %w : tensor<5xf32>, tensor<5x5xf32>) outs(%start : tensor<5xf32>) -> tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %g : tensor<5x8x12xf32>, tensor<5xf32>) outs(%e : tensor<5x8x12xf32>) {
  ^bb0(%in: f32, %gate: f32, %out: f32):
    %0 = arith.mulf %in, %gate : f32
    linalg.yield %0 : f32
  } -> tensor<5x8x12xf32>
  return %r : tensor<5x8x12xf32>
}

// -----

// What has no row for all: rows of the last dimension first, then those of
// the rest.
// CHECK-LABEL: func.func @scaled
// CHECK: %[[PARTS:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} {{.*}} outs(%{{.*}} : tensor<8x19xf32>)
// CHECK: %[[ROW:.*]] = tensor.collapse_shape %[[PARTS]] {{\[}}[0, 1]]
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[ROW]]
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK-NEXT: arith.maximumf %[[SUM]], %[[IN]]
func.func @scaled(%x: tensor<8x19x64xf32>, %y: tensor<8x64xf32>, %start: tensor<f32>) -> tensor<f32> {
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> ()>], iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x, %y : tensor<8x19x64xf32>, tensor<8x64xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %most: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.maximumf %most, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}

// -----

// A row that one block would read is cut into parts, each of which computes
// what it reduces. With clusters, eight blocks read one of 262144.
// CHECK-LABEL: func.func @long
// CHECK-NOT: tensor<8388608xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<1024x8192xf16>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.extf
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction"]}
// SAYS: remark: linalg.generic reduces rows of 8388608 elements in parts of 8192
// CHECK-LABEL: func.func @of_cluster
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction"]}
// CHECK-NOT: linalg.generic
// SM80-LABEL: func.func @of_cluster
// SM80: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<32x8192xf32>)
func.func @long(%x: tensor<8388608xf16>, %start: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<8388608xf32>
  %wide = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8388608xf16>) outs(%e : tensor<8388608xf32>) {
  ^bb0(%in: f16, %out: f32):
    %0 = arith.extf %in : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<8388608xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%wide : tensor<8388608xf32>) outs(%start : tensor<f32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.addf %sum, %in : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}
func.func @of_cluster(%x: tensor<262144xf32>, %start: tensor<f32>) -> tensor<f32> {
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<262144xf32>) outs(%start : tensor<f32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.addf %sum, %in : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}

// -----

// Rows of a slice are not side by side: a reshape would copy them. Each is
// reduced, and then the results of 64.
// CHECK-LABEL: func.func @slice
// CHECK-NOT:   tensor.collapse_shape
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}} : tensor<4x64x100xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<4x64xf32>)
func.func @slice(%x: tensor<4x64x128xf32>, %start: tensor<4xf32>) -> tensor<4xf32> {
  %part = tensor.extract_slice %x[0, 0, 0] [4, 64, 100] [1, 1, 1] : tensor<4x64x128xf32> to tensor<4x64x100xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%part : tensor<4x64x100xf32>) outs(%start : tensor<4xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.addf %sum, %in : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// -----

// Of columns of 65536, eight blocks would read 1024. What they are of is computed
// there, and by the other reader.
// CHECK-LABEL: func.func @columns
// CHECK:       %[[PARTS:.*]] = tensor.expand_shape %arg0 {{\[\[}}0, 1], [2]] output_shape [64, 1024, 1024]
// CHECK:       %[[SUMS:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[PARTS]] : tensor<64x1024x1024xf16>)
// CHECK:         arith.mulf
// CHECK:         arith.addf
// CHECK:       linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%[[SUMS]] : tensor<64x1024xf32>)
// SAYS: reduces columns of 65536 elements in parts of 1024
// SAYS-NOT: remark
// UNKNOWN-LABEL: func.func @columns
// UNKNOWN: linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%arg0 : tensor<65536x1024xf16>)
// CHECK-LABEL: func.func @short_columns
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%arg0 : tensor<512x1024xf16>)
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>
func.func @columns(%x: tensor<65536x1024xf16>, %start: tensor<1024xf32>) -> tensor<1024xf32> {
  %e = tensor.empty() : tensor<65536x1024xf32>
  %squares = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<65536x1024xf16>) outs(%e : tensor<65536x1024xf32>) {
  ^bb0(%in: f16, %out: f32):
    %0 = arith.extf %in : f16 to f32
    %1 = arith.mulf %0, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<65536x1024xf32>
  %s = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]}
      ins(%squares : tensor<65536x1024xf32>) outs(%start : tensor<1024xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.addf %sum, %in : f32
    linalg.yield %0 : f32
  } -> tensor<1024xf32>
  return %s : tensor<1024xf32>
}

func.func @short_columns(%x: tensor<512x1024xf16>, %start: tensor<1024xf32>) -> tensor<1024xf32> {
  %s = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<512x1024xf16>) outs(%start : tensor<1024xf32>) {
  ^bb0(%in: f16, %sum: f32):
    %0 = arith.extf %in : f16 to f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1024xf32>
  return %s : tensor<1024xf32>
}

// -----

// Three channels have three warps: each of 16 x 3 rows has a block.
// CHECK-LABEL: func.func @channels
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<16x3x1024xf16>)
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%[[SUMS]] : tensor<16x3xf32>)
// UNKNOWN-LABEL: func.func @channels
// UNKNOWN: linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "reduction"]}
func.func @channels(%x: tensor<16x3x1024xf16>, %start: tensor<3xf32>) -> tensor<3xf32> {
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (j)>], iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%x : tensor<16x3x1024xf16>) outs(%start : tensor<3xf32>) {
  ^bb0(%in: f16, %sum: f32):
    %0 = arith.extf %in : f16 to f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<3xf32>
  return %s : tensor<3xf32>
}

// -----

// What channels are of is computed for them, and for the other reader: no kernel
// stores it.
// CHECK-LABEL: func.func @channel_squares
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<16x3x1024xf16>)
// CHECK:   arith.mulf
// CHECK:   arith.addf
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]}
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %{{.*}} : tensor<16x3x1024xf16>, tensor<3xf32>)
// CHECK:   arith.mulf
// CHECK:   arith.divf
#ijk = affine_map<(i, j, k) -> (i, j, k)>
#channel = affine_map<(i, j, k) -> (j)>
func.func @channel_squares(%x: tensor<16x3x1024xf16>, %start: tensor<3xf32>) -> tensor<16x3x1024xf32> {
  %e = tensor.empty() : tensor<16x3x1024xf32>
  %squares = linalg.generic {indexing_maps = [#ijk, #ijk], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<16x3x1024xf16>) outs(%e : tensor<16x3x1024xf32>) {
  ^bb0(%in: f16, %out: f32):
    %0 = arith.extf %in : f16 to f32
    %1 = arith.mulf %0, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<16x3x1024xf32>
  %s = linalg.generic {indexing_maps = [#ijk, #channel], iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%squares : tensor<16x3x1024xf32>) outs(%start : tensor<3xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.addf %sum, %in : f32
    linalg.yield %0 : f32
  } -> tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#ijk, #channel, #ijk], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%squares, %s : tensor<16x3x1024xf32>, tensor<3xf32>) outs(%e : tensor<16x3x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<16x3x1024xf32>
  return %r : tensor<16x3x1024xf32>
}

// -----

// One channel is no loop.
// CHECK-LABEL: func.func @one_channel
// CHECK: %[[ROW:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1, 2, 3]] : tensor<64x1x5x5xf32> into tensor<1600xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%[[ROW]] : tensor<1600xf32>)
func.func @one_channel(%x: tensor<64x1x5x5xf32>, %start: tensor<1xf32>) -> tensor<1xf32> {
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (j)>], iterator_types = ["reduction", "parallel", "reduction", "reduction"]}
      ins(%x : tensor<64x1x5x5xf32>) outs(%start : tensor<1xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %0 = arith.addf %sum, %in : f32
    linalg.yield %0 : f32
  } -> tensor<1xf32>
  return %s : tensor<1xf32>
}
