// RUN: nm-opt %s --nm-select-gpu-schedule --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-select-gpu-schedule --split-input-file

func.func @type(%a: tensor<8x4xf16>, %v: tensor<2x8xf16>, %i: tensor<2x8xi8>, %c: tensor<8x8xf16>) -> tensor<8x8xf16> {
  // expected-error @+1 {{expected f32 operands for strategy simt}}
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<8x4xf16>, tensor<2x8xf16>, tensor<2x8xi8>)
    outs(%c : tensor<8x8xf16>) -> tensor<8x8xf16>
  return %r : tensor<8x8xf16>
}

// -----

func.func @vector(%x: tensor<4xf32>, %v: tensor<2x8xf32>, %i: tensor<2x8xi8>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{expected nm.spmm, the product that strategy simt has}}
  %r = nm.spmv <2:4> ins(%x, %v, %i : tensor<4xf32>, tensor<2x8xf32>, tensor<2x8xi8>)
    outs(%y : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @strategy(%a: tensor<8x4xf32>, %v: tensor<2x8xf32>, %i: tensor<2x8xi8>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{expected a schedule of a GPU strategy, but got vector}}
  %r = nm.spmm <2:4> schedule <vector, block = [8, 8, 4]>
    ins(%a, %v, %i : tensor<8x4xf32>, tensor<2x8xf32>, tensor<2x8xi8>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

func.func @window(%a: tensor<8x2048xf32>, %v: tensor<1024x64xf32>, %i: tensor<16x1xi8>, %c: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // expected-error @+1 {{expected a window to fit in 232448 bytes of shared memory, but one of 16:32, block = 64x64 spans 2048 rows}}
  %r = nm.spmm <16:32, block = 64x64>
    ins(%a, %v, %i : tensor<8x2048xf32>, tensor<1024x64xf32>, tensor<16x1xi8>) outs(%c : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %r : tensor<8x64xf32>
}
