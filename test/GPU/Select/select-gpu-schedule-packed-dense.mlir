// DEFINE: %{chip} = sm_90a
// DEFINE: %{options} =
// DEFINE: %{select} = nm-opt %s --convert-linalg-to-nm --nm-materialize-storage --nm-attach-chip=chip=%{chip} --nm-fit-windows --nm-select-gpu-schedule="%{options}"

// RUN: %{select} 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: %{select} --nm-pack-weights 2>/dev/null | FileCheck %s --check-prefix=PACKED

// Zeros in place of pruned weights may meet no activation, or tensor cores are
// others.
// DEFINE: %{without} = FileCheck %s --check-prefix=WITHOUT --implicit-check-not="#nm.wgmma" --implicit-check-not="packed dense"
// REDEFINE: %{options} = exact-pattern=true
// RUN: %{select} 2>/dev/null | %{without}
// REDEFINE: %{options} =
// REDEFINE: %{chip} = sm_90
// RUN: %{select} 2>/dev/null | %{without}
// WITHOUT: func.func @many(

// What is asked for is packed, too, up to the first that cannot be.
// REDEFINE: %{chip} = sm_90a
// REDEFINE: %{options} = schedule=wgmma
// RUN: not %{select} 2>%t.errors
// RUN: FileCheck %s --check-prefix=ERROR --implicit-check-not=error: < %t.errors
// REDEFINE: %{options} = schedule=wgmma exact-pattern=true
// RUN: not %{select} 2>&1 | FileCheck %s --check-prefix=EXACT
// EXACT: error: {{.*}}strategy wgmma multiplies zeros in place of pruned weights, which dense-fallback=false forbids

// Where weights are kept that are loaded is not known before. Tensor cores
// multiply them, dense and packed at load, faster than cuBLAS.
// CHECK-LABEL: func.func @many(
// CHECK: %[[B:.*]] = nm.decompress <unstructured, kept = 1258291>
// CHECK-NOT: nm.decompress
// CHECK: %[[P:.*]]:2 = nm.compress <1:1, block = 1x128> ins(%[[B]] :
// CHECK-NEXT: nm.spmm <1:1, block = 1x128> schedule #nm.wgmma<{{.*}}splits = 3>> ins(%{{.*}}, %[[P]]#0, %[[P]]#1 :
// CHECK-SAME: #nm.alternative<name = "own", strategy = "simt", estimate_us = {{[0-9.]+}}>
// CHECK-SAME: #nm.alternative<name = "packed dense", strategy = "wgmma", estimate_us = {{[0-9.]+}}, chosen = true>
// CHECK-SAME: #nm.alternative<name = "dense", strategy = "cublas"
// REMARK: m = 2048, n = 2048, k = 2048, f32: strategy wgmma on sm_90{{.*}}cuBLAS is estimated to take {{.*}}; dense weights are packed when they are loaded, as 3 bf16 each that add up to them, which is faster: {{[0-9.]+}} us by strategy simt;
// PACKED: func.func @many.pack(
// PACKED: nm.decompress
// PACKED: nm.compress
// PACKED: nm.pack <1:1, block = 1x128> {{.*}}splits = 3
// PACKED: func.func @many({{.*}}xbf16> {nm.packed_values_of = 1 : i64}
// PACKED-NOT: nm.compress
// PACKED: return
func.func @many(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32, #nm.encoding<unstructured, kept = 1258291>>) -> tensor<2048x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32, #nm.encoding<unstructured, kept = 1258291>>) outs(%f : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %p : tensor<2048x2048xf32>
}

// So they are where a tenth is kept, and n is not a multiple of a unit's.
// CHECK-LABEL: func.func @tenth(
// CHECK: nm.compress <1:1, block = 1x128> {{.*}}tensor<1000x1024xf32>
// CHECK: nm.spmm <1:1, block = 1x128> {{.*}}schedule #nm.wgmma<
// REMARK: n = 1000, {{.*}}strategy wgmma on sm_90{{.*}}which is faster: {{[0-9.]+}} us by strategy simt_columns;
func.func @tenth(%a: tensor<1000x4096xf32>, %b: tensor<1000x1000xf32, #nm.encoding<unstructured, kept = 100000>>) -> tensor<4096x1000xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x1000xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x1000xf32>) -> tensor<4096x1000xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<1000x4096xf32>, tensor<1000x1000xf32, #nm.encoding<unstructured, kept = 100000>>) outs(%f : tensor<4096x1000xf32>) -> tensor<4096x1000xf32>
  return %p : tensor<4096x1000xf32>
}

