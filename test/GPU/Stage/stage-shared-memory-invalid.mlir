// RUN: nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --split-input-file

func.func @too_large(%a: memref<64x2048xf32>, %v: memref<1024x64xf32>, %i: memref<16x1xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected tiles of at most 101376 bytes of shared memory, but 2 stages of a 2048 x 64 tile of A with its weights take 1638656}}
    nm.spmm <16:32, block = 64x64> schedule #nm.simt<block = [64, 64, 32], warp = [32, 32], thread = [8, 4], stages = 2>
      ins(%a, %v, %i : memref<64x2048xf32>, memref<1024x64xf32>, memref<16x1xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @not_packed(%a: memref<64x32xf32>, %v: memref<2x3x32xf32>, %i: memref<2x3x1xi8>, %c: memref<64x64xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected weights with col_info, as nm-pack-weights makes them where the schedule says pack = true}}
    nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 64, 32], warp = [32, 32], thread = [8, 4], pack = true, packing = <panel = 32, index_bits = 8>>
      ins(%a, %v, %i : memref<64x32xf32>, memref<2x3x32xf32>, memref<2x3x1xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @narrow_lists(%a: memref<64x32xf32>, %v: memref<4x3x32xf32>, %i: memref<4x3x1xi8>, %l: memref<4x3x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected col_info of the block tile's 128 columns, but got #nm.packing<panel = 32, index_bits = 8, col_info = 64>}}
    nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, col_info = 64>
      schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8]>
      ins(%a, %v, %i : memref<64x32xf32>, memref<4x3x32xf32>, memref<4x3x1xi8>)
      lists(%l : memref<4x3x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @direct_of_row_major(%a: memref<64x32xf32>, %v: memref<4x16x32xf32>, %i: memref<4x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected copy_a = elements, squares or matrices for a row-major A, but got direct}}
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8], copy_a = direct>
      ins(%a, %v, %i : memref<64x32xf32>, memref<4x16x32xf32>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @squares_of_m_major(%a: memref<32x64xf32>, %v: memref<4x16x32xf32>, %i: memref<4x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected copy_a = direct for an m-major A, which is not transposed}}
    nm.spmm <16:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8], copy_a = squares>
      ins(%a, %v, %i : memref<32x64xf32>, memref<4x16x32xf32>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @odd_rows(%a: memref<64x32xf32, strided<[34, 1]>>, %v: memref<4x16x32xf32>, %i: memref<4x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected rows of A of whole 16-byte words for copy_a = squares, but accesses of them take 2 elements}}
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8], copy_a = squares>
      ins(%a, %v, %i : memref<64x32xf32, strided<[34, 1]>>, memref<4x16x32xf32>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @no_loop(%a: memref<64x32xf32>, %v: memref<4x16x32xf32>, %i: memref<4x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected two stages or more, and as many tiles along k, for copy_a = matrices}}
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8], copy_a = matrices>
      ins(%a, %v, %i : memref<64x32xf32>, memref<4x16x32xf32>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @row_major(%a: memref<64x32xf32>, %v: memref<4x16x32xf32>, %i: memref<4x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected units narrower than a warp's tile, of a multiple of 4 rows, for layout_a = row_major, but got units of 1 x 32}}
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8], layout_a = row_major>
      ins(%a, %v, %i : memref<64x32xf32>, memref<4x16x32xf32>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @interleaved(%a: memref<64x32xf32>, %v: memref<4x16x32xf32>, %i: memref<4x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected panels of one unit each that warps share, and M and bk that are powers of two, for layout_a = interleaved}}
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], layout_a = interleaved>
      ins(%a, %v, %i : memref<64x32xf32>, memref<4x16x32xf32>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @prefetch(%a: memref<64x32xf32>, %v: memref<4x16x32xf32>, %i: memref<4x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    // expected-error @+1 {{expected indices in panels of one unit each that warps share, for prefetch = true}}
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [32, 64], thread = [8, 8], prefetch = true>
      ins(%a, %v, %i : memref<64x32xf32>, memref<4x16x32xf32>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @division_by_zero(%i: index) -> index {
  // expected-error @+1 {{expected a divisor other than 0, but got affine_map<(d0) -> (d0 floordiv 0)>}}
  %p = affine.apply affine_map<(d0) -> (d0 floordiv 0)>(%i)
  return %p : index
}
