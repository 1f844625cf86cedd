//===- NMToVector.td - The CPU fast path -------------------*- tablegen -*-===//

#ifndef NM_CONVERSION_NMTOVECTOR_TD
#define NM_CONVERSION_NMTOVECTOR_TD

include "mlir/Pass/PassBase.td"

def ConvertNMToVector : Pass<"convert-nm-to-vector"> {
  let summary = "expand nm products and attention on memrefs into vector code";
  let description = [{
    Expands `nm.spmm` and `nm.spmv` on memrefs, with weights in packed or
    condensed form, into `scf`, `vector`, `memref` and `arith`. Vectors run
    along the longer side of the schedule's `thread` tile; without a schedule
    the cost model's default is taken.

    * Along m: A is re-laid m-major in a scratch tile, weights are broadcast
      into a register tile of whole vectors along m, and C is kept in a scratch
      tile until all of k is summed. The columns of a unit share the rows of A.
      With `bf16-pairs` the tile keeps bf16, and two rows of it are interleaved
      in registers for two kept rows of weights. With `shuffle-weights` four
      columns that share no row of A have their weights loaded together.
    * Along n: values are streamed. The window of A lies in registers as a
      table, the packed indices are spread over the lanes and look it up. Where
      a vector's columns share one index, A is broadcast instead.

    Products of bf16 with `#nm.amx`, whose weights are packed as tiles, become
    `amx` ops: sums of C^T, of weights by rows of A that are laid out as pairs,
    where units choose rows only those that are kept. Those of i8 are made by
    vpdpbusd of AVX512_VNNI, of quads of rows. Weights in chunks of 2 or 4 rows
    are words of lanes along n, for which vpermb chooses values of A. With
    vectors of 128 bits, and no permutes of x86, both are made for Arm: of bf16
    by bfmmla, of i8 by sdot or smmla.

    `nm.attention` becomes `scf.forall` over heads and tiles of rows of queries,
    around a loop over tiles of 64 keys that keeps the largest score, the sum of
    exponentials and the rescaled sums of each row; with `causal`, tiles that
    no row sees are left out. Vectors run along rows, so that nothing is added
    across lanes; with at most 4 rows for each head, along depth, keys and width,
    with the heads that share keys in one iteration.

    A `linalg.generic` that combines windows of a few taps, as depthwise
    convolutions and pools do, becomes loops over vectors of neighbours in a row
    of its result, four rows at a time, which stay in registers for all taps,
    where its window steps by one or two elements along rows and sums are f32.

    Sums are f32 (i32 for i8) and rounded once. An op that is left as it is
    (on tensors, of another strategy, with f8 elements, a dynamic k or a memref
    whose rows are not contiguous) is left for `convert-nm-to-loops`.

    ```mlir
    nm.spmv <2:4> packing #nm.packing<panel = 64, index_bits = 2>
      ins(%x, %v, %i : memref<4096xf32>, memref<64x2048x64xf32>,
                       memref<64x2048x16xi8>)
      outs(%y : memref<4096xf32>)
    ```

    becomes, with 512-bit vectors, a loop over panels around a loop over
    windows, whose body is for every 16 columns

    ```mlir
    %bytes = vector.load %i[%p, %u, %c0] : …, vector<4xi8>
    …
    %indices = arith.shrui %words, %shifts : vector<16xi32>
    %x = llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%table, %indices)
    %v = vector.load %values[%p, %row, %c0] : …, vector<16xf32>
    %sum = vector.fma %x, %v, %sum0 : vector<16xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::amx::AMXDialect",
    "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512",
           "Bits of the target's vectors: 128, 256 or 512">,
    Option<"x86Permutes", "x86-permutes", "bool", "true",
           "Look tables up by AVX-512 (512 bits) or AVX2 (256 bits) permutes; "
           "else by vector.gather">,
    Option<"i8mm", "i8mm", "bool", "false",
           "Multiply i8 of #nm.amx by smmla of Arm, not by sdot, where vectors "
           "have 128 bits">,
    Option<"bf16Pairs", "bf16-pairs", "bool", "false",
           "Multiply pairs of bf16 by vdpbf16ps of AVX512_BF16 along m, where "
           "vectors have 512 bits; subnormal numbers are zero to it">,
    Option<"shuffleWeights", "shuffle-weights", "bool", "false",
           "Along m, load the weights of four columns together and shuffle each "
           "to all lanes, where columns share no index and vectors have 512 "
           "bits">
  ];
}

#endif // NM_CONVERSION_NMTOVECTOR_TD
