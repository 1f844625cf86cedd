//===- WindowsToGPU.td - Reductions of windows to kernels --*- tablegen -*-===//

#ifndef NM_CONVERSION_WINDOWSTOGPU_TD
#define NM_CONVERSION_WINDOWSTOGPU_TD

include "mlir/Pass/PassBase.td"

def ConvertWindowsToGPU : Pass<"convert-windows-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "linalg ops that reduce windows, as pools, to gpu.launch";
  let description = [{
    A linalg op on memrefs that reduces a window for each place becomes a kernel: a
    pool, or a convolution of each channel by itself. An index of an input is a sum
    of multiples of loops, as `y * 2 + t`.

    - **Threads.** A thread makes neighbours along the output's last dimension,
      in one store of up to 16 bytes. Where they are neighbours in the inputs, too,
      as channels that are last are, it computes vectors. Otherwise, as along a row
      of an image whose channels are first, their windows overlap or lie side by
      side: it computes one after the other, and loads what they have by aligned
      accesses, once.
    - **Order.** A window's elements are combined in the op's order and types, so
      that results are those of the op, bit for bit.
    - **Shared windows.** A window of more than 64 elements, or all of an image, as
      its mean has, or a column, is shared by threads, each of which combines a part
      of it in the types of the op. Where channels are last there are up to 16; a
      block's other threads have the channels beside, and parts meet in shared
      memory. Where pixels are neighbours, up to 32 lanes of a warp, which have four
      each at least, share them, and meet by shuffles. The order is another one than
      the op's, and always the same. The body may read indices of loops, as that of
      an argmax does. A row is left to `convert-rows-to-gpu`; windows of less than 8
      elements, and those whose parts cannot be combined in any order, are left to
      `convert-linalg-to-gpu`.
    - **Padding.** Where an input is a temporary that is filled with one value,
      and then overwritten by a copy of an image, and nothing else writes it, nor
      the image before the op, the kernel reads the image. A tap outside of it is
      that value. The temporary goes, with its fill and its copy, if nothing else
      reads it.
    - **First value.** Where the output is filled right before, the kernel begins
      with that value, and the fill goes.
    - **The op behind.** An elementwise op that alone reads what the kernel makes,
      as the division of a mean, is a part of it, and what lies between is not
      stored.

    A remark says of each op how large its windows are and what a thread makes. All
    other ops are left.

    Before:
    ```mlir
    linalg.fill ins(%least : f16) outs(%padded : memref<32x114x114x64xf16>)
    memref.copy %image, <%padded[0, 1, 1, 0] [32, 112, 112, 64] [1, 1, 1, 1]>
    linalg.fill ins(%least : f16) outs(%pool : memref<32x56x56x64xf16>)
    linalg.generic {indexing_maps = [<(n, y, x, c, s, t) -> (n, y * 2 + s, x * 2 + t, c)>,
                                     <(n, y, x, c, s, t) -> (s, t)>, <(n, y, x, c, s, t) -> (n, y, x, c)>], ...}
      ins(%padded, %window : ..., memref<3x3xf16>) outs(%pool : ...) { <maximumf(in, out)> }
    ```
    After:
    ```mlir
    gpu.launch blocks(%block, ...) in (... = %c3136, ...) threads(%thread, ...) in (... = %c256, ...) {
      <n, y, x and c, a multiple of 8, of %block * 256 + %thread>
      %0 = vector.load <%image at [n, y * 2 - 1, x * 2 - 1, c], or at c where that is outside> : ..., vector<8xf16>
      %1 = arith.select <y and x are not 0>, %0, <%least>
      %2 = arith.maximumf %1, <%least> : vector<8xf16>
      <8 taps more>
      vector.store %max, <%pool at [n, y, x, c]> : ..., vector<8xf16>
      gpu.terminator
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // NM_CONVERSION_WINDOWSTOGPU_TD
