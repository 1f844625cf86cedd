// RUN: nm-opt %s --transform-interpreter --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --transform-interpreter --split-input-file 2>/dev/null

// Parts are whole windows.
func.func @inside_a_window(%a: tensor<3x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<3x48xf32>) -> tensor<3x48xf32> {
  // expected-error @below {{expected tiles to start at a multiple of the window, 4 rows, along k}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
  return %r : tensor<3x48xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{could not tile reduction}}
    transform.structured.tile_reduction_using_forall %op by tile_sizes = [0, 0, 6]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Each k of a tile a sum of its own is no product.
func.func @outer_reduction(%a: tensor<3x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<3x48xf32>) -> tensor<3x48xf32> {
  // expected-error @below {{expected parts of k that are summed side by side, by the strategy 'outer parallel'}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
  return %r : tensor<3x48xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{failed to tile using partial reduction}}
    transform.structured.tile_reduction_using_for %op by tile_sizes = [0, 0, 16]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Buffers have no place for partial sums.
func.func @on_buffers(%a: memref<3x64xf32>, %v: memref<32x48xf32>, %i: memref<32x48xi8>, %c: memref<3x48xf32>) {
  // expected-error @below {{expected partial sums over k, loop 2, of tensors}}
  nm.spmm <2:4> ins(%a, %v, %i : memref<3x64xf32>, memref<32x48xf32>, memref<32x48xi8>)
    outs(%c : memref<3x48xf32>)
  return
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{could not tile reduction}}
    transform.structured.tile_reduction_using_forall %op by tile_sizes = [0, 0, 16]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
