// RUN: nm-opt %s --nm-decompose-attention | FileCheck %s --implicit-check-not=nm.attention
// RUN: nm-opt %s --nm-decompose-attention=library | FileCheck %s --check-prefix=LIBRARY
// RUN: nm-opt %s --nm-decompose-attention -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: nm-opt %s --nm-decompose-attention=library -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIBRARY-REMARK
// RUN: nm-opt %s --nm-decompose-attention=tiles 2>&1 | FileCheck %s --check-prefix=TILES

// REMARK-COUNT-4: remark: attention is products, exponentials and sums{{$}}
// REMARK-COUNT-2: remark: attention is products, exponentials and sums over all keys{{$}}
// LIBRARY-REMARK: remark: attention is a call of cuDNN where it can be loaded, and else a kernel{{$}}
// LIBRARY-REMARK: remark: attention is products, exponentials and sums, because elements are not f16 or bf16{{$}}
// LIBRARY-REMARK: remark: attention is a kernel{{$}}
// LIBRARY-REMARK: remark: attention is a call of cuDNN where it can be loaded, and else products, exponentials and sums, because depth and width are not multiples of 16 up to 128{{$}}
// LIBRARY-REMARK: remark: attention is a kernel over keys up to their lengths{{$}}
// LIBRARY-REMARK: remark: attention is products, exponentials and sums over all keys, because elements are not f16 or bf16{{$}}

#q = affine_map<(h, g, m, n, d, e) -> (h, g, m, d)>
#k = affine_map<(h, g, m, n, d, e) -> (h, n, d)>
#v = affine_map<(h, g, m, n, d, e) -> (h, n, e)>
#o = affine_map<(h, g, m, n, d, e) -> (h, g, m, e)>
#mask = affine_map<(h, g, m, n, d, e) -> (m, n)>
#lengths = affine_map<(h, g, m, n, d, e) -> (h)>

// TILES-COUNT-4: remark: attention is tiles of queries by tiles of keys{{$}}
// TILES-COUNT-2: remark: attention is tiles of queries by tiles of keys up to their lengths{{$}}

