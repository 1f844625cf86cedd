// RUN: nm-opt %s --convert-nm-to-vector="vector-bits=512 bf16-pairs" --canonicalize --cse --split-input-file | FileCheck %s
// RUN: nm-opt %s --convert-nm-to-vector="vector-bits=256" --split-input-file | FileCheck %s --check-prefix=NARROW
// NARROW-COUNT-2: nm.spmm

// Weights whose lanes choose words of A, 2:4 of i8. Of a step, 8 rows of k, the
// bytes of a word are at 1, 3 of a first window and at 0 to 3 of a second, 4
// behind. Fields of two bits begin at 0, 2, 4, 6 of a column's word, and at 32
// more of its neighbour's.
//
// CHECK-LABEL: func.func @quads
// CHECK-SAME: %[[A:[^:]*]]: memref<9x32xi8>, %[[V:[^:]*]]: memref<1x4x64xi8>, %[[I:[^:]*]]: memref<1x1x64xi8>
// CHECK-DAG: %[[BITS:.*]] = arith.constant dense<3> : vector<64xi8>
// CHECK-DAG: %[[FIRST:.*]] = arith.constant dense<[0, 0, 4, 4, 0, {{.*}}> : vector<64xi8>
// CHECK-DAG: %[[FIELDS:.*]] = arith.constant dense<[0, 2, 4, 6, 32, 34, 36, 38, 0, {{.*}}> : vector<64xi8>
// CHECK-DAG: %[[SECOND:.*]] = arith.constant dense<[8, 8, 12, 12, 8, {{.*}}> : vector<64xi8>
// CHECK-DAG: %[[OFFSET:.*]] = arith.constant dense<-128> : vector<64xi8>
// CHECK-DAG: %[[FLIP:.*]] = arith.constant dense<-128> : vector<16xi8>
// CHECK: %[[ROWS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x16x128xi8>
// CHECK: arith.xori %{{.*}}, %[[FLIP]] : vector<16xi8>
// CHECK: %[[INDICES:.*]] = vector.load %[[I]]
// CHECK: %[[SHIFTED:.*]] = llvm.call_intrinsic "llvm.x86.avx512.pmultishift.qb.512"(%[[FIELDS]], %[[INDICES]])
// CHECK: %[[PLACE:.*]] = arith.andi %[[SHIFTED]], %[[BITS]]
// CHECK: %[[CONTROL:.*]] = arith.addi %[[PLACE]], %[[FIRST]]
// CHECK: %[[WEIGHTS:.*]] = vector.load %[[V]]
// The first tile of eight rows sums the weights, times 128, too.
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[OFFSET]], %[[WEIGHTS]])
// CHECK: %[[LOADED:.*]] = vector.load %[[ROWS]]
// CHECK: %[[WIDE:.*]] = vector.shuffle %[[LOADED]]
// CHECK: %[[CHOSEN:.*]] = llvm.call_intrinsic "llvm.x86.avx512.permvar.qi.512"(%[[WIDE]], %[[CONTROL]])
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[CHOSEN]], %[[WEIGHTS]])
// CHECK: arith.addi %{{.*}}, %[[SECOND]]
func.func @quads(%a: memref<9x32xi8>, %v: memref<1x4x64xi8>, %i: memref<1x1x64xi8>, %c: memref<9x16xi32>) {
  nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 2, chunk_rows = 4, index_rows = 16>
    schedule #nm.amx<packing = <panel = 16, index_bits = 2, chunk_rows = 4, index_rows = 16>>
    ins(%a, %v, %i : memref<9x32xi8>, memref<1x4x64xi8>, memref<1x1x64xi8>)
    outs(%c : memref<9x16xi32>)
  return
}

// -----

// Of bf16 two bytes have one field, and are at twice its position: the bits
// begin one before it.
// CHECK-LABEL: func.func @pairs
// CHECK-DAG: arith.constant dense<6> : vector<64xi8>
// CHECK-DAG: arith.constant dense<[63, 63, 1, 1, 31, 31, 33, 33, 63, {{.*}}> : vector<64xi8>
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<1x16x64xbf16>
// CHECK: vector.load %{{.*}} : memref<1x16x64xbf16>, vector<32xbf16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.qi.512"
// CHECK: llvm.inline_asm "vdpbf16ps $3, $2, $0"
func.func @pairs(%a: memref<1x32xbf16>, %v: memref<1x8x32xbf16>, %i: memref<1x1x64xi8>, %c: memref<1x16xf32>) {
  nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 2, chunk_rows = 2, index_rows = 16>
    schedule #nm.amx<packing = <panel = 16, index_bits = 2, chunk_rows = 2, index_rows = 16>>
    ins(%a, %v, %i : memref<1x32xbf16>, memref<1x8x32xbf16>, memref<1x1x64xi8>)
    outs(%c : memref<1x16xf32>)
  return
}
