//===- NMMmaSchedules.td - Strategies of mma ---------------*- tablegen -*-===//
//
// Part of NMSchedules.td.
//
//===----------------------------------------------------------------------===//

#ifndef NM_DIALECT_NM_IR_NMMMASCHEDULES_TD
#define NM_DIALECT_NM_IR_NMMMASCHEDULES_TD

/// Fields that are checked by where an operand comes from.
def NM_MmaBlock : NM_BlockOf<1> {
  let check = "verifyMmaBlock(emitError, given, source)";
}
def NM_MmaWarp : NM_PartOf<1, 1> {
  let check = "verifyMmaWarp(emitError, given, source)";
}

/// The bits of a quantized weight; 0 where weights are not quantized.
def NM_Bits : NM_CountUnless<0> {
  let check = "verifyQuantizedBits(emitError, *given)";
}

def NM_MmaScheduleAttr : NM_SourcedScheduleAttr<"Mma", "mma"> {
  let summary = "the tensor cores of all chips, by mma";
  let description = [{
    The mnemonic says where an operand comes from: `#nm.mma_sync` gathers rows of
    A, of `#nm.mma_sp` the weights are a sparse operand, `#nm.mma_bitmap` expands
    weights in registers, and `#nm.mma_image` has a part of an image in shared
    memory. `#nm.mma_sync` has no `pairs`; `#nm.mma_sp` no `pack` and `packing`;
    `#nm.mma_bitmap` none of these and no `bits`; and `#nm.mma_image` `packing`
    alone of these, and no `split_k`, `cluster_k`, `promote`, `late_loads` and `pad_a`.

    #### `#nm.mma_sync`: exact gather

    Products of f16 and bf16 with sums of f32 by `mma.sync.m16n8k16`, for units
    of a multiple of 8 columns. `block` is the tile [m, n, k] of a block, and
    `warp` that [m, n] of a warp; which of it a lane has follows from the
    instruction. `stages` is the number of buffers that copies to shared memory
    take turns in. `split_k`, `cluster_k` and `slice_k` are as in `#nm.simt`:
    each of the warps that share a tile of C has windows of its own of a tile of
    k, which is rounded up to as many for each. `packing` is the packed form
    that the weights take, with panels of one unit's columns, and `pack` and
    `late_loads` and `pad_a` as in `#nm.simt`. What is left out is as there, too.

    `bits` is that of the `quantization` of the product, if it has one: weights
    stay so many bits in memory, and are converted in registers. `packing` has
    `chunk_rows` of 2 where slices have multiples of eight windows, else of 16,
    and the packed form gets `bits`; there is no `pack`.

    With `promote = true`, long sums keep their precision: a lane adds 64 kept
    rows, a chain, to sums that start at zero, and then the chain's sums to
    promoted sums, which take as many registers. What rounding leaves out of
    those is where the next chain starts.

    Constraints: (C1), (C2), (C3) and (C4) as for `#nm.simt`, and so (C6) is its
    (C5). (C5) with `promote = true`, the m · n of `warp` is at most 2048, 64 sums
    of a lane.

    ```mlir
    #nm.mma_sync<block = [128, 256, 64], warp = [128, 32], stages = 4,
                 packing = <panel = 32, index_bits = 8>>
    #nm.mma_sync<block = [16, 32, 512], warp = [16, 32], stages = 4, slice_k = 8,
                 bits = 4, packing = <panel = 32, index_bits = 8, chunk_rows = 16>>
    ```

    #### `#nm.mma_sp`: weights that the tensor cores skip the zeros of

    Products of f16 and bf16 with sums of f32 by `mma.sp.sync.m16n8k32`, and of
    i8 with sums of i32 and f8E4M3FN and f8E5M2 with sums of f32 by `m16n8k64`,
    which skip two of each four weights (PTX ISA, "Matrix multiply-accumulate
    operation using mma.sp instruction"), for patterns that keep at most two of
    each aligned four rows; `#nm.sparse_operand`, which packs the weights, says
    which. 8-bit floats take a chip of sm_89 or later. Their sums, which the
    tensor cores cut off, are those of one instruction, and are added to others
    of f32. Where the pattern keeps fewer, a zero in place of one that is pruned
    meets an activation, so that an infinite or NaN one makes NaN of it.

    `block` is the tile [m, n, k] that one thread block makes, and `warp` the
    tile [m, n] of a warp; which of it a lane has follows from the instruction.
    `stages` is the number of buffers that copies to shared memory take turns
    in. `split_k`, `cluster_k` and `slice_k` are as in `#nm.simt`: each of the
    warps that share a tile of C has steps of 64 rows of its own of a tile of k,
    which is rounded up to as many for each. `promote`, `late_loads` and `pad_a`
    are as in `#nm.mma_sync`. What is left out, the cost model chooses.

    `bits` is that of the `quantization` of the product, if it has one: weights
    stay so many bits in memory, and are converted in registers.

    With `pairs = true`, weights are `#nm.sparse_operand<wgmma_pairs>`, as
    `#nm.wgmma_sp` has them, so that few rows and many read one form of a weight:
    lanes load them by ldmatrix, and exchange sums before they are stored.

    Constraints:
    * (C1) `block` has three sizes or none, each 1 to 2^40, and k is a multiple
      of 64. `warp` has two or none, which divide the block's: m a multiple of
      8, n of 16.
    * (C2) 1 ≤ stages, split_k ≤ 65536, and 1 ≤ slice_k ≤ 32.
    * (C3) 1 ≤ cluster_k ≤ 8 divides split_k.
    * (C4) `bits` is 4 or 8, or left out.
    * (C5) With `pairs = true`, n of the block is a multiple of 64, and there are
      no `bits`.
    * (C6) `promote` as for `#nm.mma_sync` (C5), and `pad_a` as there (C6).

    ```mlir
    #nm.mma_sp<block = [128, 128, 64], warp = [64, 64], stages = 4>
    #nm.mma_sp<block = [8, 64, 512], warp = [8, 64], slice_k = 8, pairs = true>
    #nm.mma_sp<block = [8, 32, 512], warp = [8, 32], slice_k = 8, bits = 4>
    #nm.mma_sp<block = [8, 32, 512], warp = [8, 32], stages = 5, slice_k = 8>
    ```

    #### `#nm.mma_bitmap`: weights that lanes expand

    Products of few rows by `mma.sync`, for any pattern: weights stay condensed
    in shared memory, as `#nm.bitmap` packs them, and lanes put zeros between
    them in registers. Sums of f16 and bf16 are f32, of i8 i32, and of f8E4M3FN
    and f8E5M2, from sm_89 on, f32. Each pruned weight is a zero that meets an
    activation, so that an infinite or NaN one makes NaN of it, as with dense
    weights.

    `block` is the tile [m, n, k] that one thread block makes, and `warp` the
    tile [m, n] of a warp; which of it a lane has follows from the instruction.
    `stages` is the number of buffers that copies to shared memory take turns
    in. `split_k`, `cluster_k` and `slice_k` are as in `#nm.simt`: each of the
    warps that share a tile of C has steps of its own of a tile of k, which is
    rounded up to as many for each. A step is 4·R rows, a run of R for each of
    four neighbouring lanes, where `#nm.bitmap` says what R is: 128 rows where R
    is 32, and 256 or 512 for windows of 64 or 128 rows. `promote`, `late_loads`
    and `pad_a` are as in `#nm.mma_sync`. What is left out, the cost model
    chooses.

    Of unstructured weights of f16 and bf16 those that are not zero are packed,
    as `#nm.bitmap` of pattern 1:1. A block then takes all of k at once, and a
    warp has 32 columns and every `slice_k`-th step of 128 rows, whose values it
    copies itself, as many as there are, while it multiplies the step before:
    it has memory for `stages` times 48 slots of values, and at least two
    `stages`. `split_k` is 1, and A row-major.

    Constraints:
    * (C1) `block` has three sizes or none, each 1 to 2^40, and k is a multiple
      of 128. `warp` has two or none, which divide the block's: m a multiple of
      8, n of 16.
    * (C2) 1 ≤ stages, split_k ≤ 65536, and 1 ≤ slice_k ≤ 32.
    * (C3) 1 ≤ cluster_k ≤ 8 divides split_k.
    * (C4) `promote` as for `#nm.mma_sync` (C5), and `pad_a` as there (C6).

    ```mlir
    #nm.mma_bitmap<block = [8, 32, 512], warp = [8, 32], stages = 4, slice_k = 4>
    ```

    #### `#nm.mma_image`: the rows of an image that a block's places need

    Products of f16 and bf16 with sums of f32 by `mma.sync.m16n8k16`, where A are
    the patches of an image in planes (`nm.patches`), for units of a multiple of
    16 columns that keep an even number of single rows of each window. A block
    copies the rows of the image that its places of m take, of all channels, to
    shared memory once, and lanes load from there what each kept row of k has at
    their places. Taps that are outside of the image are zeros.

    `block` is the tile [m, n, k] of a block, which takes all of k at once, and
    `warp` that [m, n] of a warp. Weights of `stages` steps of 16 kept rows are
    on their way at once. `slice_k` warps take parts of the kept rows. `packing`
    has panels of one unit's columns and chunks of 2 or 4 rows. What is left out,
    the cost model chooses.

    Constraints:
    * (C1) `block` has three sizes or none, each 1 to 2^40. `warp` has two or
      none, which divide the block's: m a multiple of 16, n of 16.
    * (C2) 1 ≤ stages ≤ 65536, and 1 ≤ slice_k ≤ 32.

    ```mlir
    #nm.mma_image<block = [256, 64, 576], warp = [64, 64], stages = 2,
                  packing = <panel = 64, index_bits = 8, chunk_rows = 4>>
    ```
  }];
  let parameters = (ins NM_Source:$source, NM_MmaBlock:$block, NM_MmaWarp:$warp,
                        NM_Count:$stages, NM_Count:$split_k,
                        NM_ClusterK:$cluster_k, NM_SliceK:$slice_k,
                        NM_Bits:$bits, NM_Flag:$pairs, NM_Choice:$pack,
                        NM_Flag:$promote, NM_Flag:$late_loads,
                        NM_Padding:$pad_a, NM_UnlistedPacking:$packing);
  let sources = [
    NM_SourceOf<"MmaGathered", ["pairs"]>,
    NM_SourceOf<"MmaSparse", ["pack", "packing"]>,
    NM_SourceOf<"MmaBitmap", ["bits", "pairs", "pack", "packing"]>,
    NM_SourceOf<"MmaImage", ["split_k", "cluster_k", "bits", "pairs", "pack",
                             "promote", "late_loads", "pad_a"]>];
  let checks = ["Pairs", "MmaPart", "Cluster", "MmaPromotion"];
  let extraClassDeclaration = !strconcat(ofAll, nmOfSomePatterns, [{
    bool packsRows() const { return getPack().value_or(false); }
    bool hasPairs() const { return getPairs().value_or(false); }
    ScheduleAttrInterface withoutPack() const;
  }]);
}

#endif // NM_DIALECT_NM_IR_NMMMASCHEDULES_TD
