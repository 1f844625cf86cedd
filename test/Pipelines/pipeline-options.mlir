// The options of pipelines that decide which passes run, and how.

// RUN: nm-opt %s --nm-to-cpu -o /dev/null 2>&1 | FileCheck %s --check-prefix=DETECTED
// RUN: nm-opt %s --nm-to-cpu=detect-weights=false -o /dev/null 2>&1 | FileCheck %s --check-prefix=GIVEN
// RUN: nm-opt %s --nm-to-nvvm="detect-weights=false format=llvm" -o /dev/null 2>&1 | FileCheck %s --check-prefix=GIVEN
// DETECTED: remark: nm.spmm <2:4>
// GIVEN-NOT: <2:4>
// GIVEN: remark: nm.spmm <1:1

// Tasks of 1024 of the 64 x 64 elements that are added beside the product.
// RUN: nm-opt %s --nm-to-cpu=min-task-elements=1024 2>/dev/null | FileCheck %s --check-prefix=TASKS
// RUN: nm-opt %s --nm-to-cpu=min-task-elements=0 2>/dev/null | FileCheck %s --check-prefix=WHOLE
// TASKS-LABEL: llvm.func @add(
// TASKS: llvm.call @nmParallelFor
// WHOLE-LABEL: llvm.func @add(
// WHOLE-NOT: llvm.call @nmParallelFor
// WHOLE: llvm.return

// RUN: nm-opt %s --nm-to-nvvm="format=llvm schedule=cublas" 2>/dev/null | FileCheck %s --check-prefix=CUBLAS
// RUN: nm-opt %s --nm-to-nvvm="cublas=false format=llvm schedule=cublas" 2>/dev/null | FileCheck %s --check-prefix=OURS --implicit-check-not=nmCublas
// CUBLAS: llvm.call @nmCublasTryMultiply
// OURS: gpu.launch_func {{.*}}@kernels::@product_kernel

// RUN: nm-opt %s --nm-to-nvvm="overlap-kernels=true format=isa" 2>/dev/null | FileCheck %s --check-prefix=OVERLAP
// RUN: nm-opt %s --nm-to-nvvm="overlap-kernels=false format=isa" 2>/dev/null | FileCheck %s --check-prefix=PLAIN --implicit-check-not=griddepcontrol --implicit-check-not=nm_waits
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_89 overlap-kernels=true format=isa" 2>/dev/null | FileCheck %s --check-prefix=PLAIN --implicit-check-not=griddepcontrol --implicit-check-not=nm_waits
// OVERLAP: gpu.binary @kernels
// OVERLAP-SAME: .visible .global .align 1 .u8 nm_waits_product_kernel = 1;
// OVERLAP-SAME: griddepcontrol.wait
// OVERLAP-SAME: griddepcontrol.launch_dependents
// PLAIN: .visible .entry

func.func @product(%a: tensor<64x4xf32>, %c: tensor<64x2xf32>) -> tensor<64x2xf32> {
  %w = arith.constant dense<[[1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.0, 4.0]]> : tensor<4x2xf32>
  %r = linalg.matmul ins(%a, %w : tensor<64x4xf32>, tensor<4x2xf32>) outs(%c : tensor<64x2xf32>) -> tensor<64x2xf32>
  return %r : tensor<64x2xf32>
}

func.func @add(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = arith.addf %a, %b : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
