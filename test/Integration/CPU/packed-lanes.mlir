// Weights that are packed in the order of lanes are read as those that are not:
// nm.pack and the products of packed weights, both as loops.

// RUN: nm-run %s --target=cpu --random --output=%t.packed.npy --output=%t.npy
// RUN: cmp %t.packed.npy %t.npy

func.func @f(%a: tensor<5x512xi8>, %b: tensor<512x100xi8>) -> (tensor<5x100xi32>, tensor<5x100xi32>) {
  %z = arith.constant 0 : i32
  %ev = tensor.empty() : tensor<192x112xi8>
  %ei = tensor.empty() : tensor<192x7xi8>
  %eb = tensor.empty() : tensor<512x100xi8>
  %p = nm.prune <3:8, block = 1x16> ins(%b : tensor<512x100xi8>) outs(%eb : tensor<512x100xi8>) -> tensor<512x100xi8>
  %v, %i = nm.compress <3:8, block = 1x16> ins(%p : tensor<512x100xi8>) outs(%ev, %ei : tensor<192x112xi8>, tensor<192x7xi8>) -> tensor<192x112xi8>, tensor<192x7xi8>
  %epv = tensor.empty() : tensor<2x192x64xi8>
  %epi = tensor.empty() : tensor<2x48x8xi8>
  %pv, %pi = nm.pack <3:8, block = 1x16> #nm.packing<panel = 64, index_bits = 4, index_rows = 4, tile_rows = 96, lane_words = 3> ins(%v, %i : tensor<192x112xi8>, tensor<192x7xi8>) outs(%epv, %epi : tensor<2x192x64xi8>, tensor<2x48x8xi8>) -> tensor<2x192x64xi8>, tensor<2x48x8xi8>
  %e = tensor.empty() : tensor<5x100xi32>
  %c = linalg.fill ins(%z : i32) outs(%e : tensor<5x100xi32>) -> tensor<5x100xi32>
  %e2 = tensor.empty() : tensor<5x100xi32>
  %c2 = linalg.fill ins(%z : i32) outs(%e2 : tensor<5x100xi32>) -> tensor<5x100xi32>
  %x = nm.spmm <3:8, block = 1x16> packing #nm.packing<panel = 64, index_bits = 4, index_rows = 4, tile_rows = 96, lane_words = 3> schedule #nm.loops ins(%a, %pv, %pi : tensor<5x512xi8>, tensor<2x192x64xi8>, tensor<2x48x8xi8>) outs(%c : tensor<5x100xi32>) -> tensor<5x100xi32>
  %y = nm.spmm <3:8, block = 1x16> schedule #nm.loops ins(%a, %v, %i : tensor<5x512xi8>, tensor<192x112xi8>, tensor<192x7xi8>) outs(%c2 : tensor<5x100xi32>) -> tensor<5x100xi32>
  return %x, %y : tensor<5x100xi32>, tensor<5x100xi32>
}
