// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule 2>/dev/null | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule 2>/dev/null | FileCheck %s --check-prefix=SM90 --implicit-check-not="#nm.wgmma"
// SM90: schedule #nm.simt

// Products of f32 are made of splits where that is estimated to be faster.
// CHECK-LABEL: func.func @f32
// CHECK: schedule #nm.wgmma<{{.*}}splits = 3>>
// CHECK-SAME: cuBLAS is estimated to take
func.func @f32(%a: tensor<1000x4096xf32>, %v: tensor<1024x1024xf32> {nm.values_of = 1 : i64}, %i: tensor<1024x16xi8> {nm.indices_of = 1 : i64}, %c: tensor<1000x1024xf32>) -> tensor<1000x1024xf32> {
  %r = nm.spmm <8:32, block = 1x64>
    ins(%a, %v, %i : tensor<1000x4096xf32>, tensor<1024x1024xf32>, tensor<1024x16xi8>)
    outs(%c : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  return %r : tensor<1000x1024xf32>
}

// Of fewer where the op allows them.
// CHECK-LABEL: func.func @bf16x3
// CHECK: schedule #nm.wgmma<{{.*}}splits = 2>>
func.func @bf16x3(%a: tensor<1000x4096xf32>, %v: tensor<1024x1024xf32> {nm.values_of = 1 : i64}, %i: tensor<1024x16xi8> {nm.indices_of = 1 : i64}, %c: tensor<1000x1024xf32>) -> tensor<1000x1024xf32> {
  %r = nm.spmm <8:32, block = 1x64> arithmetic <bf16x3>
    ins(%a, %v, %i : tensor<1000x4096xf32>, tensor<1024x1024xf32>, tensor<1024x16xi8>)
    outs(%c : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  return %r : tensor<1000x1024xf32>
}

// Not where each product is to be rounded by itself.
// CHECK-LABEL: func.func @ieee
// CHECK: schedule #nm.simt
func.func @ieee(%a: tensor<1000x4096xf32>, %v: tensor<1024x1024xf32> {nm.values_of = 1 : i64}, %i: tensor<1024x16xi8> {nm.indices_of = 1 : i64}, %c: tensor<1000x1024xf32>) -> tensor<1000x1024xf32> {
  %r = nm.spmm <8:32, block = 1x64> arithmetic <ieee>
    ins(%a, %v, %i : tensor<1000x4096xf32>, tensor<1024x1024xf32>, tensor<1024x16xi8>)
    outs(%c : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  return %r : tensor<1000x1024xf32>
}

// What splits are slower for, or do not have, other strategies take: few rows,
// narrow vectors, and windows of more kept rows than a tile.
// CHECK-LABEL: func.func @few_rows
// CHECK: schedule #nm.simt
func.func @few_rows(%a: tensor<32x768xf32>, %v: tensor<192x768xf32> {nm.values_of = 1 : i64}, %i: tensor<192x12xi8> {nm.indices_of = 1 : i64}, %c: tensor<32x768xf32>) -> tensor<32x768xf32> {
  %r = nm.spmm <8:32, block = 1x64>
    ins(%a, %v, %i : tensor<32x768xf32>, tensor<192x768xf32>, tensor<192x12xi8>)
    outs(%c : tensor<32x768xf32>) -> tensor<32x768xf32>
  return %r : tensor<32x768xf32>
}

// CHECK-LABEL: func.func @narrow
// CHECK: schedule #nm.simt
func.func @narrow(%a: tensor<1000x4096xf32>, %v: tensor<1024x1024xf32> {nm.values_of = 1 : i64}, %i: tensor<1024x32xi8> {nm.indices_of = 1 : i64}, %c: tensor<1000x1024xf32>) -> tensor<1000x1024xf32> {
  %r = nm.spmm <8:32, block = 1x32>
    ins(%a, %v, %i : tensor<1000x4096xf32>, tensor<1024x1024xf32>, tensor<1024x32xi8>)
    outs(%c : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  return %r : tensor<1000x1024xf32>
}

// CHECK-LABEL: func.func @long_window
// CHECK: schedule #nm.simt
func.func @long_window(%a: tensor<1000x4096xf32>, %v: tensor<1600x1024xf32> {nm.values_of = 1 : i64}, %i: tensor<1600x16xi8> {nm.indices_of = 1 : i64}, %c: tensor<1000x1024xf32>) -> tensor<1000x1024xf32> {
  %r = nm.spmm <100:256, block = 1x64>
    ins(%a, %v, %i : tensor<1000x4096xf32>, tensor<1600x1024xf32>, tensor<1600x16xi8>)
    outs(%c : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  return %r : tensor<1000x1024xf32>
}

// Long sums of f32 have parts of k, of at most 8192 kept rows each.
// CHECK-LABEL: func.func @long_sum
// CHECK: schedule #nm.wgmma<{{.*}}split_k = {{[789]}}, {{.*}}splits = 3>>
func.func @long_sum(%a: tensor<1000x100000xf32>, %v: tensor<50000x1024xf32> {nm.values_of = 1 : i64}, %i: tensor<50000x16xi8> {nm.indices_of = 1 : i64}, %c: tensor<1000x1024xf32>) -> tensor<1000x1024xf32> {
  %r = nm.spmm <16:32, block = 1x64>
    ins(%a, %v, %i : tensor<1000x100000xf32>, tensor<50000x1024xf32>, tensor<50000x16xi8>)
    outs(%c : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  return %r : tensor<1000x1024xf32>
}

// Those whose tiles are parts of units have none, and take strategy simt's
// promoted sums.
// CHECK-LABEL: func.func @long_sum_of_blocks
// CHECK: schedule #nm.simt{{.*}}promote = true
func.func @long_sum_of_blocks(%a: tensor<1000x81920xf32>, %v: tensor<40960x1024xf32> {nm.values_of = 1 : i64}, %i: tensor<640x16xi8> {nm.indices_of = 1 : i64}, %c: tensor<1000x1024xf32>) -> tensor<1000x1024xf32> {
  %r = nm.spmm <2:4, block = 64x64>
    ins(%a, %v, %i : tensor<1000x81920xf32>, tensor<40960x1024xf32>, tensor<640x16xi8>)
    outs(%c : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  return %r : tensor<1000x1024xf32>
}

// And those of narrow units, of which zeros make longer ones.
// CHECK-LABEL: func.func @long_sum_of_elements
// CHECK: nm.spmm <1:1, block = 1x128> schedule #nm.wgmma<{{.*}}split_k = {{[5-9]}}, {{.*}}splits = 3>>
func.func @long_sum_of_elements(%a: tensor<1000x40000xf32>, %v: tensor<20000x1024xf32> {nm.values_of = 1 : i64}, %i: tensor<20000x1024xi8> {nm.indices_of = 1 : i64}, %c: tensor<1000x1024xf32>) -> tensor<1000x1024xf32> {
  %r = nm.spmm <4:8>
    ins(%a, %v, %i : tensor<1000x40000xf32>, tensor<20000x1024xf32>, tensor<20000x1024xi8>)
    outs(%c : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  return %r : tensor<1000x1024xf32>
}

// Weights that keep two of four are no wider, for tensor cores skip the rest.
// CHECK-LABEL: func.func @half
// CHECK: nm.spmm <2:4> schedule #nm.wgmma_sp<{{.*}}producers = 4, {{.*}}splits = 3, {{.*}}>
func.func @half(%a: tensor<4096x4096xf32>, %v: tensor<2048x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<2048x4096xf32>, tensor<2048x4096xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// What fills groups up meets no activation.
// CHECK-LABEL: func.func @quarter
// CHECK: nm.spmm <1:4> schedule #nm.wgmma_sp<{{.*}}splits = 2, {{.*}}>
// CHECK-NOT: zeros fill up
func.func @quarter(%a: tensor<4096x4096xf32>, %v: tensor<1024x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<1024x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <1:4> arithmetic <bf16x3>
    ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<1024x4096xf32>, tensor<1024x4096xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// CHECK-LABEL: func.func @half_ieee
// CHECK-NOT: nm.wgmma
func.func @half_ieee(%a: tensor<4096x4096xf32>, %v: tensor<2048x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <2:4> arithmetic <ieee>
    ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<2048x4096xf32>, tensor<2048x4096xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// Parts of a long sum are of as many whole tiles. 65540 rows have none, for
// which zeros make units wider.
// CHECK-LABEL: func.func @long_half
// CHECK: nm.spmm <2:4> schedule #nm.wgmma_sp<{{.*}}split_k = {{8|16}}, {{.*}}splits = 3, {{.*}}>
func.func @long_half(%a: tensor<1000x65536xf32>, %v: tensor<32768x1024xf32> {nm.values_of = 1 : i64}, %i: tensor<32768x1024xi8> {nm.indices_of = 1 : i64}, %c: tensor<1000x1024xf32>) -> tensor<1000x1024xf32> {
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<1000x65536xf32>, tensor<32768x1024xf32>, tensor<32768x1024xi8>)
    outs(%c : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  return %r : tensor<1000x1024xf32>
}

// CHECK-LABEL: func.func @odd_long_half
// CHECK: nm.spmm <1:1, block = 1x{{.*}}> schedule #nm.wgmma<
func.func @odd_long_half(%a: tensor<1000x65540xf32>, %v: tensor<32770x1024xf32> {nm.values_of = 1 : i64}, %i: tensor<32770x1024xi8> {nm.indices_of = 1 : i64}, %c: tensor<1000x1024xf32>) -> tensor<1000x1024xf32> {
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<1000x65540xf32>, tensor<32770x1024xf32>, tensor<32770x1024xi8>)
    outs(%c : tensor<1000x1024xf32>) -> tensor<1000x1024xf32>
  return %r : tensor<1000x1024xf32>
}

// Sums of fewer than six tiles have residuals.
// CHECK-LABEL: func.func @short_sum
// CHECK: nm.spmm <8:32, block = 1x64> schedule #nm.wgmma<{{.*}}compensated = true, {{.*}}splits = 3>>
func.func @short_sum(%a: tensor<4096x352xf32>, %v: tensor<88x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<88x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <8:32, block = 1x64>
    ins(%a, %v, %i : tensor<4096x352xf32>, tensor<88x4096xf32>, tensor<88x64xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// CHECK-LABEL: func.func @short_half
// CHECK: nm.spmm <2:4> schedule #nm.wgmma_sp<{{.*}}splits = 3, compensated = true, {{.*}}>
func.func @short_half(%a: tensor<4096x380xf32>, %v: tensor<190x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<190x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<4096x380xf32>, tensor<190x4096xf32>, tensor<190x4096xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// CHECK-LABEL: func.func @six_tiles
// CHECK: nm.spmm <2:4> schedule #nm.wgmma_sp<{{.*}}splits = 3, {{.*}}>
func.func @six_tiles(%a: tensor<4096x384xf32>, %v: tensor<192x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<192x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <2:4>
    ins(%a, %v, %i : tensor<4096x384xf32>, tensor<192x4096xf32>, tensor<192x4096xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// Not where less is asked for.
// CHECK-LABEL: func.func @short_bf16x3
// CHECK: nm.spmm <2:4> schedule #nm.wgmma_sp<{{.*}}splits = 2, {{.*}}>
func.func @short_bf16x3(%a: tensor<4096x380xf32>, %v: tensor<190x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<190x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <2:4> arithmetic <bf16x3>
    ins(%a, %v, %i : tensor<4096x380xf32>, tensor<190x4096xf32>, tensor<190x4096xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
