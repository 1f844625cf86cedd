// RUN: nm-opt %s --split-input-file --convert-rows-to-gpu --canonicalize | FileCheck %s

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

// An RMS norm with the residual add before it: a block has a row, and a thread
// one access of 16 bytes of it. Loads come first, of weights too. Only the sum
// is not stored, which nothing else uses.

// CHECK-LABEL: func @rms_norm
// CHECK-SAME: %[[X:.*]]: memref<512x4096xf16>, %[[R:.*]]: memref<512x4096xf16>, %[[W:.*]]: memref<4096xf16>, %[[H:.*]]: memref<512x4096xf16>, %[[Y:.*]]: memref<512x4096xf16>
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c512{{[_0-9]*}}, {{.*}}threads({{.*}}) in (%{{.*}} = %c512
// CHECK-DAG: vector.load %[[X]]{{.*}} {alignment = 16 : i64} : memref<512x4096xf16>, vector<8xf16>
// CHECK-DAG: vector.load %[[R]]
// CHECK-DAG: vector.load %[[W]]
// CHECK: vector.store {{.*}}, %[[H]]
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK: memref.load {{.*}} #gpu.address_space<workgroup>
// CHECK-COUNT-4: gpu.shuffle xor
// CHECK-NOT: vector.load
// CHECK: math.rsqrt {{.*}} : f32
// CHECK: vector.store {{.*}}, %[[Y]]
// CHECK-NOT: gpu.launch
func.func @rms_norm(%x: memref<512x4096xf16>, %r: memref<512x4096xf16>,
                    %w: memref<4096xf16>, %h: memref<512x4096xf16>,
                    %y: memref<512x4096xf16>) {
  %zero = arith.constant 0.0 : f32
  %size = arith.constant 4096.0 : f32
  linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : memref<512x4096xf16>, memref<512x4096xf16>)
      outs(%h : memref<512x4096xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %s = arith.addf %a, %b : f16
    linalg.yield %s : f16
  }
  %sum = memref.alloc() : memref<512xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<512xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%h : memref<512x4096xf16>) outs(%sum : memref<512xf32>) {
  ^bb0(%a: f16, %out: f32):
    %e = arith.extf %a : f16 to f32
    %p = arith.mulf %e, %e : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%h, %sum, %w : memref<512x4096xf16>, memref<512xf32>, memref<4096xf16>)
      outs(%y : memref<512x4096xf16>) {
  ^bb0(%a: f16, %b: f32, %c: f16, %out: f16):
    %d = arith.divf %b, %size : f32
    %q = math.rsqrt %d : f32
    %e = arith.extf %a : f16 to f32
    %f = arith.extf %c : f16 to f32
    %p = arith.mulf %e, %q : f32
    %o = arith.mulf %p, %f : f32
    %t = arith.truncf %o : f32 to f16
    linalg.yield %t : f16
  }
  memref.dealloc %sum : memref<512xf32>
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// A softmax of many short rows: 8 lanes have one, and a warp four. The array of
// exponentials is not stored; there is no barrier.

