//===- NMToGPU.td - Products to GPU kernels ----------------*- tablegen -*-===//

#ifndef NM_CONVERSION_NMTOGPU_TD
#define NM_CONVERSION_NMTOGPU_TD

include "mlir/Pass/PassBase.td"

def ConvertNMToGPU : Pass<"convert-nm-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "tiles mapped to GPU blocks to gpu.launch, by strategy";
  let description = [{
    Every `scf.forall` mapped to `#gpu.block` becomes a `gpu.launch` of a
    one-dimensional grid, and the products in it are expanded by the strategy
    of their schedule into what one thread does. A thread keeps its part of C in
    registers over all tiles of k, and adds it to C at the end; a fill of C
    before the products replaces the read of C. Rows and columns that C does
    not have are not stored. Copies of tiles become what each thread copies, by
    the place that the layout of a buffer gives an element; those of the next
    tile are spread among the multiplications. Waits for tokens become waits for
    `cp.async` groups, of which as many may be in flight as were ended after the
    one that is awaited. Buffers in workgroup memory become views of dynamic
    shared memory. Blocks without a product compute a row of elements, as those
    in which `nm.combine` adds up partial sums: a thread takes four neighbours,
    with 16-byte accesses where the rows are aligned.

    An `scf.forall` mapped to `#nm.cluster_block` inside of the blocks is a
    thread block cluster, of as many blocks as `cluster_k` of the schedule says.
    `nm.combine` behind it adds up what its blocks have in registers; the memory
    of their partial sums goes.

    `simt` multiplies on the CUDA cores: for each kept row of weights a thread
    reads 4 x 4-row chunks of the row of A that its index picks, and 4-column
    chunks of weights, both with 16-byte loads. With `slice_k` of s, s groups of
    a block's warps take a part of a tile's kept rows each, and with `cluster_k`
    the blocks of a cluster parts of k: at the end, where `nm.combine` is, each writes its sums to shared
    memory, and every group of every block adds up its share of all of them, in
    a fixed order, before it stores it (`nvvm.mapa`, loads of distributed shared
    memory, and `nvvm.cluster.arrive` and `wait` around them).

    `gemv` is for few rows of A: weights go from global memory to registers, a
    step of an index row at a time, and with `stages = 2` the next step's before
    this one's are used. A lane has a few columns, and all rows of A, which are
    in shared memory, as words that hold one k of one or more rows. The warps
    of a block take turns along k (`slice_k`), and their sums are added in
    order at the end. Of several tiles of k, the next one's rows of A and first
    weights are loaded while one is multiplied. It takes f32, f16, bf16, f8E4M3FN,
    f8E5M2 and i8.

    Before:
    ```mlir
    scf.forall (%m, %n) = (0, 0) to (256, 256) step (64, 128) {
      %as = memref.alloc() : memref<32x64xf32, strided<[68, 1]>, #gpu.address_space<workgroup>>
      ...
      nm.spmm <16:32, block = 1x32> transpose_a packing #nm.packing<panel = 32, index_bits = 8>
        schedule #nm.simt<...> ins(%as, %vs, %is : ...) outs(%c : ...)
    } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
    ```
    After:
    ```mlir
    gpu.launch blocks(%block, ...) in (... = %c8, ...) threads(...) in (... = %c128, ...)
        dynamic_shared_memory_size %bytes {
      %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      ...
      %p = vector.load %is_bytes[%panel, %c0] : ..., vector<16xi8>
      %a0 = vector.load %as[%k0, %row] {alignment = 16 : i64} : ..., vector<4xf32>
      %w0 = vector.load %vs[%panel, %c0, %column] {alignment = 16 : i64} : ..., vector<4xf32>
      %acc1 = vector.fma %a00, %w0, %acc0 : vector<4xf32>
      ...
      vector.store %sum, %c[%row, %column] {alignment = 16 : i64} : ...
      gpu.terminator
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::nvgpu::NVGPUDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::ub::UBDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // NM_CONVERSION_NMTOGPU_TD
