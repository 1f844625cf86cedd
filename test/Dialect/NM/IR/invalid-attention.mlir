// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file 2>/dev/null

// Each function is named for the constraint in NMAttention.td that it breaks.

func.func @c1_maps(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x4xf32>, %o: tensor<5x4xf32>) {
  // expected-error @+1 {{expected 4 maps, one for each operand, but got 3}}
  %r = nm.attention indexing_maps = [affine_map<(m, n, d, e) -> (m, d)>, affine_map<(m, n, d, e) -> (n, d)>, affine_map<(m, n, d, e) -> (n, e)>] scale = 1.0
    ins(%q, %k, %v : tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x4xf32>) outs(%o : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @c2_two_keys(%q: tensor<5x8xf32>, %k: tensor<6x2x8xf32>, %v: tensor<6x2x4xf32>, %o: tensor<5x4xf32>) {
  // expected-error @+1 {{expected every loop to be one of Q, K, V and O, of Q and O, of K and V, of Q and K, or of V and O, and one of each of the last three}}
  %r = nm.attention indexing_maps = [affine_map<(m, n, l, d, e) -> (m, d)>, affine_map<(m, n, l, d, e) -> (n, l, d)>, affine_map<(m, n, l, d, e) -> (n, l, e)>, affine_map<(m, n, l, d, e) -> (m, e)>] scale = 1.0
    ins(%q, %k, %v : tensor<5x8xf32>, tensor<6x2x8xf32>, tensor<6x2x4xf32>) outs(%o : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @c2_mask_of_depth(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x4xf32>, %m: tensor<5x8xf32>, %o: tensor<5x4xf32>) {
  // expected-error @+1 {{expected the mask to run along batches, rows and keys}}
  %r = nm.attention indexing_maps = [affine_map<(m, n, d, e) -> (m, d)>, affine_map<(m, n, d, e) -> (n, d)>, affine_map<(m, n, d, e) -> (n, e)>, affine_map<(m, n, d, e) -> (m, d)>, affine_map<(m, n, d, e) -> (m, e)>] scale = 1.0
    ins(%q, %k, %v : tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x4xf32>) mask(%m : tensor<5x8xf32>) outs(%o : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @c3_types(%q: tensor<5x8xf32>, %k: tensor<6x8xf16>, %v: tensor<6x4xf32>, %o: tensor<5x4xf32>) {
  // expected-error @+1 {{expected Q, K, V and O of one element type, but got 'f32' and 'f16'}}
  %r = nm.attention indexing_maps = [affine_map<(m, n, d, e) -> (m, d)>, affine_map<(m, n, d, e) -> (n, d)>, affine_map<(m, n, d, e) -> (n, e)>, affine_map<(m, n, d, e) -> (m, e)>] scale = 1.0
    ins(%q, %k, %v : tensor<5x8xf32>, tensor<6x8xf16>, tensor<6x4xf32>) outs(%o : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @c4_sizes(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<7x4xf32>, %o: tensor<5x4xf32>) {
  // expected-error @+1 {{expected size of dim 0 of V to be 6, but got 7}}
  %r = nm.attention indexing_maps = [affine_map<(m, n, d, e) -> (m, d)>, affine_map<(m, n, d, e) -> (n, d)>, affine_map<(m, n, d, e) -> (n, e)>, affine_map<(m, n, d, e) -> (m, e)>] scale = 1.0
    ins(%q, %k, %v : tensor<5x8xf32>, tensor<6x8xf32>, tensor<7x4xf32>) outs(%o : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @c2_lengths_of_rows(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x4xf32>, %l: tensor<5xi32>, %o: tensor<5x4xf32>) {
  // expected-error @+1 {{expected lengths to run along batches, but got affine_map<(d0, d1, d2, d3) -> (d0)>}}
  %r = nm.attention indexing_maps = [affine_map<(m, n, d, e) -> (m, d)>, affine_map<(m, n, d, e) -> (n, d)>, affine_map<(m, n, d, e) -> (n, e)>, affine_map<(m, n, d, e) -> (m)>, affine_map<(m, n, d, e) -> (m, e)>] scale = 1.0
    ins(%q, %k, %v : tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x4xf32>) lengths(%l : tensor<5xi32>) outs(%o : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @c4_lengths(%q: tensor<3x5x8xf32>, %k: tensor<3x6x8xf32>, %v: tensor<3x6x4xf32>, %l: tensor<2xi32>, %o: tensor<3x5x4xf32>) {
  // expected-error @+1 {{expected size of dim 0 of lengths to be 3, but got 2}}
  %r = nm.attention indexing_maps = [affine_map<(b, m, n, d, e) -> (b, m, d)>, affine_map<(b, m, n, d, e) -> (b, n, d)>, affine_map<(b, m, n, d, e) -> (b, n, e)>, affine_map<(b, m, n, d, e) -> (b)>, affine_map<(b, m, n, d, e) -> (b, m, e)>] scale = 1.0
    ins(%q, %k, %v : tensor<3x5x8xf32>, tensor<3x6x8xf32>, tensor<3x6x4xf32>) lengths(%l : tensor<2xi32>) outs(%o : tensor<3x5x4xf32>) -> tensor<3x5x4xf32>
  return
}

// -----

func.func @lengths_of_floats(%q: tensor<5x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x4xf32>, %l: tensor<f32>, %o: tensor<5x4xf32>) {
  // expected-error @+1 {{operand #3 must be ranked tensor of 32-bit signless integer or 64-bit signless integer values or memref}}
  %r = nm.attention indexing_maps = [affine_map<(m, n, d, e) -> (m, d)>, affine_map<(m, n, d, e) -> (n, d)>, affine_map<(m, n, d, e) -> (n, e)>, affine_map<(m, n, d, e) -> ()>, affine_map<(m, n, d, e) -> (m, e)>] scale = 1.0
    ins(%q, %k, %v : tensor<5x8xf32>, tensor<6x8xf32>, tensor<6x4xf32>) lengths(%l : tensor<f32>) outs(%o : tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}
