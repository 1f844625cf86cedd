// RUN: nm-opt %s --convert-rows-to-gpu --canonicalize | FileCheck %s

// Where the chip has clusters, their blocks share a row that is too long for one
// block, and rows that are few. Each block reads the sums of all warps, and stays
// until the others have read its own.

#rows = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>

module attributes {nm.chip = #nm.chip<"sm_90a">} {
  // CHECK-LABEL: func @long_rows
  // CHECK: gpu.launch clusters({{.*}}) in (%{{.*}} = %c2{{[_0-9]*}}, {{.*}}) blocks({{.*}}) in (%{{.*}} = %c200{{[_0-9]*}}, {{.*}}) threads({{.*}}) in (%{{.*}} = %c1024{{[_0-9]*}},
  // CHECK-NOT: scf.for
  // CHECK: nvvm.cluster.arrive
  // CHECK: nvvm.cluster.wait
  // CHECK-COUNT-2: nvvm.mapa
  // CHECK: nvvm.cluster.arrive
  // CHECK: nvvm.cluster.wait
  // CHECK: gpu.terminator
  func.func @long_rows(%x: memref<100x40000xf32>, %y: memref<100xf32>, %z: memref<100x40000xf32>) {
    linalg.reduce { arith.addf } ins(%x : memref<100x40000xf32>)
        outs(%y : memref<100xf32>) dimensions = [1]
    linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%x, %y : memref<100x40000xf32>, memref<100xf32>) outs(%z : memref<100x40000xf32>) {
    ^bb0(%a: f32, %of_row: f32, %out: f32):
      %below = arith.subf %a, %of_row : f32
      linalg.yield %below : f32
    }
    return
  }

  // CHECK-LABEL: func @one_row
  // CHECK: gpu.launch clusters({{.*}}) in (%{{.*}} = %c8{{[_0-9]*}}, {{.*}}) blocks({{.*}}) in (%{{.*}} = %c8{{[_0-9]*}},
  // CHECK-COUNT-4: vector.load {{.*}} : memref<1x128256xf16>, vector<8xf16>
  // CHECK-NOT: vector.load
  func.func @one_row(%x: memref<1x128256xf16>, %y: memref<1xf16>) {
    linalg.reduce { arith.maximumf } ins(%x : memref<1x128256xf16>)
        outs(%y : memref<1xf16>) dimensions = [1]
    return
  }

  // A thread of a block that is half as large has twice as many registers.
  // CHECK-LABEL: func @one_longer_row
  // CHECK: threads({{.*}}) in (%{{.*}} = %c512{{[_0-9]*}},
  // CHECK-COUNT-5: vector.load {{.*}} : memref<1x152064xf16>, vector<8xf16>
  // CHECK-NOT: vector.load
  func.func @one_longer_row(%x: memref<1x152064xf16>, %y: memref<1xf16>) {
    linalg.reduce { arith.maximumf } ins(%x : memref<1x152064xf16>)
        outs(%y : memref<1xf16>) dimensions = [1]
    return
  }

  // CHECK-LABEL: func @longer_rows
  // CHECK: gpu.launch clusters({{.*}}) in (%{{.*}} = %c8{{[_0-9]*}}, {{.*}}) blocks({{.*}}) in (%{{.*}} = %c256{{[_0-9]*}}, {{.*}}) threads({{.*}}) in (%{{.*}} = %c512{{[_0-9]*}},
  // CHECK-NOT: scf.for
  // CHECK: gpu.terminator
  func.func @longer_rows(%x: memref<32x151936xf16>, %y: memref<32xf16>, %z: memref<32x151936xf16>) {
    linalg.reduce { arith.maximumf } ins(%x : memref<32x151936xf16>)
        outs(%y : memref<32xf16>) dimensions = [1]
    linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%x, %y : memref<32x151936xf16>, memref<32xf16>) outs(%z : memref<32x151936xf16>) {
    ^bb0(%a: f16, %of_row: f16, %out: f16):
      %below = arith.subf %a, %of_row : f16
      linalg.yield %below : f16
    }
    return
  }

  // Rows that are reduced twice have fewer threads, which meet sooner.
  // CHECK-LABEL: func @longer_rows_twice
  // CHECK: gpu.launch clusters({{.*}}) in (%{{.*}} = %c8{{[_0-9]*}}, {{.*}}) blocks({{.*}}) in (%{{.*}} = %c256{{[_0-9]*}}, {{.*}}) threads({{.*}}) in (%{{.*}} = %c256{{[_0-9]*}},
  func.func @longer_rows_twice(%x: memref<32x151936xf16>, %y: memref<32xf16>, %z: memref<32xf16>) {
    linalg.reduce { arith.maximumf } ins(%x : memref<32x151936xf16>)
        outs(%y : memref<32xf16>) dimensions = [1]
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m)>],
                    iterator_types = ["parallel", "reduction"]}
        ins(%x, %y : memref<32x151936xf16>, memref<32xf16>) outs(%z : memref<32xf16>) {
    ^bb0(%a: f16, %most: f16, %sum: f16):
      %below = arith.subf %a, %most : f16
      %next = arith.addf %sum, %below : f16
      linalg.yield %next : f16
    }
    return
  }

  // Of many rows clusters stay: 29 have nine rows each, or eight. A thread copies
  // its accesses of the next row when it has those of this one, and each warp
  // sends its part of a sum to all blocks, which wait for parts alone. The weights
  // are copied once.
  // CHECK-LABEL: func @many_longer_rows
  // CHECK: gpu.launch clusters({{.*}}) in (%{{.*}} = %c8{{[_0-9]*}}, {{.*}}) blocks({{.*}}) in (%{{.*}} = %c232{{[_0-9]*}}, {{.*}}) threads({{.*}}) in (%{{.*}} = %c512{{[_0-9]*}},
  // CHECK-COUNT-2: nvvm.mbarrier.init
  // CHECK: nvvm.cluster.arrive
  // CHECK: nvvm.cluster.wait
  // CHECK-COUNT-5: nvgpu.device_async_copy %{{.*}} : memref<151936xf16>
  // CHECK-COUNT-5: nvgpu.device_async_copy %{{.*}} : memref<256x151936xf16>
  // CHECK: scf.for {{.*}} step %c29
  // CHECK-COUNT-5: nvvm.cp.async.wait.group 4
  // CHECK: nvvm.mbarrier.arrive.expect_tx
  // CHECK: llvm.inline_asm has_side_effects "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0], $1, [$2];"
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK-NOT: vector.load {{.*}} : memref<151936xf16>
  // CHECK: gpu.terminator
  func.func @many_longer_rows(%x: memref<256x151936xf16>, %w: memref<151936xf16>, %z: memref<256x151936xf16>) {
    %zero = arith.constant 0.0 : f16
    %y = memref.alloc() : memref<256xf16>
    linalg.fill ins(%zero : f16) outs(%y : memref<256xf16>)
    linalg.reduce { arith.addf } ins(%x : memref<256x151936xf16>)
        outs(%y : memref<256xf16>) dimensions = [1]
    linalg.generic {indexing_maps = [#rows, #row, #column, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%x, %y, %w : memref<256x151936xf16>, memref<256xf16>, memref<151936xf16>) outs(%z : memref<256x151936xf16>) {
    ^bb0(%a: f16, %of_row: f16, %weight: f16, %out: f16):
      %below = arith.subf %a, %of_row : f16
      %weighted = arith.mulf %below, %weight : f16
      linalg.yield %weighted : f16
    }
    memref.dealloc %y : memref<256xf16>
    return
  }

  // CHECK-LABEL: func @many_rows
  // CHECK: gpu.launch blocks
  func.func @many_rows(%x: memref<1000x32768xf32>, %y: memref<1000xf32>) {
    linalg.reduce { arith.addf } ins(%x : memref<1000x32768xf32>)
        outs(%y : memref<1000xf32>) dimensions = [1]
    return
  }
}
