// Weights of 4 and 8 bits whose columns share their rows, which lanes convert for
// mma.sync, on the simulator beside float64, where weights are not rounded.
//
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule=mma_sync -o %t.so 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: nm-run %t.so --function=few --random --check | FileCheck %s
// RUN: nm-run %t.so --function=narrow --random --check | FileCheck %s
// RUN: nm-run %t.so --function=bytes --random --check | FileCheck %s
// RUN: nm-run %t.so --function=columns --random --check | FileCheck %s
// RUN: nm-run %t.so --function=some --random --check | FileCheck %s
// Slices that are parts of groups, and parts of k in blocks and in clusters.
// RUN: nm-compile %s --target=sim:sm_80 --with-reference --schedule='mma_sync<block = [16, 64, 256], warp = [16, 64], stages = 3, split_k = 2, slice_k = 4>' -o %t.slices.so
// RUN: nm-run %t.slices.so --function=few --random --check | FileCheck %s
// RUN: nm-run %t.slices.so --function=narrow --random --check | FileCheck %s
// RUN: nm-run %t.slices.so --function=columns --random --check | FileCheck %s
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule='mma_sync<block = [32, 64, 256], warp = [16, 32], stages = 2, split_k = 2, cluster_k = 2>' -o %t.spread.so
// RUN: nm-run %t.spread.so --function=few --random --check | FileCheck %s
// RUN: nm-run %t.spread.so --function=narrow --random --check | FileCheck %s
// RUN: nm-run %t.spread.so --function=bytes --random --check | FileCheck %s
// RUN: nm-run %t.spread.so --function=some --random --check | FileCheck %s
//
// REMARK-COUNT-5: which registers convert
//
// CHECK: passed

#q = affine_map<(k, n) -> (k, n)>

// Windows of two groups in a square, and a ragged last window.
func.func @few(%a: tensor<13x1320xf16>, %q: tensor<1320x100xi8, #nm.encoding<8:32, block = 1x32>>,
    %s: tensor<42x100xf16>, %c: tensor<13x100xf16>) -> tensor<13x100xf16> {
  %e = tensor.empty() : tensor<1320x100xf16>
  %w = linalg.generic {indexing_maps = [#q, affine_map<(k, n) -> (k floordiv 32, n)>, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<1320x100xi8, #nm.encoding<8:32, block = 1x32>>, tensor<42x100xf16>) outs(%e : tensor<1320x100xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<1320x100xf16>
  %r = linalg.matmul ins(%a, %w : tensor<13x1320xf16>, tensor<1320x100xf16>) outs(%c : tensor<13x100xf16>) -> tensor<13x100xf16>
  return %r : tensor<13x100xf16>
}

// Units of 8 columns, two of a panel.
func.func @narrow(%a: tensor<16x1024xbf16>, %q: tensor<1024x72xi8, #nm.encoding<8:32, block = 1x8>>,
    %s: tensor<16x72xbf16>, %c: tensor<16x72xbf16>) -> tensor<16x72xbf16> {
  %e = tensor.empty() : tensor<1024x72xbf16>
  %w = linalg.generic {indexing_maps = [#q, affine_map<(k, n) -> (k floordiv 64, n)>, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<1024x72xi8, #nm.encoding<8:32, block = 1x8>>, tensor<16x72xbf16>) outs(%e : tensor<1024x72xbf16>) {
  ^bb0(%value: i8, %scale: bf16, %out: bf16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to bf16
    %weight = arith.mulf %exact, %scale : bf16
    linalg.yield %weight : bf16
  } -> tensor<1024x72xbf16>
  %r = linalg.matmul ins(%a, %w : tensor<16x1024xbf16>, tensor<1024x72xbf16>) outs(%c : tensor<16x72xbf16>) -> tensor<16x72xbf16>
  return %r : tensor<16x72xbf16>
}

// Eight bits, in two pieces of 16 bytes of a lane.
func.func @bytes(%a: tensor<5x768xbf16>, %q: tensor<768x128xi8, #nm.encoding<16:32, block = 1x64>>,
    %s: tensor<6x128xbf16>, %c: tensor<5x128xbf16>) -> tensor<5x128xbf16> {
  %e = tensor.empty() : tensor<768x128xbf16>
  %w = linalg.generic {indexing_maps = [#q, affine_map<(k, n) -> (k floordiv 128, n)>, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<768x128xi8, #nm.encoding<16:32, block = 1x64>>, tensor<6x128xbf16>) outs(%e : tensor<768x128xbf16>) {
  ^bb0(%value: i8, %scale: bf16, %out: bf16):
    %exact = arith.sitofp %value : i8 to bf16
    %weight = arith.mulf %exact, %scale : bf16
    linalg.yield %weight : bf16
  } -> tensor<768x128xbf16>
  %r = linalg.matmul ins(%a, %w : tensor<5x768xbf16>, tensor<768x128xbf16>) outs(%c : tensor<5x128xbf16>) -> tensor<5x128xbf16>
  return %r : tensor<5x128xbf16>
}

// One scale for a column.
func.func @columns(%a: tensor<7x520xf16>, %q: tensor<520x64xi8, #nm.encoding<4:32, block = 1x16>>,
    %s: tensor<64xf16>, %c: tensor<7x64xf16>) -> tensor<7x64xf16> {
  %e = tensor.empty() : tensor<520x64xf16>
  %w = linalg.generic {indexing_maps = [#q, affine_map<(k, n) -> (n)>, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<520x64xi8, #nm.encoding<4:32, block = 1x16>>, tensor<64xf16>) outs(%e : tensor<520x64xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %exact = arith.sitofp %value : i8 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<520x64xf16>
  %r = linalg.matmul ins(%a, %w : tensor<7x520xf16>, tensor<520x64xf16>) outs(%c : tensor<7x64xf16>) -> tensor<7x64xf16>
  return %r : tensor<7x64xf16>
}

// More rows, of an A that is transposed before.
func.func @some(%a: tensor<40x544xf16>, %q: tensor<544x64xi8, #nm.encoding<8:32, block = 1x32>>,
    %s: tensor<5x64xf16>, %c: tensor<40x64xf16>) -> tensor<40x64xf16> {
  %e = tensor.empty() : tensor<544x64xf16>
  %w = linalg.generic {indexing_maps = [#q, affine_map<(k, n) -> (k floordiv 128, n)>, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<544x64xi8, #nm.encoding<8:32, block = 1x32>>, tensor<5x64xf16>) outs(%e : tensor<544x64xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<544x64xf16>
  %r = linalg.matmul ins(%a, %w : tensor<40x544xf16>, tensor<544x64xf16>) outs(%c : tensor<40x64xf16>) -> tensor<40x64xf16>
  return %r : tensor<40x64xf16>
}
