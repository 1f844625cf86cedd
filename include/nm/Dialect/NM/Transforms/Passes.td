//===- Passes.td - Passes on the nm dialect ----------------*- tablegen -*-===//
//
// In pipeline order.
//
//===----------------------------------------------------------------------===//

#ifndef NM_DIALECT_NM_TRANSFORMS_PASSES_TD
#define NM_DIALECT_NM_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def NMDetectWeights : Pass<"nm-detect-weights"> {
  let summary = "finds constant weights that obey an N:M pattern";
  let description = [{
    A dense or dense_resource constant that is the weight of a linalg
    contraction (a matrix with one reduced dimension and one that the output
    has, beside activations that are not constant) and obeys an N:M pattern gets
    an `#nm.encoding` with the sparsest pattern that holds; of equally sparse
    ones, that with the coarsest block. A constant that reaches the contraction
    through linalg.transpose is transposed here. Other uses of the constant keep
    the plain one. A remark for every weight says which pattern was found, or
    why it stays dense.

    Before:
    ```mlir
    %w = arith.constant dense<[[1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.0, 4.0]]>
      : tensor<4x2xf32>
    %r = linalg.matmul ins(%a, %w : tensor<?x4xf32>, tensor<4x2xf32>)
      outs(%c : tensor<?x2xf32>) -> tensor<?x2xf32>
    ```
    After:
    ```mlir
    %w = arith.constant dense<...> : tensor<4x2xf32, #nm.encoding<2:4>>
    %r = linalg.matmul
      ins(%a, %w : tensor<?x4xf32>, tensor<4x2xf32, #nm.encoding<2:4>>)
      outs(%c : tensor<?x2xf32>) -> tensor<?x2xf32>
    ```
  }];
  let options = [
    Option<"minSparsity", "min-sparsity", "double", /*default=*/"0",
           "weights whose pattern is less sparse than this stay dense, 0 to 1">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::nm::NMDialect"];
}

