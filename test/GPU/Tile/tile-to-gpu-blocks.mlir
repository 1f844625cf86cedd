// RUN: nm-opt %s --nm-tile-to-gpu-blocks --canonicalize --split-input-file | FileCheck %s

// Blocks along m and n, n fastest; the fill is made tile by tile; k is cut by
// whole windows.
// CHECK-LABEL: func.func @fill
// CHECK-SAME: %[[A:[^:]*]]: tensor<256x256xf32>, %[[V:[^:]*]]: tensor<8x128x32xf32>, %[[I:[^:]*]]: tensor<8x128x1xi8>
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: scf.forall (%[[M:.*]], %[[N:.*]]) = (0, 0) to (256, 256) step (64, 128) shared_outs(%[[OUT:.*]] = %[[E]])
// CHECK: tensor.extract_slice %[[A]][%[[M]], 0] [64, 256]
// CHECK: %[[FILL:.*]] = linalg.fill
// CHECK: scf.for %[[K:.*]] = %c0 to %c256 step %c32 iter_args(%[[C:.*]] = %[[FILL]])
// CHECK: nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
// CHECK-SAME: ins({{.*}} : tensor<64x32xf32>, tensor<4x16x32xf32>, tensor<4x16x1xi8>) outs(%[[C]] : tensor<64x128xf32>)
// CHECK: {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
func.func @fill(%a: tensor<256x256xf32>, %v: tensor<8x128x32xf32>, %i: tensor<8x128x1xi8>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
    schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], stages = 2>
    ins(%a, %v, %i : tensor<256x256xf32>, tensor<8x128x32xf32>, tensor<8x128x1xi8>)
    outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// -----

// A panel that is narrower than a unit becomes the unit; a tile that k fits in
// makes no loop; a batch is one more dimension of blocks.
// CHECK-LABEL: func.func @narrow
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) = (0, 0, 0) to (3, %{{.*}}, 250) step (1, 64, 128)
// CHECK-NOT: scf.for %
// CHECK: nm.spmm <2:4, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
// CHECK: {mapping = [#gpu.block<linear_dim_2>, #gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
func.func @narrow(%a: tensor<3x?x30xf32>, %v: tensor<8x16x32xf32>, %i: tensor<8x16x1xi8>, %c: tensor<3x?x250xf32>) -> tensor<3x?x250xf32> {
  %r = nm.spmm <2:4, block = 1x64> packing #nm.packing<panel = 32, index_bits = 8>
    schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8]>
    ins(%a, %v, %i : tensor<3x?x30xf32>, tensor<8x16x32xf32>, tensor<8x16x1xi8>)
    outs(%c : tensor<3x?x250xf32>) -> tensor<3x?x250xf32>
  return %r : tensor<3x?x250xf32>
}

// -----

