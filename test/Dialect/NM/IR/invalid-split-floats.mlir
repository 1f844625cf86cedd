// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file 2>/dev/null

// Each function is named for the op and the constraint in NMOps.td or
// NMAttributes.td that it breaks.

func.func @packing_c6_splits() {
  // expected-error @+1 {{expected splits in 1..3, but got 4}}
  "func.call"() {callee = @packing_c6_splits, p = #nm.packing<panel = 64, index_bits = 8, tile_rows = 32, splits = 4>} : () -> ()
  return
}

// -----

func.func @packing_c6_tiles() {
  // expected-error @+1 {{expected tile_rows with splits, but got none}}
  "func.call"() {callee = @packing_c6_tiles, p = #nm.packing<panel = 64, index_bits = 8, splits = 3>} : () -> ()
  return
}

// -----

func.func @pack_c2(%v: tensor<128x64xf16>, %i: tensor<128x1xi8>, %pv0: tensor<1x384x64xbf16>, %pi0: tensor<1x128x1xi8>) {
  // expected-error @+1 {{expected elements of f32 for splits, but got 'f16'}}
  %0:2 = nm.pack <8:32, block = 1x64> #nm.packing<panel = 64, index_bits = 8, tile_rows = 32, splits = 3>
    ins(%v, %i : tensor<128x64xf16>, tensor<128x1xi8>) outs(%pv0, %pi0 : tensor<1x384x64xbf16>, tensor<1x128x1xi8>)
    -> tensor<1x384x64xbf16>, tensor<1x128x1xi8>
  return
}

// -----

func.func @pack_c2_bf16(%v: tensor<128x64xbf16>, %i: tensor<128x1xi8>, %pv0: tensor<1x384x64xbf16>, %pi0: tensor<1x128x1xi8>) {
  // expected-error @+1 {{expected values of f32 for splits, but got 'bf16'}}
  %0:2 = nm.pack <8:32, block = 1x64> #nm.packing<panel = 64, index_bits = 8, tile_rows = 32, splits = 3>
    ins(%v, %i : tensor<128x64xbf16>, tensor<128x1xi8>) outs(%pv0, %pi0 : tensor<1x384x64xbf16>, tensor<1x128x1xi8>)
    -> tensor<1x384x64xbf16>, tensor<1x128x1xi8>
  return
}

// -----

func.func @pack_c2_packed(%v: tensor<128x64xf32>, %i: tensor<128x1xi8>, %pv0: tensor<1x384x64xf32>, %pi0: tensor<1x128x1xi8>) {
  // expected-error @+1 {{expected element type 'bf16', but got 'f32'}}
  %0:2 = nm.pack <8:32, block = 1x64> #nm.packing<panel = 64, index_bits = 8, tile_rows = 32, splits = 3>
    ins(%v, %i : tensor<128x64xf32>, tensor<128x1xi8>) outs(%pv0, %pi0 : tensor<1x384x64xf32>, tensor<1x128x1xi8>)
    -> tensor<1x384x64xf32>, tensor<1x128x1xi8>
  return
}

// -----

func.func @split_c1_shape(%a: memref<100x512xf32>, %s: memref<512x300xbf16>) {
  // expected-error @+1 {{expected size of dim 1 of output to be 384, but got 300}}
  nm.split_floats 3 transpose ins(%a : memref<100x512xf32>) outs(%s : memref<512x300xbf16>)
  return
}

// -----

func.func @split_c1_rank(%a: memref<512xf32>, %s: memref<1536xbf16>) {
  // expected-error @+1 {{expected A and the output to have one rank of at least 2}}
  nm.split_floats 3 ins(%a : memref<512xf32>) outs(%s : memref<1536xbf16>)
  return
}

// -----

func.func @split_c2(%a: memref<64x64xf32>, %s: memref<64x256xbf16>) {
  // expected-error @+1 {{attribute 'splits' failed to satisfy constraint}}
  nm.split_floats 4 ins(%a : memref<64x64xf32>) outs(%s : memref<64x256xbf16>)
  return
}

// -----

func.func @split_c3(%a: tensor<64x64xf32>, %s: memref<64x192xbf16>) {
  // expected-error @+1 {{expected all operands to be tensors or all to be memrefs}}
  nm.split_floats 3 ins(%a : tensor<64x64xf32>) outs(%s : memref<64x192xbf16>)
  return
}

// -----

func.func @spmm_c1_layout(%a: memref<192x128xbf16>, %v: memref<1x96x64xbf16>, %i: memref<1x32x1xi8>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{expected an m-major A of splits, with transpose_a, as nm.split_floats makes it}}
  nm.spmm <8:32, block = 1x64> packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 32, splits = 3>
    ins(%a, %v, %i : memref<192x128xbf16>, memref<1x96x64xbf16>, memref<1x32x1xi8>) outs(%c : memref<64x64xf32>)
  return
}

// -----

func.func @spmm_c1_columns(%a: memref<128x64xbf16>, %v: memref<1x96x64xbf16>, %i: memref<1x32x1xi8>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{expected size of dim 1 of A to be 192, but got 64}}
  nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 32, splits = 3>
    ins(%a, %v, %i : memref<128x64xbf16>, memref<1x96x64xbf16>, memref<1x32x1xi8>) outs(%c : memref<64x64xf32>)
  return
}

