// Weights of 4 and 8 bits with scales, as linalg says them, by strategy mma_sp on
// the simulator, and dequantized on the CPU, both beside float64, where weights
// are not rounded.
//
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule=mma_sp -o %t.so
// RUN: nm-run %t.so --function=rows --random --check --dynamic-size=1 | FileCheck %s
// RUN: nm-run %t.so --function=rows --random --check --dynamic-size=37 | FileCheck %s
// RUN: nm-run %t.so --function=bytes --random --check | FileCheck %s
// RUN: nm-run %t.so --function=columns --random --check | FileCheck %s
// RUN: nm-run %t.so --function=transposed --random --check | FileCheck %s
// RUN: nm-run %t.so --function=quarter --random --check | FileCheck %s
// RUN: nm-run %t.so --function=long --random --check | FileCheck %s
// RUN: nm-compile %s --target=sim:sm_80 --with-reference --schedule='mma_sp<block = [16, 32, 256], warp = [8, 16], stages = 3, split_k = 2, slice_k = 2>' -o %t.sliced.so
// RUN: nm-run %t.sliced.so --function=rows --random --check --dynamic-size=19 | FileCheck %s
// RUN: nm-run %t.sliced.so --function=bytes --random --check | FileCheck %s
// Parts of k that end in the midst of others.
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule='mma_sp<block = [8, 32, 128], warp = [8, 16], stages = 2, split_k = 3>' -o %t.parts.so
// RUN: nm-run %t.parts.so --function=rows --random --check --dynamic-size=3 | FileCheck %s
// Warps that multiply by fours, and such with slices and with parts of k.
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule='mma_sp<block = [64, 64, 128], warp = [64, 16], stages = 3>' -o %t.fours.so
// RUN: nm-run %t.fours.so --function=rows --random --check --dynamic-size=100 | FileCheck %s
// RUN: nm-run %t.fours.so --function=bytes --random --check | FileCheck %s
// RUN: nm-run %t.fours.so --function=columns --random --check | FileCheck %s
// RUN: nm-run %t.fours.so --function=transposed --random --check | FileCheck %s
// RUN: nm-run %t.fours.so --function=quarter --random --check | FileCheck %s
// RUN: nm-run %t.fours.so --function=long --random --check | FileCheck %s
// RUN: nm-run %t.fours.so --function=m_major --random --check | FileCheck %s
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule='mma_sp<block = [128, 128, 256], warp = [128, 16], stages = 2, split_k = 2, cluster_k = 2, slice_k = 2>' -o %t.slices.so
// RUN: nm-run %t.slices.so --function=rows --random --check --dynamic-size=150 | FileCheck %s
// RUN: nm-run %t.slices.so --function=bytes --random --check | FileCheck %s
// RUN: nm-run %t.slices.so --function=m_major --random --check | FileCheck %s
// Less than 64 rows, and columns that end inside of a block's second half.
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule='mma_sp<block = [16, 128, 128], warp = [16, 16], stages = 4, split_k = 2, cluster_k = 2>' -o %t.few.so
// RUN: nm-run %t.few.so --function=rows --random --check --dynamic-size=13 | FileCheck %s
// RUN: nm-run %t.few.so --function=bytes --random --check | FileCheck %s
// RUN: nm-run %t.few.so --function=columns --random --check | FileCheck %s
// RUN: nm-run %t.few.so --function=transposed --random --check | FileCheck %s
// RUN: nm-run %t.few.so --function=long --random --check | FileCheck %s
// RUN: nm-run %t.few.so --function=m_major --random --check | FileCheck %s
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule='mma_sp<block = [32, 192, 128], warp = [32, 16], stages = 3>' -o %t.wider.so
// RUN: nm-run %t.wider.so --function=rows --random --check --dynamic-size=70 | FileCheck %s
// RUN: nm-run %t.wider.so --function=bytes --random --check | FileCheck %s
// RUN: nm-compile %s --target=cpu --with-reference -o %t.cpu.so
// RUN: nm-run %t.cpu.so --function=rows --random --check --dynamic-size=5 | FileCheck %s
// RUN: nm-run %t.cpu.so --function=bytes --random --check | FileCheck %s
// RUN: nm-run %t.cpu.so --function=columns --random --check | FileCheck %s
// RUN: nm-run %t.cpu.so --function=transposed --random --check | FileCheck %s
// RUN: nm-run %t.cpu.so --function=quarter --random --check | FileCheck %s
// RUN: nm-run %t.cpu.so --function=long --random --check | FileCheck %s
// What mma_sp does not take, another strategy has dequantized.
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule=loops -o %t.loops.so
// RUN: nm-run %t.loops.so --function=bytes --random --check | FileCheck %s
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule=wgmma_sp -o %t.wide.so
// RUN: nm-run %t.wide.so --function=rows --random --check --dynamic-size=70 | FileCheck %s
// RUN: nm-run %t.wide.so --function=bytes --random --check | FileCheck %s
// RUN: nm-run %t.wide.so --function=transposed --random --check | FileCheck %s
//
// CHECK: passed

