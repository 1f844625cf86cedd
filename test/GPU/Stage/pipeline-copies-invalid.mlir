// RUN: nm-opt %s --nm-pipeline-copies --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-pipeline-copies --split-input-file

func.func @no_copies(%c: memref<32x64xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  scf.forall (%m) in (1) {
    scf.for %k = %c0 to %c64 step %c32 {
      %as = memref.alloc() : memref<32x32xf32, #gpu.address_space<workgroup>>
      %vs = memref.alloc() : memref<16x64xf32, #gpu.address_space<workgroup>>
      %is = memref.alloc() : memref<16x64xi8, #gpu.address_space<workgroup>>
      // expected-error @+1 {{expected copies of its operands that are awaited beside it, as nm-stage-shared-memory makes them}}
      nm.spmm <2:4> transpose_a schedule #nm.simt<block = [32, 64, 32], warp = [32, 32], thread = [8, 4], stages = 2>
        ins(%as, %vs, %is : memref<32x32xf32, #gpu.address_space<workgroup>>, memref<16x64xf32, #gpu.address_space<workgroup>>, memref<16x64xi8, #gpu.address_space<workgroup>>)
        outs(%c : memref<32x64xf32>)
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @bounds(%v: memref<16x64xf32>, %c: memref<32x64xf32>, %size: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  scf.forall (%m) in (1) {
    scf.for %k = %c0 to %size step %c32 {
      %as = memref.alloc() : memref<32x32xf32, #gpu.address_space<workgroup>>
      %vs = memref.alloc() : memref<16x64xf32, #gpu.address_space<workgroup>>
      %is = memref.alloc() : memref<16x64xi8, #gpu.address_space<workgroup>>
      %t = nm.copy <direct> %v to %vs : memref<16x64xf32> to memref<16x64xf32, #gpu.address_space<workgroup>> -> !nm.token
      %group = nm.group %t
      nm.await <block> %group
      // expected-error @+1 {{expected a loop over k of constant bounds that does nothing but stage and multiply, to pipeline 2 stages}}
      nm.spmm <2:4> transpose_a schedule #nm.simt<block = [32, 64, 32], warp = [32, 32], thread = [8, 4], stages = 2>
        ins(%as, %vs, %is : memref<32x32xf32, #gpu.address_space<workgroup>>, memref<16x64xf32, #gpu.address_space<workgroup>>, memref<16x64xi8, #gpu.address_space<workgroup>>)
        outs(%c : memref<32x64xf32>)
      nm.release <block> %as, %vs, %is : memref<32x32xf32, #gpu.address_space<workgroup>>, memref<16x64xf32, #gpu.address_space<workgroup>>, memref<16x64xi8, #gpu.address_space<workgroup>>
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @parts(%a: memref<32x32xf32>, %v: memref<16x64xf32>, %c: memref<32x64xf32>) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  scf.forall (%m) in (1) {
    scf.for %k = %c0 to %c64 step %c32 {
      %as = memref.alloc() : memref<32x32xf32, #gpu.address_space<workgroup>>
      %vs = memref.alloc() : memref<16x64xf32, #gpu.address_space<workgroup>>
      %is = memref.alloc() : memref<16x64xi8, #gpu.address_space<workgroup>>
      %staging = memref.alloc() : memref<1x2x16x32xf32, #gpu.address_space<workgroup>>
      %t = nm.copy <direct> %v to %vs : memref<16x64xf32> to memref<16x64xf32, #gpu.address_space<workgroup>> -> !nm.token
      %group = nm.group %t
      nm.copy <matrices> %staging to %as part [0, 1] : memref<1x2x16x32xf32, #gpu.address_space<workgroup>> to memref<32x32xf32, #gpu.address_space<workgroup>>
      nm.await <block> %group
      // expected-error @+1 {{expected as many copies to a staging buffer as from it}}
      nm.spmm <2:4> transpose_a schedule #nm.simt<block = [32, 64, 32], warp = [32, 32], thread = [8, 4], stages = 2>
        ins(%as, %vs, %is : memref<32x32xf32, #gpu.address_space<workgroup>>, memref<16x64xf32, #gpu.address_space<workgroup>>, memref<16x64xi8, #gpu.address_space<workgroup>>)
        outs(%c : memref<32x64xf32>)
      nm.release <block> %as, %vs, %is : memref<32x32xf32, #gpu.address_space<workgroup>>, memref<16x64xf32, #gpu.address_space<workgroup>>, memref<16x64xi8, #gpu.address_space<workgroup>>
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @step(%a: memref<32x32xf32>, %v: memref<16x64xf32>, %c: memref<32x64xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.forall (%m) in (1) {
    scf.for %k = %c0 to %c64 step %c0 {
      %as = memref.alloc() : memref<32x32xf32, #gpu.address_space<workgroup>>
      %vs = memref.alloc() : memref<16x64xf32, #gpu.address_space<workgroup>>
      %is = memref.alloc() : memref<16x64xi8, #gpu.address_space<workgroup>>
      %t = nm.copy <direct> %v to %vs : memref<16x64xf32> to memref<16x64xf32, #gpu.address_space<workgroup>> -> !nm.token
      %group = nm.group %t
      nm.await <block> %group
      // expected-error @+1 {{expected a loop over k of constant bounds that does nothing but stage and multiply, to pipeline 2 stages}}
      nm.spmm <2:4> transpose_a schedule #nm.simt<block = [32, 64, 32], warp = [32, 32], thread = [8, 4], stages = 2>
        ins(%as, %vs, %is : memref<32x32xf32, #gpu.address_space<workgroup>>, memref<16x64xf32, #gpu.address_space<workgroup>>, memref<16x64xi8, #gpu.address_space<workgroup>>)
        outs(%c : memref<32x64xf32>)
      nm.release <block> %as, %vs, %is : memref<32x32xf32, #gpu.address_space<workgroup>>, memref<16x64xf32, #gpu.address_space<workgroup>>, memref<16x64xi8, #gpu.address_space<workgroup>>
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
