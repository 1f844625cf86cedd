// Warps that start tensor and bulk copies and warps that multiply a sparse
// operand meet at mbarriers. One thing of that is broken at a time, and the
// simulator says what goes wrong; the kernel as it is has no fault. Two blocks
// take turns at four tiles, of which the last has half of its rows.

// DEFINE: %{mutation} =
// DEFINE: %{run} = %python %S/Inputs/mutate.py %{mutation} < %t.nvvm > %t.mlir && \
// DEFINE:   nm-opt %t.mlir --pass-pipeline="builtin.module(convert-kernels-to-sim,nm-encode-tensor-maps{encoder=nmSimEncodeTensorMap},nm-attach-chip{chip=},func.func(convert-linalg-to-loops),convert-scf-to-cf,expand-strided-metadata,lower-affine,arith-expand,gpu-to-llvm,reconcile-unrealized-casts)" -o %t.llvm && \
// DEFINE:   env NM_SIM_PRINT=1 mlir-runner %t.llvm --entry-point-result=void -e main --shared-libs=%nm_lib_dir/libnm_sim.so,%nm_lib_dir/libnm_runtime.so 2>&1 | FileCheck %s

// RUN: nm-compile %s --target=sim:sm_90a --dense-fallback=false --schedule='wgmma_sp<block = [64, 64, 64], warpgroup = [64, 64], stages = 3, producers = 4, blocks = 2>' --emit=nvvm -o %t.nvvm 2>/dev/null

// REDEFINE: %{mutation} = no-change
// RUN: %{run} --check-prefix=NONE --implicit-check-not=error
// NONE: simulated matmul_kernel: 2 blocks of 256 threads

// The waits for slots that are filled, and for slots that are free.
// REDEFINE: %{mutation} = drop-phase-wait 0
// RUN: %{run} --check-prefix=FILLED
// FILLED: read of shared memory that nobody wrote: {{.*}}
// REDEFINE: %{mutation} = drop-phase-wait -1
// RUN: %{run} --check-prefix=FREE
// FREE: race on shared memory: nvvm.cp.async.bulk

// Whoever is not told that a slot is free, or how many bytes fill it, waits for
// ever.
// REDEFINE: %{mutation} = drop-arrival 0
// RUN: %{run} --check-prefix=HANG
// REDEFINE: %{mutation} = drop-expectation 0
// RUN: %{run} --check-prefix=HANG
// HANG: barrier that not all threads reach: nvvm.mbarrier.try_wait.parity {{.*}}: no thread can go on

func.func @matmul(%a: tensor<100x256xf16>, %b: tensor<256x128xf16, #nm.encoding<2:4>>) -> tensor<100x128xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<100x128xf16>
  %c = linalg.fill ins(%zero : f16) outs(%empty : tensor<100x128xf16>) -> tensor<100x128xf16>
  %r = linalg.matmul
    ins(%a, %b : tensor<100x256xf16>, tensor<256x128xf16, #nm.encoding<2:4>>)
    outs(%c : tensor<100x128xf16>) -> tensor<100x128xf16>
  return %r : tensor<100x128xf16>
}
