// RUN: nm-opt %s --convert-nm-to-vector --canonicalize --cse --split-input-file | FileCheck %s
// RUN: nm-opt %s --convert-nm-to-vector=vector-bits=256 --split-input-file | FileCheck %s --check-prefix=AVX2
// RUN: nm-opt %s --convert-nm-to-vector="vector-bits=128 x86-permutes=false" --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=PLAIN

// The example of the pass's description: A's window is a table in a register,
// the packed indices are spread over the lanes and look it up.

// CHECK-LABEL: func.func @spmv(
// CHECK-SAME: %[[X:.*]]: memref<64xf32>, %[[V:.*]]: memref<2x32x16xf32>, %[[I:.*]]: memref<2x32x4xi8>, %[[Y:.*]]: memref<24xf32>
func.func @spmv(%x: memref<64xf32>, %v: memref<2x32x16xf32>, %i: memref<2x32x4xi8>,
                %y: memref<24xf32>) {
  // CHECK-DAG: %[[SHIFTS:.*]] = arith.constant dense<[0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]> : vector<16xi32>
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
  // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
  // CHECK: %[[TABLES:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x80xf32>
  // CHECK: scf.for
  // CHECK:   %[[PART:.*]] = vector.maskedload %[[X]]
  // CHECK:   vector.store %[[PART]], %[[TABLES]]
  // CHECK: scf.for %[[PANEL:.*]] = %[[C0]] to %[[C2]]
  // CHECK:   %[[SUMS:.*]] = scf.for %[[WINDOW:.*]] = %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (vector<16xf32>)
  // CHECK:     %[[UNIT:.*]] = arith.muli %[[WINDOW]], %[[C2]]
  // CHECK:     %[[BYTES:.*]] = vector.load %[[I]][%[[PANEL]], %[[UNIT]], %[[C0]]] : {{.*}}, vector<4xi8>
  // CHECK:     %[[WORD:.*]] = vector.bitcast %[[BYTES]] : vector<4xi8> to vector<1xi32>
  // CHECK:     %[[WORDS:.*]] = vector.shuffle %[[WORD]], %[[WORD]] [0, 0, 0, 0,
  // CHECK:     %[[INDICES:.*]] = arith.shrui %[[WORDS]], %[[SHIFTS]]
  // CHECK:     %[[VALUES:.*]] = vector.load %[[V]][%[[PANEL]], %[[UNIT]], %[[C0]]]
  // CHECK:     %[[FIRST:.*]] = arith.muli %[[WINDOW]], %[[C4]]
  // CHECK:     %[[ENTRIES:.*]] = vector.load %[[TABLES]][%[[C0]], %[[FIRST]]] : {{.*}}, vector<4xf32>
  // CHECK:     %[[TABLE:.*]] = vector.shuffle %[[ENTRIES]], %[[ENTRIES]] [0, 1, 2, 3, 0, 1, 2, 3,
  // CHECK:     %[[A:.*]] = llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%[[TABLE]], %[[INDICES]])
  // CHECK:     vector.fma %[[A]], %[[VALUES]], %[[SUM]] : vector<16xf32>
  // CHECK:   %[[OLD:.*]] = vector.maskedload %[[Y]]
  // CHECK:   %[[NEW:.*]] = arith.addf %[[SUMS]], %[[OLD]]
  // CHECK:   vector.maskedstore %[[Y]]{{.*}}, %[[NEW]]
  // CHECK: memref.dealloc %[[TABLES]]

  // AVX2-LABEL: func.func @spmv(
  // AVX2: llvm.call_intrinsic "llvm.x86.avx2.permps"(%{{.*}}) : (vector<8xf32>, vector<8xi32>)

  // PLAIN-LABEL: func.func @spmv(
  // PLAIN: arith.andi %{{.*}}, %{{.*}} : vector<4xi32>
  // PLAIN: vector.gather
  nm.spmv <2:4> packing #nm.packing<panel = 16, index_bits = 2>
    schedule #nm.vector<block = [1, 24, 64], thread = [1, 16]>
    ins(%x, %v, %i : memref<64xf32>, memref<2x32x16xf32>, memref<2x32x4xi8>)
    outs(%y : memref<24xf32>)
  return
}

