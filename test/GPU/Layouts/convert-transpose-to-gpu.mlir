// RUN: nm-opt %s --convert-transpose-to-gpu --canonicalize --cse --split-input-file | FileCheck %s

// A block of four warps has 64 x 128 elements. A lane's chunks are 8 columns
// apart along a row, and rows lie 0, 1, 8, 9 and so on from lane to lane.
// CHECK-LABEL: func @registers
// CHECK-SAME: %[[A:.*]]: memref<1024x4096xf16>, %[[T:.*]]: memref<4096x1024xf16>
// CHECK: gpu.launch blocks(%{{.*}}) in (%{{.*}} = %c512, {{.*}}) threads(%[[THREAD:[^,]*]], {{.*}}) in (%{{.*}} = %c128,
// CHECK: %[[LANE:.*]] = arith.remui %[[THREAD]], %c32
// CHECK: %[[QUAD:.*]] = arith.divui %[[LANE]], %c4
// CHECK: %[[IN_QUAD:.*]] = arith.remui %[[LANE]], %c4
// CHECK: arith.muli %[[IN_QUAD]], %c8
// CHECK-COUNT-8: vector.load %[[A]][{{.*}}] {alignment = 16 : i64} : memref<1024x4096xf16>, vector<8xf16>
// CHECK-NOT: vector.load
// CHECK-COUNT-4: llvm.inline_asm has_side_effects "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r"
// CHECK: vector.from_elements
// CHECK: vector.store %{{.*}}, %[[T]][{{.*}}] {alignment = 16 : i64} : memref<4096x1024xf16>, vector<8xf16>
// CHECK-NOT: linalg.transpose
func.func @registers(%a: memref<1024x4096xf16>, %t: memref<4096x1024xf16>) {
  linalg.transpose ins(%a : memref<1024x4096xf16>) outs(%t : memref<4096x1024xf16>) permutation = [1, 0]
  return
}

// -----

