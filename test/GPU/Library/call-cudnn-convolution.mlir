// RUN: nm-opt %s --nm-call-cublas --canonicalize --cse | FileCheck %s
// RUN: nm-opt %s --nm-call-cublas=available=false --canonicalize --cse | FileCheck %s --check-prefix=WITHOUT --implicit-check-not=nm. --implicit-check-not=call

// Planes: 2 images of 4 channels and 9 x 8 pixels, 3 x 2 taps, 6 outputs of
// 5 x 7, places 2 and 1 apart, 1 pixel of padding in front of the rows. The
// arguments are the addresses of image, filter and output, the type, flags,
// images, channels and outputs; of each of three dimensions the pixels, taps,
// places, how far places and taps are apart, and the padding in front; and the
// strides: of images, channels and pixels; of outputs, channels and taps; of
// images, outputs and places.
// CHECK-LABEL: func.func @planes
// CHECK-SAME: %[[X:.*]]: memref<2x4x9x8xf16>, %[[W:.*]]: memref<1x1x144xf16>, %{{.*}}: memref<1x1x4xi8>, %[[Y:.*]]: memref<2x6x35xf16>, %
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG: %[[C7:.*]] = arith.constant 7 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C9:.*]] = arith.constant 9 : index
// CHECK-DAG: %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG: %[[C35:.*]] = arith.constant 35 : index
// CHECK-DAG: %[[C72:.*]] = arith.constant 72 : index
// CHECK-DAG: %[[C210:.*]] = arith.constant 210 : index
// CHECK-DAG: %[[C288:.*]] = arith.constant 288 : index
// CHECK: call @nmCudnnIsLoaded()
// CHECK: %[[QUEUED:.*]] = scf.if
// CHECK-NOT: linalg.fill
// CHECK: %[[PX:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK: %[[PW:.*]] = memref.extract_aligned_pointer_as_index %[[W]]
// CHECK: %[[PY:.*]] = memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK: func.call @nmCudnnTryConvolve(%[[PX]], %[[PW]], %[[PY]], %[[C2]], %[[C0]], %[[C2]], %[[C4]], %[[C6]],
// CHECK-SAME: %[[C1]], %[[C1]], %[[C1]], %[[C1]], %[[C1]], %[[C0]],
// CHECK-SAME: %[[C9]], %[[C3]], %[[C5]], %[[C2]], %[[C1]], %[[C1]],
// CHECK-SAME: %[[C8]], %[[C2]], %[[C7]], %[[C1]], %[[C1]], %[[C0]],
// CHECK-SAME: %[[C288]], %[[C72]], %[[C1]], %[[C8]], %[[C1]],
// CHECK-SAME: %[[C24]], %[[C1]], %[[C1]], %[[C8]], %[[C4]],
// CHECK-SAME: %[[C210]], %[[C35]], %[[C1]], %[[C7]], %[[C1]])
// CHECK: arith.cmpi eq, %[[QUEUED]], %[[C0]]
// CHECK: scf.if
// CHECK: memref.copy
// WITHOUT-LABEL: func.func @planes
// WITHOUT: memref.copy
func.func @planes(%x: memref<2x4x9x8xf16>, %w: memref<1x1x144xf16>, %i: memref<1x1x4xi8>, %y: memref<2x6x35xf16>, %z: memref<2x6x35xf16>) {
  %zero = arith.constant 0.0 : f16
  %loaded = nm.has_cudnn
  scf.if %loaded {
    linalg.fill ins(%zero : f16) outs(%y : memref<2x6x35xf16>)
    %a = nm.patches %x map affine_map<(b, i, j, c, y, x) -> (b, c, y * 2 + i - 1, x + j)>
      loops [2, 3, 2, 4, 5, 7] groups [1, 3, 2] : memref<2x4x9x8xf16> -> memref<2x24x35xf16>
    nm.spmm <1:1, block = 1x6> transpose_a transpose_c packing #nm.packing<panel = 6, index_bits = 1, chunk_rows = 24, index_rows = 24>
      schedule #nm.cublas<packing = <panel = 6, index_bits = 1, chunk_rows = 24, index_rows = 24>>
      ins(%a, %w, %i : memref<2x24x35xf16>, memref<1x1x144xf16>, memref<1x1x4xi8>) outs(%y : memref<2x6x35xf16>)
  } else {
    memref.copy %z, %y : memref<2x6x35xf16> to memref<2x6x35xf16>
  }
  return
}

// Channels last, 1 dimension, dilated taps, and images among the rows of A.
// CHECK-LABEL: func.func @last
// CHECK: func.call @nmCudnnTryConvolve(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %c3, %c0, %c3, %c8, %c4,
// CHECK-SAME: {{^}} %c1, %c1, %c1, %c1, %c1, %c0, %c1, %c1, %c1, %c1, %c1, %c0, %c10, %c2, %c11, %c1, %c3, %c2,
// CHECK-SAME: {{^}} %c80, %c1, %c1, %c1, %c8, %c16, %c1, %c1, %c1, %c8, %c44, %c1, %c1, %c1, %c4)
func.func @last(%x: memref<3x10x8xbf16>, %w: memref<1x1x64xbf16>, %i: memref<1x1x2xi8>, %y: memref<33x4xbf16>) {
  %zero = arith.constant 0.0 : bf16
  %loaded = nm.has_cudnn
  scf.if %loaded {
    linalg.fill ins(%zero : bf16) outs(%y : memref<33x4xbf16>)
    %a = nm.patches %x map affine_map<(b, y, i, c) -> (b, y + i * 3 - 2, c)>
      loops [3, 11, 2, 8] groups [2, 2] : memref<3x10x8xbf16> -> memref<33x16xbf16>
    nm.spmm <1:1, block = 1x4> packing #nm.packing<panel = 4, index_bits = 1, chunk_rows = 16, index_rows = 16>
      schedule #nm.cublas<packing = <panel = 4, index_bits = 1, chunk_rows = 16, index_rows = 16>>
      ins(%a, %w, %i : memref<33x16xbf16>, memref<1x1x64xbf16>, memref<1x1x2xi8>) outs(%y : memref<33x4xbf16>)
  } else {
    linalg.fill ins(%zero : bf16) outs(%y : memref<33x4xbf16>)
  }
  return
}