// -----

// A window of 32 takes two registers: one permute looks up both.

// CHECK-LABEL: func.func @large_window(
func.func @large_window(%x: memref<64xf32>, %v: memref<1x32x16xf32>, %i: memref<1x32x10xi8>,
                        %y: memref<16xf32>) {
  // An index of 5 bits crosses bytes: each lane takes two and shifts.
  // CHECK: %[[BYTES:.*]] = vector.load {{.*}}, vector<10xi8>
  // CHECK: %[[SPREAD:.*]] = vector.shuffle %[[BYTES]], %[[BYTES]] [0, 1, 1, 1, 0, 1, 1, 1, 1, 2, 2, 2,
  // CHECK: %[[WORDS:.*]] = vector.bitcast %[[SPREAD]] : vector<64xi8> to vector<16xi32>
  // CHECK: arith.shrui %[[WORDS]]
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpermi2var.ps.512"
  nm.spmv <16:32> packing #nm.packing<panel = 16, index_bits = 5>
    ins(%x, %v, %i : memref<64xf32>, memref<1x32x16xf32>, memref<1x32x10xi8>)
    outs(%y : memref<16xf32>)
  return
}

// -----

// Columns that share an index share one element of A.

// CHECK-LABEL: func.func @shared_index(
func.func @shared_index(%x: memref<64xf32>, %v: memref<1x32x32xf32>, %i: memref<1x32x1xi8>,
                        %y: memref<32xf32>) {
  // CHECK: scf.for
  // CHECK: %[[BYTE:.*]] = memref.load {{.*}} : memref<1x32x1xi8>
  // CHECK: %[[POSITION:.*]] = arith.index_castui %[[BYTE]] : i8 to index
  // CHECK: %[[A:.*]] = memref.load
  // CHECK: vector.broadcast %[[A]] : f32 to vector<16xf32>
  // CHECK-NOT: llvm.call_intrinsic
  nm.spmv <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
    ins(%x, %v, %i : memref<64xf32>, memref<1x32x32xf32>, memref<1x32x1xi8>)
    outs(%y : memref<32xf32>)
  return
}

// -----

// Vectors along m: A is laid out m-major tile by tile, sums stay in a scratch
// tile until all of k is done, and are rounded to f16 once.

