// RUN: nm-opt %s --nm-encode-tensor-maps | FileCheck %s
// RUN: nm-opt %s --nm-encode-tensor-maps="encoder=nmSimEncodeTensorMap pixel-encoder=nmSimEncodePixelMap" | FileCheck %s --check-prefix=SIM
// RUN: not nm-opt %s --nm-encode-tensor-maps=encoder=taken 2>&1 | FileCheck %s --check-prefix=TAKEN

// The innermost dimension comes first, strides are in bytes, and the tensor
// starts at its first element. A tensor without elements has a map of one.
// SIM: llvm.call @nmSimEncodeTensorMap
// SIM: llvm.call @nmSimEncodePixelMap
// TAKEN: expected the name @taken to be free for the runtime's function
// CHECK-DAG: llvm.func @nmEncodePixelMap(!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i32, i32, !llvm.ptr, i32, i32, i32, i32) -> i32
// CHECK-DAG: llvm.func @nmEncodeTensorMap(!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i32, i32, i32, i32) -> i32
// CHECK-LABEL: func.func @map
// CHECK-SAME: %[[A:.*]]: memref<?x4096xf16
// CHECK: %{{.*}}, %[[OFFSET:.*]], %[[SIZES:.*]]:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[A]]
// CHECK: %[[BASE:.*]] = memref.extract_aligned_pointer_as_index %[[A]]
// CHECK: %[[SHIFT:.*]] = arith.muli %[[OFFSET]], %c2
// CHECK: %[[FIRST:.*]] = arith.addi %[[BASE]], %[[SHIFT]]
// CHECK: %[[TENSOR:.*]] = llvm.inttoptr
// CHECK: arith.maxui %[[SIZES]]#1, %c1
// CHECK: arith.maxui %[[SIZES]]#0, %c1
// CHECK: arith.muli %[[STRIDES]]#0, %c2
// CHECK: llvm.call @nmEncodeTensorMap(%[[BYTES:.*]], %{{.*}}, %{{.*}}, %[[TENSOR]],
// CHECK: %[[MAP:.*]] = llvm.load %[[BYTES]] {alignment = 64 : i64} : !llvm.ptr -> vector<16xi64>
// CHECK: return %[[MAP]]
func.func @map(%a: memref<?x4096xf16, strided<[4096, 1], offset: ?>>) -> vector<16xi64> {
  %map = nm.tensor_map %a box [256, 64] swizzled : memref<?x4096xf16, strided<[4096, 1], offset: ?>> -> vector<16xi64>
  return %map : vector<16xi64>
}

// Rows of boxes of 64 bytes are swizzled, those of 16 are not.
// CHECK-LABEL: func.func @narrow
// CHECK: llvm.mlir.constant(0 : i32) : i32
// CHECK: llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT: %[[SWIZZLE:.*]] = llvm.mlir.constant(2 : i32) : i32
// CHECK-NEXT: llvm.mlir.constant(3 : i32) : i32
// CHECK: llvm.call @nmEncodeTensorMap({{.*}}, %[[SWIZZLE]], %{{[^ ]*}}, %{{[^ ]*}}) :
// CHECK: llvm.mlir.constant(0 : i32) : i32
// CHECK: llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT: %[[NONE:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK-NEXT: llvm.mlir.constant(3 : i32) : i32
// CHECK: llvm.call @nmEncodeTensorMap({{.*}}, %[[NONE]], %{{[^ ]*}}, %{{[^ ]*}}) :
func.func @narrow(%a: memref<128x4096xi8>) -> (vector<16xi64>, vector<16xi64>) {
  %map = nm.tensor_map %a box [128, 64] swizzled : memref<128x4096xi8> -> vector<16xi64>
  %other = nm.tensor_map %a box [128, 16] : memref<128x4096xi8> -> vector<16xi64>
  return %map, %other : vector<16xi64>, vector<16xi64>
}

func.func private @taken()

// Of pixels: corners and steps from the innermost dimension of pixels on, then
// channels and places of a box; a step of 1 for channels and images.
// CHECK-LABEL: func.func @pixels
// CHECK: %[[LEFT:.*]] = llvm.mlir.constant(-2 : i32) : i32
// CHECK-NEXT: %[[TOP:.*]] = llvm.mlir.constant(-1 : i32) : i32
// CHECK: llvm.store %[[LEFT]], %{{.*}} : i32, !llvm.ptr
// CHECK: llvm.store %[[TOP]], %{{.*}} : i32, !llvm.ptr
// CHECK: %[[RIGHT:.*]] = llvm.mlir.constant(-4 : i32) : i32
// CHECK-NEXT: %[[BOTTOM:.*]] = llvm.mlir.constant(-3 : i32) : i32
// CHECK: %[[CHANNELS:.*]] = llvm.mlir.constant(64 : i32) : i32
// CHECK: %[[PLACES:.*]] = llvm.mlir.constant(96 : i32) : i32
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK-NEXT: %[[ALONG_ROW:.*]] = llvm.mlir.constant(2 : i32) : i32
// CHECK-NEXT: %[[ALONG_COLUMN:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK: llvm.call @nmEncodePixelMap({{.*}}, %[[CHANNELS]], %[[PLACES]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) :
func.func @pixels(%x: memref<2x28x30x128xf16>) -> vector<16xi64> {
  %map = nm.tensor_map %x box [1, 1, 96, 64] swizzled pixels [-1, -2] to [-3, -4] step [1, 2] : memref<2x28x30x128xf16> -> vector<16xi64>
  return %map : vector<16xi64>
}
