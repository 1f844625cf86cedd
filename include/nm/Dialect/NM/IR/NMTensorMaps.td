//===- NMTensorMaps.td - Tensors that boxes are copied of --*- tablegen -*-===//

#ifndef NM_DIALECT_NM_IR_NMTENSORMAPS_TD
#define NM_DIALECT_NM_IR_NMTENSORMAPS_TD

def NM_TensorMapOp : NM_Op<"tensor_map", [Pure]> {
  let summary = "makes a tensor map, which says where a tensor's elements are";
  let description = [{
    On the host, at each launch: the 128 bytes that the driver's
    `cuTensorMapEncodeTiled` makes, for tensor copies of boxes of `tensor` (PTX
    ISA, "Tensor-map"). `box` has a size for each dimension. With `swizzled`,
    rows of boxes are 32, 64 or 128 bytes in panels that are swizzled as
    `nm.copy` says.
    What a box has outside of the tensor is zero. `nm-encode-tensor-maps` makes
    calls of it.

    With `pixels` the map is of an image [images x pixels... x channels], as
    `cuTensorMapEncodeIm2col` makes it, and a box of as many places of a
    convolution's output as its last size but one says, one after another across
    rows and images, and of neighbouring channels. Of each dimension of pixels,
    places begin between `lower`, counted from the first pixel, and `upper`,
    counted from the last, `steps` apart; a copy adds a tap's distance.

    Constraints:
    * (C1) the tensor has 1 to 5 dimensions, and its last stride is 1; other
      strides that are known are multiples of 16 bytes.
    * (C2) `box` has as many sizes, each 1 to 256, of which the last takes a
      multiple of 16 bytes, and 32, 64 or 128 with `swizzled`.
    * (C3) an image has 3 to 5 dimensions; `lower`, `upper` and `steps` have a
      number for each dimension of pixels, corners of 16 bits and steps of 1 to
      8, and the sizes of a box that are of other dimensions are 1.

    ```mlir
    %map = nm.tensor_map %a box [256, 64] swizzled : memref<?x4096xf16> -> vector<16xi64>
    // 3x3, padding 1: 128 places, 64 channels of one tap.
    %image = nm.tensor_map %x box [1, 1, 128, 64] swizzled pixels [-1, -1] to [-1, -1] step [1, 1]
      : memref<2x28x28x128xf16> -> vector<16xi64>
    ```
  }];
  let arguments = (ins AnyMemRef:$tensor, DenseI64ArrayAttr:$box,
                       UnitAttr:$swizzled,
                       OptionalAttr<DenseI64ArrayAttr>:$lower,
                       OptionalAttr<DenseI64ArrayAttr>:$upper,
                       OptionalAttr<DenseI64ArrayAttr>:$steps);
  let results = (outs VectorOfLengthAndType<[16], [I64]>:$map);
  let assemblyFormat = [{
    $tensor `box` $box (`swizzled` $swizzled^)?
    (`pixels` $lower^ `to` $upper `step` $steps)? attr-dict
    `:` type($tensor) `->` type($map)
  }];
  let hasVerifier = 1;
  let builders = [
    // A map of boxes.
    OpBuilder<(ins "::mlir::Value":$tensor, "::llvm::ArrayRef<int64_t>":$box,
                   "bool":$swizzled), [{
      build($_builder, $_state,
            ::mlir::VectorType::get({16}, $_builder.getI64Type()), tensor,
            $_builder.getDenseI64ArrayAttr(box),
            swizzled ? $_builder.getUnitAttr() : ::mlir::UnitAttr(),
            /*lower=*/nullptr, /*upper=*/nullptr, /*steps=*/nullptr);
    }]>
  ];
  let extraClassDeclaration = [{
    bool isOfPixels() { return getSteps().has_value(); }
  }];
}

def NM_TensorMapAddressOp : NM_Op<"tensor_map_address", [Pure]> {
  let summary = "where a kernel has a tensor map that it was passed";
  let description = [{
    A pointer of the LLVM dialect to a kernel's argument.
    `nm-encode-tensor-maps` makes it the argument, which has memory of its own
    in a kernel's parameters (PTX ISA, "Kernel Function Parameters").

    ```mlir
    %p = nm.tensor_map_address %map : vector<16xi64> -> !llvm.ptr
    ```
  }];
  let arguments = (ins VectorOfLengthAndType<[16], [I64]>:$map);
  let results = (outs AnyType:$address);
  let assemblyFormat = [{
    $map attr-dict `:` type($map) `->` type($address)
  }];
}

#endif // NM_DIALECT_NM_IR_NMTENSORMAPS_TD
