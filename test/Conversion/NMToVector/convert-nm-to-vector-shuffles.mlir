// RUN: nm-opt %s --convert-nm-to-vector="vector-bits=512 shuffle-weights" --canonicalize --cse | FileCheck %s
// RUN: nm-opt %s --convert-nm-to-vector=vector-bits=512 | FileCheck %s --check-prefix=WITHOUT
// RUN: nm-opt %s --convert-nm-to-vector="vector-bits=256 shuffle-weights" | FileCheck %s --check-prefix=WITHOUT
// RUN: nm-compile %s --mcpu=znver4 --threads=1 --emit=llvm -o - 2>/dev/null | FileCheck %s --check-prefix=AMD
// RUN: nm-compile %s --mcpu=sapphirerapids --threads=1 --emit=llvm -o - 2>/dev/null | FileCheck %s --check-prefix=INTEL

// The weights of four columns are loaded together and each is shuffled to all
// lanes, where a processor shuffles beside its multiplications.

// WITHOUT-NOT: vector<4xf32>
// WITHOUT-NOT: vector<4xf16>

// AMD:       load <4 x float>
// INTEL-NOT: load <4 x float>

// CHECK-LABEL: func.func @four_columns(
// CHECK:         %[[FOUR:.*]] = vector.load %{{.*}} : memref<2x32x16xf32>, vector<4xf32>
// CHECK-NEXT:    %[[PARTS:.*]] = vector.shuffle %[[FOUR]], %[[FOUR]] [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]
// CHECK-NEXT:    %[[ALL:.*]] = llvm.inline_asm "", "=v,0" %[[PARTS]]
// CHECK-NEXT:    %[[FIRST:.*]] = vector.shuffle %[[ALL]], %[[ALL]] [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12]
// CHECK-NEXT:    vector.shuffle %[[ALL]], %[[ALL]] [1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13]
// CHECK-NEXT:    vector.shuffle %[[ALL]], %[[ALL]] [2, 2, 2, 2, 6, 6, 6, 6, 10, 10, 10, 10, 14, 14, 14, 14]
// CHECK-NEXT:    vector.shuffle %[[ALL]], %[[ALL]] [3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15]
// CHECK:         vector.fma %{{.*}}, %[[FIRST]], %{{.*}} : vector<16xf32>
func.func @four_columns(%a: memref<32x64xf32>, %v: memref<2x32x16xf32>, %i: memref<2x32x4xi8>, %c: memref<32x32xf32>) {
  nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 2> schedule #nm.vector<thread = [32, 4]>
    ins(%a, %v, %i : memref<32x64xf32>, memref<2x32x16xf32>, memref<2x32x4xi8>) outs(%c : memref<32x32xf32>)
  return
}

// The fifth column's weight is loaded alone; four of f16 are extended together.

// CHECK-LABEL: func.func @five_columns(
// CHECK:         %[[HALVES:.*]] = vector.load %{{.*}} : memref<2x32x16xf16>, vector<4xf16>
// CHECK-NEXT:    arith.extf %[[HALVES]] : vector<4xf16> to vector<4xf32>
// CHECK:         memref.load %{{.*}} : memref<2x32x16xf16>
func.func @five_columns(%a: memref<48x64xf16>, %v: memref<2x32x16xf16>, %i: memref<2x32x4xi8>, %c: memref<48x32xf32>) {
  nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 2> schedule #nm.vector<thread = [48, 5]>
    ins(%a, %v, %i : memref<48x64xf16>, memref<2x32x16xf16>, memref<2x32x4xi8>) outs(%c : memref<48x32xf32>)
  return
}

// Columns that share rows of A load less, and condensed weights may have fewer
// columns than a panel.

// CHECK-LABEL: func.func @pairs_of_columns(
// CHECK-NOT:     vector<4xf32>
// CHECK-LABEL: func.func @condensed(
// CHECK-NOT:     vector<4xf32>
func.func @pairs_of_columns(%a: memref<32x64xf32>, %v: memref<2x32x16xf32>, %i: memref<2x32x2xi8>, %c: memref<32x32xf32>) {
  nm.spmm <2:4, block = 1x2> packing #nm.packing<panel = 16, index_bits = 2> schedule #nm.vector<thread = [32, 4]>
    ins(%a, %v, %i : memref<32x64xf32>, memref<2x32x16xf32>, memref<2x32x2xi8>) outs(%c : memref<32x32xf32>)
  return
}
func.func @condensed(%a: memref<32x64xf32>, %v: memref<32x30xf32>, %i: memref<32x30xi8>, %c: memref<32x30xf32>) {
  nm.spmm <2:4> schedule #nm.vector<thread = [32, 4]>
    ins(%a, %v, %i : memref<32x64xf32>, memref<32x30xf32>, memref<32x30xi8>) outs(%c : memref<32x30xf32>)
  return
}