// Parts of k are summed side by side and then added up, in their order. What C
// had is added to that; no copy of C is made.
// CHECK-LABEL: func.func @split
// CHECK-SAME: %[[A:[^:]*]]: tensor<128x256xf32>, %[[V:[^:]*]]: tensor<8x128x32xf32>, %[[I:[^:]*]]: tensor<8x128x1xi8>, %[[C:[^:]*]]: tensor<128x256xf32>
// CHECK: %[[PARTIALS:.*]] = tensor.empty() : tensor<4x128x256xf32>
// CHECK: %[[SUMS:.*]] = scf.forall (%[[P:.*]], %[[M:.*]], %[[N:.*]]) = (0, 0, 0) to (4, 128, 256) step (1, 64, 128) shared_outs(%[[OUT:.*]] = %[[PARTIALS]])
// CHECK: %[[FILL:.*]] = linalg.fill {{.*}} -> tensor<64x128xf32>
// CHECK: scf.for %[[K:.*]] = %c0 to %c64 step %c32 iter_args(%[[T:.*]] = %[[FILL]])
// CHECK: %[[AT:.*]] = affine.apply #{{.*}}(%[[P]], %[[K]])
// CHECK: tensor.extract_slice %[[A]][%[[M]], %[[AT]]] [64, 32]
// CHECK: nm.spmm {{.*}} outs(%[[T]] : tensor<64x128xf32>)
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[OUT]][%[[P]], %[[M]], %[[N]]] [1, 64, 128]
// CHECK: {mapping = [#gpu.block<linear_dim_2>, #gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
// CHECK: scf.forall (%[[ROW:.*]], %{{.*}}) = (0, 0) to (128, 256) step (1, 256)
// CHECK-DAG: %[[PT:.*]] = tensor.extract_slice %[[SUMS]][0, %[[ROW]], 0] [4, 1, 256]
// CHECK-DAG: %[[CT:.*]] = tensor.extract_slice %[[C]][%[[ROW]], 0] [1, 256]
// CHECK-DAG: %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<1x256xf32>
// CHECK: %[[SUM:.*]] = nm.combine ins(%[[PT]] : tensor<4x1x256xf32>) outs(%[[ZEROS]] : tensor<1x256xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[CT]] : {{.*}}) outs(%[[SUM]] :
// CHECK-NEXT: ^bb0(%[[BEFORE:.*]]: f32, %[[S:.*]]: f32):
// CHECK-NEXT: arith.addf %[[BEFORE]], %[[S]]
func.func @split(%a: tensor<128x256xf32>, %v: tensor<8x128x32xf32>, %i: tensor<8x128x1xi8>, %c: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %r = nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
    schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], stages = 2, split_k = 4>
    ins(%a, %v, %i : tensor<128x256xf32>, tensor<8x128x32xf32>, tensor<8x128x1xi8>)
    outs(%c : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
}

// -----

// The last of three parts ends before its last tile, which then stands on the
// last window and has no rows. The sum is added to what C is filled with.
// CHECK-DAG: #[[$LEFT:.*]] = affine_map<(d0, d1) -> (d0 * -64 - d1 + 150, 32)>
// CHECK-DAG: #[[$WINDOW:.*]] = affine_map<(d0, d1) -> (d0 * 2 + d1 floordiv 32, 4)>
// CHECK-LABEL: func.func @split_ragged
// CHECK: scf.forall (%[[P:.*]], %{{.*}}, %{{.*}}, %{{.*}}) = (0, 0, 0, 0) to (3, 2, %{{.*}}, 256) step (1, 1, 64, 128)
// CHECK: scf.for %[[K:.*]] = %c0 to %c64 step %c32
// CHECK: affine.min #[[$LEFT]](%[[P]], %[[K]])
// CHECK: affine.max
// CHECK: affine.min #[[$WINDOW]](%[[P]], %[[K]])
// CHECK: scf.forall
// CHECK: %[[FILL:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<1x1x256xf32>)
// CHECK: nm.combine ins(%{{.*}} : tensor<3x1x1x256xf32>) outs(%[[FILL]] :
func.func @split_ragged(%a: tensor<2x?x150xf32>, %v: tensor<8x80x32xf32>, %i: tensor<8x80x1xi8>, %e: tensor<2x?x256xf32>) -> tensor<2x?x256xf32> {
  %one = arith.constant 1.0 : f32
  %c = linalg.fill ins(%one : f32) outs(%e : tensor<2x?x256xf32>) -> tensor<2x?x256xf32>
  %r = nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
    schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], stages = 2, split_k = 4>
    ins(%a, %v, %i : tensor<2x?x150xf32>, tensor<8x80x32xf32>, tensor<8x80x1xi8>)
    outs(%c : tensor<2x?x256xf32>) -> tensor<2x?x256xf32>
  return %r : tensor<2x?x256xf32>
}

// -----

