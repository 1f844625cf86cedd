// Constant weights, drawn by draw_constants.py, of functions that share no weights.
func.func @code(%a: tensor<64x784xf32>, %c: tensor<32x784xf32>) -> tensor<32x784xf32> {
  %b = arith.constant dense<"DRAW 64x32xf32 400"> : tensor<64x32xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<64x32xf32>, tensor<64x784xf32>) outs(%c : tensor<32x784xf32>) -> tensor<32x784xf32>
  return %p : tensor<32x784xf32>
}

func.func @code_of_pattern(%a: tensor<64x784xf32>, %c: tensor<64x784xf32>) -> tensor<64x784xf32> {
  %b = arith.constant dense<"DRAW 64x64xf32 1:8"> : tensor<64x64xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<64x64xf32>, tensor<64x784xf32>) outs(%c : tensor<64x784xf32>) -> tensor<64x784xf32>
  return %p : tensor<64x784xf32>
}

// Data.
func.func @columns(%a: tensor<512x784xf32>, %c: tensor<128x784xf32>) -> tensor<128x784xf32> {
  %b = arith.constant dense<"DRAW 512x128xf32"> : tensor<512x128xf32>
  %p = linalg.matmul indexing_maps = [affine_map<(n, m, k) -> (k, n)>, affine_map<(n, m, k) -> (k, m)>, affine_map<(n, m, k) -> (n, m)>]
    ins(%b, %a : tensor<512x128xf32>, tensor<512x784xf32>) outs(%c : tensor<128x784xf32>) -> tensor<128x784xf32>
  return %p : tensor<128x784xf32>
}

func.func @few_rows(%a: tensor<8x256xf16>, %c: tensor<8x128xf16>) -> tensor<8x128xf16> {
  %b = arith.constant dense<"DRAW 256x128xf16"> : tensor<256x128xf16>
  %p = linalg.matmul ins(%a, %b : tensor<8x256xf16>, tensor<256x128xf16>) outs(%c : tensor<8x128xf16>) -> tensor<8x128xf16>
  return %p : tensor<8x128xf16>
}

func.func @pattern(%a: tensor<64x128xf16>, %c: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %b = arith.constant dense<"DRAW 128x128xf16 2:4"> : tensor<128x128xf16>
  %p = linalg.matmul ins(%a, %b : tensor<64x128xf16>, tensor<128x128xf16>) outs(%c : tensor<64x128xf16>) -> tensor<64x128xf16>
  return %p : tensor<64x128xf16>
}

// As long as those of the function before.
func.func @same_pattern(%a: tensor<64x128xf16>, %c: tensor<64x128xf16>) -> tensor<64x128xf16> {
  %b = arith.constant dense<"DRAW 128x128xf16 2:4"> : tensor<128x128xf16>
  %p = linalg.matmul ins(%a, %b : tensor<64x128xf16>, tensor<128x128xf16>) outs(%c : tensor<64x128xf16>) -> tensor<64x128xf16>
  return %p : tensor<64x128xf16>
}

func.func @vector(%a: tensor<1x128xf16>, %c: tensor<1x128xf16>) -> tensor<1x128xf16> {
  %b = arith.constant dense<"DRAW 128x128xf16 2:4"> : tensor<128x128xf16>
  %p = linalg.matmul ins(%a, %b : tensor<1x128xf16>, tensor<128x128xf16>) outs(%c : tensor<1x128xf16>) -> tensor<1x128xf16>
  return %p : tensor<1x128xf16>
}

func.func @convolution(%x: tensor<1x16x14x14xf32>) -> tensor<1x32x14x14xf32> {
  %b = arith.constant dense<"DRAW 32x144xf32"> : tensor<32x144xf32>
  %f = tensor.expand_shape %b [[0], [1, 2, 3]] output_shape [32, 16, 3, 3] : tensor<32x144xf32> into tensor<32x16x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<1x16x14x14xf32> to tensor<1x16x16x16xf32>
  %e = tensor.empty() : tensor<1x32x14x14xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%p, %f : tensor<1x16x16x16xf32>, tensor<32x16x3x3xf32>) outs(%c : tensor<1x32x14x14xf32>) -> tensor<1x32x14x14xf32>
  return %r : tensor<1x32x14x14xf32>
}
