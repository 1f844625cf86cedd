// RUN: nm-opt %s --convert-attention-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// A block has 64 rows of the 4 * 96 of a head's groups, and two buffers of 64
// keys and values.

// CHECK-LABEL: func.func @rows(
// CHECK-DAG: %[[BLOCKS:.*]] = arith.constant 12 : index
// CHECK-DAG: %[[THREADS:.*]] = arith.constant 128 : index
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 32768 : i32
// CHECK: gpu.launch blocks(%[[BLOCK:.*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %[[BLOCKS]], {{.*}}) threads(%{{.*}}) in (%{{.*}} = %[[THREADS]], {{.*}}) dynamic_shared_memory_size %[[BYTES]]
// Blocks of both heads with the last rows are first, and from the fourth tile on
// those with the first rows.
// CHECK:   %[[NUMBER:.*]] = arith.index_castui %[[BLOCK]]
// CHECK:   %[[HEAD:.*]] = arith.remui %[[NUMBER]], %c2_i32
// CHECK:   %[[REST:.*]] = arith.divui %[[NUMBER]], %c2_i32
// CHECK:   %[[TURN:.*]] = arith.remui %[[REST]], %c6_i32
// CHECK:   %[[BACK:.*]] = arith.subi %c5_i32, %[[TURN]]
// CHECK:   %[[IS_BACK:.*]] = arith.cmpi ult, %[[TURN]], %c3_i32
// CHECK:   %[[FORTH:.*]] = arith.subi %[[TURN]], %c3_i32
// CHECK:   arith.select %[[IS_BACK]], %[[BACK]], %[[FORTH]]
// CHECK:   vector.load {{.*}} {alignment = 4 : i64} : memref<2x4x96x64xf16>, vector<2xf16>
// CHECK:   nvgpu.device_async_copy {{.*}}, 8, %{{.*}} {bypassL1}
// CHECK:   scf.for
// CHECK:     nvvm.cp.async.wait.group 0
// CHECK:     gpu.barrier
// CHECK:     nvgpu.ldmatrix
// CHECK-COUNT-32: nvvm.mma.sync
// The keys that come later than a row.
// CHECK:     arith.cmpi ult
// CHECK:     llvm.inline_asm "ex2.approx.ftz.f32
// CHECK:     nvgpu.ldmatrix {{.*}}transpose = true
// CHECK:   arith.divf
// CHECK:   vector.store
// CHECK-NOT: nm.attention
func.func @rows(%q: memref<2x4x96x64xf16>, %k: memref<2x100x64xf16>, %v: memref<2x100x48xf16>,
                %o: memref<2x4x96x48xf16>) {
  nm.attention indexing_maps = [affine_map<(h, g, m, n, d, e) -> (h, g, m, d)>, affine_map<(h, g, m, n, d, e) -> (h, n, d)>,
                                affine_map<(h, g, m, n, d, e) -> (h, n, e)>, affine_map<(h, g, m, n, d, e) -> (h, g, m, e)>]
    scale = 0.125 causal
    ins(%q, %k, %v : memref<2x4x96x64xf16>, memref<2x100x64xf16>, memref<2x100x48xf16>)
    outs(%o : memref<2x4x96x48xf16>)
  return
}

// -----

// Of a step of decoding blocks have 16 parts of the keys, and a kernel adds them
// up.

// CHECK-LABEL: func.func @decode(
// CHECK-DAG: %[[BLOCKS:.*]] = arith.constant 128 : index
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 32 : index
// CHECK: memref.alloc
// CHECK: gpu.launch blocks(%{{.*}}) in (%{{.*}} = %[[BLOCKS]],
// CHECK:   gpu.terminator
// CHECK: gpu.launch blocks(%{{.*}}) in (%{{.*}} = %[[ROWS]],
// CHECK:   gpu.shuffle idx
// CHECK:   memref.store {{.*}} : memref<8x4x1x128xf16>
// CHECK: memref.dealloc
func.func @decode(%q: memref<8x4x1x128xf16>, %k: memref<8x2048x128xf16>, %v: memref<8x2048x128xf16>,
                  %o: memref<8x4x1x128xf16>) {
  nm.attention indexing_maps = [affine_map<(h, g, m, n, d, e) -> (h, g, m, d)>, affine_map<(h, g, m, n, d, e) -> (h, n, d)>,
                                affine_map<(h, g, m, n, d, e) -> (h, n, e)>, affine_map<(h, g, m, n, d, e) -> (h, g, m, e)>]
    scale = 0.125
    ins(%q, %k, %v : memref<8x4x1x128xf16>, memref<8x2048x128xf16>, memref<8x2048x128xf16>)
    outs(%o : memref<8x4x1x128xf16>)
  return
}