// All parts are the blocks of one cluster: each sums its part, and the sum of
// those is added to a tile of C as it was. No two blocks write the same.
// CHECK-DAG: #[[$AT:.*]] = affine_map<(d0, d1) -> (d0 * 64 + d1)>
// CHECK-LABEL: func.func @cluster(
// CHECK-SAME: %[[A:[^:]*]]: tensor<128x256xf32>, %[[V:[^:]*]]: tensor<8x128x32xf32>, %[[I:[^:]*]]: tensor<8x128x1xi8>, %[[C:[^:]*]]: tensor<128x256xf32>
// CHECK: scf.forall (%[[M:.*]], %[[N:.*]]) = (0, 0) to (128, 256) step (64, 128) shared_outs(%[[OUT:.*]] = %[[C]])
// CHECK-DAG: %[[CT:.*]] = tensor.extract_slice %[[OUT]][%[[M]], %[[N]]] [64, 128]
// CHECK-DAG: %[[E:.*]] = tensor.empty() : tensor<4x64x128xf32>
// CHECK: %[[PARTS:.*]] = scf.forall (%[[P:.*]]) in (4) shared_outs(%[[ALL:.*]] = %[[E]])
// CHECK: %[[PT:.*]] = tensor.extract_slice %[[ALL]][%[[P]], 0, 0] [1, 64, 128] [1, 1, 1] : tensor<4x64x128xf32> to tensor<64x128xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} outs(%[[PT]] :
// CHECK: %[[S:.*]] = scf.for %[[K:.*]] = %c0 to %c64 step %c32 iter_args(%[[T:.*]] = %[[ZEROS]])
// CHECK: affine.apply #[[$AT]](%[[P]], %[[K]])
// CHECK: nm.spmm {{.*}} cluster_k = 4> {{.*}} outs(%[[T]] : tensor<64x128xf32>)
// CHECK: tensor.parallel_insert_slice %[[S]] into %[[ALL]][%[[P]], 0, 0] [1, 64, 128]
// CHECK: {mapping = [#nm.cluster_block]}
// CHECK: %[[SUM:.*]] = nm.combine ins(%[[PARTS]] : tensor<4x64x128xf32>) outs(%[[CT]] : tensor<64x128xf32>)
// CHECK: tensor.parallel_insert_slice %[[SUM]] into %[[OUT]][%[[M]], %[[N]]] [64, 128]
// CHECK: {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
// CHECK-NOT: scf.forall
// CHECK: return
func.func @cluster(%a: tensor<128x256xf32>, %v: tensor<8x128x32xf32>, %i: tensor<8x128x1xi8>, %c: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %r = nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
    schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], stages = 2, split_k = 4, cluster_k = 4>
    ins(%a, %v, %i : tensor<128x256xf32>, tensor<8x128x32xf32>, tensor<8x128x1xi8>)
    outs(%c : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
}

// -----

// What C is filled with stands in its tile, to which the parts are added; the
// last of three parts that k has makes room for an empty one, so that the
// cluster is whole.
// CHECK-DAG: #[[$LEFT:.*]] = affine_map<(d0, d1) -> (d0 * -64 - d1 + 150, 32)>
// CHECK-LABEL: func.func @cluster_filled
// CHECK: scf.forall (%[[B:.*]], %[[M:.*]], %[[N:.*]]) = (0, 0, 0) to (2, %{{.*}}, 256) step (1, 64, 128) shared_outs(%[[OUT:.*]] = %{{.*}})
// CHECK: %[[CT:.*]] = tensor.extract_slice %[[OUT]][%[[B]], %[[M]], %[[N]]]
// CHECK: %[[FILL:.*]] = linalg.fill ins(%cst{{.*}} : f32) outs(%[[CT]] : tensor<1x?x128xf32>)
// CHECK: %[[PARTS:.*]] = scf.forall (%[[P:.*]]) in (4) {{.*}} -> (tensor<4x1x?x128xf32>)
// CHECK: scf.for %[[K:.*]] = %c0 to %c64 step %c32
// CHECK: affine.min #[[$LEFT]](%[[P]], %[[K]])
// CHECK: affine.max
// CHECK: {mapping = [#nm.cluster_block]}
// CHECK: nm.combine ins(%[[PARTS]] : {{.*}}) outs(%[[FILL]] :
// CHECK: {mapping = [#gpu.block<linear_dim_2>, #gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
// CHECK-NOT: scf.forall
func.func @cluster_filled(%a: tensor<2x?x150xf32>, %v: tensor<8x80x32xf32>, %i: tensor<8x80x1xi8>, %e: tensor<2x?x256xf32>) -> tensor<2x?x256xf32> {
  %one = arith.constant 1.0 : f32
  %c = linalg.fill ins(%one : f32) outs(%e : tensor<2x?x256xf32>) -> tensor<2x?x256xf32>
  %r = nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
    schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], stages = 2, split_k = 4, cluster_k = 4>
    ins(%a, %v, %i : tensor<2x?x150xf32>, tensor<8x80x32xf32>, tensor<8x80x1xi8>)
    outs(%c : tensor<2x?x256xf32>) -> tensor<2x?x256xf32>
  return %r : tensor<2x?x256xf32>
}

