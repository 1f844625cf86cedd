//===- NMStores.td - Tiles of C on their way out of a GPU --*- tablegen -*-===//
//
// Part of NMOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef NM_DIALECT_NM_IR_NMSTORES_TD
#define NM_DIALECT_NM_IR_NMSTORES_TD

include "nm/Dialect/NM/IR/NMTiles.td"

def NM_StageStoresOp : NM_TileOp<"stage_stores", [
    Pure, AllTypesMatch<["tile", "staged"]>,
    DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "a tile of C that is stored by way of workgroup memory";
  let description = [{
    The tile of C that a product, or its epilogue, stores from registers, where
    what it stores goes to `slots` first (PTX ISA, `stmatrix`), and from there
    to `tile` by tensor copies (PTX ISA, `cp.async.bulk.tensor` from
    `.shared::cta` to `.global`), which one thread of a warpgroup starts. They
    are in flight while the warpgroup multiplies its next tile.

    `slots` is [warpgroups x slots x 64 x 64]. A warpgroup has slots of its own,
    which parts of 64 x 64 elements of its tile take in turn: with two slots, the
    third part waits until the first has been read. Before its role ends, a
    warpgroup waits until all have been.

    Tensor copies leave out what is beyond the end of C.

    Constraints:
    * (C1) the result has the tile's type, of 16-bit elements, whose rows are
      contiguous and, where that is known, multiples of 16 bytes apart.
    * (C2) `slots` are of the tile's element type, in workgroup memory, with rows
      of 128 bytes that are swizzled as tensor copies have it.

    ```mlir
    %staged = nm.stage_stores %c through %slots
      : memref<256x128xf16, strided<[4096, 1], offset: ?>> through
        memref<2x2x64x64xf16, #nm.tile_layout<[8192, 4096, 64, 1], panels = [64, 4096],
                                              xor = [3:3 with 2:0 for 3]>,
               #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins AnyMemRef:$tile, AnyMemRef:$slots);
  let results = (outs AnyMemRef:$staged);
  let builders = [OpBuilder<(ins "::mlir::Value":$tile,
                                 "::mlir::Value":$slots), [{
    build($_builder, $_state, tile.getType(), tile, slots);
  }]>];
  let assemblyFormat = [{
    $tile `through` $slots attr-dict `:` type($tile) `through` type($slots)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Rows and columns of a slot.
    static constexpr int64_t kSlotSide = 64;
    /// The slots of a warpgroup.
    int64_t countSlots() {
      return ::llvm::cast<::mlir::MemRefType>(getSlots().getType())
          .getDimSize(1);
    }
  }];
}

#endif // NM_DIALECT_NM_IR_NMSTORES_TD
