// RUN: nm-opt %s --transform-interpreter --split-input-file 2>/dev/null | FileCheck %s

// Without a chip, schedules are for the CPU, and tiles those of its tasks.
module attributes {transform.with_named_sequence} {
  // CHECK-LABEL: func.func @cpu
  // CHECK: scf.forall (%{{.*}}) = (0) to (128) step (64)
  // CHECK: nm.spmm <2:4> schedule #nm.vector<block = [512, 64, 256], thread = [2, 16]>
  // CHECK-SAME: tensor<512x256xf32>, tensor<128x64xf32>
  // CHECK-SAME: nm.record = #nm.record<source = option
  func.func @cpu(%a: tensor<512x256xf32>, %v: tensor<128x128xf32>, %i: tensor<128x128xi8>, %c: tensor<512x128xf32>) -> tensor<512x128xf32> {
    %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<512x256xf32>, tensor<128x128xf32>, tensor<128x128xi8>) outs(%c : tensor<512x128xf32>) -> tensor<512x128xf32>
    return %r : tensor<512x128xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %product = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.nm.select_schedule %product {schedule = #nm.vector<block = [512, 64, 256], thread = [2, 16]>, dense_fallback = false, features = "+avx2,+fma", threads = 2 : i64} : !transform.any_op
    %loops, %tile = transform.nm.tile %product : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// One tile needs no loop: the product is the op as it was.
module attributes {transform.with_named_sequence} {
  // CHECK-LABEL: func.func @one_tile
  // CHECK-NOT: scf.forall
  // CHECK: nm.spmv <2:4> {{.*}}is_tile
  func.func @one_tile(%a: tensor<64xf32>, %v: tensor<32x32xf32>, %i: tensor<32x32xi8>, %c: tensor<32xf32>) -> tensor<32xf32> {
    %r = nm.spmv <2:4> schedule #nm.vector<block = [1, 64, 64], thread = [1, 16]> ins(%a, %v, %i : tensor<64xf32>, tensor<32x32xf32>, tensor<32x32xi8>) outs(%c : tensor<32xf32>) -> tensor<32xf32>
    return %r : tensor<32xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %product = transform.structured.match ops{["nm.spmv"]} in %root : (!transform.any_op) -> !transform.any_op
    %loops, %tile = transform.nm.tile %product : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.annotate %tile "is_tile" : !transform.any_op
    transform.annotate %loops "is_loop" : !transform.any_op
    transform.yield
  }
}

// -----

// With split_k there are two loops over blocks, and one product.
module attributes {nm.chip = #nm.chip<"sm_90a">, transform.with_named_sequence} {
  // CHECK-LABEL: func.func @split
  // CHECK-COUNT-2: is_loop
  func.func @split(%a: tensor<64x256xf32>, %v: tensor<64x128xf32>, %i: tensor<64x4xi8>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
    %r = nm.spmm <8:32, block = 1x32> schedule #nm.simt<block = [64, 64, 128], warp = [32, 32], thread = [4, 8], split_k = 2>
      ins(%a, %v, %i : tensor<64x256xf32>, tensor<64x128xf32>, tensor<64x4xi8>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
    return %r : tensor<64x128xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %product = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    %loops, %tile = transform.nm.tile %product : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.annotate %loops "is_loop" : !transform.any_op
    transform.yield
  }
}

// -----

// Where strategy wgmma does not take the product, another one does. The scope
// of the alternatives is the module, which says which chip it is for.
module attributes {transform.with_named_sequence} {
  module @payload attributes {nm.chip = #nm.chip<"sm_90a">} {
    // CHECK-LABEL: func.func @alternatives
    // CHECK: nm.spmm <2:4> schedule #nm.simt<
    func.func @alternatives(%a: tensor<64x256xf32>, %v: tensor<128x128xf32>, %i: tensor<128x128xi8>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
      %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<64x256xf32>, tensor<128x128xf32>, tensor<128x128xi8>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
      return %r : tensor<64x128xf32>
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %module = transform.structured.match attributes {sym_name = "payload"} in %root : (!transform.any_op) -> !transform.any_op
    transform.alternatives %module : !transform.any_op {
    ^bb0(%scope: !transform.any_op):
      %product = transform.structured.match ops{["nm.spmm"]} in %scope : (!transform.any_op) -> !transform.any_op
      transform.nm.select_schedule %product {schedule = #nm.wgmma} : !transform.any_op
    }, {
    ^bb0(%scope: !transform.any_op):
      %product = transform.structured.match ops{["nm.spmm"]} in %scope : (!transform.any_op) -> !transform.any_op
      transform.nm.select_schedule %product {schedule = #nm.simt} : !transform.any_op
    }
    transform.yield
  }
}
