// RUN: nm-opt %s --nm-inline-launches --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @calls
// CHECK-SAME: (%[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>)
// CHECK-NEXT: arith.constant
// CHECK-NEXT: gpu.launch_func @kernels::@k {{.*}} args(%[[X]] : memref<4xf32>)
// CHECK-NEXT: arith.constant
// CHECK-NEXT: gpu.launch_func @kernels::@k {{.*}} args(%[[Y]] : memref<4xf32>)
// CHECK-NEXT: return
// CHECK-NOT: @calls.equal
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%x: memref<4xf32>) kernel {
      gpu.return
    }
  }
  func.func @calls(%x: memref<4xf32>, %y: memref<4xf32>) {
    call @calls.equal(%x) : (memref<4xf32>) -> ()
    call @calls.equal(%y) : (memref<4xf32>) -> ()
    return
  }
  func.func private @calls.equal(%x: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    return
  }
}

// -----

// Functions that launch nothing stay, and those that others may call.
// CHECK-LABEL: func.func @others
// CHECK-NEXT: call @pack
// CHECK-NEXT: call @open
// CHECK-NEXT: call @outside
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%x: memref<4xf32>) kernel {
      gpu.return
    }
  }
  func.func @others(%x: memref<4xf32>) {
    call @pack(%x) : (memref<4xf32>) -> ()
    call @open(%x) : (memref<4xf32>) -> ()
    call @outside(%x) : (memref<4xf32>) -> ()
    return
  }
  func.func private @pack(%x: memref<4xf32>) {
    linalg.exp ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
    return
  }
  func.func @open(%x: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    return
  }
  func.func private @outside(memref<4xf32>)
}

// -----

// A launch has the place of its call.
// RUN: nm-opt %s --nm-inline-launches --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=PLACE
// PLACE-LABEL: func.func @places
// PLACE: gpu.launch_func {{.*}} loc("model.mlir":7:1)
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%x: memref<4xf32>) kernel {
      gpu.return
    }
  }
  func.func @places(%x: memref<4xf32>) {
    call @places.equal(%x) : (memref<4xf32>) -> () loc("model.mlir":7:1)
    return
  }
  func.func private @places.equal(%x: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>) loc("model.mlir":3:1)
    return
  }
}
