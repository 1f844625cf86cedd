// RUN: nm-opt %s --nm-call-cublas --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-call-cublas --split-input-file

func.func @sparse(%a: memref<8x4xf32>, %v: memref<2x8xf32>, %i: memref<2x8xi8>, %c: memref<8x8xf32>) {
  // expected-error @+1 {{expected a pattern that keeps all weights for strategy cublas, but got 2:4}}
  nm.spmm <2:4> schedule #nm.cublas ins(%a, %v, %i : memref<8x4xf32>, memref<2x8xf32>, memref<2x8xi8>) outs(%c : memref<8x8xf32>)
  return
}

// -----

func.func @packed(%a: memref<8x4xf32>, %v: memref<1x4x8xf32>, %i: memref<1x4x1xi8>, %c: memref<8x8xf32>) {
  // expected-error @+1 {{expected weights in condensed form, or with the k of each column side by side, for strategy cublas}}
  nm.spmm <1:1, block = 1x8> packing #nm.packing<panel = 8, index_bits = 8> schedule #nm.cublas
    ins(%a, %v, %i : memref<8x4xf32>, memref<1x4x8xf32>, memref<1x4x1xi8>) outs(%c : memref<8x8xf32>)
  return
}

// -----

func.func @type(%a: memref<8x16xf8E5M2>, %v: memref<16x16xf8E5M2>, %i: memref<16x1xi8>, %c: memref<8x16xf32>) {
  // expected-error @+1 {{expected operands of element type f32, f16, bf16, i8 or f8E4M3FN for strategy cublas}}
  nm.spmm <1:1, block = 1x16> schedule #nm.cublas
    ins(%a, %v, %i : memref<8x16xf8E5M2>, memref<16x16xf8E5M2>, memref<16x1xi8>) outs(%c : memref<8x16xf32>)
  return
}

// -----

func.func @f8_rows(%a: memref<8x16xf8E4M3FN>, %v: memref<16x16xf8E4M3FN>, %i: memref<16x1xi8>, %c: memref<8x16xf32>) {
  // expected-error @+1 {{expected f8E4M3FN operands that have the k of each row and column side by side for strategy cublas}}
  nm.spmm <1:1, block = 1x16> schedule #nm.cublas
    ins(%a, %v, %i : memref<8x16xf8E4M3FN>, memref<16x16xf8E4M3FN>, memref<16x1xi8>) outs(%c : memref<8x16xf32>)
  return
}

// -----

func.func @batches(%a: memref<2x3x8x4xf32>, %v: memref<4x8xf32>, %i: memref<4x1xi8>, %c: memref<2x3x8x8xf32>) {
  // expected-error @+1 {{expected at most one batch dimension for strategy cublas}}
  nm.spmm <1:1, block = 1x8> schedule #nm.cublas
    ins(%a, %v, %i : memref<2x3x8x4xf32>, memref<4x8xf32>, memref<4x1xi8>) outs(%c : memref<2x3x8x8xf32>)
  return
}

// -----

func.func @rows_of_weights(%a: memref<8x4xf32>, %v: memref<4x8xf32, strided<[16, 2]>>, %i: memref<4x1xi8>, %c: memref<8x8xf32>) {
  // expected-error @+1 {{expected contiguous rows of weights for strategy cublas}}
  nm.spmm <1:1, block = 1x8> schedule #nm.cublas
    ins(%a, %v, %i : memref<8x4xf32>, memref<4x8xf32, strided<[16, 2]>>, memref<4x1xi8>) outs(%c : memref<8x8xf32>)
  return
}

// -----

