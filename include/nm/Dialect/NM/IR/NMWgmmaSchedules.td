//===- NMWgmmaSchedules.td - Strategies of warpgroups ------*- tablegen -*-===//
//
// Part of NMSchedules.td.
//
//===----------------------------------------------------------------------===//

#ifndef NM_DIALECT_NM_IR_NMWGMMASCHEDULES_TD
#define NM_DIALECT_NM_IR_NMWGMMASCHEDULES_TD

/// Warps that copy; blocks that take turns beside such warps; and groups of
/// tiles of such blocks, along m and along n.
def NM_Producers : NM_CountUnless<0, "source == SourceKind::Selected ? 4 : 0, "
                                     "16, 4">;
def NM_Turns : NM_CountIf<"field != 0 && fields.producers != 0", 0>;
def NM_GroupM : NM_CountIf<"fields.producers != 0", 1>;
/// Registers of the threads of a role; 0 where they keep those that they start
/// with.
def NM_Registers : NM_CountUnless<0, "24, 240, 8">;
/// Rows of a box of a tensor copy of A; 0 for as many as a box has at most.
def NM_BoxRows : NM_CountUnless<0, "0, ::nm::kMaxBoxRows">;
/// A choice beside promoted sums of several warpgroups.
def NM_Ordered : NM_ChoiceIf<"fields.producers != 0 && fields.promote && "
                             "fields.splits == 1">;
def NM_GroupN : NM_CountIf<"field != 1 && fields.producers != 0", 1>;
def NM_StoreBuffers : NM_CountUnless<0, "0, 16">;
/// Fields that are checked by where an operand comes from.
def NM_WarpgroupBlock : NM_BlockOf<1> {
  let check = "verifySizes(emitError, \"$_name\", given, {1, 1, source == "
              "SourceKind::Sparse ? 64 : 1}, ::nm::kMaxSize)";
}
def NM_WarpgroupStages : NM_CountIn<"source == SourceKind::Gathered ? "
                                    "kMinWgmmaStages : 2, kMaxParts">;
def NM_WarpgroupPacking : NM_PackingOf<""> {
  let check = "source == SourceKind::Gathered ? verifyWgmmaPacking(emitError, "
              "given) : ::mlir::success()";
}
/// The tile of four warps.
def NM_Warpgroup : NM_PartOf<64, 64>;
/// The kinds of copies that producer warps start.
def NM_RoleCopy : NM_CaseUnless<"CopyKind", "Direct"> {
  let check = "verifyCopy(emitError, *given, {CopyKind::Direct, "
              "CopyKind::Tensor, CopyKind::Bulk})";
}

