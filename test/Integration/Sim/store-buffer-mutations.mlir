// C leaves through a slot, from which tensor copies store it while the next tile
// is multiplied. One thing of that is broken at a time, and the simulator says
// what goes wrong; the kernel as it is has no fault. Two blocks take turns at
// four tiles, of which the last has half of its rows.

// DEFINE: %{mutation} =
// DEFINE: %{run} = %python %S/Inputs/mutate.py %{mutation} < %t.nvvm > %t.mlir && \
// DEFINE:   nm-opt %t.mlir --pass-pipeline="builtin.module(convert-kernels-to-sim,nm-encode-tensor-maps{encoder=nmSimEncodeTensorMap},nm-attach-chip{chip=},func.func(convert-linalg-to-loops),convert-scf-to-cf,expand-strided-metadata,lower-affine,arith-expand,gpu-to-llvm,reconcile-unrealized-casts)" -o %t.llvm && \
// DEFINE:   env NM_SIM_PRINT=1 mlir-runner %t.llvm --entry-point-result=void -e main --shared-libs=%nm_lib_dir/libnm_sim.so,%nm_lib_dir/libnm_runtime.so 2>&1 | FileCheck %s

// RUN: nm-compile %s --target=sim:sm_90a --dense-fallback=false --schedule='wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, blocks = 2, store_buffers = 1>' --emit=nvvm -o %t.nvvm 2>/dev/null

// REDEFINE: %{mutation} = no-change
// RUN: %{run} --check-prefix=NONE --implicit-check-not=error
// NONE: simulated matmul_kernel: 2 blocks of 256 threads

// The copy of the tile before may still read the slot that is written.
// REDEFINE: %{mutation} = drop-bulk-wait 0
// RUN: %{run} --check-prefix=SLOT
// SLOT: race on shared memory: {{.*}}stmatrix{{.*}}

// A block that has ended leaves its slots to others.
// REDEFINE: %{mutation} = drop-bulk-wait -1
// RUN: %{run} --check-prefix=END
// END: access of shared memory of a block that has ended: {{.*}}cp.async.bulk.tensor.global{{.*}}

// Copies read through another proxy than threads write.
// REDEFINE: %{mutation} = drop-proxy-fence 0
// RUN: %{run} --check-prefix=FENCE
// FENCE: asynchronous read of what was written, without a fence: {{.*}}cp.async.bulk.tensor.global{{.*}}

// The thread that starts the copy waits for the warpgroup's others.
// REDEFINE: %{mutation} = drop-barrier -1
// RUN: %{run} --check-prefix=MEET
// MEET: {{race on shared memory|read of shared memory that nobody wrote}}: {{.*}}cp.async.bulk.tensor.global{{.*}}

func.func @matmul(%a: tensor<256x104xf16>, %b: tensor<256x128xf16, #nm.encoding<2:4>>) -> tensor<128x104xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<128x104xf16>
  %c = linalg.fill ins(%zero : f16) outs(%empty : tensor<128x104xf16>) -> tensor<128x104xf16>
  %r = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n, m)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<256x104xf16>, tensor<256x128xf16, #nm.encoding<2:4>>)
    outs(%c : tensor<128x104xf16>) {
  ^bb0(%x: f16, %w: f16, %s: f16):
    %p = arith.mulf %x, %w : f16
    %t = arith.addf %s, %p : f16
    linalg.yield %t : f16
  } -> tensor<128x104xf16>
  return %r : tensor<128x104xf16>
}