// CHECK-LABEL: func @softmax
// CHECK-NOT: memref.alloc
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c62500{{[_0-9]*}}, {{.*}}threads({{.*}}) in (%{{.*}} = %c128
// CHECK: %[[LOADED:.*]] = vector.load %{{.*}} : memref<1000000x64xf16>, vector<8xf16>
// CHECK: arith.maximumf
// CHECK-COUNT-3: gpu.shuffle xor
// CHECK: math.exp {{.*}} : vector<8xf32>
// CHECK-COUNT-3: gpu.shuffle xor
// CHECK-NOT: gpu.barrier
// CHECK: arith.divf {{.*}} : vector<8xf32>
// CHECK: vector.store
// CHECK-NOT: gpu.launch
func.func @softmax(%x: memref<1000000x64xf16>, %y: memref<1000000x64xf16>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFC00 : f16
  %max = memref.alloc() : memref<1000000xf16>
  linalg.fill ins(%least : f16) outs(%max : memref<1000000xf16>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<1000000x64xf16>) outs(%max : memref<1000000xf16>) {
  ^bb0(%a: f16, %out: f16):
    %m = arith.maximumf %a, %out : f16
    linalg.yield %m : f16
  }
  %e = memref.alloc() : memref<1000000x64xf32>
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : memref<1000000x64xf16>, memref<1000000xf16>)
      outs(%e : memref<1000000x64xf32>) {
  ^bb0(%a: f16, %b: f16, %out: f32):
    %s = arith.subf %a, %b : f16
    %f = arith.extf %s : f16 to f32
    %p = math.exp %f : f32
    linalg.yield %p : f32
  }
  %sum = memref.alloc() : memref<1000000xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<1000000xf32>)
  linalg.reduce { arith.addf } ins(%e : memref<1000000x64xf32>)
      outs(%sum : memref<1000000xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : memref<1000000x64xf32>, memref<1000000xf32>)
      outs(%y : memref<1000000x64xf16>) {
  ^bb0(%a: f32, %b: f32, %out: f16):
    %q = arith.divf %a, %b : f32
    %t = arith.truncf %q : f32 to f16
    linalg.yield %t : f16
  }
  memref.dealloc %max : memref<1000000xf16>
  memref.dealloc %e : memref<1000000x64xf32>
  memref.dealloc %sum : memref<1000000xf32>
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// A row that registers have no room for is read in loops; what the sum is stored
// to keeps it. Lanes beyond rows of odd length add nothing.

// CHECK-LABEL: func @long_rows
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c3, {{.*}}threads({{.*}}) in (%{{.*}} = %c1024
// CHECK: scf.for %{{.*}} = %{{.*}} to %c36864 step %c4096 iter_args(%{{.*}} = %{{.*}}) -> (f32)
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-NEXT: memref.store {{.*}} : memref<3xf32>

// CHECK-LABEL: func @odd_rows
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c128
// CHECK-COUNT-2: memref.load %{{.*}} : memref<300000x33xf32>
// CHECK: arith.select %{{.*}}, %{{.*}}, %cst{{.*}} : f32
// CHECK-COUNT-5: gpu.shuffle xor
func.func @long_rows(%x: memref<3x40001xf32>, %y: memref<3xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<3x40001xf32>)
      outs(%y : memref<3xf32>) dimensions = [1]
  return
}
func.func @odd_rows(%x: memref<300000x33xf32>, %y: memref<300000xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<300000x33xf32>)
      outs(%y : memref<300000xf32>) dimensions = [1]
  return
}

// -----

// Of rows of unknown length, or at an unknown offset, one of two kernels runs.

// CHECK-LABEL: func @unknown
// CHECK-SAME: %[[X:.*]]: memref<?x?xf32, strided<[?, 1], offset: ?>>
// CHECK: %[[WIDE:.*]] = arith.cmpi eq
// CHECK: scf.if %[[WIDE]] {
// CHECK: gpu.launch
// CHECK: vector.load %[[X]]{{.*}}, vector<4xf32>
// CHECK: } else {
// CHECK: gpu.launch
// CHECK-NOT: vector.load
// CHECK: memref.load %[[X]]
func.func @unknown(%x: memref<?x?xf32, strided<[?, 1], offset: ?>>, %y: memref<?xf32>) {
  linalg.reduce { arith.maximumf } ins(%x : memref<?x?xf32, strided<[?, 1], offset: ?>>)
      outs(%y : memref<?xf32>) dimensions = [1]
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// Elementwise ops have accesses as wide; of rows of 12 elements, eight bytes.

// CHECK-LABEL: func @elementwise
// CHECK: gpu.launch
// CHECK: vector.load {{.*}} : memref<128x96xf16>, vector<8xf16>
// CHECK: vector.load {{.*}} : memref<96xf32>, vector<8xf32>
// CHECK: vector.store {{.*}} {alignment = 16 : i64} : memref<128x96xf32>, vector<8xf32>

// CHECK-LABEL: func @short
// CHECK: vector.load {{.*}} {alignment = 8 : i64} : memref<128x12xf16>, vector<4xf16>
func.func @elementwise(%x: memref<128x96xf16>, %b: memref<96xf32>, %y: memref<128x96xf32>) {
  linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : memref<128x96xf16>, memref<96xf32>) outs(%y : memref<128x96xf32>) {
  ^bb0(%a: f16, %c: f32, %out: f32):
    %e = arith.extf %a : f16 to f32
    %s = arith.addf %e, %c : f32
    linalg.yield %s : f32
  }
  return
}
func.func @short(%x: memref<128x12xf16>, %y: memref<128x12xf16>) {
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x12xf16>) outs(%y : memref<128x12xf16>) {
  ^bb0(%a: f16, %out: f16):
    %s = arith.addf %a, %a : f16
    linalg.yield %s : f16
  }
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#i0 = affine_map<(i, j) -> (i, 0)>

