// Products of bf16 by AMX's tiles against themselves in float64, through the
// compiler, the shared object, which asks for leave to use tiles, and the
// runtime.
//
// REQUIRES: amx
// RUN: split-file %s %t
// RUN: nm-run %t/units.mlir --random --check
// RUN: nm-run %t/units.mlir --random --check --dynamic-size=1
// RUN: nm-run %t/units.mlir --random --check --dynamic-size=0
// RUN: nm-run %t/units.mlir --random --check --dynamic-size=301
// RUN: nm-run %t/units.mlir --random --check --compile-options=dense-fallback=false
// RUN: nm-run %t/elements.mlir --random --check --dynamic-size=33
// RUN: nm-run %t/elements.mlir --random --check --dynamic-size=33 --compile-options=mattr=-avx512vbmi2
// RUN: nm-run %t/column-major.mlir --random --check
//
// Weights without their zeros, of which bitmaps have 32, 30 and 18 rows, one
// column's or two's; k and n are whole tiles of none.
// RUN: nm-run %t/bitmaps.mlir --random --check --dynamic-size=1
// RUN: nm-run %t/bitmaps.mlir --random --check --dynamic-size=16
// RUN: nm-run %t/bitmaps.mlir --random --check --dynamic-size=301
// RUN: nm-run %t/row.mlir --random --check
// RUN: nm-compile %t/row.mlir -o %t/row.so 2>&1 | FileCheck %s --check-prefix=ROW
// ROW-COUNT-2: tiles of dense weights, packed without their zeros
// RUN: nm-compile %t/bitmaps.mlir --emit=llvm -o - 2>&1 | FileCheck %s --check-prefix=BITMAPS
// BITMAPS-COUNT-4: tiles of dense weights, packed without their zeros
// BITMAPS-DAG: call {{.*}}@llvm.x86.avx512.mask.expand.v32i16(
// BITMAPS-DAG: processor_features{{.*}}avx512vbmi2
//
// RUN: nm-compile %t/units.mlir -o %t/units.so 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: nm-compile %t/units.mlir --emit=llvm -o - 2>/dev/null | FileCheck %s
// REMARK: strategy amx, tiles of kept rows, copied side by side
// REMARK: <3:8, block = 1x16>{{.*}}strategy amx, tiles of kept rows, copied side by side
// CHECK-DAG: call {{.*}}@llvm.x86.tdpbf16ps.internal(
// CHECK-DAG: processor_features{{.*}}amx-bf16{{.*}}amx-tile

