// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="dense-fallback=false" 2>/dev/null | FileCheck %s --check-prefix=KEPT --implicit-check-not=nm.compress --implicit-check-not="#nm.wgmma"
// KEPT: schedule #nm.simt
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule 2>/dev/null | FileCheck %s --check-prefix=SM90 --implicit-check-not="#nm.wgmma"
// SM90: schedule #nm.simt

// Vectors of 32 are too narrow for tensor cores that gather rows: two of them
// have at most twice the rows, and zeros where only one has a row.
// CHECK-LABEL: func.func @vectors
// CHECK: %[[B:.*]] = nm.decompress <8:32, block = 1x32>
// CHECK: %[[V:.*]]:2 = nm.compress <16:32, block = 1x64> ins(%[[B]] :
// CHECK: nm.spmm <16:32, block = 1x64> schedule #nm.wgmma<{{.*}}splits = 3>> ins(%{{.*}}, %[[V]]#0, %[[V]]#1 :
// CHECK-SAME: pattern = <8:32, block = 1x32>
// CHECK-NOT: falls_back
// REMARK: nm.spmm <8:32, block = 1x32>{{.*}} strategy wgmma on sm_90{{.*}}; weights are taken to be 16:32, block = 1x64, which is faster: {{.*}} us by strategy simt; pruned weights then turn infinite
func.func @vectors(%a: tensor<4096x4096xf32>, %v: tensor<1024x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<1024x128xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <8:32, block = 1x32>
    ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<1024x4096xf32>, tensor<1024x128xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// 64 elements keep any row, so that weights are dense, which cuBLAS is slower
// for.
// CHECK-LABEL: func.func @elements
// CHECK: nm.compress <1:1, block = 1x{{64|128}}>
// CHECK: nm.spmm <1:1, block = 1x{{64|128}}> schedule #nm.wgmma<
// CHECK-SAME: falls_back = true
// REMARK: nm.spmm <4:8>{{.*}} strategy wgmma on sm_90{{.*}}; weights are taken to be 1:1, block
func.func @elements(%a: tensor<4096x4096xf32>, %v: tensor<2048x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <4:8>
    ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<2048x4096xf32>, tensor<2048x4096xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// Weights that come with each call, and few rows, stay as they are.
// CHECK-LABEL: func.func @not_loaded
// CHECK-NOT: nm.compress
// CHECK: nm.spmm <8:32, block = 1x32> schedule #nm.simt
func.func @not_loaded(%a: tensor<4096x4096xf32>, %v: tensor<1024x4096xf32>, %i: tensor<1024x128xi8>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <8:32, block = 1x32>
    ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<1024x4096xf32>, tensor<1024x128xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// CHECK-LABEL: func.func @few_rows
// CHECK-NOT: nm.compress
// CHECK: nm.spmm <8:32, block = 1x32> schedule #nm.simt
func.func @few_rows(%a: tensor<64x4096xf32>, %v: tensor<1024x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<1024x128xi8> {nm.indices_of = 1 : i64}, %c: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %r = nm.spmm <8:32, block = 1x32>
    ins(%a, %v, %i : tensor<64x4096xf32>, tensor<1024x4096xf32>, tensor<1024x128xi8>)
    outs(%c : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  return %r : tensor<64x4096xf32>
}

// In f16, units of 64 with zeros are faster than narrower ones by mma_sync,
// where enough is left out.
// CHECK-LABEL: func.func @half
// CHECK: %[[V:.*]]:2 = nm.compress <8:32, block = 1x64>
// CHECK: nm.spmm <8:32, block = 1x64> transpose_a schedule #nm.wgmma<
// CHECK-SAME: pattern = <4:32, block = 1x32>
// CHECK-NOT: falls_back
// REMARK: nm.spmm <4:32, block = 1x32>{{.*}} f16: strategy wgmma on sm_90{{.*}}; weights are taken to be 8:32, block = 1x64, which is faster: {{.*}} us by strategy mma_sync; pruned weights then turn infinite
func.func @half(%a: tensor<4096x1024xf16>, %v: tensor<512x4096xf16> {nm.values_of = 1 : i64}, %i: tensor<512x128xi8> {nm.indices_of = 1 : i64}, %c: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %r = nm.spmm <4:32, block = 1x32> transpose_a
    ins(%a, %v, %i : tensor<4096x1024xf16>, tensor<512x4096xf16>, tensor<512x128xi8>)
    outs(%c : tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %r : tensor<1024x4096xf16>
}

// Units of f16 that would keep every row are left to cuBLAS.
// CHECK-LABEL: func.func @half_of_all
// CHECK: nm.spmm <1:1, block = 1x32> transpose_a schedule #nm.cublas<
// CHECK-SAME: pattern = <16:32, block = 1x32>
func.func @half_of_all(%a: tensor<4096x1024xf16>, %v: tensor<2048x4096xf16> {nm.values_of = 1 : i64}, %i: tensor<2048x128xi8> {nm.indices_of = 1 : i64}, %c: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %r = nm.spmm <16:32, block = 1x32> transpose_a
    ins(%a, %v, %i : tensor<4096x1024xf16>, tensor<2048x4096xf16>, tensor<2048x128xi8>)
    outs(%c : tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %r : tensor<1024x4096xf16>
}

// So are units of more columns that are no multiple of 64. Two of them may meet
// in one of these.
// CHECK-LABEL: func.func @odd_units
// CHECK: nm.compress <8:32, block = 1x{{64|128}}>
// CHECK: nm.spmm <8:32, block = 1x{{64|128}}> schedule #nm.wgmma<
// CHECK-SAME: pattern = <4:32, block = 1x160>
// REMARK: nm.spmm <4:32, block = 1x160>{{.*}}; weights are taken to be 8:32, block = 1x{{64|128}}, which is faster
func.func @odd_units(%a: tensor<4096x4096xf32>, %v: tensor<512x4160xf32> {nm.values_of = 1 : i64}, %i: tensor<512x26xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <4:32, block = 1x160>
    ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<512x4160xf32>, tensor<512x26xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// CHECK-LABEL: func.func @odd_dense
// CHECK: nm.compress <1:1, block = 1x{{64|128}}>
// CHECK: nm.spmm <1:1, block = 1x{{64|128}}> schedule #nm.wgmma<
// CHECK-SAME: pattern = <1:1, block = 1x1000>
func.func @odd_dense(%a: tensor<4096x1000xf32>, %v: tensor<1000x1000xf32> {nm.values_of = 1 : i64}, %i: tensor<1000x1xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x1000xf32>) -> tensor<4096x1000xf32> {
  %r = nm.spmm <1:1, block = 1x1000>
    ins(%a, %v, %i : tensor<4096x1000xf32>, tensor<1000x1000xf32>, tensor<1000x1xi8>)
    outs(%c : tensor<4096x1000xf32>) -> tensor<4096x1000xf32>
  return %r : tensor<4096x1000xf32>
}
