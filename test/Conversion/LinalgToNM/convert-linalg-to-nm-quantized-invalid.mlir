// RUN: nm-opt %s --convert-linalg-to-nm --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --convert-linalg-to-nm --split-input-file 2>/dev/null

func.func @body(%a: tensor<4x64xf16>, %q: tensor<64x48xi8, #nm.encoding<2:4>>, %s: tensor<2x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  %e = tensor.empty() : tensor<64x48xf16>
  // expected-error @+1 {{expected operand 0, which carries #nm.encoding<2:4>, to be the weight of a contraction, or to be dequantized to one: expected arith.sitofp of the value, or of its low four bits by arith.trunci to i4, times the scale, by arith.mulf}}
  %w = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k floordiv 32, n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<64x48xi8, #nm.encoding<2:4>>, tensor<2x48xf16>) outs(%e : tensor<64x48xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %exact = arith.sitofp %value : i8 to f16
    %weight = arith.addf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<64x48xf16>
  %r = linalg.matmul ins(%a, %w : tensor<4x64xf16>, tensor<64x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @unsigned(%a: tensor<4x64xf16>, %q: tensor<64x48xi8, #nm.encoding<2:4>>, %s: tensor<2x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  %e = tensor.empty() : tensor<64x48xf16>
  // expected-error @+1 {{expected operand 0, which carries #nm.encoding<2:4>, to be the weight of a contraction, or to be dequantized to one: expected arith.sitofp of the value, or of its low four bits by arith.trunci to i4, times the scale, by arith.mulf}}
  %w = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k floordiv 32, n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<64x48xi8, #nm.encoding<2:4>>, tensor<2x48xf16>) outs(%e : tensor<64x48xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %exact = arith.uitofp %value : i8 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<64x48xf16>
  %r = linalg.matmul ins(%a, %w : tensor<4x64xf16>, tensor<64x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @two_bits(%a: tensor<4x64xf16>, %q: tensor<64x48xi8, #nm.encoding<2:4>>, %s: tensor<2x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  %e = tensor.empty() : tensor<64x48xf16>
  // expected-error @+1 {{expected operand 0, which carries #nm.encoding<2:4>, to be the weight of a contraction, or to be dequantized to one: expected arith.sitofp of the value, or of its low four bits by arith.trunci to i4, times the scale, by arith.mulf}}
  %w = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k floordiv 32, n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<64x48xi8, #nm.encoding<2:4>>, tensor<2x48xf16>) outs(%e : tensor<64x48xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %bits = arith.trunci %value : i8 to i2
    %exact = arith.sitofp %bits : i2 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<64x48xf16>
  %r = linalg.matmul ins(%a, %w : tensor<4x64xf16>, tensor<64x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @scales(%a: tensor<4x64xf16>, %q: tensor<64x48xi8, #nm.encoding<2:4>>, %s: tensor<64x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  %e = tensor.empty() : tensor<64x48xf16>
  // expected-error @+1 {{expected operand 0, which carries #nm.encoding<2:4>, to be the weight of a contraction, or to be dequantized to one: expected scales at (k floordiv group, n), in either order, or at (n)}}
  %w = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<64x48xi8, #nm.encoding<2:4>>, tensor<64x48xf16>) outs(%e : tensor<64x48xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %exact = arith.sitofp %value : i8 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<64x48xf16>
  %r = linalg.matmul ins(%a, %w : tensor<4x64xf16>, tensor<64x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @window(%a: tensor<4x64xf16>, %q: tensor<64x48xi8, #nm.encoding<2:4>>, %s: tensor<11x48xf16>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  %e = tensor.empty() : tensor<64x48xf16>
  // expected-error @+1 {{expected operand 0, which carries #nm.encoding<2:4>, to be the weight of a contraction, or to be dequantized to one: expected groups of a multiple of the window's 4 rows of k, but got 6}}
  %w = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k floordiv 6, n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<64x48xi8, #nm.encoding<2:4>>, tensor<11x48xf16>) outs(%e : tensor<64x48xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %exact = arith.sitofp %value : i8 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<64x48xf16>
  %r = linalg.matmul ins(%a, %w : tensor<4x64xf16>, tensor<64x48xf16>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

func.func @f32(%a: tensor<4x64xf32>, %q: tensor<64x48xi8, #nm.encoding<2:4>>, %s: tensor<2x48xf32>, %c: tensor<4x48xf32>) -> tensor<4x48xf32> {
  %e = tensor.empty() : tensor<64x48xf32>
  // expected-error @+1 {{expected operand 0, which carries #nm.encoding<2:4>, to be the weight of a contraction, or to be dequantized to one: expected quantized weights to become f16 or bf16}}
  %w = linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k floordiv 32, n)>, affine_map<(k, n) -> (k, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<64x48xi8, #nm.encoding<2:4>>, tensor<2x48xf32>) outs(%e : tensor<64x48xf32>) {
  ^bb0(%value: i8, %scale: f32, %out: f32):
    %exact = arith.sitofp %value : i8 to f32
    %weight = arith.mulf %exact, %scale : f32
    linalg.yield %weight : f32
  } -> tensor<64x48xf32>
  %r = linalg.matmul ins(%a, %w : tensor<4x64xf32>, tensor<64x48xf32>) outs(%c : tensor<4x48xf32>) -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}
