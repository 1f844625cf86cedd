//===- NMPatches.td - Matrices that are in no memory -------*- tablegen -*-===//

#ifndef NM_DIALECT_NM_IR_NMPATCHES_TD
#define NM_DIALECT_NM_IR_NMPATCHES_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"
include "nm/Dialect/NM/IR/NMDialect.td"

def NM_PatchesOp : Op<NM_Dialect, "patches", [
    Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "patches of an image, as a matrix that is in no memory";
  let description = [{
    What the places of a convolution's output take of its image: the A of a
    product whose strategy reads the image itself. `map` says for each loop of
    the convolution which element of the image that is; one that the image does
    not have, as its padding, is zero. Loops make up the dimensions of the
    result: of each, as many as `groups` says, one after another, of which the
    last runs fastest.

    On memrefs the result has the type of a matrix of its own, but no memory.
    Only views of it may be taken, and only products read those whose strategy
    looks at this op. There is no other lowering.

    Constraints:
    * (C1) `map` has one dimension for each of `loops` and one result for each
      dimension of the image. A result is a sum of dimensions with factors of at
      least 1, and of a constant.
    * (C2) `loops` and `groups` are at least 1; there are as many groups as the
      result has dimensions, two or more, and the product of the loops in each is
      its size.
    * (C3) the image and the result are both tensors or both memrefs, of one
      element type and static shapes; a memref result has no layout and the
      image's memory space.

    ```mlir
    // 3x3, stride 2, padding 1: k is channels and taps, m the places.
    %a = nm.patches %x
      map affine_map<(b, c, i, j, y, x) -> (b, c, y * 2 + i - 1, x * 2 + j - 1)>
      loops [1, 64, 3, 3, 28, 28] groups [1, 3, 2]
      : tensor<1x64x56x56xf32> -> tensor<1x576x784xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>:$image,
                       AffineMapAttr:$map, DenseI64ArrayAttr:$loops,
                       DenseI64ArrayAttr:$groups);
  let results = (outs AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>:$result);
  let assemblyFormat = [{
    $image `map` $map `loops` $loops `groups` $groups attr-dict `:`
    type($image) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::ShapedType getImageType() {
      return ::llvm::cast<::mlir::ShapedType>(getImage().getType());
    }
    ::mlir::ShapedType getMatrixType() {
      return ::llvm::cast<::mlir::ShapedType>(getResult().getType());
    }
    /// The loops that make up dimension `group` of the result.
    ::llvm::SmallVector<unsigned> getLoopsOf(unsigned group);
  }];
}

def NM_RepeatedRowsOp : Op<NM_Dialect, "repeated_rows", [
    Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "rows of groups that overlap, as a matrix that is in no memory";
  let description = [{
    The A [k' x m] of a product of 2:4 that has rows of `a`, [k x m], more than
    once: those of windows of M = `windows` rows, of which weights keep M - 2,
    as groups of four that overlap by two (SlideSparse, arXiv 2603.05232), in
    tiles of 64 rows. Each of M/2 - 1 tiles has four rows of each of 16 windows,
    and tiles of what is behind the last 16 windows have 32 rows of k twice; see
    nm/Format/WindowTiles.h. Tensor copies of a tile read the rows from `a`.
    Rows past k are zero.

    On memrefs the result has no memory. Only views of it may be taken, and only
    products read those whose schedule has tensor copies of A. There is no other
    lowering.

    Constraints:
    * (C1) `windows` is even and at least 4.
    * (C2) `a` and the result have the same two or more dimensions but for k,
      the last but one. Both sizes of that are static, and the result's is 64
      for each tile.
    * (C3) `a` and the result are both tensors or both memrefs, of one element
      type and, for memrefs, the same strides and memory space.

    ```mlir
    // 42 times two tiles of 16 windows each, and two of 32 rows of k each.
    %r = nm.repeated_rows windows 6 %a : tensor<4096x1024xf16> -> tensor<5504x1024xf16>
    ```
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>:$a,
                       I64Attr:$windows);
  let results = (outs AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>:$result);
  let assemblyFormat = [{
    `windows` $windows $a attr-dict `:` type($a) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::nm::WindowTiles getTiles();
  }];
}

#endif // NM_DIALECT_NM_IR_NMPATCHES_TD
