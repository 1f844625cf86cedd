// RUN: nm-opt %s --convert-nm-to-loops --canonicalize --cse --split-input-file | FileCheck %s
// RUN: nm-opt %s --convert-nm-to-loops="parallel=true" --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=PARALLEL

// The example of the pass's description: m is dynamic, k is ragged, and the sum
// is f32 until it is rounded to f16 once.

// CHECK-LABEL: func.func @spmm(
// CHECK-SAME: %[[A:.*]]: memref<?x62xf16>, %[[V:.*]]: memref<32x48xf16>, %[[I:.*]]: memref<32x48xi8>, %[[C:.*]]: memref<?x48xf16>
func.func @spmm(%a: memref<?x62xf16>, %v: memref<32x48xf16>, %i: memref<32x48xi8>,
                %c: memref<?x48xf16>) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
  // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
  // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
  // CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
  // CHECK-DAG: %[[C48:.*]] = arith.constant 48 : index
  // CHECK-DAG: %[[C62:.*]] = arith.constant 62 : index
  // CHECK: %[[M:.*]] = memref.dim %[[C]], %[[C0]]
  // PARALLEL: scf.parallel (%{{.*}}, %{{.*}}) = (%c0, %c0) to (%{{.*}}, %c48)
  // PARALLEL: scf.for {{.*}} -> (f32)
  // CHECK: scf.for %[[ROW:.*]] = %[[C0]] to %[[M]] step %[[C1]] {
  // CHECK:   scf.for %[[COLUMN:.*]] = %[[C0]] to %[[C48]] step %[[C1]] {
  // CHECK:     %[[SUM:.*]] = scf.for %[[SLOT:.*]] = %[[C0]] to %[[C32]] step %[[C1]] iter_args(%[[PARTIAL:.*]] = %[[ZERO]]) -> (f32) {
  // CHECK:       %[[BYTE:.*]] = memref.load %[[I]][%[[SLOT]], %[[COLUMN]]]
  // CHECK:       %[[POSITION:.*]] = arith.index_castui %[[BYTE]] : i8 to index
  // CHECK:       %[[WINDOW:.*]] = arith.divui %[[SLOT]], %[[C2]]
  // CHECK:       %[[FIRST:.*]] = arith.muli %[[WINDOW]], %[[C4]]
  // CHECK:       %[[K:.*]] = arith.addi %[[FIRST]], %[[POSITION]]
  // CHECK:       %[[INSIDE:.*]] = arith.cmpi ult, %[[K]], %[[C62]]
  // CHECK:       %[[NEXT:.*]] = scf.if %[[INSIDE]] -> (f32) {
  // CHECK-DAG:     %[[X16:.*]] = memref.load %[[A]][%[[ROW]], %[[K]]]
  // CHECK-DAG:     %[[X:.*]] = arith.extf %[[X16]] : f16 to f32
  // CHECK-DAG:     %[[W16:.*]] = memref.load %[[V]][%[[SLOT]], %[[COLUMN]]]
  // CHECK-DAG:     %[[W:.*]] = arith.extf %[[W16]] : f16 to f32
  // CHECK:         %[[PRODUCT:.*]] = arith.mulf %[[X]], %[[W]] : f32
  // CHECK:         %[[ADDED:.*]] = arith.addf %[[PARTIAL]], %[[PRODUCT]] : f32
  // CHECK:         scf.yield %[[ADDED]]
  // CHECK:       } else {
  // CHECK:         scf.yield %[[PARTIAL]]
  // CHECK:       }
  // CHECK:       scf.yield %[[NEXT]]
  // CHECK:     }
  // CHECK:     %[[BEFORE16:.*]] = memref.load %[[C]][%[[ROW]], %[[COLUMN]]]
  // CHECK:     %[[BEFORE:.*]] = arith.extf %[[BEFORE16]] : f16 to f32
  // CHECK:     %[[AFTER:.*]] = arith.addf %[[BEFORE]], %[[SUM]] : f32
  // CHECK:     %[[AFTER16:.*]] = arith.truncf %[[AFTER]] : f32 to f16
  // CHECK:     memref.store %[[AFTER16]], %[[C]][%[[ROW]], %[[COLUMN]]]
  nm.spmm <2:4> ins(%a, %v, %i : memref<?x62xf16>, memref<32x48xf16>, memref<32x48xi8>)
                outs(%c : memref<?x48xf16>)
  // CHECK-NOT: nm.
  return
}

