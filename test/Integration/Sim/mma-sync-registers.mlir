// Weights of mma_sync in registers: tiles of eight windows, whose kept rows come
// in pairs or fours. Edges of all three sizes are ragged.
//
// DEFINE: %{schedule} = mma_sync<block = [64, 64, 128], warp = [64, 16], stages = 3>
// RUN: nm-compile %s --target=sim:sm_90a --emit=schedule --schedule='%{schedule}' -o - 2>/dev/null | FileCheck %s
// RUN: nm-run %s --target=sim:sm_90a --function=pairs --random --check --compile-options="schedule=%{schedule}" | FileCheck %s --check-prefix=PASSED
// RUN: nm-run %s --target=sim:sm_90a --function=fours --random --check --compile-options="schedule=%{schedule}" | FileCheck %s --check-prefix=PASSED
// PASSED: check: result 0 of {{.*}}: passed

#m_major = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK: nm.spmm <2:16, block = 1x16>{{.*}}chunk_rows = 2
func.func @pairs(%x: tensor<301x74xf16>, %w: tensor<301x87xf16, #nm.encoding<2:16, block = 1x16>>, %y: tensor<74x87xf16>) -> tensor<74x87xf16> {
  %zero = arith.constant 0.0 : f16
  %fill = linalg.fill ins(%zero : f16) outs(%y : tensor<74x87xf16>) -> tensor<74x87xf16>
  %r = linalg.matmul indexing_maps = [#m_major, #b, #c] ins(%x, %w : tensor<301x74xf16>, tensor<301x87xf16, #nm.encoding<2:16, block = 1x16>>) outs(%fill : tensor<74x87xf16>) -> tensor<74x87xf16>
  return %r : tensor<74x87xf16>
}

// CHECK: nm.spmm <4:16, block = 1x16>{{.*}}chunk_rows = 4
func.func @fours(%x: tensor<301x74xf16>, %w: tensor<301x87xf16, #nm.encoding<4:16, block = 1x16>>, %y: tensor<74x87xf16>) -> tensor<74x87xf16> {
  %zero = arith.constant 0.0 : f16
  %fill = linalg.fill ins(%zero : f16) outs(%y : tensor<74x87xf16>) -> tensor<74x87xf16>
  %r = linalg.matmul indexing_maps = [#m_major, #b, #c] ins(%x, %w : tensor<301x74xf16>, tensor<301x87xf16, #nm.encoding<4:16, block = 1x16>>) outs(%fill : tensor<74x87xf16>) -> tensor<74x87xf16>
  return %r : tensor<74x87xf16>
}
