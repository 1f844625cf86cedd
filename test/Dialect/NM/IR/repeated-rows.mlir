// RUN: nm-opt %s | nm-opt | FileCheck %s
// RUN: nm-opt %s -one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=fully-dynamic-layout-map" | FileCheck %s --check-prefix=BUFFERS

// Of 250 rows, 192 are two times 16 windows of 6, which take two tiles each, and
// 58 are 32 in each of two tiles. The matrix of a memref is of no memory, and
// its strides are those of A, so that nothing is copied.
// CHECK-LABEL: func.func @rows
// CHECK: nm.repeated_rows windows 6 %{{.*}} : tensor<2x250x64xf16> -> tensor<2x384x64xf16>
// BUFFERS-LABEL: func.func @rows
// BUFFERS-NOT: memref.copy
// BUFFERS: %[[A:.*]] = nm.repeated_rows windows 6 %{{.*}} : memref<2x250x64xf16, strided<[?, ?, ?], offset: ?>> -> memref<2x384x64xf16, strided<[?, ?, ?], offset: ?>>
// BUFFERS: nm.spmm {{.*}} ins(%[[A]],
func.func @rows(%a: tensor<2x250x64xf16>, %v: tensor<192x16xf16>, %i: tensor<192x16xi8>, %c: tensor<2x64x16xf16>) -> tensor<2x64x16xf16> {
  %r = nm.repeated_rows windows 6 %a : tensor<2x250x64xf16> -> tensor<2x384x64xf16>
  %p = nm.spmm <2:4> transpose_a
    ins(%r, %v, %i : tensor<2x384x64xf16>, tensor<192x16xf16>, tensor<192x16xi8>)
    outs(%c : tensor<2x64x16xf16>) -> tensor<2x64x16xf16>
  return %p : tensor<2x64x16xf16>
}

// Fewer rows than 16 windows.
// CHECK-LABEL: func.func @few
// CHECK: nm.repeated_rows windows 10 %{{.*}} : memref<33x?xbf16> -> memref<128x?xbf16>
func.func @few(%a: memref<33x?xbf16>) {
  %r = nm.repeated_rows windows 10 %a : memref<33x?xbf16> -> memref<128x?xbf16>
  return
}
