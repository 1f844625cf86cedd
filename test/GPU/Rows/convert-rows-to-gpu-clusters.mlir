// RUN: nm-opt %s --convert-rows-to-gpu --canonicalize | FileCheck %s

// Where the chip has clusters, their blocks share a row that is too long for one
// block, and rows that are few. Each block reads the sums of all warps, and stays
// until the others have read its own.

#rows = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

module attributes {nm.chip = #nm.chip<"sm_90a">} {
  // CHECK-LABEL: func @long_rows
  // CHECK: gpu.launch clusters({{.*}}) in (%{{.*}} = %c2{{[_0-9]*}}, {{.*}}) blocks({{.*}}) in (%{{.*}} = %c2000{{[_0-9]*}}, {{.*}}) threads({{.*}}) in (%{{.*}} = %c1024{{[_0-9]*}},
  // CHECK-NOT: scf.for
  // CHECK: nvvm.cluster.arrive
  // CHECK: nvvm.cluster.wait
  // CHECK-COUNT-2: nvvm.mapa
  // CHECK: nvvm.cluster.arrive
  // CHECK: nvvm.cluster.wait
  // CHECK: gpu.terminator
  func.func @long_rows(%x: memref<1000x40000xf32>, %y: memref<1000xf32>, %z: memref<1000x40000xf32>) {
    linalg.reduce { arith.addf } ins(%x : memref<1000x40000xf32>)
        outs(%y : memref<1000xf32>) dimensions = [1]
    linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%x, %y : memref<1000x40000xf32>, memref<1000xf32>) outs(%z : memref<1000x40000xf32>) {
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

  // CHECK-LABEL: func @many_longer_rows
  // CHECK: gpu.launch clusters({{.*}}) in (%{{.*}} = %c8{{[_0-9]*}}, {{.*}}) blocks({{.*}}) in (%{{.*}} = %c2048{{[_0-9]*}}, {{.*}}) threads({{.*}}) in (%{{.*}} = %c512{{[_0-9]*}},
  func.func @many_longer_rows(%x: memref<256x151936xf16>, %y: memref<256xf16>, %z: memref<256x151936xf16>) {
    linalg.reduce { arith.maximumf } ins(%x : memref<256x151936xf16>)
        outs(%y : memref<256xf16>) dimensions = [1]
    linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%x, %y : memref<256x151936xf16>, memref<256xf16>) outs(%z : memref<256x151936xf16>) {
    ^bb0(%a: f16, %of_row: f16, %out: f16):
      %below = arith.subf %a, %of_row : f16
      linalg.yield %below : f16
    }
    return
  }

  // Rows that are reduced twice have fewer threads, which meet sooner.
  // CHECK-LABEL: func @many_longer_rows_twice
  // CHECK: gpu.launch clusters({{.*}}) in (%{{.*}} = %c8{{[_0-9]*}}, {{.*}}) blocks({{.*}}) in (%{{.*}} = %c2048{{[_0-9]*}}, {{.*}}) threads({{.*}}) in (%{{.*}} = %c256{{[_0-9]*}},
  func.func @many_longer_rows_twice(%x: memref<256x151936xf16>, %y: memref<256xf16>, %z: memref<256xf16>) {
    linalg.reduce { arith.maximumf } ins(%x : memref<256x151936xf16>)
        outs(%y : memref<256xf16>) dimensions = [1]
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m)>],
                    iterator_types = ["parallel", "reduction"]}
        ins(%x, %y : memref<256x151936xf16>, memref<256xf16>) outs(%z : memref<256xf16>) {
    ^bb0(%a: f16, %most: f16, %sum: f16):
      %below = arith.subf %a, %most : f16
      %next = arith.addf %sum, %below : f16
      linalg.yield %next : f16
    }
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
