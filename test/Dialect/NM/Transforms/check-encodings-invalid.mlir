// RUN: nm-opt %s --nm-check-encodings --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-check-encodings --split-input-file 2>/dev/null

// expected-error @+1 {{expected no tensor encoding to be left before bufferization, which would drop it, but got 'tensor<64x48xf32, #nm.encoding<2:4>>'}}
func.func @argument(%w: tensor<64x48xf32, #nm.encoding<2:4>>) {
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @other_encodings_too() {
  // expected-error @+1 {{but got 'tensor<4x4xf32, #sparse_tensor.encoding<}}
  %0 = tensor.empty() : tensor<4x4xf32, #csr>
  return
}