// PLAIN-LABEL: func.func @spmm(
// PLAIN-SAME: %[[A:.*]]: memref<4x62xf16>, %[[V:.*]]: memref<3x32x8xf16>, %[[I:.*]]: memref<3x32x1xi8>, %[[C:.*]]: memref<4x24xf16>
func.func @spmm(%a: memref<4x62xf16>, %v: memref<3x32x8xf16>, %i: memref<3x32x1xi8>,
                %c: memref<4x24xf16>) {
  // PLAIN-DAG: %[[C0:.*]] = arith.constant 0 : index
  // PLAIN-DAG: %[[C2:.*]] = arith.constant 2 : index
  // PLAIN-DAG: %[[C3:.*]] = arith.constant 3 : index
  // PLAIN-DAG: %[[C4:.*]] = arith.constant 4 : index
  // PLAIN-DAG: %[[C62:.*]] = arith.constant 62 : index
  // PLAIN: %[[TILE:.*]] = memref.alloc() {{.*}} : memref<32x4xf32>
  // PLAIN: %[[SUMS:.*]] = memref.alloc() {{.*}} : memref<24x4xf32>
  // PLAIN: scf.for %[[WINDOW:.*]] = %[[C0]] to %[[C4]] step %[[C2]]
  // PLAIN:   %[[FIRST:.*]] = arith.cmpi eq, %[[WINDOW]], %[[C0]]
  // PLAIN:   scf.for
  // PLAIN:     %[[LEFT:.*]] = arith.subi %[[C62]]
  // PLAIN:     %[[MASK:.*]] = vector.create_mask %[[LEFT]] : vector<4xi1>
  // PLAIN:     vector.maskedload %[[A]]{{.*}}, %[[MASK]]
  // PLAIN:     vector.shuffle %{{.*}} [0, 4, 1, 5]
  // PLAIN:     vector.store %{{.*}}, %[[TILE]]
  // PLAIN:   scf.for %{{.*}} = %[[C0]] to %[[C3]]
  // PLAIN:     scf.for
  // PLAIN:       scf.for %{{.*}} iter_args
  // PLAIN:         memref.extract_aligned_pointer_as_index %[[TILE]]
  // PLAIN:         memref.load %[[I]]
  // PLAIN-NOT:     llvm.inline_asm
  // PLAIN:         llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
  // PLAIN:         %[[WEIGHT:.*]] = memref.load %[[V]]
  // PLAIN:         %[[WIDE:.*]] = arith.extf %[[WEIGHT]] : f16 to f32
  // PLAIN:         vector.broadcast %[[WIDE]]
  // PLAIN:         vector.fma
  // PLAIN:       vector.load %[[SUMS]]
  // PLAIN:       arith.select %[[FIRST]]
  // PLAIN:       vector.store %{{.*}}, %[[SUMS]]
  // PLAIN: scf.for
  // PLAIN:   %[[OLD:.*]] = vector.maskedload %[[C]]
  // PLAIN:   %[[OLDWIDE:.*]] = arith.extf %[[OLD]]
  // PLAIN:   %[[NEW:.*]] = arith.addf %{{.*}}, %[[OLDWIDE]]
  // PLAIN:   %[[ROUNDED:.*]] = arith.truncf %[[NEW]] : vector<4xf32> to vector<4xf16>
  // PLAIN:   vector.maskedstore %[[C]]{{.*}}, %[[ROUNDED]]
  nm.spmm <8:16, block = 1x8> packing #nm.packing<panel = 8, index_bits = 8>
    schedule #nm.vector<block = [4, 24, 32], thread = [4, 2]>
    ins(%a, %v, %i : memref<4x62xf16>, memref<3x32x8xf16>, memref<3x32x1xi8>)
    outs(%c : memref<4x24xf16>)
  return
}

// -----

// Multiplications of a column that has its own rows of A load from one register
// and a constant: a sum of two registers would be an instruction more of each.

// CHECK-LABEL: func.func @separate_rows(
func.func @separate_rows(%a: memref<32x64xf32>, %v: memref<2x32x16xf32>, %i: memref<2x32x4xi8>,
                         %c: memref<32x32xf32>) {
  // CHECK: %[[BASE:.*]] = memref.extract_aligned_pointer_as_index %{{.*}} : memref<64x32xf32>
  // CHECK: %[[WINDOW:.*]] = arith.index_cast %{{.*}} : index to i64
  // CHECK: %[[FIELD:.*]] = arith.andi %{{.*}} : index
  // CHECK: %[[SCALED:.*]] = arith.muli %[[FIELD]], %{{.*}} : index
  // CHECK: %[[BYTES:.*]] = arith.index_cast %[[SCALED]] : index to i64
  // CHECK: %[[SUM:.*]] = arith.addi %[[WINDOW]], %[[BYTES]] : i64
  // CHECK: %[[ROW:.*]] = llvm.inline_asm "", "=r,0" %[[SUM]] : (i64) -> i64
  // CHECK: %[[POINTER:.*]] = llvm.inttoptr %[[ROW]]
  // CHECK: llvm.load %[[POINTER]] {alignment = 64 : i64} : !llvm.ptr -> vector<16xf32>
  // CHECK: %[[NEXT:.*]] = llvm.getelementptr %[[POINTER]][16]
  // CHECK: llvm.load %[[NEXT]] {alignment = 64 : i64} : !llvm.ptr -> vector<16xf32>
  // CHECK-COUNT-2: vector.fma
  nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 2>
    schedule #nm.vector<block = [32, 32, 64], thread = [32, 4]>
    ins(%a, %v, %i : memref<32x64xf32>, memref<2x32x16xf32>, memref<2x32x4xi8>)
    outs(%c : memref<32x32xf32>)
  return
}