// -----

// Two clusters of two parts each: one partial sum for each, which the second
// loop adds up.
// CHECK-DAG: #[[$PART:.*]] = affine_map<(d0, d1, d2) -> (d0 + d1 * 128 + d2 * 64)>
// CHECK-LABEL: func.func @clusters
// CHECK: %[[PARTIALS:.*]] = tensor.empty() : tensor<2x128x256xf32>
// CHECK: %[[SUMS:.*]] = scf.forall (%[[Q:.*]], %[[M:.*]], %[[N:.*]]) = (0, 0, 0) to (2, 128, 256) step (1, 64, 128) shared_outs(%[[OUT:.*]] = %[[PARTIALS]])
// CHECK: tensor.extract_slice %[[OUT]][%[[Q]], %[[M]], %[[N]]] [1, 64, 128]
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<64x128xf32>
// CHECK: %[[PARTS:.*]] = scf.forall (%[[P:.*]]) in (2) {{.*}} -> (tensor<2x64x128xf32>)
// CHECK: affine.apply #[[$PART]](%{{.*}}, %[[Q]], %[[P]])
// CHECK: {mapping = [#nm.cluster_block]}
// CHECK: %[[SUM:.*]] = nm.combine ins(%[[PARTS]] : {{.*}}) outs(%[[ZEROS]] :
// CHECK: tensor.parallel_insert_slice %[[SUM]] into %[[OUT]][%[[Q]], %[[M]], %[[N]]] [1, 64, 128]
// CHECK: {mapping = [#gpu.block<linear_dim_0>, #gpu.block<linear_dim_2>, #gpu.block<linear_dim_1>]}
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (128, 256) step (1, 256)
// CHECK: nm.combine ins(%{{.*}} : tensor<2x1x256xf32>)
func.func @clusters(%a: tensor<128x256xf32>, %v: tensor<8x128x32xf32>, %i: tensor<8x128x1xi8>, %c: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %r = nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
    schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], stages = 2, split_k = 4, cluster_k = 2>
    ins(%a, %v, %i : tensor<128x256xf32>, tensor<8x128x32xf32>, tensor<8x128x1xi8>)
    outs(%c : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
}

// -----