// -----

// Of more rows, too, where heads are few: 32 blocks have tiles of rows, and
// eight times as many parts of 256 keys.

// CHECK-LABEL: func.func @few_heads(
// CHECK-DAG: %[[BLOCKS:.*]] = arith.constant 256 : index
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 1600 : index
// CHECK: memref.alloc
// CHECK: gpu.launch blocks(%{{.*}}) in (%{{.*}} = %[[BLOCKS]],
// CHECK:   vector.store {{.*}} : memref<8x1600x64xf32>, vector<2xf32>
// CHECK-NOT: vector<2xf16>
// CHECK:   gpu.terminator
// CHECK: gpu.launch blocks(%{{.*}}) in (%{{.*}} = %[[ROWS]],
// CHECK:   memref.store {{.*}} : memref<8x2x100x64xf16>
func.func @few_heads(%q: memref<8x2x100x64xf16>, %k: memref<8x2048x64xf16>, %v: memref<8x2048x64xf16>,
                     %o: memref<8x2x100x64xf16>) {
  nm.attention indexing_maps = [affine_map<(h, g, m, n, d, e) -> (h, g, m, d)>, affine_map<(h, g, m, n, d, e) -> (h, n, d)>,
                                affine_map<(h, g, m, n, d, e) -> (h, n, e)>, affine_map<(h, g, m, n, d, e) -> (h, g, m, e)>]
    scale = 0.125
    ins(%q, %k, %v : memref<8x2x100x64xf16>, memref<8x2048x64xf16>, memref<8x2048x64xf16>)
    outs(%o : memref<8x2x100x64xf16>)
  return
}

// -----

// Of at most 128 keys there is one part, and no kernel adds parts up. Warps copy
// keys of their own, and wait for no others.

// CHECK-LABEL: func.func @few_keys(
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch
// CHECK:   scf.for
// CHECK-NOT: gpu.barrier
// CHECK:   nvvm.bar.warp.sync
// CHECK-NOT: gpu.barrier
// CHECK:   nvvm.mma.sync
// CHECK:   arith.divf
// CHECK:   memref.store {{.*}} : memref<8x4x1x48xf16>
// CHECK:   gpu.terminator
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @few_keys(%q: memref<8x4x1x128xf16>, %k: memref<8x128x128xf16>, %v: memref<8x128x48xf16>,
                    %o: memref<8x4x1x48xf16>) {
  nm.attention indexing_maps = [affine_map<(h, g, m, n, d, e) -> (h, g, m, d)>, affine_map<(h, g, m, n, d, e) -> (h, n, d)>,
                                affine_map<(h, g, m, n, d, e) -> (h, n, e)>, affine_map<(h, g, m, n, d, e) -> (h, g, m, e)>]
    scale = 0.125
    ins(%q, %k, %v : memref<8x4x1x128xf16>, memref<8x128x128xf16>, memref<8x128x48xf16>)
    outs(%o : memref<8x4x1x48xf16>)
  return
}

// -----

// Of wide results a warp has 32 rows where there are so many, whose queries each
// lane keeps in shared memory.

