// RUN: nm-opt %s --transform-interpreter --canonicalize --cse 2>/dev/null | FileCheck %s

// A layer goes from linalg to a GPU kernel phase by phase, each a transform op
// or an upstream pass.
module attributes {transform.with_named_sequence} {
  module @payload attributes {nm.chip = #nm.chip<"sm_90a">} {
    // CHECK: gpu.launch_func @layer_kernel::@layer_kernel
    // CHECK: gpu.func @layer_kernel
    // CHECK: scf.for {{.*}} -> (f32, f32
    // CHECK: nvvm.cp.async.wait.group
    // CHECK: nvgpu.device_async_copy
    // CHECK: llvm.intr.fma
    // CHECK: arith.maximumf
    // CHECK: gpu.return
    // CHECK-NOT: nm.spmm <
    func.func @layer(%a: tensor<128x512xf32>,
                     %b: tensor<512x128xf32, #nm.encoding<8:32, block = 1x32>>,
                     %bias: tensor<128xf32>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : tensor<128x128xf32>
      %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
      %sums = linalg.matmul
        ins(%a, %b : tensor<128x512xf32>, tensor<512x128xf32, #nm.encoding<8:32, block = 1x32>>)
        outs(%filled : tensor<128x128xf32>) -> tensor<128x128xf32>
      %r = linalg.generic {
          indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
          iterator_types = ["parallel", "parallel"]}
        ins(%sums, %bias : tensor<128x128xf32>, tensor<128xf32>) outs(%c : tensor<128x128xf32>) {
      ^bb0(%sum: f32, %add: f32, %out: f32):
        %0 = arith.addf %sum, %add : f32
        %1 = arith.maximumf %0, %zero : f32
        linalg.yield %1 : f32
      } -> tensor<128x128xf32>
      return %r : tensor<128x128xf32>
    }
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %given = transform.structured.match attributes {sym_name = "payload"} in %root
      : (!transform.any_op) -> !transform.any_op
    %converted = transform.apply_registered_pass "convert-linalg-to-nm" to %given
      : (!transform.any_op) -> !transform.any_op
    %module = transform.apply_registered_pass "nm-materialize-storage" to %converted
      : (!transform.any_op) -> !transform.any_op

    %product = transform.structured.match ops{["nm.spmm"]} in %module
      : (!transform.any_op) -> !transform.any_op
    %fused = transform.nm.fuse_epilogue %product : (!transform.any_op) -> !transform.any_op
    transform.nm.select_schedule %fused {schedule = #nm.simt<block = [64, 64, 128], warp = [32, 32], thread = [4, 8], stages = 2, split_k = 1>, dense_fallback = false} : !transform.any_op
    %packed = transform.apply_registered_pass "nm-pack-weights" to %module
      : (!transform.any_op) -> !transform.any_op

    %whole = transform.structured.match ops{["nm.spmm"]} in %packed
      : (!transform.any_op) -> !transform.any_op
    %loops, %tiles = transform.nm.tile %whole
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %buffered = transform.bufferization.one_shot_bufferize layout{IdentityLayoutMap} %packed
      {bufferize_function_boundaries = true} : (!transform.any_op) -> !transform.any_op
    %canonical = transform.apply_registered_pass "canonicalize" to %buffered
      : (!transform.any_op) -> !transform.any_op

    %tile = transform.structured.match ops{["nm.spmm"]} in %canonical
      : (!transform.any_op) -> !transform.any_op
    %staged = transform.nm.stage %tile : (!transform.any_op) -> !transform.any_op
    %pipelined = transform.nm.pipeline %staged : (!transform.any_op) -> !transform.any_op
    %loop = transform.structured.match ops{["scf.forall"]} in %canonical
      : (!transform.any_op) -> !transform.any_op
    %launch = transform.nm.expand %loop : (!transform.any_op) -> !transform.any_op
    %kernel = transform.apply_registered_pass "gpu-kernel-outlining" to %canonical
      : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
