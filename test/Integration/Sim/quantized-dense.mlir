// Weights of 4 and 8 bits that are made dense when they are loaded, and
// dequantized at each call for cuBLAS, or for what stands for it here: eight of
// a row by one thread where rows are as long, else one.
//
// RUN: nm-compile %s --target=sim:sm_90a --with-reference --schedule=cublas -o %t.so 2>%t.log
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.log
// RUN: nm-run %t.so --function=whole --random --check | FileCheck %s
// RUN: nm-run %t.so --function=ragged --random --check | FileCheck %s
//
// REMARK-COUNT-2: strategy cublas on sm_90; {{.*}}calls cuBLAS with dense weights, as the schedule option says; weights are made dense when they are loaded, a byte each
// REMARK-NOT: packed at each call
//
// CHECK: passed

#q = affine_map<(k, n) -> (k, n)>
#s32 = affine_map<(k, n) -> (k floordiv 32, n)>
#s7 = affine_map<(k, n) -> (k floordiv 7, n)>

// Groups that end beyond k.
func.func @whole(%a: tensor<37x72xf16>, %q: tensor<72x40xi8, #nm.encoding<3:8>>,
    %s: tensor<3x40xf16>, %c: tensor<37x40xf16>) -> tensor<37x40xf16> {
  %e = tensor.empty() : tensor<72x40xf16>
  %w = linalg.generic {indexing_maps = [#q, #s32, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<72x40xi8, #nm.encoding<3:8>>, tensor<3x40xf16>) outs(%e : tensor<72x40xf16>) {
  ^bb0(%value: i8, %scale: f16, %out: f16):
    %bits = arith.trunci %value : i8 to i4
    %exact = arith.sitofp %bits : i4 to f16
    %weight = arith.mulf %exact, %scale : f16
    linalg.yield %weight : f16
  } -> tensor<72x40xf16>
  %r = linalg.matmul ins(%a, %w : tensor<37x72xf16>, tensor<72x40xf16>) outs(%c : tensor<37x40xf16>) -> tensor<37x40xf16>
  return %r : tensor<37x40xf16>
}

// Rows of 39, and windows of 7.
func.func @ragged(%a: tensor<5x60xbf16>, %q: tensor<60x39xi8, #nm.encoding<3:7>>,
    %s: tensor<9x39xbf16>, %c: tensor<5x39xbf16>) -> tensor<5x39xbf16> {
  %e = tensor.empty() : tensor<60x39xbf16>
  %w = linalg.generic {indexing_maps = [#q, #s7, #q], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<60x39xi8, #nm.encoding<3:7>>, tensor<9x39xbf16>) outs(%e : tensor<60x39xbf16>) {
  ^bb0(%value: i8, %scale: bf16, %out: bf16):
    %exact = arith.sitofp %value : i8 to bf16
    %weight = arith.mulf %exact, %scale : bf16
    linalg.yield %weight : bf16
  } -> tensor<60x39xbf16>
  %r = linalg.matmul ins(%a, %w : tensor<5x60xbf16>, tensor<60x39xbf16>) outs(%c : tensor<5x39xbf16>) -> tensor<5x39xbf16>
  return %r : tensor<5x39xbf16>
}
