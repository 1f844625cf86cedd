// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --convert-nm-to-gpu --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// Two warps take parts of the steps of 32 columns. Of each step a lane loads 16
// weights, 16 bytes at a time, and 16 gaps of 4 bits, a step ahead, and adds
// up what rows of A, words of shared memory, have where the gaps lead.
// CHECK-LABEL: func.func @one_row
// CHECK: gpu.launch blocks({{.*}}) in ({{.*}} = %c1, {{.*}} threads({{.*}}) in (%{{.*}} = %c64
// CHECK: %[[COUNT:.*]] = vector.load %{{.*}} {alignment = 4 : i64} : memref<1x3x64xi8>, vector<4xi8>
// CHECK: arith.divui %{{.*}}, %c2_i32
// CHECK: vector.load %{{.*}} {alignment = 2 : i64} : memref<1x3x64xi8>, vector<2xi8>
// CHECK: scf.if
// CHECK-COUNT-2: vector.load %{{.*}} {alignment = 16 : i64} : memref<1x9x512xf16>, vector<8xf16>
// CHECK: vector.load %{{.*}} {alignment = 8 : i64} : memref<1x9x256xi8>, vector<8xi8>
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: scf.if
// CHECK: arith.shli %{{.*}}, %c2_i32
// CHECK: arith.andi %{{.*}}, %c60_i32
// CHECK-COUNT-16: vector.fma
// CHECK: scf.yield
// CHECK: gpu.barrier
func.func @one_row(%a: memref<1x200xf16>, %v: memref<1x9x512xf16>, %i: memref<1x9x256xi8>, %l: memref<1x3x64xi8>, %c: memref<1x32xf32>) {
  scf.forall (%n) in (1) {
    nm.spmm <1:1> packing #nm.ell<steps = 9, bits = 4, parts = 2>
      schedule #nm.gemv_columns<block = [1, 32, 200], warp = [1, 32], thread = [1, 1], stages = 1, slice_k = 2, steps = 9, gap_bits = 4>
      ins(%a, %v, %i : memref<1x200xf16>, memref<1x9x512xf16>, memref<1x9x256xi8>) lists(%l : memref<1x3x64xi8>)
      outs(%c : memref<1x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Of weights that have rows, 16 numbers of two bytes are two loads, and a row
// says where its words are: 16 bytes of eight rows of A.
// CHECK-LABEL: func.func @rows
// CHECK-COUNT-2: vector.load %{{.*}} {alignment = 16 : i64} : memref<1x9x512xf16>, vector<8xf16>
// CHECK-COUNT-2: vector.load %{{.*}} {alignment = 16 : i64} : memref<1x9x1024xi8>, vector<16xi8>
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: arith.shli %{{.*}}, %c4_i32
// CHECK: arith.andi %{{.*}}, %c1048560_i32
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<3200xi8, #gpu.address_space<workgroup>>, vector<16xi8>
// CHECK-COUNT-8: vector.fma
func.func @rows(%a: memref<8x200xf16>, %v: memref<1x9x512xf16>, %i: memref<1x9x1024xi8>, %l: memref<1x3x64xi8>, %c: memref<8x32xf32>) {
  scf.forall (%n) in (1) {
    nm.spmm <1:1> packing #nm.ell<steps = 9, bits = 16, parts = 2>
      schedule #nm.gemv_columns<block = [8, 32, 200], warp = [8, 32], thread = [8, 1], stages = 1, slice_k = 2, steps = 9, gap_bits = 16>
      ins(%a, %v, %i : memref<8x200xf16>, memref<1x9x512xf16>, memref<1x9x1024xi8>) lists(%l : memref<1x3x64xi8>)
      outs(%c : memref<8x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @parts(%a: memref<1x200xf16>, %v: memref<1x9x512xf16>, %i: memref<1x9x256xi8>, %l: memref<1x3x64xi8>, %c: memref<1x32xf32>) {
  scf.forall (%n) in (1) {
    // expected-error @+1 {{expected weights packed as #nm.ell with slice_k parts for strategy gemv_columns}}
    nm.spmm <1:1> packing #nm.ell<steps = 9, bits = 4, parts = 2>
      schedule #nm.gemv_columns<block = [1, 32, 200], warp = [1, 32], thread = [1, 1], stages = 1, slice_k = 4, steps = 9, gap_bits = 4>
      ins(%a, %v, %i : memref<1x200xf16>, memref<1x9x512xf16>, memref<1x9x256xi8>) lists(%l : memref<1x3x64xi8>)
      outs(%c : memref<1x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
