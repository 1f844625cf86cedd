// One thing of an emitted kernel is broken at a time, and the simulator says
// what goes wrong; the kernel as it is has no fault.

// DEFINE: %{mutation} =
// DEFINE: %{run} = %python %S/Inputs/mutate.py %{mutation} < %t.nvvm > %t.mlir && \
// DEFINE:   nm-opt %t.mlir --pass-pipeline="builtin.module(convert-kernels-to-sim,nm-attach-chip{chip=},func.func(convert-linalg-to-loops),convert-scf-to-cf,expand-strided-metadata,lower-affine,arith-expand,gpu-to-llvm,reconcile-unrealized-casts)" -o %t.llvm && \
// DEFINE:   env NM_SIM_PRINT=1 mlir-runner %t.llvm --entry-point-result=void -e main --shared-libs=%nm_lib_dir/libnm_sim.so,%nm_lib_dir/libnm_runtime.so 2>&1 | FileCheck %s

// RUN: nm-compile %s --target=sim:sm_90a --schedule='simt<block = [32, 32, 32], thread = [4, 4], stages = 2, split_k = 1>' --emit=nvvm -o %t.nvvm 2>/dev/null

// REDEFINE: %{mutation} = no-change
// RUN: %{run} --check-prefix=NONE --implicit-check-not=error
// NONE: simulated matmul_kernel: 6 blocks of 64 threads
// NONE: shared stores: {{.*}}, 0 bank conflicts
// NONE: 120 barriers of warps
// NONE: C[0, 0] = 23200

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
// WAIT: read of an asynchronous copy before its wait: llvm.load {{.*}}, where thread {{[0-9]+}} of 64 has an asynchronous copy in flight to there, which nobody waited for (nvvm.cp.async.shared.global

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

// A loop that never ends loads and copies from behind its operands, and is
// stopped. Which of its instructions are named first depends on the blocks that
// run at once.
// REDEFINE: %{mutation} = endless-loop
// RUN: %{run} --check-prefix=ENDLESS
// ENDLESS: global access out of bounds: {{llvm.load|nvvm.cp.async.shared.global}} at

// Lanes that go past a collective instruction, and others that it is not told of.
// REDEFINE: %{mutation} = skip-collective 0
// RUN: %{run} --check-prefix=COLLECTIVE
// COLLECTIVE: collective instruction that not all lanes reach: nvvm.bar.warp.sync at {{.*}} no thread can go on: 32 threads from number 0 on are at nvvm.bar.warp.sync at {{.*}}, 32 threads from number 16 on are at nvvm.bar.warp.sync at
// REDEFINE: %{mutation} = halve-mask 0
// RUN: %{run} --check-prefix=MASK
// MASK: collective instruction that not all lanes reach: nvvm.bar.warp.sync at {{.*}}: its lane {{[0-9]+}} is not in the mask it gives

// The rows of A's tile are interleaved in shared memory. Where only the loads,
// or the stores, are in order, C is wrong: row 1 of each 32 counts, and row 4 or
// 8 is read. Where both are, C is right, and the stores have bank conflicts.
// REDEFINE: %{mutation} = load-in-order
// RUN: %{run} --check-prefix=LOADS
// LOADS: shared stores: {{.*}}, 0 bank conflicts
// LOADS: C[0, 0] = 23680
// REDEFINE: %{mutation} = store-in-order
// RUN: %{run} --check-prefix=STORES
// STORES: C[0, 0] = 24320
// REDEFINE: %{mutation} = in-order
// RUN: %{run} --check-prefix=CONFLICTS --implicit-check-not=error
// CONFLICTS: shared stores: {{.*}}, {{[1-9][0-9]*}} bank conflicts
// CONFLICTS: C[0, 0] = 23200

// Rows past the last of A's are loaded from there.
// REDEFINE: %{mutation} = drop-load-predicate 0
// RUN: %{run} --check-prefix=LOAD-BOUNDS
// LOAD-BOUNDS: global access out of bounds: llvm.load at

