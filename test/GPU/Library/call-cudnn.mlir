// RUN: nm-opt %s --nm-call-cublas --canonicalize --cse | FileCheck %s
// RUN: nm-opt %s --nm-call-cublas=available=false --canonicalize --cse | FileCheck %s --check-prefix=WITHOUT --implicit-check-not=nm. --implicit-check-not=call

#q = affine_map<(b, h, g, m, n, d, e) -> (b, m, h, g, d)>
#k = affine_map<(b, h, g, m, n, d, e) -> (b, h, n, d)>
#v = affine_map<(b, h, g, m, n, d, e) -> (b, h, n, e)>
#o = affine_map<(b, h, g, m, n, d, e) -> (b, m, h, g, e)>

// The arguments are batches, heads of keys, groups, rows, keys, depth and width,
// four pointers, the type, the strides of Q along batches, heads, groups and
// rows, of K and V along batches, heads and keys, and of O as of Q; the bits of
// the scale, and whether it is causal.
// CHECK-LABEL: func.func @causal
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[C9:.*]] = arith.constant 9 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[C144:.*]] = arith.constant 144 : index
// CHECK-DAG: %[[C192:.*]] = arith.constant 192 : index
// CHECK-DAG: %[[C288:.*]] = arith.constant 288 : index
// CHECK-DAG: %[[C384:.*]] = arith.constant 384 : index
// CHECK-DAG: %[[C432:.*]] = arith.constant 432 : index
// CHECK-DAG: %[[C864:.*]] = arith.constant 864 : index
// CHECK-DAG: %[[C960:.*]] = arith.constant 960 : index
// CHECK-DAG: %[[C1920:.*]] = arith.constant 1920 : index
// CHECK-DAG: %[[SCALE:.*]] = arith.constant 1040187392 : index
// CHECK: call @nmCudnnIsLoaded()
// CHECK: %[[QUEUED:.*]] = scf.if
// CHECK: func.call @nmCudnnTryAttention(%[[C2]], %[[C3]], %[[C4]], %[[C5]], %[[C9]], %[[C32]], %[[C16]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[C2]], %[[C1920]], %[[C128:.*]], %[[C32]], %[[C384]], %[[C864]], %[[C288]], %[[C32]], %[[C432]], %[[C144]], %[[C16]], %[[C960]], %[[C64]], %[[C16]], %[[C192]], %[[SCALE]], %[[C1]])
// CHECK: arith.cmpi eq, %[[QUEUED]], %[[C0]]
// CHECK: scf.if
// CHECK: linalg.fill
// WITHOUT-LABEL: func.func @causal
// WITHOUT: linalg.fill
func.func @causal(%q: memref<2x5x3x4x32xf16>, %k: memref<2x3x9x32xf16>, %v: memref<2x3x9x16xf16>, %o: memref<2x5x3x4x16xf16>) {
  %zero = arith.constant 0.0 : f16
  %loaded = nm.has_cudnn
  scf.if %loaded {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 0.125 causal
      ins(%q, %k, %v : memref<2x5x3x4x32xf16>, memref<2x3x9x32xf16>, memref<2x3x9x16xf16>) outs(%o : memref<2x5x3x4x16xf16>)
  } else {
    linalg.fill ins(%zero : f16) outs(%o : memref<2x5x3x4x16xf16>)
  }
  return
}

// Columns that are apart are not cuDNN's.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: nmCudnnTry
// CHECK: linalg.fill
func.func @apart(%q: memref<5x32xf16, strided<[64, 2]>>, %k: memref<9x32xf16>, %v: memref<9x16xf16>, %o: memref<5x16xf16>) {
  %zero = arith.constant 0.0 : f16
  %loaded = nm.has_cudnn
  scf.if %loaded {
    nm.attention indexing_maps = [affine_map<(m, n, d, e) -> (m, d)>, affine_map<(m, n, d, e) -> (n, d)>, affine_map<(m, n, d, e) -> (n, e)>, affine_map<(m, n, d, e) -> (m, e)>] scale = 1.0
      ins(%q, %k, %v : memref<5x32xf16, strided<[64, 2]>>, memref<9x32xf16>, memref<9x16xf16>) outs(%o : memref<5x16xf16>)
  } else {
    linalg.fill ins(%zero : f16) outs(%o : memref<5x16xf16>)
  }
  return
}
