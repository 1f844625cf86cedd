// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --convert-nm-to-gpu --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --convert-nm-to-gpu --split-input-file

func.func @vector(%x: memref<128xf32>, %v: memref<64x64xf32>, %i: memref<64x64xi8>, %y: memref<64xf32>) {
  scf.forall (%m) in (1) {
    // expected-error @+1 {{expected nm.spmm, the product that strategy simt has}}
    nm.spmv <2:4> schedule #nm.simt<block = [32, 64, 128], warp = [32, 32], thread = [8, 4]>
      ins(%x, %v, %i : memref<128xf32>, memref<64x64xf32>, memref<64x64xi8>) outs(%y : memref<64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @half(%a: memref<128x32xf16, #gpu.address_space<workgroup>>, %v: memref<64x64xf16, #gpu.address_space<workgroup>>, %i: memref<64x64xi8, #gpu.address_space<workgroup>>, %c: memref<32x64xf32>) {
  scf.forall (%m) in (1) {
    // expected-error @+1 {{expected f32 operands for strategy simt, but got 'f16' and 'f32'}}
    nm.spmm <2:4> transpose_a schedule #nm.simt<block = [32, 64, 128], warp = [32, 32], thread = [8, 4]>
      ins(%a, %v, %i : memref<128x32xf16, #gpu.address_space<workgroup>>, memref<64x64xf16, #gpu.address_space<workgroup>>, memref<64x64xi8, #gpu.address_space<workgroup>>)
      outs(%c : memref<32x64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @thread(%a: memref<128x32xf32, #gpu.address_space<workgroup>>, %v: memref<64x64xf32, #gpu.address_space<workgroup>>, %i: memref<64x64xi8, #gpu.address_space<workgroup>>, %c: memref<32x64xf32>) {
  scf.forall (%m) in (1) {
    // expected-error @+1 {{expected a thread tile of multiples of 4 for strategy simt, but got 2 x 16}}
    nm.spmm <2:4> transpose_a schedule #nm.simt<block = [32, 64, 128], warp = [32, 32], thread = [2, 16]>
      ins(%a, %v, %i : memref<128x32xf32, #gpu.address_space<workgroup>>, memref<64x64xf32, #gpu.address_space<workgroup>>, memref<64x64xi8, #gpu.address_space<workgroup>>)
      outs(%c : memref<32x64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @narrow_indices(%a: memref<32x64xf32, #gpu.address_space<workgroup>>, %v: memref<2x3x32xf32, #gpu.address_space<workgroup>>, %i: memref<2x3x1xi8>, %c: memref<64x64xf32>) {
  scf.forall (%n) in (1) {
    // expected-error @+1 {{expected packing with index_bits = 8 and without chunks for strategy simt, but got #nm.packing<panel = 32, index_bits = 5>}}
    nm.spmm <3:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 5>
      schedule #nm.simt<block = [64, 64, 32], warp = [32, 32], thread = [8, 4]>
      ins(%a, %v, %i : memref<32x64xf32, #gpu.address_space<workgroup>>, memref<2x3x32xf32, #gpu.address_space<workgroup>>, memref<2x3x1xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @defer(%a: memref<32x64xf32, #gpu.address_space<workgroup>>, %v: memref<3x96xf32, #gpu.address_space<workgroup>>, %i: memref<3x2xi8, #gpu.address_space<workgroup>>, %c: memref<64x96xf32>) {
  scf.forall (%n) in (1) {
    // expected-error @+1 {{expected units of whole warp tiles, or narrower ones, for defer = true, but got units of 48 columns}}
    nm.spmm <3:32, block = 1x48> transpose_a
      schedule #nm.simt<block = [64, 96, 32], warp = [32, 32], thread = [8, 4], defer = true>
      ins(%a, %v, %i : memref<32x64xf32, #gpu.address_space<workgroup>>, memref<3x96xf32, #gpu.address_space<workgroup>>, memref<3x2xi8, #gpu.address_space<workgroup>>)
      outs(%c : memref<64x96xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
