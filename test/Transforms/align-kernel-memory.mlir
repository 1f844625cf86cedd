// RUN: nm-opt %s --pass-pipeline="builtin.module(gpu.module(nm-align-kernel-memory))" | FileCheck %s

// CHECK: gpu.module @kernels attributes {llvm.data_layout = "e-p6:32:32-i64:64-{{.*}}"}
// Only memory whose size a launch gives is aligned.
// CHECK: llvm.mlir.global internal @__dynamic_shmem__0() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.mlir.global internal @static() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x i8>
// CHECK: llvm.mlir.global internal @table() {addr_space = 0 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
gpu.module @kernels {
  llvm.mlir.global internal @__dynamic_shmem__0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  llvm.mlir.global internal @static() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x i8>
  llvm.mlir.global internal @table() {alignment = 16 : i64} : !llvm.array<0 x i8>
}
