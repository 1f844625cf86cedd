// RUN: nm-opt %s --nm-pad-rows | FileCheck %s

// CHECK-LABEL: func @known
// CHECK: %[[ROWS:.*]] = memref.alloc() : memref<64x80xf16>
// CHECK: %[[T:.*]] = memref.subview %[[ROWS]][0, 0] [64, 77] [1, 1] : memref<64x80xf16> to memref<64x77xf16, strided<[80, 1]>>
// CHECK: linalg.transpose {{.*}} outs(%[[T]] : memref<64x77xf16, strided<[80, 1]>>)
// CHECK: %[[TILE:.*]] = memref.subview %[[T]][8, 0] [16, 77] [1, 1] : memref<64x77xf16, strided<[80, 1]>> to memref<16x77xf16, strided<[80, 1], offset: 640>>
// CHECK: %[[PARTS:.*]] = memref.expand_shape %[[TILE]] {{.*}} into memref<2x8x77xf16, strided<[640, 80, 1], offset: 640>>
// CHECK: linalg.fill {{.*}} outs(%[[PARTS]]
// CHECK: memref.dealloc %[[ROWS]]
func.func @known(%a: memref<77x64xf16>) {
  %zero = arith.constant 0.0 : f16
  %t = memref.alloc() : memref<64x77xf16>
  linalg.transpose ins(%a : memref<77x64xf16>) outs(%t : memref<64x77xf16>) permutation = [1, 0]
  %tile = memref.subview %t[8, 0] [16, 77] [1, 1] : memref<64x77xf16> to memref<16x77xf16, strided<[77, 1], offset: 616>>
  %parts = memref.expand_shape %tile [[0, 1], [2]] output_shape [2, 8, 77] : memref<16x77xf16, strided<[77, 1], offset: 616>> into memref<2x8x77xf16, strided<[616, 77, 1], offset: 616>>
  linalg.fill ins(%zero : f16) outs(%parts : memref<2x8x77xf16, strided<[616, 77, 1], offset: 616>>)
  memref.dealloc %t : memref<64x77xf16>
  return
}

// Rows of an A start where the schedules of products that read it say, else
// where those of each temporary of 16 bits do.
// CHECK-LABEL: func @scheduled
// CHECK: memref.alloc() : memref<64x128xf16>
// CHECK: memref.alloc() : memref<64x96xf16>
// CHECK: memref.alloc() : memref<64x80xf16>
func.func @scheduled(%values: memref<32x64xf16>, %indices: memref<32x64xi8>, %c: memref<77x64xf16>) {
  %t = memref.alloc() : memref<64x77xf16>
  %tile = memref.subview %t[0, 0] [64, 77] [1, 1] : memref<64x77xf16> to memref<64x77xf16, strided<[77, 1]>>
  nm.spmm <2:4> transpose_a schedule #nm.simt<pad_a = 64> ins(%tile, %values, %indices : memref<64x77xf16, strided<[77, 1]>>, memref<32x64xf16>, memref<32x64xi8>) outs(%c : memref<77x64xf16>)
  nm.spmm <2:4> transpose_a schedule #nm.cublas<pad_a = 16> ins(%t, %values, %indices : memref<64x77xf16>, memref<32x64xf16>, memref<32x64xi8>) outs(%c : memref<77x64xf16>)
  %less = memref.alloc() : memref<64x77xf16>
  nm.spmm <2:4> transpose_a schedule #nm.cublas<pad_a = 32> ins(%less, %values, %indices : memref<64x77xf16>, memref<32x64xf16>, memref<32x64xi8>) outs(%c : memref<77x64xf16>)
  %none = memref.alloc() : memref<64x77xf16>
  nm.spmm <2:4> transpose_a schedule #nm.simt<> ins(%none, %values, %indices : memref<64x77xf16>, memref<32x64xf16>, memref<32x64xi8>) outs(%c : memref<77x64xf16>)
  return
}