// -----

func.func @spmm_c5_ieee(%a: memref<128x192xbf16>, %v: memref<1x96x64xbf16>, %i: memref<1x32x1xi8>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{expected no splits for arithmetic ieee, but got 3}}
  nm.spmm <8:32, block = 1x64> transpose_a packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 32, splits = 3> arithmetic <ieee>
    ins(%a, %v, %i : memref<128x192xbf16>, memref<1x96x64xbf16>, memref<1x32x1xi8>) outs(%c : memref<64x64xf32>)
  return
}

// -----

// Before weights are packed, by the schedule.
func.func @spmm_c5_f32(%a: memref<64x128xf32>, %v: memref<32x64xf32>, %i: memref<32x1xi8>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{expected 3 splits for arithmetic f32, but got 2}}
  nm.spmm <8:32, block = 1x64>
    schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, producers = 4, packing = <panel = 64, index_bits = 8, tile_rows = 32, splits = 2>>
    ins(%a, %v, %i : memref<64x128xf32>, memref<32x64xf32>, memref<32x1xi8>) outs(%c : memref<64x64xf32>)
  return
}

// -----

func.func @recompute_sums(%a: memref<512x384xbf16>, %v: memref<1x384x128xbf16>, %i: memref<1x128x1xi8>, %c: memref<100x128xf16>) {
  // expected-error @+1 {{expected sums of f32, of A's rank 2, but got 'memref<100x128xf16>'}}
  nm.recompute_from <8:32, block = 1x128> packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 32, splits = 3>
    ins(%a, %v, %i : memref<512x384xbf16>, memref<1x384x128xbf16>, memref<1x128x1xi8>) outs(%c : memref<100x128xf16>)
  return
}

// -----

func.func @recompute_splits(%a: memref<128x64xbf16>, %v: memref<1x32x64xbf16>, %i: memref<1x32x1xi8>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{expected a packing with splits}}
  nm.recompute_from <8:32, block = 1x64> packing #nm.packing<panel = 64, index_bits = 8, tile_rows = 32>
    ins(%a, %v, %i : memref<128x64xbf16>, memref<1x32x64xbf16>, memref<1x32x1xi8>) outs(%c : memref<64x64xf32>)
  return
}

// -----