// How much of a copy there is: the weights have three panels of 32 columns, and
// blocks take two. The second one is copied before the loop and in it.
// RUN: nm-compile %s --target=sim:sm_90a --schedule='simt<block = [32, 64, 32], thread = [4, 4], stages = 2, split_k = 1>' --emit=nvvm -o %t.nvvm 2>/dev/null
// REDEFINE: %{mutation} = no-change
// RUN: %{run} --check-prefix=WIDE --implicit-check-not=error
// WIDE: simulated matmul_kernel: 4 blocks of 128 threads
// REDEFINE: %{mutation} = drop-copy-predicate 1
// RUN: %{run} --check-prefix=COPY-BOUNDS
// REDEFINE: %{mutation} = drop-copy-predicate 4
// RUN: %{run} --check-prefix=COPY-BOUNDS
// COPY-BOUNDS: global access out of bounds: nvvm.cp.async.shared.global {{.*}} copies 16 bytes from

// A goes by way of a staging buffer, one fragment a warp. What lanes load of it others
// have copied, and they copy over what others have loaded; the first tile's is
// in the slot of the second.
// RUN: nm-compile %s --target=sim:sm_90a --schedule='simt<block = [64, 128, 32], warp = [64, 32], thread = [8, 8], stages = 2, split_k = 1>' --emit=nvvm -o %t.nvvm 2>/dev/null
// REDEFINE: %{mutation} = no-change
// RUN: %{run} --check-prefix=STAGED --implicit-check-not=error
// STAGED: simulated matmul_kernel: 1 blocks of 128 threads
// STAGED: shared loads: {{.*}}, 0 bank conflicts
// STAGED: shared stores: {{.*}}, 0 bank conflicts
// STAGED: C[0, 0] = 23200
// REDEFINE: %{mutation} = drop-wait 0
// RUN: %{run} --check-prefix=UNAWAITED
// REDEFINE: %{mutation} = drop-wait 2
// RUN: %{run} --check-prefix=UNAWAITED
// UNAWAITED: read of an asynchronous copy before its wait: nvvm.ldmatrix {{.*}}, where thread {{[0-9]+}} of 128 has an asynchronous copy in flight to there, which nobody waited for (nvvm.cp.async.shared.global
// REDEFINE: %{mutation} = drop-warp-barrier 0
// RUN: %{run} --check-prefix=UNORDERED
// REDEFINE: %{mutation} = drop-warp-barrier 2
// RUN: %{run} --check-prefix=UNORDERED
// UNORDERED: race on shared memory: nvvm.ldmatrix {{.*}}, where thread {{[0-9]+}} of 128 writes (nvvm.cp.async.shared.global {{.*}}), in no order
// REDEFINE: %{mutation} = drop-barrier 0
// RUN: %{run} --check-prefix=OVERWRITTEN
// OVERWRITTEN: race on shared memory: llvm.load at {{.*}} of 128 writes {{.*}}, in no order

// Blocks of a cluster sum what each has over a part of k: the barriers before they
// read from each other, and before they end.
// RUN: nm-compile %s --target=sim:sm_90a --schedule='simt<block = [32, 32, 32], thread = [4, 4], stages = 2, split_k = 4, cluster_k = 4>' --emit=nvvm -o %t.nvvm 2>/dev/null
// REDEFINE: %{mutation} = no-change
// RUN: %{run} --check-prefix=CLUSTER --implicit-check-not=error
// CLUSTER: simulated matmul_kernel: 24 blocks of 64 threads in clusters of 4
// CLUSTER: C[0, 0] = 23200
// REDEFINE: %{mutation} = drop-meeting 0
// RUN: %{run} --check-prefix=MEET
// MEET: race on shared memory: llvm.load at {{.*}} of shared memory of block {{[0-3]}} of its cluster, where thread {{[0-9]+}} of 64 {{.*}}, in no order
// REDEFINE: %{mutation} = drop-meeting 1
// RUN: %{run} --check-prefix=LEAVE
// LEAVE: access of shared memory of a block that has ended: llvm.load at {{.*}} of shared memory of block {{[0-3]}} of its cluster

func.func @matmul(%a: tensor<40x300xf32>, %b: tensor<300x90xf32, #nm.encoding<16:32, block = 1x32>>, %c: tensor<40x90xf32>) -> tensor<40x90xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%c : tensor<40x90xf32>) -> tensor<40x90xf32>
  %r = linalg.matmul ins(%a, %b : tensor<40x300xf32>, tensor<300x90xf32, #nm.encoding<16:32, block = 1x32>>) outs(%f : tensor<40x90xf32>) -> tensor<40x90xf32>
  return %r : tensor<40x90xf32>
}
