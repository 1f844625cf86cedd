// RUN: nm-opt %s --nm-select-schedule="threads=2 features=+avx512f" --split-input-file --verify-diagnostics | FileCheck %s
// RUN: nm-opt %s --nm-select-schedule="threads=1 features=avx2,fma" --split-input-file 2>&1 | FileCheck %s --check-prefix=AVX2
// RUN: nm-opt %s --nm-select-schedule="schedule=loops" --split-input-file 2>&1 | FileCheck %s --check-prefix=LOOPS
// RUN: nm-opt %s --nm-select-schedule="features=+avx512f dense-fallback=false schedule='vector<block = [32, 64, 128], thread = [16, 8]>'" --split-input-file 2>/dev/null | FileCheck %s --check-prefix=GIVEN

// The example of the pass's description.
// AVX2: vectors of 8 lanes along m, because m = 256 fills them; {{.*}} on 1 thread;
// LOOPS: remark: nm.spmm <2:4> (50.0 % sparse), m = 256, n = 96, k = 64, f32: strategy loops; as the schedule option says
// CHECK-LABEL: func.func @along_m
// LOOPS-LABEL: func.func @along_m
// GIVEN-LABEL: func.func @along_m
func.func @along_m(%a: tensor<256x64xf32>, %v: tensor<32x96xf32> {nm.values_of = 1 : i64}, %i: tensor<32x96xi8> {nm.indices_of = 1 : i64}, %c: tensor<256x96xf32>) -> tensor<256x96xf32> {
  // CHECK: nm.spmm <2:4> schedule #nm.vector<block = [{{[0-9]+, [0-9]+, [0-9]+}}], thread = [{{[0-9]+, [0-9]+}}], packing = <panel = {{[0-9]+}}, index_bits = {{[0-9]+}}>>
  // LOOPS: nm.spmm <2:4> schedule #nm.loops ins
  // GIVEN: nm.spmm <2:4> schedule #nm.vector<block = [32, 64, 128], thread = [16, 8], packing
  // expected-remark-re @+1 {{nm.spmm <2:4> (50.0 % sparse), m = 256, n = 96, k = 64, f32: strategy vector, vectors of 16 lanes along m, because m = 256 fills them; estimated {{[0-9.]+}} us beside {{[0-9.]+}} us for a dense BLAS ({{[0-9.]+}}x) on 2 threads; the product with its zeros skipped is faster; schedule #nm.vector<{{.*}}>}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<256x64xf32>, tensor<32x96xf32>, tensor<32x96xi8>) outs(%c : tensor<256x96xf32>) -> tensor<256x96xf32>
  return %r : tensor<256x96xf32>
}

// -----

// AVX2: vectors of 8 lanes along n, because m = 1 does not fill them;
// CHECK-LABEL: func.func @along_n
func.func @along_n(%x: tensor<64xf16>, %v: tensor<16x96xf16> {nm.values_of = 1 : i64}, %i: tensor<16x96xi8> {nm.indices_of = 1 : i64}, %y: tensor<96xf32>) -> tensor<96xf32> {
  // CHECK: nm.spmv <1:4> schedule #nm.vector<{{.*}} thread = [1, {{[0-9]+}}],
  // expected-remark @+1 {{nm.spmv <1:4> (75.0 % sparse), m = 1, n = 96, k = 64, f16: strategy vector, vectors of 16 lanes along n, because m = 1 does not fill them;}}
  %r = nm.spmv <1:4> ins(%x, %v, %i : tensor<64xf16>, tensor<16x96xf16>, tensor<16x96xi8>) outs(%y : tensor<96xf32>) -> tensor<96xf32>
  return %r : tensor<96xf32>
}

// -----

// CHECK-LABEL: func.func @dynamic_m
func.func @dynamic_m(%a: tensor<?x64xbf16>, %v: tensor<32x96xbf16> {nm.values_of = 1 : i64}, %i: tensor<32x96xi8> {nm.indices_of = 1 : i64}, %c: tensor<?x96xf32>) -> tensor<?x96xf32> {
  // expected-remark @+1 {{m = ?, taken to be 256, n = }}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<?x64xbf16>, tensor<32x96xbf16>, tensor<32x96xi8>) outs(%c : tensor<?x96xf32>) -> tensor<?x96xf32>
  return %r : tensor<?x96xf32>
}

