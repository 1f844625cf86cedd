// RUN: nm-opt %s --nm-launch-on-stream | FileCheck %s

// CHECK-LABEL: func @f(
// CHECK: %[[P:.*]] = llvm.call @nmGetStream() : () -> !llvm.ptr
// CHECK: %[[STREAM:.*]] = builtin.unrealized_conversion_cast %[[P]] : !llvm.ptr to !gpu.async.token
// CHECK: %[[T:.*]], %{{.*}} = gpu.alloc async [%[[STREAM]]] () : memref<4xf32>
// CHECK: %[[HOST:.*]] = memref.get_global @w
// CHECK: %[[I:.*]] = memref.extract_aligned_pointer_as_index %[[HOST]]
// CHECK: %[[CAST:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK: %[[DATA:.*]] = llvm.inttoptr %[[CAST]]
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(16 : i64)
// CHECK: %[[TABLE:.*]] = llvm.mlir.addressof @nm_device_constants
// CHECK: llvm.call @nmDeviceConstant(%[[TABLE]], %[[DATA]], %[[BYTES]])
// CHECK: %[[W:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<4xf32>
// CHECK: gpu.launch_func async [%[[STREAM]]] @kernels::@f {{.*}} dynamic_shared_memory_size %{{.*}} args(%[[W]] : memref<4xf32>, %[[T]] : memref<4xf32>)
// CHECK: gpu.dealloc async [%[[STREAM]]] %[[T]]

// CHECK-LABEL: func @packing(
// CHECK-NEXT: memref.alloc
// CHECK-NEXT: memref.get_global

// Each i1 has a byte.
// CHECK-LABEL: func @bits(
// CHECK: %[[BITS:.*]] = llvm.mlir.constant(12 : i64)
// CHECK: llvm.call @nmDeviceConstant(%{{.*}}, %{{.*}}, %[[BITS]])

// CHECK: llvm.mlir.global internal @nm_device_constants() {{.*}} : !llvm.ptr
// CHECK: llvm.func internal @nm_device_constants_release
// CHECK: llvm.call @nmReleaseDeviceConstants
// CHECK: llvm.mlir.global_dtors dtors = [@nm_device_constants_release]

module attributes {gpu.container_module} {
  memref.global "private" constant @w : memref<4xf32> = dense<1.0>
  func.func @f() {
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 1024 : i32
    %t = memref.alloc() : memref<4xf32>
    %w = memref.get_global @w : memref<4xf32>
    gpu.launch_func @kernels::@f blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      dynamic_shared_memory_size %bytes args(%w : memref<4xf32>, %t : memref<4xf32>)
    memref.dealloc %t : memref<4xf32>
    return
  }
  func.func @packing() -> memref<4xf32> {
    %t = memref.alloc() : memref<4xf32>
    %w = memref.get_global @w : memref<4xf32>
    memref.dealloc %t : memref<4xf32>
    return %w : memref<4xf32>
  }
  memref.global "private" constant @mask : memref<12xi1> = dense<true>
  func.func @bits() {
    %c1 = arith.constant 1 : index
    %mask = memref.get_global @mask : memref<12xi1>
    gpu.launch_func @kernels::@g blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%mask : memref<12xi1>)
    return
  }
  gpu.module @kernels {
    gpu.func @g(%mask: memref<12xi1>) kernel {
      gpu.return
    }
    gpu.func @f(%w: memref<4xf32>, %t: memref<4xf32>) kernel {
      gpu.return
    }
  }
}