// -----

// Batch dimensions, both transposes, blocks of 2x3, and i8 summed in i32.

// CHECK-LABEL: func.func @spmm_transposed(
// CHECK-SAME: %[[A:.*]]: memref<?x64x?xi8>, %[[V:.*]]: memref<24x33xi8>, %[[I:.*]]: memref<12x11xi8>, %[[C:.*]]: memref<?x31x?xi32>
func.func @spmm_transposed(%a: memref<?x64x?xi8>, %v: memref<24x33xi8>, %i: memref<12x11xi8>,
                           %c: memref<?x31x?xi32>) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
  // CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
  // CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
  // CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
  // CHECK: scf.for %[[BATCH:.*]] = {{.*}} {
  // CHECK:   scf.for %[[COLUMN:.*]] = {{.*}} {
  // CHECK:     scf.for %[[ROW:.*]] = {{.*}} {
  // CHECK:       scf.for %[[SLOT:.*]] = {{.*}} iter_args(%{{.*}} = %[[ZERO]]) -> (i32)
  // CHECK:         %[[UNITROW:.*]] = arith.divui %[[SLOT]], %[[C2]]
  // CHECK:         %[[BLOCK:.*]] = arith.divui %[[COLUMN]], %[[C3]]
  // CHECK:         %[[BYTE:.*]] = memref.load %[[I]][%[[UNITROW]], %[[BLOCK]]]
  // CHECK:         %[[POSITION:.*]] = arith.index_castui %[[BYTE]]
  // CHECK:         %[[WINDOW:.*]] = arith.divui %[[SLOT]], %[[C6]]
  // CHECK:         %[[FIRST:.*]] = arith.muli %[[WINDOW]], %[[C16]]
  // CHECK:         %[[UNIT:.*]] = arith.muli %[[POSITION]], %[[C2]]
  // CHECK:         %[[SUM:.*]] = arith.addi %[[FIRST]], %[[UNIT]]
  // CHECK:         %[[REST:.*]] = arith.remui %[[SLOT]], %[[C2]]
  // CHECK:         %[[K:.*]] = arith.addi %[[SUM]], %[[REST]]
  // CHECK:         memref.load %[[A]][%[[BATCH]], %[[K]], %[[ROW]]]
  // CHECK:         memref.load %[[V]][%[[SLOT]], %[[COLUMN]]]
  // CHECK-COUNT-2: arith.extsi %{{.*}} : i8 to i32
  // CHECK:       memref.store %{{.*}}, %[[C]][%[[BATCH]], %[[COLUMN]], %[[ROW]]]
  nm.spmm <3:8, block = 2x3> transpose_a transpose_c
    ins(%a, %v, %i : memref<?x64x?xi8>, memref<24x33xi8>, memref<12x11xi8>)
    outs(%c : memref<?x31x?xi32>)
  return
}

// -----

// Packed indices of three bits: some fields span two bytes, and the second one
// is read only then.