// -----

// Weights that are arguments are made dense where they are loaded: see
// nm-pack-weights.
// CHECK-LABEL: func.func @dense_fallback
// CHECK-SAME: %[[A:[^:]*]]: tensor<256x64xf32>, %[[V:[^:]*]]: tensor<63x90xf32> {nm.values_of = 1 : i64}, %[[I:[^:]*]]: tensor<63x90xi8>
// GIVEN-LABEL: func.func @dense_fallback
func.func @dense_fallback(%a: tensor<256x64xf32>, %v: tensor<63x90xf32> {nm.values_of = 1 : i64},
                          %i: tensor<63x90xi8> {nm.indices_of = 1 : i64}, %c: tensor<256x90xf32>) -> tensor<256x90xf32> {
  // CHECK: %[[D:.*]] = nm.decompress <63:64> ins(%[[V]], %[[I]] : {{.*}}) outs(%{{.*}} : tensor<64x90xf32>)
  // CHECK: %[[P:.*]]:2 = nm.compress <1:1, block = 1x16> ins(%[[D]] : {{.*}}) outs(%{{.*}}, %{{.*}} : tensor<64x96xf32>, tensor<64x6xi8>)
  // CHECK: nm.spmm <1:1, block = 1x16> schedule #nm.vector<{{.*}}> ins(%[[A]], %[[P]]#0, %[[P]]#1 :
  // GIVEN-NOT: nm.decompress
  // GIVEN: nm.spmm <63:64>
  // expected-remark-re @+1 {{nm.spmm <63:64> (1.6 % sparse), {{.*}} falls back to dense weights, which are faster: {{[0-9.]+}} us with the zeros skipped; pruned weights then turn infinite and NaN activations into NaN, which dense-fallback=false prevents;}}
  %r = nm.spmm <63:64> ins(%a, %v, %i : tensor<256x64xf32>, tensor<63x90xf32>, tensor<63x90xi8>) outs(%c : tensor<256x90xf32>) -> tensor<256x90xf32>
  return %r : tensor<256x90xf32>
}

// -----

// Constant weights are made dense now.
// CHECK-LABEL: func.func @dense_constant
func.func @dense_constant(%a: tensor<256x8xf32>, %c: tensor<256x2xf32>) -> tensor<256x2xf32> {
  // CHECK: arith.constant dense<"0x0000803F{{0+}}4000000041{{0+}}4040000010410{{.*}}"> : tensor<8x16xf32>
  // CHECK: nm.spmm <1:1, block = 1x16>
  %v = arith.constant dense<[[1.0, 8.0], [2.0, 9.0], [3.0, 7.0], [4.0, 6.0], [5.0, 5.0], [6.0, 4.0], [7.0, 3.0]]> : tensor<7x2xf32>
  %i = arith.constant dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7]]> : tensor<7x2xi8>
  // expected-remark @+1 {{falls back to dense weights, which are faster}}
  %r = nm.spmm <7:8> ins(%a, %v, %i : tensor<256x8xf32>, tensor<7x2xf32>, tensor<7x2xi8>) outs(%c : tensor<256x2xf32>) -> tensor<256x2xf32>
  return %r : tensor<256x2xf32>
}

// -----

// CHECK-LABEL: func.func @dense_at_each_call
func.func @dense_at_each_call(%a: tensor<256x64xf32>, %v: tensor<63x90xf32>, %i: tensor<63x90xi8>, %c: tensor<256x90xf32>) -> tensor<256x90xf32> {
  // CHECK: nm.spmm <63:64> schedule #nm.vector<block = [{{[0-9, ]+}}], thread = [{{[0-9, ]+}}]> ins
  // expected-remark @+1 {{; dense would be faster, but its weights would have to be decompressed at each call; weights stay condensed, for they would be packed at each call;}}
  %r = nm.spmm <63:64> ins(%a, %v, %i : tensor<256x64xf32>, tensor<63x90xf32>, tensor<63x90xi8>) outs(%c : tensor<256x90xf32>) -> tensor<256x90xf32>
  return %r : tensor<256x90xf32>
}

