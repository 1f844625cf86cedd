//===- AttentionToGPU.td - Attention to kernels ------------*- tablegen -*-===//

#ifndef NM_CONVERSION_ATTENTIONTOGPU_TD
#define NM_CONVERSION_ATTENTIONTOGPU_TD

include "mlir/Pass/PassBase.td"

def ConvertAttentionToGPU
    : Pass<"convert-attention-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "nm.attention to gpu.launch, by wgmma or mma.sync";
  let description = [{
    An `nm.attention` on memrefs of f16 or bf16, whose depth and width are
    multiples of 16 and at most 128, becomes a kernel for sm_80 and newer.

    - **By warps.** The rows of all heads that share keys are one list, a block has
      64 of it, and a warp 16, whose queries stay in registers. Blocks go over
      tiles of 64 keys, copied asynchronously to two buffers in shared memory; a
      row keeps its largest score, the sum of its exponentials and its result in
      registers. Scores are never in memory. Of a depth or width over 64 a warp has
      32 rows where blocks are at least 512 all the same, which halves what it
      reads of keys and values; then queries are in shared memory, and tiles of
      48 keys.
    - **By warpgroups.** With wgmma, on a chip that `nm-attach-chip` names, a
      warpgroup has a block's 64 rows; queries and exponentials are operands in
      registers, keys and values in swizzled panels. Products of a tile's
      exponentials and values are made in the turn of the next tile, behind that
      one's scores and beside its exponentials (Shah et al., FlashAttention-3).
    - **Hidden keys.** With `causal`, tiles that no row of the block sees are
      left out, and scores are compared with the order of keys in tiles alone
      that some rows see. A mask's elements are added, or select, as they are
      read. With lengths, tiles behind that of a block's batch are left out, and
      blocks that share the keys of few rows share those before it.
    - **Few heads.** Where more rows have so few tiles that blocks would leave
      most multiprocessors idle, several blocks share the keys of a tile, too, if
      the keys are enough to pay for adding parts up. Where sizes are not known,
      the host counts the parts, up to 32, and launches one of two kernels: one
      whose blocks share keys, or one whose blocks have them all.
    - **Few rows.** At most 16 rows, as in a step of decoding, are all of a
      block's, whose warps share the tiles of keys; and up to 32 blocks share the
      keys of a head, so that some 264 blocks run. A second kernel adds their
      parts up, in a fixed order. Of at most 128 keys a block has them all, and
      stores the results.

    What is not aligned to 16 bytes is copied by narrower accesses.

    The kernel is not made of `nm.copy`, tokens and tiles of products, as those of
    `nm.spmm` are. A thread's exponentials are an operand of the second product in
    the registers that they were computed in, and a row's sums are scaled there
    from tile to tile; an op on tiles in memory would store and load both.

    Before:
    ```mlir
    nm.attention indexing_maps = [...] scale = 1.250000e-01 causal
      ins(%q, %k, %v : memref<8x512x64xf16>, ...) outs(%o : memref<8x512x64xf16>)
    ```
    After:
    ```mlir
    gpu.launch blocks(%block, ...) in (... = %c64, ...) threads(%thread, ...) in (... = %c128, ...) {
      <queries to registers; copies of the first keys and values>
      %sums:36 = scf.for %tile = ... {
        <copies of the next tile; products with keys; exponentials; products with values>
      }
      <quotients, stored in pairs>
      gpu.terminator
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::nvgpu::NVGPUDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // NM_CONVERSION_ATTENTIONTOGPU_TD
