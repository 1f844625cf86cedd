// RUN: nm-opt %s --nm-pack-weights --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-pack-weights --split-input-file

func.func @dynamic(%a: tensor<8x64xf32>, %v: tensor<?x48xf32>, %i: tensor<?x48xi8>, %c: tensor<8x48xf32>) -> tensor<8x48xf32> {
  // expected-error @+1 {{expected weights of static shape to pack, but got 'tensor<?x48xf32>'}}
  %r = nm.spmm <2:4> schedule #nm.vector<packing = <panel = 16, index_bits = 2>>
    ins(%a, %v, %i : tensor<8x64xf32>, tensor<?x48xf32>, tensor<?x48xi8>) outs(%c : tensor<8x48xf32>) -> tensor<8x48xf32>
  return %r : tensor<8x48xf32>
}