// What is a little faster is not worth the memory.
// CHECK-LABEL: func.func @little(
// CHECK: schedule #nm.simt_columns<
// CHECK-SAME: #nm.alternative<name = "packed dense", strategy = "wgmma", estimate_us = {{[0-9.]+}}>
// REMARK: strategy simt_columns on {{.*}}; packed dense it is estimated to take {{[0-9.]+}} us, which is too little less;
func.func @little(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32, #nm.encoding<unstructured, kept = 314573>>) -> tensor<2048x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32, #nm.encoding<unstructured, kept = 314573>>) outs(%f : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %p : tensor<2048x2048xf32>
}

// Of few weights the columns are faster.
// CHECK-LABEL: func.func @few(
// CHECK: schedule #nm.simt_columns<
// CHECK-SAME: #nm.alternative<name = "packed dense", strategy = "wgmma", estimate_us = {{[0-9.]+}}>
func.func @few(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32, #nm.encoding<unstructured, kept = 41943>>) -> tensor<2048x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32, #nm.encoding<unstructured, kept = 41943>>) outs(%f : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %p : tensor<2048x2048xf32>
}

// Zeros fill up n of less than the 64 columns of strategy wgmma.
// CHECK-LABEL: func.func @narrow(
// CHECK: #nm.alternative<name = "packed dense", strategy = "wgmma", estimate_us = {{[0-9.]+}}
func.func @narrow(%a: tensor<2048x2048xf32>, %b: tensor<2048x48xf32, #nm.encoding<unstructured, kept = 49152>>) -> tensor<2048x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x48xf32>) -> tensor<2048x48xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<2048x2048xf32>, tensor<2048x48xf32, #nm.encoding<unstructured, kept = 49152>>) outs(%f : tensor<2048x48xf32>) -> tensor<2048x48xf32>
  return %p : tensor<2048x48xf32>
}

// In f16 cuBLAS is as fast.
// CHECK-LABEL: func.func @half(
// CHECK-NOT: packed dense
// CHECK: schedule #nm.cublas<
// CHECK-NOT: packed dense
func.func @half(%a: tensor<2048x2048xf16>, %b: tensor<2048x2048xf16, #nm.encoding<unstructured, kept = 1258291>>) -> tensor<2048x2048xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<2048x2048xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<2048x2048xf16>, tensor<2048x2048xf16, #nm.encoding<unstructured, kept = 1258291>>) outs(%f : tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  return %p : tensor<2048x2048xf16>
}

// Two products have the weights packed at load, too: each is chosen for itself.
// CHECK-LABEL: func.func @two(
// CHECK: nm.spmm {{.*}}schedule #nm.wgmma<{{.*}}splits = 3{{.*}}packed dense
// CHECK: nm.spmm {{.*}}schedule #nm.wgmma<{{.*}}splits = 3{{.*}}packed dense
func.func @two(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32, #nm.encoding<unstructured, kept = 1258291>>) -> tensor<2048x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32, #nm.encoding<unstructured, kept = 1258291>>) outs(%f : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %q = linalg.matmul ins(%p, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32, #nm.encoding<unstructured, kept = 1258291>>) outs(%f : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %q : tensor<2048x2048xf32>
}

// Weights that a function of the module passes would be packed at each call.
// CHECK-LABEL: func.func private @own(
// CHECK-NOT: packed dense
// ERROR: [[# @LINE + 5]]:8: error: 'nm.spmm' op strategy wgmma has no dense weights of each call
func.func private @own(%a: tensor<2048x2048xf32>, %b: tensor<2048x2048xf32, #nm.encoding<unstructured, kept = 1258291>>) -> tensor<2048x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<2048x2048xf32>, tensor<2048x2048xf32, #nm.encoding<unstructured, kept = 1258291>>) outs(%f : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %p : tensor<2048x2048xf32>
}