// What makes 16 bits of 8 is applied to what is read, 8 elements at a time, and
// then transposed as others.
// CHECK-LABEL: func @widened
// CHECK-SAME: %[[A:.*]]: memref<1024x4096xf8E4M3FN>, %[[T:.*]]: memref<4096x1024xf16>
// CHECK: gpu.launch {{.*}} threads(%{{.*}}) in (%{{.*}} = %c128,
// CHECK: %[[CHUNK:.*]] = vector.load %[[A]][{{.*}}] {alignment = 8 : i64} : memref<1024x4096xf8E4M3FN>, vector<8xf8E4M3FN>
// CHECK: arith.extf %[[CHUNK]] : vector<8xf8E4M3FN> to vector<8xf16>
// CHECK: movmatrix
// CHECK-NOT: arith.extf
// CHECK: vector.store %{{.*}}, %[[T]][{{.*}}] {alignment = 16 : i64} : memref<4096x1024xf16>, vector<8xf16>
func.func @widened(%a: memref<1024x4096xf8E4M3FN>, %t: memref<4096x1024xf16>) {
  linalg.generic {indexing_maps = [affine_map<(k, m) -> (m, k)>, affine_map<(k, m) -> (k, m)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<1024x4096xf8E4M3FN>) outs(%t : memref<4096x1024xf16>) {
  ^bb0(%x: f8E4M3FN, %o: f16):
    %y = arith.extf %x : f8E4M3FN to f16
    linalg.yield %y : f16
  }
  return
}

// -----

// Elements of 32 bits are read along rows of A, and written along rows of T.
// CHECK-LABEL: func @shared
// CHECK-SAME: %[[A:.*]]: memref<?x96xf32>, %[[T:.*]]: memref<96x?xf32>
// CHECK: %[[M:.*]] = memref.dim %[[T]], %c1
// CHECK: arith.ceildivui %[[M]], %c64
// CHECK: gpu.launch {{.*}} threads(%[[THREAD:[^,]*]], {{.*}}) in (%{{.*}} = %c256, {{.*}}) dynamic_shared_memory_size %c16640_i32
// CHECK: %[[TILE:.*]] = memref.view %{{.*}} to memref<64x65xf32, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[LANE:.*]] = arith.remui %[[THREAD]], %c32
// CHECK-DAG: %[[WARP:.*]] = arith.divui %[[THREAD]], %c32
// CHECK: memref.load %[[A]][
// CHECK: memref.store %{{.*}}, %[[TILE]][%[[WARP]], %[[LANE]]]
// CHECK: gpu.barrier
// CHECK: memref.load %[[TILE]][%[[LANE]], %[[WARP]]]
// CHECK: memref.store %{{.*}}, %[[T]][
func.func @shared(%a: memref<?x96xf32>, %t: memref<96x?xf32>) {
  linalg.transpose ins(%a : memref<?x96xf32>) outs(%t : memref<96x?xf32>) permutation = [1, 0]
  return
}

// -----

// Where it is not known that rows start at multiples of 16 bytes, the host
// asks.
// CHECK-LABEL: func @unknown_strides
// CHECK-SAME: %[[A:.*]]: memref<?x96xf16, strided<[?, 1], offset: ?>>, %[[T:.*]]: memref<96x?xf16>
// CHECK-DAG: %[[M:.*]] = arith.remui %{{.*}}, %c8
// CHECK-DAG: arith.ori
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %{{.*}}, %c0
// CHECK: scf.if %[[ALIGNED]]
// CHECK: gpu.launch
// CHECK: movmatrix
// CHECK: } else {
// CHECK: gpu.launch
// CHECK: gpu.barrier
func.func @unknown_strides(%a: memref<?x96xf16, strided<[?, 1], offset: ?>>, %t: memref<96x?xf16>) {
  linalg.transpose ins(%a : memref<?x96xf16, strided<[?, 1], offset: ?>>) outs(%t : memref<96x?xf16>) permutation = [1, 0]
  return
}

// -----

// Arithmetic is done on what was transposed, 8 elements at a time. A broadcast
// along the output's rows is one element, and along its columns 8.
// CHECK-LABEL: func @with_arithmetic
// CHECK-SAME: %[[A:.*]]: memref<2x64x128xf16>, %[[BIAS:.*]]: memref<128xf32>, %[[SCALE:.*]]: memref<64xf32>
// CHECK: movmatrix
// CHECK: %[[B:.*]] = memref.load %[[BIAS]]
// CHECK: vector.broadcast %[[B]] : f32 to vector<8xf32>
// CHECK: vector.load %[[SCALE]]{{.*}} vector<8xf32>
// CHECK: arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
// CHECK: vector.store {{.*}} : memref<2x128x64xf16>, vector<8xf16>
#map = affine_map<(b, m, k) -> (b, m, k)>
#transposed = affine_map<(b, m, k) -> (b, k, m)>
func.func @with_arithmetic(%a: memref<2x64x128xf16>, %bias: memref<128xf32>, %scale: memref<64xf32>, %t: memref<2x128x64xf16>) {
  linalg.generic {indexing_maps = [#map, affine_map<(b, m, k) -> (k)>, affine_map<(b, m, k) -> (m)>, #transposed],
                  iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%a, %bias, %scale : memref<2x64x128xf16>, memref<128xf32>, memref<64xf32>) outs(%t : memref<2x128x64xf16>) {
  ^bb0(%x: f16, %b: f32, %s: f32, %o: f16):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.mulf %0, %s : f32
    %2 = arith.addf %1, %b : f32
    %3 = arith.truncf %2 : f32 to f16
    linalg.yield %3 : f16
  }
  return
}

// -----

// Left to convert-linalg-to-gpu: what reads as it writes, reduces, has few
// rows, has no bytes, is contiguous along two dimensions, or is on the host.
// CHECK-LABEL: func @left
// CHECK-NOT: gpu.launch
// CHECK: return
// CHECK-LABEL: func @on_host
// CHECK-NOT: gpu.launch
#ab = affine_map<(i, j) -> (i, j)>
#ba = affine_map<(i, j) -> (j, i)>
func.func @left(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %row: memref<64xf32>, %narrow: memref<4x64xf32>, %tall: memref<64x4xf32>,
                %bits: memref<64x64xi1>, %c: memref<64x64x64xf32>, %d: memref<64x64x64xf32>) {
  linalg.generic {indexing_maps = [#ab, #ab], iterator_types = ["parallel", "parallel"]}
    ins(%a : memref<64x64xf32>) outs(%b : memref<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [#ba, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%a : memref<64x64xf32>) outs(%row : memref<64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.addf %x, %o : f32
    linalg.yield %0 : f32
  }
  linalg.transpose ins(%narrow : memref<4x64xf32>) outs(%tall : memref<64x4xf32>) permutation = [1, 0]
  linalg.transpose ins(%bits : memref<64x64xi1>) outs(%bits : memref<64x64xi1>) permutation = [1, 0]
  linalg.generic {indexing_maps = [affine_map<(i, j, l) -> (l, j, i)>, affine_map<(i, j, l) -> (i, l, j)>, affine_map<(i, j, l) -> (i, j, l)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%c, %d : memref<64x64x64xf32>, memref<64x64x64xf32>) outs(%c : memref<64x64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  }
  return
}

func.func @on_host(%a: memref<64x64xf32>, %t: memref<64x64xf32>) attributes {nm.host} {
  linalg.transpose ins(%a : memref<64x64xf32>) outs(%t : memref<64x64xf32>) permutation = [1, 0]
  return
}

// -----

// Panels of 16 bytes of each row: four lanes are side by side in each of eight
// rows, and read and write 16 bytes, four times along the row. What makes the
// elements is done in between; the last rows of a tile are looked at one by one.
// CHECK-LABEL: func @panels
// CHECK-SAME: %[[A:.*]]: memref<200x32x16xf16>, %[[P:.*]]: memref<32x200x16xi8
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c8
// CHECK: %[[LANE:.*]] = arith.remui %{{.*}}, %c32
// CHECK-DAG: arith.divui %[[LANE]], %c4
// CHECK-DAG: arith.remui %[[LANE]], %c4
// CHECK: scf.if
// CHECK: vector.load %[[A]][%[[ROW:.*]], %[[PANEL:.*]], %{{.*}}] {alignment = 16 : i64} : memref<200x32x16xf16>, vector<16xf16>
// CHECK: arith.fptosi %{{.*}} : vector<16xf16> to vector<16xi8>
// CHECK: vector.store %{{.*}}, %[[P]][%[[PANEL]], %[[ROW]], %{{.*}}] {alignment = 16 : i64}
// CHECK-COUNT-3: vector.store %{{.*}}, %[[P]]
func.func @panels(%a: memref<200x32x16xf16>, %p: memref<32x200x16xi8, strided<[4096, 16, 1]>>) {
  linalg.generic {indexing_maps = [affine_map<(p, m, c) -> (m, p, c)>, affine_map<(p, m, c) -> (p, m, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%a : memref<200x32x16xf16>) outs(%p : memref<32x200x16xi8, strided<[4096, 16, 1]>>) {
  ^bb0(%x: f16, %old: i8):
    %i = arith.fptosi %x : f16 to i8
    linalg.yield %i : i8
  }
  return
}
