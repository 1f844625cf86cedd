// DEFINE: %{select} = nm-opt %s --convert-linalg-to-nm --nm-materialize-storage --nm-attach-chip=chip=sm_90a --nm-fit-windows --nm-select-gpu-schedule

// RUN: %{select} 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: %{select} --nm-pack-weights 2>/dev/null | FileCheck %s --check-prefix=PACKED
// RUN: nm-run %s --target=sim:sm_90a --random --check --function=few --compile-options="schedule=cublas" 2>&1 | FileCheck %s --check-prefix=SIM

// Unstructured weights of i8 that are loaded, and become dense, are packed with
// the k of each column side by side, which cuBLAS multiplies many times faster.
// CHECK-LABEL: func.func @bytes(
// CHECK: nm.spmm <1:1, block = 1x32> schedule #nm.cublas<own = #nm.loops, packing = <panel = 32, index_bits = 1, chunk_rows = 4096, index_rows = 4096>>
// REMARK: i8: strategy cublas on sm_90;
// REMARK-NOT: are not contiguous
// PACKED: func.func @bytes.pack(
// PACKED: nm.decompress
// PACKED: nm.pack <1:1, block = 1x32>
// PACKED: func.func @bytes(
// PACKED-NOT: = nm.{{decompress|compress|pack}} <
// PACKED: return
// SIM: check: result 0 of @few: passed
func.func @bytes(%a: tensor<256x4096xi8>, %b: tensor<4096x4096xi8, #nm.encoding<unstructured, kept = 8388608>>) -> tensor<256x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<256x4096xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<256x4096xi32>) -> tensor<256x4096xi32>
  %p = linalg.matmul ins(%a, %b : tensor<256x4096xi8>, tensor<4096x4096xi8, #nm.encoding<unstructured, kept = 8388608>>) outs(%f : tensor<256x4096xi32>) -> tensor<256x4096xi32>
  return %p : tensor<256x4096xi32>
}

// Few rows, for the simulator, which has no cuBLAS.
func.func @few(%a: tensor<8x300xi8>, %b: tensor<300x100xi8, #nm.encoding<unstructured, kept = 15000>>) -> tensor<8x100xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8x100xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<8x100xi32>) -> tensor<8x100xi32>
  %p = linalg.matmul ins(%a, %b : tensor<8x300xi8>, tensor<300x100xi8, #nm.encoding<unstructured, kept = 15000>>) outs(%f : tensor<8x100xi32>) -> tensor<8x100xi32>
  return %p : tensor<8x100xi32>
}
