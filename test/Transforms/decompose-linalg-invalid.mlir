// RUN: nm-opt %s --nm-decompose-linalg --verify-diagnostics
// RUN: not nm-opt %s --nm-decompose-linalg

func.func @softmax(%x: tensor<2x4xi8>, %y: tensor<2x4xi8>) -> tensor<2x4xi8> {
  // expected-error @+1 {{expected a float element type, but got 'i8'}}
  %r = linalg.softmax dimension(1) ins(%x : tensor<2x4xi8>) outs(%y : tensor<2x4xi8>) -> tensor<2x4xi8>
  return %r : tensor<2x4xi8>
}
