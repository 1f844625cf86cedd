// RUN: nm-opt %s --transform-interpreter --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --transform-interpreter --split-input-file 2>/dev/null

// Tiles start at whole windows, units and panels, as weights can be cut nowhere
// else.

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
    %tiled, %loops = transform.structured.tile_using_for %op tile_sizes [0, 0, 6]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @inside_a_unit(%a: tensor<3x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x3xi8>, %c: tensor<3x48xf32>) -> tensor<3x48xf32> {
  // expected-error @below {{expected tiles to start at a multiple of 16 columns along n}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %r = nm.spmm <2:4, block = 1x16> ins(%a, %v, %i : tensor<3x64xf32>, tensor<32x48xf32>, tensor<32x3xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
  return %r : tensor<3x48xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %op tile_sizes [0, 8, 0]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @inside_a_panel(%x: tensor<64xf32>, %v: tensor<3x32x16xf32>, %i: tensor<3x32x4xi8>, %y: tensor<48xf32>) -> tensor<48xf32> {
  // expected-error @below {{expected tiles to start at a multiple of 16 columns along n}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %r = nm.spmv <2:4> packing #nm.packing<panel = 16, index_bits = 2>
    ins(%x, %v, %i : tensor<64xf32>, tensor<3x32x16xf32>, tensor<3x32x4xi8>) outs(%y : tensor<48xf32>) -> tensor<48xf32>
  return %r : tensor<48xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmv"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %op tile_sizes [8, 0]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @prune_inside_a_window(%b: tensor<64x48xf32>) -> tensor<64x48xf32> {
  // expected-error @below {{expected tiles to start at a multiple of the window, 8 rows, along k}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %p = nm.prune <2:4, block = 2x2> ins(%b : tensor<64x48xf32>) outs(%b : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %p : tensor<64x48xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.prune"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %op tile_sizes [4, 0]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// An epilogue takes whole sums.

func.func @epilogue(%a: tensor<3x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<3x48xf32>) -> tensor<3x48xf32> {
  // expected-error @below {{expected tiles of all of k, for the epilogue takes whole sums}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
    epilogue {
    ^bb0(%s: f32):
      %y = math.exp %s : f32
      nm.yield %y : f32
    }
  return %r : tensor<3x48xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %op tile_sizes [0, 0, 8]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
