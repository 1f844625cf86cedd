// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-propagate-layouts="product-costs=100,50" --split-input-file 2>/dev/null | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-propagate-layouts="product-costs=100,50" --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: nm-opt %s --nm-attach-chip=chip=sm_80 --nm-propagate-layouts="product-costs=100,50" --split-input-file 2>/dev/null | FileCheck %s --check-prefix=LIBRARY

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// The kernel stores heads and columns before sequences and rows, where cuDNN is
// not faster.
// CHECK-DAG: #[[$O:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d5, d0, d2)>
// CHECK-LABEL: func @projected
// CHECK-NOT: nm.has_cudnn
// CHECK: %[[NONE:.*]] = tensor.empty() : tensor<4x64x2x197xf16>
// CHECK: %[[R:.*]] = nm.attention indexing_maps = [{{.*}}, {{.*}}, {{.*}}, #[[$O]]] {{.*}} outs(%[[NONE]] : tensor<4x64x2x197xf16>)
// CHECK: %[[A:.*]] = tensor.collapse_shape %[[R]] {{\[\[}}0, 1], [2, 3]] : tensor<4x64x2x197xf16> into tensor<256x394xf16>
// CHECK-NOT: linalg.transpose
// CHECK: nm.spmm <2:4> transpose_a ins(%[[A]]
// REMARK: remark: attention is a kernel that stores its result transposed, for products that gain more by it
// REMARK: remark: activations have the layouts that cost least: estimated 50.
// LIBRARY-LABEL: func @projected
// LIBRARY: nm.has_cudnn
// LIBRARY: linalg.transpose
func.func @projected(%q: tensor<2x197x4x64xf16>, %k: tensor<2x197x4x64xf16>, %v: tensor<2x197x4x64xf16>,
                     %values: tensor<128x32xf16>, %indices: tensor<128x32xi8>) -> tensor<394x32xf16> {
  %none = tensor.empty() : tensor<2x197x4x64xf16>
  %loaded = nm.has_cudnn
  %r = scf.if %loaded -> (tensor<2x197x4x64xf16>) {
    %0 = nm.attention indexing_maps = [#q, #k, #v, #o] scale = 0.125
      ins(%q, %k, %v : tensor<2x197x4x64xf16>, tensor<2x197x4x64xf16>, tensor<2x197x4x64xf16>)
      outs(%none : tensor<2x197x4x64xf16>) -> tensor<2x197x4x64xf16>
    scf.yield %0 : tensor<2x197x4x64xf16>
  } else {
    %0 = nm.attention indexing_maps = [#q, #k, #v, #o] scale = 0.125
      ins(%q, %k, %v : tensor<2x197x4x64xf16>, tensor<2x197x4x64xf16>, tensor<2x197x4x64xf16>)
      outs(%none : tensor<2x197x4x64xf16>) -> tensor<2x197x4x64xf16>
    scf.yield %0 : tensor<2x197x4x64xf16>
  }
  %joined = tensor.collapse_shape %r [[0], [1], [2, 3]] : tensor<2x197x4x64xf16> into tensor<2x197x256xf16>
  %a = tensor.collapse_shape %joined [[0, 1], [2]] : tensor<2x197x256xf16> into tensor<394x256xf16>
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<394x32xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<394x32xf16>) -> tensor<394x32xf16>
  %y = nm.spmm <2:4> ins(%a, %values, %indices : tensor<394x256xf16>, tensor<128x32xf16>, tensor<128x32xi8>) outs(%z : tensor<394x32xf16>) -> tensor<394x32xf16>
  return %y : tensor<394x32xf16>
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// A result that another op reads too is transposed by a kernel of its own.
// CHECK-LABEL: func @kept
// CHECK: nm.attention
// CHECK: linalg.transpose
func.func @kept(%q: tensor<2x197x4x64xf16>, %k: tensor<2x197x4x64xf16>, %v: tensor<2x197x4x64xf16>,
                %values: tensor<128x32xf16>, %indices: tensor<128x32xi8>) -> (tensor<394x32xf16>, tensor<2x197x4x64xf16>) {
  %none = tensor.empty() : tensor<2x197x4x64xf16>
  %r = nm.attention indexing_maps = [#q, #k, #v, #o] scale = 0.125
    ins(%q, %k, %v : tensor<2x197x4x64xf16>, tensor<2x197x4x64xf16>, tensor<2x197x4x64xf16>)
    outs(%none : tensor<2x197x4x64xf16>) -> tensor<2x197x4x64xf16>
  %a = tensor.collapse_shape %r [[0, 1], [2, 3]] : tensor<2x197x4x64xf16> into tensor<394x256xf16>
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<394x32xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<394x32xf16>) -> tensor<394x32xf16>
  %y = nm.spmm <2:4> ins(%a, %values, %indices : tensor<394x256xf16>, tensor<128x32xf16>, tensor<128x32xi8>) outs(%z : tensor<394x32xf16>) -> tensor<394x32xf16>
  return %y, %r : tensor<394x32xf16>, tensor<2x197x4x64xf16>
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, h, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, h, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// Wide heads are faster stored as they are.
// CHECK-LABEL: func @wide
// CHECK: nm.attention
// CHECK: linalg.transpose
func.func @wide(%q: tensor<2x197x2x128xf16>, %k: tensor<2x197x2x128xf16>, %v: tensor<2x197x2x128xf16>,
                %values: tensor<128x32xf16>, %indices: tensor<128x32xi8>) -> tensor<394x32xf16> {
  %none = tensor.empty() : tensor<2x197x2x128xf16>
  %r = nm.attention indexing_maps = [#q, #k, #v, #o] scale = 0.125
    ins(%q, %k, %v : tensor<2x197x2x128xf16>, tensor<2x197x2x128xf16>, tensor<2x197x2x128xf16>)
    outs(%none : tensor<2x197x2x128xf16>) -> tensor<2x197x2x128xf16>
  %a = tensor.collapse_shape %r [[0, 1], [2, 3]] : tensor<2x197x2x128xf16> into tensor<394x256xf16>
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<394x32xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<394x32xf16>) -> tensor<394x32xf16>
  %y = nm.spmm <2:4> ins(%a, %values, %indices : tensor<394x256xf16>, tensor<128x32xf16>, tensor<128x32xi8>) outs(%z : tensor<394x32xf16>) -> tensor<394x32xf16>
  return %y : tensor<394x32xf16>
}
