// RUN: nm-opt %s --transform-interpreter --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// Ragged m, n and k: the last tile along n is 13 columns, the last along k one
// window and a half, which are two windows of the weights.

// CHECK-DAG: #[[$MIN_K:.*]] = affine_map<(d0) -> (-d0 + 62, 32)>
// CHECK-DAG: #[[$ROWS:.*]] = affine_map<(d0) -> ((d0 ceildiv 4) * 2)>
// CHECK-LABEL: func.func @ragged
// CHECK-SAME: %[[A:.*]]: tensor<?x62xf32>, %[[V:.*]]: tensor<32x45xf32>, %[[I:.*]]: tensor<32x45xi8>, %[[C:.*]]: tensor<?x45xf32>
func.func @ragged(%a: tensor<?x62xf32>, %v: tensor<32x45xf32>, %i: tensor<32x45xi8>, %c: tensor<?x45xf32>) -> tensor<?x45xf32> {
  // CHECK: scf.for %[[M:.*]] = {{.*}} iter_args
  // CHECK: scf.for %[[N:.*]] = {{.*}} iter_args
  // CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%[[OUT:.*]] = {{.*}})
  // CHECK-DAG: %[[KSIZE:.*]] = affine.min #[[$MIN_K]](%[[K]])
  // CHECK-DAG: %[[AT:.*]] = tensor.extract_slice %[[A]][%[[M]], %[[K]]] [%[[MSIZE:.*]], %[[KSIZE]]] [1, 1]
  // CHECK-DAG: %[[ROW:.*]] = affine.apply #{{.*}}(%[[K]])
  // CHECK-DAG: %[[WSIZE:.*]] = affine.apply #[[$ROWS]](%[[KSIZE]])
  // CHECK-DAG: %[[VT:.*]] = tensor.extract_slice %[[V]][%[[ROW]], %[[N]]] [%[[WSIZE]], %[[NSIZE:.*]]] [1, 1]
  // CHECK-DAG: %[[IT:.*]] = tensor.extract_slice %[[I]][%[[ROW]], %[[N]]] [%[[WSIZE]], %[[NSIZE]]] [1, 1]
  // CHECK-DAG: %[[CT:.*]] = tensor.extract_slice %[[OUT]][%[[M]], %[[N]]] [%[[MSIZE]], %[[NSIZE]]] [1, 1]
  // CHECK: nm.spmm <2:4> ins(%[[AT]], %[[VT]], %[[IT]] : {{.*}}) outs(%[[CT]] : {{.*}})
  // CHECK: tensor.insert_slice
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<?x62xf32>, tensor<32x45xf32>, tensor<32x45xi8>)
    outs(%c : tensor<?x45xf32>) -> tensor<?x45xf32>
  return %r : tensor<?x45xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:3 = transform.structured.tile_using_for %op tile_sizes [8, 16, 32]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A batch, both transposes, blocks: the tile is cut from the right dimensions,
// and a column of blocks has one index.

