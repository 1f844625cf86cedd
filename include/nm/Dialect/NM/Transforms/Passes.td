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
    why it stays dense. Weights of which 60 % or more are zero, and whose
    patterns skip less than half of these or keep more than one and a half times
    as many as there are, are unstructured. With `by-bytes` they are from a
    ninth on in f32, a fifth in f16 and bf16, and a third in 8 bits: the others,
    with half a byte for the place of each, then take fewer bytes than dense
    weights.

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
           "weights whose pattern is less sparse than this stay dense, 0 to 1">,
    Option<"byBytes", "by-bytes", "bool", /*default=*/"false",
           "weights are unstructured from as few zeros on as they take fewer "
           "bytes so, for a selection that estimates whether that is faster">
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
    broadcast, and so is a broadcast, as of a bias, that a product is added to which
    nothing follows. Ops after a tensor.expand_shape of the product are fused too,
    and their result is expanded instead.

    The rest stays as it is: an op in another block, one that reduces or
    transposes, or takes a scalar that is not constant, and all where the
    product's result is used by two ops. A product of f32 sums that all which
    take them round to one narrower type rounds them itself, and stores half. Ops that use it twice are to be made
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

def NMMergeProducts : Pass<"nm-merge-products"> {
  let summary = "makes products that share A one product";
  let description = [{
    Products with constant weights that multiply one A become one with the
    weights side by side, along n, and their results slices of its columns: those
    of queries, keys and values, for one. A is read once, few rows are one launch
    in place of several, and many rows have fewer partial waves of blocks.

    Such products agree in pattern, element types, arithmetic and quantization,
    and in their epilogues but for constants along n, as a bias, which are put
    side by side too; products of dense weights may differ in n, which is their
    block. Each n is a multiple of the block's width, and takes a multiple of
    16 bytes of C, so that slices start at what vectors can access.

    A result becomes a slice only where that costs nothing: where linalg ops,
    attention, contractions and epilogues read it, or a tensor.expand_shape of it, or a
    tensor.scatter takes it as its source. A product that the function returns, or that is another's A, stays as it is: it would
    be copied, or keep the other from choosing A's layout.

    Before:
    ```mlir
    %q = nm.spmm <2:4> ins(%a, %v0, %i0 : tensor<?x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>) ...
    %k = nm.spmm <2:4> ins(%a, %v1, %i1 : tensor<?x64xf32>, tensor<32x16xf32>, tensor<32x16xi8>) ...
    ```
    After:
    ```mlir
    %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<?x64xf32>, tensor<32x64xf32>, tensor<32x64xi8>) ...
    %q = tensor.extract_slice %r[0, 0] [%m, 48] [1, 1] : tensor<?x64xf32> to tensor<?x48xf32>
    %k = tensor.extract_slice %r[0, 48] [%m, 16] [1, 1] : tensor<?x64xf32> to tensor<?x16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMFitWindows : Pass<"nm-fit-windows", "ModuleOp"> {
  let summary = "gives unstructured weights an N:M pattern that holds";
  let description = [{
    Kernels of a GPU take N:M patterns. Products of constant unstructured weights
    get one in windows of 32 rows, or, of one row, in those of 32 to 256 that
    take the fewest bytes: N is what a window keeps at most. Where that leaves
    too few zeros out, and of weights that are no constants, of which no more is
    known than how many are kept, they get the pattern `1:1` of dense weights.
    Remarks say what each has become.

    Before:
    ```mlir
    %r = nm.spmm <unstructured, kept = 100>
      ins(%a, %v, %i : tensor<4x64xf16>, tensor<1x100xf16>, tensor<1x128xi8>)
      outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
    ```
    After:
    ```mlir
    %r = nm.spmm <9:32>
      ins(%a, %w, %j : tensor<4x64xf16>, tensor<18x16xf16>, tensor<18x16xi8>)
      outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMSelectSchedule : Pass<"nm-select-schedule"> {
  let summary = "chooses how each product is mapped to the CPU";
  let description = [{
    Every `nm.spmm` and `nm.spmv` gets a schedule from the cost model of
    the CPU. One that it came with is kept, where it fits a CPU, and is an error
    where it does not. Every op gets a record, `#nm.record`, of the
    estimated time beside that of a dense BLAS and the reasons, and a remark
    says it with the schedule. A dynamic m is scheduled for a typical one, which
    the record names.

    Weights that are constant, or arguments that only callers outside the module
    pass, get a packing; others would be packed at each call and stay condensed.

    With `schedule=vector<...>` or `loops` every product that has no schedule gets
    that one, and what is left out of it is chosen.

    Where the dense product is estimated to be faster, the op falls back to it:
    it gets the same weights with the pattern `1:1`, which keeps every one. For
    constants they are computed here; for arguments nm-pack-weights moves the
    format ops to where weights are loaded.

    Products of unstructured weights become products of the weights that are not
    zero, packed as `#nm.columns`, or of dense ones, whichever is estimated to be
    faster.

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
    ListOption<"scheduleTables", "schedule-table", "std::string",
               "files of measured schedules, of which the first that knows a "
               "product answers before the cost model; 'ships' are those that "
               "nm has">,
    Option<"device", "device", "std::string", /*default=*/"\"\"",
           "the processor, as LLVM names it, whose measurements are looked up">,
    Option<"batchInvariant", "batch-invariant", "bool", /*default=*/"false",
           "choose schedules for one number of rows, so that a row's sums do "
           "not depend on how many come with it">,
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

def NMPackWeights : Pass<"nm-pack-weights", "::mlir::ModuleOp"> {
  let summary = "re-lays weights for the schedule that each op carries";
  let description = [{
    The weights of every op whose schedule has a `packing` are brought into
    that packed form by `nm.pack`. On constants it is folded. Weights that come
    from function arguments are packed by a function `@<name>.pack`, which runs
    once when weights are loaded: it takes the condensed (values, indices)
    pairs and returns the packed parts, and `@<name>` takes these in their place
    (marked `nm.packed_values_of`, `nm.packed_indices_of` and, where the form has
    lists of rows, `nm.packed_lists_of`). Ops
    that share weights share the packed form of the first of them, where they
    can read it; those of other schedules have a form of their own, which `@<name>.pack`
    returns behind it. Where a schedule says `pack = true`, the packing gets
    `col_info`, lists of the rows of A that the columns of a block tile use,
    which only tiles of as many columns can read. What an elementwise
    linalg.generic makes of values alone, as one that widens them, is made by
    `@<name>.pack`, too. Quantized weights that a schedule wants dequantized
    are packed as they are, in the order that it wants, and a linalg.generic makes
    weights of them at each call, each in its place: indices are packed once, and
    16-bit weights are never kept. Where weights are computed
    inside the function, nm.pack stays there and runs at each call, which a remark says.

    A is put into the form that the schedule takes, too, at each call: splits by
    `nm.split_floats`, and with `copy_a = bulk` panels of 16 columns (`panels_a` of
    nm.spmm) by a linalg.generic, to which nm-fuse-elementwise fuses what makes A.

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
      %pv, %pi = nm.pack <2:4> #nm.packing<panel = 16, index_bits = 2> ins(%v, %i : ...)
      return %pv, %pi
    }
    func.func @f(%a: ..., %pv: tensor<3x32x16xf32> {nm.packed_values_of = 1 : i64},
                          %pi: tensor<3x32x4xi8> {nm.packed_indices_of = 1 : i64}, ...) {
      %r = nm.spmm <2:4> packing #nm.packing<panel = 16, index_bits = 2> schedule #nm.vector<...>
        ins(%a, %pv, %pi : ...)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::nm::NMDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMTileToBlocks
    : Pass<"nm-tile-to-blocks", "::mlir::func::FuncOp"> {
  let summary = "cuts ops into tiles that CPU threads make";
  let description = [{
    An nm op with a schedule for a CPU, whose `block` tile is [m, n, k], becomes
    an `scf.forall` over tiles of C, [m, n]. Tiles start at whole panels and
    windows; `block` sizes are rounded up to that. k stays whole: the strategy
    walks it in cache-sized steps of its own.

    With `min-task-elements`, linalg ops on tensors with at least that many
    elements and a parallel first dimension are cut along it too, so that
    element-wise neighbours of the products use all threads.
    Where one slides windows along rows, as a depthwise convolution or pooling
    does, its tile's loop along a row goes between the last two, which are over
    taps: the last is unrolled, and vectors are made of the row.
    Where windows are combined and one op, element by element, alone uses the
    result, that op is cut, and a task pads and combines what it takes itself.

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
                           "::mlir::nm::NMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMCheckEncodings : Pass<"nm-check-encodings"> {
  let summary = "refuses tensor encodings that bufferization would drop";
  let description = [{
    Upstream bufferization turns a tensor with any encoding into a dense memref
    without a word. This pass, which stands before it, makes an encoded type
    that is left an error at the op that has it; as it does of an op on tensors
    that bufferization does not know.

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

#endif // NM_DIALECT_NM_TRANSFORMS_PASSES_TD