// An op that reads other elements than its row's own has a kernel of its own, as
// has one behind an op that another kernel stands between.

// CHECK-LABEL: func @columns_of_others
// CHECK-COUNT-2: gpu.launch
// CHECK-NOT: gpu.launch

// CHECK-LABEL: func @between
// CHECK: gpu.launch
// CHECK: call @other
// CHECK: gpu.launch
func.func @columns_of_others(%x: memref<32x64xf32>, %y: memref<32x64xf32>, %z: memref<32x64xf32>) {
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<32x64xf32>) outs(%y : memref<32x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#ij, #i0, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%y, %y : memref<32x64xf32>, memref<32x64xf32>) outs(%z : memref<32x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}
func.func private @other(memref<32x64xf32>)
func.func @between(%x: memref<32x64xf32>, %y: memref<32xf32>, %z: memref<32x64xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<32x64xf32>)
      outs(%y : memref<32xf32>) dimensions = [1]
  call @other(%x) : (memref<32x64xf32>) -> ()
  linalg.generic {indexing_maps = [#ij, affine_map<(i, j) -> (i)>, #ij],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<32x64xf32>, memref<32xf32>) outs(%z : memref<32x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// What is left: reductions along other dimensions, products of two operands, and
// running results that are more than combined.

// CHECK-LABEL: func @left
// CHECK-NOT: gpu.launch
// CHECK: linalg.reduce
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @left(%x: memref<32x64xf32>, %y: memref<64xf32>, %z: memref<32x32xf32>, %s: memref<32xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<32x64xf32>)
      outs(%y : memref<64xf32>) dimensions = [0]
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>,
                                   affine_map<(i, j, k) -> (i, j)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %x : memref<32x64xf32>, memref<32x64xf32>) outs(%z : memref<32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %out, %p : f32
    linalg.yield %q : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<32x64xf32>) outs(%s : memref<32xf32>) {
  ^bb0(%a: f32, %out: f32):
    %p = arith.mulf %out, %out : f32
    %q = arith.addf %p, %a : f32
    linalg.yield %q : f32
  }
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// Sums are added to what the output holds. All lanes of a row read the output
// before the first lane writes it, and lanes of rows that are not there do not
// read it: another warp may write it.

// CHECK-LABEL: func @added_to_output
// CHECK-SAME: %[[X:.*]]: memref<13x64xf32>, %[[S:.*]]: memref<13xf32>
// CHECK: scf.if
// CHECK-NEXT: memref.load %[[S]]
// CHECK: gpu.shuffle xor
// CHECK: nvvm.bar.warp.sync
// CHECK: memref.store {{.*}}, %[[S]]
func.func @added_to_output(%x: memref<13x64xf32>, %s: memref<13xf32>) {
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<13x64xf32>) outs(%s : memref<13xf32>) {
  ^bb0(%a: f32, %out: f32):
    %t = arith.addf %a, %out : f32
    linalg.yield %t : f32
  }
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// In place of a row that is read, threads beyond its end do not read its start,
// which another thread may have written.

// CHECK-LABEL: func @in_place
// CHECK-SAME: %[[X:.*]]: memref<300x33xf32>
// CHECK: gpu.launch
// CHECK: scf.if %{{.*}} -> (f32) {
// CHECK-NEXT: memref.load %[[X]]
// CHECK-NOT: memref.load %[[X]]
// CHECK: memref.store {{.*}}, %[[X]]
func.func @in_place(%x: memref<300x33xf32>, %sum: memref<300xf32>) {
  linalg.reduce { arith.addf } ins(%x : memref<300x33xf32>)
      outs(%sum : memref<300xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [#i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<300xf32>) outs(%x : memref<300x33xf32>) {
  ^bb0(%s: f32, %out: f32):
    %d = arith.subf %out, %s : f32
    linalg.yield %d : f32
  }
  return
}