// CHECK-LABEL: func.func @wide(
// CHECK-DAG: %[[BLOCKS:.*]] = arith.constant 512 : index
// CHECK-DAG: %[[STEP:.*]] = arith.constant 48 : i32
// CHECK: gpu.launch blocks(%{{.*}}) in (%{{.*}} = %[[BLOCKS]],
// CHECK:   vector.store {{.*}} : memref<16x128x4xi32, #gpu.address_space<workgroup>>, vector<4xi32>
// CHECK:   scf.for {{.*}} step %[[STEP]]
// CHECK:     vector.load {{.*}} : memref<16x128x4xi32, #gpu.address_space<workgroup>>, vector<4xi32>
// CHECK-COUNT-96: nvvm.mma.sync
// CHECK:     llvm.inline_asm "ex2.approx.ftz.f32
func.func @wide(%q: memref<8x8192x128xf16>, %k: memref<8x100x128xf16>, %v: memref<8x100x128xf16>,
                %o: memref<8x8192x128xf16>) {
  nm.attention indexing_maps = [affine_map<(h, m, n, d, e) -> (h, m, d)>, affine_map<(h, m, n, d, e) -> (h, n, d)>,
                                affine_map<(h, m, n, d, e) -> (h, n, e)>, affine_map<(h, m, n, d, e) -> (h, m, e)>]
    scale = 0.125
    ins(%q, %k, %v : memref<8x8192x128xf16>, memref<8x100x128xf16>, memref<8x100x128xf16>)
    outs(%o : memref<8x8192x128xf16>)
  return
}

// -----

// With wgmma a warpgroup has 64 rows. The scores of a tile, and products of the
// exponentials of the tile before and its values, are on their way together;
// behind the loop are the products of the last tile.

module attributes {nm.chip = #nm.chip<"sm_90a">} {
// CHECK-LABEL: func.func @warpgroup(
// CHECK-DAG: %[[THREADS:.*]] = arith.constant 128 : index
// CHECK-DAG: %[[BYTES:.*]] = arith.constant 49152 : i32
// CHECK: gpu.launch {{.*}} threads(%{{.*}}) in (%{{.*}} = %[[THREADS]], {{.*}}) dynamic_shared_memory_size %[[BYTES]]
// CHECK:     nvvm.fence.proxy
// CHECK:     gpu.barrier
// CHECK-COUNT-8: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK:     nvvm.wgmma.wait.group.sync.aligned 0
// CHECK:     llvm.inline_asm "ex2.approx.ftz.f32
// CHECK:     scf.for
// CHECK:       nvvm.cp.async.wait.group 0
// CHECK:       nvvm.fence.proxy
// CHECK:       gpu.barrier
// CHECK:       nvvm.wgmma.fence.aligned
// CHECK-COUNT-8: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK:       nvvm.wgmma.commit.group.sync.aligned
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n48k16.f32.f16.f16 {{.*}}, 1, 1, 1; }"
// CHECK:       nvvm.wgmma.commit.group.sync.aligned
// CHECK:       nvvm.wgmma.wait.group.sync.aligned 1
// CHECK:       llvm.inline_asm "ex2.approx.ftz.f32
// CHECK:       nvvm.wgmma.wait.group.sync.aligned 0
// CHECK:       scf.yield
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n48k16
// CHECK-NOT: wgmma.mma_async
// CHECK-NOT: nm.attention
func.func @warpgroup(%q: memref<2x100x128xf16>, %k: memref<2x300x128xf16>, %v: memref<2x300x48xf16>,
                     %o: memref<2x100x48xf16>) {
  nm.attention indexing_maps = [affine_map<(h, m, n, d, e) -> (h, m, d)>, affine_map<(h, m, n, d, e) -> (h, n, d)>,
                                affine_map<(h, m, n, d, e) -> (h, n, e)>, affine_map<(h, m, n, d, e) -> (h, m, e)>]
    scale = 0.125
    ins(%q, %k, %v : memref<2x100x128xf16>, memref<2x300x128xf16>, memref<2x300x48xf16>)
    outs(%o : memref<2x100x48xf16>)
  return
}

// At most 16 rows are a warp's, whatever the chip is.

// CHECK-LABEL: func.func @few(
// CHECK-NOT: wgmma
// CHECK: nvvm.mma.sync
func.func @few(%q: memref<2x16x64xf16>, %k: memref<2x300x64xf16>, %v: memref<2x300x64xf16>,
               %o: memref<2x16x64xf16>) {
  nm.attention indexing_maps = [affine_map<(h, m, n, d, e) -> (h, m, d)>, affine_map<(h, m, n, d, e) -> (h, n, d)>,
                                affine_map<(h, m, n, d, e) -> (h, n, e)>, affine_map<(h, m, n, d, e) -> (h, m, e)>]
    scale = 0.125
    ins(%q, %k, %v : memref<2x16x64xf16>, memref<2x300x64xf16>, memref<2x300x64xf16>)
    outs(%o : memref<2x16x64xf16>)
  return
}
}

