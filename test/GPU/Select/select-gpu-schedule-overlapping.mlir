// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-propagate-layouts --nm-select-gpu-schedule --split-input-file 2>%t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.log
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule --nm-pack-weights --canonicalize --split-input-file 2>/dev/null | FileCheck %s --check-prefix=PACKED

// 4:6 is 2:4 of an A that has two rows of each window twice. Positions in the
// second group of a window are from its row 2 on. Where A is split,
// the kernel that does so repeats its rows, and positions are moved when
// weights are loaded.
// REMARK: nm.spmm <4:6> {{.*}} strategy wgmma_sp {{.*}}; cuBLAS is estimated to take 2{{[0-9.]+}} us with dense weights; windows of 4:6 along k = 4096 are taken to be groups of four rows that overlap, which have 5464 rows in all; schedule
// CHECK-LABEL: func.func @splits
// CHECK-SAME: %[[A:.*]]: tensor<4096x4096xf32>, %[[V:.*]]: tensor<2732x4096xf32> {{.*}}, %[[I:.*]]: tensor<2732x4096xi8>
// CHECK: %[[REPEATED:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4096x5464xf32>) attrs = {nm.windows = 6 : i64}
// CHECK: %[[ROW:.*]] = linalg.index 1 : index
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[GROUP:.*]] = arith.divui %[[ROW]], %[[C4]] : index
// CHECK: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %[[WINDOW:.*]] = arith.divui %[[GROUP]], %[[C2]] : index
// CHECK: %[[C6:.*]] = arith.constant 6 : index
// CHECK: %[[FIRST:.*]] = arith.muli %[[WINDOW]], %[[C6]] : index
// CHECK: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %[[IN_WINDOW:.*]] = arith.remui %[[GROUP]], %[[C2]] : index
// CHECK: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %[[STEP:.*]] = arith.muli %[[IN_WINDOW]], %[[C2]] : index
// CHECK: %[[OF_GROUP:.*]] = arith.addi %[[FIRST]], %[[STEP]] : index
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[IN_GROUP:.*]] = arith.remui %[[ROW]], %[[C4]] : index
// CHECK: %[[FROM:.*]] = arith.addi %[[OF_GROUP]], %[[IN_GROUP]] : index
// CHECK: %[[INSIDE:.*]] = arith.minui %[[FROM]],
// CHECK: tensor.extract %[[A]][%{{.*}}, %[[INSIDE]]]
// CHECK: %[[MOVED:.*]] = linalg.generic {{.*}} ins(%[[I]] : tensor<2732x4096xi8>)
// CHECK: arith.subi
// CHECK: nm.spmm <2:4> schedule #nm.wgmma_sp<{{.*}}splits = 3, {{.*}}> ins(%[[REPEATED]], %[[V]], %[[MOVED]] :
// CHECK-SAME: pattern = <4:6>
// PACKED-LABEL: func.func @splits.pack
// PACKED: arith.subi
// PACKED: nm.pack <2:4> #nm.sparse_operand<{{.*}}splits = 3>
// PACKED-LABEL: func.func @splits(
// PACKED-SAME: %[[A:[^:]*]]: tensor<4096x4096xf32>
// PACKED: nm.split_floats 3 transpose windows 6 ins(%[[A]] : tensor<4096x4096xf32>) outs(%{{.*}} : tensor<5464x12288xbf16>)
// PACKED-NOT: linalg.generic
// PACKED: nm.spmm <2:4> transpose_a packing #nm.sparse_operand<
func.func @splits(%a: tensor<4096x4096xf32>, %v: tensor<2732x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<2732x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <4:6> ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<2732x4096xf32>, tensor<2732x4096xi8>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// Two windows of 2:3 are one of 4:6, which zeros may fill up.
// REMARK: nm.spmm <2:3> {{.*}}; windows of 4:6 along k = 3000 {{.*}}; pruned weights then turn infinite and NaN activations into NaN
// CHECK-LABEL: func.func @odd
// CHECK: nm.decompress <2:3>
// CHECK: nm.compress <4:6>
// CHECK: nm.spmm <2:4> schedule #nm.wgmma_sp<
// PACKED-LABEL: func.func @odd
func.func @odd(%a: tensor<4096x3000xf32>, %v: tensor<2000x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<2000x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <2:3> ins(%a, %v, %i : tensor<4096x3000xf32>, tensor<2000x4096xf32>, tensor<2000x4096xi8>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// In f16 the product gains less than the kernel that repeats rows takes.
// REMARK: nm.spmm <4:6> {{.*}} strategy cublas
// CHECK-LABEL: func.func @halves
// CHECK-NOT: nm.windows
// PACKED-LABEL: func.func @halves
func.func @halves(%a: tensor<4096x4096xf16>, %v: tensor<2732x4096xf16> {nm.values_of = 1 : i64}, %i: tensor<2732x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %r = nm.spmm <4:6> ins(%a, %v, %i : tensor<4096x4096xf16>, tensor<2732x4096xf16>, tensor<2732x4096xi8>) outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}

// -----

// Few rows of wide windows take as long as memory, which kernels do not read at its own rate.
// REMARK: nm.spmm <8:16> {{.*}} strategy cublas {{.*}} by strategy wgmma_sp; {{.*}}; overlapping it is estimated to take {{.*}} us, which is too little less
// CHECK-LABEL: func.func @bytes
// CHECK-NOT: nm.windows
// PACKED-LABEL: func.func @bytes
func.func @bytes(%a: tensor<64x8192xf16>, %v: tensor<4096x8192xf16> {nm.values_of = 1 : i64}, %i: tensor<4096x8192xi8> {nm.indices_of = 1 : i64}, %c: tensor<64x8192xf16>) -> tensor<64x8192xf16> {
  %r = nm.spmm <8:16> ins(%a, %v, %i : tensor<64x8192xf16>, tensor<4096x8192xf16>, tensor<4096x8192xi8>) outs(%c : tensor<64x8192xf16>) -> tensor<64x8192xf16>
  return %r : tensor<64x8192xf16>
}

// -----

// Tensor copies repeat rows of an m-major A in 16 bits: 42 times two tiles of 16
// windows, and two tiles that have 32 rows of k twice.
// REMARK: nm.spmm <4:6> {{.*}} strategy wgmma_sp {{.*}}; windows of 4:6 along k = 4096 are taken to be groups of four rows that overlap, which tensor copies repeat: 5504 rows in all; pruned weights then turn infinite and NaN activations into NaN, which dense-fallback=false prevents; schedule
// CHECK-LABEL: func.func @m_major
// CHECK-SAME: %[[A:.*]]: tensor<4096x4096xf16>, %[[V:.*]]: tensor<2732x4096xf16> {{.*}}, %[[I:.*]]: tensor<2732x4096xi8>
// CHECK-NOT: nm.windows
// CHECK: %[[REPEATED:.*]] = nm.repeated_rows windows 6 %[[A]] : tensor<4096x4096xf16> -> tensor<5504x4096xf16>
// CHECK: %[[VALUES:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2752x4096xf16>)
// CHECK: tensor.extract %[[V]]
// CHECK: %[[INDICES:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2752x4096xi8>)
// CHECK: tensor.extract %[[I]]
// CHECK: nm.spmm <2:4> transpose_a schedule #nm.wgmma_sp<{{.*}}producers = 4{{.*}}> ins(%[[REPEATED]], %[[VALUES]], %[[INDICES]] :
// PACKED-LABEL: func.func @m_major.pack
// PACKED: linalg.generic
// PACKED: nm.pack <2:4> #nm.sparse_operand<
// PACKED-LABEL: func.func @m_major(
// PACKED-NOT: linalg.generic
// PACKED: nm.spmm <2:4> transpose_a packing #nm.sparse_operand<
func.func @m_major(%a: tensor<4096x4096xf16>, %v: tensor<2732x4096xf16> {nm.values_of = 1 : i64}, %i: tensor<2732x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %r = nm.spmm <4:6> transpose_a ins(%a, %v, %i : tensor<4096x4096xf16>, tensor<2732x4096xf16>, tensor<2732x4096xi8>) outs(%c : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}
