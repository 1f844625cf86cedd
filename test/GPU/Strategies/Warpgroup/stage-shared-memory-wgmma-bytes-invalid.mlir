// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --split-input-file

func.func @m_major(%a: memref<2048x64xi8>, %v: memref<1x128x64xi8>, %i: memref<1x2x1xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected a row-major A for strategy wgmma, which cannot transpose 'i8'}}
    nm.spmm <2:32, block = 64x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128>
      schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
      ins(%a, %v, %i : memref<2048x64xi8>, memref<1x128x64xi8>, memref<1x2x1xi8>)
      outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @no_producers(%a: memref<64x2048xi8>, %v: memref<1x128x64xi8>, %i: memref<1x2x1xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected producers for strategy wgmma, which has no other copies of 'i8'}}
    nm.spmm <2:32, block = 64x64> packing #nm.packing<panel = 64, index_bits = 8>
      schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, packing = <panel = 64, index_bits = 8>>
      ins(%a, %v, %i : memref<64x2048xi8>, memref<1x128x64xi8>, memref<1x2x1xi8>)
      outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @narrow_units(%a: memref<64x256xi8>, %v: memref<1x128x64xi8>, %i: memref<1x16x1xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected units of a multiple of 16 rows, in tiles of a multiple of 32, but got 2:4, block = 8x64 and tiles of 128}}
    nm.spmm <2:4, block = 8x64> packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128>
      schedule #nm.wgmma<block = [64, 64, 256], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
      ins(%a, %v, %i : memref<64x256xi8>, memref<1x128x64xi8>, memref<1x16x1xi8>)
      outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @rows_at_odd_places(%a: memref<64x2048xi8, strided<[2052, 1]>>, %v: memref<1x128x64xi8>, %i: memref<1x2x1xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected rows of A at multiples of 16 bytes for strategy wgmma, but got}}
    nm.spmm <2:32, block = 64x64> packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128>
      schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, producers = 4, copy_a = tensor, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
      ins(%a, %v, %i : memref<64x2048xi8, strided<[2052, 1]>>, memref<1x128x64xi8>, memref<1x2x1xi8>)
      outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @totals_of_f16(%a: memref<128x64xf16>, %v: memref<1x32x64xf16>, %i: memref<1x32x1xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected operands of 8 bits for 'promote' and 'copy_a = tensor' or 'bulk', but got 'f16'}}
    nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 32>
      schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, producers = 4, promote = true, packing = <panel = 64, index_bits = 8, tile_rows = 32>>
      ins(%a, %v, %i : memref<128x64xf16>, memref<1x32x64xf16>, memref<1x32x1xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @panels_of_other_tiles(%a: memref<128x2048xi8>, %v: memref<1x128x64xi8>, %i: memref<1x2x1xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected panels_a of 64 rows with 'copy_a = bulk', and only there, but got 128}}
    nm.spmm <2:32, block = 64x64> panels_a 128 packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128>
      schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, producers = 4, copy_a = bulk, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
      ins(%a, %v, %i : memref<128x2048xi8>, memref<1x128x64xi8>, memref<1x2x1xi8>)
      outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @panels_of_ragged_windows(%a: memref<100x1024xi8>, %v: memref<1x128x64xi8>, %i: memref<1x2x1xi8>, %c: memref<64x64xi32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected panels_a of whole windows, 2048 rows of k in a tile, but got 'memref<100x1024xi8>'}}
    nm.spmm <2:32, block = 64x64> panels_a 64 packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 128>
      schedule #nm.wgmma<block = [64, 64, 2048], warpgroup = [64, 64], stages = 3, producers = 4, copy_a = bulk, packing = <panel = 64, index_bits = 8, tile_rows = 128>>
      ins(%a, %v, %i : memref<100x1024xi8>, memref<1x128x64xi8>, memref<1x2x1xi8>)
      outs(%c : memref<64x64xi32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
