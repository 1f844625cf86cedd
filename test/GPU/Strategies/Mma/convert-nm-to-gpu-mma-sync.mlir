// RUN: nm-opt %s --nm-attach-chip=chip=sm_86 --nm-stage-shared-memory --nm-pipeline-copies --convert-nm-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// A warp of 32 x 32 of two stages. The positions of the tile after the next come
// to registers before the barrier. Behind it each square of A is multiplied that
// the step before has, of the tile before at first, and then loaded for the
// step, the copies of the next tile among them; the last step's are multiplied
// behind the loop. C is row-major: rows of A are the 16 of a product.
// CHECK-LABEL: func.func @two_stages
// CHECK: gpu.launch blocks
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: gpu.barrier
// CHECK-COUNT-2: nvgpu.ldmatrix {{.*}} {numTiles = 4 : i32, transpose = true} : memref<{{.*}}xf16, {{.*}}#gpu.address_space<workgroup>> -> vector<4x2xf16>
// CHECK-COUNT-4: nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[{{.*}}] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
// CHECK-NOT: nvvm.mma.sync
// CHECK: nvgpu.ldmatrix
// CHECK-COUNT-4: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: nvgpu.ldmatrix
// CHECK: nvgpu.device_async_copy
// CHECK: nvvm.cp.async.commit.group
// CHECK: memref.load %{{.*}} : memref<2x32x1xi8, strided<[128, 1, 1], offset: ?>>
// CHECK-COUNT-2: nvgpu.ldmatrix
// CHECK-COUNT-4: nvvm.mma.sync
// CHECK: nvgpu.ldmatrix
// CHECK-COUNT-4: nvvm.mma.sync
// CHECK: nvgpu.ldmatrix
// CHECK-NOT: nvvm.mma.sync
// CHECK: scf.yield
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-COUNT-24: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// Lanes exchange pairs of sums of two matrices side by side, so that each stores
// four neighbours, rounded, and four lanes sixteen; the row eight further on
// follows.
// CHECK: nvvm.shfl.sync bfly
// CHECK: arith.truncf %{{.*}} : vector<4xf32> to vector<4xf16>
// CHECK: vector.store %{{.*}}, %{{.*}}[%{{.*}}, %[[COLUMN:.*]]] {alignment = 8 : i64} : memref<64x64xf16>, vector<4xf16>
// CHECK: vector.store %{{.*}}, %{{.*}}[%{{.*}}, %[[COLUMN]]] {alignment = 8 : i64} : memref<64x64xf16>, vector<4xf16>
func.func @two_stages(%a: memref<256x64xf16>, %v: memref<2x128x32xf16>, %i: memref<2x128x1xi8>, %c: memref<64x64xf16>) {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f16) outs(%c : memref<64x64xf16>)
    scf.for %k = %c0 to %c256 step %c64 {
      %w = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%k)
      %at = memref.subview %a[%k, 0] [64, 64] [1, 1] : memref<256x64xf16> to memref<64x64xf16, strided<[64, 1], offset: ?>>
      %vt = memref.subview %v[0, %w, 0] [2, 32, 32] [1, 1, 1] : memref<2x128x32xf16> to memref<2x32x32xf16, strided<[4096, 32, 1], offset: ?>>
      %it = memref.subview %i[0, %w, 0] [2, 32, 1] [1, 1, 1] : memref<2x128x1xi8> to memref<2x32x1xi8, strided<[128, 1, 1], offset: ?>>
      nm.spmm <16:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8>
        schedule #nm.mma_sync<block = [64, 64, 64], warp = [32, 32], stages = 2>
        ins(%at, %vt, %it : memref<64x64xf16, strided<[64, 1], offset: ?>>, memref<2x32x32xf16, strided<[4096, 32, 1], offset: ?>>, memref<2x32x1xi8, strided<[128, 1, 1], offset: ?>>)
        outs(%c : memref<64x64xf16>)
    }
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Of 4 windows of 3:20 the tile keeps 12 rows: both operands' words of k 12 to
// 15 are cleared, so that nothing that stands there in A counts. C is
// transposed: columns of the weights are the 16 of a product. Words of bf16 are
// bits.
// CHECK-LABEL: func.func @filled_up
// CHECK: gpu.launch blocks
// CHECK-COUNT-4: nvgpu.ldmatrix
// CHECK: arith.andi %{{.*}}, %{{.*}} : i32
// CHECK: nvvm.mma.sync {{.*}} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
// CHECK: vector.store %{{.*}} {alignment = 16 : i64} : memref<64x64xf32>, vector<4xf32>
func.func @filled_up(%a: memref<80x64xbf16>, %v: memref<2x12x32xbf16>, %i: memref<2x12x1xi8>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
    nm.spmm <3:20, block = 1x32> transpose_a transpose_c packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.mma_sync<block = [64, 64, 80], warp = [32, 32]>
      ins(%a, %v, %i : memref<80x64xbf16>, memref<2x12x32xbf16>, memref<2x12x1xi8>)
      outs(%c : memref<64x64xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Units of 8 columns: two share the square of their weights, and each has
// fragments of A of its own, which are always the 16 rows of a product. Where C
// is transposed, lanes transpose their sums.
// CHECK-LABEL: func.func @narrow
// CHECK: gpu.launch blocks
// CHECK-COUNT-2: nvgpu.ldmatrix
// CHECK-COUNT-4: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: nvvm.shfl.sync idx
// CHECK: nvvm.shfl.sync bfly
// CHECK: vector.store
func.func @narrow(%a: memref<32x16xf16>, %v: memref<2x32x8xf16>, %i: memref<2x32x1xi8>, %c: memref<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<16x16xf32>)
    nm.spmm <32:32, block = 1x8> transpose_a transpose_c packing #nm.packing<panel = 8, index_bits = 8>
      schedule #nm.mma_sync<block = [16, 16, 32], warp = [16, 16]>
      ins(%a, %v, %i : memref<32x16xf16>, memref<2x32x8xf16>, memref<2x32x1xi8>)
      outs(%c : memref<16x16xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// -----

// Weights in chunks: a lane loads four kept rows of a column of two windows at
// once, two squares' worth, and all positions of a window. Words of two windows
// are joined to the fragments' pairs of k.
// CHECK-LABEL: func.func @in_place
// CHECK: gpu.launch blocks
// CHECK: vector.load %{{.*}} {alignment = 4 : i64} : memref<1x8x4xi8>, vector<4xi8>
// CHECK-COUNT-8: vector.load %{{.*}} {alignment = 8 : i64} : memref<1x8x128xf16>, vector<4xf16>
// CHECK: gpu.barrier
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 2] : vector<2xi16>, vector<2xi16>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [1, 3] : vector<2xi16>, vector<2xi16>
// CHECK: nvgpu.ldmatrix
// CHECK-COUNT-4: nvvm.mma.sync
// CHECK: nvgpu.ldmatrix
// CHECK-NOT: nvgpu.ldmatrix
// CHECK-COUNT-4: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: gpu.terminator
func.func @in_place(%a: memref<64x16xf16>, %v: memref<1x8x128xf16>, %i: memref<1x8x4xi8>, %c: memref<16x32xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%m, %n) in (1, 1) {
    linalg.fill ins(%zero : f32) outs(%c : memref<16x32xf32>)
    nm.spmm <4:8, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8, chunk_rows = 4, index_rows = 4>
      schedule #nm.mma_sync<block = [16, 32, 64], warp = [16, 32]>
      ins(%a, %v, %i : memref<64x16xf16>, memref<1x8x128xf16>, memref<1x8x4xi8>)
      outs(%c : memref<16x32xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}

// Of a row-major tile of A a lane names one kept k of 16, and gets those of four
// lanes, of which it has elements of two rows each.
// CHECK-LABEL: func.func @row_major
// CHECK: gpu.launch
// CHECK-COUNT-4: nvvm.shfl.sync  idx
// CHECK-COUNT-8: memref.load %{{.*}} : memref<512xf16
// CHECK-COUNT-4: nvvm.mma.sync
func.func @row_major(%a: memref<16x32xf16>, %v: memref<1x16x32xf16>, %i: memref<1x16x1xi8>, %c: memref<16x32xf32>) {
  scf.forall (%m, %n) in (1, 1) {
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8>
      schedule #nm.mma_sync<block = [16, 32, 32], warp = [16, 32]>
      ins(%a, %v, %i : memref<16x32xf16>, memref<1x16x32xf16>, memref<1x16x1xi8>)
      outs(%c : memref<16x32xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
