//===- DirectCopy.cpp - Asynchronous copies of tiles as they are ----------===//

#include "GPU/Copies/CopyEmitter.h"

#include "nm/Schedule/SharedBytes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

namespace {
class DirectCopy : CopyEmitter {
public:
  DirectCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
             const CopyThreads &threads)
      : CopyEmitter(builder, loc, copy, threads) {}

  void emit();

private:
  void emitZeros(int64_t firstRow);
  bool sharesLines() const;
  int64_t threadsAlongRow() const;
  Place findPlace(OffsetIndex id);
  Place findPlaceAlongRow(int64_t round, int64_t along);
};
} // namespace

/// Fills the rows of the tile from `firstRow` on, which no list names.
void DirectCopy::emitZeros(int64_t firstRow) {
  int64_t accessesPerRow = copy.extents.back() / copy.width;
  int64_t first = firstRow * accessesPerRow,
          count = copy.extents.front() * accessesPerRow;
  for (int64_t begin = first; begin < count; begin += threads.count) {
    OpBuilder::InsertionGuard guard(builder);
    Value id = index.add(threads.id, begin);
    if (begin + threads.count > count) {
      auto guarded =
          scf::IfOp::create(builder, loc, index.less(id, index.index(count)));
      builder.setInsertionPointToStart(guarded.thenBlock());
    }
    storeZeros({index.div(id, accessesPerRow),
                index.mul(index.rem(id, accessesPerRow), copy.width)});
  }
}

/// Whether rows of the tile, which are shorter than a line of memory and
/// without padding, share each line with rows that are elsewhere in the source.
bool DirectCopy::sharesLines() const {
  auto type = cast<MemRefType>(copy.destination.getType());
  size_t rows = copy.extents.size() - 2;
  int64_t columns = copy.extents.back();
  return copy.extents.size() >= 2 && !copy.rows &&
         !copy.layout.order[rows].empty() &&
         columns * type.getElementTypeBitWidth() / 8 < ::nm::kLineBytes &&
         getBufferStrides(type)[rows] == columns;
}

/// The place of access `id`, of which neighbouring ones share lines in the
/// tile: stores of one line take a clock.
CopyEmitter::Place DirectCopy::findPlace(OffsetIndex id) {
  Place place = delinearize(id);
  if (!sharesLines())
    return place;
  size_t rows = copy.extents.size() - 2;
  ::nm::TileLayout inverse;
  inverse.order.resize(copy.extents.size());
  inverse.order[rows].resize(copy.layout.order[rows].size());
  for (auto [bit, from] : llvm::enumerate(copy.layout.order[rows]))
    inverse.order[rows][from] = int64_t(bit);
  place.tile[rows] = place.source[rows] =
      placeAlong(builder, loc, inverse, int64_t(rows), place.tile[rows]);
  return place;
}

/// How many threads are side by side along a row in each round, or zero where
/// accesses are numbered row by row.
///
/// Example: 64 threads copy rows of 160 accesses. Numbered row by row, round 1
/// begins in the middle of a row, and a thread's addresses in all rounds differ
/// by no constants. With 32 threads along a row they do: two rows at a time, in
/// five rounds.
int64_t DirectCopy::threadsAlongRow() const {
  if (copy.extents.size() != 2 || copy.rows || sharesLines())
    return 0;
  int64_t accesses = copy.extents.back() / copy.width;
  int64_t along = std::gcd(accesses, threads.count);
  bool isEven = along == accesses || along == threads.count;
  int64_t bytes =
      along * copy.width * (sourceType().getElementTypeBitWidth() / 8);
  if (isEven || bytes % ::nm::kLineBytes != 0 ||
      copy.extents.front() % (threads.count / along) != 0)
    return 0;
  return along;
}

/// The place of a thread's access in `round`, of `along` threads side by side.
CopyEmitter::Place DirectCopy::findPlaceAlongRow(int64_t round, int64_t along) {
  int64_t partsOfRow = copy.extents.back() / copy.width / along;
  auto [row, column] =
      index.split(OffsetIndex{threads.id, threads.count}, along);
  row.offset = round / partsOfRow * (threads.count / along);
  column.offset = round % partsOfRow * along;
  Place place(2);
  setPlace(place, 0, row);
  setPlace(place, 1, index.scale(column, copy.width));
  return place;
}

void DirectCopy::emit() {
  int64_t accessesPerRow = copy.extents.back() / copy.width;
  if (copy.rows && threads.count % accessesPerRow == 0)
    copy.rows->order(threads.count / accessesPerRow);
  if (copy.rows && copy.rows->rows() < copy.extents.front()) {
    emitZeros(copy.rows->rows());
    copy.extents.front() = copy.rows->rows();
  }
  int64_t count = countAccesses(), along = threadsAlongRow();
  for (int64_t round = 0; round * threads.count < count; ++round) {
    if (along != 0) {
      copyDirectly(findPlaceAlongRow(round, along));
      continue;
    }
    OpBuilder::InsertionGuard guard(builder);
    OffsetIndex id = idInRound(round);
    skipPastEnd(index.materialize(id), round, count);
    copyDirectly(findPlace(id));
  }
}

void mlir::nm::emitDirectCopy(OpBuilder &builder, Location loc,
                              const TileCopy &copy,
                              const CopyThreads &threads) {
  DirectCopy(builder, loc, copy, threads).emit();
}