func.func @sparse_operand_c4() {
  // expected-error @+1 {{expected splits in 1..3, but got 4}}
  "func.call"() {callee = @sparse_operand_c4, p = #nm.sparse_operand<wgmma_pairs, splits = 4>} : () -> ()
  return
}

// -----

func.func @sparse_operand_c4_order() {
  // expected-error @+1 {{expected no splits of order mma, but got 3}}
  "func.call"() {callee = @sparse_operand_c4_order, p = #nm.sparse_operand<mma, splits = 3>} : () -> ()
  return
}

// -----

func.func @sparse_operand_c2(%v: tensor<32x64xf16>, %i: tensor<32x64xi8>, %pv0: tensor<1x1x6144xbf16>, %pi0: tensor<1x1x512xi8>) {
  // expected-error @+1 {{expected weights of f32 for splits of a sparse operand, but got f16}}
  %0:2 = nm.pack <2:4> #nm.sparse_operand<wgmma_pairs, splits = 3>
    ins(%v, %i : tensor<32x64xf16>, tensor<32x64xi8>) outs(%pv0, %pi0 : tensor<1x1x6144xbf16>, tensor<1x1x512xi8>)
    -> tensor<1x1x6144xbf16>, tensor<1x1x512xi8>
  return
}

// -----

func.func @wgmma_sp_c5() {
  // expected-error @+1 {{expected splits in 2..3, but got 1}}
  "func.call"() {callee = @wgmma_sp_c5, p = #nm.wgmma_sp<splits = 1>} : () -> ()
  return
}

// -----

func.func @wgmma_sp_c5_stages() {
  // expected-error @+1 {{expected stages in 2..65536, but got 1}}
  "func.call"() {callee = @wgmma_sp_c5_stages, p = #nm.wgmma_sp<stages = 1, splits = 3>} : () -> ()
  return
}

// -----

func.func @wgmma_sp_c5_producers(%a: memref<64x64xf32>, %v: memref<32x64xf32>, %i: memref<32x64xi8>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{expected producers for splits, but got none}}
  nm.spmm <2:4> schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, splits = 3>
    ins(%a, %v, %i : memref<64x64xf32>, memref<32x64xf32>, memref<32x64xi8>) outs(%c : memref<64x64xf32>)
  return
}

// -----

func.func @spmm_c5_f32_sparse(%a: memref<64x64xf32>, %v: memref<32x64xf32>, %i: memref<32x64xi8>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{expected 3 splits for arithmetic f32, but got 2}}
  nm.spmm <2:4> schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, splits = 2>
    ins(%a, %v, %i : memref<64x64xf32>, memref<32x64xf32>, memref<32x64xi8>) outs(%c : memref<64x64xf32>)
  return
}

// -----

func.func @spmm_c5_f16_sparse(%a: memref<64x64xf16>, %v: memref<32x64xf16>, %i: memref<32x64xi8>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{expected weights of f32 for splits of a sparse operand, but got f16}}
  nm.spmm <2:4> schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, splits = 3>
    ins(%a, %v, %i : memref<64x64xf16>, memref<32x64xf16>, memref<32x64xi8>) outs(%c : memref<64x64xf32>)
  return
}

// -----

func.func @split_floats_c1_windows(%a: tensor<100x64xf32>, %s: tensor<100x192xbf16>) {
  // expected-error @+1 {{expected size of dim 0 of output to be 136, but got 100}}
  %0 = nm.split_floats 3 windows 6 ins(%a : tensor<100x64xf32>) outs(%s : tensor<100x192xbf16>) -> tensor<100x192xbf16>
  return
}

// -----

func.func @split_floats_c2_odd(%a: tensor<70x64xf32>, %s: tensor<100x192xbf16>) {
  // expected-error @+1 {{expected windows of an even number of rows, but got 7}}
  %0 = nm.split_floats 3 windows 7 ins(%a : tensor<70x64xf32>) outs(%s : tensor<100x192xbf16>) -> tensor<100x192xbf16>
  return
}

// -----

func.func @split_floats_c2_small(%a: tensor<70x64xf32>, %s: tensor<100x192xbf16>) {
  // expected-error @+1 {{attribute 'windows' failed to satisfy constraint}}
  %0 = nm.split_floats 3 windows 4 ins(%a : tensor<70x64xf32>) outs(%s : tensor<100x192xbf16>) -> tensor<100x192xbf16>
  return
}

// -----

// expected-error @+1 {{expected nm.windows to be a number of rows, of type i64}}
func.func @windows_attribute() attributes {nm.windows = 0 : i64} {
  return
}

// -----

func.func @wgmma_c7(%a: memref<64x128xf32>, %v: memref<32x64xf32>, %i: memref<32x1xi8>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{expected a packing of 3 splits for 'compensated', but got #nm.wgmma<}}
  nm.spmm <8:32, block = 1x64>
    schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, producers = 4, compensated = true, packing = <panel = 64, index_bits = 8, tile_rows = 32, splits = 2>> arithmetic <bf16x3>
    ins(%a, %v, %i : memref<64x128xf32>, memref<32x64xf32>, memref<32x1xi8>) outs(%c : memref<64x64xf32>)
  return
}

// -----

func.func @wgmma_sp_c6(%a: memref<64x64xf16>, %v: memref<32x64xf16>, %i: memref<32x64xi8>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{expected 3 splits for 'compensated', but got #nm.wgmma_sp<}}
  nm.spmm <2:4> schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, compensated = true>
    ins(%a, %v, %i : memref<64x64xf16>, memref<32x64xf16>, memref<32x64xi8>) outs(%c : memref<64x64xf32>)
  return
}

// -----

func.func @wgmma_sp_c8(%a: memref<64x64xf16>, %v: memref<32x64xf16>, %i: memref<32x64xi8>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{expected 'promote' for 'ordered', but got #nm.wgmma_sp<}}
  nm.spmm <2:4> schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, promote = false, ordered = true>
    ins(%a, %v, %i : memref<64x64xf16>, memref<32x64xf16>, memref<32x64xi8>) outs(%c : memref<64x64xf32>)
  return
}

// -----

func.func @wgmma_sp_c8_overlap(%a: memref<64x64xf32>, %v: memref<32x64xf32>, %i: memref<32x64xi8>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{expected no splits for 'overlap', but got #nm.wgmma_sp<}}
  nm.spmm <2:4> schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, splits = 3, overlap = true>
    ins(%a, %v, %i : memref<64x64xf32>, memref<32x64xf32>, memref<32x64xi8>) outs(%c : memref<64x64xf32>)
  return
}

// -----

func.func @wgmma_c10_split_c(%a: memref<64x128xf32>, %v: memref<32x64xf32>, %i: memref<32x1xi8>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{expected producers, k in one part and no store_buffers for 'split_c'}}
  nm.spmm <8:32, block = 1x64>
    schedule #nm.wgmma<block = [64, 64, 128], warpgroup = [64, 64], stages = 3, split_k = 2, producers = 4, split_c = true, packing = <panel = 64, index_bits = 8, tile_rows = 32, splits = 3>>
    ins(%a, %v, %i : memref<64x128xf32>, memref<32x64xf32>, memref<32x1xi8>) outs(%c : memref<64x64xf32>)
  return
}

// -----

func.func @wgmma_sp_c10_split_c(%a: memref<64x64xf16>, %v: memref<32x64xf16>, %i: memref<32x64xi8>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{expected producers, k in one part and no store_buffers for 'split_c'}}
  nm.spmm <2:4> schedule #nm.wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, split_c = true>
    ins(%a, %v, %i : memref<64x64xf16>, memref<32x64xf16>, memref<32x64xi8>) outs(%c : memref<64x64xf32>)
  return
}
