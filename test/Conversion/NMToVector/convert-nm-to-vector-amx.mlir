// RUN: nm-opt %s --convert-nm-to-vector --canonicalize --cse --split-input-file | FileCheck %s
// RUN: nm-opt %s --convert-nm-to-vector=vector-bits=256 --split-input-file | FileCheck %s --check-prefix=AVX2

// Products by the tile unit: two tiles of weights by two of A, whose kept rows
// are copied side by side for all columns of a unit.

// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[A:.*]]: memref<32x128xbf16>, %[[V:.*]]: memref<2x1x1024xbf16>, %[[I:.*]]: memref<2x1x32xi8>, %[[C:.*]]: memref<32x64xf32>
// AVX2-LABEL: func.func @gather(
func.func @gather(%a: memref<32x128xbf16>, %v: memref<2x1x1024xbf16>, %i: memref<2x1x32xi8>, %c: memref<32x64xf32>) {
  // Rows of k with 32 rows of m side by side, and pairs of those kept.
  // CHECK-DAG: %[[ROWS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x128x32xbf16>
  // CHECK-DAG: %[[KEPT:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2x16x32xbf16>
  // CHECK-DAG: %[[SUMS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<64x32xf32>
  // A's words of two values are transposed, and the values taken apart.
  // CHECK: vector.bitcast %{{.*}} : vector<32xbf16> to vector<16xf32>
  // CHECK: %[[ROW:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 2, 4, 6, 32, 34, 36, 38, 8, 10, 12, 14, 40,
  // CHECK: %[[VALUES:.*]] = vector.bitcast %[[ROW]] : vector<32xi16> to vector<32xbf16>
  // CHECK: vector.store %[[VALUES]], %[[ROWS]]
  // CHECK: scf.for %[[PANEL:.*]] = %{{.*}}
  // CHECK:   scf.for
  // CHECK:     %[[BYTE:.*]] = memref.load %{{.*}} : memref<2x32xi8>
  // CHECK:     arith.index_castui %[[BYTE]]
  // CHECK:     vector.shuffle %{{.*}}, %{{.*}} [0, 32, 1, 33, 2, 34, 3, 35, 8, 40,
  // CHECK:     vector.store %{{.*}}, %[[KEPT]]
  // CHECK:     vector.shuffle %{{.*}}, %{{.*}} [4, 36, 5, 37, 6, 38, 7, 39, 12, 44,
  // CHECK:   amx.tile_load %[[KEPT]]
  // CHECK:   amx.tile_load %[[KEPT]]
  // CHECK:   %[[W:.*]] = amx.tile_load %[[V]][%[[PANEL]], %{{.*}}, %{{.*}}], %{{.*}} : memref<2x1x1024xbf16> into !amx.tile<16x32xbf16>
  // CHECK:   amx.tile_mulf %[[W]], %{{.*}}, %{{.*}} : !amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>
  // CHECK-COUNT-3: amx.tile_mulf
  // CHECK-COUNT-4: amx.tile_store %[[SUMS]]
  // CHECK: vector.maskedstore %[[C]]

  // Without the vectors that go with tiles, the loops take the product.
  // AVX2: nm.spmm
  nm.spmm <8:32, block = 1x32>
    packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 32, index_rows = 32>
    schedule #nm.amx<block = [32, 64, 128], packing = <panel = 32, index_bits = 8, chunk_rows = 32, index_rows = 32>>
    ins(%a, %v, %i : memref<32x128xbf16>, memref<2x1x1024xbf16>, memref<2x1x32xi8>)
    outs(%c : memref<32x64xf32>)
  return
}

// -----

// Where all weights are kept, tiles are loaded from what A is laid out in. Sums
// of the second tile of k are added to those of the first. Sixteen rows of m
// leave registers for four tiles of weights.