// CHECK-LABEL: func.func @spmm_packed(
// CHECK-SAME: %[[A:.*]]: memref<3x64xf32>, %[[V:.*]]: memref<4x32x16xf32>, %[[I:.*]]: memref<4x32x6xi8>
func.func @spmm_packed(%a: memref<3x64xf32>, %v: memref<4x32x16xf32>, %i: memref<4x32x6xi8>,
                       %c: memref<3x50xf32>) {
  // CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
  // CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
  // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
  // CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
  // CHECK-DAG: %[[C256:.*]] = arith.constant 256 : index
  // CHECK: scf.for %{{.*}} {
  // CHECK: scf.for %[[COLUMN:.*]] = {{.*}} {
  // CHECK: scf.for %[[SLOT:.*]] = {{.*}} iter_args
  // CHECK: %[[PANEL:.*]] = arith.divui %[[COLUMN]], %[[C16]]
  // CHECK: %[[GROUP:.*]] = arith.remui %[[COLUMN]], %[[C16]]
  // CHECK: %[[BIT:.*]] = arith.muli %[[GROUP]], %[[C3]]
  // CHECK: %[[BYTE:.*]] = arith.divui %[[BIT]], %[[C8]]
  // CHECK: %[[SHIFT:.*]] = arith.remui %[[BIT]], %[[C8]]
  // CHECK: %[[LOW8:.*]] = memref.load %[[I]][%[[PANEL]], %[[SLOT]], %[[BYTE]]]
  // CHECK: %[[LOW:.*]] = arith.index_castui %[[LOW8]]
  // CHECK: %[[STRADDLES:.*]] = arith.cmpi ugt, %[[SHIFT]], %[[C5]]
  // CHECK: %[[HIGH:.*]] = scf.if %[[STRADDLES]] -> (index) {
  // CHECK:   memref.load %[[I]][%[[PANEL]], %[[SLOT]], %{{.*}}]
  // CHECK:   arith.muli %{{.*}}, %[[C256]]
  // CHECK: }
  // CHECK: %[[WORD:.*]] = arith.addi %[[LOW]], %[[HIGH]]
  // CHECK: %[[SHIFTED:.*]] = arith.shrui %[[WORD]], %[[SHIFT]]
  // CHECK: arith.remui %[[SHIFTED]], %[[C8]]
  // CHECK: memref.load %[[V]][%[[PANEL]], %[[SLOT]], %[[GROUP]]]
  nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 3>
    ins(%a, %v, %i : memref<3x64xf32>, memref<4x32x16xf32>, memref<4x32x6xi8>)
    outs(%c : memref<3x50xf32>)
  return
}

// -----

// Indices of two bits never span bytes.

// CHECK-LABEL: func.func @spmv_packed(
func.func @spmv_packed(%x: memref<64xbf16>, %v: memref<4x32x16xbf16>, %i: memref<4x32x4xi8>,
                       %y: memref<50xbf16>) {
  // CHECK: scf.for
  // CHECK: scf.for %{{.*}} iter_args
  // CHECK-COUNT-1: memref.load %{{.*}} : memref<4x32x4xi8>
  // CHECK-NOT: memref<4x32x4xi8>
  nm.spmv <2:4> packing #nm.packing<panel = 16, index_bits = 2>
    ins(%x, %v, %i : memref<64xbf16>, memref<4x32x16xbf16>, memref<4x32x4xi8>)
    outs(%y : memref<50xbf16>)
  return
}

// -----

// f8E4M3FN is decoded by integer arithmetic.

// CHECK-LABEL: func.func @spmv_f8(
func.func @spmv_f8(%x: memref<64xf8E4M3FN>, %v: memref<32x8xf8E4M3FN>, %i: memref<32x8xi8>,
                   %y: memref<8xf32>) {
  // CHECK-DAG: %[[SCALE:.*]] = arith.constant 1.329228E+36 : f32
  // CHECK-DAG: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
  // CHECK: arith.bitcast %{{.*}} : f8E4M3FN to i8
  // CHECK: %[[NUMBER:.*]] = arith.mulf %{{.*}}, %[[SCALE]] : f32
  // CHECK: arith.select %{{.*}}, %[[NAN]], %[[NUMBER]] : f32
  nm.spmv <2:4> ins(%x, %v, %i : memref<64xf8E4M3FN>, memref<32x8xf8E4M3FN>, memref<32x8xi8>)
                outs(%y : memref<8xf32>)
  return
}

// -----

// f8E5M2 is the upper byte of an f16.

// CHECK-LABEL: func.func @spmv_f8_e5m2(
func.func @spmv_f8_e5m2(%x: memref<64xf8E5M2>, %v: memref<32x8xf8E5M2>, %i: memref<32x8xi8>,
                        %y: memref<8xf32>) {
  // CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : i16
  // CHECK: %[[BYTE:.*]] = arith.bitcast %{{.*}} : f8E5M2 to i8
  // CHECK: %[[BITS:.*]] = arith.extui %[[BYTE]] : i8 to i16
  // CHECK: %[[UPPER:.*]] = arith.shli %[[BITS]], %[[EIGHT]] : i16
  // CHECK: %[[HALF:.*]] = arith.bitcast %[[UPPER]] : i16 to f16
  // CHECK: arith.extf %[[HALF]] : f16 to f32
  nm.spmv <2:4> ins(%x, %v, %i : memref<64xf8E5M2>, memref<32x8xf8E5M2>, memref<32x8xi8>)
                outs(%y : memref<8xf32>)
  return
}

