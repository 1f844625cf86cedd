// RUN: nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule="dense-fallback=false" 2>/dev/null | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="dense-fallback=false schedule='simt<pack = false>'" 2>/dev/null | FileCheck %s --check-prefix=NEVER --implicit-check-not="pack = true"
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule="schedule='simt<pack = some>'" 2>&1 | FileCheck %s --check-prefix=VALUE

// NEVER: func.func @few_rows
// VALUE: error: expected true or false, but got 'some'

// Six of 32 rows would be staged for 256 columns, but one element at a time from
// rows of m, where all go by way of a staging buffer 16 bytes at a time.
// CHECK-LABEL: func.func @few_rows
// CHECK: schedule #nm.simt<block = [128, 256, 128]
// CHECK-NOT: pack = true
func.func @few_rows(%a: tensor<4096x4096xf32>, %v: tensor<384x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<384x32xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <3:32, block = 1x128>
    ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<384x4096xf32>, tensor<384x32xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// Twelve.
// CHECK-LABEL: func.func @row_major
// CHECK-NOT: pack = true
func.func @row_major(%a: tensor<4096x4096xf32>, %v: tensor<384x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<384x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <3:32, block = 1x64>
    ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<384x4096xf32>, tensor<384x64xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// And copied by 16 bytes from rows of k.
// CHECK-LABEL: func.func @m_major
// CHECK: schedule #nm.simt<block = [128, {{128|256}}, 128], {{.*}}, pack = true
func.func @m_major(%a: tensor<4096x4096xf32>, %v: tensor<384x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<384x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <3:32, block = 1x64> transpose_a
    ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<384x4096xf32>, tensor<384x64xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// Of 128 numbers in a row of A lists name a few where one of 32 is kept: most
// of what a cache hands on 32 bytes at a time is not read.
// CHECK-LABEL: func.func @row_major_one_of_32
// CHECK: schedule #nm.simt<block = [128, {{128|256}}, 128], {{.*}}, pack = true
func.func @row_major_one_of_32(%a: tensor<4096x4096xf32>, %v: tensor<128x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<128x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <1:32, block = 1x64>
    ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<128x4096xf32>, tensor<128x64xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// Rows of k that do not start at multiples of 16 bytes.
// CHECK-LABEL: func.func @m_major_unaligned
// CHECK-NOT: pack = true
func.func @m_major_unaligned(%a: tensor<4096x4094xf32>, %v: tensor<384x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<384x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4094x4096xf32>) -> tensor<4094x4096xf32> {
  %r = nm.spmm <3:32, block = 1x64> transpose_a
    ins(%a, %v, %i : tensor<4096x4094xf32>, tensor<384x4096xf32>, tensor<384x64xi8>)
    outs(%c : tensor<4094x4096xf32>) -> tensor<4094x4096xf32>
  return %r : tensor<4094x4096xf32>
}

// Weights that anyone may pass would be packed, and their lists found, at each
// call.
// CHECK-LABEL: func.func @not_loaded
// CHECK-NOT: pack = true
// CHECK: return
func.func @not_loaded(%a: tensor<4096x4096xf32>, %v: tensor<384x4096xf32>, %i: tensor<384x32xi8>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = nm.spmm <3:32, block = 1x128>
    ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<384x4096xf32>, tensor<384x32xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