// -----

// Weights that two ops share are packed once for both, which dense ones of one
// of them would prevent.
// CHECK-LABEL: func.func @shared
func.func @shared(%a: tensor<256x64xf32>, %x: tensor<64xf32>, %v: tensor<63x90xf32> {nm.values_of = 2 : i64},
                  %i: tensor<63x90xi8> {nm.indices_of = 2 : i64}, %c: tensor<256x90xf32>, %y: tensor<90xf32>)
    -> (tensor<256x90xf32>, tensor<90xf32>) {
  // CHECK: nm.spmm <63:64> schedule #nm.vector<{{.*}} packing =
  // CHECK: nm.spmv <63:64> schedule #nm.vector<{{.*}} packing =
  // expected-remark @+1 {{; dense would be faster, but other ops use its weights too;}}
  %r = nm.spmm <63:64> ins(%a, %v, %i : tensor<256x64xf32>, tensor<63x90xf32>, tensor<63x90xi8>) outs(%c : tensor<256x90xf32>) -> tensor<256x90xf32>
  // expected-remark @+1 {{nm.spmv}}
  %s = nm.spmv <63:64> ins(%x, %v, %i : tensor<64xf32>, tensor<63x90xf32>, tensor<63x90xi8>) outs(%y : tensor<90xf32>) -> tensor<90xf32>
  return %r, %s : tensor<256x90xf32>, tensor<90xf32>
}

// -----

// CHECK-LABEL: func.func @every_weight
func.func @every_weight(%a: tensor<256x64xf32>, %v: tensor<64x96xf32>, %c: tensor<256x96xf32>) -> tensor<256x96xf32> {
  %i = arith.constant dense<0> : tensor<64x1xi8>
  // expected-remark @+1 {{; the pattern keeps every weight; weights stay condensed, for they would be packed at each call;}}
  %r = nm.spmm <1:1, block = 1x96> ins(%a, %v, %i : tensor<256x64xf32>, tensor<64x96xf32>, tensor<64x1xi8>) outs(%c : tensor<256x96xf32>) -> tensor<256x96xf32>
  return %r : tensor<256x96xf32>
}

// -----

// A schedule that was written by hand is kept.
// CHECK-LABEL: func.func @written
// LOOPS-LABEL: func.func @written
func.func @written(%a: tensor<256x64xf32>, %v: tensor<32x96xf32>, %i: tensor<32x96xi8>, %c: tensor<256x96xf32>) -> tensor<256x96xf32> {
  // CHECK: nm.spmm <2:4> schedule #nm.vector<block = [64, 96, 32], thread = [16, 4]> ins
  // LOOPS: nm.spmm <2:4> schedule #nm.vector<block = [64, 96, 32], thread = [16, 4]> ins
  // expected-remark @+1 {{: strategy vector, vectors of 16 lanes along m; as the schedule it came with says; schedule #nm.vector<block = [64, 96, 32], thread = [16, 4]>}}
  %r = nm.spmm <2:4> schedule #nm.vector<block = [64, 96, 32], thread = [16, 4]>
    ins(%a, %v, %i : tensor<256x64xf32>, tensor<32x96xf32>, tensor<32x96xi8>) outs(%c : tensor<256x96xf32>) -> tensor<256x96xf32>
  return %r : tensor<256x96xf32>
}

// -----

// Weights that are packed already decide the packing.
// CHECK-LABEL: func.func @packed
func.func @packed(%x: tensor<64xf32>, %v: tensor<3x32x16xf32>, %i: tensor<3x32x4xi8>, %y: tensor<48xf32>) -> tensor<48xf32> {
  // CHECK: schedule #nm.vector<{{.*}} packing = <panel = 16, index_bits = 2>> ins
  // expected-remark @+1 {{strategy vector}}
  %r = nm.spmv <2:4> packing #nm.packing<panel = 16, index_bits = 2>
    ins(%x, %v, %i : tensor<64xf32>, tensor<3x32x16xf32>, tensor<3x32x4xi8>) outs(%y : tensor<48xf32>) -> tensor<48xf32>
  return %r : tensor<48xf32>
}
