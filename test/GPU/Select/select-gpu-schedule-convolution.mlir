// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule --split-input-file 2>/dev/null | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=schedule=cublas --split-input-file 2>/dev/null | FileCheck %s --check-prefix=GIVEN
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule=dense-fallback=false --split-input-file 2>/dev/null | FileCheck %s --check-prefix=EXACT --implicit-check-not=has_cudnn
// RUN: nm-opt %s --nm-attach-chip="chip=sm_90a batch-invariant" --nm-select-gpu-schedule --split-input-file 2>/dev/null | FileCheck %s --check-prefix=EXACT --implicit-check-not=has_cudnn
// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-select-gpu-schedule --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK --implicit-check-not=cudnn

#places = affine_map<(b, i, j, c, y, x) -> (b, c, i + y, j + x)>
#identity = affine_map<(b, i, j, c, y, x) -> (b, i, j, c, y, x)>

// Many images of dense weights are cuDNN's, which pads them itself, where it can
// be loaded; the epilogue is an op behind it. In the other branch the product is
// what it would be without cuDNN. What only that takes is made there.
// CHECK-LABEL: func.func @dense
// CHECK-SAME: %[[X:.*]]: tensor<32x128x28x28xf16>
// CHECK: %[[OUTPUT:.*]] = tensor.empty() : tensor<32x128x784xf16>
// CHECK: %[[LOADED:.*]] = nm.has_cudnn
// CHECK: scf.if %[[LOADED]]
// CHECK: %[[C:.*]] = linalg.fill ins(%{{.*}} : f16) outs(%[[OUTPUT]]
// CHECK: %[[A:.*]] = nm.patches %[[X]] map #[[MAP:.*]] loops [32, 3, 3, 128, 28, 28] groups [1, 3, 2]
// CHECK: %[[R:.*]] = nm.spmm <1:1, block = 1x32> transpose_a transpose_c schedule #nm.cublas<packing = <panel = 32, index_bits = 1, chunk_rows = 1152, index_rows = 1152>> ins(%[[A]], {{.*}} outs(%[[C]]
// CHECK-SAME: #nm.alternative<name = "convolution", strategy = "cudnn", estimate_us = {{[0-9.]+}}, extra_us = {{[0-9.]+}}, chosen = true>
// CHECK: %[[E:.*]] = linalg.generic {{.*}} outs(%[[R]]
// CHECK: arith.maximumf
// CHECK: scf.yield %[[E]]
// CHECK: } else {
// CHECK: nm.patches %[[X]]
// CHECK: %[[OWN:.*]] = nm.spmm {{.*}} schedule #nm.mma_sync<{{.*}} outs(%[[OUTPUT]]
// CHECK: arith.maximumf
// CHECK: scf.yield %[[OWN]]
// GIVEN-LABEL: func.func @dense
// GIVEN-NOT: linalg.generic
// GIVEN: nm.has_cudnn
// GIVEN: nm.spmm {{.*}} schedule #nm.cublas<packing =
// GIVEN: } else {
// GIVEN: linalg.generic
// GIVEN: tensor.collapse_shape
// GIVEN: nm.spmm {{.*}} schedule #nm.cublas<own = #nm.simt<
// EXACT-LABEL: func.func @dense
// EXACT: nm.spmm
// REMARK: strategy cudnn on sm_90; estimated {{.*}} us; calls cuDNN for a convolution with dense weights, which is faster: {{.*}} us by strategy mma_sync; its epilogue is a kernel of estimated
// REMARK: strategy mma_sync on sm_90; {{.*}}in place of cuDNN, where that cannot be loaded or refuses: cuBLAS is estimated to take
func.func @dense(%x: tensor<32x128x28x28xf16>, %c: tensor<32x128x784xf16>, %bias: tensor<128xf16>) -> tensor<32x128x784xf16> {
  %v = arith.constant dense<1.0> : tensor<1152x128xf16>
  %i = arith.constant dense<0> : tensor<1152x2xi8>
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%b: index, %d: index, %y: index, %z: index):
    tensor.yield %zero : f16
  } : tensor<32x128x28x28xf16> to tensor<32x128x30x30xf16>
  %e = tensor.empty() : tensor<32x3x3x128x28x28xf16>
  %g = linalg.generic {indexing_maps = [#places, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%p : tensor<32x128x30x30xf16>) outs(%e : tensor<32x3x3x128x28x28xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<32x3x3x128x28x28xf16>
  %a = tensor.collapse_shape %g [[0], [1, 2, 3], [4, 5]] : tensor<32x3x3x128x28x28xf16> into tensor<32x1152x784xf16>
  %r = nm.spmm <1:1, block = 1x64> transpose_a transpose_c
    ins(%a, %v, %i : tensor<32x1152x784xf16>, tensor<1152x128xf16>, tensor<1152x2xi8>)
    outs(%c : tensor<32x128x784xf16>) -> tensor<32x128x784xf16>
    epilogue ins(%bias : tensor<128xf16>) maps [affine_map<(b, m, n) -> (n)>] {
  ^bb0(%sum: f32, %of: f16):
    %least = arith.constant 0.0 : f16
    %0 = arith.truncf %sum : f32 to f16
    %1 = arith.addf %0, %of : f16
    %2 = arith.maximumf %1, %least : f16
    nm.yield %2 : f16
  }
  return %r : tensor<32x128x784xf16>
}

// -----

#places = affine_map<(b, i, j, c, y, x) -> (b, c, i + y, j + x)>
#identity = affine_map<(b, i, j, c, y, x) -> (b, i, j, c, y, x)>

// Weights that come with each call are not packed for two branches.
// CHECK-LABEL: func.func @argument
// CHECK-NOT: has_cudnn
// GIVEN-LABEL: func.func @argument
// GIVEN-NOT: has_cudnn
// EXACT-LABEL: func.func @argument
func.func @argument(%x: tensor<32x128x30x30xf16>, %c: tensor<32x128x784xf16>, %v: tensor<1152x128xf16>) -> tensor<32x128x784xf16> {
  %i = arith.constant dense<0> : tensor<1152x2xi8>
  %e = tensor.empty() : tensor<32x3x3x128x28x28xf16>
  %g = linalg.generic {indexing_maps = [#places, #identity], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]}
    ins(%x : tensor<32x128x30x30xf16>) outs(%e : tensor<32x3x3x128x28x28xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<32x3x3x128x28x28xf16>
  %a = tensor.collapse_shape %g [[0], [1, 2, 3], [4, 5]] : tensor<32x3x3x128x28x28xf16> into tensor<32x1152x784xf16>
  %r = nm.spmm <1:1, block = 1x64> transpose_a transpose_c
    ins(%a, %v, %i : tensor<32x1152x784xf16>, tensor<1152x128xf16>, tensor<1152x2xi8>)
    outs(%c : tensor<32x128x784xf16>) -> tensor<32x128x784xf16>
  return %r : tensor<32x128x784xf16>
}
