// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --convert-nm-to-gpu --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --convert-nm-to-gpu --split-input-file

func.func @not_staged(%a: memref<32x128xf32>, %v: memref<64x64xf32>, %i: memref<64x64xi8>, %c: memref<32x64xf32>) {
  scf.forall (%m) in (1) {
    // expected-error @+1 {{expected operands in workgroup memory, with A m-major, as nm-stage-shared-memory makes them}}
    nm.spmm <2:4> schedule #nm.simt<block = [32, 64, 128], warp = [32, 32], thread = [8, 4]>
      ins(%a, %v, %i : memref<32x128xf32>, memref<64x64xf32>, memref<64x64xi8>)
      outs(%c : memref<32x64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @not_staged_by_matrices(%a: memref<32x64xf16>, %v: memref<4x16x32xf16>, %i: memref<4x16x1xi8>, %c: memref<64x128xf16>) {
  scf.forall (%m) in (1) {
    // expected-error @+1 {{expected swizzled operands in workgroup memory, as nm-stage-shared-memory makes them}}
    nm.spmm <16:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.mma_sync<block = [64, 128, 32], warp = [32, 32]>
      ins(%a, %v, %i : memref<32x64xf16>, memref<4x16x32xf16>, memref<4x16x1xi8>)
      outs(%c : memref<64x128xf16>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @strategy(%a: memref<32x128xf32>, %v: memref<64x64xf32>, %i: memref<64x64xi8>, %c: memref<32x64xf32>) {
  scf.forall (%m) in (1) {
    // expected-error @+1 {{expected a schedule with 'block', 'warp' and 'thread', but got #nm.vector<block = [32, 64, 128], thread = [8, 4]>}}
    nm.spmm <2:4> schedule #nm.vector<block = [32, 64, 128], thread = [8, 4]>
      ins(%a, %v, %i : memref<32x128xf32>, memref<64x64xf32>, memref<64x64xi8>)
      outs(%c : memref<32x64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @no_product(%c: memref<32xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{is mapped to GPU blocks, but has no product}}
  scf.forall (%m) in (32) {
    memref.store %zero, %c[%m] : memref<32xf32>
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @compress(%w: memref<64x64xf32>, %v: memref<32x64xf32>, %i: memref<32x64xi8>) {
  // expected-error @+1 {{'nm.compress' op has no form on a GPU, where weights are compressed once, when they are loaded: expected the dense weight as an argument of type tensor<64x64xf32, #nm.encoding<2:4>>, or as a constant}}
  nm.compress <2:4> ins(%w : memref<64x64xf32>) outs(%v, %i : memref<32x64xf32>, memref<32x64xi8>)
  return
}

// -----

func.func @prune(%w: memref<48x64xf16>, %p: memref<48x64xf16>) {
  // expected-error @+1 {{expected the dense weight as an argument of type tensor<48x64xf16, #nm.encoding<1:4, block = 1x8, dim = 1>>, or as a constant, that was pruned before}}
  nm.prune <1:4, block = 1x8> dim 1 ins(%w : memref<48x64xf16>) outs(%p : memref<48x64xf16>)
  return
}

// -----

func.func @decompress(%v: memref<32x64xf32>, %i: memref<32x64xi8>, %w: memref<64x64xf32>) {
  // expected-error @+1 {{'nm.decompress' op has no form on a GPU, where weights are compressed once, when they are loaded: expected condensed weights that go to products alone}}
  nm.decompress <2:4> ins(%v, %i : memref<32x64xf32>, memref<32x64xi8>) outs(%w : memref<64x64xf32>)
  return
}

// -----

func.func @gemv_condensed(%a: memref<8x128xf32>, %v: memref<64x32xf32>, %i: memref<64x32xi8>, %c: memref<8x32xf32>) {
  scf.forall (%n) in (1) {
    // expected-error @+1 {{expected weights packed in panels for strategy gemv}}
    nm.spmm <2:4> schedule #nm.gemv<block = [8, 32, 128], warp = [8, 32], thread = [8, 1]>
      ins(%a, %v, %i : memref<8x128xf32>, memref<64x32xf32>, memref<64x32xi8>)
      outs(%c : memref<8x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @gemv_rows(%a: memref<8x128xf32>, %v: memref<1x16x128xf32>, %i: memref<1x2x256xi8>, %c: memref<8x32xf32>) {
  scf.forall (%n) in (1) {
    // expected-error @+1 {{expected a thread to have all 8 rows of the block for strategy gemv, but got 4}}
    nm.spmm <2:4> packing #nm.packing<panel = 32, index_bits = 2, chunk_rows = 4, index_rows = 32>
      schedule #nm.gemv<block = [8, 32, 128], warp = [4, 32], thread = [4, 1]>
      ins(%a, %v, %i : memref<8x128xf32>, memref<1x16x128xf32>, memref<1x2x256xi8>)
      outs(%c : memref<8x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @gemv_chunks(%a: memref<8x128xf32>, %v: memref<1x64x32xf32>, %i: memref<1x2x256xi8>, %c: memref<8x32xf32>) {
  scf.forall (%n) in (1) {
    // expected-error @+1 {{expected chunks of the thread's 2 columns, of a power of two of rows, and of at most 16 bytes for strategy gemv, but got}}
    nm.spmm <2:4> packing #nm.packing<panel = 32, index_bits = 2, index_rows = 32>
      schedule #nm.gemv<block = [8, 32, 128], warp = [8, 32], thread = [8, 2]>
      ins(%a, %v, %i : memref<8x128xf32>, memref<1x64x32xf32>, memref<1x2x256xi8>)
      outs(%c : memref<8x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @gemv_lists(%a: memref<8x128xf32>, %v: memref<1x12x32xf32>, %i: memref<1x12x1xi8>, %l: memref<1x12x1xi8>, %c: memref<8x32xf32>) {
  scf.forall (%n) in (1) {
    // expected-error @+1 {{expected packing without col_info for strategy gemv, but got #nm.packing<panel = 32, index_bits = 8, col_info = 32>}}
    nm.spmm <3:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8, col_info = 32>
      schedule #nm.gemv<block = [8, 32, 128], warp = [8, 32], thread = [8, 1]>
      ins(%a, %v, %i : memref<8x128xf32>, memref<1x12x32xf32>, memref<1x12x1xi8>)
      lists(%l : memref<1x12x1xi8>)
      outs(%c : memref<8x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @simt_lists(%a: memref<32x64xf32, #gpu.address_space<workgroup>>, %v: memref<2x3x32xf32, #gpu.address_space<workgroup>>,
                      %i: memref<2x3x1xi8>, %l: memref<2x3x1xi8>, %c: memref<64x64xf32>) {
  scf.forall (%n) in (1) {
    // expected-error @+1 {{expected A's tile packed by the lists of col_info, as nm-stage-shared-memory does, but got #nm.packing<panel = 32, index_bits = 8, col_info = 64>}}
    nm.spmm <3:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8, col_info = 64>
      schedule #nm.simt<block = [64, 64, 32], warp = [32, 32], thread = [8, 4]>
      ins(%a, %v, %i : memref<32x64xf32, #gpu.address_space<workgroup>>, memref<2x3x32xf32, #gpu.address_space<workgroup>>, memref<2x3x1xi8>)
      lists(%l : memref<2x3x1xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @gemv_shared_indices(%a: memref<8x128xf32>, %v: memref<1x32x64xf32>, %i: memref<1x2x256xi8>, %c: memref<8x32xf32>) {
  scf.forall (%n) in (1) {
    // expected-error @+1 {{expected the thread's 2 columns to divide the block's 1, so that they share their indices}}
    nm.spmm <2:4> packing #nm.packing<panel = 32, index_bits = 2, chunk_rows = 2, chunk_columns = 2, index_rows = 32>
      schedule #nm.gemv<block = [8, 32, 128], warp = [8, 32], thread = [8, 2]>
      ins(%a, %v, %i : memref<8x128xf32>, memref<1x32x64xf32>, memref<1x2x256xi8>)
      outs(%c : memref<8x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @on_tensors(%a: tensor<8x128xf32>, %v: tensor<1x16x128xf32>, %i: tensor<1x2x256xi8>, %c: tensor<8x32xf32>) {
  scf.forall (%n) in (1) {
    // expected-error @+1 {{expected operands to be memrefs, which bufferization makes of tensors}}
    nm.spmm <2:4> packing #nm.packing<panel = 32, index_bits = 2, chunk_rows = 4, index_rows = 32>
      schedule #nm.gemv<block = [8, 32, 128], warp = [8, 32], thread = [8, 1]>
      ins(%a, %v, %i : tensor<8x128xf32>, tensor<1x16x128xf32>, tensor<1x2x256xi8>)
      outs(%c : tensor<8x32xf32>) -> tensor<8x32xf32>
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @results(%c: tensor<32xf32>) -> tensor<32xf32> {
  // expected-error @+1 {{expected no results, which bufferization removes, but got 1}}
  %r = scf.forall (%m) in (32) shared_outs(%o = %c) -> tensor<32xf32> {
    %s = tensor.extract_slice %o[%m] [1] [1] : tensor<32xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%m] [1] [1] : tensor<1xf32> into tensor<32xf32>
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return %r : tensor<32xf32>
}

// -----

func.func @no_schedule(%a: memref<8x128xf32>, %v: memref<64x32xf32>, %i: memref<64x32xi8>, %c: memref<8x32xf32>) {
  scf.forall (%n) in (1) {
    // expected-error @+1 {{expected a schedule, but it has none}}
    nm.spmm <2:4> ins(%a, %v, %i : memref<8x128xf32>, memref<64x32xf32>, memref<64x32xi8>) outs(%c : memref<8x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @unlike(%a: memref<8x128xf32>, %v: memref<1x16x128xf32>, %i: memref<1x2x256xi8>, %c: memref<8x32xf32>) {
  scf.forall (%n) in (1) {
    // expected-note @+1 {{see the first}}
    nm.spmm <2:4> packing #nm.packing<panel = 32, index_bits = 2, chunk_rows = 4, index_rows = 32>
      schedule #nm.gemv<block = [8, 32, 128], warp = [8, 32], thread = [8, 1]>
      ins(%a, %v, %i : memref<8x128xf32>, memref<1x16x128xf32>, memref<1x2x256xi8>)
      outs(%c : memref<8x32xf32>)
    // expected-error @+1 {{expected all products of a block to have one schedule, pattern, packing and element type}}
    nm.spmm <2:4> packing #nm.packing<panel = 32, index_bits = 2, chunk_rows = 4, index_rows = 32>
      schedule #nm.gemv<block = [8, 32, 128], warp = [8, 32], thread = [8, 1], slice_k = 2>
      ins(%a, %v, %i : memref<8x128xf32>, memref<1x16x128xf32>, memref<1x2x256xi8>)
      outs(%c : memref<8x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @gemv_shared_memory(%a: memref<8x16384xf32>, %v: memref<1x2048x128xf32>, %i: memref<1x256x256xi8>, %c: memref<8x32xf32>) {
  // expected-error @+1 {{expected tiles of at most 232448 bytes of shared memory, but those of its schedule take 5}}
  scf.forall (%n) in (1) {
    nm.spmm <2:4> packing #nm.packing<panel = 32, index_bits = 2, chunk_rows = 4, index_rows = 32>
      schedule #nm.gemv<block = [8, 32, 16384], warp = [8, 32], thread = [8, 1]>
      ins(%a, %v, %i : memref<8x16384xf32>, memref<1x2048x128xf32>, memref<1x256x256xi8>)
      outs(%c : memref<8x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @simt_slices(%a: memref<128x32xf32, #gpu.address_space<workgroup>>, %v: memref<64x64xf32, #gpu.address_space<workgroup>>, %i: memref<64x64xi8, #gpu.address_space<workgroup>>, %c: memref<32x64xf32>) {
  scf.forall (%m) in (1) {
    // expected-error @+1 {{expected slice_k to divide the 64 kept units of a tile along k, but got 3}}
    nm.spmm <2:4> transpose_a schedule #nm.simt<block = [32, 64, 128], warp = [32, 32], thread = [8, 4], slice_k = 3>
      ins(%a, %v, %i : memref<128x32xf32, #gpu.address_space<workgroup>>, memref<64x64xf32, #gpu.address_space<workgroup>>, memref<64x64xi8, #gpu.address_space<workgroup>>)
      outs(%c : memref<32x64xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @no_row(%a: memref<f32>) {
  scf.forall (%b) in (4) {
    // expected-error @+1 {{expected rows of elements in blocks without a product, but got a scalar}}
    linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%a : memref<f32>) {
    ^bb0(%x: f32):
      %y = arith.addf %x, %x : f32
      linalg.yield %y : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @reduction_of_sums(%a: memref<128x32xf32, #gpu.address_space<workgroup>>, %v: memref<64x64xf32, #gpu.address_space<workgroup>>, %i: memref<64x64xi8, #gpu.address_space<workgroup>>, %c: memref<32x64xf32>, %d: memref<64xf32>) {
  scf.forall (%m) in (1) {
    nm.spmm <2:4> transpose_a schedule #nm.simt<block = [32, 64, 128], warp = [32, 32], thread = [8, 4]>
      ins(%a, %v, %i : memref<128x32xf32, #gpu.address_space<workgroup>>, memref<64x64xf32, #gpu.address_space<workgroup>>, memref<64x64xi8, #gpu.address_space<workgroup>>)
      outs(%c : memref<32x64xf32>)
    // expected-error @+1 {{expected one elementwise op after the products of a block, which takes their sums}}
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>], iterator_types = ["reduction", "parallel"]}
      ins(%c : memref<32x64xf32>) outs(%d : memref<64xf32>) {
    ^bb0(%s: f32, %t: f32):
      %y = arith.addf %s, %t : f32
      linalg.yield %y : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @not_of_sums(%a: memref<128x32xf32, #gpu.address_space<workgroup>>, %v: memref<64x64xf32, #gpu.address_space<workgroup>>, %i: memref<64x64xi8, #gpu.address_space<workgroup>>, %c: memref<32x64xf32>, %d: memref<32x64xf32>) {
  scf.forall (%m) in (1) {
    nm.spmm <2:4> transpose_a schedule #nm.simt<block = [32, 64, 128], warp = [32, 32], thread = [8, 4]>
      ins(%a, %v, %i : memref<128x32xf32, #gpu.address_space<workgroup>>, memref<64x64xf32, #gpu.address_space<workgroup>>, memref<64x64xi8, #gpu.address_space<workgroup>>)
      outs(%c : memref<32x64xf32>)
    // expected-error @+1 {{expected one elementwise op after the products of a block, which takes their sums}}
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      outs(%d : memref<32x64xf32>) {
    ^bb0(%s: f32):
      %y = arith.addf %s, %s : f32
      linalg.yield %y : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @two_outputs(%a: memref<8x128xf32>, %v: memref<1x16x128xf32>, %i: memref<1x2x256xi8>, %c: memref<8x32xf32>, %d: memref<8x32xf32>) {
  scf.forall (%n) in (1) {
    nm.spmm <2:4> packing #nm.packing<panel = 32, index_bits = 2, chunk_rows = 4, index_rows = 32>
      schedule #nm.gemv<block = [8, 32, 128], warp = [8, 32], thread = [8, 1]>
      ins(%a, %v, %i : memref<8x128xf32>, memref<1x16x128xf32>, memref<1x2x256xi8>)
      outs(%c : memref<8x32xf32>)
    // expected-error @+1 {{expected all products of a block to add to one tile of C}}
    nm.spmm <2:4> packing #nm.packing<panel = 32, index_bits = 2, chunk_rows = 4, index_rows = 32>
      schedule #nm.gemv<block = [8, 32, 128], warp = [8, 32], thread = [8, 1]>
      ins(%a, %v, %i : memref<8x128xf32>, memref<1x16x128xf32>, memref<1x2x256xi8>)
      outs(%d : memref<8x32xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @two_loops(%a: memref<8x128xf32>, %v: memref<1x16x128xf32>, %i: memref<1x2x256xi8>, %c: memref<8x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%n) in (1) {
    scf.for %j = %c0 to %c1 step %c1 {
      scf.for %k = %c0 to %c1 step %c1 {
        // expected-error @+1 {{expected at most one loop, over k, inside the blocks}}
        nm.spmm <2:4> packing #nm.packing<panel = 32, index_bits = 2, chunk_rows = 4, index_rows = 32>
      schedule #nm.gemv<block = [8, 32, 128], warp = [8, 32], thread = [8, 1]>
      ins(%a, %v, %i : memref<8x128xf32>, memref<1x16x128xf32>, memref<1x2x256xi8>)
      outs(%c : memref<8x32xf32>)
      }
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @two_generics(%a: memref<4x64xf32>) {
  // expected-error @+1 {{expected one linalg.generic in blocks without a product, but got 2}}
  scf.forall (%b) = (0) to (64) step (64) {
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} outs(%a : memref<4x64xf32>) {
    ^bb0(%x: f32):
      %y = arith.addf %x, %x : f32
      linalg.yield %y : f32
    }
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} outs(%a : memref<4x64xf32>) {
    ^bb0(%x: f32):
      %y = arith.mulf %x, %x : f32
      linalg.yield %y : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @two_results(%a: memref<1x64xf32>, %b: memref<1x64xf32>) {
  scf.forall (%i) = (0) to (64) step (64) {
    // expected-error @+1 {{expected elementwise arithmetic with one result in blocks without a product}}
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} outs(%a, %b : memref<1x64xf32>, memref<1x64xf32>) {
    ^bb0(%x: f32, %z: f32):
      %y = arith.addf %x, %z : f32
      linalg.yield %y, %x : f32, f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @four_rows(%a: memref<4x64xf32>) {
  scf.forall (%i) = (0) to (64) step (64) {
    // expected-error @+1 {{expected blocks of one row, of a constant number of columns}}
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} outs(%a : memref<4x64xf32>) {
    ^bb0(%x: f32):
      %y = arith.addf %x, %x : f32
      linalg.yield %y : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @bulk_copy_outside_of_roles(%a: memref<64xf16>) {
  scf.forall (%n) in (1) {
    %to = memref.alloc() : memref<64xf16, #gpu.address_space<workgroup>>
    // expected-error @+1 {{expected a copy that goes 'bulk' in nm.warps, where a role is}}
    %t = nm.copy <bulk> %a to %to : memref<64xf16> to memref<64xf16, #gpu.address_space<workgroup>> -> !nm.token
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @tensor_copy_outside_of_roles(%a: memref<64x64xf16>) {
  scf.forall (%n) in (1) {
    %to = memref.alloc() : memref<64x64xf16, #gpu.address_space<workgroup>>
    // expected-error @+1 {{expected a copy that goes 'tensor' in nm.warps, where a role is}}
    %t = nm.copy <tensor> %a to %to : memref<64x64xf16> to memref<64x64xf16, #gpu.address_space<workgroup>> -> !nm.token
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @step_of_blocks(%c: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expected a step of at least 1, but got 0}}
  scf.forall (%n) = (0) to (4) step (0) {
    memref.store %zero, %c[%n] : memref<4xf32>
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @step_of_k(%c: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  scf.forall (%n) in (4) {
    // expected-error @+1 {{expected a step of at least 1, but got 0}}
    scf.for %k = %c0 to %c4 step %c0 {
      memref.store %zero, %c[%k] : memref<4xf32>
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
