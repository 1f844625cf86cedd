// Row-major activations of an odd number of rows, and of one that is not known:
// the transposition before the product makes rows that start with a line of 128
// bytes, which strategy wgmma copies by 16.

// DEFINE: %{function} =
// DEFINE: %{size} = 1
// DEFINE: %{run} = nm-run %s --target=sim:sm_90a --random --random-seed=%{size} --dynamic-size=%{size} --check --function=%{function} --compile-options="schedule=wgmma"

// RUN: nm-compile %s --target=sim:sm_90a --emit=schedule --schedule=wgmma -o - 2>/dev/null | FileCheck %s

// REDEFINE: %{function} = odd
// RUN: %{run} | FileCheck %s --check-prefix=ODD
// ODD: check: result 0 of @odd: passed
// CHECK-LABEL: func.func @odd
// CHECK: linalg.transpose ins(%arg0 : tensor<301x330xf16>)
// CHECK: nm.spmm {{.*}} transpose_a {{.*}}schedule #nm.wgmma<{{.*}}producers = 4
func.func @odd(%a: tensor<301x330xf16>, %b: tensor<330x200xf16, #nm.encoding<3:7, block = 1x64>>) -> tensor<301x200xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<301x200xf16>
  %c = linalg.fill ins(%zero : f16) outs(%e : tensor<301x200xf16>) -> tensor<301x200xf16>
  %r = linalg.matmul ins(%a, %b : tensor<301x330xf16>, tensor<330x200xf16, #nm.encoding<3:7, block = 1x64>>) outs(%c : tensor<301x200xf16>) -> tensor<301x200xf16>
  return %r : tensor<301x200xf16>
}

// REDEFINE: %{function} = unknown
// RUN: %{run} | FileCheck %s --check-prefix=UNKNOWN
// REDEFINE: %{size} = 7
// RUN: %{run} | FileCheck %s --check-prefix=UNKNOWN
// REDEFINE: %{size} = 129
// RUN: %{run} | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: check: result 0 of @unknown: passed
// CHECK-LABEL: func.func @unknown
// CHECK: linalg.transpose ins(%arg0 : tensor<?x260xf16>)
// CHECK: nm.spmm {{.*}} transpose_a {{.*}}schedule #nm.wgmma<{{.*}}producers = 4
func.func @unknown(%a: tensor<?x260xf16>, %b: tensor<260x256xf16, #nm.encoding<4:16, block = 1x128>>) -> tensor<?x256xf16> {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x260xf16>
  %e = tensor.empty(%m) : tensor<?x256xf16>
  %c = linalg.fill ins(%zero : f16) outs(%e : tensor<?x256xf16>) -> tensor<?x256xf16>
  %r = linalg.matmul ins(%a, %b : tensor<?x260xf16>, tensor<260x256xf16, #nm.encoding<4:16, block = 1x128>>) outs(%c : tensor<?x256xf16>) -> tensor<?x256xf16>
  return %r : tensor<?x256xf16>
}
