// RUN: nm-opt %s | nm-opt | FileCheck %s
// RUN: nm-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --canonicalize | FileCheck %s --check-prefix=MEMORY

#q = affine_map<(h, g, m, n, d, e) -> (h, g, m, d)>
#k = affine_map<(h, g, m, n, d, e) -> (h, n, d)>
#v = affine_map<(h, g, m, n, d, e) -> (h, n, e)>
#o = affine_map<(h, g, m, n, d, e) -> (h, g, m, e)>
#mask = affine_map<(h, g, m, n, d, e) -> (m, n)>
#lengths = affine_map<(h, g, m, n, d, e) -> (h)>

// O is overwritten: what it holds is not read.
// CHECK-LABEL: func.func @causal
// CHECK: nm.attention indexing_maps = [#{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}] scale = 1.250000e-01 causal ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x4x?x64xf16>, tensor<2x96x64xf16>, tensor<2x96x32xf16>) outs(%{{.*}} : tensor<2x4x?x32xf16>) -> tensor<2x4x?x32xf16>
// MEMORY-LABEL: func.func @causal
// MEMORY-NOT: memref.copy
// MEMORY: nm.attention
func.func @causal(%q: tensor<2x4x?x64xf16>, %k: tensor<2x96x64xf16>, %v: tensor<2x96x32xf16>, %o: tensor<2x4x?x32xf16>) -> tensor<2x4x?x32xf16> {
  %r = nm.attention indexing_maps = [#q, #k, #v, #o] scale = 0.125 causal
    ins(%q, %k, %v : tensor<2x4x?x64xf16>, tensor<2x96x64xf16>, tensor<2x96x32xf16>)
    outs(%o : tensor<2x4x?x32xf16>) -> tensor<2x4x?x32xf16>
  return %r : tensor<2x4x?x32xf16>
}

// CHECK-LABEL: func.func @masked
// CHECK: nm.attention {{.*}} scale = 1.000000e+00 ins({{.*}}) mask(%{{.*}} : tensor<5x96xi1>) outs(
func.func @masked(%q: tensor<2x4x5x64xf32>, %k: tensor<2x96x64xf32>, %v: tensor<2x96x32xf32>, %m: tensor<5x96xi1>, %o: tensor<2x4x5x32xf32>) -> tensor<2x4x5x32xf32> {
  %r = nm.attention indexing_maps = [#q, #k, #v, #mask, #o] scale = 1.0
    ins(%q, %k, %v : tensor<2x4x5x64xf32>, tensor<2x96x64xf32>, tensor<2x96x32xf32>) mask(%m : tensor<5x96xi1>)
    outs(%o : tensor<2x4x5x32xf32>) -> tensor<2x4x5x32xf32>
  return %r : tensor<2x4x5x32xf32>
}

// CHECK-LABEL: func.func @lengths
// CHECK: nm.attention {{.*}} scale = 1.000000e+00 causal ins({{.*}}) lengths(%{{.*}} : tensor<2xi64>) outs(
// MEMORY-LABEL: func.func @lengths
// MEMORY-NOT: memref.copy
// MEMORY: nm.attention {{.*}} lengths(%{{.*}} : memref<2xi64>)
func.func @lengths(%q: tensor<2x4x5x64xf32>, %k: tensor<2x96x64xf32>, %v: tensor<2x96x32xf32>, %l: tensor<2xi64>, %o: tensor<2x4x5x32xf32>) -> tensor<2x4x5x32xf32> {
  %r = nm.attention indexing_maps = [#q, #k, #v, #lengths, #o] scale = 1.0 causal
    ins(%q, %k, %v : tensor<2x4x5x64xf32>, tensor<2x96x64xf32>, tensor<2x96x32xf32>) lengths(%l : tensor<2xi64>)
    outs(%o : tensor<2x4x5x32xf32>) -> tensor<2x4x5x32xf32>
  return %r : tensor<2x4x5x32xf32>
}

// CHECK-LABEL: func.func @mask_and_lengths
// CHECK: nm.attention {{.*}} mask(%{{.*}} : tensor<5x96xi1>) lengths(%{{.*}} : tensor<i32>) outs(
func.func @mask_and_lengths(%q: tensor<2x4x5x64xf32>, %k: tensor<2x96x64xf32>, %v: tensor<2x96x32xf32>, %m: tensor<5x96xi1>, %l: tensor<i32>, %o: tensor<2x4x5x32xf32>) -> tensor<2x4x5x32xf32> {
  %r = nm.attention indexing_maps = [#q, #k, #v, #mask, affine_map<(h, g, m, n, d, e) -> ()>, #o] scale = 1.0
    ins(%q, %k, %v : tensor<2x4x5x64xf32>, tensor<2x96x64xf32>, tensor<2x96x32xf32>) mask(%m : tensor<5x96xi1>) lengths(%l : tensor<i32>)
    outs(%o : tensor<2x4x5x32xf32>) -> tensor<2x4x5x32xf32>
  return %r : tensor<2x4x5x32xf32>
}