// Less than a window along k, for columns of one unit: a loop over parts of the
// kept units, each a dense product with the rows of A that its index names. The
// last window is ragged: past its end there are no rows.
// CHECK-LABEL: func.func @gather
// CHECK-SAME: %[[A:[^:]*]]: tensor<64x300xf32>, %[[V:[^:]*]]: tensor<2x192x64xf32>, %[[I:[^:]*]]: tensor<2x3x1xi8>
// CHECK: scf.forall
// CHECK: %[[VB:.*]] = tensor.extract_slice %[[V]]
// CHECK: %[[IB:.*]] = tensor.extract_slice %[[I]]
// CHECK: scf.for %[[PART:.*]] = %c0 to %c6 step %c1 iter_args(%[[C:.*]] = %{{.*}})
// CHECK: %[[UNIT:.*]] = arith.divui %[[PART]], %c2
// CHECK: %[[ROW:.*]] = arith.muli %[[PART]], %c32
// CHECK: %[[IN:.*]] = arith.remui %[[ROW]], %c64
// CHECK: %[[INDEX:.*]] = tensor.extract %[[IB]][%c0, %[[UNIT]], %c0]
// CHECK: %[[P:.*]] = arith.index_castui %[[INDEX]]
// CHECK: %[[WINDOW:.*]] = arith.muli %[[UNIT]], %c128
// CHECK: %[[OFFSET:.*]] = arith.muli %[[P]], %c64
// CHECK: %[[START:.*]] = arith.addi %[[WINDOW]], %[[OFFSET]]
// CHECK: %[[FIRST:.*]] = arith.addi %[[START]], %[[IN]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[FIRST]], %c300
// CHECK: %[[FROM:.*]] = arith.select %[[INSIDE]], %[[FIRST]], %c0
// CHECK: %[[REST:.*]] = arith.subi %c300, %[[FROM]]
// CHECK: %[[LEFT:.*]] = arith.minui %[[REST]], %c32
// CHECK: %[[COUNT:.*]] = arith.select %[[INSIDE]], %[[LEFT]], %c0
// CHECK: %[[AT:.*]] = tensor.extract_slice %[[A]][0, %[[FROM]]] [64, %[[COUNT]]]
// CHECK: %[[VT:.*]] = tensor.extract_slice %[[VB]][0, %[[ROW]], 0] [1, 32, 64]
// CHECK: nm.spmm <1:1, block = 32x64>
// CHECK-SAME: ins(%[[AT]], %[[VT]], %{{.*}} : tensor<64x?xf32>, tensor<1x32x64xf32>, tensor<1x1x1xi8>) outs(%[[C]] :
func.func @gather(%a: tensor<64x300xf32>, %v: tensor<2x192x64xf32>, %i: tensor<2x3x1xi8>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = nm.spmm <1:2, block = 64x64> packing #nm.packing<panel = 64, index_bits = 8>
    schedule #nm.simt<block = [64, 64, 32], warp = [64, 32], thread = [8, 8], stages = 2>
    ins(%a, %v, %i : tensor<64x300xf32>, tensor<2x192x64xf32>, tensor<2x3x1xi8>)
    outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}

// -----

// cuBLAS where it is there, else our own; both write the same new tensor.
// CHECK-LABEL: func.func @cublas
// CHECK: %[[E:.*]] = tensor.empty() : tensor<128x256xf32>
// CHECK: %[[LOADED:.*]] = nm.has_cublas
// CHECK: scf.if %[[LOADED]]
// CHECK: %[[FILL:.*]] = linalg.fill {{.*}} outs(%[[E]] :
// CHECK: nm.spmm <1:1, block = 1x32> schedule #nm.cublas {{.*}} outs(%[[FILL]] :
// CHECK: } else {
// CHECK: scf.forall {{.*}} shared_outs(%{{.*}} = %[[E]])
// CHECK: nm.spmm <1:1, block = 1x32> schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], stages = 2>
func.func @cublas(%a: tensor<128x64xf32>, %v: tensor<64x256xf32>, %i: tensor<64x8xi8>, %c: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<128x256xf32>) -> tensor<128x256xf32>
  %r = nm.spmm <1:1, block = 1x32>
    schedule #nm.cublas<own = #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], stages = 2>>
    ins(%a, %v, %i : tensor<128x64xf32>, tensor<64x256xf32>, tensor<64x8xi8>)
    outs(%f : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
}

