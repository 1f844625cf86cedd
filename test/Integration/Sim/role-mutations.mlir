// Warps that copy and warps that multiply meet at mbarriers. One thing of that
// is broken at a time, and the simulator says what goes wrong; the kernel as it
// is has no fault. Two blocks take turns at four tiles.

// DEFINE: %{mutation} =
// DEFINE: %{run} = %python %S/Inputs/mutate.py %{mutation} < %t.nvvm > %t.mlir && \
// DEFINE:   nm-opt %t.mlir --pass-pipeline="builtin.module(convert-kernels-to-sim,nm-attach-chip{chip=},func.func(convert-linalg-to-loops),convert-scf-to-cf,expand-strided-metadata,lower-affine,arith-expand,gpu-to-llvm,reconcile-unrealized-casts)" -o %t.llvm && \
// DEFINE:   env NM_SIM_PRINT=1 mlir-runner %t.llvm --entry-point-result=void -e main --shared-libs=%nm_lib_dir/libnm_sim.so,%nm_lib_dir/libnm_runtime.so 2>&1 | FileCheck %s

// RUN: nm-compile %s --target=sim:sm_90a --dense-fallback=false --schedule='wgmma<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, blocks = 2>' --emit=nvvm -o %t.nvvm 2>/dev/null

// REDEFINE: %{mutation} = no-change
// RUN: %{run} --check-prefix=NONE --implicit-check-not=error
// NONE: simulated matmul_kernel: 2 blocks of 256 threads
// NONE: shared asynchronous copies: {{.*}}, 0 bank conflicts
// NONE: C[0, 0] = 7232

// The waits for slots that are filled, and for slots that are free.
// REDEFINE: %{mutation} = drop-phase-wait 0
// RUN: %{run} --check-prefix=FILLED
// FILLED: read of shared memory that nobody wrote: nvvm.wgmma.mma_async
// FILLED: race on shared memory: nvvm.cp.async.bulk.shared.cluster.global {{.*}}, where a product of warpgroup 0, which nobody waited for, reads
// REDEFINE: %{mutation} = drop-phase-wait 1
// RUN: %{run} --check-prefix=FREE
// FREE: race on shared memory: nvvm.cp.async.shared.global {{.*}}, where thread {{[0-9]+}} of 256 has an asynchronous copy in flight to there

// Whoever is not told that a slot is free, or filled, waits for ever: by the loop,
// behind it, by copies of threads, and by the bytes of a bulk copy.
// REDEFINE: %{mutation} = drop-arrival 0
// RUN: %{run} --check-prefix=HANG
// REDEFINE: %{mutation} = drop-arrival 1
// RUN: %{run} --check-prefix=HANG
// REDEFINE: %{mutation} = drop-tracking 0
// RUN: %{run} --check-prefix=HANG
// REDEFINE: %{mutation} = drop-expectation 0
// RUN: %{run} --check-prefix=HANG
// HANG: barrier that not all threads reach: nvvm.mbarrier.try_wait.parity {{.*}}: no thread can go on: 128 threads from number 0 on are at nvvm.mbarrier.try_wait.parity at {{.*}}, 128 threads from number 128 on are at nvvm.mbarrier.try_wait.parity at

// Threads write the rows of A through another proxy than wgmma reads them by.
// REDEFINE: %{mutation} = drop-proxy-fence 0
// RUN: %{run} --check-prefix=PROXY
// PROXY: asynchronous read of what was written, without a fence: nvvm.wgmma.mma_async {{.*}} wrote through the generic proxy (nvvm.cp.async.shared.global

// Barriers are ready when the roles begin.
// REDEFINE: %{mutation} = drop-barrier 0
// RUN: %{run} --check-prefix=READY
// READY: race on shared memory: nvvm.mbarrier.try_wait.parity {{.*}} uses an mbarrier at byte {{[0-9]+}}, which thread 0 initializes, in no order

func.func @matmul(%a: tensor<256x128xf16>, %b: tensor<256x128xf16, #nm.encoding<8:32, block = 1x64>>) -> tensor<128x128xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<128x128xf16>
  %c = linalg.fill ins(%zero : f16) outs(%empty : tensor<128x128xf16>) -> tensor<128x128xf16>
  %r = linalg.matmul
    indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<256x128xf16>, tensor<256x128xf16, #nm.encoding<8:32, block = 1x64>>)
    outs(%c : tensor<128x128xf16>) -> tensor<128x128xf16>
  return %r : tensor<128x128xf16>
}
