// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --convert-transpose-to-gpu --split-input-file | FileCheck %s

// Sequences and their tokens are one loop: rows of 197 tokens would start at odd
// multiples of an element, those of 1576 start at multiples of 16 bytes.

// CHECK-LABEL: func.func @tokens
// CHECK: memref.collapse_shape %{{.*}} {{\[}}[0, 1], [2]] : memref<8x197x64xf16> into memref<1576x64xf16>
// CHECK: memref.collapse_shape %{{.*}} {{\[}}[0, 1]] : memref<8x197xf32> into memref<1576xf32>
// CHECK: memref.collapse_shape %{{.*}} {{\[}}[0], [1, 2]] : memref<64x8x197xf16> into memref<64x1576xf16>
// CHECK: gpu.launch
// CHECK: movmatrix
// What is read beside the rows does not wait for stores.
// CHECK: memref.load %{{.*}} : memref<64xf16>
// CHECK: vector.store
// CHECK-NOT: memref.load
// CHECK: else
func.func @tokens(%x: memref<8x197x64xf16>, %scale: memref<8x197xf32>, %w: memref<64xf16>,
                  %y: memref<64x8x197xf16>) {
  linalg.generic {indexing_maps = [affine_map<(k, b, s) -> (b, s, k)>, affine_map<(k, b, s) -> (b, s)>,
                                   affine_map<(k, b, s) -> (k)>, affine_map<(k, b, s) -> (k, b, s)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x, %scale, %w : memref<8x197x64xf16>, memref<8x197xf32>, memref<64xf16>) outs(%y : memref<64x8x197xf16>) {
  ^bb0(%in: f16, %s: f32, %v: f16, %out: f16):
    %wide = arith.extf %in : f16 to f32
    %scaled = arith.mulf %wide, %s : f32
    %rounded = arith.truncf %scaled : f32 to f16
    %result = arith.mulf %rounded, %v : f16
    linalg.yield %result : f16
  }
  return
}

// -----

// Rows with a gap between sequences stay two loops.
// CHECK-LABEL: func.func @gaps
// CHECK-NOT: memref.collapse_shape
func.func @gaps(%x: memref<8x197x64xf16, strided<[12800, 64, 1]>>, %y: memref<64x8x197xf16>) {
  linalg.transpose ins(%x : memref<8x197x64xf16, strided<[12800, 64, 1]>>) outs(%y : memref<64x8x197xf16>)
    permutation = [2, 0, 1]
  return
}
