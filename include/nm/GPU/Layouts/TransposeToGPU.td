//===- TransposeToGPU.td - Transpositions to kernels -------*- tablegen -*-===//

#ifndef NM_CONVERSION_TRANSPOSETOGPU_TD
#define NM_CONVERSION_TRANSPOSETOGPU_TD

include "mlir/Pass/PassBase.td"

def ConvertTransposeToGPU
    : Pass<"convert-transpose-to-gpu", "::mlir::func::FuncOp"> {
  let summary = "linalg ops that transpose to gpu.launch";
  let description = [{
    A linalg op that transposes reads along one dimension and writes along
    another. With a thread for each element, one of both would touch a sector of
    memory for every element. Here a thread block takes a tile, and reads and
    writes it in rows.

    An op transposes if it is elementwise, and some of its inputs are contiguous
    along another dimension than the output: linalg.transpose, and a
    linalg.generic with arithmetic on the transposed elements. Batch dimensions,
    broadcast operands and inputs that lie as the output does are taken as well.
    All other ops are left to `convert-linalg-to-gpu`.

    Neighbouring dimensions that have no gap between them are taken as one, as
    sequences and their tokens: 8 x 197 x 1024 elements are 1576 rows, whose
    transpose has rows at multiples of 16 bytes.

    There are three kernels:
    * Of inputs with 16-bit elements, a warp transposes 32 x 64 in registers: it
      reads 16 bytes a lane, `movmatrix` transposes squares of 8 x 8, and it
      writes 16 bytes a lane. Rows have to start at multiples of 16 bytes. Where
      strides are not known, the host decides when it launches. An op that makes
      16 bits of one input of 8 bits is done right behind the loads, of 8 bytes a
      lane, and what it makes is transposed in the same way.
    * One that puts rows into panels of 16 bytes, as nm-pack-weights does with A,
      reads 64 bytes of each of eight rows with a warp, 16 a lane, and writes 128
      of each of four panels.
    * Any other is transposed by way of shared memory, in tiles of 64 x 64, one
      element a lane and access.

    `nm.split_floats`, which writes m-major splits, becomes a kernel in the same
    way, through shared memory where its A is row-major. So `convert-nm-to-loops`
    comes behind this pass.

    Before:
    ```mlir
    linalg.transpose ins(%a : memref<1024x4096xf16>) outs(%t : memref<4096x1024xf16>)
      permutation = [1, 0]
    ```
    After:
    ```mlir
    gpu.launch blocks(...) in (... = %c512, ...) threads(...) in (... = %c128, ...) {
      %row = vector.load %a[<m>, <k>] {alignment = 16 : i64} : memref<1024x4096xf16>, vector<8xf16>
      ...
      %word = llvm.inline_asm has_side_effects "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r" ...
      ...
      vector.store %column, %t[<k>, <m>] {alignment = 16 : i64} : memref<4096x1024xf16>, vector<8xf16>
      ...
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // NM_CONVERSION_TRANSPOSETOGPU_TD
