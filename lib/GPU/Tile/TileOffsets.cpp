//===- TileOffsets.cpp - Where buffers have their elements ----------------===//

#include "GPU/Tile/TileOffsets.h"

#include "nm/Dialect/NM/IR/BufferAlignment.h"
#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/Dialect/NM/IR/IndexEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::nm;

::nm::TileLayout mlir::nm::getTileLayout(MemRefType type) {
  if (auto layout = dyn_cast<TileLayoutAttr>(type.getLayout()))
    return layout.getLayout();
  ::nm::TileLayout plain;
  plain.order.resize(type.getRank());
  return plain;
}

/// The bits of `index` that `move` names, at their place.
static Value moveBits(OpBuilder &builder, Location loc, Value index,
                      const ::nm::BitMove &move) {
  auto constant = [&](int64_t value) -> Value {
    return IndexEmitter{builder, loc}.constant(index, value);
  };
  if (move.shift >= 0) {
    Value bits = move.mask == -1 ? index
                                 : builder.createOrFold<arith::AndIOp>(
                                       loc, index, constant(move.mask));
    return move.shift == 0 ? bits
                           : builder.createOrFold<arith::ShLIOp>(
                                 loc, bits, constant(move.shift));
  }
  Value down =
      builder.createOrFold<arith::ShRUIOp>(loc, index, constant(-move.shift));
  return builder.createOrFold<arith::AndIOp>(
      loc, down, constant(move.mask >> -move.shift));
}

Value mlir::nm::placeAlong(OpBuilder &builder, Location loc,
                           const ::nm::TileLayout &layout, int64_t dim,
                           Value index) {
  Value place;
  for (const ::nm::BitMove &move : layout.movesOf(dim)) {
    Value bits = moveBits(builder, loc, index, move);
    place =
        place ? builder.createOrFold<arith::AddIOp>(loc, place, bits) : bits;
  }
  return place;
}

/// The column of a panel.
static Value placeColumn(OpBuilder &builder, Location loc,
                         const ::nm::TileLayout &layout, Value column) {
  auto constant = [&](int64_t value) -> Value {
    return IndexEmitter{builder, loc}.constant(column, value);
  };
  Value columns = constant(layout.panelColumns);
  Value panel = builder.createOrFold<arith::DivUIOp>(loc, column, columns),
        inPanel = builder.createOrFold<arith::RemUIOp>(loc, column, columns);
  return builder.createOrFold<arith::AddIOp>(
      loc,
      builder.createOrFold<arith::MulIOp>(loc, panel,
                                          constant(layout.panelStride)),
      inPanel);
}

SmallVector<Value> mlir::nm::placeElement(OpBuilder &builder, Location loc,
                                          const ::nm::TileLayout &layout,
                                          ArrayRef<Value> indices) {
  SmallVector<Value> places(indices);
  for (const ::nm::BitXor &bits : layout.xors) {
    int64_t mask = ((int64_t(1) << bits.count) - 1) << bits.fromBit;
    Value changed = moveBits(builder, loc, indices[bits.fromDim],
                             {mask, bits.bit - bits.fromBit});
    places[bits.dim] =
        builder.createOrFold<arith::XOrIOp>(loc, places[bits.dim], changed);
  }
  for (auto [dim, place] : llvm::enumerate(places))
    place = placeAlong(builder, loc, layout, int64_t(dim), place);
  if (layout.panelColumns != 0)
    places.back() = placeColumn(builder, loc, layout, places.back());
  return places;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// With a place for each element of a row, where panels stand apart.
static MemRefType getStridedType(MemRefType type) {
  auto layout = dyn_cast<TileLayoutAttr>(type.getLayout());
  if (!layout)
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = layout.countPlaces(shape.back());
  return MemRefType::get(shape, type.getElementType(),
                         layout.getStridedLayout(), type.getMemorySpace());
}

static void lowerSlot(RewriterBase &rewriter, SlotOp op) {
  auto ring = cast<MemRefType>(op.getRing().getType());
  SmallVector<OpFoldResult> offsets(ring.getRank(), rewriter.getIndexAttr(0)),
      sizes = getAsIndexOpFoldResult(rewriter.getContext(), ring.getShape()),
      strides(ring.getRank(), rewriter.getIndexAttr(1));
  offsets[0] = op.getIndex();
  sizes[0] = rewriter.getIndexAttr(1);
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<memref::SubViewOp>(
      op, getStridedType(cast<MemRefType>(op.getSlot().getType())),
      op.getRing(), offsets, sizes, strides);
}

static void lowerAlias(RewriterBase &rewriter, AliasOp op) {
  rewriter.setInsertionPoint(op);
  Value offset = memref::ExtractStridedMetadataOp::create(rewriter, op.getLoc(),
                                                          op.getSource())
                     .getOffset();
  MemRefType view = getStridedType(cast<MemRefType>(op.getView().getType()));
  SmallVector<int64_t> strides = view.getStridesAndOffset().first;
  auto layout =
      StridedLayoutAttr::get(view.getContext(), ShapedType::kDynamic, strides);
  auto type = MemRefType::get(view.getShape(), view.getElementType(), layout,
                              view.getMemorySpace());
  MLIRContext *context = rewriter.getContext();
  rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
      op, type, op.getSource(), OpFoldResult(offset),
      getAsIndexOpFoldResult(context, view.getShape()),
      getAsIndexOpFoldResult(context, strides));
}

void mlir::nm::lowerBuffers(RewriterBase &rewriter, Operation *parent) {
  parent->walk([&](memref::AllocOp alloc) {
    rewriter.modifyOpInPlace(alloc, [&] {
      // The layout asks for it, which is gone from the type then.
      if (int64_t alignment = getBufferAlignment(alloc.getType());
          alignment > kLineBytes)
        alloc.setAlignment(
            std::max<uint64_t>(alignment, alloc.getAlignment().value_or(0)));
      alloc.getResult().setType(getStridedType(alloc.getType()));
    });
  });
  // A view comes before the views of it.
  for (Operation *op :
       collectOps<Operation *>(parent, llvm::IsaPred<SlotOp, AliasOp>)) {
    if (auto slot = dyn_cast<SlotOp>(op))
      lowerSlot(rewriter, slot);
    else
      lowerAlias(rewriter, cast<AliasOp>(op));
  }
}
