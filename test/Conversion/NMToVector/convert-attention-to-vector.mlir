// RUN: nm-opt %s --convert-nm-to-vector --canonicalize --cse --split-input-file | FileCheck %s

// Tiles of 32 rows of each head, by tiles of 64 keys; those that no row sees are
// left out. A score's sum runs along depth with 8 keys by two vectors of rows.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[Q:.*]]: memref<2x96x64xf32>, %[[K:.*]]: memref<2x100x64xf32>, %[[V:.*]]: memref<2x100x48xf32>, %[[O:.*]]: memref<2x96x48xf32>
func.func @rows(%q: memref<2x96x64xf32>, %k: memref<2x100x64xf32>, %v: memref<2x100x48xf32>,
                %o: memref<2x96x48xf32>) {
  // CHECK: scf.forall (%[[H:.*]], %[[ROW:.*]]) = (0, 0) to (2, 96) step (1, 32)
  // CHECK:   memref.alloc() {alignment = 64 : i64} : memref<64x32xf32>
  // CHECK:   %[[BEHIND:.*]] = arith.addi %[[ROW]], %c32
  // CHECK:   %[[END:.*]] = arith.minsi %[[BEHIND]], %c100
  // CHECK:   scf.for %[[TILE:.*]] = %c0 to %[[END]] step %c64 iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
  // CHECK:     scf.for {{.*}} step %c8
  // CHECK:       scf.for %{{.*}} = %c0 to %c64 step %c1 iter_args({{.*}}) -> ([[SUMS:(vector<16xf32>, ){15}]]vector<16xf32>)
  // CHECK:         memref.load %[[K]][%[[H]],
  // CHECK:         vector.fma
  // CHECK:       arith.cmpi sge
  // CHECK:     math.exp
  // CHECK:     memref.load %[[V]][%[[H]],
  // CHECK:   vector.shuffle
  // CHECK:   vector.store {{.*}}, %[[O]][%[[H]],
  // CHECK-NOT: nm.attention
  nm.attention indexing_maps = [affine_map<(h, m, n, d, e) -> (h, m, d)>, affine_map<(h, m, n, d, e) -> (h, n, d)>,
                                affine_map<(h, m, n, d, e) -> (h, n, e)>, affine_map<(h, m, n, d, e) -> (h, m, e)>]
    scale = 0.125 causal
    ins(%q, %k, %v : memref<2x96x64xf32>, memref<2x100x64xf32>, memref<2x100x48xf32>)
    outs(%o : memref<2x96x48xf32>)
  return
}

// -----

// Heads that share keys take turns at a tile of keys: lanes run along depth, and
// along widths.

// CHECK-LABEL: func.func @decode(
// CHECK-SAME: memref<8x4x1x128xf16>, %[[K:[a-z0-9]+]]: memref<8x2048x128xf16>
func.func @decode(%q: memref<8x4x1x128xf16>, %k: memref<8x2048x128xf16>, %v: memref<8x2048x128xf16>,
                  %mask: memref<2048xf32>, %o: memref<8x4x1x128xf16>) {
  // CHECK: scf.forall (%[[H:.*]]) in (8)
  // CHECK:   scf.for %[[TILE:.*]] = %c0 to %c2048 step %c64
  // CHECK:     scf.for %[[ROW:.*]] = %c0 to %c4 step %c1
  // CHECK:       vector.load %[[K]][%[[H]],
  // CHECK:       vector.shuffle
  // CHECK:       vector.reduction <maxnumf>
  // CHECK:       vector.reduction <add>
  nm.attention indexing_maps = [affine_map<(h, g, m, n, d, e) -> (h, g, m, d)>, affine_map<(h, g, m, n, d, e) -> (h, n, d)>,
                                affine_map<(h, g, m, n, d, e) -> (h, n, e)>, affine_map<(h, g, m, n, d, e) -> (n)>,
                                affine_map<(h, g, m, n, d, e) -> (h, g, m, e)>]
    scale = 0.125
    ins(%q, %k, %v : memref<8x4x1x128xf16>, memref<8x2048x128xf16>, memref<8x2048x128xf16>)
    mask(%mask : memref<2048xf32>) outs(%o : memref<8x4x1x128xf16>)
  return
}

// -----

// Loops over keys end at the batch's length, of which one below 0 counts as 0.

// CHECK-LABEL: func.func @lengths(
// CHECK-SAME: %[[L:[a-z0-9]+]]: memref<3xi32>
func.func @lengths(%q: memref<3x2x96x64xf32>, %k: memref<3x2x100x64xf32>, %l: memref<3xi32>, %o: memref<3x2x96x64xf32>) {
  // CHECK: scf.forall (%[[B:.*]], %{{.*}}, %{{.*}}) = (0, 0, 0) to (3, 2, 96) step (1, 1, 32)
  // CHECK:   %[[LENGTH:.*]] = memref.load %[[L]][%[[B]]]
  // CHECK:   %[[INDEX:.*]] = arith.index_cast %[[LENGTH]] : i32 to index
  // CHECK:   %[[NOT_LESS:.*]] = arith.maxsi %[[INDEX]], %c0
  // CHECK:   %[[END:.*]] = arith.minsi %[[NOT_LESS]], %c100
  // CHECK:   scf.for %{{.*}} = %c0 to %[[END]] step %c64
  nm.attention indexing_maps = [affine_map<(b, h, m, n, d, e) -> (b, h, m, d)>, affine_map<(b, h, m, n, d, e) -> (b, h, n, d)>,
                                affine_map<(b, h, m, n, d, e) -> (b, h, n, e)>, affine_map<(b, h, m, n, d, e) -> (b)>,
                                affine_map<(b, h, m, n, d, e) -> (b, h, m, e)>]
    scale = 0.125
    ins(%q, %k, %k : memref<3x2x96x64xf32>, memref<3x2x100x64xf32>, memref<3x2x100x64xf32>)
    lengths(%l : memref<3xi32>) outs(%o : memref<3x2x96x64xf32>)
  return
}
