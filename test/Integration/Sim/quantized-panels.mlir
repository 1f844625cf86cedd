// The same as quantized-packed.mlir of weights whose columns share their rows,
// which are packed in panels, and in tiles as wgmma reads them.
//
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule=wgmma -o %t.wgmma.so
// RUN: nm-run %t.wgmma.so --function=tiles --random --check | FileCheck %s
// RUN: nm-run %t.wgmma.so --function=bytes --random --check | FileCheck %s
// RUN: nm-run %t.wgmma.so --function=short --random --check | FileCheck %s
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule=mma_sync -o %t.mma_sync.so
// RUN: nm-run %t.mma_sync.so --function=tiles --random --check | FileCheck %s
// RUN: nm-run %t.mma_sync.so --function=bytes --random --check | FileCheck %s
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule=gemv -o %t.gemv.so
// RUN: nm-run %t.gemv.so --function=tiles --random --check | FileCheck %s
// RUN: nm-run %t.gemv.so --function=bytes --random --check | FileCheck %s
//
// CHECK: passed

#q = affine_map<(k, n) -> (k, n)>
#s32 = affine_map<(k, n) -> (k floordiv 32, n)>
#s64 = affine_map<(k, n) -> (k floordiv 64, n)>
#s128 = affine_map<(k, n) -> (k floordiv 128, n)>

// Tiles of wgmma's, with a ragged last window and columns that fill up a vector.
func.func @tiles(%a: tensor<70x328xf16>, %q: tensor<328x100xi8, #nm.encoding<8:32, block = 1x64>>,
    %s: tensor<6x100xf16>, %c: tensor<70x100xf16>) -> tensor<70x100xf16> {
  %e = tensor.empty() : tensor<328x100xf16>
  %w = linalg.generic {indexing_maps = [#q, #s64, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<328x100xi8, #nm.encoding<8:32, block = 1x64>>, tensor<6x100xf16>) outs(%e : tensor<328x100xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<328x100xf16>
  %r = linalg.matmul ins(%a, %w : tensor<70x328xf16>, tensor<328x100xf16>) outs(%c : tensor<70x100xf16>) -> tensor<70x100xf16>
  return %r : tensor<70x100xf16>
}

// Eight bits, and vectors of two panels of a tile.
func.func @bytes(%a: tensor<70x256xbf16>, %q: tensor<256x256xi8, #nm.encoding<4:32, block = 1x128>>,
    %s: tensor<2x256xbf16>, %c: tensor<70x256xbf16>) -> tensor<70x256xbf16> {
  %e = tensor.empty() : tensor<256x256xbf16>
  %w = linalg.generic {indexing_maps = [#q, #s128, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<256x256xi8, #nm.encoding<4:32, block = 1x128>>, tensor<2x256xbf16>) outs(%e : tensor<256x256xbf16>) {
  ^bb0(%value: i8, %scale: bf16, %out: bf16):
    %exact = arith.sitofp %value : i8 to bf16
    %weight = arith.mulf %exact, %scale : bf16
    linalg.yield %weight : bf16
  } -> tensor<256x256xbf16>
  %r = linalg.matmul ins(%a, %w : tensor<70x256xbf16>, tensor<256x256xbf16>) outs(%c : tensor<70x256xbf16>) -> tensor<70x256xbf16>
  return %r : tensor<70x256xbf16>
}

// A tile of fewer rows than bytes have an order for.
func.func @short(%a: tensor<70x128xf16>, %q: tensor<128x64xi8, #nm.encoding<2:16, block = 1x64>>,
    %s: tensor<4x64xf16>, %c: tensor<70x64xf16>) -> tensor<70x64xf16> {
  %e = tensor.empty() : tensor<128x64xf16>
  %w = linalg.generic {indexing_maps = [#q, #s32, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<128x64xi8, #nm.encoding<2:16, block = 1x64>>, tensor<4x64xf16>) outs(%e : tensor<128x64xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<128x64xf16>
  %r = linalg.matmul ins(%a, %w : tensor<70x128xf16>, tensor<128x64xf16>) outs(%c : tensor<70x64xf16>) -> tensor<70x64xf16>
  return %r : tensor<70x64xf16>
}