//--- units.mlir
func.func @units(%x: tensor<?x200xbf16>, %v: tensor<200x96xbf16, #nm.encoding<8:32, block = 1x32>>, %w: tensor<96x75xbf16, #nm.encoding<3:8, block = 1x16>>, %bias: tensor<75xbf16>) -> tensor<?x75xbf16> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : bf16
  %m = tensor.dim %x, %c0 : tensor<?x200xbf16>
  %e = tensor.empty(%m) : tensor<?x96xbf16>
  %y = linalg.fill ins(%z : bf16) outs(%e : tensor<?x96xbf16>) -> tensor<?x96xbf16>
  %r = linalg.matmul ins(%x, %v : tensor<?x200xbf16>, tensor<200x96xbf16, #nm.encoding<8:32, block = 1x32>>) outs(%y : tensor<?x96xbf16>) -> tensor<?x96xbf16>
  %f = tensor.empty(%m) : tensor<?x75xbf16>
  %o = linalg.fill ins(%z : bf16) outs(%f : tensor<?x75xbf16>) -> tensor<?x75xbf16>
  %q = linalg.matmul ins(%r, %w : tensor<?x96xbf16>, tensor<96x75xbf16, #nm.encoding<3:8, block = 1x16>>) outs(%o : tensor<?x75xbf16>) -> tensor<?x75xbf16>
  %b = linalg.broadcast ins(%bias : tensor<75xbf16>) outs(%f : tensor<?x75xbf16>) dimensions = [0]
  %s = arith.addf %q, %b : tensor<?x75xbf16>
  return %s : tensor<?x75xbf16>
}
//--- elements.mlir
func.func @elements(%x: tensor<?x256xbf16>, %w: tensor<256x100xbf16, #nm.encoding<2:4>>) -> tensor<?x100xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e = tensor.empty(%m) : tensor<?x100xf32>
  %y = linalg.fill ins(%z : f32) outs(%e : tensor<?x100xf32>) -> tensor<?x100xf32>
  %r = linalg.matmul ins(%x, %w : tensor<?x256xbf16>, tensor<256x100xbf16, #nm.encoding<2:4>>) outs(%y : tensor<?x100xf32>) -> tensor<?x100xf32>
  return %r : tensor<?x100xf32>
}
//--- column-major.mlir
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @column_major(%x: tensor<130x70xbf16>, %w: tensor<130x64xbf16, #nm.encoding<1:4, block = 2x64>>) -> tensor<70x64xbf16> {
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<70x64xbf16>
  %y = linalg.fill ins(%z : bf16) outs(%e : tensor<70x64xbf16>) -> tensor<70x64xbf16>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<130x70xbf16>, tensor<130x64xbf16, #nm.encoding<1:4, block = 2x64>>) outs(%y : tensor<70x64xbf16>) {
  ^bb0(%p: bf16, %q: bf16, %s: bf16):
    %t = arith.mulf %p, %q : bf16
    %u = arith.addf %s, %t : bf16
    linalg.yield %u : bf16
  } -> tensor<70x64xbf16>
  return %r : tensor<70x64xbf16>
}
//--- bitmaps.mlir
func.func @bitmaps(%x: tensor<?x333xbf16>, %u: tensor<333x101xbf16, #nm.encoding<2:4>>, %v: tensor<101x70xbf16, #nm.encoding<3:5>>, %w: tensor<70x1100xbf16, #nm.encoding<5:9>>, %s: tensor<1100x45xbf16, #nm.encoding<3:8, block = 1x2>>) -> tensor<?x45xbf16> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : bf16
  %m = tensor.dim %x, %c0 : tensor<?x333xbf16>
  %e0 = tensor.empty(%m) : tensor<?x101xbf16>
  %f0 = linalg.fill ins(%z : bf16) outs(%e0 : tensor<?x101xbf16>) -> tensor<?x101xbf16>
  %r0 = linalg.matmul ins(%x, %u : tensor<?x333xbf16>, tensor<333x101xbf16, #nm.encoding<2:4>>) outs(%f0 : tensor<?x101xbf16>) -> tensor<?x101xbf16>
  %e1 = tensor.empty(%m) : tensor<?x70xbf16>
  %f1 = linalg.fill ins(%z : bf16) outs(%e1 : tensor<?x70xbf16>) -> tensor<?x70xbf16>
  %r1 = linalg.matmul ins(%r0, %v : tensor<?x101xbf16>, tensor<101x70xbf16, #nm.encoding<3:5>>) outs(%f1 : tensor<?x70xbf16>) -> tensor<?x70xbf16>
  %e2 = tensor.empty(%m) : tensor<?x1100xbf16>
  %f2 = linalg.fill ins(%z : bf16) outs(%e2 : tensor<?x1100xbf16>) -> tensor<?x1100xbf16>
  %r2 = linalg.matmul ins(%r1, %w : tensor<?x70xbf16>, tensor<70x1100xbf16, #nm.encoding<5:9>>) outs(%f2 : tensor<?x1100xbf16>) -> tensor<?x1100xbf16>
  %e3 = tensor.empty(%m) : tensor<?x45xbf16>
  %f3 = linalg.fill ins(%z : bf16) outs(%e3 : tensor<?x45xbf16>) -> tensor<?x45xbf16>
  %r3 = linalg.matmul ins(%r2, %s : tensor<?x1100xbf16>, tensor<1100x45xbf16, #nm.encoding<3:8, block = 1x2>>) outs(%f3 : tensor<?x45xbf16>) -> tensor<?x45xbf16>
  return %r3 : tensor<?x45xbf16>
}
//--- row.mlir
func.func @row(%x: tensor<1x2100xbf16>, %w: tensor<2100x75xbf16, #nm.encoding<2:4>>, %v: tensor<75x533xbf16, #nm.encoding<7:12>>) -> tensor<1x533xbf16> {
  %z = arith.constant 0.0 : bf16
  %e0 = tensor.empty() : tensor<1x75xbf16>
  %f0 = linalg.fill ins(%z : bf16) outs(%e0 : tensor<1x75xbf16>) -> tensor<1x75xbf16>
  %r0 = linalg.matmul ins(%x, %w : tensor<1x2100xbf16>, tensor<2100x75xbf16, #nm.encoding<2:4>>) outs(%f0 : tensor<1x75xbf16>) -> tensor<1x75xbf16>
  %e1 = tensor.empty() : tensor<1x533xbf16>
  %f1 = linalg.fill ins(%z : bf16) outs(%e1 : tensor<1x533xbf16>) -> tensor<1x533xbf16>
  %r1 = linalg.matmul ins(%r0, %v : tensor<1x75xbf16>, tensor<75x533xbf16, #nm.encoding<7:12>>) outs(%f1 : tensor<1x533xbf16>) -> tensor<1x533xbf16>
  return %r1 : tensor<1x533xbf16>
}