#q = affine_map<(k, n) -> (k, n)>
#s128 = affine_map<(k, n) -> (k floordiv 128, n)>
#s32 = affine_map<(k, n) -> (k floordiv 32, n)>
#sn = affine_map<(k, n) -> (n)>

// Four bits, groups of 128.
func.func @rows(%a: tensor<?x512xf16>, %q: tensor<512x96xi8, #nm.encoding<2:4>>,
                %s: tensor<4x96xf16>, %bias: tensor<96xf16>, %c: tensor<?x96xf16>) -> tensor<?x96xf16> {
  %e = tensor.empty() : tensor<512x96xf16>
  %w = linalg.generic {indexing_maps = [#q, #s128, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<512x96xi8, #nm.encoding<2:4>>, tensor<4x96xf16>) outs(%e : tensor<512x96xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<512x96xf16>
  %zero = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zero : f16) outs(%c : tensor<?x96xf16>) -> tensor<?x96xf16>
  %r = linalg.matmul ins(%a, %w : tensor<?x512xf16>, tensor<512x96xf16>) outs(%f : tensor<?x96xf16>) -> tensor<?x96xf16>
  %b = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : tensor<?x96xf16>, tensor<96xf16>) outs(%c : tensor<?x96xf16>) {
  ^bb0(%sum: f16, %add: f16, %out: f16):
    %y = arith.addf %sum, %add : f16
    linalg.yield %y : f16
  } -> tensor<?x96xf16>
  return %b : tensor<?x96xf16>
}