// -----

// A block's loop ends at its batch's length, of all kernels, and blocks of few
// rows share the keys before it.

module attributes {nm.chip = #nm.chip<"sm_90a">} {
// CHECK-LABEL: func.func @lengths(
// CHECK-SAME: %[[L:[a-z0-9]+]]: memref<2xi64>
// CHECK: gpu.launch
// CHECK: %[[LENGTH:.*]] = memref.load %[[L]][
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[LENGTH]] : i64 to index
// CHECK: %[[NOT_LESS:.*]] = arith.maxsi %[[INDEX]]
// CHECK: %[[END:.*]] = arith.minui %[[NOT_LESS]]
// CHECK: %[[END_I32:.*]] = arith.index_castui %[[END]] : index to i32
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END_I32]]
func.func @lengths(%q: memref<2x100x64xf16>, %k: memref<2x300x64xf16>, %l: memref<2xi64>, %o: memref<2x100x64xf16>) {
  nm.attention indexing_maps = [affine_map<(h, m, n, d, e) -> (h, m, d)>, affine_map<(h, m, n, d, e) -> (h, n, d)>,
                                affine_map<(h, m, n, d, e) -> (h, n, e)>, affine_map<(h, m, n, d, e) -> (h)>,
                                affine_map<(h, m, n, d, e) -> (h, m, e)>]
    scale = 0.125
    ins(%q, %k, %k : memref<2x100x64xf16>, memref<2x300x64xf16>, memref<2x300x64xf16>)
    lengths(%l : memref<2xi64>) outs(%o : memref<2x100x64xf16>)
  return
}
}

// -----

// Where sizes are not known, the host counts the parts of the keys. It launches
// a kernel whose blocks share keys and another that adds the parts up, or one
// kernel that stores the results.

module attributes {nm.chip = #nm.chip<"sm_90a">} {
// CHECK-LABEL: func.func @unknown(
// CHECK: %[[PARTS:.*]] = arith.select
// CHECK: %[[SEVERAL:.*]] = arith.cmpi ugt, %[[PARTS]], %c1
// CHECK: scf.if %[[SEVERAL]] {
// CHECK: memref.alloc(%[[PARTS]], %{{.*}}) {{.*}}: memref<?x?x64xf32>
// CHECK-COUNT-2: gpu.launch
// CHECK: } else {
// CHECK: gpu.launch
// CHECK-NOT: gpu.launch
// CHECK-LABEL: func.func @unknown_keys_of_many_heads(
// CHECK-NOT: scf.if
// CHECK: gpu.launch
// CHECK-NOT: gpu.launch
func.func @unknown(%q: memref<8x?x64xf16>, %k: memref<8x?x64xf16>, %o: memref<8x?x64xf16>) {
  nm.attention indexing_maps = [affine_map<(h, m, n, d, e) -> (h, m, d)>, affine_map<(h, m, n, d, e) -> (h, n, d)>,
                                affine_map<(h, m, n, d, e) -> (h, n, e)>, affine_map<(h, m, n, d, e) -> (h, m, e)>]
    scale = 0.125
    ins(%q, %k, %k : memref<8x?x64xf16>, memref<8x?x64xf16>, memref<8x?x64xf16>) outs(%o : memref<8x?x64xf16>)
  return
}
func.func @unknown_keys_of_many_heads(%q: memref<133x64x64xf16>, %k: memref<133x?x64xf16>, %o: memref<133x64x64xf16>) {
  nm.attention indexing_maps = [affine_map<(h, m, n, d, e) -> (h, m, d)>, affine_map<(h, m, n, d, e) -> (h, n, d)>,
                                affine_map<(h, m, n, d, e) -> (h, n, e)>, affine_map<(h, m, n, d, e) -> (h, m, e)>]
    scale = 0.125
    ins(%q, %k, %k : memref<133x64x64xf16>, memref<133x?x64xf16>, memref<133x?x64xf16>) outs(%o : memref<133x64x64xf16>)
  return
}
}