func.func @tensors(%a: tensor<8x4xf32>, %v: tensor<4x8xf32>, %i: tensor<4x1xi8>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected memrefs to call cuBLAS with}}
  %r = nm.spmm <1:1, block = 1x8> schedule #nm.cublas
    ins(%a, %v, %i : tensor<8x4xf32>, tensor<4x8xf32>, tensor<4x1xi8>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

func.func @vector(%a: memref<4xf32>, %v: memref<4x8xf32>, %i: memref<4x1xi8>, %c: memref<8xf32>) {
  // expected-error @+1 {{expected nm.spmm for strategy cublas}}
  nm.spmv <1:1, block = 1x8> schedule #nm.cublas
    ins(%a, %v, %i : memref<4xf32>, memref<4x8xf32>, memref<4x1xi8>) outs(%c : memref<8xf32>)
  return
}

// -----

func.func @epilogue(%a: memref<8x4xf32>, %v: memref<4x8xf32>, %i: memref<4x1xi8>, %c: memref<8x8xf32>) {
  // expected-error @+1 {{expected an epilogue that cuBLASLt has, a bias of columns, ReLU or GELU by tanh, for strategy cublas}}
  nm.spmm <1:1, block = 1x8> schedule #nm.cublas
    ins(%a, %v, %i : memref<8x4xf32>, memref<4x8xf32>, memref<4x1xi8>) outs(%c : memref<8x8xf32>)
    epilogue {
      ^bb0(%sum: f32):
        %y = math.sin %sum : f32
        nm.yield %y : f32
    }
  return
}

// -----

func.func @alone(%a: memref<8x4xf32>, %v: memref<4x8xf32>, %i: memref<4x1xi8>, %c: memref<8x8xf32>) {
  // expected-error @+1 {{expected another branch under nm.has_cublas, for where cuBLASLt refuses the epilogue}}
  nm.spmm <1:1, block = 1x8> schedule #nm.cublas
    ins(%a, %v, %i : memref<8x4xf32>, memref<4x8xf32>, memref<4x1xi8>) outs(%c : memref<8x8xf32>)
    epilogue {
      ^bb0(%sum: f32):
        %none = arith.constant 0.0 : f32
        %y = arith.maximumf %sum, %none : f32
        nm.yield %y : f32
    }
  return
}

// -----

func.func @convolution(%x: memref<1x5x4xf32>, %w: memref<1x1x32xf32>, %i: memref<1x1x1xi8>, %c: memref<4x4xf32>) {
  %a = nm.patches %x map affine_map<(y, i, c) -> (0, y + i, c)> loops [4, 2, 4] groups [1, 2] : memref<1x5x4xf32> -> memref<4x8xf32>
  // expected-error @+1 {{expected zeros as C, weights with the k of each column side by side, no epilogue, and another branch under nm.has_cudnn, for where cuDNN refuses the convolution}}
  nm.spmm <1:1, block = 1x4> packing #nm.packing<panel = 4, index_bits = 1, chunk_rows = 8, index_rows = 8>
    schedule #nm.cublas<packing = <panel = 4, index_bits = 1, chunk_rows = 8, index_rows = 8>>
    ins(%a, %w, %i : memref<4x8xf32>, memref<1x1x32xf32>, memref<1x1x1xi8>) outs(%c : memref<4x4xf32>)
  return
}

// -----

func.func @none(%x: memref<1x5x4xf32>, %w: memref<1x1x32xf32>, %i: memref<1x1x1xi8>, %c: memref<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %loaded = nm.has_cudnn
  scf.if %loaded {
    linalg.fill ins(%zero : f32) outs(%c : memref<4x4xf32>)
    // Two loops of taps go along the pixels.
    %b = nm.patches %x map affine_map<(y, i, j) -> (0, i + j, y)> loops [4, 2, 4] groups [1, 2] : memref<1x5x4xf32> -> memref<4x8xf32>
    // expected-error @+1 {{expected patches of a convolution}}
    nm.spmm <1:1, block = 1x4> packing #nm.packing<panel = 4, index_bits = 1, chunk_rows = 8, index_rows = 8>
      schedule #nm.cublas<packing = <panel = 4, index_bits = 1, chunk_rows = 8, index_rows = 8>>
      ins(%b, %w, %i : memref<4x8xf32>, memref<1x1x32xf32>, memref<1x1x1xi8>) outs(%c : memref<4x4xf32>)
  } else {
    linalg.fill ins(%zero : f32) outs(%c : memref<4x4xf32>)
  }
  return
}
