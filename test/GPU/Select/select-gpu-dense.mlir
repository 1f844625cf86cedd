// RUN: nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule --split-input-file --verify-diagnostics | FileCheck %s
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_90 --nm-select-gpu-schedule="schedule=cublas" --split-input-file 2>&1 | FileCheck %s --check-prefix=GIVEN

// Where dense is faster, weights that are loaded become dense.
// CHECK-LABEL: func.func @dense
// CHECK: %[[B:.*]] = nm.decompress <1:2>
// CHECK: %[[V:.*]]:2 = nm.compress <1:1, block = 1x32> ins(%[[B]] :
// CHECK: nm.spmm <1:1, block = 1x32> schedule #nm.cublas<own = #nm.simt<block = [{{.*}}], warp = [{{.*}}], thread = [{{.*}}]{{.*}}> ins(%{{.*}}, %[[V]]#0, %[[V]]#1 :
// CHECK-SAME: falls_back = true, reason = "calls cuBLAS with dense weights
func.func @dense(%a: tensor<4096x4096xf32>, %v: tensor<2048x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  // expected-remark @+1 {{f32: strategy cublas on sm_90; estimated 2776.9 us; calls cuBLAS with dense weights, which is faster: }}
  %r = nm.spmm <1:2>
    ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<2048x4096xf32>, tensor<2048x4096xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// Those of i8 that are no sparse operand are packed with the k of each column
// side by side.
// CHECK-LABEL: func.func @i8
// CHECK: nm.spmm <1:1, block = 1x32> schedule #nm.cublas<own = #nm.loops, packing = <panel = 32, index_bits = 1, chunk_rows = 1024, index_rows = 1024>>
func.func @i8(%a: tensor<256x1024xi8>, %v: tensor<384x512xi8> {nm.values_of = 1 : i64}, %i: tensor<384x512xi8> {nm.indices_of = 1 : i64}, %c: tensor<256x512xi32>) -> tensor<256x512xi32> {
  // expected-remark @+1 {{by strategy gemv; schedule #nm.cublas<own = #nm.loops, packing}}
  %r = nm.spmm <3:8>
    ins(%a, %v, %i : tensor<256x1024xi8>, tensor<384x512xi8>, tensor<384x512xi8>)
    outs(%c : tensor<256x512xi32>) -> tensor<256x512xi32>
  return %r : tensor<256x512xi32>
}

// -----

// Unless they come with each call, or A is m-major, which the record says.
// CHECK-LABEL: func.func @i8_not_loaded
// CHECK: nm.spmm <1:1, block = 1x32> schedule #nm.cublas<own = #nm.loops> ins
func.func @i8_not_loaded(%a: tensor<256x1024xi8>, %v: tensor<1024x512xi8>, %i: tensor<1024x16xi8>, %c: tensor<256x512xi32>) -> tensor<256x512xi32> {
  // expected-remark @+1 {{slow, for the columns of its weights are not contiguous: its weights come with each call; schedule #nm.cublas<own = #nm.loops>}}
  %r = nm.spmm <1:1, block = 1x32>
    ins(%a, %v, %i : tensor<256x1024xi8>, tensor<1024x512xi8>, tensor<1024x16xi8>)
    outs(%c : tensor<256x512xi32>) -> tensor<256x512xi32>
  return %r : tensor<256x512xi32>
}

// -----

// Weights that come with each call stay as they are.
func.func @not_loaded(%a: tensor<4096x4096xf32>, %v: tensor<2048x4096xf32>, %i: tensor<2048x4096xi8>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  // expected-remark @+1 {{cuBLAS would take 2776.9 us, but its weights would have to be decompressed at each call}}
  %r = nm.spmm <1:2>
    ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<2048x4096xf32>, tensor<2048x4096xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// A dense matrix gets units that tiles can end between, and is not packed.
// CHECK-LABEL: func.func @weights
// CHECK: nm.spmm <1:1, block = 1x8> schedule #nm.cublas<own = #nm.simt<block = [{{.*}}], warp = [{{.*}}], thread = [{{.*}}]{{.*}}> ins({{.*}}tensor<512x125xi8>)
func.func @weights(%a: tensor<?x512xf16>, %v: tensor<512x1000xf16>, %i: tensor<512x20xi8>, %c: tensor<?x1000xf32>) -> tensor<?x1000xf32> {
  // expected-remark @+1 {{strategy cublas on sm_90; estimated 5.0 us; calls cuBLAS with dense weights, which is faster: }}
  %r = nm.spmm <1:1, block = 1x50>
    ins(%a, %v, %i : tensor<?x512xf16>, tensor<512x1000xf16>, tensor<512x20xi8>)
    outs(%c : tensor<?x1000xf32>) -> tensor<?x1000xf32>
  return %r : tensor<?x1000xf32>
}

// -----

// The sparse product is faster, unless an option says otherwise.
// CHECK-LABEL: func.func @sparse
// CHECK: schedule #nm.simt<
// GIVEN: error: {{.*}}its weights would have to be decompressed at each call
// GIVEN: calls cuBLAS with dense weights, as the schedule option says
// GIVEN-LABEL: func.func @sparse
// GIVEN: nm.spmm <1:1, block = 1x32> schedule #nm.cublas<
func.func @sparse(%a: tensor<4096x4096xf32>, %v: tensor<512x4096xf32> {nm.values_of = 1 : i64}, %i: tensor<512x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  // expected-remark @+1 {{cuBLAS is estimated to take 2776.9 us with dense weights}}
  %r = nm.spmm <4:32, block = 1x64>
    ins(%a, %v, %i : tensor<4096x4096xf32>, tensor<512x4096xf32>, tensor<512x64xi8>)
    outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}

// -----

// Of short sums of bytes cuBLAS takes those of few columns only, which are our
// rows where C is transposed. GIVEN asks all the same.
// CHECK-LABEL: func.func @short_sums_of_bytes
// CHECK: schedule #nm.gemv
// CHECK: schedule #nm.cublas
// CHECK: schedule #nm.gemv
// GIVEN-LABEL: func.func @short_sums_of_bytes
// GIVEN-COUNT-3: schedule #nm.cublas
func.func @short_sums_of_bytes(%a: tensor<4096x132xi8>, %v: tensor<132x4096xi8>, %i: tensor<132x128xi8>, %c: tensor<4096x4096xi32>,
                               %a2: tensor<4096x136xi8>, %v2: tensor<136x4096xi8>, %i2: tensor<136x128xi8>, %c2: tensor<4096x4096xi32>,
                               %a3: tensor<28x132xi8>, %c3: tensor<4096x28xi32>) -> (tensor<4096x4096xi32>, tensor<4096x4096xi32>, tensor<4096x28xi32>) {
  // expected-remark @+1 {{cuBLAS refuses sums of i8 that are as short}}
  %r = nm.spmm <1:1, block = 1x32>
    ins(%a, %v, %i : tensor<4096x132xi8>, tensor<132x4096xi8>, tensor<132x128xi8>)
    outs(%c : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  // expected-remark @+1 {{calls cuBLAS with dense weights}}
  %r2 = nm.spmm <1:1, block = 1x32>
    ins(%a2, %v2, %i2 : tensor<4096x136xi8>, tensor<136x4096xi8>, tensor<136x128xi8>)
    outs(%c2 : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  // expected-remark @+1 {{cuBLAS is estimated to take}}
  %r3 = nm.spmm <1:1, block = 1x32> transpose_c
    ins(%a3, %v, %i : tensor<28x132xi8>, tensor<132x4096xi8>, tensor<132x128xi8>)
    outs(%c3 : tensor<4096x28xi32>) -> tensor<4096x28xi32>
  return %r, %r2, %r3 : tensor<4096x4096xi32>, tensor<4096x4096xi32>, tensor<4096x28xi32>
}

// -----

// cuBLAS wants whole words of bytes, in sizes that are known, unless both
// operands are contiguous along k: then that of A's rows is free.
// CHECK-LABEL: func.func @rows_of_bytes
// CHECK-NOT: schedule #nm.cublas
func.func @rows_of_bytes(%a: tensor<?x4096xi8>, %v: tensor<4096x4096xi8>, %i: tensor<4096x128xi8>, %c: tensor<?x4096xi32>) -> tensor<?x4096xi32> {
  // expected-remark @+1 {{cuBLAS multiplies i8 that is contiguous along k, or whose sizes are all known multiples of 4, but of this product its weights come with each call}}
  %r = nm.spmm <1:1, block = 1x32>
    ins(%a, %v, %i : tensor<?x4096xi8>, tensor<4096x4096xi8>, tensor<4096x128xi8>)
    outs(%c : tensor<?x4096xi32>) -> tensor<?x4096xi32>
  return %r : tensor<?x4096xi32>
}
// CHECK-LABEL: func.func @free_rows_of_bytes
// CHECK: schedule #nm.cublas<
func.func @free_rows_of_bytes(%a: tensor<?x4096xi8>, %v: tensor<4096x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<4096x128xi8> {nm.indices_of = 1 : i64}, %c: tensor<?x4096xi32>) -> tensor<?x4096xi32> {
  // expected-remark @+1 {{calls cuBLAS with dense weights}}
  %r = nm.spmm <1:1, block = 1x32>
    ins(%a, %v, %i : tensor<?x4096xi8>, tensor<4096x4096xi8>, tensor<4096x128xi8>)
    outs(%c : tensor<?x4096xi32>) -> tensor<?x4096xi32>
  return %r : tensor<?x4096xi32>
}
// CHECK-LABEL: func.func @rows_of_c
// CHECK-NOT: schedule #nm.cublas
func.func @rows_of_c(%a: tensor<128x4096xi8>, %v: tensor<4096x4098xi8> {nm.values_of = 1 : i64}, %i: tensor<4096x2049xi8> {nm.indices_of = 1 : i64}, %c: tensor<128x4098xi32>) -> tensor<128x4098xi32> {
  // expected-remark @+1 {{cuBLAS multiplies i8 where k and the length of C's rows are known multiples of 4}}
  %r = nm.spmm <1:1, block = 1x2>
    ins(%a, %v, %i : tensor<128x4096xi8>, tensor<4096x4098xi8>, tensor<4096x2049xi8>)
    outs(%c : tensor<128x4098xi32>) -> tensor<128x4098xi32>
  return %r : tensor<128x4098xi32>
}

// -----

// cuBLAS' place is taken by tiles that are chosen for units of a divisor of 32
// columns: those of 50, as 1000 columns come with, get 8.
// CHECK-LABEL: func.func @odd_units
// CHECK: nm.spmm <1:1, block = 1x8> schedule #nm.cublas<
func.func @odd_units(%a: tensor<64x2048xf32>, %c: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %v = arith.constant dense_resource<dense_weights> : tensor<2048x1000xf32>
  %i = arith.constant dense<0> : tensor<2048x20xi8>
  // expected-remark @+1 {{calls cuBLAS with dense weights}}
  %r = nm.spmm <1:1, block = 1x50>
    ins(%a, %v, %i : tensor<64x2048xf32>, tensor<2048x1000xf32>, tensor<2048x20xi8>)
    outs(%c : tensor<64x1000xf32>) -> tensor<64x1000xf32>
  return %r : tensor<64x1000xf32>
}
