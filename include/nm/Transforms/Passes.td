//===- Passes.td - Passes on upstream's dialects -----------*- tablegen -*-===//
//
// In pipeline order. They prepare bufferized IR for upstream's conversions to
// LLVM, where those would call libraries that a compiled module does not need
// otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef NM_TRANSFORMS_PASSES_TD
#define NM_TRANSFORMS_PASSES_TD

include "nm/Transforms/CheckPasses.td"

def NMKeepOutputs : Pass<"nm-keep-outputs"> {
  let summary = "has linalg ops that write a part of an output keep the rest";
  let description = [{
    Elements of an output that a linalg op does not write stay what they were.
    Upstream takes an output that the body does not read for one that is written
    whole: its fusion puts a `tensor.empty` in the output's place,
    bufferization makes no copy of it, and an op that yields its input under equal
    maps is taken for a copy. So an op that writes a slice of its output gets that
    slice, and the result is inserted in its place; bodies of ops that write
    other parts, as a diagonal, or whose reductions may have no iterations, read
    the output.

    Before:
    ```mlir
    %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0 * 2)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%y : tensor<16xf32>) { <yields %x's> } -> tensor<16xf32>
    ```
    After:
    ```mlir
    %s = tensor.extract_slice %y[0] [8] [2] : tensor<16xf32> to tensor<8xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%s : tensor<8xf32>) { <yields %x's> } -> tensor<8xf32>
    %r = tensor.insert_slice %p into %y[0] [8] [2] : tensor<8xf32> into tensor<16xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def NMDecomposeLinalg : Pass<"nm-decompose-linalg"> {
  let summary = "linalg ops that are several loops to one op for each";
  let description = [{
    Ops such as `linalg.softmax`, which upstream's conversion to loops does not
    take, become the structured ops that they stand for.

    Before:
    ```mlir
    linalg.softmax dimension(1) ins(%x : tensor<2x4xf32>) outs(%y : tensor<2x4xf32>)
    ```
    After: a maximum, an exponential of the difference, a sum and a quotient, as
    `linalg.generic` ops.

    `linalg.reduce` and `linalg.map` become the `linalg.generic` that they stand for,
    which can be fused; `linalg.broadcast` stays, for `nm-fuse-epilogue`. `linalg.pack`
    becomes a pad, a reshape, a transposition, `unpack` the reverse.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMWidenSums : Pass<"nm-widen-sums"> {
  let summary = "sums of products of narrow floats in f32, rounded once";
  let description = [{
    A linalg op that sums products, as contractions and convolutions do, in a
    float type narrower than f32 sums in f32 instead, of products in f32, and
    the result is rounded once, as that of an nm product is. Sums without a
    product, as those of `linalg.reduce` and of poolings, stay as they are
    written. Each op that was changed is named in a remark, as is each whose
    body does more with its sum than to add to it, which stays as it is.

    Before:
    ```mlir
    linalg.dot ins(%a, %b : tensor<64xf16>, tensor<64xf16>) outs(%c : tensor<f16>)
    ```
    After: `arith.extf` of %c, a `linalg.generic` that sums in f32, `arith.truncf`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMFuseElementwise : Pass<"nm-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "elementwise ops to one, and reshapes past them";
  let description = [{
    Does what upstream's `linalg-fuse-elementwise-ops` does, but leaves a reshape
    in front of an op that makes the A of a product, as one that widens it: behind
    the op, memory of the reshaped rows could not be padded, which
    `nm-select-gpu-schedule` counts on. So does %x, with %w in rows of 448:

    ```mlir
    %x = tensor.collapse_shape %a [[0, 1], [2]] : tensor<3x145x64xi8> into tensor<435x64xi8>
    %w = linalg.generic {...} ins(%x : tensor<435x64xi8>) outs(%e : tensor<64x435xf16>)
    %r = nm.spmm <8:32, block = 1x64> transpose_a ins(%w, ...)
    ```

    With `before-epilogues` reshapes move as upstream has it; an op that sums leaves
    to a product the elementwise ops behind it, which may become its epilogue.
  }];
  let options = [Option<"beforeEpilogues", "before-epilogues", "bool",
                        /*default=*/"false", "leave to products what sums read">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NMNormalizeSlices : Pass<"nm-normalize-slices", "::mlir::func::FuncOp"> {
  let summary = "gives dimensions of one element in slices a stride of one";
  let description = [{
    From one element to the next that is not there any stride does. In memrefs it
    is a part of the type, by which upstream's `memref.subview` finds the
    dimensions that a slice of lower rank drops; with others than that of the
    source, `expand-strided-metadata` does not find them, and crashes. Where such
    a slice could drop other dimensions than it does and strides are not known,
    it keeps all of them, and a reshape drops them.

    Before:
    ```mlir
    %s = tensor.extract_slice %a[1, 2, 0] [1, 1, 3] [2, 2, 2] : tensor<2x3x6xf32> to tensor<1x3xf32>
    ```
    After:
    ```mlir
    %t = tensor.extract_slice %a[1, 2, 0] [1, 1, 3] [1, 1, 2] : tensor<2x3x6xf32> to tensor<1x1x3xf32>
    %s = tensor.collapse_shape %t [[0, 1], [2]] : tensor<1x1x3xf32> into tensor<1x3xf32>
    ```
  }];
}

def NMSeparateEmpties : Pass<"nm-separate-empties", "::mlir::func::FuncOp"> {
  let summary = "an empty tensor of its own for each op that takes one";
  let description = [{
    What CSE made one `tensor.empty` becomes as many as ops use it, and a
    `linalg.fill` of one that several ops write to as many as these. Upstream's
    analysis of what is computed in place compares all ops that use one tensor
    with each other, which takes a time that grows as the square of their number.

    Before:
    ```mlir
    %e = tensor.empty() : tensor<4xf32>
    %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %b = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    ```
    After:
    ```mlir
    %e = tensor.empty() : tensor<4xf32>
    %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %f = tensor.empty() : tensor<4xf32>
    %b = linalg.exp ins(%a : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

def NMOrderConstants : Pass<"nm-order-constants", "::mlir::ModuleOp"> {
  let summary = "the constants of bufferization in the order of their first use";
  let description = [{
    Bufferization takes functions in the order of their addresses in memory, which
    is another in each process, and makes a global of each constant on the way.
    This pass names and places those globals as if functions had been taken in
    their own order, so that equal modules become equal code.

    Before:
    ```mlir
    memref.global "private" constant @__constant_2xf32 : memref<2xf32> = dense<[3.0, 4.0]>
    memref.global "private" constant @__constant_2xf32_0 : memref<2xf32> = dense<[1.0, 2.0]>
    func.func @f() -> memref<2xf32> { <returns @__constant_2xf32_0> }
    func.func @g() -> memref<2xf32> { <returns @__constant_2xf32> }
    ```
    After:
    ```mlir
    memref.global "private" constant @__constant_2xf32_0 : memref<2xf32> = dense<[3.0, 4.0]>
    memref.global "private" constant @__constant_2xf32 : memref<2xf32> = dense<[1.0, 2.0]>
    func.func @f() -> memref<2xf32> { <returns @__constant_2xf32> }
    func.func @g() -> memref<2xf32> { <returns @__constant_2xf32_0> }
    ```
  }];
}

def NMMergeBranchBuffers : Pass<"nm-merge-branch-buffers", "::mlir::func::FuncOp"> {
  let summary = "one buffer for what either branch of an scf.if allocates";
  let description = [{
    Where both branches yield an allocation of the same type and sizes, it is made
    once, before them, and no longer yielded. A result of the function is then
    computed in the caller's memory, for `buffer-results-to-out-params` knows only
    allocations, and a branch may be given up for the other.

    Before:
    ```mlir
    %r = scf.if %condition -> (memref<4xf32>) {
      %a = memref.alloc() : memref<4xf32>
      linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
      scf.yield %a : memref<4xf32>
    } else {
      %b = memref.alloc() : memref<4xf32>
      linalg.fill ins(%one : f32) outs(%b : memref<4xf32>)
      scf.yield %b : memref<4xf32>
    }
    ```
    After, with the result unused:
    ```mlir
    %a = memref.alloc() : memref<4xf32>
    %r = scf.if %condition -> (memref<4xf32>) {
      linalg.fill ins(%zero : f32) outs(%a : memref<4xf32>)
      scf.yield %a : memref<4xf32>
    } else {
      linalg.fill ins(%one : f32) outs(%a : memref<4xf32>)
      scf.yield %a : memref<4xf32>
    }
    ```
  }];
}

def NMSeparateResults : Pass<"nm-separate-results", "::mlir::func::FuncOp"> {
  let summary = "memory of its own for each result of a function";
  let description = [{
    A memref that a function returns more than once is copied for every time but
    the first. `buffer-results-to-out-params` makes an argument of each result,
    and takes it for granted that they differ. It also wants allocations: one that
    is returned in more or fewer dimensions than it has is allocated with these.

    Before:
    ```mlir
    return %a, %a : memref<4xf32>, memref<4xf32>
    ```
    After:
    ```mlir
    %copy = memref.alloc() : memref<4xf32>
    memref.copy %a, %copy : memref<4xf32> to memref<4xf32>
    return %a, %copy : memref<4xf32>, memref<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def NMOutlineEqual : Pass<"nm-outline-equal", "::mlir::ModuleOp"> {
  let summary = "ops that are equal but for their operands to one function";
  let description = [{
    Of the `scf.forall`, linalg and nm ops on memrefs, those that differ in
    nothing but the values from outside become calls of one function, so that
    all passes that follow, and LLVM, have as much work as there are different
    ones. Constants from outside are a part of the function; all else, weights
    among it, is passed.

    Before:
    ```mlir
    linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
    linalg.exp ins(%y : memref<4xf32>) outs(%z : memref<4xf32>)
    ```
    After:
    ```mlir
    call @f.equal(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
    call @f.equal(%y, %z) : (memref<4xf32>, memref<4xf32>) -> ()

    func.func private @f.equal(%x: memref<4xf32>, %y: memref<4xf32>) {
      linalg.exp ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
      return
    }
    ```
  }];
  let options = [
    Option<"hostOnly", "host-only", "bool", /*default=*/"false",
           "Leaves functions as they are that are not of the host alone, as "
           "those that pack weights are">,
    Option<"launches", "launches", "bool", /*default=*/"false",
           "Takes `gpu.launch` instead, of memrefs whose sizes are known; "
           "`nm-inline-launches` puts the functions back once kernels are "
           "outlined">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def NMInlineLaunches : Pass<"nm-inline-launches", "::mlir::ModuleOp"> {
  let summary = "calls of private functions that launch a kernel to launches";
  let description = [{
    A call of a private function of one block that has a `gpu.launch_func`
    becomes the ops of the function, at the location of the call: functions that
    programs call have all launches themselves, which streams are passed to and
    times are taken of. The kernel stays one.

    Before:
    ```mlir
    call @f.equal(%x) : (memref<4xf32>) -> ()
    call @f.equal(%y) : (memref<4xf32>) -> ()

    func.func private @f.equal(%x: memref<4xf32>) {
      gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1) args(%x : memref<4xf32>)
      return
    }
    ```
    After:
    ```mlir
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1) args(%x : memref<4xf32>)
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1) args(%y : memref<4xf32>)
    ```
  }];
}

def NMExportFunctions : Pass<"nm-export-functions", "::mlir::func::FuncOp"> {
  let summary = "gives public functions a C interface";
  let description = [{
    A public function with a body gets `llvm.emit_c_interface`, from which
    `convert-func-to-llvm` makes a `_mlir_ciface_` function that takes pointers
    to memref descriptors. The marks on arguments that nm's own passes have left
    for each other are removed.

    Before:
    ```mlir
    func.func @f(%a: memref<4xf32> {nm.values_of = 0 : i64}) {
    ```
    After:
    ```mlir
    func.func @f(%a: memref<4xf32>) attributes {llvm.emit_c_interface} {
    ```
  }];
}

def NMExpandCopies : Pass<"nm-expand-copies"> {
  let summary = "strided memref.copy to linalg.copy";
  let description = [{
    `memref.copy` between memrefs that are not both row-major lowers to a call
    of MLIR's runner library. This pass makes it a `linalg.copy`, which lowers to
    loops.

    Before:
    ```mlir
    memref.copy %a, %b : memref<4x8xf32, strided<[16, 1]>> to memref<4x8xf32>
    ```
    After:
    ```mlir
    linalg.copy ins(%a : memref<4x8xf32, strided<[16, 1]>>)
                outs(%b : memref<4x8xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def NMEncodeTensorMaps : Pass<"nm-encode-tensor-maps", "::mlir::ModuleOp"> {
  let summary = "tensor maps to calls of the driver";
  let description = [{
    For each `nm.tensor_map` the host calls `encoder`, which takes what the
    driver's `cuTensorMapEncodeTiled` does, or of pixels `pixel-encoder`, as
    `cuTensorMapEncodeIm2col`: at each launch, for addresses and sizes differ.

    Before:
    ```mlir
    %map = nm.tensor_map %a box [256, 64] swizzled : memref<?x4096xf16> -> vector<16xi64>
    ```
    After:
    ```mlir
    %0 = llvm.call @nmEncodeTensorMap(%bytes, ...)
    %map = llvm.load %bytes {alignment = 64 : i64} : !llvm.ptr -> vector<16xi64>
    ```
  }];
  let options = [
    Option<"encoder", "encoder", "std::string", "\"nmEncodeTensorMap\"",
           "The function that encodes a map, of the runtime or the simulator">,
    Option<"pixelEncoder", "pixel-encoder", "std::string",
           "\"nmEncodePixelMap\"", "The one that encodes a map of pixels">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def NMPassTensorMaps : Pass<"nm-pass-tensor-maps", "::mlir::ModuleOp"> {
  let summary = "tensor maps in the parameters of kernels";
  let description = [{
    Launches pass the 128 bytes of a tensor map by value, so that one that is
    captured in a graph keeps its own. Tensor copies take the address of a map:
    kernels, at the NVVM level, have it of a parameter by `byval`, and without a
    copy of the parameter only by `grid_constant`.

    Before:
    ```mlir
    llvm.func @kernel(%map: vector<16xi64>) attributes {nvvm.kernel} {
      %p = nm.tensor_map_address %map : vector<16xi64> -> !llvm.ptr
    ```
    After:
    ```mlir
    llvm.func @kernel(%p: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<16 x i64>, nvvm.grid_constant}) attributes {nvvm.kernel} {
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def NMExpandReshapes : Pass<"nm-expand-reshapes"> {
  let summary = "memref.expand_shape into several dimensions of unknown size";
  let description = [{
    `memref.expand_shape` that makes several dimensions of unknown size out of
    one becomes `memref.reinterpret_cast`. `expand-strided-metadata`, which does
    that for all others, takes the one unknown size of a group from the source,
    and crashes where there are two.

    Before:
    ```mlir
    %r = memref.expand_shape %m [[0, 1], [2]] output_shape [%a, %b, 48]
      : memref<?x48xf32> into memref<?x?x48xf32>
    ```
    After:
    ```mlir
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %m
      : memref<?x48xf32> -> memref<f32>, index, index, index, index, index
    %stride = affine.apply affine_map<()[s0] -> (s0 * 48)>()[%b]
    %r = memref.reinterpret_cast %base to offset: [0], sizes: [%a, %b, 48], strides: [%stride, 48, 1]
      : memref<f32> to memref<?x?x48xf32>
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def NMPadRows : Pass<"nm-pad-rows", "::mlir::func::FuncOp"> {
  let summary = "rows of temporaries start at multiples of 16 or 128 bytes";
  let description = [{
    Tensor cores' operands, and what transposes for them, are copied by 16
    bytes, which must start at a multiple of 16; rows of an A start at multiples
    of more elements where the schedules of products that read it say so by
    `pad_a`, as selection makes them for an m-major A, of which many copies stand
    side by side: then with a line of 128 bytes. Rows of a temporary with 16-bit elements and another number of columns, or
    an unknown one, are allocated with as many more as that takes; what uses the
    temporary gets a view of them without these. Where the number is not known,
    the memory has a dimension of its own of 8 or 64 elements, which says that
    strides are multiples of it. Where a product's A is a view with one dimension
    for several, as sequences and their tokens are, rows have all of these.

    A temporary that is passed on (to a function, or from a loop), or reshaped in
    a way that padding would not allow, stays as it is, and so does one of rows of
    one element that no product takes.

    Before:
    ```mlir
    %t = memref.alloc() : memref<64x77xf16>
    linalg.transpose ins(%a : memref<77x64xf16>) outs(%t : memref<64x77xf16>) permutation = [1, 0]
    %u = memref.alloc(%m) : memref<64x?xf16>
    ```
    After:
    ```mlir
    %rows = memref.alloc() : memref<64x80xf16>
    %t = memref.subview %rows[0, 0] [64, 77] [1, 1] : memref<64x80xf16> to memref<64x77xf16, strided<[80, 1]>>
    linalg.transpose ins(%a : memref<77x64xf16>) outs(%t : memref<64x77xf16, strided<[80, 1]>>) permutation = [1, 0]
    %chunks = memref.alloc(<%m / 8>) : memref<64x?x8xf16>
    %more = memref.collapse_shape %chunks [[0], [1, 2]] : memref<64x?x8xf16> into memref<64x?xf16>
    %u = memref.subview %more[0, 0] [64, %m] [1, 1] : memref<64x?xf16> to memref<64x?xf16, strided<[?, 1]>>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def NMAlignOperands : Pass<"nm-align-operands", "::mlir::func::FuncOp"> {
  let summary = "operands of GPU blocks at odd offsets to memory of their own";
  let description = [{
    Threads access 16 bytes at once, which must start at a multiple of 16. A
    memref from outside of an `scf.forall` that is mapped to GPU blocks whose
    offset is no such multiple, as far as the views say that it is of, is copied
    to new memory before the loop and, where the loop writes it, back after it.
    So is an A or C whose rows are not contiguous, or do not start at multiples
    of the bytes that copies of its product's schedule take: 4, or 16 for tensor
    copies and `store_buffers`. Rows of the copy are padded where these need it.

    Before:
    ```mlir
    %a = memref.subview %x[0, 1] [40, 64] [1, 1] : memref<40x100xf32> to memref<40x64xf32, strided<[100, 1], offset: 1>>
    scf.forall (%m) = (0) to (40) step (8) { <reads %a> } {mapping = [#gpu.block<linear_dim_0>]}
    ```
    After:
    ```mlir
    %a = memref.subview %x[0, 1] [40, 64] [1, 1] : memref<40x100xf32> to memref<40x64xf32, strided<[100, 1], offset: 1>>
    %copy = memref.alloc() : memref<40x64xf32>
    memref.copy %a, %copy
    scf.forall (%m) = (0) to (40) step (8) { <reads %copy> } {mapping = [#gpu.block<linear_dim_0>]}
    memref.dealloc %copy
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "memref::MemRefDialect"];
}

def NMSinkConstants : Pass<"nm-sink-constants", "::mlir::func::FuncOp"> {
  let summary = "constants into the launches that use them";
  let description = [{
    Each `gpu.launch` gets constants of its own. Upstream's
    `gpu-launch-sink-index-computations` does that as well, but looks at all uses
    in the function of each constant that a launch has, which takes a time that
    grows as the square of the launches.

    Before:
    ```mlir
    %c4 = arith.constant 4 : index
    gpu.launch ... { memref.store %x, %a[%c4] : memref<8xf32> }
    gpu.launch ... { memref.store %x, %b[%c4] : memref<8xf32> }
    ```
    After: a constant in either of the launches.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

include "nm/Transforms/ArithmeticPasses.td"
include "nm/Transforms/KernelPasses.td"
include "nm/Transforms/ProfilePasses.td"

#endif // NM_TRANSFORMS_PASSES_TD
