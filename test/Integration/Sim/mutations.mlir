// One thing of an emitted kernel is broken at a time, and the simulator says
// what goes wrong; the kernel as it is has no fault.

// DEFINE: %{mutation} =
// DEFINE: %{run} = %python %S/Inputs/mutate.py %{mutation} < %t.nvvm > %t.mlir && \
// DEFINE:   nm-opt %t.mlir --pass-pipeline="builtin.module(convert-kernels-to-sim,func.func(convert-linalg-to-loops),convert-scf-to-cf,expand-strided-metadata,lower-affine,arith-expand,gpu-to-llvm,reconcile-unrealized-casts)" -o %t.llvm && \
// DEFINE:   env NM_SIM_PRINT=1 mlir-runner %t.llvm --entry-point-result=void -e main --shared-libs=%nm_lib_dir/libnm_sim.so,%nm_lib_dir/libnm_runtime.so 2>&1 | FileCheck %s

// RUN: nm-compile %s --target=sim:sm_90a --strategy=simt --block=32,32,32 --thread=4,4 --stages=2 --split-k=1 --emit=nvvm -o %t.nvvm 2>/dev/null

// REDEFINE: %{mutation} = no-change
// RUN: %{run} --check-prefix=NONE --implicit-check-not=error
// NONE: simulated matmul_kernel: 6 blocks of 64 threads
// NONE: 120 barriers of warps

// The barrier between the copies of a tile and its use, in the loop and after.
// REDEFINE: %{mutation} = drop-barrier 0
// RUN: %{run} --check-prefixes=RACE,POISON
// REDEFINE: %{mutation} = drop-barrier 1
// RUN: %{run} --check-prefix=RACE
// POISON: read of shared memory that nobody wrote: llvm.load
// RACE: race on shared memory: {{.*}} of shared memory, where thread {{[0-9]+}} of 64 {{.*}}, in no order

// REDEFINE: %{mutation} = drop-wait 0
// RUN: %{run} --check-prefix=WAIT
// REDEFINE: %{mutation} = drop-wait 1
// RUN: %{run} --check-prefix=WAIT
// WAIT: read of an asynchronous copy before its wait: llvm.load {{.*}}, where thread {{[0-9]+}} of 64 has an asynchronous copy under way to there, which nobody waited for (nvvm.cp.async.shared.global

// REDEFINE: %{mutation} = drop-copy 0
// RUN: %{run} --check-prefix=POISON

// Which threads copy indices, for the first tile and for those after.
// REDEFINE: %{mutation} = drop-branch-predicate 0
// RUN: %{run} --check-prefix=SHARED-BOUNDS
// REDEFINE: %{mutation} = drop-branch-predicate 1
// RUN: %{run} --check-prefix=SHARED-BOUNDS
// SHARED-BOUNDS: shared access out of bounds: nvvm.cp.async.shared.global at

// Which elements of C there are: one of a row after the last column is the next
// row's, which another block writes.
// REDEFINE: %{mutation} = drop-branch-predicate 2
// RUN: %{run} --check-prefix=STORE
// STORE-DAG: race on global memory: llvm.store at {{.*}}, where thread {{[0-9]+}} of block {{[0-9]+}} writes, in no order
// STORE-DAG: global access out of bounds: llvm.store at

// REDEFINE: %{mutation} = shift-buffer
// RUN: %{run} --check-prefix=SHIFT
// SHIFT: shared access out of bounds: nvvm.cp.async.shared.global {{.*}} copies 16 bytes to byte 1048576 of shared memory, which has 13568
// REDEFINE: %{mutation} = misalign-buffer
// RUN: %{run} --check-prefix=MISALIGN
// MISALIGN: misaligned access: nvvm.cp.async.shared.global {{.*}} to byte 4 of shared memory, where both must be multiples of 16

// A thread that leaves the loop before the others.
// REDEFINE: %{mutation} = end-early
// RUN: %{run} --check-prefix=BARRIER
// BARRIER: barrier that not all threads reach: nvvm.barrier0 at {{.*}}, thread (7, 0, 0): another lane of its warp waits at nvvm.barrier0 at

// A loop that never ends copies from behind its operands, and is stopped.
// REDEFINE: %{mutation} = endless-loop
// RUN: %{run} --check-prefix=ENDLESS
// ENDLESS: global access out of bounds: nvvm.cp.async.shared.global

func.func @matmul(%a: tensor<40x300xf32>, %b: tensor<300x90xf32, #nm.encoding<16:32, block = 1x32>>, %c: tensor<40x90xf32>) -> tensor<40x90xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<40x90xf32>) -> tensor<40x90xf32>
  %r = linalg.matmul ins(%a, %b : tensor<40x300xf32>, tensor<300x90xf32, #nm.encoding<16:32, block = 1x32>>) outs(%f : tensor<40x90xf32>) -> tensor<40x90xf32>
  return %r : tensor<40x90xf32>
}
