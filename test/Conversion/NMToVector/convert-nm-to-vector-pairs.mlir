// RUN: nm-opt %s --convert-nm-to-vector="vector-bits=512 bf16-pairs" | FileCheck %s
// RUN: nm-opt %s --convert-nm-to-vector=vector-bits=512 | FileCheck %s --check-prefix=WITHOUT

// A tile of A has 32 rows of m of bf16 in a vector; two rows of it are
// interleaved, and the weights of both are in each lane.

// WITHOUT-NOT: vdpbf16ps

// CHECK-LABEL: func.func @two_of_four(
// CHECK:         memref.alloc() {alignment = 64 : i64} : memref<64x32xf32>
// CHECK:         vector.shuffle %{{.*}} [1, 3, 5, 7, 33, 35, 37, 39, 9, {{.*}}] : vector<32xi16>, vector<32xi16>
// CHECK:         vector.load %{{.*}} : memref<4x32x16xbf16>, vector<4xbf16>
// CHECK:         vector.load %{{.*}} : memref<4x32x16xbf16>, vector<4xbf16>
// CHECK:         vector.shuffle %{{.*}} [0, 4, 1, 5, 2, 6, 3, 7] : vector<4xi16>, vector<4xi16>
// CHECK:         vector.shuffle %{{.*}} [0, 32, 1, 33, 2, 34, 3, 35, 8, 40, {{.*}}] : vector<32xi16>, vector<32xi16>
// CHECK:         vector.shuffle %{{.*}} [4, 36, 5, 37, 6, 38, 7, 39, 12, 44, {{.*}}] : vector<32xi16>, vector<32xi16>
// CHECK:         llvm.inline_asm {{.*}}"vdpbf16ps $3, $2, $0", "=v,0,v,v"
func.func @two_of_four(%a: memref<64x64xbf16>, %v: memref<4x32x16xbf16>, %i: memref<4x32x4xi8>, %c: memref<64x64xf32>) {
  nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 2> schedule #nm.vector<thread = [64, 4]>
    ins(%a, %v, %i : memref<64x64xbf16>, memref<4x32x16xbf16>, memref<4x32x4xi8>) outs(%c : memref<64x64xf32>)
  return
}

// Where a window keeps one unit, two windows make a pair; the last of an odd
// number of windows is alone, beside zeros.

// CHECK-LABEL: func.func @one_of_four(
// CHECK:         scf.for {{.*}} step %c2{{[_0-9]*}} iter_args
// CHECK:           llvm.inline_asm {{.*}}"vdpbf16ps
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0> : vector<4xi16>
// CHECK:         vector.shuffle %{{.*}}, %[[ZERO]] [0, 4, 1, 5, 2, 6, 3, 7]
// CHECK:         llvm.inline_asm {{.*}}"vdpbf16ps
func.func @one_of_four(%a: memref<64x60xbf16>, %v: memref<4x15x16xbf16>, %i: memref<4x15x4xi8>, %c: memref<64x64xf32>) {
  nm.spmm <1:4> packing #nm.packing<panel = 16, index_bits = 2> schedule #nm.vector<thread = [64, 4]>
    ins(%a, %v, %i : memref<64x60xbf16>, memref<4x15x16xbf16>, memref<4x15x4xi8>) outs(%c : memref<64x64xf32>)
  return
}

// Sums of i8 are none of f32.

// CHECK-LABEL: func.func @bytes(
// CHECK-NOT:     vdpbf16ps
// CHECK:         return
func.func @bytes(%a: memref<64x64xi8>, %v: memref<4x32x16xi8>, %i: memref<4x32x4xi8>, %c: memref<64x64xi32>) {
  nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 2> schedule #nm.vector<thread = [64, 4]>
    ins(%a, %v, %i : memref<64x64xi8>, memref<4x32x16xi8>, memref<4x32x4xi8>) outs(%c : memref<64x64xi32>)
  return
}

// Four weights of a column are multiplied at a time, two in either sum. Behind
// the column's last weight are another column's: zero takes their place, and a
// row of zeros that of their row of A.

// CHECK-LABEL: func.func @columns(
// CHECK:         %[[A:.*]] = memref.alloc() {alignment = 64 : i64} : memref<65x32xf32>
// CHECK:         vector.store %{{.*}}, %[[A]][%c64{{[_0-9]*}}, %c0{{[_0-9]*}}]
// CHECK:         vector.store %{{.*}}, %[[A]][%c64{{[_0-9]*}}, %c16{{[_0-9]*}}]
// CHECK:         scf.for {{.*}} step %c4{{[_0-9]*}} iter_args
// CHECK:           vector.load %{{.*}} : memref<1x1x1088xbf16>, vector<2xbf16>
// CHECK:           arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK:           llvm.inline_asm {{.*}}"vdpbf16ps
// CHECK:           vector.load %{{.*}} : memref<1x1x1088xbf16>, vector<2xbf16>
// CHECK:           llvm.inline_asm {{.*}}"vdpbf16ps
func.func @columns(%a: memref<64x64xbf16>, %v: memref<1x1x1088xbf16>, %i: memref<1x1x1088xi8>, %l: memref<48x1x8xi8>, %c: memref<64x48xf32>) {
  nm.spmm <1:1> packing #nm.columns<kept = 1024, tile_rows = 64> schedule #nm.vector<thread = [64, 1], kept = 1024, tile_rows = 64>
    ins(%a, %v, %i : memref<64x64xbf16>, memref<1x1x1088xbf16>, memref<1x1x1088xi8>) lists(%l : memref<48x1x8xi8>) outs(%c : memref<64x48xf32>)
  return
}