// Rows of k some of which are repeated are lines, of whatever type.
// CHECK-LABEL: func @repeated
// CHECK: memref.alloc() : memref<64x256xi8>
func.func @repeated(%a: memref<64x100xi8>) {
  %t = memref.alloc() : memref<64x136xi8>
  linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} outs(%t : memref<64x136xi8>) attrs = {nm.windows = 6 : i64} {
  ^bb0(%o: i8):
    %m = linalg.index 0 : index
    %k = linalg.index 1 : index
    %x = memref.load %a[%m, %k] : memref<64x100xi8>
    linalg.yield %x : i8
  }
  memref.dealloc %t : memref<64x136xi8>
  return
}

// CHECK-LABEL: func @unknown
// CHECK-SAME: %[[A:.*]]: memref<?x64xf16>, %[[M:.*]]: index
// CHECK: %[[COUNT:.*]] = arith.ceildivui %[[M]], %c8
// CHECK: %[[CHUNKS:.*]] = memref.alloc(%[[COUNT]]) : memref<64x?x8xf16>
// CHECK: %[[MORE:.*]] = memref.collapse_shape %[[CHUNKS]] {{\[\[}}0], [1, 2]] : memref<64x?x8xf16> into memref<64x?xf16>
// CHECK: %[[T:.*]] = memref.subview %[[MORE]][0, 0] [64, %[[M]]] [1, 1] : memref<64x?xf16> to memref<64x?xf16, strided<[?, 1]>>
// CHECK: linalg.transpose {{.*}} outs(%[[T]] : memref<64x?xf16, strided<[?, 1]>>)
// CHECK: memref.dealloc %[[CHUNKS]]
func.func @unknown(%a: memref<?x64xf16>, %m: index) {
  %t = memref.alloc(%m) : memref<64x?xf16>
  linalg.transpose ins(%a : memref<?x64xf16>) outs(%t : memref<64x?xf16>) permutation = [1, 0]
  memref.dealloc %t : memref<64x?xf16>
  return
}

// Whole rows, other elements, what is passed on, and what could not be
// reshaped any more, stay.
// CHECK-LABEL: func @left
// CHECK-NEXT: memref.alloc() : memref<64x72xf16>
// CHECK-NEXT: memref.alloc() : memref<64x77xf32>
// CHECK-NEXT: memref.alloc() : memref<77xf16>
// CHECK-NEXT: memref.alloc() : memref<32x48x1xf16>
// CHECK-NEXT: %[[OUT:.*]] = memref.alloc() : memref<64x77xf16>
// CHECK-NEXT: %[[FLAT:.*]] = memref.alloc() : memref<8x77xf16>
// CHECK-NEXT: memref.collapse_shape %[[FLAT]]
// CHECK-NEXT: return %[[OUT]]
func.func @left() -> (memref<64x77xf16>, memref<616xf16>) {
  %whole = memref.alloc() : memref<64x72xf16>
  %wide = memref.alloc() : memref<64x77xf32>
  %row = memref.alloc() : memref<77xf16>
  // As means over the places of an image.
  %elements = memref.alloc() : memref<32x48x1xf16>
  %out = memref.alloc() : memref<64x77xf16>
  %several = memref.alloc() : memref<8x77xf16>
  %flat = memref.collapse_shape %several [[0, 1]] : memref<8x77xf16> into memref<616xf16>
  return %out, %flat : memref<64x77xf16>, memref<616xf16>
}

// CHECK-LABEL: func @on_host
// CHECK: memref.alloc() : memref<64x77xf16>
func.func @on_host() attributes {nm.host} {
  %t = memref.alloc() : memref<64x77xf16>
  memref.dealloc %t : memref<64x77xf16>
  return
}

// Splits of A are read as f16 is.
// CHECK-LABEL: func @splits
// CHECK: %[[CHUNKS:.*]] = memref.alloc(%{{.*}}) : memref<64x?x8xbf16>
// CHECK: %[[T:.*]] = memref.subview
// CHECK: nm.split_floats 3 transpose ins(%{{.*}}) outs(%[[T]] : memref<64x?xbf16, strided<[?, 1]>>)
func.func @splits(%a: memref<?x64xf32>, %columns: index) {
  %t = memref.alloc(%columns) : memref<64x?xbf16>
  nm.split_floats 3 transpose ins(%a : memref<?x64xf32>) outs(%t : memref<64x?xbf16>)
  memref.dealloc %t : memref<64x?xbf16>
  return
}

