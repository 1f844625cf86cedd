// RUN: nm-opt %s --nm-tile-to-gpu-blocks --canonicalize --cse --split-input-file | FileCheck %s

// The last tile of rows begins where it is whole, and so has a static size.
// CHECK-DAG: #[[$EARLY:.*]] = affine_map<(d0) -> (36, d0)>
// CHECK-LABEL: func.func @early
// CHECK-SAME: %[[A:[^:]*]]: tensor<100x64xf16>
// CHECK: scf.forall (%[[M:.*]], %[[N:.*]]) = (0, 0) to (100, 128) step (64, 64) shared_outs(%[[OUT:.*]] = %
// CHECK: %[[FIRST:.*]] = affine.min #[[$EARLY]](%[[M]])
// CHECK: tensor.extract_slice %[[A]][%[[FIRST]], 0] [64, 64]
// CHECK: nm.spmm <2:4> {{.*}} outs(%{{.*}} : tensor<64x64xf16>)
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[OUT]][%[[FIRST]], %[[N]]] [64, 64]
func.func @early(%a: tensor<100x64xf16>, %v: tensor<2x1x2048xf16>, %i: tensor<2x1x512xi8>) -> tensor<100x128xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<100x128xf16>
  %c = linalg.fill ins(%zero : f16) outs(%e : tensor<100x128xf16>) -> tensor<100x128xf16>
  %r = nm.spmm <2:4> packing #nm.sparse_operand<wgmma>
    schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 4, overlap = true>
    ins(%a, %v, %i : tensor<100x64xf16>, tensor<2x1x2048xf16>, tensor<2x1x512xi8>)
    outs(%c : tensor<100x128xf16>) -> tensor<100x128xf16>
  return %r : tensor<100x128xf16>
}

// -----

// Where there may be fewer rows than a tile has, it has those.
// CHECK-DAG: #[[$SIZE:.*]] = affine_map<()[s0] -> (64, s0)>
// CHECK-DAG: #[[$LAST:.*]] = affine_map<()[s0] -> (0, s0 - 64)>
// CHECK-DAG: #[[$EARLY:.*]] = affine_map<(d0)[s0] -> (s0, d0)>
// CHECK-LABEL: func.func @unknown
// CHECK-DAG: %[[SIZE_OF_TILE:.*]] = affine.min #[[$SIZE]]()[%{{.*}}]
// CHECK-DAG: %[[LAST_FIRST:.*]] = affine.max #[[$LAST]]()[%{{.*}}]
// CHECK: scf.forall (%[[M:.*]], %[[N:.*]]) = (0, 0) to
// CHECK: %[[FIRST:.*]] = affine.min #[[$EARLY]](%[[M]])[%[[LAST_FIRST]]]
// CHECK: tensor.extract_slice %{{.*}}[%[[FIRST]], 0] [%[[SIZE_OF_TILE]], 64]
func.func @unknown(%a: tensor<?x64xf16>, %v: tensor<2x1x2048xf16>, %i: tensor<2x1x512xi8>, %m: index) -> tensor<?x128xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty(%m) : tensor<?x128xf16>
  %c = linalg.fill ins(%zero : f16) outs(%e : tensor<?x128xf16>) -> tensor<?x128xf16>
  %r = nm.spmm <2:4> packing #nm.sparse_operand<wgmma>
    schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 4, overlap = true>
    ins(%a, %v, %i : tensor<?x64xf16>, tensor<2x1x2048xf16>, tensor<2x1x512xi8>)
    outs(%c : tensor<?x128xf16>) -> tensor<?x128xf16>
  return %r : tensor<?x128xf16>
}

// -----

// A tile adds to what C had, which another may not have changed.
// CHECK-LABEL: func.func @sums
// CHECK: %[[SIZE:.*]] = affine.min
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [%[[SIZE]], 64]
func.func @sums(%a: tensor<100x64xf16>, %v: tensor<2x1x2048xf16>, %i: tensor<2x1x512xi8>, %c: tensor<100x128xf16>) -> tensor<100x128xf16> {
  %r = nm.spmm <2:4> packing #nm.sparse_operand<wgmma>
    schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 4, overlap = true>
    ins(%a, %v, %i : tensor<100x64xf16>, tensor<2x1x2048xf16>, tensor<2x1x512xi8>)
    outs(%c : tensor<100x128xf16>) -> tensor<100x128xf16>
  return %r : tensor<100x128xf16>
}

// -----

// C may stand where the residual does.
// CHECK-LABEL: func.func @residual
// CHECK: %[[SIZE:.*]] = affine.min
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [%[[SIZE]], 64]
func.func @residual(%a: tensor<100x64xf16>, %v: tensor<2x1x2048xf16>, %i: tensor<2x1x512xi8>, %b: tensor<100x128xf32>) -> tensor<100x128xf16> {
  %e = tensor.empty() : tensor<100x128xf16>
  %r = nm.spmm <2:4> packing #nm.sparse_operand<wgmma>
    schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 4, overlap = true>
    ins(%a, %v, %i : tensor<100x64xf16>, tensor<2x1x2048xf16>, tensor<2x1x512xi8>)
    outs(%e : tensor<100x128xf16>) -> tensor<100x128xf16>
    epilogue ins(%b : tensor<100x128xf32>) maps [affine_map<(m, n) -> (m, n)>] {
    ^bb0(%sum: f32, %r0: f32):
      %s = arith.addf %sum, %r0 : f32
      %y = arith.truncf %s : f32 to f16
      nm.yield %y : f16
    }
  return %r : tensor<100x128xf16>
}

// -----

// Without `overlap`, as of an m-major A, whose rows begin with lines of memory,
// or are copied slowly.
// CHECK-LABEL: func.func @m_major
// CHECK: %[[SIZE:.*]] = affine.min
// CHECK: tensor.extract_slice %{{.*}}[0, %{{.*}}] [64, %[[SIZE]]]
func.func @m_major(%a: tensor<64x104xf16>, %v: tensor<2x1x2048xf16>, %i: tensor<2x1x512xi8>) -> tensor<104x128xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<104x128xf16>
  %c = linalg.fill ins(%zero : f16) outs(%e : tensor<104x128xf16>) -> tensor<104x128xf16>
  %r = nm.spmm <2:4> transpose_a packing #nm.sparse_operand<wgmma>
    schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 4>
    ins(%a, %v, %i : tensor<64x104xf16>, tensor<2x1x2048xf16>, tensor<2x1x512xi8>)
    outs(%c : tensor<104x128xf16>) -> tensor<104x128xf16>
  return %r : tensor<104x128xf16>
}