def NM_WarpgroupScheduleAttr : NM_SourcedScheduleAttr<"Warpgroup", "wgmma"> {
  let summary = "a GPU's tensor cores, by wgmma (sm_90a)";
  let description = [{
    The mnemonic says where an operand comes from: `#nm.wgmma` gathers rows of A,
    `#nm.wgmma_select` selects bytes of A, and of `#nm.wgmma_sp` the weights are
    a sparse operand. `#nm.wgmma` has no `cluster_k`, `splits`, `ordered`,
    `overlap` and `box_rows`; `#nm.wgmma_sp` no `copy_a` and `packing`; and
    `#nm.wgmma_select` only `block`, `warpgroup`, `stages`, `producers`, `blocks`,
    `group_m`, `promote`, the registers of roles, `box_rows` and `packing`.

    #### `#nm.wgmma`: exact gather

    A block copies just the rows of an m-major A that its columns keep, which
    makes the rest a dense product, C^T = B^T·A: the weights, contiguous along
    n, are wgmma's first operand of 64 rows, and the rows of A, contiguous along
    m, its second (PTX ISA, "Asynchronous Warpgroup Level Matrix
    Multiply-Accumulate"; sm_90a).

    `block` is the tile [m, n, k] that one thread block makes, and `warpgroup`
    the tile [m, n] of four warps, whose sums are in registers. All columns of a
    block share their units: n is the panel of `packing`, and no more than a
    unit's columns. `stages` is the number of buffers that copies take turns in;
    the product of a tile reads its own while the next one starts. `split_k` and
    `group_m` are as in `#nm.simt`; parts of k are of whole tiles. What is left
    out, the cost model chooses.

    With `producers`, so many warps of their own copy, and the warpgroups
    multiply; the roles meet at barriers in shared memory (`nm.warps`). The rows
    of A are copied by `cp.async`, the weights by one bulk copy a tile, for which
    the packed form has them in tiles. With `blocks`, there are at most so many
    blocks, which take turns at the tiles of C, and the next tile is copied
    while the last one is stored. With `group_n`, tiles are numbered along n
    first, `group_n` of them, then along m, and then come the next `group_n`:
    blocks that run at once share the rows of A with their neighbours, and the
    weights of few tiles.

    A product of f32 is one of bf16 splits, which `packing` says the number of:
    with three, six products of split floats make up for one of f32, and with two,
    three. Tensor cores cut off what sums of theirs have no bits for, so that
    they make only the sums of a tile, which the CUDA cores add up. A kernel
    before makes the splits of A, of whatever layout (`nm.split_floats`). A sum of
    more than 24 576 kept rows keeps its precision in parts of k of at most 8192
    each, as the cost model has them.

    What is cut off a tile's sum matters where tiles are few: if one product is
    far larger than all others, a chain of multiply-adds in f32 hardly rounds.
    With `compensated = true` sums of three splits are compensated. For each 16 kept
    rows the tensor cores make the sum of the products of first splits alone, which
    the CUDA cores add to the total. From that sum the tensor cores then subtract
    the same products again, and the five others. What is left is minus what the
    sum lacks, its residual, and is subtracted from the total. So seven products
    make up for one of f32. Left out, it is false on an op; the cost model has
    residuals where sums have fewer than six tiles.

    Operands of 8 bits, i8 with sums of i32 and f8E4M3FN or f8E5M2 with sums of
    f32, are contiguous along k, for the instructions transpose none: of a row-major A,
    each block copies the units of each row that its columns keep, which are
    multiples of 16 rows of k, and weights stand in tiles of columns. They come
    with producers. `copy_a` is how these copy A: `direct`, by `cp.async`;
    `tensor`, by one tensor copy for each unit, which one thread starts and rows
    at multiples of 16 bytes allow; or `bulk`, by one bulk copy for each 16 rows
    of a unit, of an A that `nm-pack-weights` has put into panels (`panels_a` of
    nm.spmm), with zeros that fill k up to whole windows. With `promote = true` the tensor cores make
    the sums of a tile, which the CUDA cores add to promoted sums of f32: those of f8
    are else cut off after 13 bits of mantissa or so.

    With `store_buffers`, C leaves through shared memory (`nm.stage_stores`): each
    warpgroup has so many slots of 64 x 64 elements of 16 bits, from which
    tensor copies store C while the next tile is multiplied. Without, threads
    store C from their registers. With `split_c = true` they store the splits of
    C's elements in their place, where only an `nm.split_floats` for a product
    behind reads C: selection says so once it has chosen both products.

    `producer_registers` and `consumer_registers` are those that threads of the
    two roles have (PTX ISA, `setmaxnreg`), of which producers need few. Left
    out, threads keep those that they start with, which are as many for all;
    selection leaves them out where that holds the sums. `pad_a` is as in
    `#nm.simt`.

    Constraints:
    * (C1) `block` has three sizes or none, each 1 to 2^40; `warpgroup` two or
      none, multiples of 64 that divide the block's, with m at most 256.
    * (C2) 3 ≤ stages ≤ 65536, 1 ≤ split_k ≤ 65536.
    * (C3) `packing` has no `col_info`, no chunks, and index_bits = 8.
    * (C4) on an op, `block`, `warpgroup` and `packing` are given. The block's n
      is the panel, which is no more than bn. With producers, `packing` has a
      tile of k as `tile_rows`, and none without them.
    * (C5) `producers` is 0 or a multiple of 4, at most 16; `blocks` and
      `group_m` and `group_n`, of which one is 1, are 1 to 65536. `blocks` comes
      with producers, and on an op so do `group_m` > 1 and `group_n` > 1.
    * (C6) `copy_a` is `direct`, `tensor` or `bulk`. On an op, the last two, `promote = true`
      and operands of 8 bits come with producers, and without splits.
    * (C7) `store_buffers` is 0 to 16. Else than 0, it comes with producers and without
      parts of k, and on an op it divides the number of 64 x 64 parts of
      `warpgroup`; rows of C, of 16-bit elements, are multiples of 16 bytes
      apart.
    * (C8) on an op, `compensated = true` comes with a packing of three splits.
    * (C9) `producer_registers` and `consumer_registers` are both given or
      neither, with producers: multiples of 8 in 24..240.
    * (C10) on an op, `split_c = true` comes with producers, and without
      `store_buffers` and parts of k. `pad_a` is a multiple of 8, at most 64.

    ```mlir
    #nm.wgmma<block = [256, 128, 256], warpgroup = [256, 64], stages = 4,
              producers = 4, blocks = 132, group_m = 4,
              packing = <panel = 128, index_bits = 8, tile_rows = 64>>
    #nm.wgmma<block = [512, 64, 128], warpgroup = [256, 64], stages = 3,
              producers = 4, blocks = 132, copy_a = tensor, promote = true,
              packing = <panel = 64, index_bits = 8, tile_rows = 128>>
    #nm.wgmma<block = [128, 128, 64], warpgroup = [128, 64], stages = 4,
              producers = 4, blocks = 132, compensated = true,
              packing = <panel = 128, index_bits = 8, tile_rows = 32, splits = 3>>
    #nm.wgmma<block = [256, 128, 256], warpgroup = [256, 64], stages = 4,
              packing = <panel = 128, index_bits = 8>>
    ```

    #### `#nm.wgmma_select`: kept bytes of A that threads select

    Products of i8 with sums of i32, and of f8E4M3FN and f8E5M2 with sums of f32,
    for patterns with windows of 2, 4 or 8 rows, in units of one row: 2:8, 3:8, 1:4
    and so on. A block copies whole rows of A, of which each thread
    selects the bytes that a unit's columns keep (PTX ISA, `prmt`: four of eight
    bytes) into the registers that are wgmma's first operand of 64 rows. Each of
    the four threads of a row takes the fewest windows side by side whose bytes,
    and kept bytes, are whole words of four: one of 4:8, of which it makes a
    word, and four of 3:8, of which it makes three words
    (include/nm/Format/SelectedBytes.h); the weights, contiguous along k, are its
    second (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate";
    sm_90a). Sums are of C, which is row-major.

    `block` is the tile [m, n, k] that one thread block makes, and `warpgroup`
    the tile [m, n] of four warps, whose sums are in registers. The columns of a
    block are of one or more units, or of a part of one: n is the panel of
    `packing`, in which four indices are a selector. `stages` is the number of
    buffers that copies take turns in. `producers` warps of their own copy: rows
    of A by tensor copies, weights and selectors by bulk copies. `blocks` and
    `group_m` are as in `#nm.wgmma`, and so is `promote`: with it the sums of each
    tile, of 64 or 128 columns at a time, are added to promoted sums of f32. What is left out,
    the cost model chooses. `producer_registers` and `consumer_registers` are as in
    `#nm.wgmma` (C9), and `box_rows` as in `#nm.wgmma_sp` (C9).

    Constraints:
    * (C1) `block` has three sizes or none, each 1 to 2^40; `warpgroup` two or
      none, m 64 and n a multiple of 64, at most 256, which divide the block's.
    * (C2) 2 ≤ stages ≤ 65536.
    * (C3) `producers` is 4, 8, 12 or 16; `blocks` and `group_m` are 1 to 65536.
    * (C4) on an op, `block`, `warpgroup` and `packing` are given, and the
      block's n is the panel. `packing` has
      index_bits = 4, index_rows = 4, as lane_words the words that a thread makes
      of windows side by side, and as tile_rows what the block's k keeps: so many
      that each thread has an even number of words of whole panels of A in shared
      memory, which are a multiple of 32, such as 64 of 4:8 and 96 of 3:8.
    * (C5) on an op, the pattern has M of 2, 4 or 8, N < M and bk = 1, bn is a multiple
      of 16, A and C are row-major, and rows of A start at multiples of 16 bytes.

    ```mlir
    #nm.wgmma_select<block = [128, 256, 256], warpgroup = [64, 256], stages = 4,
                     producers = 4, blocks = 132,
                     packing = <panel = 256, index_bits = 4, index_rows = 4, tile_rows = 64>>
    // Of 3:8.
    #nm.wgmma_select<block = [128, 256, 256], warpgroup = [64, 256], stages = 3,
                     packing = <panel = 256, index_bits = 4, index_rows = 4, tile_rows = 96, lane_words = 3>>
    ```

    #### `#nm.wgmma_sp`: weights that the tensor cores skip the zeros of

    Products of f16, bf16, f8E4M3FN and f8E5M2 with sums of f32, and of i8 with
    sums of i32, by `wgmma.mma_async.sp` (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Operation using
    wgmma.mma_async.sp instruction"; sm_90a), for the patterns of `#nm.mma_sp`,
    with the same meaning of zeros that fill up. The weights of 64
    columns are the sparse operand, and rows of A, contiguous along k or along
    m, the other, so that sums are of C^T. Both are read from shared memory,
    where metadata is, too, of which each thread loads a word for 64 rows of
    k. Operands of 8 bits are contiguous along k. Sums of 8-bit floats, which
    the tensor cores cut off, are those of one tile, and are added to promoted sums of f32.

    `block` is the tile [m, n, k] that one thread block makes, and `warpgroup`
    the tile [m, n] of four warps, whose sums are in registers. `stages` is the
    number of buffers that copies take turns in; the product of a tile reads its
    own while the next one starts. `split_k` and `cluster_k` are as in
    `#nm.simt`. What is left out, the cost model chooses.

    With `producers`, so many warps of their own copy, and the warpgroups
    multiply; the roles meet at barriers in shared memory (`nm.warps`). Tiles of
    A go by tensor copies, for which the host makes a map of A at each launch,
    weights and metadata by bulk copies: a thread starts each. Threads have
    pairs of columns in their registers, for which weights are packed as
    `#nm.sparse_operand<wgmma_pairs>`. `blocks`, `group_m`, `group_n` and
    `store_buffers` are as in `#nm.wgmma`.

    A product of f32 is one of so many bf16 `splits`, as in `#nm.wgmma`: of a
    tile the tensor cores make six products of split floats, or three, and their sums
    are added to promoted sums of f32. A step of metadata serves all of them. A kernel
    before makes the splits of A (`nm.split_floats`). `compensated` is as in
    `#nm.wgmma`. Zeros that fill groups up are no weights: sums that are not
    finite are made again without them.

    `promote` states whether the CUDA cores add the sums of a tile to promoted
    sums of f32: those of 8-bit floats, unless the product is `fast_accum`, and
    those of splits; left out, these are. With `ordered = true` the warpgroups of
    a block that has promoted sums start their products in turn, as the cost
    model has them where there are two, without splits. With `overlap = true` the last tile of
    rows of a row-major A begins early enough to be whole, and makes rows again;
    left out, it does where columns of C are stored by 16 bytes.
    `producer_registers` and `consumer_registers` are as in `#nm.wgmma` (C9), and
    so are `split_c` and `pad_a` (C10).

    With `box_rows`, tensor copies of a tile of A that A may end in are of boxes of
    so many rows, of which those behind A's end are left out. Left out, a box has
    256 rows at most, and what is behind A's end is filled with zeros.

    Constraints:
    * (C1) `block` has three sizes or none, each 1 to 2^40, and k is a multiple
      of 64. `warpgroup` has two or none, multiples of 64 that divide the
      block's, with m at most 256.
    * (C2) 3 ≤ stages ≤ 65536, 1 ≤ split_k ≤ 65536.
    * (C3) 1 ≤ cluster_k ≤ 8 divides split_k.
    * (C4) `producers` is 0 or a multiple of 4, at most 16; `blocks` and
      `group_m` and `group_n`, of which one is 1, are 1 to 65536. `blocks`, and on
      an op `group_m` > 1 and `group_n` > 1, come with producers; with these,
      cluster_k is 1. On an op, rows of A then start at multiples of
      16 bytes, and where k of `block` is not 64, it divides the product's k.
    * (C5) `splits` is 2 or 3, or left out. On an op, it comes with producers, for
      operands of f32; stages may then be 2, and k of `block` is 64.
    * (C6) `store_buffers` is as in `#nm.wgmma`.
    * (C7) on an op, `compensated = true` comes with three splits.
    * (C8) on an op, `promote` is what the product's type and arithmetic ask for,
      and `ordered = true` comes with it; `overlap = true` comes with a row-major
      A, without splits.
    * (C9) 0 ≤ box_rows ≤ 256.

    ```mlir
    #nm.wgmma_sp<block = [256, 128, 64], warpgroup = [256, 64], stages = 5>
    #nm.wgmma_sp<block = [256, 128, 64], warpgroup = [256, 64], stages = 5,
                 producers = 4, blocks = 132>
    #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3,
                 producers = 4, blocks = 132, splits = 3>
    ```
  }];
  let parameters = (ins NM_Source:$source, NM_WarpgroupBlock:$block,
                        NM_Warpgroup:$warpgroup, NM_WarpgroupStages:$stages,
                        NM_Count:$split_k, NM_ClusterK:$cluster_k,
                        NM_Producers:$producers, NM_Turns:$blocks,
                        NM_GroupM:$group_m, NM_GroupN:$group_n,
                        NM_RoleCopy:$copy_a,
                        NM_CountUnless<1, "2, ::nm::kMaxSplits">:$splits,
                        NM_Flag:$compensated, NM_StoreBuffers:$store_buffers,
                        NM_Flag:$promote, NM_Ordered:$ordered,
                        NM_Registers:$producer_registers,
                        NM_Registers:$consumer_registers,
                        NM_Choice:$overlap, NM_BoxRows:$box_rows,
                        NM_Flag:$split_c, NM_Padding:$pad_a,
                        NM_WarpgroupPacking:$packing);
  let sources = [
    NM_SourceOf<"Gathered",
      ["cluster_k", "splits", "ordered", "overlap", "box_rows"]>,
    NM_SourceOf<"Selected",
      ["split_k", "cluster_k", "group_n", "copy_a", "splits", "compensated",
       "store_buffers", "ordered", "overlap", "split_c", "pad_a"]>,
    NM_SourceOf<"Sparse", ["copy_a", "packing"]>];
  let checks = ["WarpgroupTile", "Part", "Cluster", "Splits", "Roles",
                "Registers", "StoreBuffers"];
  let extraClassDeclaration = !strconcat(ofAll, nmOfSomePatterns, [{
    int64_t countProducers() const;
    int64_t countSplits() const;
    bool isPromoted() const { return getPromote().value_or(false); }
    bool isCompensated() const { return getCompensated().value_or(false); }
    bool hasTensorCopies() const {
      return getCopyA().value_or(CopyKind::Direct) == CopyKind::Tensor;
    }
    /// Whether A is in panels.
    bool hasPanelsOfA() const {
      return getCopyA().value_or(CopyKind::Direct) == CopyKind::Bulk;
    }
  }]);
}

#endif // NM_DIALECT_NM_IR_NMWGMMASCHEDULES_TD