// -----

// Sizes are taken from the operands, and the window is checked before it is
// written.

// CHECK-LABEL: func.func @compress(
// CHECK-SAME: %[[W:.*]]: memref<?x?xbf16>, %[[V:.*]]: memref<?x?xbf16>, %[[I:.*]]: memref<?x?xi8>
func.func @compress(%w: memref<?x?xbf16>, %v: memref<?x?xbf16>, %i: memref<?x?xi8>) {
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
  // CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
  // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
  // CHECK: %[[K:.*]] = memref.dim %[[W]], %{{.*}}
  // CHECK: scf.for %[[WINDOW:.*]] = {{.*}} {
  // CHECK:   scf.for %[[BLOCK:.*]] = {{.*}} {
  // CHECK:     %[[COUNT:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[C0]]) -> (index)
  // CHECK:       arith.cmpf une
  // CHECK:     %[[HOLDS:.*]] = arith.cmpi ult, %[[COUNT]], %[[C3]]
  // CHECK:     cf.assert %[[HOLDS]], "nm.compress: expected at most 2 non-zero units in every 4 along k (pattern 2:4, block = 1x2)"
  // CHECK:     %[[FILLERS:.*]] = arith.subi %[[C2]], %[[COUNT]]
  // CHECK:     scf.for %[[UNIT:.*]] = %[[C0]] to %[[C4]] {{.*}} iter_args(%[[SLOT:.*]] = %[[C0]], %{{.*}} = %[[FILLERS]]) -> (index, index)
  // CHECK:       scf.if
  // CHECK:         %[[FIRST:.*]] = arith.muli %[[WINDOW]], %[[C2]]
  // CHECK:         %[[UNITROW:.*]] = arith.addi %[[FIRST]], %[[SLOT]]
  // CHECK:         %[[BYTE:.*]] = arith.index_castui %[[UNIT]] : index to i8
  // CHECK:         memref.store %[[BYTE]], %[[I]][%[[UNITROW]], %[[BLOCK]]]
  // CHECK:         scf.for
  // CHECK:           memref.store %{{.*}}, %[[V]][%[[UNITROW]], %{{.*}}]
  nm.compress <2:4, block = 1x2> dim 1 ins(%w : memref<?x?xbf16>)
    outs(%v, %i : memref<?x?xbf16>, memref<?x?xi8>)
  return
}

// -----

// CHECK-LABEL: func.func @decompress(
// CHECK-SAME: %[[B:.*]]: memref<7x6xf32>, %[[V:.*]]: memref<4x6xf32>, %[[I:.*]]: memref<4x6xi8>
func.func @decompress(%b: memref<7x6xf32>, %v: memref<4x6xf32>, %i: memref<4x6xi8>) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f32
  // CHECK-DAG: %[[C7:.*]] = arith.constant 7 : index
  // CHECK: memref.store %[[ZERO]], %[[B]]
  // CHECK: scf.for %[[ROW:.*]] = {{.*}} {
  // CHECK: scf.for %[[COLUMN:.*]] = {{.*}} {
  // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[K:.*]], %[[C7]]
  // CHECK: scf.if %[[INSIDE]] {
  // CHECK:   %[[VALUE:.*]] = memref.load %[[V]][%[[ROW]], %[[COLUMN]]]
  // CHECK:   memref.store %[[VALUE]], %[[B]][%[[K]], %[[COLUMN]]]
  nm.decompress <2:4> ins(%v, %i : memref<4x6xf32>, memref<4x6xi8>) outs(%b : memref<7x6xf32>)
  return
}

// -----

// All energies of a window are taken before anything is written.