// CHECK-LABEL: func.func @dense(
// CHECK-SAME: %[[A:.*]]: memref<16x128xbf16>, %[[V:.*]]: memref<1x4x2048xbf16>
func.func @dense(%a: memref<16x128xbf16>, %v: memref<1x4x2048xbf16>, %i: memref<1x4x128xi8>, %c: memref<16x64xbf16>) {
  // CHECK-DAG: %[[PAIRS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x32x32xbf16>
  // CHECK-DAG: %[[PARTIALS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<64x32xf32>
  // CHECK: amx.tile_load %[[PAIRS]]
  // CHECK-COUNT-4: amx.tile_mulf
  // CHECK: scf.if
  // CHECK:   amx.tile_store
  // CHECK: else
  // CHECK:   amx.tile_store %[[PARTIALS]]
  // CHECK:   arith.addf
  nm.spmm <1:1, block = 1x16>
    packing #nm.packing<panel = 64, index_bits = 8, chunk_rows = 32, index_rows = 32>
    schedule #nm.amx<block = [16, 64, 64], packing = <panel = 64, index_bits = 8, chunk_rows = 32, index_rows = 32>>
    ins(%a, %v, %i : memref<16x128xbf16>, memref<1x4x2048xbf16>, memref<1x4x128xi8>)
    outs(%c : memref<16x64xbf16>)
  return
}

// -----

// Of i8, a tile of weights has 64 rows of k, and 64 rows of m are laid out
// together: their four vectors take turns of two. A keeps its sign.

// CHECK-LABEL: func.func @bytes(
// CHECK-SAME: %[[A:.*]]: memref<64x256xi8>, %[[V:.*]]: memref<1x1x2048xi8>
func.func @bytes(%a: memref<64x256xi8>, %v: memref<1x1x2048xi8>, %i: memref<1x1x64xi8>, %c: memref<64x32xi32>) {
  // CHECK-DAG: %[[KEPT:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4x16x64xi8>
  // CHECK-DAG: %[[SUMS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<32x64xi32>
  // CHECK-NOT: arith.xori
  // CHECK: amx.tile_load %[[KEPT]]{{.*}} : memref<4x16x64xi8> into !amx.tile<16x64xi8>
  // CHECK: amx.tile_load %[[V]]
  // CHECK: amx.tile_muli %{{.*}} : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
  // CHECK-COUNT-3: amx.tile_muli
  // CHECK-COUNT-4: amx.tile_store %[[SUMS]]
  // CHECK-COUNT-4: amx.tile_muli
  // CHECK-COUNT-4: amx.tile_store %[[SUMS]]
  // CHECK-NOT: vpdpbusd
  nm.spmm <8:32, block = 1x32>
    packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 64, index_rows = 64>
    schedule #nm.amx<block = [64, 32, 256], packing = <panel = 32, index_bits = 8, chunk_rows = 64, index_rows = 64>>
    ins(%a, %v, %i : memref<64x256xi8>, memref<1x1x2048xi8>, memref<1x1x64xi8>)
    outs(%c : memref<64x32xi32>)
  return
}

// -----

// Kept weights are put at the places of their bits, of 16 columns of step k + 1
// while step k is multiplied. Eight steps have a place.

