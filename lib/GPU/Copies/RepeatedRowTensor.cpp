//===- RepeatedRowTensor.cpp - Rows that tensor copies repeat -------------===//

#include "GPU/Copies/RepeatedRowTensor.h"

#include "GPU/Copies/TensorAddress.h"

#include "nm/Dialect/NM/IR/EmittedIndex.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::OverlappingGroups;
using ::nm::WindowTiles;

std::optional<RepeatedRowTensor> RepeatedRowTensor::find(Value tensor) {
  auto op = tensor.getDefiningOp<RepeatedRowsOp>();
  return op ? std::optional(RepeatedRowTensor(op)) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// A view of the windows of A that fill tiles, [windows x M x m].
Value RepeatedRowTensor::splitWindows(ThreadEmitter &emitter) const {
  int64_t rows = tiles.groups.windowRows,
          kDim = cast<MemRefType>(a.getType()).getRank() - 2;
  return splitDim(emitter, a, kDim,
                  {tiles.rowsOfWindows() / rows, /*outerStep=*/rows, rows,
                   /*innerStep=*/1});
}

void RepeatedRowTensor::createMaps(ThreadEmitter &emitter, int64_t columns,
                                   bool isSwizzled) {
  auto createMap = [&](Value tensor, ArrayRef<int64_t> inner) -> Value {
    SmallVector<int64_t> box(
        size_t(cast<MemRefType>(tensor.getType()).getRank()), 1);
    llvm::copy(inner, box.end() - ptrdiff_t(inner.size()));
    return TensorMapOp::create(emitter.builder, emitter.loc, tensor, box,
                               isSwizzled);
  };
  if (hasWindows())
    ofWindows =
        createMap(splitWindows(emitter),
                  {WindowTiles::kWindows, OverlappingGroups::kRows, columns});
  if (hasTwice())
    ofTwice = createMap(a, {WindowTiles::kTwice, columns});
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// The innermost first.
static SmallVector<Value> toCoordinates(ThreadEmitter &emitter,
                                        ArrayRef<Value> at) {
  return llvm::map_to_vector(llvm::reverse(at),
                             [&](Value place) { return emitter.toI32(place); });
}

void RepeatedRowTensor::copyWindows(ThreadEmitter &emitter, ArrayRef<Value> at,
                                    Value tile, Copy copy) const {
  IndexEmitter &index = emitter;
  EmittedIndex number{&index, tile};
  SmallVector<Value> place(at);
  size_t kDim = place.size() - 2;
  place[kDim] = tiles.firstRow(number).value;
  place.insert(place.begin() + ptrdiff_t(kDim),
               tiles.firstWindow(number).value);
  copy(ofWindows, toCoordinates(emitter, place), /*row=*/0);
}

void RepeatedRowTensor::copyTwice(ThreadEmitter &emitter, ArrayRef<Value> at,
                                  Value tile, Copy copy) const {
  IndexEmitter &index = emitter;
  Value number = emitter.sub(tile, emitter.index(tiles.tilesOfWindows()));
  SmallVector<Value> place(at);
  place[place.size() - 2] =
      tiles.firstRowTwice(EmittedIndex{&index, number}).value;
  SmallVector<Value> coordinates = toCoordinates(emitter, place);
  for (int64_t row = 0; row < WindowTiles::kRows; row += WindowTiles::kTwice)
    copy(ofTwice, coordinates, row);
}

void RepeatedRowTensor::emitCopies(ThreadEmitter &emitter, ArrayRef<Value> at,
                                   Copy copy) const {
  Value tile = emitter.div(at[at.size() - 2], WindowTiles::kRows);
  if (!hasTwice())
    return copyWindows(emitter, at, tile, copy);
  if (!hasWindows())
    return copyTwice(emitter, at, tile, copy);
  OpBuilder::InsertionGuard guard(emitter.builder);
  auto branch = scf::IfOp::create(
      emitter.builder, emitter.loc,
      emitter.less(tile, emitter.index(tiles.tilesOfWindows())),
      /*withElseRegion=*/true);
  emitter.builder.setInsertionPointToStart(branch.thenBlock());
  copyWindows(emitter, at, tile, copy);
  emitter.builder.setInsertionPointToStart(branch.elseBlock());
  copyTwice(emitter, at, tile, copy);
}
