// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --convert-nm-to-gpu --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --convert-nm-to-gpu --split-input-file

// The schedule has a cluster, but the loops do not.
func.func @no_loop(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m) in (1) {
    // expected-error @+1 {{expected clusters of 3 blocks, as its schedule has, but got 1}}
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [32, 32], thread = [4, 8], cluster_k = 3>
      ins(%a, %v, %i : memref<64x32xf32>, memref<8x16x16xf32>, memref<8x16x1xi8>) outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// The loop is over other blocks than the schedule's.
func.func @size(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %c: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m) in (1) {
    %partials = memref.alloc() : memref<3x64x128xf32>
    scf.forall (%p) in (3) {
      %pt = memref.subview %partials[%p, 0, 0] [1, 64, 128] [1, 1, 1] : memref<3x64x128xf32> to memref<64x128xf32, strided<[128, 1], offset: ?>>
      linalg.fill ins(%zero : f32) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
      // expected-error @+1 {{expected clusters of 2 blocks, as its schedule has, but got 3}}
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 32], warp = [32, 32], thread = [4, 8], cluster_k = 2>
        ins(%a, %v, %i : memref<64x32xf32>, memref<8x16x16xf32>, memref<8x16x1xi8>) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
    } {mapping = [#nm.cluster_block]}
    nm.combine ins(%partials : memref<3x64x128xf32>) outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Blocks of a cluster are no threads.
func.func @threads(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %c: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m) in (1) {
    %partials = memref.alloc() : memref<3x64x128xf32>
    // expected-error @+1 {{expected a loop inside blocks to be mapped to #nm.cluster_block, but got [#gpu.thread<x>]}}
    scf.forall (%p) in (3) {
      %pt = memref.subview %partials[%p, 0, 0] [1, 64, 128] [1, 1, 1] : memref<3x64x128xf32> to memref<64x128xf32, strided<[128, 1], offset: ?>>
      linalg.fill ins(%zero : f32) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 32], warp = [32, 32], thread = [4, 8], cluster_k = 3>
        ins(%a, %v, %i : memref<64x32xf32>, memref<8x16x16xf32>, memref<8x16x1xi8>) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
    } {mapping = [#gpu.thread<x>]}
    nm.combine ins(%partials : memref<3x64x128xf32>) outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @unmapped(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %c: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m) in (1) {
    %partials = memref.alloc() : memref<3x64x128xf32>
    // expected-error @+1 {{expected a loop inside blocks to be mapped to #nm.cluster_block, but it is mapped to nothing}}
    scf.forall (%p) in (3) {
      %pt = memref.subview %partials[%p, 0, 0] [1, 64, 128] [1, 1, 1] : memref<3x64x128xf32> to memref<64x128xf32, strided<[128, 1], offset: ?>>
      linalg.fill ins(%zero : f32) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 32], warp = [32, 32], thread = [4, 8], cluster_k = 3>
        ins(%a, %v, %i : memref<64x32xf32>, memref<8x16x16xf32>, memref<8x16x1xi8>) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
    }
    nm.combine ins(%partials : memref<3x64x128xf32>) outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @dynamic_count(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %c: memref<64x128xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m) in (1) {
    %partials = memref.alloc() : memref<3x64x128xf32>
    // expected-error @+1 {{expected a loop from 0 to a constant number of blocks, without results}}
    scf.forall (%p) in (%n) {
      %pt = memref.subview %partials[%p, 0, 0] [1, 64, 128] [1, 1, 1] : memref<3x64x128xf32> to memref<64x128xf32, strided<[128, 1], offset: ?>>
      linalg.fill ins(%zero : f32) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 32], warp = [32, 32], thread = [4, 8], cluster_k = 3>
        ins(%a, %v, %i : memref<64x32xf32>, memref<8x16x16xf32>, memref<8x16x1xi8>) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
    } {mapping = [#nm.cluster_block]}
    nm.combine ins(%partials : memref<3x64x128xf32>) outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// There is memory for more parts than blocks.
func.func @parts(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %c: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m) in (1) {
    %partials = memref.alloc() : memref<3x64x128xf32>
    scf.forall (%p) in (2) {
      %pt = memref.subview %partials[%p, 0, 0] [1, 64, 128] [1, 1, 1] : memref<3x64x128xf32> to memref<64x128xf32, strided<[128, 1], offset: ?>>
      linalg.fill ins(%zero : f32) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 32], warp = [32, 32], thread = [4, 8], cluster_k = 2>
        ins(%a, %v, %i : memref<64x32xf32>, memref<8x16x16xf32>, memref<8x16x1xi8>) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
    } {mapping = [#nm.cluster_block]}
    // expected-error @+1 {{expected partial sums in memory of the cluster's own, one for each of its 2 blocks}}
    nm.combine ins(%partials : memref<3x64x128xf32>) outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Clusters would write the same partial sums.
func.func @others(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %c: memref<64x128xf32>, %all: memref<3x64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m) in (1) {
    %partials = memref.alloc() : memref<3x64x128xf32>
    scf.forall (%p) in (3) {
      %pt = memref.subview %partials[%p, 0, 0] [1, 64, 128] [1, 1, 1] : memref<3x64x128xf32> to memref<64x128xf32, strided<[128, 1], offset: ?>>
      linalg.fill ins(%zero : f32) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 32], warp = [32, 32], thread = [4, 8], cluster_k = 3>
        ins(%a, %v, %i : memref<64x32xf32>, memref<8x16x16xf32>, memref<8x16x1xi8>) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
    } {mapping = [#nm.cluster_block]}
    // expected-error @+1 {{expected partial sums in memory of the cluster's own, one for each of its 3 blocks}}
    nm.combine ins(%all : memref<3x64x128xf32>) outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// All blocks would write the first part.
func.func @same_part(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %c: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m) in (1) {
    %partials = memref.alloc() : memref<3x64x128xf32>
    scf.forall (%p) in (3) {
      %pt = memref.subview %partials[0, 0, 0] [1, 64, 128] [1, 1, 1] : memref<3x64x128xf32> to memref<64x128xf32, strided<[128, 1], offset: 0>>
      linalg.fill ins(%zero : f32) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: 0>>)
      // expected-error @+1 {{expected to add to the part of the partial sums that its block of the cluster has}}
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 32], warp = [32, 32], thread = [4, 8], cluster_k = 3>
        ins(%a, %v, %i : memref<64x32xf32>, memref<8x16x16xf32>, memref<8x16x1xi8>) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: 0>>)
    } {mapping = [#nm.cluster_block]}
    nm.combine ins(%partials : memref<3x64x128xf32>) outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// All blocks would write C.
func.func @into_c(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %c: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m) in (1) {
    %partials = memref.alloc() : memref<3x64x128xf32>
    scf.forall (%p) in (3) {
      %pt = memref.subview %partials[%p, 0, 0] [1, 64, 128] [1, 1, 1] : memref<3x64x128xf32> to memref<64x128xf32, strided<[128, 1], offset: ?>>
      linalg.fill ins(%zero : f32) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
      // expected-error @+1 {{expected to add to the part of the partial sums that its block of the cluster has}}
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 32], warp = [32, 32], thread = [4, 8], cluster_k = 3>
        ins(%a, %v, %i : memref<64x32xf32>, memref<8x16x16xf32>, memref<8x16x1xi8>) outs(%c : memref<64x128xf32>)
    } {mapping = [#nm.cluster_block]}
    nm.combine ins(%partials : memref<3x64x128xf32>) outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @not_zero(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %c: memref<64x128xf32>) {
  %zero = arith.constant 1.0 : f32
  scf.forall (%m) in (1) {
    %partials = memref.alloc() : memref<3x64x128xf32>
    scf.forall (%p) in (3) {
      %pt = memref.subview %partials[%p, 0, 0] [1, 64, 128] [1, 1, 1] : memref<3x64x128xf32> to memref<64x128xf32, strided<[128, 1], offset: ?>>
      linalg.fill ins(%zero : f32) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
      // expected-error @+1 {{expected partial sums to be filled with zeros}}
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 32], warp = [32, 32], thread = [4, 8], cluster_k = 3>
        ins(%a, %v, %i : memref<64x32xf32>, memref<8x16x16xf32>, memref<8x16x1xi8>) outs(%pt : memref<64x128xf32, strided<[128, 1], offset: ?>>)
    } {mapping = [#nm.cluster_block]}
    nm.combine ins(%partials : memref<3x64x128xf32>) outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @no_combine(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m) in (1) {
    // expected-error @+1 {{expected one nm.combine behind it, which adds up what its blocks sum}}
    scf.forall (%p) in (3) {
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 32], warp = [32, 32], thread = [4, 8], cluster_k = 3>
        ins(%a, %v, %i : memref<64x32xf32>, memref<8x16x16xf32>, memref<8x16x1xi8>) outs(%c : memref<64x128xf32>)
    } {mapping = [#nm.cluster_block]}
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @combine_alone(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %p: memref<3x64x128xf32>, %c: memref<64x128xf32>) {
  scf.forall (%m) in (1) {
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
      schedule #nm.simt<block = [64, 128, 32], warp = [32, 32], thread = [4, 8]>
      ins(%a, %v, %i : memref<64x32xf32>, memref<8x16x16xf32>, memref<8x16x1xi8>) outs(%c : memref<64x128xf32>)
    // expected-error @+1 {{expected a loop over the blocks of a cluster, which make its partial sums}}
    nm.combine ins(%p : memref<3x64x128xf32>) outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @two_loops(%a: memref<64x32xf32>, %v: memref<8x16x16xf32>, %i: memref<8x16x1xi8>, %c: memref<64x128xf32>) {
  scf.forall (%m) in (1) {
    scf.forall (%p) in (3) {
    } {mapping = [#nm.cluster_block]}
    // expected-error @+1 {{expected at most one loop over the blocks of a cluster}}
    scf.forall (%p) in (3) {
      nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 16, index_bits = 8>
        schedule #nm.simt<block = [64, 128, 32], warp = [32, 32], thread = [4, 8], cluster_k = 3>
        ins(%a, %v, %i : memref<64x32xf32>, memref<8x16x16xf32>, memref<8x16x1xi8>) outs(%c : memref<64x128xf32>)
    } {mapping = [#nm.cluster_block]}
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// Blocks that add up partial sums in memory.
func.func @many_parts(%p: memref<65x4x256xf32>, %c: memref<4x256xf32>) {
  scf.forall (%m) in (4) {
    %pt = memref.subview %p[0, %m, 0] [65, 1, 256] [1, 1, 1] : memref<65x4x256xf32> to memref<65x1x256xf32, strided<[1024, 256, 1], offset: ?>>
    %ct = memref.subview %c[%m, 0] [1, 256] [1, 1] : memref<4x256xf32> to memref<1x256xf32, strided<[256, 1], offset: ?>>
    // expected-error @+1 {{expected a constant number of parts in 1..64 in blocks, but got 'memref<65x1x256xf32}}
    nm.combine ins(%pt : memref<65x1x256xf32, strided<[1024, 256, 1], offset: ?>>) outs(%ct : memref<1x256xf32, strided<[256, 1], offset: ?>>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @dynamic_parts(%p: memref<?x256xf32>, %c: memref<256xf32>) {
  scf.forall (%m) in (1) {
    // expected-error @+1 {{expected a constant number of parts in 1..64 in blocks, but got 'memref<?x256xf32>'}}
    nm.combine ins(%p : memref<?x256xf32>) outs(%c : memref<256xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

func.func @two_combines(%p: memref<2x256xf32>, %c: memref<256xf32>) {
  scf.forall (%m) in (1) {
    nm.combine ins(%p : memref<2x256xf32>) outs(%c : memref<256xf32>)
    // expected-error @+1 {{expected one nm.combine in blocks, but got 2}}
    nm.combine ins(%p : memref<2x256xf32>) outs(%c : memref<256xf32>)
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}

// -----

// What C had is no sum of the products that the epilogue takes.
func.func @epilogue_of_c(%p: memref<2x1x256xf32>, %c: memref<1x256xf32>) {
  scf.forall (%m) in (1) {
    // expected-error @+1 {{expected sums that an epilogue takes to start from a fill}}
    nm.combine ins(%p : memref<2x1x256xf32>) outs(%c : memref<1x256xf32>)
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} outs(%c : memref<1x256xf32>) {
    ^bb0(%x: f32):
      %y = arith.negf %x : f32
      linalg.yield %y : f32
    }
  } {mapping = [#gpu.block<linear_dim_0>]}
  return
}
