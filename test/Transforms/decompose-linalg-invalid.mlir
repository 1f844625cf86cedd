// RUN: nm-opt %s --nm-decompose-linalg --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-decompose-linalg --split-input-file

func.func @softmax(%x: tensor<2x4xi8>, %y: tensor<2x4xi8>) -> tensor<2x4xi8> {
  // expected-error @+1 {{expected a float element type, but got 'i8'}}
  %r = linalg.softmax dimension(1) ins(%x : tensor<2x4xi8>) outs(%y : tensor<2x4xi8>) -> tensor<2x4xi8>
  return %r : tensor<2x4xi8>
}

// -----

func.func @pack(%x: tensor<16xf32>, %y: tensor<?x?xf32>, %tile: index) -> tensor<?x?xf32> {
  // expected-error @+1 {{'linalg.pack' op expected a known shape and known inner tiles, but got 'tensor<16xf32>' and 'tensor<?x?xf32>'}}
  %r = linalg.pack %x inner_dims_pos = [0] inner_tiles = [%tile] into %y : tensor<16xf32> -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
