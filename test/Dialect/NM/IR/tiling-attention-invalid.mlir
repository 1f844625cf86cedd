// RUN: nm-opt %s --transform-interpreter --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --transform-interpreter --split-input-file 2>/dev/null

// A tile has all keys, the whole depth, and, causal, all rows or the first ones.

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @keys(%q: tensor<60x16xf32>, %k: tensor<9x16xf32>, %v: tensor<9x24xf32>, %o: tensor<60x24xf32>) -> tensor<60x24xf32> {
  // expected-error @below {{expected tiles of all of the keys, loop 1, for a softmax takes whole rows of scores}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %r = nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0
    ins(%q, %k, %v : tensor<60x16xf32>, tensor<9x16xf32>, tensor<9x24xf32>)
    outs(%o : tensor<60x24xf32>) -> tensor<60x24xf32>
  return %r : tensor<60x24xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %op tile_sizes [0, 3, 0, 0]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @unknown_keys(%q: tensor<60x16xf32>, %k: tensor<?x16xf32>, %v: tensor<?x24xf32>, %o: tensor<60x24xf32>) -> tensor<60x24xf32> {
  // expected-error @below {{expected tiles of all of the keys, loop 1, for a softmax takes whole rows of scores}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %r = nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0
    ins(%q, %k, %v : tensor<60x16xf32>, tensor<?x16xf32>, tensor<?x24xf32>)
    outs(%o : tensor<60x24xf32>) -> tensor<60x24xf32>
  return %r : tensor<60x24xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %op tile_sizes [0, 3, 0, 0]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @depth(%q: tensor<60x16xf32>, %k: tensor<9x16xf32>, %v: tensor<9x24xf32>, %o: tensor<60x24xf32>) -> tensor<60x24xf32> {
  // expected-error @below {{expected tiles of all of the depth, loop 2, for a softmax takes whole rows of scores}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %r = nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0
    ins(%q, %k, %v : tensor<60x16xf32>, tensor<9x16xf32>, tensor<9x24xf32>)
    outs(%o : tensor<60x24xf32>) -> tensor<60x24xf32>
  return %r : tensor<60x24xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %op tile_sizes [0, 0, 8, 0]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @causal_rows(%q: tensor<60x16xf32>, %k: tensor<9x16xf32>, %v: tensor<9x24xf32>, %o: tensor<60x24xf32>) -> tensor<60x24xf32> {
  // expected-error @below {{expected tiles of all rows, loop 0, or of the first ones, for those of a causal attention count from 0}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %r = nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 causal
    ins(%q, %k, %v : tensor<60x16xf32>, tensor<9x16xf32>, tensor<9x24xf32>)
    outs(%o : tensor<60x24xf32>) -> tensor<60x24xf32>
  return %r : tensor<60x24xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %op tile_sizes [20, 0, 0, 0]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @causal_rows_that_do_not_divide(%q: tensor<60x16xf32>, %k: tensor<9x16xf32>, %v: tensor<9x24xf32>, %o: tensor<60x24xf32>) -> tensor<60x24xf32> {
  // expected-error @below {{expected tiles of all rows, loop 0, or of the first ones, for those of a causal attention count from 0}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %r = nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 causal
    ins(%q, %k, %v : tensor<60x16xf32>, tensor<9x16xf32>, tensor<9x24xf32>)
    outs(%o : tensor<60x24xf32>) -> tensor<60x24xf32>
  return %r : tensor<60x24xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["nm.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loops = transform.structured.tile_using_for %op tile_sizes [59, 0, 0, 0]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
