// RUN: nm-opt %s --nm-select-schedule="features=+avx512f,+avx512bw,+avx512bf16,+avx512vnni" --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --nm-select-schedule="features=+avx512f,+avx512bw,+avx512bf16,+avx512vnni" --split-input-file 2>/dev/null

// An op's own schedule asks for vectors that choose bytes.
func.func @processor(%a: tensor<16x64xi8>, %v: tensor<32x64xi8> {nm.values_of = 1 : i64}, %i: tensor<32x64xi8> {nm.indices_of = 1 : i64}, %c: tensor<16x64xi32>) -> tensor<16x64xi32> {
  // expected-error @+1 {{expected operands of bf16 for chunks of 2 rows, or of i8 for 4, and a processor of AMD's with avx512bw, avx512vbmi, and avx512bf16 or avx512vnni, but got operands of 'i8'}}
  %r = nm.spmm <2:4> schedule #nm.amx<block = [16, 64, 64], packing = <panel = 32, index_bits = 2, chunk_rows = 4, index_rows = 16>> ins(%a, %v, %i : tensor<16x64xi8>, tensor<32x64xi8>, tensor<32x64xi8>) outs(%c : tensor<16x64xi32>) -> tensor<16x64xi32>
  return %r : tensor<16x64xi32>
}

// -----

func.func @windows(%a: tensor<16x64xi8>, %v: tensor<8x64xi8> {nm.values_of = 1 : i64}, %i: tensor<8x16xi8> {nm.indices_of = 1 : i64}, %c: tensor<16x64xi32>) -> tensor<16x64xi32> {
  // expected-error @+1 {{expected units of one row and one column, and windows of whole chunks with at most 64 bytes of A and in whole index rows, for strategy amx and chunks of 2 or 4 rows, but got #nm.packing<panel = 32, index_bits = 8, chunk_rows = 4, index_rows = 4> of 2:16, block = 1x4}}
  %r = nm.spmm <2:16, block = 1x4> schedule #nm.amx<block = [16, 64, 64], packing = <panel = 32, index_bits = 8, chunk_rows = 4, index_rows = 4>> ins(%a, %v, %i : tensor<16x64xi8>, tensor<8x64xi8>, tensor<8x16xi8>) outs(%c : tensor<16x64xi32>) -> tensor<16x64xi32>
  return %r : tensor<16x64xi32>
}
