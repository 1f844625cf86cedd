// RUN: nm-opt %s --convert-nm-to-gpu --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --convert-nm-to-gpu --split-input-file

func.func @not_staged(%a: memref<32x128xf32>, %v: memref<64x64xf32>, %i: memref<64x64xi8>, %c: memref<32x64xf32>) {
  scf.forall (%m) in (1) {
    // expected-error @+1 {{expected operands in workgroup memory, with A k-major, as nm-stage-shared-memory makes them}}
    nm.spmm <2:4> schedule <simt, block = [32, 64, 128], warp = [32, 32], thread = [8, 4]>
      ins(%a, %v, %i : memref<32x128xf32>, memref<64x64xf32>, memref<64x64xi8>)
      outs(%c : memref<32x64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @strategy(%a: memref<32x128xf32>, %v: memref<64x64xf32>, %i: memref<64x64xi8>, %c: memref<32x64xf32>) {
  scf.forall (%m) in (1) {
    // expected-error @+1 {{has no expansion for strategy wgmma on a GPU}}
    nm.spmm <2:4> schedule <wgmma, block = [32, 64, 128], warp = [32, 32], thread = [8, 4]>
      ins(%a, %v, %i : memref<32x128xf32>, memref<64x64xf32>, memref<64x64xi8>)
      outs(%c : memref<32x64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @no_product(%c: memref<32xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{is mapped to GPU blocks, but has no nm.spmm}}
  scf.forall (%m) in (32) {
    memref.store %zero, %c[%m] : memref<32xf32>
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @format_op(%w: memref<64x64xf32>, %v: memref<32x64xf32>, %i: memref<32x64xi8>) {
  // expected-error @+1 {{'nm.compress' op has no form on a GPU: expected weights that are arguments or constants}}
  nm.compress <2:4> ins(%w : memref<64x64xf32>) outs(%v, %i : memref<32x64xf32>, memref<32x64xi8>)
  return
}
