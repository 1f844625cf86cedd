// RUN: nm-opt %s --nm-mark-steps | FileCheck %s

// Behind each step, its number; the steps are described in order.
// CHECK-LABEL: func.func @f(
// CHECK-SAME: nm.steps = [{bytes = 64 : i64, kernel = "", name = "linalg.generic(exp)", place = "x.mlir:3:8"},
// CHECK-SAME: {bytes = 64 : i64, kernel = "f_kernel", name = "nm.spmm <2:4> simt", place = "x.mlir:4:2"},
// CHECK-SAME: {bytes = -1 : i64, kernel = "", name = "func.call", place = "
// CHECK: scf.for
// CHECK: }
// CHECK-NEXT: %[[ZERO:.*]] = llvm.mlir.constant(0 : i64)
// CHECK-NEXT: llvm.call @nmMarkStep(%[[ZERO]])
// CHECK: gpu.launch_func
// CHECK-NEXT: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK-NEXT: llvm.call @nmMarkStep(%[[ONE]])
// CHECK: call @shared
// CHECK-NEXT: %[[TWO:.*]] = llvm.mlir.constant(2 : i64)
// CHECK-NEXT: llvm.call @nmMarkStep(%[[TWO]])
// CHECK-NOT: nmMarkStep
// CHECK: return
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @f_kernel(%x: memref<8xf32>, %y: memref<8xf32>) kernel {
      gpu.return
    }
  }
  func.func @f(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %a = memref.load %x[%i] : memref<8xf32>
      %e = math.exp %a : f32
      memref.store %e, %y[%i] : memref<8xf32>
    } loc("linalg.generic(exp)"("x.mlir":3:8))
    gpu.launch_func @kernels::@f_kernel blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%x : memref<8xf32>, %y : memref<8xf32>) loc("nm.spmm <2:4> simt"("x.mlir":4:2))
    func.call @shared(%z) : (memref<?xf32>) -> ()
    return
  }
  // CHECK-LABEL: func private @shared
  // CHECK-NOT: nmMarkStep
  func.func private @shared(%z: memref<?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %zero, %z[%i] : memref<?xf32>
    }
    return
  }
  // Packing runs once, where weights are loaded.
  // CHECK-LABEL: func.func @f.pack(
  // CHECK-NOT: nmMarkStep
  func.func @f.pack(%z: memref<?xf32>) attributes {nm.host} {
    func.call @shared(%z) : (memref<?xf32>) -> ()
    return
  }
}
