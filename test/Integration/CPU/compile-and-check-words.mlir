// Products of bf16 and i8 whose lanes choose words of A against themselves in
// float64, through the compiler, the shared object and the runtime.
//
// REQUIRES: words-of-lanes
// RUN: split-file %s %t
// RUN: nm-run %t/pairs.mlir --random --check --dynamic-size=1
// RUN: nm-run %t/pairs.mlir --random --check --dynamic-size=0
// RUN: nm-run %t/pairs.mlir --random --check --dynamic-size=301
// RUN: nm-run %t/quads.mlir --random --check --dynamic-size=1
// RUN: nm-run %t/quads.mlir --random --check --dynamic-size=7
// RUN: nm-run %t/quads.mlir --random --check --dynamic-size=301
// RUN: nm-run %t/column-major.mlir --random --check
// RUN: nm-run %t/pairs.mlir --random --check --dynamic-size=33 --compile-options=mattr=-avx512vbmi
//
// RUN: nm-compile %t/pairs.mlir --emit=llvm -o - 2>&1 | FileCheck %s --check-prefix=PAIRS
// PAIRS-COUNT-3: whose lanes choose the rows of A that they meet, in which subnormal numbers are zero
// PAIRS-DAG: processor_features{{.*}}avx512vbmi{{.*}}avx512bf16
// RUN: nm-compile %t/quads.mlir -o %t/quads.so 2>&1 | FileCheck %s --check-prefix=QUADS
// QUADS-COUNT-2: whose lanes choose the rows of A that they meet
// RUN: nm-compile %t/column-major.mlir -o %t/column.so 2>&1 | FileCheck %s --check-prefix=QUADS

//--- pairs.mlir
func.func @pairs(%x: tensor<?x333xbf16>, %u: tensor<333x401xbf16, #nm.encoding<2:4>>, %v: tensor<401x270xbf16, #nm.encoding<1:3>>, %w: tensor<270x1100xbf16, #nm.encoding<4:15>>) -> tensor<?x1100xbf16> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : bf16
  %m = tensor.dim %x, %c0 : tensor<?x333xbf16>
  %e = tensor.empty(%m) : tensor<?x401xbf16>
  %y = linalg.fill ins(%z : bf16) outs(%e : tensor<?x401xbf16>) -> tensor<?x401xbf16>
  %r = linalg.matmul ins(%x, %u : tensor<?x333xbf16>, tensor<333x401xbf16, #nm.encoding<2:4>>) outs(%y : tensor<?x401xbf16>) -> tensor<?x401xbf16>
  %f = tensor.empty(%m) : tensor<?x270xbf16>
  %o = linalg.fill ins(%z : bf16) outs(%f : tensor<?x270xbf16>) -> tensor<?x270xbf16>
  %q = linalg.matmul ins(%r, %v : tensor<?x401xbf16>, tensor<401x270xbf16, #nm.encoding<1:3>>) outs(%o : tensor<?x270xbf16>) -> tensor<?x270xbf16>
  %g = tensor.empty(%m) : tensor<?x1100xbf16>
  %p = linalg.fill ins(%z : bf16) outs(%g : tensor<?x1100xbf16>) -> tensor<?x1100xbf16>
  %s = linalg.matmul ins(%q, %w : tensor<?x270xbf16>, tensor<270x1100xbf16, #nm.encoding<4:15>>) outs(%p : tensor<?x1100xbf16>) -> tensor<?x1100xbf16>
  return %s : tensor<?x1100xbf16>
}
//--- quads.mlir
func.func @quads(%x: tensor<?x2333xi8>, %u: tensor<2333x401xi8, #nm.encoding<2:4>>, %y: tensor<?x70xi8>, %w: tensor<70x1100xi8, #nm.encoding<4:61>>) -> (tensor<?x401xi32>, tensor<?x1100xi32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %m = tensor.dim %x, %c0 : tensor<?x2333xi8>
  %e = tensor.empty(%m) : tensor<?x401xi32>
  %s = linalg.fill ins(%z : i32) outs(%e : tensor<?x401xi32>) -> tensor<?x401xi32>
  %r = linalg.matmul ins(%x, %u : tensor<?x2333xi8>, tensor<2333x401xi8, #nm.encoding<2:4>>) outs(%s : tensor<?x401xi32>) -> tensor<?x401xi32>
  %f = tensor.empty(%m) : tensor<?x1100xi32>
  %o = linalg.fill ins(%z : i32) outs(%f : tensor<?x1100xi32>) -> tensor<?x1100xi32>
  %q = linalg.matmul ins(%y, %w : tensor<?x70xi8>, tensor<70x1100xi8, #nm.encoding<4:61>>) outs(%o : tensor<?x1100xi32>) -> tensor<?x1100xi32>
  return %r, %q : tensor<?x401xi32>, tensor<?x1100xi32>
}
//--- column-major.mlir
#a = affine_map<(b, m, n, k) -> (b, k, m)>
#b = affine_map<(b, m, n, k) -> (k, n)>
#c = affine_map<(b, m, n, k) -> (b, n, m)>
func.func @column_major(%x: tensor<2x130x70xi8>, %w: tensor<130x640xi8, #nm.encoding<1:4>>, %v: tensor<130x630xi8, #nm.encoding<4:8>>) -> (tensor<2x640x70xi32>, tensor<2x630x70xi32>) {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<2x640x70xi32>
  %y = linalg.fill ins(%z : i32) outs(%e : tensor<2x640x70xi32>) -> tensor<2x640x70xi32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x130x70xi8>, tensor<130x640xi8, #nm.encoding<1:4>>) outs(%y : tensor<2x640x70xi32>) {
  ^bb0(%p: i8, %q: i8, %s: i32):
    %pe = arith.extsi %p : i8 to i32
    %qe = arith.extsi %q : i8 to i32
    %t = arith.muli %pe, %qe : i32
    %u = arith.addi %s, %t : i32
    linalg.yield %u : i32
  } -> tensor<2x640x70xi32>
  %f = tensor.empty() : tensor<2x630x70xi32>
  %o = linalg.fill ins(%z : i32) outs(%f : tensor<2x630x70xi32>) -> tensor<2x630x70xi32>
  %r2 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<2x130x70xi8>, tensor<130x630xi8, #nm.encoding<4:8>>) outs(%o : tensor<2x630x70xi32>) {
  ^bb0(%p: i8, %q: i8, %s: i32):
    %pe = arith.extsi %p : i8 to i32
    %qe = arith.extsi %q : i8 to i32
    %t = arith.muli %pe, %qe : i32
    %u = arith.addi %s, %t : i32
    linalg.yield %u : i32
  } -> tensor<2x630x70xi32>
  return %r, %r2 : tensor<2x640x70xi32>, tensor<2x630x70xi32>
}
