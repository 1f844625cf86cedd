// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule --split-input-file 2>%t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.log
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=schedule=gemv --split-input-file 2>%t.gemv.log | FileCheck %s --check-prefix=GEMV
// RUN: FileCheck %s --check-prefix=ASKED --input-file=%t.gemv.log

// ASKED: weights of 4 bits are dequantized before the product, at each call: the schedule option asks for strategy gemv

// Registers convert the weights, and a tile of k has whole groups.
// CHECK-LABEL: func.func @decode
// CHECK-NOT: linalg.generic
// CHECK: nm.spmm <2:4> schedule #nm.mma_sp<block = [8, {{.*}}bits = 4> quantization <bits = 4, group = 128>
// CHECK-SAME: weights stay in 4 bits, which registers convert"
// nm-pack-weights dequantizes them, behind what it packs when they are loaded.
// GEMV-LABEL: func.func @decode
// GEMV-NOT: linalg.generic
// GEMV: nm.spmm <2:4> schedule #nm.gemv<{{.*}} quantization <bits = 4, group = 128> ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<1x4096xf16>, tensor<2048x4096xi8>
// GEMV-SAME: scales(
func.func @decode(%a: tensor<1x4096xf16>, %v: tensor<2048x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<2048x4096xi8> {nm.indices_of = 1 : i64}, %s: tensor<32x4096xf16>, %c: tensor<1x4096xf32>) -> tensor<1x4096xf32> {
  %r = nm.spmm <2:4> quantization <bits = 4, group = 128> ins(%a, %v, %i : tensor<1x4096xf16>, tensor<2048x4096xi8>, tensor<2048x4096xi8>)
    scales(%s : tensor<32x4096xf16>) outs(%c : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  return %r : tensor<1x4096xf32>
}

// -----

// Tensor cores wait for the conversion, but not for as long as a kernel of its
// own takes.
// CHECK-LABEL: func.func @some
// CHECK: nm.spmm <2:4> schedule #nm.mma_sp<block = [{{[0-9]+}}, {{[0-9]+}}, {{256|512}}], warp = [{{[0-9]+}}, 16], {{.*}}bits = 8>
// CHECK-SAME: weights stay in 8 bits, which registers convert; weights that are bf16 when they are loaded are estimated to take {{[0-9.]+}} us by strategy wgmma_sp"
func.func @some(%a: tensor<64x4096xbf16>, %v: tensor<2048x4096xi8>, %i: tensor<2048x4096xi8>, %s: tensor<16x4096xbf16>, %c: tensor<64x4096xbf16>) -> tensor<64x4096xbf16> {
  %r = nm.spmm <2:4> quantization <bits = 8, group = 256> ins(%a, %v, %i : tensor<64x4096xbf16>, tensor<2048x4096xi8>, tensor<2048x4096xi8>)
    scales(%s : tensor<16x4096xbf16>) outs(%c : tensor<64x4096xbf16>) -> tensor<64x4096xbf16>
  return %r : tensor<64x4096xbf16>
}

// -----

// Of as many rows that weights are converted in less time before.
// REMARK: weights of 4 bits are dequantized before the product, at each call: estimated {{[0-9.]+}} us;
// CHECK-LABEL: func.func @many
// CHECK: nm.spmm <2:4> schedule #nm.wgmma_sp<{{.*}} quantization <bits = 4, group = 128>
func.func @many(%a: tensor<4096x4096xf16>, %v: tensor<2048x11008xi8>, %i: tensor<2048x11008xi8>, %s: tensor<32x11008xf16>, %c: tensor<4096x11008xf16>) -> tensor<4096x11008xf16> {
  %r = nm.spmm <2:4> quantization <bits = 4, group = 128> ins(%a, %v, %i : tensor<4096x4096xf16>, tensor<2048x11008xi8>, tensor<2048x11008xi8>)
    scales(%s : tensor<32x11008xf16>) outs(%c : tensor<4096x11008xf16>) -> tensor<4096x11008xf16>
  return %r : tensor<4096x11008xf16>
}

// -----

// REMARK: weights of 8 bits are dequantized before the product, at each call: strategy mma_sync expected units of a multiple of 8 columns, but got 1; strategy mma_sp expected scales of groups of 32, 64, 128 or 256 rows of k, or of all, for quantized weights, but got groups of 48
// CHECK-LABEL: func.func @group
// CHECK: nm.spmm <2:4> schedule #nm.{{.*}} quantization <bits = 8, group = 48>
func.func @group(%a: tensor<16x96xf16>, %v: tensor<48x64xi8>, %i: tensor<48x64xi8>, %s: tensor<2x64xf16>, %c: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %r = nm.spmm <2:4> quantization <bits = 8, group = 48> ins(%a, %v, %i : tensor<16x96xf16>, tensor<48x64xi8>, tensor<48x64xi8>)
    scales(%s : tensor<2x64xf16>) outs(%c : tensor<16x64xf32>) -> tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}

// -----

// Columns that share their rows are converted for mma.sync.
// CHECK-LABEL: func.func @vectors
// CHECK: nm.spmm <8:32, block = 1x32> schedule #nm.mma_sync<{{.*}}bits = 4, {{.*}}chunk_rows = {{2|16}}>> quantization <bits = 4, group = 32>
// CHECK-SAME: weights stay in 4 bits, which registers convert
func.func @vectors(%a: tensor<16x4096xf16>, %v: tensor<1024x4096xi8>, %i: tensor<1024x128xi8>, %s: tensor<128x4096xf16>, %c: tensor<16x4096xf32>) -> tensor<16x4096xf32> {
  %r = nm.spmm <8:32, block = 1x32> quantization <bits = 4, group = 32> ins(%a, %v, %i : tensor<16x4096xf16>, tensor<1024x4096xi8>, tensor<1024x128xi8>)
    scales(%s : tensor<128x4096xf16>) outs(%c : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  return %r : tensor<16x4096xf32>
}

// -----

// REMARK: weights of 8 bits are dequantized before the product, at each call: strategy mma_sync expected at most 64 rows of A for quantized weights, but got 128; strategy mma_sp expected a pattern that keeps at most 2 of each 4 rows for a sparse operand, but 8:32, block = 1x32 may keep 4
// CHECK-LABEL: func.func @many_of_vectors
// CHECK: nm.spmm <8:32, block = 1x32> {{.*}}schedule #nm.{{.*}} quantization <bits = 8, group = 32>
func.func @many_of_vectors(%a: tensor<128x96xf16>, %v: tensor<24x64xi8>, %i: tensor<24x2xi8>, %s: tensor<3x64xf16>, %c: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %r = nm.spmm <8:32, block = 1x32> quantization <bits = 8, group = 32> ins(%a, %v, %i : tensor<128x96xf16>, tensor<24x64xi8>, tensor<24x2xi8>)
    scales(%s : tensor<3x64xf16>) outs(%c : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %r : tensor<128x64xf32>
}

// -----

// No strategy of ours is as fast with weights of their own rows, of many rows
// of A: they become dense when they are loaded, a byte each, and eight at once
// are dequantized by a thread.
// REMARK: weights are made dense when they are loaded, a byte each
// CHECK-LABEL: func.func @dense
// CHECK: %[[DENSE:.*]] = nm.decompress <8:32> ins(%arg1, %arg2 : {{.*}} -> tensor<4096x4096xi8>
// CHECK: %[[VALUES:.*]]:2 = nm.compress <1:1, block = 1x32> ins(%[[DENSE]]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]} outs(%{{.*}} : tensor<4096x512x8xf16>)
// CHECK: tensor.extract %[[VALUES]]#0
// CHECK: nm.spmm <1:1, block = 1x32> schedule #nm.cublas<
// CHECK-SAME: calls cuBLAS with dense weights, which is faster: {{[0-9.]+}} us by strategy gemv; weights are made dense when they are loaded, a byte each, and dequantized in estimated {{[0-9.]+}} us before; pruned weights then turn infinite
// GEMV-LABEL: func.func @dense
// GEMV: nm.spmm <8:32> schedule #nm.gemv<{{.*}} quantization <bits = 4, group = 128>
func.func @dense(%a: tensor<1024x4096xf16>, %v: tensor<1024x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<1024x4096xi8> {nm.indices_of = 1 : i64}, %s: tensor<32x4096xf16>, %c: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %r = nm.spmm <8:32> quantization <bits = 4, group = 128> ins(%a, %v, %i : tensor<1024x4096xf16>, tensor<1024x4096xi8>, tensor<1024x4096xi8>)
    scales(%s : tensor<32x4096xf16>) outs(%c : tensor<1024x4096xf16>) -> tensor<1024x4096xf16>
  return %r : tensor<1024x4096xf16>
}

// -----

// A bitmap of few rows would be packed at each call, which takes longer than
// gemv, whose weights are packed in 4 bits when they are loaded.
// CHECK-LABEL: func.func @few
// CHECK: nm.spmm <8:32> schedule #nm.gemv<{{.*}} quantization <bits = 4, group = 128>
// CHECK-SAME: #nm.alternative<name = "dequantized", strategy = "gemv"
func.func @few(%a: tensor<16x4096xf16>, %v: tensor<1024x4096xi8> {nm.values_of = 1 : i64}, %i: tensor<1024x4096xi8> {nm.indices_of = 1 : i64}, %s: tensor<32x4096xf16>, %c: tensor<16x4096xf16>) -> tensor<16x4096xf16> {
  %r = nm.spmm <8:32> quantization <bits = 4, group = 128> ins(%a, %v, %i : tensor<16x4096xf16>, tensor<1024x4096xi8>, tensor<1024x4096xi8>)
    scales(%s : tensor<32x4096xf16>) outs(%c : tensor<16x4096xf16>) -> tensor<16x4096xf16>
  return %r : tensor<16x4096xf16>
}