// Eight bits in bf16, groups of 32; a ragged k and n.
func.func @bytes(%a: tensor<21x164xbf16>, %q: tensor<164x50xi8, #nm.encoding<2:4>>,
                 %s: tensor<6x50xbf16>, %c: tensor<21x50xbf16>) -> tensor<21x50xbf16> {
  %e = tensor.empty() : tensor<164x50xbf16>
  %w = linalg.generic {indexing_maps = [#q, #s32, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<164x50xi8, #nm.encoding<2:4>>, tensor<6x50xbf16>) outs(%e : tensor<164x50xbf16>) {
  ^bb0(%value: i8, %scale: bf16, %out: bf16):
    %exact = arith.sitofp %value : i8 to bf16
    %weight = arith.mulf %scale, %exact : bf16
    linalg.yield %weight : bf16
  } -> tensor<164x50xbf16>
  %zero = arith.constant 0.0 : bf16
  %f = linalg.fill ins(%zero : bf16) outs(%c : tensor<21x50xbf16>) -> tensor<21x50xbf16>
  %r = linalg.matmul ins(%a, %w : tensor<21x164xbf16>, tensor<164x50xbf16>) outs(%f : tensor<21x50xbf16>) -> tensor<21x50xbf16>
  return %r : tensor<21x50xbf16>
}

// One scale for a column.
func.func @columns(%a: tensor<3x200xf16>, %q: tensor<200x64xi8, #nm.encoding<2:4>>,
                   %s: tensor<64xf16>, %c: tensor<3x64xf16>) -> tensor<3x64xf16> {
  %e = tensor.empty() : tensor<200x64xf16>
  %w = linalg.generic {indexing_maps = [#q, #sn, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<200x64xi8, #nm.encoding<2:4>>, tensor<64xf16>) outs(%e : tensor<200x64xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %exact = arith.sitofp %value : i8 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<200x64xf16>
  %zero = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zero : f16) outs(%c : tensor<3x64xf16>) -> tensor<3x64xf16>
  %r = linalg.matmul ins(%a, %w : tensor<3x200xf16>, tensor<200x64xf16>) outs(%f : tensor<3x64xf16>) -> tensor<3x64xf16>
  return %r : tensor<3x64xf16>
}

// As PyTorch has them: W[n x k], scales [n x groups].
func.func @transposed(%a: tensor<9x256xbf16>, %q: tensor<40x256xi8, #nm.encoding<2:4, dim = 1>>,
                      %s: tensor<40x4xbf16>, %c: tensor<9x40xbf16>) -> tensor<9x40xbf16> {
  %e = tensor.empty() : tensor<40x256xbf16>
  %w = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n, k floordiv 64)>, affine_map<(n, k) -> (n, k)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<40x256xi8, #nm.encoding<2:4, dim = 1>>, tensor<40x4xbf16>) outs(%e : tensor<40x256xbf16>) {
  ^bb0(%value: i8, %scale: bf16, %out: bf16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to bf16
    %weight = arith.mulf %exact, %scale : bf16
    linalg.yield %weight : bf16
  } -> tensor<40x256xbf16>
  %t = tensor.empty() : tensor<256x40xbf16>
  %wt = linalg.transpose ins(%w : tensor<40x256xbf16>) outs(%t : tensor<256x40xbf16>) permutation = [1, 0]
  %zero = arith.constant 0.0 : bf16
  %f = linalg.fill ins(%zero : bf16) outs(%c : tensor<9x40xbf16>) -> tensor<9x40xbf16>
  %r = linalg.matmul ins(%a, %wt : tensor<9x256xbf16>, tensor<256x40xbf16>) outs(%f : tensor<9x40xbf16>) -> tensor<9x40xbf16>
  return %r : tensor<9x40xbf16>
}

// One of four: a zero fills up each group, in units of two columns and a ragged n.
func.func @quarter(%a: tensor<10x128xf16>, %q: tensor<128x33xi8, #nm.encoding<1:4, block = 1x2>>,
                   %s: tensor<4x33xf16>, %c: tensor<10x33xf16>) -> tensor<10x33xf16> {
  %e = tensor.empty() : tensor<128x33xf16>
  %w = linalg.generic {indexing_maps = [#q, #s32, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<128x33xi8, #nm.encoding<1:4, block = 1x2>>, tensor<4x33xf16>) outs(%e : tensor<128x33xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<128x33xf16>
  %zero = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zero : f16) outs(%c : tensor<10x33xf16>) -> tensor<10x33xf16>
  %r = linalg.matmul ins(%a, %w : tensor<10x128xf16>, tensor<128x33xf16>) outs(%f : tensor<10x33xf16>) -> tensor<10x33xf16>
  return %r : tensor<10x33xf16>
}

// Groups of more rows than k has: all share their scales.
func.func @long(%a: tensor<40x100xf16>, %q: tensor<100x50xi8, #nm.encoding<2:4>>,
                %s: tensor<1x50xf16>, %c: tensor<40x50xf16>) -> tensor<40x50xf16> {
  %e = tensor.empty() : tensor<100x50xf16>
  %w = linalg.generic {indexing_maps = [#q, #s128, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<100x50xi8, #nm.encoding<2:4>>, tensor<1x50xf16>) outs(%e : tensor<100x50xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %exact = arith.sitofp %value : i8 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<100x50xf16>
  %zero = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zero : f16) outs(%c : tensor<40x50xf16>) -> tensor<40x50xf16>
  %r = linalg.matmul ins(%a, %w : tensor<40x100xf16>, tensor<100x50xf16>) outs(%f : tensor<40x50xf16>) -> tensor<40x50xf16>
  return %r : tensor<40x50xf16>
}

// An m-major A.
func.func @m_major(%a: tensor<512x70xf16>, %q: tensor<512x96xi8, #nm.encoding<2:4>>, %s: tensor<4x96xf16>, %c: tensor<70x96xf16>) -> tensor<70x96xf16> {
  %e = tensor.empty() : tensor<512x96xf16>
  %w = linalg.generic {indexing_maps = [#q, #s128, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<512x96xi8, #nm.encoding<2:4>>, tensor<4x96xf16>) outs(%e : tensor<512x96xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<512x96xf16>
  %zero = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zero : f16) outs(%c : tensor<70x96xf16>) -> tensor<70x96xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<512x70xf16>, tensor<512x96xf16>) outs(%f : tensor<70x96xf16>) {
  ^bb0(%x: f16, %y: f16, %sum: f16):
    %p = arith.mulf %x, %y : f16
    %t = arith.addf %sum, %p : f16
    linalg.yield %t : f16
  } -> tensor<70x96xf16>
  return %r : tensor<70x96xf16>
}