// CHECK-LABEL: func.func @prune(
// CHECK-SAME: %[[W:.*]]: memref<7x6xi8>
func.func @prune(%w: memref<7x6xi8>) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i8
  // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
  // CHECK: %[[ENERGIES:.*]] = memref.alloc() : memref<4xf64>
  // CHECK: arith.sitofp %{{.*}} : i32 to f64
  // CHECK: memref.store %{{.*}}, %[[ENERGIES]]
  // CHECK: %[[RANK:.*]] = scf.for {{.*}} -> (index)
  // CHECK: %[[KEEP:.*]] = arith.cmpi ult, %[[RANK]], %[[C2]]
  // CHECK: scf.if
  // CHECK: %[[VALUE:.*]] = memref.load %[[W]][%[[K:.*]], %[[N:.*]]]
  // CHECK: %[[KEPT:.*]] = arith.select %[[KEEP]], %[[VALUE]], %[[ZERO]]
  // CHECK: memref.store %[[KEPT]], %[[W]][%[[K]], %[[N]]]
  // CHECK: memref.dealloc %[[ENERGIES]]
  nm.prune <2:4> ins(%w : memref<7x6xi8>) outs(%w : memref<7x6xi8>)
  return
}

// -----

// Positions of a window in turn: units that stand there get the number of the
// list's next entry, which is the position; the last entry is repeated.
// CHECK-LABEL: func.func @pack_col_info
// CHECK-SAME: %[[V:.*]]: memref<6x160xf32>, %[[I:.*]]: memref<6x5xi8>, %[[PV:.*]]: memref<5x6x32xf32>, %[[PI:.*]]: memref<8x6x1xi8>, %[[PL:.*]]: memref<8x6x1xi8>
// PARALLEL-LABEL: func.func @pack_col_info
// PARALLEL: scf.parallel ({{.*}}, {{.*}}, {{.*}}) =
// PARALLEL: scf.parallel ({{.*}}, {{.*}}) =
// CHECK: scf.forall
// CHECK: memref.store %{{.*}}, %[[PV]]
// CHECK: scf.for %[[TILE:.*]] = {{.*}} {
// CHECK: scf.for %[[WINDOW:.*]] = {{.*}} {
// CHECK: memref.store %{{.*}}, %[[PI]]
// CHECK: %[[FOUND:.*]]:2 = scf.for %[[POSITION:.*]] = {{.*}} iter_args(%[[COUNT:.*]] = %{{.*}}, %[[LAST:.*]] = %{{.*}}) -> (index, index)
// CHECK: %[[USED:.*]] = scf.for
// CHECK: memref.load %[[I]]
// CHECK: %[[HERE:.*]] = arith.cmpi eq, %{{.*}}, %[[POSITION]]
// CHECK: scf.if %[[HERE]]
// CHECK: %[[ENTRY:.*]] = arith.index_castui %[[COUNT]] : index to i8
// CHECK: memref.store %[[ENTRY]], %[[PI]]
// CHECK: scf.if %[[USED]]
// CHECK: %[[BYTE:.*]] = arith.index_castui %[[POSITION]] : index to i8
// CHECK: memref.store %[[BYTE]], %[[PL]]
// CHECK: scf.for
// CHECK: %[[PADDING:.*]] = arith.index_castui %[[FOUND]]#1 : index to i8
// CHECK: memref.store %[[PADDING]], %[[PL]]
func.func @pack_col_info(%v: memref<6x160xf32>, %i: memref<6x5xi8>, %pv: memref<5x6x32xf32>,
                         %pi: memref<8x6x1xi8>, %pl: memref<8x6x1xi8>) {
  nm.pack <3:32, block = 1x32> #nm.packing<panel = 32, index_bits = 8, col_info = 128>
    ins(%v, %i : memref<6x160xf32>, memref<6x5xi8>)
    outs(%pv, %pi : memref<5x6x32xf32>, memref<8x6x1xi8>) lists(%pl : memref<8x6x1xi8>)
  return
}

// -----