// CHECK-LABEL: func.func @causal
// CHECK: %[[T:.*]] = linalg.transpose ins(%{{.*}} : tensor<2x96x64xf16>)
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[T]] : {{.*}}) outs(%{{.*}} : tensor<2x4x?x96xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[S]] : tensor<2x4x?x96xf32>)
// CHECK: linalg.index 2
// CHECK: linalg.index 3
// CHECK: arith.cmpi uge
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: arith.addf
// CHECK: arith.divf
// LIBRARY-LABEL: func.func @causal
// LIBRARY: %[[LOADED:.*]] = nm.has_cudnn
// LIBRARY: %[[R:.*]] = scf.if %[[LOADED]] -> (tensor<2x4x?x32xf16>) {
// LIBRARY-NEXT: %[[A:.*]] = nm.attention
// LIBRARY-NEXT: scf.yield %[[A]]
// LIBRARY-NEXT: } else {
// LIBRARY-NEXT: %[[B:.*]] = nm.attention
// LIBRARY-NEXT: scf.yield %[[B]]
// LIBRARY: return %[[R]]
// TILES-LABEL: func.func @causal
// TILES-NEXT: %[[R:.*]] = nm.attention
// TILES-NEXT: return %[[R]]
func.func @causal(%q: tensor<2x4x?x64xf16>, %k: tensor<2x96x64xf16>, %v: tensor<2x96x32xf16>, %o: tensor<2x4x?x32xf16>) -> tensor<2x4x?x32xf16> {
  %r = nm.attention indexing_maps = [#q, #k, #v, #o] scale = 0.125 causal
    ins(%q, %k, %v : tensor<2x4x?x64xf16>, tensor<2x96x64xf16>, tensor<2x96x32xf16>)
    outs(%o : tensor<2x4x?x32xf16>) -> tensor<2x4x?x32xf16>
  return %r : tensor<2x4x?x32xf16>
}

// f32 is neither cuDNN's nor the kernel's.
// CHECK-LABEL: func.func @masked
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// LIBRARY-LABEL: func.func @masked
// LIBRARY-NOT: nm.
// A mask is added to scores there.
// TILES-LABEL: func.func @masked
// TILES: %[[ADDED:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<5x96xi1>)
// TILES: nm.attention {{.*}} mask(%[[ADDED]] : tensor<5x96xf32>)
func.func @masked(%q: tensor<2x4x5x64xf32>, %k: tensor<2x96x64xf32>, %v: tensor<2x96x32xf32>, %m: tensor<5x96xi1>, %o: tensor<2x4x5x32xf32>) -> tensor<2x4x5x32xf32> {
  %r = nm.attention indexing_maps = [#q, #k, #v, #mask, #o] scale = 1.0
    ins(%q, %k, %v : tensor<2x4x5x64xf32>, tensor<2x96x64xf32>, tensor<2x96x32xf32>) mask(%m : tensor<5x96xi1>)
    outs(%o : tensor<2x4x5x32xf32>) -> tensor<2x4x5x32xf32>
  return %r : tensor<2x4x5x32xf32>
}

// A mask is the kernel's.
// LIBRARY-LABEL: func.func @biased
// LIBRARY-NEXT: nm.attention {{.*}} mask(
// LIBRARY-NEXT: return
func.func @biased(%q: tensor<2x4x5x64xbf16>, %k: tensor<2x96x64xbf16>, %v: tensor<2x96x32xbf16>, %m: tensor<5x96xi1>, %o: tensor<2x4x5x32xbf16>) -> tensor<2x4x5x32xbf16> {
  %r = nm.attention indexing_maps = [#q, #k, #v, #mask, #o] scale = 1.0
    ins(%q, %k, %v : tensor<2x4x5x64xbf16>, tensor<2x96x64xbf16>, tensor<2x96x32xbf16>) mask(%m : tensor<5x96xi1>)
    outs(%o : tensor<2x4x5x32xbf16>) -> tensor<2x4x5x32xbf16>
  return %r : tensor<2x4x5x32xbf16>
}

// LIBRARY-LABEL: func.func @wide
// LIBRARY: scf.if
// LIBRARY: nm.attention
// LIBRARY: } else {
// LIBRARY-NOT: nm.attention
// LIBRARY: math.exp
func.func @wide(%q: tensor<2x4x5x256xf16>, %k: tensor<2x96x256xf16>, %v: tensor<2x96x32xf16>, %o: tensor<2x4x5x32xf16>) -> tensor<2x4x5x32xf16> {
  %r = nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0
    ins(%q, %k, %v : tensor<2x4x5x256xf16>, tensor<2x96x256xf16>, tensor<2x96x32xf16>)
    outs(%o : tensor<2x4x5x32xf16>) -> tensor<2x4x5x32xf16>
  return %r : tensor<2x4x5x32xf16>
}

// Lengths are the kernel's, and not cuDNN's.
// LIBRARY-LABEL: func.func @lengths(
// LIBRARY-NEXT: nm.attention {{.*}} lengths(
// LIBRARY-NEXT: return
func.func @lengths(%q: tensor<2x4x5x64xf16>, %k: tensor<2x96x64xf16>, %v: tensor<2x96x32xf16>, %l: tensor<2xi64>, %o: tensor<2x4x5x32xf16>) -> tensor<2x4x5x32xf16> {
  %r = nm.attention indexing_maps = [#q, #k, #v, #lengths, #o] scale = 1.0
    ins(%q, %k, %v : tensor<2x4x5x64xf16>, tensor<2x96x64xf16>, tensor<2x96x32xf16>) lengths(%l : tensor<2xi64>)
    outs(%o : tensor<2x4x5x32xf16>) -> tensor<2x4x5x32xf16>
  return %r : tensor<2x4x5x32xf16>
}

// Scores behind a length are hidden, and values zero, whatever is there.
// CHECK-LABEL: func.func @lengths_of_no_kernel(
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<2x96x32xf32>, %[[L:.*]]: tensor<2xi64>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[L]] : tensor<2x4x5x96xf32>, tensor<2xi64>)
// CHECK: %[[KEY:.*]] = linalg.index 3
// CHECK: arith.cmpi slt, %[[KEY]]
// CHECK: %[[SEEN:.*]] = linalg.generic {{.*}} ins(%[[V]], %[[L]] : tensor<2x96x32xf32>, tensor<2xi64>)
// CHECK: linalg.index 1
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[SEEN]] :
// LIBRARY-LABEL: func.func @lengths_of_no_kernel(
// LIBRARY-NOT: nm.
func.func @lengths_of_no_kernel(%q: tensor<2x4x5x64xf32>, %k: tensor<2x96x64xf32>, %v: tensor<2x96x32xf32>, %l: tensor<2xi64>, %o: tensor<2x4x5x32xf32>) -> tensor<2x4x5x32xf32> {
  %r = nm.attention indexing_maps = [#q, #k, #v, #lengths, #o] scale = 1.0
    ins(%q, %k, %v : tensor<2x4x5x64xf32>, tensor<2x96x64xf32>, tensor<2x96x32xf32>) lengths(%l : tensor<2xi64>)
    outs(%o : tensor<2x4x5x32xf32>) -> tensor<2x4x5x32xf32>
  return %r : tensor<2x4x5x32xf32>
}
