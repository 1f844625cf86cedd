// Attention in f16 that cuDNN may make.
func.func @attend(%q: tensor<2x4x33x16xf16>, %k: tensor<2x33x16xf16>, %v: tensor<2x33x8xf16>) -> tensor<2x4x33x8xf16> {
  %o = tensor.empty() : tensor<2x4x33x8xf16>
  %r = nm.attention indexing_maps = [affine_map<(h, g, m, n, d, e) -> (h, g, m, d)>, affine_map<(h, g, m, n, d, e) -> (h, n, d)>,
                                     affine_map<(h, g, m, n, d, e) -> (h, n, e)>, affine_map<(h, g, m, n, d, e) -> (h, g, m, e)>] scale = 0.25 causal
    ins(%q, %k, %v : tensor<2x4x33x16xf16>, tensor<2x33x16xf16>, tensor<2x33x8xf16>)
    outs(%o : tensor<2x4x33x8xf16>) -> tensor<2x4x33x8xf16>
  return %r : tensor<2x4x33x8xf16>
}