// An index is a place in the list, which has the position.
// CHECK-LABEL: func.func @spmm_col_info
// CHECK-SAME: %[[A:.*]]: memref<3x64xf32>, %[[V:.*]]: memref<5x6x32xf32>, %[[I:.*]]: memref<8x6x1xi8>, %[[L:.*]]: memref<8x6x1xi8>
// CHECK: %[[INDEX:.*]] = memref.load %[[I]]
// CHECK: %[[ENTRY:.*]] = arith.index_castui %[[INDEX]] : i8 to index
// CHECK: arith.remui %[[ENTRY]]
// CHECK: arith.divui %[[ENTRY]]
// CHECK: %[[POSITION:.*]] = memref.load %[[L]]
// CHECK: arith.index_castui %[[POSITION]] : i8 to index
// CHECK: memref.load %[[A]]
func.func @spmm_col_info(%a: memref<3x64xf32>, %v: memref<5x6x32xf32>, %i: memref<8x6x1xi8>, %l: memref<8x6x1xi8>, %c: memref<3x160xf32>) {
  nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, col_info = 128>
    ins(%a, %v, %i : memref<3x64xf32>, memref<5x6x32xf32>, memref<8x6x1xi8>)
      lists(%l : memref<8x6x1xi8>) outs(%c : memref<3x160xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @pack(
// CHECK-SAME: %[[V:.*]]: memref<32x45xf32>, %[[I:.*]]: memref<32x45xi8>, %[[PV:.*]]: memref<3x32x16xf32>, %[[PI:.*]]: memref<3x32x6xi8>
func.func @pack(%v: memref<32x45xf32>, %i: memref<32x45xi8>, %pv: memref<3x32x16xf32>,
                %pi: memref<3x32x6xi8>) {
  // CHECK-DAG: %[[ZERO8:.*]] = arith.constant 0 : i8
  // CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
  // CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
  // CHECK-DAG: %[[C45:.*]] = arith.constant 45 : index
  // PARALLEL-LABEL: func.func @pack(
  // PARALLEL: scf.parallel ({{.*}}, {{.*}}, {{.*}}) =
  // PARALLEL: scf.parallel ({{.*}}, {{.*}}) =
  // PARALLEL: scf.for
  // Panels are the tasks of a host's threads.
  // CHECK: scf.forall
  // CHECK: memref.store %{{.*}}, %[[PV]]
  // CHECK: scf.forall (%[[PANEL:.*]]) in (3) {
  // CHECK: scf.for %[[UNITROW:.*]] = {{.*}} {
  // CHECK: scf.for
  // CHECK: memref.store %[[ZERO8]], %[[PI]]
  // CHECK: %[[FIRST:.*]] = arith.muli %[[PANEL]], %[[C16]]
  // CHECK: scf.for %[[GROUP:.*]] = {{.*}} {
  // CHECK: %[[BLOCK:.*]] = arith.addi %[[FIRST]], %[[GROUP]]
  // CHECK: arith.cmpi ult, %[[BLOCK]], %[[C45]]
  // CHECK: scf.if
  // CHECK: memref.load %[[I]][%[[UNITROW]], %[[BLOCK]]]
  // CHECK: arith.ori
  // CHECK: memref.store %{{.*}}, %[[PI]][%[[PANEL]], %[[UNITROW]], %{{.*}}]
  // CHECK: arith.cmpi ugt, %{{.*}}, %[[C5]]
  // CHECK: scf.if
  // CHECK: memref.store %{{.*}}, %[[PI]][%[[PANEL]], %[[UNITROW]], %{{.*}}]
  nm.pack <2:4> #nm.packing<panel = 16, index_bits = 3>
    ins(%v, %i : memref<32x45xf32>, memref<32x45xi8>)
    outs(%pv, %pi : memref<3x32x16xf32>, memref<3x32x6xi8>)
  return
}

// -----

// What the epilogue makes of the sum is stored; C is not read. The residual
// stands the other way round than C.

// CHECK-LABEL: func.func @epilogue(
// CHECK-SAME: %[[B:[^:]*]]: memref<48xf32>, %[[R:[^:]*]]: memref<48x5xf32>, %[[C:[^:]*]]: memref<5x48xf16>)
func.func @epilogue(%a: memref<5x64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %b: memref<48xf32>,
                    %r: memref<48x5xf32>, %c: memref<5x48xf16>) {
  // CHECK: scf.for %[[ROW:.*]] = {{.*}} {
  // CHECK: scf.for %[[COLUMN:.*]] = {{.*}} {
  // CHECK: %[[SUM:.*]] = scf.for
  // CHECK-NOT: memref.load %[[C]]
  // CHECK: %[[X:.*]] = memref.load %[[B]][%[[COLUMN]]]
  // CHECK: %[[Y:.*]] = memref.load %[[R]][%[[COLUMN]], %[[ROW]]]
  // CHECK: %[[BIASED:.*]] = arith.addf %[[SUM]], %[[X]]
  // CHECK: %[[ALL:.*]] = arith.addf %[[BIASED]], %[[Y]]
  // CHECK: %[[H:.*]] = arith.truncf %[[ALL]]
  // CHECK: memref.store %[[H]], %[[C]][%[[ROW]], %[[COLUMN]]]
  nm.spmm <2:4> ins(%a, %v, %i : memref<5x64xf32>, memref<32x48xf32>, memref<32x48xi8>)
    outs(%c : memref<5x48xf16>)
    epilogue ins(%b, %r : memref<48xf32>, memref<48x5xf32>)
             maps [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (n, m)>] {
    ^bb0(%s: f32, %x: f32, %y: f32):
      %p = arith.addf %s, %x : f32
      %q = arith.addf %p, %y : f32
      %h = arith.truncf %q : f32 to f16
      nm.yield %h : f16
    }
  return
}

// -----

// Parts are added in their order, in f32; C is rounded once.

// CHECK-LABEL: func.func @combine
// CHECK-SAME: %[[P:.*]]: memref<3x?x45xf32>, %[[C:.*]]: memref<?x45xf16>
func.func @combine(%p: memref<3x?x45xf32>, %c: memref<?x45xf16>) {
  // CHECK: scf.for %[[M:.*]] = %c0 to %{{.*}} step %c1
  // CHECK: scf.for %[[N:.*]] = %c0 to %c45 step %c1
  // CHECK: %[[SUM:.*]] = scf.for %[[PART:.*]] = %c0 to %c3 step %c1 iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (f32)
  // CHECK: %[[X:.*]] = memref.load %[[P]][%[[PART]], %[[M]], %[[N]]]
  // CHECK: %[[NEXT:.*]] = arith.addf %[[BEFORE]], %[[X]] : f32
  // CHECK: scf.yield %[[NEXT]]
  // CHECK: %[[C16:.*]] = memref.load %[[C]][%[[M]], %[[N]]]
  // CHECK: %[[C32:.*]] = arith.extf %[[C16]]
  // CHECK: %[[ALL:.*]] = arith.addf %[[C32]], %[[SUM]]
  // CHECK: %[[ROUNDED:.*]] = arith.truncf %[[ALL]] : f32 to f16
  // CHECK: memref.store %[[ROUNDED]], %[[C]][%[[M]], %[[N]]]
  // PARALLEL-LABEL: func.func @combine
  // PARALLEL: scf.parallel (%{{.*}}, %{{.*}}) = (%c0, %c0) to (%{{.*}}, %c45)
  nm.combine ins(%p : memref<3x?x45xf32>) outs(%c : memref<?x45xf16>)
  return
}

// -----

// Of an A in panels of 16 columns, k names the panel and the column in it, and m
// stands 16 columns from the next.
// CHECK-LABEL: func.func @panels(
// CHECK-SAME: %[[A:.*]]: memref<4x2048xi8>
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %c100
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[K:.*]], %c64
// CHECK: scf.if %[[INSIDE]]
// CHECK: %[[PANEL:.*]] = arith.divui %[[K]], %c16
// CHECK: %[[IN:.*]] = arith.remui %[[K]], %c16
// CHECK: %[[M:.*]] = arith.muli %[[ROW]], %c16
// CHECK: %[[AT:.*]] = arith.addi %[[M]], %[[IN]]
// CHECK: memref.load %[[A]][%[[PANEL]], %[[AT]]]
func.func @panels(%a: memref<4x2048xi8>, %v: memref<32x64xi8>, %i: memref<2x1xi8>, %c: memref<100x64xi32>) {
  nm.spmm <2:4, block = 16x64> panels_a 128
    ins(%a, %v, %i : memref<4x2048xi8>, memref<32x64xi8>, memref<2x1xi8>) outs(%c : memref<100x64xi32>)
  return
}
