// RUN: nm-opt %s --transform-interpreter --verify-diagnostics
// RUN: not nm-opt %s --transform-interpreter 2>/dev/null

// A tile that begins in the midst of a group cannot tell its scales.
func.func @midst(%a: tensor<16x256xf16>, %v: tensor<128x64xi8>, %i: tensor<128x64xi8>, %s: tensor<4x64xf16>, %c: tensor<16x64xf32>) -> tensor<16x64xf32> {
  // expected-error @below {{expected tiles to start at a multiple of, or to be whole parts of, the 64 rows of k that share a scale}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %r = nm.spmm <2:4> quantization <bits = 4, group = 64> ins(%a, %v, %i : tensor<16x256xf16>, tensor<128x64xi8>, tensor<128x64xi8>)
    scales(%s : tensor<4x64xf16>) outs(%c : tensor<16x64xf32>) -> tensor<16x64xf32>
  return %r : tensor<16x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %product = transform.structured.match ops{["nm.spmm"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %product tile_sizes [0, 0, 96] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