// CHECK-LABEL: func.func @expand(
// CHECK-SAME: %[[A:.*]]: memref<16x1024xbf16>, %[[V:.*]]: memref<1x32x512xbf16>, %[[I:.*]]: memref<1x32x128xi8>
func.func @expand(%a: memref<16x1024xbf16>, %v: memref<1x32x512xbf16>, %i: memref<1x32x128xi8>, %c: memref<16x32xbf16>) {
  // CHECK-DAG: %[[WORDS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x512x32xbf16>
  // CHECK-DAG: %[[EXPANDED:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x8x1024xbf16>
  // CHECK-COUNT-32: llvm.call_intrinsic "llvm.x86.avx512.mask.expand"({{.*}}) : (vector<32xi16>, vector<32xi16>, vector<32xi1>) -> vector<32xi16>
  // CHECK: scf.for
  // CHECK:   %[[BYTES:.*]] = vector.load %[[I]][{{.*}}] : memref<1x32x128xi8>, vector<4xi8>
  // CHECK:   %[[BITS:.*]] = vector.bitcast %[[BYTES]] : vector<4xi8> to vector<32xi1>
  // CHECK:   %[[KEPT:.*]] = vector.load %[[V]][{{.*}}] : memref<1x32x512xbf16>, vector<16xbf16>
  // CHECK:   llvm.call_intrinsic "llvm.x86.avx512.mask.expand"(%{{.*}}, %{{.*}}, %[[BITS]])
  // CHECK:   vector.store %{{.*}}, %[[EXPANDED]]
  // CHECK:   amx.tile_load %[[WORDS]]
  // CHECK:   amx.tile_load %[[EXPANDED]]
  // CHECK:   amx.tile_mulf
  // CHECK:   amx.tile_load %[[EXPANDED]]
  // CHECK:   amx.tile_mulf
  // CHECK:   scf.yield
  // CHECK: amx.tile_load %[[EXPANDED]]
  nm.spmm <2:4>
    packing #nm.packing<panel = 32, index_bits = 0, chunk_rows = 16, index_rows = 16>
    schedule #nm.amx<block = [16, 32, 1024], packing = <panel = 32, index_bits = 0, chunk_rows = 16, index_rows = 16>>
    ins(%a, %v, %i : memref<16x1024xbf16>, memref<1x32x512xbf16>, memref<1x32x128xi8>)
    outs(%c : memref<16x32xbf16>)
  return
}

// -----

// The operands of an epilogue and C, in bf16, are loaded and stored under masks
// as integers of 16 bits, which LLVM keeps whole.

// CHECK-LABEL: func.func @epilogue(
// CHECK-SAME: %[[B:[^:]*]]: memref<24xbf16>, %[[R:[^:]*]]: memref<16x24xbf16>, %[[C:[^:]*]]: memref<16x24xbf16>)
func.func @epilogue(%a: memref<16x64xbf16>, %v: memref<1x2x512xbf16>, %i: memref<1x2x128xi8>,
                    %b: memref<24xbf16>, %r: memref<16x24xbf16>, %c: memref<16x24xbf16>) {
  // CHECK-NOT: vector.maskedload %[[B]]
  // CHECK-NOT: vector.maskedload %[[R]]
  // CHECK: %[[BIAS:.*]] = llvm.intr.masked.load {{.*}} -> vector<16xi16>
  // CHECK: arith.bitcast %[[BIAS]] : vector<16xi16> to vector<16xbf16>
  // CHECK: %[[RESIDUAL:.*]] = llvm.intr.masked.load {{.*}} -> vector<16xi16>
  // CHECK: arith.bitcast %[[RESIDUAL]] : vector<16xi16> to vector<16xbf16>
  // CHECK: %[[LARGER:.*]] = arith.maximumf %{{.*}} : vector<16xbf16>
  // CHECK: %[[BITS:.*]] = arith.bitcast %[[LARGER]] : vector<16xbf16> to vector<16xi16>
  // CHECK: llvm.intr.masked.store %[[BITS]]
  // CHECK-NOT: vector.maskedload %[[B]]
  // CHECK-NOT: vector.maskedload %[[R]]
  // CHECK-NOT: vector.maskedstore {{.*}} %[[C]]
  nm.spmm <2:4>
    packing #nm.packing<panel = 32, index_bits = 0, chunk_rows = 16, index_rows = 16>
    schedule #nm.amx<block = [16, 32, 64], packing = <panel = 32, index_bits = 0, chunk_rows = 16, index_rows = 16>>
    ins(%a, %v, %i : memref<16x64xbf16>, memref<1x2x512xbf16>, memref<1x2x128xi8>)
    outs(%c : memref<16x24xbf16>)
    epilogue ins(%b, %r : memref<24xbf16>, memref<16x24xbf16>)
             maps [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>] {
    ^bb0(%sum: f32, %x: bf16, %y: bf16):
      %h = arith.truncf %sum : f32 to bf16
      %p = arith.addf %h, %x : bf16
      %larger = arith.maximumf %p, %y : bf16
      nm.yield %larger : bf16
    }
  return
}