// -----

// What the pass leaves: another strategy, a dynamic k, tensors.

// CHECK-LABEL: func.func @left(
func.func @left(%a: memref<4x16xf32>, %d: memref<4x?xf32>, %t: tensor<4x16xf32>,
                %v: memref<8x24xf32>, %i: memref<8x24xi8>, %vt: tensor<8x24xf32>,
                %it: tensor<8x24xi8>, %c: memref<4x24xf32>, %ct: tensor<4x24xf32>)
    -> tensor<4x24xf32> {
  // CHECK: nm.spmm <2:4> schedule #nm.loops
  nm.spmm <2:4> schedule #nm.loops
    ins(%a, %v, %i : memref<4x16xf32>, memref<8x24xf32>, memref<8x24xi8>) outs(%c : memref<4x24xf32>)
  // CHECK: nm.spmm
  // CHECK-SAME: memref<4x?xf32>
  nm.spmm <2:4>
    ins(%d, %v, %i : memref<4x?xf32>, memref<8x24xf32>, memref<8x24xi8>) outs(%c : memref<4x24xf32>)
  // CHECK: nm.spmm
  // CHECK-SAME: tensor<4x16xf32>
  %r = nm.spmm <2:4> ins(%t, %vt, %it : tensor<4x16xf32>, tensor<8x24xf32>, tensor<8x24xi8>)
                     outs(%ct : tensor<4x24xf32>) -> tensor<4x24xf32>
  return %r : tensor<4x24xf32>
}

// -----

// The epilogue takes vectors of sums: a bias along them, a column's scale the
// same for all, a residual that stands the other way round by a transfer.

// CHECK-LABEL: func.func @epilogue(
// CHECK-SAME: %[[B:[^:]*]]: memref<48xf32>, %[[S:[^:]*]]: memref<2xf32>, %[[R:[^:]*]]: memref<48x2xf32>, %[[C:[^:]*]]: memref<2x48xf16>)
func.func @epilogue(%a: memref<2x64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %b: memref<48xf32>,
                    %s: memref<2xf32>, %r: memref<48x2xf32>, %c: memref<2x48xf16>) {
  // CHECK-NOT: vector.load %[[C]]
  // CHECK: %[[BIAS:.*]] = vector.load %[[B]]
  // CHECK: %[[ONE:.*]] = memref.load %[[S]]
  // CHECK: %[[SCALE:.*]] = vector.broadcast %[[ONE]]
  // CHECK: %[[RESIDUAL:.*]] = vector.transfer_read %[[R]]
  // CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[SCALE]] : vector<16xf32>
  // CHECK: %[[BIASED:.*]] = arith.addf %[[SCALED]], %[[BIAS]] : vector<16xf32>
  // CHECK: %[[ALL:.*]] = arith.addf %[[BIASED]], %[[RESIDUAL]] : vector<16xf32>
  // CHECK: %[[RELU:.*]] = arith.maximumf %[[ALL]], %{{.*}} : vector<16xf32>
  // CHECK: %[[H:.*]] = arith.truncf %[[RELU]] : vector<16xf32> to vector<16xf16>
  // CHECK: vector.store %[[H]], %[[C]]
  nm.spmm <2:4> ins(%a, %v, %i : memref<2x64xf32>, memref<32x48xf32>, memref<32x48xi8>)
    outs(%c : memref<2x48xf16>)
    epilogue ins(%b, %s, %r : memref<48xf32>, memref<2xf32>, memref<48x2xf32>)
             maps [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n, m)>] {
    ^bb0(%sum: f32, %x: f32, %t: f32, %y: f32):
      %zero = arith.constant 0.0 : f32
      %o = arith.mulf %sum, %t : f32
      %p = arith.addf %o, %x : f32
      %q = arith.addf %p, %y : f32
      %relu = arith.maximumf %q, %zero : f32
      %h = arith.truncf %relu : f32 to f16
      nm.yield %h : f16
    }
  return
}
