//===- RowsToGPU.td - Ops along rows to kernels ------------*- tablegen -*-===//

#ifndef NM_CONVERSION_ROWSTOGPU_TD
#define NM_CONVERSION_ROWSTOGPU_TD

include "mlir/Pass/PassBase.td"

def NMFormRows : Pass<"nm-form-rows", "::mlir::func::FuncOp"> {
  let summary = "makes reductions of several dimensions those of rows";
  let description = [{
    `convert-rows-to-gpu` reduces the last dimension of contiguous memory, by as
    many threads as a row has use for. This pass makes such reductions of others,
    on tensors, when elementwise ops are fused:

    - **Last dimensions that are reduced together become one.** The sum of 8 x 197
      x 768 elements is that of one row of 1210176. So do the loops of elementwise
      ops that read the same, and one element for each row: an instance norm is one
      kernel. Up to 1024 elements with no such reader, as those of a pool's window,
      stay several dimensions, which `convert-windows-to-gpu` has a kernel for.
    - **The first of several dimensions that stay are reduced by an op of their
      own.** The sum of 8 x 197 x 768 elements, times 8 x 197 others, is that of 768
      elements for each of 1576 rows, and the sum of those. So is a mean of 32 x 256 x
      56 x 56 elements for each of 256 channels, of which `convert-windows-to-gpu`
      would have 256 warps: that of 8192 rows, and that of 32. Windows have warps
      where these are more than 32 for each multiprocessor. The mean of one channel
      is that of all elements.
    - **Rows that few multiprocessors would read are cut into parts**, whose
      results an op of its own reduces: a row of 8388608 elements is 1024 of 8192. A
      multiprocessor reads at most 64 bytes in a clock; a row has eight of them, or
      one where it does not fit into the registers of a cluster, or there are no
      clusters. Where all multiprocessors would save more than the start of another
      kernel takes, some 5000 clocks, rows are cut into equal parts of whole
      accesses, at least 8192 elements each; none where the module names no chip.

    - **Columns that few blocks would read are cut into parts, too**: the sums of
      the columns of 65536 x 1024 elements are those of 64 x 1024 x 1024, and of 64 x
      1024. Blocks of `convert-windows-to-gpu` read 13 bytes in a clock each, and a
      multiprocessor 20 where all read. There are eight parts at least, of 128
      elements at least. Elementwise ops that make what columns, or rows of channels,
      are of are computed where these are read, and for each reader.

    Elements are combined in another order than before, as `convert-rows-to-gpu`
    does. Rows of slices of larger tensors do not become one.

    Before:
    ```mlir
    %s = linalg.generic {indexing_maps = [#ijk, #none], iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x : tensor<8x197x768xf16>) outs(%zero : tensor<f32>) { <sum + in> } -> tensor<f32>
    ```
    After:
    ```mlir
    %row = tensor.collapse_shape %x [[0, 1, 2]] : tensor<8x197x768xf16> into tensor<1210176xf16>
    %s = linalg.generic {indexing_maps = [#i, #none], iterator_types = ["reduction"]}
      ins(%row : tensor<1210176xf16>) outs(%zero : tensor<f32>) { <sum + in> } -> tensor<f32>
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ConvertRowsToGPU : Pass<"convert-rows-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "linalg ops that reduce rows, and those around them, to gpu.launch";
  let description = [{
    A linalg op on memrefs that reduces the last dimension, along which elements
    are contiguous, becomes a kernel whose threads share each row. Elementwise
    ops that make what it reads, that read what it makes, and reductions behind
    them join its kernel, as far as each thread reads only what it has computed
    itself or what belongs to its row: an RMS norm with the residual add before
    it, a layer norm or a softmax is one kernel. Temporaries that only such ops
    use are not stored.

    - **Threads.** Up to 32 elements of a row are a thread's, in accesses of 16
      bytes, or as wide as rows are aligned: a row of up to 1024 elements has a
      part of a warp, or a warp, and a longer one a block; rows that are few have
      as many threads as they have accesses. Where alignment is not known, there
      are two kernels, and a test at run time.
    - **Registers.** Rows of up to 32768 elements stay in registers from their
      first use to their last, so that memory is read once; where the chip of the
      module has clusters, rows of up to 262144, of which each of 2, 4 or 8 blocks
      has a part. Longer ones, and those whose length is not known, are read again
      for each reduction, and temporaries are computed again. Rows that a cluster
      would share, but of which there are more than 16, and which the kernel
      passes over once, as an argmax does, have a block of 1024 threads each, which
      has four accesses of a thread under way and keeps nothing.
    - **Rows ahead.** Of many rows that clusters share, 256 of 151936 elements,
      clusters stay: as many as a chip has at a time, two blocks of 512 threads on
      a multiprocessor. A thread copies its accesses of the next row to shared
      memory when it has taken those of this one, so that memory is read while the
      cluster meets and while rows are written. Operands that are the same for all
      rows, as a norm's weights, are copied once, if there is room for them. Each
      warp sends its part of a sum to all blocks, with an mbarrier that says when
      all parts are there (PTX ISA, `st.async`): a barrier of the cluster would
      also wait for what threads have stored of the row before.
    - **Largest elements.** Reductions each of which finds the largest key below
      the one before, as `torch.topk` is exported, are one pass. A key is an i64
      with an element in its upper half and the complement of its column in the
      lower half, so that no two are equal. Each thread finds its largest key.
      Of 5, 9, 7 and 8, the largest keys of four groups of lanes, the third
      largest, 7, is no more than the third largest of the row: only threads with
      keys that are at least 7 look for more. Each warp lists such keys in their
      order, and one warp merges the lists of the block, and those of a cluster.
      The largest or least element and its first column, as `argmax` and
      `torch.min(x, -1)` are exported, are one pass with one exchange, too. An
      element that is zero is stored as +0.
    - **Order.** Each thread combines its elements in their order, a warp by
      shuffles, and blocks by shared memory; always in the same order. Types
      stay those of the op. Combinations may be sums, products, least and
      greatest elements, and those of bits.

    An elementwise op behind the reductions may also make up to 64 elements of a row
    from what belongs to the row, as the values of a top 8: the row's first threads
    store them.

    Elementwise ops on contiguous rows that no reduction takes are kernels whose
    threads have one access each.

    - **Transposed results.** An op behind the reductions may write its result
      transposed, [columns, rows], as a product that takes A [k x m] wants it, or
      transpose a result that others read as it is. A block has as many rows as a
      sector of memory has elements, of f16 16. It keeps what it makes of them in
      shared memory, and writes that by 16 bytes along rows, where it is known
      that they are aligned. Rows of f16 are up to 2048 elements long then, those
      of f32 3072: a block has no threads, or shared memory, for more. A block of
      8 longer rows of f16 would write half a sector at a time: a norm took 9.8 us so
      on an H200, and 8.83 with a transposition behind (2026-11-29, without a command
      of the repository; the size was not written down).
    - **Splits.** `nm.split_floats` of what the kernel makes, without windows,
      joins it. Shared memory has the rows in f32, and the block writes splits of
      eight rows at a time: of 16 rows that are up to 1536 elements long, or of 8
      of up to 3072. Rows that fill m up to a multiple of 64 are zeros. Longer rows,
      and what attention in f32 makes, are split by a kernel of their own.

    With `reductions-only`, elementwise ops that no reduction takes are left; so
    the pass is run before `convert-transpose-to-gpu`, which has a kernel for
    ops that transpose, and once more behind it.

    A remark says of each reduction how many ops and threads its kernel has. All
    other ops are left to `convert-linalg-to-gpu`.

    Before:
    ```mlir
    linalg.fill ins(%zero : f32) outs(%sum : memref<512xf32>)
    linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x4096xf16>) outs(%sum : memref<512xf32>) { <sum + in * in> }
    linalg.generic {indexing_maps = [#ij, #i, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum, %w : ...) outs(%y : memref<512x4096xf16>) { <in * rsqrt(sum / 4096) * w> }
    ```
    After:
    ```mlir
    gpu.launch blocks(%row, ...) in (... = %c512, ...) threads(%thread, ...) in (... = %c512, ...) {
      %elements = vector.load %x[%row, %thread * 8] : memref<512x4096xf16>, vector<8xf16>
      <squares, their sum, shuffles of the warp's sums, a barrier, the sum of all>
      vector.store <%elements * rsqrt(%sum / 4096) * w>, %y[%row, %thread * 8] : ...
      gpu.terminator
    }
    ```
  }];
  let options = [
    Option<"reductionsOnly", "reductions-only", "bool", /*default=*/"false",
           "leave elementwise ops that no reduction takes">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::nvgpu::NVGPUDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // NM_CONVERSION_ROWSTOGPU_TD