def NMMaterializeStorage
    : Pass<"nm-materialize-storage", "::mlir::ModuleOp"> {
  let summary = "replaces encoded tensors by their condensed parts";
  let description = [{
    Constants with an `#nm.encoding` are folded to condensed form; one that
    breaks its pattern is an error that names the column, the k range and the
    count. Function arguments and results with an encoding become their values
    and indices, at definitions, calls and returns; each part of an argument
    carries `nm.values_of` or `nm.indices_of`, the position that the encoded
    argument had. No encoded type is left.

    Before:
    ```mlir
    func.func @f(%a: tensor<5x64xf32>, %w: tensor<64x48xf32, #nm.encoding<2:4>>, ...) {
      %v, %i = nm.disassemble %w : ...
    ```
    After:
    ```mlir
    func.func @f(%a: tensor<5x64xf32>,
                 %v: tensor<32x48xf32> {nm.values_of = 1 : i64},
                 %i: tensor<32x48xi8> {nm.indices_of = 1 : i64}, ...) {
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::nm::NMDialect"];
}

def NMFuseEpilogue : Pass<"nm-fuse-epilogue"> {
  let summary = "takes what follows a product into its epilogue";
  let description = [{
    A linalg op that takes a product's only result, element by element, becomes
    the product's epilogue, or the end of it: bias, scales, activations,
    residuals, and the conversion to the type of the result, which C then has.
    What the sums were added to becomes an operand of the epilogue, unless it
    was zero. An operand that linalg.broadcast makes is taken before it is
    broadcast. Ops after a tensor.expand_shape of the product are fused too,
    and their result is expanded instead.

    The rest stays as it is: an op in another block, one that reduces or
    transposes, or takes a scalar that is not constant, and all where the
    product's result is used by two ops. Ops that use it twice are to be made
    one first, as linalg-fuse-elementwise-ops does.

    Before:
    ```mlir
    %r = nm.spmm <2:4>
      ins(%a, %v, %i : tensor<?x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
      outs(%zeros : tensor<?x48xf32>) -> tensor<?x48xf32>
    %y = linalg.generic ... ins(%r, %bias : tensor<?x48xf32>, tensor<48xf32>)
      outs(%e : tensor<?x48xf32>) {
    ^bb0(%sum: f32, %b: f32, %out: f32):
      %biased = arith.addf %sum, %b : f32
      linalg.yield %biased : f32
    } -> tensor<?x48xf32>
    ```
    After:
    ```mlir
    %y = nm.spmm <2:4>
      ins(%a, %v, %i : tensor<?x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
      outs(%e : tensor<?x48xf32>) -> tensor<?x48xf32>
      epilogue ins(%bias : tensor<48xf32>) maps [affine_map<(m, n) -> (n)>] {
      ^bb0(%sum: f32, %b: f32):
        %biased = arith.addf %sum, %b : f32
        nm.yield %biased : f32
      }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMSelectSchedule : Pass<"nm-select-schedule"> {
  let summary = "chooses how each product is mapped to the CPU";
  let description = [{
    Every `nm.spmm` and `nm.spmv` gets a schedule from the cost model of
    the CPU. One that it came with is kept, where it fits a CPU, and is an error
    where it does not. A remark for every op gives the strategy, the
    estimated time beside that of a dense BLAS, the schedule and the reasons. A
    dynamic m is scheduled for a typical one, which the remark names.

    Weights that are constant, or arguments that only callers outside the module
    pass, get a packing; others would be packed at each call and stay condensed.

    With `schedule=vector<...>` or `loops` every product that has no schedule gets
    that one, and what is left out of it is chosen.

    Where the dense product is estimated to be faster, the op falls back to it:
    it gets the same weights with the pattern `1:1`, which keeps every one. For
    constants they are computed here; for arguments nm-pack-weights moves the
    format ops to where weights are loaded.

    Operands are f32, f16, bf16 or i8. The strategy is `vector`, or `loops` where
    it is asked for or where k or n is dynamic. With m of at least
    a vector's lanes, vectors run along m, else along n.

    Before:
    ```mlir
    %r = nm.spmm <2:4>
      ins(%a, %v, %i : tensor<256x64xf32>, tensor<32x96xf32>, tensor<32x96xi8>)
      outs(%c : tensor<256x96xf32>) -> tensor<256x96xf32>
    ```
    After:
    ```mlir
    %r = nm.spmm <2:4>
      schedule #nm.vector<block = [256, 48, 128], thread = [64, 4],
                packing = <panel = 4, index_bits = 8>>
      ins(%a, %v, %i : ...) outs(%c : ...) -> tensor<256x96xf32>
    ```
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", /*default=*/"\"\"",
           "the schedule of every product that has none, as in "
           "'vector<thread = [16, 8]>': the cost model chooses what is left "
           "out">,
    Option<"threads", "threads", "int64_t", /*default=*/"0",
           "threads to schedule for; 0 takes as many as this process may run">,
    Option<"features", "features", "std::string", /*default=*/"\"\"",
           "processor features to schedule for, as LLVM names them, separated "
           "by commas; empty takes the host's">,
    Option<"denseFallback", "dense-fallback", "bool", /*default=*/"true",
           "fall back to dense weights where they are estimated to be faster">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMAttachChip : Pass<"nm-attach-chip", "::mlir::ModuleOp"> {
  let summary = "names the GPU that a module is compiled for";
  let description = [{
    The module gets the attribute `nm.chip`, which the passes for GPUs read. A
    chip that is not known is an error that names those that are.

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
           "attribute away">
  ];
  let dependentDialects = ["::mlir::nm::NMDialect"];
}

def NMSelectGpuSchedule : Pass<"nm-select-gpu-schedule"> {
  let summary = "chooses how each product is mapped to a GPU";
  let description = [{
    Every product gets a schedule from the cost models of the module's chip: `#nm.simt`
    or `#nm.gemv`, which takes `nm.spmv` and types other than f32
    too, whichever is faster by estimate. One that it came with is kept; one of
    strategy `vector` is an error. A remark for every op gives the estimated time
    beside the two floors, the chip's multipliers and its memory, and the
    schedule. A dynamic m is scheduled for a typical one, which the remark names.

    With `schedule=simt<...>` every product that has no schedule gets that one:
    what it leaves out is chosen, of that strategy. `pack = true` stages only
    the rows of A that a block's columns use, and is an error where none would
    be left out.

    A product that no strategy has is expanded by `loops`, one thread for each
    element of C, and a warning says why; where `schedule` is of a strategy that
    cannot take it, that is an error.

    Where cuBLAS is estimated to be faster with dense weights, these take the
    sparse ones' place and the strategy is `cublas`, with the tiles of our own
    product for machines without the library. The remark says so, and why.

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
           "faster, or has the only product of these types">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMPackWeights : Pass<"nm-pack-weights", "::mlir::ModuleOp"> {
  let summary = "re-lays weights for the schedule that each op carries";
  let description = [{
    The weights of every op whose schedule has a `packing` are brought into
    that packed form by `nm.pack`. On constants it is folded. Weights that come
    from function arguments are packed by a function `@<name>.pack`, which runs
    once when weights are loaded: it takes the condensed (values, indices)
    pairs and returns the packed ones, and `@<name>` takes the packed ones in
    their place (marked `nm.packed_values_of` and `nm.packed_indices_of`). Ops
    that share weights share the packed form of the first of them, where they
    can read it. Where a schedule says `pack = true`, the packing gets
    `col_info`, lists of the rows of A that the columns of a block tile use,
    which only tiles of as many columns can read. Where weights are computed
    inside the function, or wanted in several forms, nm.pack stays there and runs
    at each call, which a remark says.

    Before:
    ```mlir
    func.func @f(%a: ..., %v: tensor<32x48xf32> {nm.values_of = 1 : i64},
                          %i: tensor<32x48xi8> {nm.indices_of = 1 : i64}, ...) {
      %r = nm.spmm <2:4> schedule #nm.vector<packing = <panel = 16, index_bits = 2>>
        ins(%a, %v, %i : ...)
    ```
    After:
    ```mlir
    func.func @f.pack(%v: tensor<32x48xf32>, %i: tensor<32x48xi8>)
        -> (tensor<3x32x16xf32>, tensor<3x32x4xi8>) attributes {nm.host} {
      %pv, %pi = nm.pack <2:4> <panel = 16, index_bits = 2> ins(%v, %i : ...)
      return %pv, %pi
    }
    func.func @f(%a: ..., %pv: tensor<3x32x16xf32> {nm.packed_values_of = 1 : i64},
                          %pi: tensor<3x32x4xi8> {nm.packed_indices_of = 1 : i64}, ...) {
      %r = nm.spmm <2:4> packing <panel = 16, index_bits = 2> schedule #nm.vector<...>
        ins(%a, %pv, %pi : ...)
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMTileToBlocks
    : Pass<"nm-tile-to-blocks", "::mlir::func::FuncOp"> {
  let summary = "cuts ops into tiles that blocks or CPU threads make";
  let description = [{
    An nm op whose schedule has a `block` tile [m, n, k] becomes an
    `scf.forall` over tiles of C, [m, n]. Tiles start at whole panels and
    windows; `block` sizes are rounded up to that. On the CPU k stays whole: the
    strategy walks it in cache-sized steps of its own.

    On a GPU the loops are mapped to `#gpu.block`, n fastest, and an `scf.for`
    over k by whole windows stands inside, whose tile is what the block stages
    in shared memory. A `linalg.fill` of the output is made tile by tile. With
    `split_k` of s, k is cut into at most s parts of whole tiles: blocks sum
    each of them into a tensor of partial sums, and a second `scf.forall` adds
    these to C, always in the same order, and rounds once. With `cluster_k` of
    c, the parts are the fastest of the loops, and every c of them are the
    blocks of one cluster: they insert into one tile, for which
    `convert-nm-to-gpu` adds up what they have. Where c = s, that is a tile of
    C, and there are no partial sums.

    A product of strategy `cublas` is made twice, in the branches of
    `scf.if %loaded`, where `%loaded = nm.has_cublas`: as one call, and as our
    own, by the schedule that `#nm.cublas` has for it: where that is `#nm.simt`,
    operands that are narrower floats are widened to f32.

    With `min-task-elements`, linalg ops on tensors with at least that many
    elements and a parallel first dimension are cut along it too, so that
    element-wise neighbours of the products use all threads.

    Before:
    ```mlir
    %r = nm.spmm <2:4> schedule #nm.vector<block = [64, 32, 64]>
      ins(%a, %v, %i : tensor<128x64xf32>, tensor<32x96xf32>, tensor<32x96xi8>)
      outs(%c : tensor<128x96xf32>) -> tensor<128x96xf32>
    ```
    After:
    ```mlir
    %r = scf.forall (%m, %n) = (0, 0) to (128, 96) step (64, 32)
        shared_outs(%out = %c) -> (tensor<128x96xf32>) {
      %at = tensor.extract_slice %a[%m, 0] [64, 64] [1, 1] : ...
      ...
      %t = nm.spmm <2:4> schedule #nm.vector<...> ins(%at, %vt, %it : ...) outs(%ct : ...)
      scf.forall.in_parallel { tensor.parallel_insert_slice %t into %out... }
    }
    ```
  }];
  let options = [
    Option<"minTaskElements", "min-task-elements", "int64_t",
           /*default=*/"0",
           "elements of a task that linalg ops are cut into; 0 leaves them">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::gpu::GPUDialect",
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
    fill of C with zeros right before it goes. `nm.has_cublas` becomes a call of
    `nmCublasIsLoaded`, which loads the library at first.

    Where the product is the one branch under `nm.has_cublas`, the other branch
    also runs where cuBLAS refuses the product, which the runtime's
    `nmCublasTryMultiply` then says: for i8 it takes fewer layouts than it
    documents. Without another branch that is an error of the call.

    The operand types are f32, f16, bf16 and i8; others have no such product
    and are an error.

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

def NMCheckEncodings : Pass<"nm-check-encodings"> {
  let summary = "refuses tensor encodings that bufferization would drop";
  let description = [{
    Upstream bufferization turns a tensor with any encoding into a dense memref
    without a word. This pass, which stands before it, makes an encoded type
    that is left an error at the op that has it.

    Refused:
    ```mlir
    %r = tensor.cast %w : tensor<64x48xf32, #nm.encoding<2:4>> to tensor<64x48xf32>
    ```
  }];
}

def NMProtectArguments
    : Pass<"nm-protect-arguments", "::mlir::func::FuncOp"> {
  let summary = "marks the arguments of public functions as read-only";
  let description = [{
    Callers pass their own memory, so bufferization must copy rather than write
    to an argument: every tensor argument of a public function gets
    `bufferization.writable = false`.

    Before:
    ```mlir
    func.func @f(%a: tensor<4xf32>, %n: index) {
    ```
    After:
    ```mlir
    func.func @f(%a: tensor<4xf32> {bufferization.writable = false}, %n: index) {
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
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

    The weights are copied as they are. A's buffer is k-major, so that a row that
    an index picks is read with wide loads. A row-major A is transposed on the
    way: through registers, or by way of a staging buffer where the tile gains
    from that and memory suffices (see nm/Schedule/SimtPassage.h): each warp
    copies pieces of 16 x 32 elements there as they are, and then moves them to
    the tile by `ldmatrix`, which gives a lane four rows of one column. Rows of A
    are interleaved where threads transpose squares (`#nm.tile_layout`).

    Where units narrower than a warp span four rows, a 16-byte word of a row of A
    has a unit's operands: if rows of A start at multiples of 128 bytes, A stays
    row-major, with its words swizzled, and is copied directly.

    Accesses are as wide as strides and sizes allow, 16 bytes at most. Operands
    are taken to be aligned to 16 bytes.

    Of packed weights with `col_info`, which `pack = true` asks for, the lists
    that follow the tile's indices are split off. Only the rows of A that a list
    names are copied, in its order, so that the product that is left has a window
    of the list's R rows in place of M (or of one, where a tile's columns share
    all units: what is staged is then what is kept).

    Before:
    ```mlir
    nm.spmm <16:32, block = 1x32> packing <panel = 32, index_bits = 8> schedule #nm.simt<...>
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
    nm.spmm <16:32, block = 1x32> transpose_a packing <...> schedule #nm.simt<...>
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
    With `col_info`, a copy of a k-major A is
    ```mlir
    %list = memref.subview %i[4, 0, 0] [4, 6, 1] [1, 1, 1] : ...
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
    is double buffering. Tokens of copies that are under way are carried by the
    loop. A tile of A that goes through registers is loaded before, and stored
    after, the product that hides its latency. One that goes by way of a staging
    buffer is copied to it a tile earlier yet: after a product, each warp moves
    the next tile's parts on, and refills each with the tile after that.

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

#endif // NM_DIALECT_NM_TRANSFORMS_PASSES_TD
