// RUN: nm-opt %s --nm-select-schedule="features=+avx512f,+avx512bw,+avx512vnni" --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-select-schedule="features=+avx512f,+avx512bw,+avx512vnni" --split-input-file 2>/dev/null

// An op's own schedule asks for vectors that expand bytes.
func.func @processor(%a: tensor<1x64xi8>, %v: tensor<1x1x164xi8>, %i: tensor<1x16x32xi8>, %l: tensor<1x1x4xi8>, %c: tensor<1x64xi32>) -> tensor<1x64xi32> {
  // expected-error @+1 {{expected a processor with avx512f for word_rows = 1, and of i8 or for pairs of bf16 with avx512bw, avx512vbmi2, and avx512vnni or avx512bf16 of AMD's; see the option features}}
  %r = nm.spmm <1:1> packing #nm.bitmap_panels<kept = 100, word_rows = 4> schedule #nm.vector<thread = [1, 64], kept = 100, word_rows = 4> ins(%a, %v, %i : tensor<1x64xi8>, tensor<1x1x164xi8>, tensor<1x16x32xi8>) lists(%l : tensor<1x1x4xi8>) outs(%c : tensor<1x64xi32>) -> tensor<1x64xi32>
  return %r : tensor<1x64xi32>
}
