// The phases that make tiles of a product for a CPU. The compiler marks the tile,
// for a core of which it is.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @tile_products(%module: !transform.any_op {transform.consumed}) {
    %product = transform.structured.match ops{["nm.spmm"]} in %module
      : (!transform.any_op) -> !transform.any_op
    %fused = transform.nm.fuse_epilogue %product : (!transform.any_op) -> !transform.any_op
    transform.nm.select_schedule %fused
      {schedule = #nm.vector<block = [16, 32, 64]>, dense_fallback = false} : !transform.any_op
    %packed = transform.apply_registered_pass "nm-pack-weights" to %module
      : (!transform.any_op) -> !transform.any_op
    %whole = transform.structured.match ops{["nm.spmm"]} in %packed
      : (!transform.any_op) -> !transform.any_op
    %loops, %tile = transform.nm.tile %whole
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.annotate %tile "host.core" : !transform.any_op
    transform.yield
  }
}
