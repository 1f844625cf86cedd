// RUN: nm-opt %s --convert-linalg-to-nm --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --convert-linalg-to-nm --split-input-file 2>/dev/null

func.func @not_a_contraction(%w: tensor<64x48xf32, #nm.encoding<2:4>>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  // expected-error @+1 {{expected operand 0, which carries #nm.encoding<2:4>, to be the weight of a contraction: op is not a contraction}}
  %r = linalg.exp ins(%w : tensor<64x48xf32, #nm.encoding<2:4>>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

func.func @not_linalg(%w: tensor<64x48xf32, #nm.encoding<2:4>>) -> index {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{expected operand 0, which carries #nm.encoding<2:4>, to be the weight of a contraction}}
  %d = tensor.dim %w, %c0 : tensor<64x48xf32, #nm.encoding<2:4>>
  return %d : index
}

// -----

func.func @wrong_dim(%a: tensor<5x64xf32>, %w: tensor<64x48xf32, #nm.encoding<2:4, dim = 1>>, %c: tensor<5x48xf32>) -> tensor<5x48xf32> {
  // expected-error @+1 {{dimension 1 of the weight, which its encoding says is k, is not reduced}}
  %r = linalg.matmul ins(%a, %w : tensor<5x64xf32>, tensor<64x48xf32, #nm.encoding<2:4, dim = 1>>)
                     outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %r : tensor<5x48xf32>
}

// -----

func.func @both_encoded(%a: tensor<5x64xf32, #nm.encoding<2:4, dim = 1>>, %w: tensor<64x48xf32, #nm.encoding<2:4>>, %c: tensor<5x48xf32>) -> tensor<5x48xf32> {
  // expected-error @+1 {{both operands carry an #nm.encoding}}
  %r = linalg.matmul ins(%a, %w : tensor<5x64xf32, #nm.encoding<2:4, dim = 1>>, tensor<64x48xf32, #nm.encoding<2:4>>)
                     outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %r : tensor<5x48xf32>
}

// -----

func.func @mixed_types(%a: tensor<5x64xf32>, %w: tensor<64x48xf16, #nm.encoding<2:4>>, %c: tensor<5x48xf32>) -> tensor<5x48xf32> {
  // expected-error @+1 {{expected activations of the weight's element type f16, but got f32}}
  %r = linalg.matmul ins(%a, %w : tensor<5x64xf32>, tensor<64x48xf16, #nm.encoding<2:4>>)
                     outs(%c : tensor<5x48xf32>) -> tensor<5x48xf32>
  return %r : tensor<5x48xf32>
}

// -----

func.func @narrow_output(%a: tensor<5x64xi8>, %w: tensor<64x48xi8, #nm.encoding<2:4>>, %c: tensor<5x48xi8>) -> tensor<5x48xi8> {
  // expected-error @+1 {{expected an output of element type i32, but got i8}}
  %r = linalg.matmul ins(%a, %w : tensor<5x64xi8>, tensor<64x48xi8, #nm.encoding<2:4>>)
                     outs(%c : tensor<5x48xi8>) -> tensor<5x48xi8>
  return %r : tensor<5x48xi8>
}

// -----

func.func @unsigned(%a: tensor<5x64xi8>, %w: tensor<64x48xi8, #nm.encoding<2:4>>, %c: tensor<5x48xi32>) -> tensor<5x48xi32> {
  // expected-error @+1 {{operands are unsigned, and nm takes signed integers}}
  %r = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>}
    ins(%a, %w : tensor<5x64xi8>, tensor<64x48xi8, #nm.encoding<2:4>>) outs(%c : tensor<5x48xi32>) -> tensor<5x48xi32>
  return %r : tensor<5x48xi32>
}

// -----

func.func @chosen_weight(%x: tensor<8x64xf32>, %p: i1, %v: tensor<64x48xf32, #nm.encoding<2:4>>, %w: tensor<64x48xf32, #nm.encoding<2:4>>, %y: tensor<8x48xf32>) -> tensor<8x48xf32> {
  // expected-error @+1 {{expected operand 1, which carries #nm.encoding<2:4>, to be the weight of a contraction; an scf.if or arith.select has to choose between the results of two products, not between their weights}}
  %c = arith.select %p, %v, %w : tensor<64x48xf32, #nm.encoding<2:4>>
  %r = linalg.matmul ins(%x, %c : tensor<8x64xf32>, tensor<64x48xf32, #nm.encoding<2:4>>) outs(%y : tensor<8x48xf32>) -> tensor<8x48xf32>
  return %r : tensor<8x48xf32>
}

// -----

// Products of f16 have one arithmetic.

func.func @arithmetic_of_f16(%a: tensor<5x64xf16>, %w: tensor<64x48xf16, #nm.encoding<2:4>>, %c: tensor<5x48xf16>) -> tensor<5x48xf16> {
  // expected-error @+1 {{expected f32 operands for arithmetic tf32, but got 'f16'}}
  %r = linalg.matmul {nm.arithmetic = #nm.arithmetic<tf32>}
    ins(%a, %w : tensor<5x64xf16>, tensor<64x48xf16, #nm.encoding<2:4>>)
    outs(%c : tensor<5x48xf16>) -> tensor<5x48xf16>
  return %r : tensor<5x48xf16>
}

// -----

// Upstream's analyses take a constant dimension for one that there is.

func.func @dimension(%a: tensor<?x64xf32>) -> index {
  %i = arith.constant -1 : index
  // expected-error @+1 {{expected a dimension of 'tensor<?x64xf32>', but got -1}}
  %m = tensor.dim %a, %i : tensor<?x64xf32>
  return %m : index
}

// -----

func.func @division_by_zero(%i: index) -> index {
  // expected-error @+1 {{expected a divisor other than 0, but got affine_map<(d0) -> (d0 floordiv 0)>}}
  %p = affine.apply affine_map<(d0) -> (d0 floordiv 0)>(%i)
  return %p : index
}
