// Products of i8 by AMX's tiles against exact sums, and by vectors where
// features leave tiles out.
//
// REQUIRES: amx-int8
// RUN: nm-run %s --random --check
// RUN: nm-run %s --random --check --dynamic-size=1
// RUN: nm-run %s --random --check --dynamic-size=301
// RUN: nm-compile %s --emit=llvm -o - 2>/dev/null | FileCheck %s
// RUN: nm-compile %s --mattr=-amx-int8 --emit=llvm -o - 2>/dev/null | FileCheck %s --check-prefix=DOTS
// CHECK-NOT: vpdpbusd
// CHECK-DAG: call {{.*}}@llvm.x86.tdpbssd.internal(
// CHECK-DAG: processor_features{{.*}}amx-int8
// DOTS-NOT: tdpbssd
// DOTS-DAG: vpdpbusd
func.func @units(%x: tensor<?x200xi8>, %v: tensor<200x96xi8, #nm.encoding<8:32, block = 1x32>>, %w: tensor<200x75xi8, #nm.encoding<2:4>>) -> (tensor<?x96xi32>, tensor<?x75xi32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %m = tensor.dim %x, %c0 : tensor<?x200xi8>
  %e = tensor.empty(%m) : tensor<?x96xi32>
  %y = linalg.fill ins(%z : i32) outs(%e : tensor<?x96xi32>) -> tensor<?x96xi32>
  %r = linalg.matmul ins(%x, %v : tensor<?x200xi8>, tensor<200x96xi8, #nm.encoding<8:32, block = 1x32>>) outs(%y : tensor<?x96xi32>) -> tensor<?x96xi32>
  %f = tensor.empty(%m) : tensor<?x75xi32>
  %o = linalg.fill ins(%z : i32) outs(%f : tensor<?x75xi32>) -> tensor<?x75xi32>
  %q = linalg.matmul ins(%x, %w : tensor<?x200xi8>, tensor<200x75xi8, #nm.encoding<2:4>>) outs(%o : tensor<?x75xi32>) -> tensor<?x75xi32>
  return %r, %q : tensor<?x96xi32>, tensor<?x75xi32>
}
