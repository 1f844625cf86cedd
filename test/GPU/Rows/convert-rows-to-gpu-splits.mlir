// RUN: nm-opt %s --split-input-file --convert-rows-to-gpu=reductions-only --canonicalize | FileCheck %s

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// A norm whose result is split: a block has 16 rows in 64 KB of shared memory, and
// writes three splits of eight rows at a time. 100 rows are filled up to 128 by
// zeros, so that there are 8 blocks. The norm itself is not stored.

// CHECK-LABEL: func @splits
// CHECK-SAME: %[[X:.*]]: memref<100x1024xf32>, %[[Y:.*]]: memref<1024x384xbf16>
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c8{{[_0-9]*}}, {{.*}}threads({{.*}}) in (%{{.*}} = %c512{{.*}}dynamic_shared_memory_size %c65536_i32
// CHECK: vector.load %[[X]]{{.*}} vector<4xf32>
// CHECK: gpu.shuffle xor
// CHECK: %[[KEPT:.*]] = arith.select {{.*}} : vector<4xf32>
// CHECK: vector.store %[[KEPT]], {{.*}} : memref<16384xf32, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK: gpu.barrier
// CHECK-COUNT-3: vector.store {{.*}}, %[[Y]]{{.*}} {alignment = 16 : i64} : memref<1024x384xbf16>, vector<8xbf16>
// CHECK-NOT: nm.split_floats
func.func @splits(%x: memref<100x1024xf32>, %y: memref<1024x384xbf16>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<100xf32>
  %norm = memref.alloc() : memref<100x1024xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<100xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<100x1024xf32>) outs(%sum : memref<100xf32>) {
  ^bb0(%a: f32, %out: f32):
    %p = arith.mulf %a, %a : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<100x1024xf32>, memref<100xf32>)
      outs(%norm : memref<100x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %q = math.rsqrt %b : f32
    %p = arith.mulf %a, %q : f32
    linalg.yield %p : f32
  }
  nm.split_floats 3 transpose ins(%norm : memref<100x1024xf32>)
      outs(%y : memref<1024x384xbf16>)
  memref.dealloc %norm : memref<100x1024xf32>
  memref.dealloc %sum : memref<100xf32>
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>

// Splits of what the norm would store transposed, [k x m], and of more bytes than
// 16 rows may have: a block has 8.

// CHECK-LABEL: func @transposed
// CHECK-SAME: %[[X:.*]]: memref<64x2048xf32>, %[[Y:.*]]: memref<2048x128xbf16>
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c8{{[_0-9]*}}, {{.*}}dynamic_shared_memory_size %c65{{[0-9]*}}_i32
// CHECK-COUNT-2: vector.store {{.*}}, %[[Y]]{{.*}} {alignment = 16 : i64} : memref<2048x128xbf16>, vector<8xbf16>
// CHECK-NOT: vector.store {{.*}}memref<2048x64xf32
// CHECK-NOT: nm.split_floats
func.func @transposed(%x: memref<64x2048xf32>, %y: memref<2048x128xbf16>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<64xf32>
  %norm = memref.alloc() : memref<2048x64xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x2048xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #ji], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<64x2048xf32>, memref<64xf32>)
      outs(%norm : memref<2048x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.subf %a, %b : f32
    linalg.yield %p : f32
  }
  nm.split_floats 2 ins(%norm : memref<2048x64xf32>) outs(%y : memref<2048x128xbf16>)
  memref.dealloc %norm : memref<2048x64xf32>
  memref.dealloc %sum : memref<64xf32>
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>

// Rows of windows are written more than once; and what was there before the norm
// stores it transposed would be read across rows.

// CHECK-LABEL: func @others
// CHECK: nm.split_floats 2 ins
// CHECK: gpu.launch
// CHECK: nm.split_floats 3 transpose windows 8
func.func @others(%x: memref<64x64xf32>, %y: memref<96x192xbf16>,
                  %norm: memref<64x64xf32>, %z: memref<64x128xbf16>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<64xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<64xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x64xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  }
  nm.split_floats 2 ins(%norm : memref<64x64xf32>) outs(%z : memref<64x128xbf16>)
  linalg.generic {indexing_maps = [#ij, #i, #ij, #ji], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<64x64xf32>, memref<64xf32>)
      outs(%x, %norm : memref<64x64xf32>, memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32, %turned: f32):
    %p = arith.subf %a, %b : f32
    linalg.yield %p, %p : f32, f32
  }
  nm.split_floats 3 transpose windows 8 ins(%x : memref<64x64xf32>) outs(%y : memref<96x192xbf16>)
  memref.dealloc %sum : memref<64xf32>
  return
}
