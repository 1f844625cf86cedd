// Weights of 4 and 8 bits that a schedule wants dequantized: they are packed once
// as they are, and one kernel of each call makes weights of them, on the
// simulator beside float64, where weights are not rounded.
//
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule=wgmma_sp -o %t.wgmma_sp.so
// RUN: nm-run %t.wgmma_sp.so --function=operand --random --check | FileCheck %s
// RUN: nm-run %t.wgmma_sp.so --function=straddling --random --check | FileCheck %s
// RUN: nm-run %t.wgmma_sp.so --function=thirds --random --check | FileCheck %s
// RUN: nm-run %t.wgmma_sp.so --function=pairs --random --check | FileCheck %s
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule=mma_sp -o %t.mma_sp.so
// RUN: nm-run %t.mma_sp.so --function=straddling --random --check | FileCheck %s
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule=gemv -o %t.gemv.so
// RUN: nm-run %t.gemv.so --function=operand --random --check | FileCheck %s
// RUN: nm-run %t.gemv.so --function=pairs --random --check | FileCheck %s
//
// CHECK: passed

#q = affine_map<(k, n) -> (k, n)>
#s20 = affine_map<(k, n) -> (k floordiv 20, n)>
#s30 = affine_map<(k, n) -> (k floordiv 30, n)>
#s32 = affine_map<(k, n) -> (k floordiv 32, n)>
#s64 = affine_map<(k, n) -> (k floordiv 64, n)>

// Four bits; k and n that are no multiple of a step, a group or a block.
func.func @operand(%a: tensor<70x164xf16>, %q: tensor<164x50xi8, #nm.encoding<2:4>>,
    %s: tensor<6x50xf16>, %c: tensor<70x50xf16>) -> tensor<70x50xf16> {
  %e = tensor.empty() : tensor<164x50xf16>
  %w = linalg.generic {indexing_maps = [#q, #s32, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<164x50xi8, #nm.encoding<2:4>>, tensor<6x50xf16>) outs(%e : tensor<164x50xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<164x50xf16>
  %r = linalg.matmul ins(%a, %w : tensor<70x164xf16>, tensor<164x50xf16>) outs(%c : tensor<70x50xf16>) -> tensor<70x50xf16>
  return %r : tensor<70x50xf16>
}

// Groups that end within the eight values that a thread stores.
func.func @straddling(%a: tensor<66x152xbf16>, %q: tensor<152x72xi8, #nm.encoding<2:4>>,
    %s: tensor<8x72xbf16>, %c: tensor<66x72xbf16>) -> tensor<66x72xbf16> {
  %e = tensor.empty() : tensor<152x72xbf16>
  %w = linalg.generic {indexing_maps = [#q, #s20, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<152x72xi8, #nm.encoding<2:4>>, tensor<8x72xbf16>) outs(%e : tensor<152x72xbf16>) {
  ^bb0(%value: i8, %scale: bf16, %out: bf16):
    %exact = arith.sitofp %value : i8 to bf16
    %weight = arith.mulf %exact, %scale : bf16
    linalg.yield %weight : bf16
  } -> tensor<152x72xbf16>
  %r = linalg.matmul ins(%a, %w : tensor<66x152xbf16>, tensor<152x72xbf16>) outs(%c : tensor<66x72xbf16>) -> tensor<66x72xbf16>
  return %r : tensor<66x72xbf16>
}

// Groups of three rows do not tell which scale a value has by its place.
func.func @thirds(%a: tensor<20x130xf16>, %q: tensor<130x66xi8, #nm.encoding<1:3>>,
    %s: tensor<5x66xf16>, %c: tensor<20x66xf16>) -> tensor<20x66xf16> {
  %e = tensor.empty() : tensor<130x66xf16>
  %w = linalg.generic {indexing_maps = [#q, #s30, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<130x66xi8, #nm.encoding<1:3>>, tensor<5x66xf16>) outs(%e : tensor<130x66xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<130x66xf16>
  %r = linalg.matmul ins(%a, %w : tensor<20x130xf16>, tensor<130x66xf16>) outs(%c : tensor<20x66xf16>) -> tensor<20x66xf16>
  return %r : tensor<20x66xf16>
}

// Units of two rows; zeros fill up groups of four.
func.func @pairs(%a: tensor<33x128xf16>, %q: tensor<128x70xi8, #nm.encoding<1:8, block = 2x1>>,
    %s: tensor<2x70xf16>, %c: tensor<33x70xf16>) -> tensor<33x70xf16> {
  %e = tensor.empty() : tensor<128x70xf16>
  %w = linalg.generic {indexing_maps = [#q, #s64, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<128x70xi8, #nm.encoding<1:8, block = 2x1>>, tensor<2x70xf16>) outs(%e : tensor<128x70xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<128x70xf16>
  %r = linalg.matmul ins(%a, %w : tensor<33x128xf16>, tensor<128x70xf16>) outs(%c : tensor<33x70xf16>) -> tensor<33x70xf16>
  return %r : tensor<33x70xf16>
}
