// RUN: nm-opt %s --convert-nm-to-vector="vector-bits=512" --canonicalize --cse --split-input-file | FileCheck %s
// RUN: nm-opt %s --convert-nm-to-vector="vector-bits=256" --split-input-file | FileCheck %s --check-prefix=NARROW
// NARROW-COUNT-3: nm.spmm

// Weights that are expanded between the lanes that a mask has, and the sums of
// the other lanes as they were.
//
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[A:[^:]*]]: memref<2x40xf16>, %[[V:[^:]*]]: memref<1x1x164xf16>, %[[I:[^:]*]]: memref<2x40x8xi8>, %[[L:[^:]*]]: memref<2x1x4xi8>
// CHECK: %[[ROWS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2x48xf32>
// CHECK: vector.load %[[L]]
// CHECK: scf.for %{{.*}} iter_args(%[[PLACE:[^ ]*]] = %{{[^,]*}}, %[[SUM:[^ ]*]] = %{{[^,]*}},
// CHECK: memref.load %[[ROWS]]
// CHECK: %[[LEFT:.*]] = vector.broadcast
// CHECK: %[[BYTES:.*]] = vector.load %[[I]]{{.*}} vector<2xi8>
// CHECK: %[[BITS:.*]] = vector.bitcast %[[BYTES]] : vector<2xi8> to vector<1xi16>
// CHECK: %[[WORD:.*]] = llvm.inline_asm "", "=r,0" %{{.*}} : (i32) -> i32
// CHECK: %[[MASK:.*]] = vector.bitcast %{{.*}} : vector<1xi16> to vector<16xi1>
// CHECK: %[[COUNT:.*]] = llvm.intr.ctpop(%[[WORD]])
// CHECK: %[[NUMBER:.*]] = arith.index_castui %[[COUNT]]
// CHECK: %[[LOADED:.*]] = vector.load %[[V]][%{{.*}}, %{{.*}}, %[[PLACE]]]
// CHECK: %[[WIDE:.*]] = arith.extf %[[LOADED]]
// CHECK: %[[KEPT:.*]] = llvm.inline_asm "", "=v,0" %[[WIDE]]
// CHECK: %[[WEIGHTS:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.expand"(%[[KEPT]], %{{.*}}, %[[MASK]])
// CHECK: %[[PRODUCT:.*]] = vector.fma %[[LEFT]], %[[WEIGHTS]], %[[SUM]]
// CHECK: arith.select %[[MASK]], %[[PRODUCT]], %[[SUM]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[PLACE]], %[[NUMBER]]
// CHECK: vector.load %[[V]][%{{.*}}, %{{.*}}, %[[NEXT]]]
func.func @rows(%a: memref<2x40xf16>, %v: memref<1x1x164xf16>, %i: memref<2x40x8xi8>, %l: memref<2x1x4xi8>, %c: memref<2x70xf32>) {
  nm.spmm <1:1> packing #nm.bitmap_panels<kept = 100, word_rows = 1>
    schedule #nm.vector<thread = [2, 64], kept = 100, word_rows = 1>
    ins(%a, %v, %i : memref<2x40xf16>, memref<1x1x164xf16>, memref<2x40x8xi8>)
    lists(%l : memref<2x1x4xi8>) outs(%c : memref<2x70xf32>)
  return
}

// -----

// Pairs of bf16: A is zero where there is no weight.
// CHECK-LABEL: func.func @pairs
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<1x64xbf16>
// CHECK: %[[MASK:.*]] = vector.bitcast %{{.*}} : vector<1xi32> to vector<32xi1>
// CHECK: %[[EXPANDED:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.expand"(%{{.*}}, %{{.*}}, %[[MASK]]) : (vector<32xi16>
// CHECK: %[[LEFT:.*]] = arith.select %[[MASK]], %{{.*}}, %{{.*}} : vector<32xi1>, vector<32xi16>
// CHECK-DAG: %[[A:.*]] = vector.bitcast %[[LEFT]]
// CHECK-DAG: %[[B:.*]] = vector.bitcast %[[EXPANDED]]
// CHECK: llvm.inline_asm "vdpbf16ps $3, $2, $0", "=v,0,v,v" %{{.*}}, %[[B]], %[[A]]
func.func @pairs(%a: memref<1x41xbf16>, %v: memref<1x1x164xbf16>, %i: memref<1x21x16xi8>, %l: memref<1x1x4xi8>, %c: memref<1x16xf32>) {
  nm.spmm <1:1> packing #nm.bitmap_panels<kept = 100, word_rows = 2>
    schedule #nm.vector<thread = [1, 64], kept = 100, word_rows = 2>
    ins(%a, %v, %i : memref<1x41xbf16>, memref<1x1x164xbf16>, memref<1x21x16xi8>)
    lists(%l : memref<1x1x4xi8>) outs(%c : memref<1x16xf32>)
  return
}

// -----

// Quads of i8: A has 128 added, and a second sum has that times the weights.
// CHECK-LABEL: func.func @quads
// CHECK: arith.xori %{{.*}} : vector<16xi8>
// CHECK: %[[EXPANDED:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.expand"(%{{.*}}) : (vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %{{.*}}, %[[EXPANDED]])
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %{{.*}}, %[[EXPANDED]])
// CHECK: arith.subi
func.func @quads(%a: memref<1x41xi8>, %v: memref<1x1x164xi8>, %i: memref<1x11x32xi8>, %l: memref<1x1x4xi8>, %c: memref<1x16xi32>) {
  nm.spmm <1:1> packing #nm.bitmap_panels<kept = 100, word_rows = 4>
    schedule #nm.vector<thread = [1, 64], kept = 100, word_rows = 4>
    ins(%a, %v, %i : memref<1x41xi8>, memref<1x1x164xi8>, memref<1x11x32xi8>)
    lists(%l : memref<1x1x4xi8>) outs(%c : memref<1x16xi32>)
  return
}