// In f32 for narrower floats, which strategy simt has not.
// CHECK-LABEL: func.func @cublas_f16
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x64xf16>, %[[V:[^:]*]]: tensor<64x256xf16>, {{.*}}%[[C:[^:]*]]: tensor<?x256xf16>
// CHECK: scf.if
// CHECK: nm.spmm <1:1, block = 1x32> schedule #nm.cublas {{.*}} outs(%[[C]] :
// CHECK: } else {
// CHECK: %[[C32:.*]] = linalg.generic {{.*}} ins(%[[C]] : tensor<?x256xf16>) outs(%{{.*}} : tensor<?x256xf32>)
// CHECK: arith.extf
// CHECK: linalg.generic {{.*}} ins(%[[A]] : tensor<?x64xf16>)
// CHECK: linalg.generic {{.*}} ins(%[[V]] : tensor<64x256xf16>)
// CHECK: %[[SUMS:.*]] = scf.forall {{.*}} shared_outs(%{{.*}} = %[[C32]])
// CHECK: nm.spmm <1:1, block = 1x32> schedule #nm.simt<{{.*}}xf32>
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[SUMS]] : tensor<?x256xf32>) outs(%[[C]] : tensor<?x256xf16>)
// CHECK: arith.truncf
// CHECK: scf.yield %[[R]]
func.func @cublas_f16(%a: tensor<?x64xf16>, %v: tensor<64x256xf16>, %i: tensor<64x8xi8>, %c: tensor<?x256xf16>) -> tensor<?x256xf16> {
  %r = nm.spmm <1:1, block = 1x32>
    schedule #nm.cublas<own = #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], stages = 2>>
    ins(%a, %v, %i : tensor<?x64xf16>, tensor<64x256xf16>, tensor<64x8xi8>)
    outs(%c : tensor<?x256xf16>) -> tensor<?x256xf16>
  return %r : tensor<?x256xf16>
}

// Without tiles, a thread makes each element of C.
// CHECK-LABEL: func.func @cublas_i8
// CHECK: scf.if
// CHECK: nm.spmm <1:1, block = 1x32> schedule #nm.cublas
// CHECK: } else {
// CHECK-NOT: scf.forall
// CHECK: nm.spmm <1:1, block = 1x32> schedule #nm.loops
func.func @cublas_i8(%a: tensor<128x64xi8>, %v: tensor<64x256xi8>, %i: tensor<64x8xi8>, %c: tensor<128x256xi32>) -> tensor<128x256xi32> {
  %r = nm.spmm <1:1, block = 1x32> schedule #nm.cublas
    ins(%a, %v, %i : tensor<128x64xi8>, tensor<64x256xi8>, tensor<64x8xi8>)
    outs(%c : tensor<128x256xi32>) -> tensor<128x256xi32>
  return %r : tensor<128x256xi32>
}

// An epilogue stands behind the loop over k, where the sums of a tile are
// whole, on slices of its operands; C is new, and what it had is not read.
// CHECK-LABEL: func.func @epilogue
// CHECK-SAME: %[[BIAS:[^:]*]]: tensor<256xf32>, %[[RES:[^:]*]]: tensor<128x256xf32>
// CHECK: %[[NEW:.*]] = tensor.empty() : tensor<128x256xf32>
// CHECK: scf.forall (%[[M:.*]], %[[N:.*]]) = {{.*}} shared_outs(%[[OUT:.*]] = %[[NEW]])
// CHECK-DAG: %[[BT:.*]] = tensor.extract_slice %[[BIAS]][%[[N]]] [128] [1]
// CHECK-DAG: %[[RT:.*]] = tensor.extract_slice %[[RES]][%[[M]], %[[N]]] [64, 128] [1, 1]
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[SUMS:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[ZEROS]])
// CHECK: nm.spmm
// CHECK-NOT: epilogue
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[BT]], %[[RT]] : {{.*}}) outs(%[[SUMS]] :
// CHECK: tensor.parallel_insert_slice %[[Y]]
func.func @epilogue(%a: tensor<128x64xf32>, %v: tensor<8x16x32xf32>, %i: tensor<8x16x1xi8>, %bias: tensor<256xf32>,
                    %r: tensor<128x256xf32>, %c: tensor<128x256xf32>) -> tensor<128x256xf32> {
  %0 = nm.spmm <8:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
    schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8], stages = 2>
    ins(%a, %v, %i : tensor<128x64xf32>, tensor<8x16x32xf32>, tensor<8x16x1xi8>)
    outs(%c : tensor<128x256xf32>) -> tensor<128x256xf32>
    epilogue ins(%bias, %r : tensor<256xf32>, tensor<128x256xf32>)
             maps [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>] {
    ^bb0(%s: f32, %b: f32, %x: f32):
      %1 = arith.addf %s, %b : f32
      %2 = arith.addf %1, %x : f32
      nm.yield %2 : f32
    }
  return %0 : tensor<128x256xf32>
}

