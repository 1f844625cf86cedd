// RUN: nm-opt %s --split-input-file --convert-rows-to-gpu=reductions-only --canonicalize | FileCheck %s

#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>

// A norm whose result is [columns, rows]: a block has 16 rows, a warp one, which
// it puts into 32 KB of shared memory, and reads from there by ldmatrix.

// CHECK-LABEL: func @transposed
// CHECK-SAME: %[[X:.*]]: memref<100x1024xf16>, %[[Y:.*]]: memref<1024x100xf16, strided<[128, 1]>>
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c7{{[_0-9]*}}, {{.*}}threads({{.*}}) in (%{{.*}} = %c512{{.*}}dynamic_shared_memory_size %c32768_i32
// CHECK: vector.load %[[X]]{{.*}} vector<8xf16>
// CHECK: gpu.shuffle xor
// CHECK: arith.xori
// CHECK: vector.store {{.*}} {alignment = 16 : i64} : memref<16384xf16, #gpu.address_space<workgroup>>, vector<8xf16>
// CHECK: gpu.barrier
// CHECK: nvgpu.ldmatrix {{.*}} {numTiles = 4 : i32, transpose = true}
// CHECK: scf.if
// CHECK: vector.store {{.*}}, %[[Y]]{{.*}} {alignment = 16 : i64}
// Of the last four rows.
// CHECK: memref.store {{.*}}, %[[Y]]
// CHECK-NOT: linalg.generic
func.func @transposed(%x: memref<100x1024xf16>, %y: memref<1024x100xf16, strided<[128, 1]>>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<100xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<100xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<100x1024xf16>) outs(%sum : memref<100xf32>) {
  ^bb0(%a: f16, %out: f32):
    %e = arith.extf %a : f16 to f32
    %p = arith.mulf %e, %e : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #ji], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<100x1024xf16>, memref<100xf32>)
      outs(%y : memref<1024x100xf16, strided<[128, 1]>>) {
  ^bb0(%a: f16, %b: f32, %out: f16):
    %q = math.rsqrt %b : f32
    %e = arith.extf %a : f16 to f32
    %p = arith.mulf %e, %q : f32
    %t = arith.truncf %p : f32 to f16
    linalg.yield %t : f16
  }
  memref.dealloc %sum : memref<100xf32>
  return
}

// -----

#abk = affine_map<(a, b, k) -> (a, b, k)>
#ab = affine_map<(a, b, k) -> (a, b)>

// What others read as it is is stored in both ways. The transposition is of a
// view with one dimension for all rows.

// CHECK-LABEL: func @both
// CHECK-SAME: %[[X:.*]]: memref<6x15x64xf32>, %[[Y:.*]]: memref<6x15x64xf32>, %[[Z:.*]]: memref<64x90xf32>
// CHECK: gpu.launch
// CHECK: vector.store {{.*}}, %[[Y]]{{.*}} vector<4xf32>
// CHECK: vector.store {{.*}} #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK: gpu.barrier
// Rows of 90 elements start at no multiple of 16 bytes.
// CHECK: memref.store {{.*}}, %[[Z]]
// CHECK-NOT: linalg.transpose
func.func @both(%x: memref<6x15x64xf32>, %y: memref<6x15x64xf32>, %z: memref<64x90xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<6x15xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<6x15xf32>)
  linalg.generic {indexing_maps = [#abk, #ab], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : memref<6x15x64xf32>) outs(%sum : memref<6x15xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#abk, #ab, #abk], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %sum : memref<6x15x64xf32>, memref<6x15xf32>) outs(%y : memref<6x15x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  }
  %flat = memref.collapse_shape %y [[0, 1], [2]] : memref<6x15x64xf32> into memref<90x64xf32>
  linalg.transpose ins(%flat : memref<90x64xf32>) outs(%z : memref<64x90xf32>) permutation = [1, 0]
  memref.dealloc %sum : memref<6x15xf32>
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>

// Too few rows for an access along them: the sum alone is a kernel.

// CHECK-LABEL: func @few
// CHECK: gpu.launch
// CHECK: linalg.generic
func.func @few(%x: memref<7x1024xf16>, %sum: memref<7xf32>, %y: memref<1024x7xf16>) {
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<7x1024xf16>) outs(%sum : memref<7xf32>) {
  ^bb0(%a: f16, %out: f32):
    %e = arith.extf %a : f16 to f32
    %s = arith.addf %out, %e : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #ji], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<7x1024xf16>, memref<7xf32>) outs(%y : memref<1024x7xf16>) {
  ^bb0(%a: f16, %b: f32, %out: f16):
    %t = arith.truncf %b : f32 to f16
    %s = arith.addf %a, %t : f16
    linalg.yield %s : f16
  }
  return
}
