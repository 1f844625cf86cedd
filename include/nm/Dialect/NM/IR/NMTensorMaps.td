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

    Constraints:
    * (C1) the tensor has 1 to 5 dimensions, and its last stride is 1; other
      strides that are known are multiples of 16 bytes.
    * (C2) `box` has as many sizes, each 1 to 256, of which the last takes a
      multiple of 16 bytes, and 32, 64 or 128 with `swizzled`.

    ```mlir
    %map = nm.tensor_map %a box [256, 64] swizzled : memref<?x4096xf16> -> vector<16xi64>
    ```
  }];
  let arguments = (ins AnyMemRef:$tensor, DenseI64ArrayAttr:$box,
                       UnitAttr:$swizzled);
  let results = (outs VectorOfLengthAndType<[16], [I64]>:$map);
  let assemblyFormat = [{
    $tensor `box` $box (`swizzled` $swizzled^)? attr-dict
    `:` type($tensor) `->` type($map)
  }];
  let hasVerifier = 1;
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