// Rows of a single element, as of sequences of one token, stay: of padded ones
// the product's A, which has the elements of a column of k side by side, would
// have every eighth element.
// CHECK-LABEL: func @single_elements
// CHECK: memref.alloc() : memref<64x16x1xf16>
func.func @single_elements(%values: memref<32x64xf16>, %indices: memref<32x64xi8>, %c: memref<16x64xf16>) {
  %t = memref.alloc() : memref<64x16x1xf16>
  %a = memref.collapse_shape %t [[0], [1, 2]] : memref<64x16x1xf16> into memref<64x16xf16>
  nm.spmm <2:4> transpose_a ins(%a, %values, %indices : memref<64x16xf16>, memref<32x64xf16>, memref<32x64xi8>) outs(%c : memref<16x64xf16>)
  return
}

// Sequences and their tokens are one dimension of the product's A, whose rows are
// lines.
// CHECK-LABEL: func @sequences
// CHECK: %[[ROWS:.*]] = memref.alloc() : memref<64x192xf16>
// CHECK: %[[T:.*]] = memref.subview %[[ROWS]][0, 0] [64, 134] [1, 1]
// CHECK: %[[PARTS:.*]] = memref.expand_shape %[[T]] {{.*}} into memref<64x2x67xf16, strided<[192, 67, 1]>>
// CHECK: linalg.fill {{.*}} outs(%[[PARTS]]
// CHECK: %[[A:.*]] = memref.collapse_shape %[[PARTS]] {{.*}} into memref<64x134xf16, strided<[192, 1]>>
// CHECK: nm.spmm <2:4> transpose_a schedule {{.*}} ins(%[[A]]
// CHECK: memref.dealloc %[[ROWS]]
func.func @sequences(%values: memref<32x64xf16>, %indices: memref<32x64xi8>, %c: memref<134x64xf16>) {
  %zero = arith.constant 0.0 : f16
  %t = memref.alloc() : memref<64x2x67xf16>
  linalg.fill ins(%zero : f16) outs(%t : memref<64x2x67xf16>)
  %a = memref.collapse_shape %t [[0], [1, 2]] : memref<64x2x67xf16> into memref<64x134xf16>
  nm.spmm <2:4> transpose_a schedule #nm.simt<pad_a = 64> ins(%a, %values, %indices : memref<64x134xf16>, memref<32x64xf16>, memref<32x64xi8>) outs(%c : memref<134x64xf16>)
  memref.dealloc %t : memref<64x2x67xf16>
  return
}

// Attention stores its result in padded rows, too: of heads and columns, and of
// sequences and queries.
// CHECK-LABEL: func @attention
// CHECK: memref.alloc() : memref<4x16x192xf16>
// CHECK: nm.attention {{.*}} outs(%{{.*}} : memref<4x16x2x67xf16, strided<[3072, 192, 67, 1]>>)
// CHECK: nm.spmm {{.*}} ins(%{{.*}} : memref<64x134xf16, strided<[192, 1]>>
func.func @attention(%q: memref<2x67x4x16xf16>, %values: memref<32x64xf16>, %indices: memref<32x64xi8>, %c: memref<134x64xf16>) {
  %t = memref.alloc() : memref<4x16x2x67xf16>
  nm.attention indexing_maps = [affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>, affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>,
                                affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>, affine_map<(b, h, m, n, d, e) -> (h, e, b, m)>] scale = 0.125
    ins(%q, %q, %q : memref<2x67x4x16xf16>, memref<2x67x4x16xf16>, memref<2x67x4x16xf16>) outs(%t : memref<4x16x2x67xf16>)
  %a = memref.collapse_shape %t [[0, 1], [2, 3]] : memref<4x16x2x67xf16> into memref<64x134xf16>
  nm.spmm <2:4> transpose_a schedule #nm.simt<pad_a = 64> ins(%a, %values, %indices : memref<64x134xf16>, memref<32x64xf16>, memref<32x64xi8>) outs(%c : memref<134x64xf16>)
  memref.dealloc %t : memref<4x16x2x67xf16>
  return
}