// With parts of k, it stands behind their sum; C may then be narrow.
// CHECK-LABEL: func.func @epilogue_split_k
// CHECK-SAME: %[[BIAS:[^:]*]]: tensor<256xf32>
// CHECK: %[[PARTS:.*]] = scf.forall {{.*}} -> (tensor<2x128x256xf32>)
// CHECK: nm.spmm
// CHECK-NOT: epilogue
// CHECK: scf.forall {{.*}} -> (tensor<128x256xf16>)
// CHECK-DAG: %[[PT:.*]] = tensor.extract_slice %[[PARTS]][0, %{{.*}}, 0] [2, 1, 256]
// CHECK-DAG: %[[E:.*]] = tensor.empty() : tensor<1x256xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} outs(%[[E]] :
// CHECK: %[[SUM:.*]] = nm.combine ins(%[[PT]] : tensor<2x1x256xf32>) outs(%[[ZEROS]] :
// CHECK: linalg.generic {{.*}} ins(%[[BIAS]], %[[SUM]] :
// CHECK-NEXT: ^bb0(%[[B:.*]]: f32, %[[S:.*]]: f32, %{{.*}}: f16):
// CHECK-NEXT: %[[BIASED:.*]] = arith.addf %[[S]], %[[B]]
// CHECK-NEXT: arith.truncf %[[BIASED]] : f32 to f16
func.func @epilogue_split_k(%a: tensor<128x64xf32>, %v: tensor<8x16x32xf32>, %i: tensor<8x16x1xi8>, %bias: tensor<256xf32>,
                            %c: tensor<128x256xf16>) -> tensor<128x256xf16> {
  %0 = nm.spmm <8:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
    schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8], split_k = 2>
    ins(%a, %v, %i : tensor<128x64xf32>, tensor<8x16x32xf32>, tensor<8x16x1xi8>)
    outs(%c : tensor<128x256xf16>) -> tensor<128x256xf16>
    epilogue ins(%bias : tensor<256xf32>) maps [affine_map<(m, n) -> (n)>] {
    ^bb0(%s: f32, %b: f32):
      %1 = arith.addf %s, %b : f32
      %2 = arith.truncf %1 : f32 to f16
      nm.yield %2 : f16
    }
  return %0 : tensor<128x256xf16>
}

// cuBLAS has none: it follows either product. Sums that it rounds at once are
// rounded by the library.
// CHECK-LABEL: func.func @epilogue_cublas
// CHECK: %[[P:.*]] = scf.if {{.*}} -> (tensor<128x256xf16>)
// CHECK: nm.spmm <1:1, block = 1x32> schedule #nm.cublas
// CHECK-NOT: epilogue
// CHECK: } else {
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs(%[[P]] : tensor<128x256xf16>)
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : f16
// CHECK: return %[[Y]]
func.func @epilogue_cublas(%a: tensor<128x64xf16>, %v: tensor<64x256xf16>, %i: tensor<64x8xi8>, %c: tensor<128x256xf16>) -> tensor<128x256xf16> {
  %r = nm.spmm <1:1, block = 1x32>
    schedule #nm.cublas<own = #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], stages = 2>>
    ins(%a, %v, %i : tensor<128x64xf16>, tensor<64x256xf16>, tensor<64x8xi8>)
    outs(%c : tensor<128x256xf16>) -> tensor<128x256xf16>
    epilogue {
    ^bb0(%s: f32):
      %zero = arith.constant 0.0 : f16
      %h = arith.truncf %s : f32 to f16
      %y = arith.maximumf %h, %zero : f16
      nm.yield %y : f16
    }
  return %r : tensor<128x256xf16>
}
