// RUN: nm-opt %s --arith-emulate-unsupported-floats="source-types=bf16 target-type=f32" --nm-keep-roundings --canonicalize | FileCheck %s

// CHECK-LABEL: func @two_operations
// CHECK: %[[P:.*]] = arith.mulf
// CHECK: %[[R:.*]] = arith.truncf %[[P]] : f32 to bf16
// CHECK: %[[E:.*]] = arith.extf %[[R]] : bf16 to f32
// CHECK: arith.subf %[[E]]
func.func @two_operations(%a: bf16, %b: bf16, %s: bf16) -> bf16 {
  %p = arith.mulf %a, %b : bf16
  %r = arith.subf %p, %s : bf16
  return %r : bf16
}
