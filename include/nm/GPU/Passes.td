//===- Passes.td - GPU passes on the nm dialect ------------*- tablegen -*-===//
//
// In pipeline order. Products that run on a CPU need none of them.
//
//===----------------------------------------------------------------------===//

#ifndef NM_DIALECT_NM_GPUTRANSFORMS_PASSES_TD
#define NM_DIALECT_NM_GPUTRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def NMAttachChip : Pass<"nm-attach-chip", "::mlir::ModuleOp"> {
  let summary = "names the GPU that a module is compiled for";
  let description = [{
    The module gets the attribute `nm.chip`, which the passes for GPUs read. A
    chip that is not known is an error that names those that are. What selection
    goes by beside the chip stands there, too: `nm.schedule_tables`, the files of
    measured schedules, `nm.device`, whose measurements they are to be,
    `nm.rates`, what a probe of that device measured where one of the files has
    it, and `nm.batch_invariant`.

    Before:
    ```mlir
    module {
    ```
    After:
    ```mlir
    module attributes {nm.chip = #nm.chip<"sm_90a">} {
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90a\"",
           "the chip to compile for, as ptxas names it; empty takes the "
           "attribute away">,
    ListOption<"scheduleTables", "schedule-table", "std::string",
               "files of measured schedules, of which the first that knows a "
               "product answers before the cost models; 'ships' are those that "
               "nm has">,
    Option<"device", "device", "std::string", /*default=*/"\"\"",
           "the device whose measurements are looked up; empty takes those of "
           "the devices that the chip's model is of">,
    Option<"batchInvariant", "batch-invariant", "bool", /*default=*/"false",
           "choose schedules for one number of rows, so that a row's sums do "
           "not depend on how many come with it">
  ];
  let dependentDialects = ["::mlir::nm::NMDialect"];
}

def NMPropagateLayouts
    : Pass<"nm-propagate-layouts", "::mlir::ModuleOp"> {
  let summary = "gives activations between products the layouts that cost least";
  let description = [{
    Tensor cores want A m-major, [k x m], and give C as easily as [n x m] as they
    give it row-major. Every activation of a function, on tensors, gets one of
    both layouts such that products and transpositions take the least time in
    all, by the estimates that `nm-select-gpu-schedule` goes by. A product takes
    or gives the other layout by `transpose_a` and `transpose_c`, an elementwise
    op, a broadcast or a reduction by other indexing maps, a reshape by other
    groups. An elementwise op may also read one layout and write the other, for a
    part of what a transposition takes; so does nm's kernel of an attention whose
    result goes nowhere else, where cuDNN is not faster: it gets another map for
    its result. Only where layouts differ otherwise, linalg.transpose stands
    between. Arguments and results of functions, and what
    other ops take and give, stay as they are.

    nm-pad-rows starts rows of temporaries with 16-bit elements at multiples of 16
    bytes, and those of an m-major A, by `pad_a` of schedules, of 128. An A whose rows start elsewhere may also be
    copied to such a temporary (bufferization.alloc_tensor), once for all products
    that take the copy.

    The choice is exact: the layout of each value and of each operand is one of
    two, a transposition serves all that use its result, and the layouts of least
    cost are found by eliminating one value after the other, in time that grows
    with how many values are in use at once. Where costs are the same, layouts
    stay as they are. A function of which too many values depend on each other
    (2^16 combinations) is left, which a remark says.

    Strategies whose estimates say what a layout gains are those of tensor cores;
    with others nothing changes. Products that have a schedule already keep their
    layouts. Remarks name each transposition and copy, and the estimate of all.

    Before:
    ```mlir
    %h = nm.spmm <2:8, block = 1x64>
      ins(%x, %v1, %i1 : tensor<1024x512xf16>, ...) outs(%e1 : tensor<1024x2048xf16>) -> ...
      epilogue ins(%bias : tensor<2048xf32>) maps [affine_map<(m, n) -> (n)>] {...}
    %y = nm.spmm <2:8, block = 1x64>
      ins(%h, %v2, %i2 : tensor<1024x2048xf16>, ...) outs(%e2 : tensor<1024x512xf16>) -> ...
    ```
    After:
    ```mlir
    %xt = linalg.transpose ins(%x : tensor<1024x512xf16>) outs(%e : tensor<512x1024xf16>)
      permutation = [1, 0]
    %h = nm.spmm <2:8, block = 1x64> transpose_a transpose_c
      ins(%xt, %v1, %i1 : tensor<512x1024xf16>, ...) outs(%e1t : tensor<2048x1024xf16>) -> ...
      epilogue ins(%bias : tensor<2048xf32>) maps [affine_map<(m, n) -> (n)>] {...}
    %y = nm.spmm <2:8, block = 1x64> transpose_a
      ins(%h, %v2, %i2 : tensor<2048x1024xf16>, ...) outs(%e2 : tensor<1024x512xf16>) -> ...
    ```
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", /*default=*/"\"\"",
           "the schedule that nm-select-gpu-schedule is told to choose">,
    Option<"denseFallback", "dense-fallback", "bool", /*default=*/"true",
           "whether it may fall back to dense weights and cuBLAS">,
    Option<"exactPattern", "exact-pattern", "bool", /*default=*/"false",
           "whether it refuses schedules that store zeros in place of pruned "
           "weights">,
    ListOption<"productCosts", "product-costs", "double",
               "instead of the estimates, the microseconds of each product: with "
               "a row-major A, with an m-major A and, if there is a third number, "
               "with a copied A, which else takes as long as the one it is of">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMSplitColumns : Pass<"nm-split-columns"> {
  let summary = "makes two products of one whose last blocks would run alone";
  let description = [{
    Blocks of a persistent kernel, one on each multiprocessor, make tiles of C in
    turn. In the last round a few of them may work alone: 512 x 28672 in tiles of
    256 x 128 are 448 tiles, three rounds of 132 and one of 52. Then columns of
    whole rounds, 25344, are a product of their own, and the other 3328 another,
    which has smaller tiles, 104 of 128 x 128.

    That is done where both together take at most 93 % of the time of one, by the
    estimates that `nm-select-gpu-schedule` goes by, of products with constant
    weights whose number of rows is known. Tables of measured schedules that have
    the product keep it whole. Two products that an epilogue combines, which
    `nm-pair-products` makes one, are split at the same column.

    Both products write columns of one C.
  }];
  let options = [
    Option<"denseFallback", "dense-fallback", "bool", /*default=*/"true",
           "whether selection may fall back to dense weights and cuBLAS">,
    Option<"exactPattern", "exact-pattern", "bool", /*default=*/"false",
           "whether it refuses schedules that store zeros in place of pruned "
           "weights">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMPairProducts : Pass<"nm-pair-products"> {
  let summary = "makes two products of one A, combined element by element, one";
  let description = [{
    A product whose epilogue takes the result of another product of the same A
    becomes one product with it, whose columns are those of both in turns: as
    many of the one as half a block has, then as many of the other; or, by
    wgmma_sp with producers, one of each, so that a thread has both of two
    neighbours. A block then has both sums that an element of the result is made
    of. Gate and up of a gated feed-forward block are such products: `SiLU(x ·
    gate) * (x · up)`.

    What the epilogues did is a linalg.generic that reads both halves of each
    block's columns, which `nm-tile-to-gpu-blocks` puts into the blocks: the
    result of neither product goes to memory.

    Both weights are constant and alike. The schedule is the one that selection
    would choose for each product, where it is of strategy gemv, mma_sp,
    mma_sync or wgmma_sp without split_k and clusters; where its columns in turn
    divide n, or those of another width near it do. That of wgmma_sp is the one
    of its model for twice the columns, without store buffers. Other products
    stay as they are: those of wgmma, too, vectors of many rows, where all
    columns of a block keep the same rows of A. A block of both products would
    copy the kept rows of each.

    Before:
    ```mlir
    %g = nm.spmm <2:4> ins(%x, %vg, %ig : tensor<16x64xf16>, tensor<32x96xf16>, ...) ...
    %u = nm.spmm <2:4> ins(%x, %vu, %iu : tensor<16x64xf16>, tensor<32x96xf16>, ...) ...
      epilogue ins(%g : tensor<16x96xf16>) maps [affine_map<(m, n) -> (m, n)>] {<%g * sum>}
    ```
    After:
    ```mlir
    %p = nm.spmm <2:4> schedule #nm.mma_sp<block = [16, 32, 64], ...>
      ins(%x, %v, %i : tensor<16x64xf16>, tensor<32x192xf16>, ...) ...
    %e = tensor.expand_shape %p [[0], [1, 2, 3]] : tensor<16x192xf16> into tensor<16x6x2x16xf16>
    %a = tensor.extract_slice %e[0, 0, 0, 0] [16, 6, 1, 16] ... to tensor<16x6x16xf16>
    %b = tensor.extract_slice %e[0, 0, 1, 0] [16, 6, 1, 16] ... to tensor<16x6x16xf16>
    %r = linalg.generic ... ins(%a, %b : tensor<16x6x16xf16>, tensor<16x6x16xf16>) {<%a * %b>}
    %u = tensor.collapse_shape %r [[0], [1, 2]] : tensor<16x6x16xf16> into tensor<16x96xf16>
    ```
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", /*default=*/"\"\"",
           "the schedule that nm-select-gpu-schedule is told to choose">,
    Option<"denseFallback", "dense-fallback", "bool", /*default=*/"true",
           "whether it may fall back to dense weights and cuBLAS">,
    Option<"exactPattern", "exact-pattern", "bool", /*default=*/"false",
           "whether it refuses schedules that store zeros in place of pruned "
           "weights">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMSelectGpuSchedule : Pass<"nm-select-gpu-schedule"> {
  let summary = "chooses how each product is mapped to a GPU";
  let description = [{
    Every product gets a schedule from the cost models of the module's chip: `#nm.simt`
    or `#nm.gemv`, which takes `nm.spmv` and types other than f32
    too, whichever is faster by estimate. One that it came with is kept; one of
    strategy `vector` is an error. Every op gets a record, `#nm.record`, of the
    estimated time beside the two floors, the chip's multipliers and its memory,
    and the reason, and a remark says it. A dynamic m is scheduled for a typical
    one, which the record names.

    With `schedule=simt<...>` every product that has no schedule gets that one:
    what it leaves out is chosen, of that strategy. `pack = true` stages only
    the rows of A that a block's columns use, and is an error where none would
    be left out.

    A product that no strategy has is expanded by `loops`, one thread for each
    element of C, and a warning says why; where `schedule` is of a strategy that
    cannot take it, that is an error.

    A product of i8, f8E4M3FN or f8E5M2 may become one of f16, which has all of
    their values: the tensor cores transpose no bytes, so that vector-wise
    weights have no fast product of 8 bits, but for short windows
    (`#nm.wgmma_select`). Of its weights, which have to be constant or loaded, a
    linalg.generic makes f16, and of A another, which transposes it on the way
    where the product wants that. Sums of i8 become i32 in the epilogue; they
    are exact up to 1024 kept rows of k, beyond which the product stays one of
    i8. That is done where both are estimated to take less than the fastest
    product of 8 bits, dense ones among them, or where `schedule` is of a
    strategy that has no such product.

    Where cuBLAS is estimated to be faster with dense weights, these take the
    sparse ones' place and the strategy is `cublas`, with the tiles of our own
    product for machines without the library. The remark says so, and why.

    A convolution whose weights are constant, f32, f16 or bf16, may also be one of
    cuDNN with dense weights: of a product whose A is patches of an image, along
    whose pixels one loop of places and one of taps goes each. In 16 bits that is
    chosen where it is estimated to be faster, and for all types where `schedule`
    is `cublas`. It stands under `nm.has_cudnn` as a product of strategy `cublas`
    whose A is `nm.patches` of the image without its padding, with the k of each
    column side by side, and its epilogue is an op behind it. The other branch has
    the product as it would be without cuDNN. Neither is chosen where the sums of
    a row must not depend on how many rows there are.

    Before:
    ```mlir
    %r = nm.spmm <16:32, block = 1x32> ins(%a, %v, %i : ...) outs(%c : ...) -> tensor<4096x4096xf32>
    ```
    After:
    ```mlir
    %r = nm.spmm <16:32, block = 1x32>
      schedule #nm.simt<block = [128, 128, 32], warp = [128, 32], thread = [16, 8],
                stages = 2, ..., packing = <panel = 32, index_bits = 8>>
      ins(%a, %v, %i : ...) outs(%c : ...) -> tensor<4096x4096xf32>
    ```
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", /*default=*/"\"\"",
           "the schedule of every product that has none, as in "
           "'simt<block = [128, 128, 32], stages = 3>': the cost model chooses "
           "what is left out">,
    Option<"denseFallback", "dense-fallback", "bool", /*default=*/"true",
           "fall back to dense weights and cuBLAS where that is estimated to be "
           "faster, or has the only product of these types">,
    Option<"exactPattern", "exact-pattern", "bool", /*default=*/"false",
           "refuse schedules that are given, and store zeros in place of pruned "
           "weights, which infinite and NaN activations would meet">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMTileToGpuBlocks
    : Pass<"nm-tile-to-gpu-blocks", "::mlir::func::FuncOp"> {
  let summary = "cuts products into tiles that thread blocks make";
  let description = [{
    An nm op with a schedule for a GPU, whose `block` tile is [m, n, k], becomes
    an `scf.forall` over tiles of C, [m, n]. Tiles start at whole panels and
    windows; `block` sizes are rounded up to that. The loops are mapped to
    `#gpu.block`, n fastest, and an `scf.for` over k by whole windows stands
    inside, whose tile is what the block stages in shared memory. A
    `linalg.fill` of the output is made tile by tile.

    Where C is only split, for a product in f32 behind, blocks of
    strategies `wgmma` and `wgmma_sp` split their tile of C^T (`nm.split_floats`),
    and C is neither written nor read.

    Of strategy `wgmma_sp` and a row-major A, the last tile along m begins early
    enough to be whole, where C is written and not read: of 100 rows, tiles of 64
    begin at 0 and at `affine.min(64, 100 - 64)`, and two of them make rows 36 to
    63, alike. Tensor copies take longer to fill rows that A does not have than
    to fetch some.

    With `split_k` of s, k is cut into at most s parts of whole tiles: blocks sum
    each of them into a tensor of partial sums, and in a second `scf.forall`
    `nm.combine` adds these to C, in the order of the parts, with the epilogue
    behind it. With `cluster_k` of c, every c parts are those of a cluster, which
    is one iteration of the first loop: inside of it, an `scf.forall` mapped to
    `#nm.cluster_block` sums a part in each iteration, and `nm.combine` adds them
    up, to a partial sum, or where c = s to the tile of C.

    A product of strategy `cublas` is made twice, in the branches of
    `scf.if %loaded`, where `%loaded = nm.has_cublas`: as one call, and as our
    own, by the schedule that `#nm.cublas` has for it: where that is `#nm.simt`,
    operands that are narrower floats are widened to f32. An epilogue is split
    from both. One that cuBLASLt has stays on a third product, in a branch that
    is tried first.

    Before:
    ```mlir
    %r = nm.spmm <2:4> schedule #nm.simt<block = [64, 32, 64], ...>
      ins(%a, %v, %i : tensor<128x64xf32>, tensor<32x96xf32>, tensor<32x96xi8>)
      outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    ```
    After:
    ```mlir
    %r = scf.forall (%m, %n) = (0, 0) to (128, 96) step (64, 32)
        shared_outs(%out = %c) -> (tensor<128x96xf32>) {
      %at = tensor.extract_slice %a[%m, 0] [64, 64] [1, 1] : ...
      ...
      %t = nm.spmm <2:4> schedule #nm.simt<...> ins(%at, %vt, %it : ...) outs(%ct : ...)
      scf.forall.in_parallel { tensor.parallel_insert_slice %t into %out... }
    } {mapping = [#gpu.block<y>, #gpu.block<x>]}
    ```
    With `split_k = 2, cluster_k = 2`, in place of that product:
    ```mlir
      %parts = scf.forall (%p) in (2) shared_outs(%sums = %empty) -> (tensor<2x64x32xf32>) {
        %s = tensor.extract_slice %sums[%p, 0, 0] [1, 64, 32] [1, 1, 1] : ...
        %zeros = linalg.fill ins(%zero : f32) outs(%s : tensor<64x32xf32>) -> tensor<64x32xf32>
        %t = scf.for %k = ... iter_args(%acc = %zeros) -> (tensor<64x32xf32>) {
          nm.spmm ... outs(%acc : tensor<64x32xf32>) -> tensor<64x32xf32>
          ...
        }
        scf.forall.in_parallel { tensor.parallel_insert_slice %t into %sums[%p, 0, 0]... }
      } {mapping = [#nm.cluster_block]}
      %t = nm.combine ins(%parts : tensor<2x64x32xf32>)
                      outs(%ct : tensor<64x32xf32>) -> tensor<64x32xf32>
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::nm::NMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMCallCublas : Pass<"nm-call-cublas", "::mlir::ModuleOp"> {
  let summary = "products of strategy cublas to calls of the runtime";
  let description = [{
    Every product on memrefs whose schedule is `#nm.cublas` keeps all
    weights (N = M), in the condensed form that is the dense matrix itself, and
    becomes a call of the runtime's `nmCublasMultiply`, which queues cuBLAS'
    product on the current stream, in f32 throughout where the operands are. A
    fill of C with zeros before it goes, if C is not used in between. `nm.has_cublas` becomes a call of
    `nmCublasIsLoaded`, which loads the library at first.

    Where the product is the one branch under `nm.has_cublas`, the other branch
    also runs where cuBLAS refuses the product, which the runtime's
    `nmCublasTryMultiply` then says: for i8 it takes fewer layouts than it
    documents. Without another branch that is an error of the call.

    A product with an epilogue that cuBLASLt has, a bias of C's type along n,
    ReLU, GELU by its tanh approximation, or a bias and either, becomes a call of
    `nmCublasTryEpilogue`, which cuBLASLt's own epilogue makes (cuBLAS
    documentation, "cublasLtEpilogue_t"). It stands in a branch; the other one
    runs where the library refuses. `nm-tile-to-gpu-blocks` makes the branches,
    and splits every other epilogue from its product.

    The operand types are f32, f16, bf16 and i8; others have no such product
    and are an error.

    `nm.contract` becomes a call of `nmCublasTryContract`, which takes the
    strides of two loops of batches, of rows and of columns for each operand.
    Loops that are one in the memory of all operands are one loop of the call. An
    operand is copied before where its matrices have neither contiguous rows nor
    contiguous columns, or where it is known to keep batches from being one loop;
    C is copied back then. The `linalg.generic` that `nm.contract` is defined by
    stands in the branch for where the library cannot be loaded or refuses, and
    alone where it is not `available`.

    `nm.attention`, which `nm-decompose-attention` has left in one branch under
    `nm.has_cudnn`, becomes a call of `nmCudnnTryAttention`, and `nm.has_cudnn`
    one of `nmCudnnIsLoaded`. The other branch also runs where cuDNN refuses, and
    alone where an operand's rows do not have contiguous elements. A product of
    strategy `cublas` whose A is `nm.patches`, which `nm-select-gpu-schedule` has
    put in such a branch, becomes a call of `nmCudnnTryConvolve`, which takes the
    sizes of the convolution and the strides of image, filter and output. For a chip with
    wgmma it also runs alone where the kernel of `convert-attention-to-gpu` takes
    no longer: attention of more than 16 rows and at most 2^32 multiply-adds; of
    2 to 16 rows and heads that share keys; and of other few rows with at most
    48 MB of keys and values, of one row 16 MB. A remark says so.

    Before:
    ```mlir
    %loaded = nm.has_cublas
    scf.if %loaded {
      nm.spmm <1:1, block = 1x32> schedule #nm.cublas ins(%a, %v, %i : ...) outs(%c : ...)
    } else {
      nm.spmm <1:1, block = 1x32> schedule #nm.loops ins(%a, %v, %i : ...) outs(%c : ...)
    }
    ```
    After:
    ```mlir
    %code = func.call @nmCublasIsLoaded() : () -> index
    %loaded = arith.cmpi ne, %code, %c0 : index
    %queued = scf.if %loaded -> (index) {
      %done = func.call @nmCublasTryMultiply(%m, %n, %k, %c1, %a_pointer, ...) : ...
      scf.yield %done : index
    } else {
      scf.yield %c0 : index
    }
    %left = arith.cmpi eq, %queued, %c0 : index
    scf.if %left {
      nm.spmm <1:1, block = 1x32> schedule #nm.loops ins(%a, %v, %i : ...) outs(%c : ...)
    }
    ```
  }];
  let options = [
    Option<"available", "available", "bool", /*default=*/"true",
           "call the library; without, nm.has_cublas is false">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect"];
}

def NMStageSharedMemory
    : Pass<"nm-stage-shared-memory", "::mlir::func::FuncOp"> {
  let summary = "copies the operand tiles of GPU products to workgroup memory";
  let description = [{
    Inside an `scf.forall` that is mapped to GPU blocks, the tiles that an
    `nm.spmm` with a GPU schedule reads are copied to buffers in workgroup
    memory, by ops on whole tiles that say how: `nm.copy`, and `nm.load_tile` and
    `nm.store_tile` for what goes through registers. The product works on the
    buffers. They are always whole tiles: what the operands lack at the edges of
    the matrix is zero there, and the sizes of C say what there is to store.

    The weights are copied as they are; with `prefetch = true`, indices stay
    where they are. A goes the way that the schedule says by `copy_a` to a buffer
    in the order `layout_a`; what these do not fit is refused. That buffer is
    m-major, so that a row that an index picks is read with wide loads. A
    row-major A is transposed on the way: through registers, or by way of a
    staging buffer, to which each warp copies fragments of 16 x 32 elements as
    they are, and from which it then moves them to the tile by `ldmatrix`, which
    gives a lane four rows of one column.

    Where units narrower than a warp span four rows, a 16-byte word of a row of A
    has a unit's operands: with `layout_a = row_major` A stays row-major, with
    its words swizzled, and is copied directly.

    Accesses are as wide as strides and sizes allow, 16 bytes at most. Operands
    are taken to be aligned to 16 bytes.

    Packed weights with `col_info`, which `pack = true` asks for, have lists of
    rows. The copy of A takes them from the product: only the rows of A that a
    list names are copied, in its order, so that the product that is left has a
    window of the list's R rows in place of M (or of one, where a tile's columns
    share all units: what is staged is then what is kept).

    Before:
    ```mlir
    nm.spmm <16:32, block = 1x32> packing #nm.packing<panel = 32, index_bits = 8> schedule #nm.simt<...>
      ins(%a, %v, %i : memref<64x32xf32, ...>, memref<4x16x32xf32, ...>, memref<4x16x1xi8, ...>)
      outs(%c : memref<64x128xf32, ...>)
    ```
    After:
    ```mlir
    %as = memref.alloc() : memref<32x64xf32, #nm.tile_layout<[68, 1], order = [[2, 3, 4, 0, 1], []]>, #gpu.address_space<workgroup>>
    %loaded = nm.load_tile <squares> %a transpose : ...
    %vs = memref.alloc() : memref<4x16x32xf32, strided<[32, 128, 1]>, #gpu.address_space<workgroup>>
    %t = nm.copy <direct> %v to %vs : ... -> !nm.token
    %group = nm.group %t
    nm.store_tile %loaded to %as : ...
    nm.await <block> %group
    nm.spmm <16:32, block = 1x32> transpose_a packing #nm.packing<...> schedule #nm.simt<...>
      ins(%as, %vs, %i : ...) outs(%c : memref<64x128xf32, ...>)
    nm.release <block> %as, %vs : ...
    ```
    By way of a staging buffer, A's copies are, for each of its parts,
    ```mlir
    %staging = memref.alloc() : memref<1x4x16x32xf32, #nm.tile_layout<...>, #gpu.address_space<workgroup>>
    %t = nm.copy <direct> %a to %staging part [0, 1] : ... -> !nm.token
    %part = nm.group %t
    ...
    nm.await <warp> %part
    nm.copy <matrices> %staging to %as part [0, 1] : ...
    nm.release <warp> %staging : ...
    ```
    With `col_info`, a copy of an m-major A is
    ```mlir
    %list = memref.subview %l[0, 0, 0] [4, 6, 1] [1, 1, 1] : ...
    %as = memref.alloc() : memref<24x64xf32, strided<[68, 1]>, #gpu.address_space<workgroup>>
    %t = nm.copy <direct> %a to %as rows %list <pattern = <3:32, block = 1x32>,
      packing = <panel = 32, index_bits = 8, col_info = 128>, windows = 2> : ... -> !nm.token
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NMPipelineCopies
    : Pass<"nm-pipeline-copies", "::mlir::func::FuncOp"> {
  let summary = "lets copies to workgroup memory run ahead of their use";
  let description = [{
    With `stages = s` in the schedule, s > 1, the buffers that
    `nm-stage-shared-memory` made in a loop over k become rings of s slots, and
    the copies of a tile are issued s - 1 tiles before it is used: `stages = 2`
    is double buffering. Tokens of copies that are in flight are carried by the
    loop. A tile of A that goes through registers is loaded before, and stored
    after, the product that hides its latency. One that goes by way of a staging
    buffer is copied to it a tile earlier yet: after a product, each warp moves
    the next tile's parts on, and refills each with the tile after that.

    Where the schedule has `producers`, the block's warps get roles instead
    (`nm.warps`): the last ones wait for free slots and copy, and the others wait
    for filled ones, multiply and store, and signal that slots are free. With
    `blocks`, so many blocks take turns at the tiles of C, in a loop that each
    role has.

    Before:
    ```mlir
    scf.for %k = %c0 to %c256 step %c32 {
      %loaded = nm.load_tile <squares> %a transpose : ...
      %t = nm.copy <direct> %v to %vs : ...
      %group = nm.group %t
      nm.store_tile %loaded to %as : ...
      nm.await <block> %group
      nm.spmm ... ins(%as, %vs, %i : ...) outs(%c : ...)
      nm.release <block> %as, %vs : ...
    }
    ```
    After, with two stages:
    ```mlir
    <%group: copies of the tile at 0 to slot 0>
    %last = scf.for %k = %c0 to %c224 step %c32 iter_args(%carried = %group) -> (!nm.token) {
      %loaded = nm.load_tile <squares> <A at %k + 32> transpose : ...
      nm.await <block> %carried
      %t = nm.copy <direct> <weights at %k + 32> to <slot of %k + 32> : ...
      %next = nm.group %t
      nm.spmm ... ins(<slots of %k>) outs(%c : ...)
      nm.store_tile %loaded to <slot of %k + 32> : ...
      scf.yield %next : !nm.token
    }
    nm.await <block> %last
    nm.spmm ... ins(<slots of 224>) outs(%c : ...)
    ```
    With a staging buffer, of one part, the loop's end is
    ```mlir
      nm.await <warp> %carriedPart
      nm.copy <matrices> %staging to <slot of %k + 32> part [0, 1] : ...
      nm.release <warp> %staging : ...
      %p = nm.copy <direct> <A at %k + 64> to %staging part [0, 1] where <there is a tile> : ...
      %nextPart = nm.group %p
      scf.yield %next, %nextPart : !nm.token, !nm.token
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // NM_DIALECT_NM_GPUTRANSFORMS_PASSES_TD
