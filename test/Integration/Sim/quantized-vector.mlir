// A vector times quantized weights, as a matrix of one row: by strategy mma_sp, by the model's
// choice, and dequantized on the CPU, beside float64, where weights are not rounded.
//
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule=mma_sp -o %t.so
// RUN: nm-run %t.so --function=half --random --check | FileCheck %s
// RUN: nm-run %t.so --function=bytes --random --check | FileCheck %s
// RUN: nm-compile %s --target=sim:sm_90a --with-reference -o %t.chosen.so
// RUN: nm-run %t.chosen.so --function=half --random --check | FileCheck %s
// RUN: nm-run %t.chosen.so --function=bytes --random --check | FileCheck %s
// RUN: nm-compile %s --target=cpu --with-reference -o %t.cpu.so
// RUN: nm-run %t.cpu.so --function=half --random --check | FileCheck %s
// RUN: nm-run %t.cpu.so --function=bytes --random --check | FileCheck %s
//
// CHECK: passed

#id = affine_map<(k, n) -> (k, n)>
#groups = affine_map<(k, n) -> (k floordiv 64, n)>

func.func @half(%a: tensor<260xf16>, %q: tensor<260x70xi8, #nm.encoding<2:4>>,
                %s: tensor<5x70xf16>, %c: tensor<70xf16>) -> tensor<70xf16> {
  %e = tensor.empty() : tensor<260x70xf16>
  %w = linalg.generic {indexing_maps = [#id, #groups, #id], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<260x70xi8, #nm.encoding<2:4>>, tensor<5x70xf16>) outs(%e : tensor<260x70xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<260x70xf16>
  %r = linalg.vecmat ins(%a, %w : tensor<260xf16>, tensor<260x70xf16>) outs(%c : tensor<70xf16>) -> tensor<70xf16>
  return %r : tensor<70xf16>
}

func.func @bytes(%a: tensor<164xbf16>, %q: tensor<164x50xi8, #nm.encoding<2:4>>,
                 %s: tensor<3x50xbf16>, %c: tensor<50xbf16>) -> tensor<50xbf16> {
  %e = tensor.empty() : tensor<164x50xbf16>
  %w = linalg.generic {indexing_maps = [#id, #groups, #id], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<164x50xi8, #nm.encoding<2:4>>, tensor<3x50xbf16>) outs(%e : tensor<164x50xbf16>) {
  ^bb0(%value: i8, %scale: bf16, %out: bf16):
    %exact = arith.sitofp %value : i8 to bf16
    %weight = arith.mulf %exact, %scale : bf16
    linalg.yield %weight : bf16
  } -> tensor<164x50xbf16>
  %r = linalg.vecmat ins(%a, %w : tensor<164xbf16>, tensor<164x50xbf16>) outs(%c : tensor<50xbf16>) -> tensor<50xbf16>
  return %r : tensor<50xbf16>
}
