// RUN: nm-opt %s --nm-decompose-attention=library --canonicalize | FileCheck %s

// Transpositions are maps, before the split into groups of heads and behind
// their merge; rows that would not stay contiguous are transposed as before.

#qg = affine_map<(b, h, g, m, n, d, e) -> (b, h, g, m, d)>
#kg = affine_map<(b, h, g, m, n, d, e) -> (b, h, n, d)>
#vg = affine_map<(b, h, g, m, n, d, e) -> (b, h, n, e)>
#og = affine_map<(b, h, g, m, n, d, e) -> (b, h, g, m, e)>

// CHECK-DAG: #[[$Q:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d1, d2, d5)>
// CHECK-DAG: #[[$K:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d1, d5)>
// CHECK-DAG: #[[$V:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d4, d6)>
// CHECK-DAG: #[[$O:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d3, d1, d2, d6)>
// CHECK-LABEL: func.func @views(
// CHECK-SAME:    %[[XQ:[^:]*]]: tensor<?x5x8x64xf16>, %[[XK:[^:]*]]: tensor<?x5x2x64xf16>, %[[XV:[^:]*]]: tensor<?x2x64x5xf16>
// CHECK: %[[QG:.*]] = tensor.expand_shape %[[XQ]] {{\[\[}}0], [1], [2, 3], [4]]
// CHECK: %[[VT:.*]] = linalg.transpose ins(%[[XV]]
// CHECK-NOT: linalg.transpose
// CHECK: nm.attention indexing_maps = [#[[$Q]], #[[$K]], #[[$V]], #[[$O]]] {{.*}} ins(%[[QG]], %[[XK]], %[[VT]] :
// CHECK: %[[R:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3], [4]] : tensor<?x5x2x4x64xf16> into tensor<?x5x8x64xf16>
// CHECK-NEXT: return %[[R]]
func.func @views(%q: tensor<?x5x8x64xf16>, %k: tensor<?x5x2x64xf16>, %v: tensor<?x2x64x5xf16>, %b: index) -> tensor<?x5x8x64xf16> {
  %eq = tensor.empty(%b) : tensor<?x8x5x64xf16>
  %qt = linalg.transpose ins(%q : tensor<?x5x8x64xf16>) outs(%eq : tensor<?x8x5x64xf16>) permutation = [0, 2, 1, 3]
  %qg = tensor.expand_shape %qt [[0], [1, 2], [3], [4]] output_shape [%b, 2, 4, 5, 64] : tensor<?x8x5x64xf16> into tensor<?x2x4x5x64xf16>
  %ek = tensor.empty(%b) : tensor<?x2x5x64xf16>
  %kt = linalg.transpose ins(%k : tensor<?x5x2x64xf16>) outs(%ek : tensor<?x2x5x64xf16>) permutation = [0, 2, 1, 3]
  %ks = tensor.expand_shape %kt [[0], [1], [2, 3], [4]] output_shape [%b, 2, 1, 5, 64] : tensor<?x2x5x64xf16> into tensor<?x2x1x5x64xf16>
  %km = tensor.collapse_shape %ks [[0], [1], [2, 3], [4]] : tensor<?x2x1x5x64xf16> into tensor<?x2x5x64xf16>
  %vt = linalg.transpose ins(%v : tensor<?x2x64x5xf16>) outs(%ek : tensor<?x2x5x64xf16>) permutation = [0, 1, 3, 2]
  %eo = tensor.empty(%b) : tensor<?x2x4x5x64xf16>
  %o = nm.attention indexing_maps = [#qg, #kg, #vg, #og] scale = 0.125
    ins(%qg, %km, %vt : tensor<?x2x4x5x64xf16>, tensor<?x2x5x64xf16>, tensor<?x2x5x64xf16>)
    outs(%eo : tensor<?x2x4x5x64xf16>) -> tensor<?x2x4x5x64xf16>
  %heads = tensor.collapse_shape %o [[0], [1, 2], [3], [4]] : tensor<?x2x4x5x64xf16> into tensor<?x8x5x64xf16>
  %er = tensor.empty(%b) : tensor<?x5x8x64xf16>
  %r = linalg.transpose ins(%heads : tensor<?x8x5x64xf16>) outs(%er : tensor<?x5x8x64xf16>) permutation = [0, 2, 1, 3]
  return %r : tensor<?x5x8x64xf16>
}