// CHECK-DAG: #[[$KEPT:.*]] = affine_map<(d0) -> ((d0 floordiv 8) * 4)>
// CHECK-DAG: #[[$UNITS:.*]] = affine_map<(d0) -> (d0 floordiv 8)>
// CHECK-DAG: #[[$PADDED:.*]] = affine_map<(d0) -> ((d0 floordiv 8) * 8)>
// CHECK-LABEL: func.func @transposed_blocks
// CHECK-SAME: %[[A:.*]]: tensor<4x64x6xf16>, %[[V:.*]]: tensor<32x48xf16>, %[[I:.*]]: tensor<8x6xi8>, %[[C:.*]]: tensor<4x48x6xf16>
func.func @transposed_blocks(%a: tensor<4x64x6xf16>, %v: tensor<32x48xf16>, %i: tensor<8x6xi8>, %c: tensor<4x48x6xf16>) -> tensor<4x48x6xf16> {
  // CHECK: scf.for %[[B:.*]] = {{.*}} iter_args
  // CHECK: scf.for %[[M:.*]] = {{.*}} iter_args
  // CHECK: scf.for %[[N:.*]] = {{.*}} iter_args
  // CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%[[OUT:.*]] = {{.*}})
  // CHECK-DAG: %[[ROW:.*]] = affine.apply #[[$KEPT]](%[[K]])
  // CHECK-DAG: %[[UNIT:.*]] = affine.apply #[[$UNITS]](%[[K]])
  // CHECK-DAG: %[[COLUMN:.*]] = affine.apply #[[$PADDED]](%[[N]])
  // CHECK-DAG: %[[BLOCK:.*]] = affine.apply #[[$UNITS]](%[[N]])
  // CHECK-DAG: %[[AT:.*]] = tensor.extract_slice %[[A]][%[[B]], %[[K]], %[[M]]] [2, 32, 3] [1, 1, 1]
  // CHECK-DAG: %[[VT:.*]] = tensor.extract_slice %[[V]][%[[ROW]], %[[COLUMN]]] [16, 16] [1, 1]
  // CHECK-DAG: %[[IT:.*]] = tensor.extract_slice %[[I]][%[[UNIT]], %[[BLOCK]]] [4, 2] [1, 1]
  // CHECK-DAG: %[[CT:.*]] = tensor.extract_slice %[[OUT]][%[[B]], %[[N]], %[[M]]] [2, 16, 3] [1, 1, 1]
  // CHECK: nm.spmm <1:2, block = 4x8> transpose_a transpose_c ins(%[[AT]], %[[VT]], %[[IT]] : {{.*}}) outs(%[[CT]] : {{.*}})
  %r = nm.spmm <1:2, block = 4x8> transpose_a transpose_c
    ins(%a, %v, %i : tensor<4x64x6xf16>, tensor<32x48xf16>, tensor<8x6xi8>)
    outs(%c : tensor<4x48x6xf16>) -> tensor<4x48x6xf16>
  return %r : tensor<4x48x6xf16>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:4 = transform.structured.tile_using_for %op tile_sizes [2, 3, 16, 32]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Packed weights are cut by whole panels; padded columns count, so the last
// tile has the last panel.

// CHECK-LABEL: func.func @packed
// CHECK-SAME: %[[A:.*]]: memref<5x64xf32>, %[[V:.*]]: memref<4x32x16xf32>, %[[I:.*]]: memref<4x32x4xi8>, %[[C:.*]]: memref<5x50xf32>
func.func @packed(%a: memref<5x64xf32>, %v: memref<4x32x16xf32>, %i: memref<4x32x4xi8>, %c: memref<5x50xf32>) {
  // CHECK: scf.for %[[N:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
  // CHECK-DAG: %[[SIZE:.*]] = affine.min #{{.*}}(%[[N]])
  // CHECK-DAG: %[[PANEL:.*]] = affine.apply #{{.*}}(%[[N]])
  // CHECK-DAG: %[[PANELS:.*]] = affine.apply #{{.*}}(%[[SIZE]])
  // CHECK-DAG: %[[VT:.*]] = memref.subview %[[V]][%[[PANEL]], 0, 0] [%[[PANELS]], 32, 16] [1, 1, 1]
  // CHECK-DAG: %[[IT:.*]] = memref.subview %[[I]][%[[PANEL]], 0, 0] [%[[PANELS]], 32, 4] [1, 1, 1]
  // CHECK-DAG: %[[CT:.*]] = memref.subview %[[C]][0, %[[N]]] [5, %[[SIZE]]] [1, 1]
  // CHECK: nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 2> ins(%{{.*}}, %[[VT]], %[[IT]] : {{.*}}) outs(%[[CT]] : {{.*}})
  nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 2>
    ins(%a, %v, %i : memref<5x64xf32>, memref<4x32x16xf32>, memref<4x32x4xi8>) outs(%c : memref<5x50xf32>)
  return
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %op tile_sizes [0, 32, 0]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Lists of rows, and indices, are cut by whole tiles of the columns that share
// them, to which the last one is filled up.

// CHECK-LABEL: func.func @listed
// CHECK-SAME: %[[A:[^:]*]]: memref<5x64xf32>, %[[V:[^:]*]]: memref<5x6x32xf32>, %[[I:[^:]*]]: memref<6x6x1xi8>, %[[L:[^:]*]]: memref<6x6x1xi8>, %[[C:[^:]*]]: memref<5x160xf32>
func.func @listed(%a: memref<5x64xf32>, %v: memref<5x6x32xf32>, %i: memref<6x6x1xi8>, %l: memref<6x6x1xi8>, %c: memref<5x160xf32>) {
  // CHECK: scf.for %[[N:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
  // CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
  // CHECK: %[[VT:.*]] = memref.subview %[[V]][%{{.*}}, %{{.*}}, 0] [%{{.*}}, 3, 32] [1, 1, 1]
  // CHECK: %[[IT:.*]] = memref.subview %[[I]][%[[PANEL:.*]], %[[UNIT:.*]], 0] [%[[PANELS:.*]], 3, 1] [1, 1, 1]
  // CHECK: %[[LT:.*]] = memref.subview %[[L]][%[[PANEL]], %[[UNIT]], 0] [%[[PANELS]], 3, 1] [1, 1, 1]
  // CHECK: nm.spmm <3:32, block = 1x32> packing {{.*}} ins(%{{.*}}, %[[VT]], %[[IT]] : {{.*}}) lists(%[[LT]] : {{.*}}) outs(
  nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, col_info = 64>
    ins(%a, %v, %i : memref<5x64xf32>, memref<5x6x32xf32>, memref<6x6x1xi8>)
    lists(%l : memref<6x6x1xi8>) outs(%c : memref<5x160xf32>)
  return
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [0, 64, 32]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// CHECK-LABEL: func.func @spmv_forall
// CHECK-SAME: %[[X:.*]]: tensor<64xbf16>, %[[V:.*]]: tensor<16x48xbf16>, %[[I:.*]]: tensor<16x48xi8>, %[[Y:.*]]: tensor<48xf32>
func.func @spmv_forall(%x: tensor<64xbf16>, %v: tensor<16x48xbf16>, %i: tensor<16x48xi8>, %y: tensor<48xf32>) -> tensor<48xf32> {
  // CHECK: scf.forall (%[[TILE:.*]]) in (3) shared_outs(%[[OUT:.*]] = %[[Y]])
  // CHECK: %[[N:.*]] = affine.apply #{{.*}}(%[[TILE]])
  // CHECK-DAG: %[[VT:.*]] = tensor.extract_slice %[[V]][0, %[[N]]] [16, 16] [1, 1]
  // CHECK-DAG: %[[IT:.*]] = tensor.extract_slice %[[I]][0, %[[N]]] [16, 16] [1, 1]
  // CHECK-DAG: %[[YT:.*]] = tensor.extract_slice %[[OUT]][%[[N]]] [16] [1]
  // CHECK: %[[T:.*]] = nm.spmv <1:4> ins(%[[X]], %[[VT]], %[[IT]] : {{.*}}) outs(%[[YT]] : {{.*}})
  // CHECK: tensor.parallel_insert_slice %[[T]] into %[[OUT]][%[[N]]] [16] [1]
  %r = nm.spmv <1:4> ins(%x, %v, %i : tensor<64xbf16>, tensor<16x48xbf16>, tensor<16x48xi8>)
    outs(%y : tensor<48xf32>) -> tensor<48xf32>
  return %r : tensor<48xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmv"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_forall %op tile_sizes [16]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Format ops run over (k, n) of the dense matrix, whichever dimension k is.

// CHECK-LABEL: func.func @compress
// CHECK-SAME: %[[W:.*]]: tensor<48x62xf32>
func.func @compress(%w: tensor<48x62xf32>, %v0: tensor<32x48xf32>, %i0: tensor<32x48xi8>) -> (tensor<32x48xf32>, tensor<32x48xi8>) {
  // CHECK: scf.for %[[K:.*]] = {{.*}} iter_args
  // CHECK: scf.for %[[N:.*]] = {{.*}} iter_args(%[[VOUT:.*]] = {{.*}}, %[[IOUT:.*]] = {{.*}})
  // CHECK-DAG: %[[KSIZE:.*]] = affine.min #{{.*}}(%[[K]])
  // CHECK-DAG: %[[ROW:.*]] = affine.apply #{{.*}}(%[[K]])
  // CHECK-DAG: %[[WSIZE:.*]] = affine.apply #{{.*}}(%[[KSIZE]])
  // CHECK-DAG: %[[WT:.*]] = tensor.extract_slice %[[W]][%[[N]], %[[K]]] [24, %[[KSIZE]]] [1, 1]
  // CHECK-DAG: %[[VT:.*]] = tensor.extract_slice %[[VOUT]][%[[ROW]], %[[N]]] [%[[WSIZE]], 24] [1, 1]
  // CHECK-DAG: %[[IT:.*]] = tensor.extract_slice %[[IOUT]][%[[ROW]], %[[N]]] [%[[WSIZE]], 24] [1, 1]
  // CHECK: nm.compress <2:4> dim 1 ins(%[[WT]] : {{.*}}) outs(%[[VT]], %[[IT]] : {{.*}})
  %v, %i = nm.compress <2:4> dim 1 ins(%w : tensor<48x62xf32>)
    outs(%v0, %i0 : tensor<32x48xf32>, tensor<32x48xi8>) -> tensor<32x48xf32>, tensor<32x48xi8>
  return %v, %i : tensor<32x48xf32>, tensor<32x48xi8>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.compress"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [16, 24]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// CHECK-LABEL: func.func @decompress_and_prune
func.func @decompress_and_prune(%v: memref<32x48xf32>, %i: memref<32x48xi8>, %b: memref<64x48xf32>, %w: memref<48x?xi8>) {
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: nm.decompress <2:4> ins(%{{.*}}, %{{.*}} : memref<8x24xf32, {{.*}}>, memref<8x24xi8, {{.*}}>) outs(%{{.*}} : memref<16x24xf32, {{.*}}>)
  nm.decompress <2:4> ins(%v, %i : memref<32x48xf32>, memref<32x48xi8>) outs(%b : memref<64x48xf32>)
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: nm.prune <2:4> dim 1 ins(%{{.*}} : memref<24x?xi8, {{.*}}>) outs(%{{.*}} : memref<24x?xi8, {{.*}}>)
  nm.prune <2:4> dim 1 ins(%w : memref<48x?xi8>) outs(%w : memref<48x?xi8>)
  return
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.decompress", "nm.prune"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [16, 24]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A consumer takes its tile of the product: all of k.

// CHECK-LABEL: func.func @fused
// CHECK-SAME: %[[A:.*]]: tensor<6x64xf32>
func.func @fused(%a: tensor<6x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<6x48xf32>) -> tensor<6x48xf32> {
  // CHECK: scf.forall (%[[M:.*]], %[[N:.*]]) in (3, 3)
  // CHECK: tensor.extract_slice %[[A]][%{{.*}}, 0] [2, 64] [1, 1]
  // CHECK: %[[T:.*]] = nm.spmm <2:4> {{.*}} -> tensor<2x16xf32>
  // CHECK: linalg.exp ins(%[[T]] : tensor<2x16xf32>)
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<6x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<6x48xf32>) -> tensor<6x48xf32>
  %e = linalg.exp ins(%r : tensor<6x48xf32>) outs(%c : tensor<6x48xf32>) -> tensor<6x48xf32>
  return %e : tensor<6x48xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %exp = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %exp num_threads [3, 3]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.structured.fuse_into_containing_op %op into %loop
      : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// The operands of an epilogue are cut with C: a bias along n, a residual along
// both, a scale not at all. C is transposed. The arithmetic stays.

// CHECK-LABEL: func.func @epilogue
// CHECK-SAME: %[[BIAS:[^:]*]]: tensor<45xf32>, %[[RES:[^:]*]]: tensor<?x45xf16>, %[[SCALE:[^:]*]]: tensor<f32>
func.func @epilogue(%a: tensor<?x64xf32>, %v: tensor<32x45xf32>, %i: tensor<32x45xi8>, %bias: tensor<45xf32>,
                    %res: tensor<?x45xf16>, %scale: tensor<f32>, %c: tensor<45x?xf16>) -> tensor<45x?xf16> {
  // CHECK: scf.for %[[M:.*]] = {{.*}} iter_args
  // CHECK: scf.for %[[N:.*]] = {{.*}} iter_args(%[[OUT:.*]] = {{.*}})
  // CHECK-DAG: %[[BT:.*]] = tensor.extract_slice %[[BIAS]][%[[N]]] [%[[NSIZE:.*]]] [1]
  // CHECK-DAG: %[[RT:.*]] = tensor.extract_slice %[[RES]][%[[M]], %[[N]]] [%[[MSIZE:.*]], %[[NSIZE]]] [1, 1]
  // CHECK-DAG: %[[CT:.*]] = tensor.extract_slice %[[OUT]][%[[N]], %[[M]]] [%[[NSIZE]], %[[MSIZE]]] [1, 1]
  // CHECK: nm.spmm <2:4> transpose_c arithmetic <ieee> ins({{.*}}) outs(%[[CT]] : tensor<?x?xf16>)
  // CHECK-SAME: epilogue ins(%[[BT]], %[[RT]], %[[SCALE]] :
  %r = nm.spmm <2:4> transpose_c arithmetic <ieee>
    ins(%a, %v, %i : tensor<?x64xf32>, tensor<32x45xf32>, tensor<32x45xi8>)
    outs(%c : tensor<45x?xf16>) -> tensor<45x?xf16>
    epilogue ins(%bias, %res, %scale : tensor<45xf32>, tensor<?x45xf16>, tensor<f32>)
             maps [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> ()>] {
    ^bb0(%s: f32, %b: f32, %x: f16, %t: f32):
      %p = arith.mulf %s, %t : f32
      %q = arith.addf %p, %b : f32
      %h = arith.truncf %q : f32 to f16
      %y = arith.addf %h, %x : f16
      nm.yield %y : f16
    }
  return %r : tensor<45x?xf16>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [8, 16, 0]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
