//===- VectorsAlongM.cpp - Products with vectors along m ------------------===//
//
// For each subtile of rows: for each tile of k: A's part is laid out m-major,
// one row of k being a few vectors along m, and every column's kept weights are
// multiplied with the rows that their indices name. Sums are kept in a scratch
// tile laid out like A's until all of k is done.
//
// Long sums are made in three levels (see SumChains.h): a chain in registers is
// added to the scratch tile of C, and that, where k has many tiles, to promoted
// sums once for each group of tiles.
//
// Sizes: A's tile should stay in L1 where every column reads other rows, and
// may be larger where many columns share them. The scratch tile of C is read
// and written once for each tile of k, from L2.
//
// bf16 may be multiplied by pairs of kept rows (PairsOfBF16.h): those of two
// units of a window or, where it has an odd number of them, of two windows. The
// last window has none beside it where windows are odd, and is paired with
// zeros.
//
//===----------------------------------------------------------------------===//

#include "ImageTile.h"
#include "PairsOfBF16.h"
#include "ProductTile.h"
#include "SumsTile.h"
#include "TileOfA.h"
#include "VectorWeightAccess.h"

#include "nm/Schedule/SumChains.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Iterations that are worth having in one body beside each other.
constexpr int64_t kUnroll = 4;

class AlongM {
public:
  AlongM(VectorEmitter &emitter, const ProductTile &tile,
         const VectorSchedule &schedule)
      : e(emitter), tile(tile), weights(emitter, tile, schedule),
        vectorsOfUnit(multipliesPairs(emitter, tile, schedule.rows) ? 2 : 1),
        windows(tile.pattern.windows(tile.k)),
        windowsPerTile(std::clamp<int64_t>(
            kRowsOf(schedule) / tile.pattern.windowRows(), 1, windows)),
        windowsPerChain(chainWindows()),
        windowsPerGroup(windowsOf(::nm::kChainRows * ::nm::kChainRows,
                                  windowsPerTile, windows)),
        registerColumns(std::max<int64_t>(1, schedule.columns)),
        maxVectors(
            llvm::alignTo(std::max<int64_t>(1, schedule.rows / emitter.lanes),
                          vectorsOfUnit)) {}

  void expand();

private:
  /// The m-major tile of A and the sums of all columns for `vectors` vectors of
  /// rows.
  struct Scratch {
    int64_t vectors;
    /// Of an image, rows of pixels of a tile.
    int64_t imageRows;
    Value a;
    /// The sums of a group of tiles of k, and of all of k; one where there is
    /// one group.
    Value sums;
    Value promoted;
    /// Whether A has all rows of each tile.
    bool isWhole = false;
  };
  /// Columns of a panel that are summed in registers together. Those that
  /// share an index are `columnsPerGroup` neighbours.
  struct RegisterTile {
    /// Vectors of the scratch tiles.
    Value firstVector;
    int64_t vectors;
    Value panel;
    Value firstColumn;
    Value firstGroup;
    int64_t columns;
    int64_t columnsPerGroup;
  };
  /// A unit of a window of a tile of k.
  struct Unit {
    Value window, unit;
  };
  /// A tile of k.
  struct KTile {
    Value firstWindow;
    Value windows;
    /// Whether it is the first of its group.
    Value isFirst;
  };

  /// An image's tiles are wider than those of registers.
  int64_t kRowsOf(const VectorSchedule &schedule) const {
    if (!tile.image)
      return schedule.kRows;
    ::nm::ImageRows rows = chooseRows(e, tile, ::nm::kImageVectors);
    return ::nm::imageTileRows(rows.vectors * e.target.bits / 8);
  }

  /// Windows of about `keptRows` kept rows: a multiple of `unit` up to `most`.
  int64_t windowsOf(int64_t keptRows, int64_t unit, int64_t most) const {
    if (!e.sumsRound())
      return most;
    int64_t units = keptRows / (unit * tile.pattern.keptRows());
    return std::min(std::max<int64_t>(1, units) * unit, most);
  }
  Scratch allocate(int64_t vectors, int64_t imageRows = 0);
  void expandImage();
  void deallocate(const Scratch &scratch);
  void expandRows(Value firstRow, Value endRow, const Scratch &scratch);
  void sumGroup(Value firstRow, Value firstWindow, Value end,
                const Scratch &scratch);
  void addToPromoted(Value isFirst, const Scratch &scratch);
  Value isEqual(Value lhs, Value rhs) {
    return e.b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, lhs, rhs);
  }
  void sumPanel(Value panel, const KTile &kTile, const Scratch &scratch);
  void sumColumns(const RegisterTile &registers, const KTile &kTile,
                  const Scratch &scratch);
  void sumTile(const RegisterTile &registers, const KTile &kTile,
               const Scratch &scratch);
  int64_t chainWindows() const {
    // Adding registers to the scratch tile more than once for each tile of k
    // takes 2 to 5 % of the time.
    bool isLong = windows * tile.pattern.keptRows() > ::nm::kLongSumRows;
    int64_t most = isLong ? ::nm::kChainRows : ::nm::kShortSumChainRows;
    bool isOne = windowsPerTile * tile.pattern.keptRows() <= most;
    return isOne ? windowsPerTile : windowsOf(most, 1, windowsPerTile);
  }
  bool isOfPairs() const { return vectorsOfUnit > 1; }
  void sumChain(const RegisterTile &registers, const KTile &kTile, Value first,
                Value end, const Scratch &scratch);
  SmallVector<Value> addChain(const RegisterTile &registers, const KTile &kTile,
                              Value first, Value end, const Scratch &scratch,
                              ArrayRef<Value> sums);
  SmallVector<Value> addWindows(const RegisterTile &registers,
                                const KTile &kTile, Value window, Value second,
                                const Scratch &scratch, ArrayRef<Value> sums);
  SmallVector<Value> addUnits(const RegisterTile &registers, const KTile &kTile,
                              ArrayRef<Unit> units, const Scratch &scratch,
                              ArrayRef<Value> sums);
  SmallVector<Value> addPair(const RegisterTile &registers,
                             ArrayRef<Value> weightRows,
                             ArrayRef<SmallVector<Value>> aRows,
                             ArrayRef<Value> sums);
  Value unitOf(const KTile &kTile, const Unit &unit) {
    return e.add(e.mul(e.add(kTile.firstWindow, unit.window), tile.pattern.n),
                 unit.unit);
  }
  /// Elements of the scratch tile from one row of k to the next, where two
  /// vectors of bf16 have the place of one of accumulators.
  int64_t elementsOfRow(const Scratch &scratch) const {
    return scratch.vectors / vectorsOfUnit * e.lanes;
  }
  SmallVector<Value> startsOf(const RegisterTile &registers, const KTile &kTile,
                              const Unit &unit, const Scratch &scratch);
  SmallVector<Value> advanceAll(ArrayRef<Value> starts, Value rowOfUnit,
                                const Scratch &scratch);
  SmallVector<Value> addRow(const RegisterTile &registers, Value weightRow,
                            ArrayRef<Value> aRows, ArrayRef<Value> sums);

  VectorEmitter &e;
  const ProductTile &tile;
  WeightAccess weights;
  /// Vectors that are laid out together.
  int64_t vectorsOfUnit;
  int64_t windows;
  int64_t windowsPerTile;
  /// That are summed in registers, and in the scratch tile.
  int64_t windowsPerChain;
  int64_t windowsPerGroup;
  int64_t registerColumns;
  int64_t maxVectors;
};
} // namespace

void AlongM::expandImage() {
  forEachImageRange(
      e, tile, std::max(maxVectors, ::nm::kImageVectors),
      [&](Value begin, Value end, int64_t step, ::nm::ImageRows rows) {
        Scratch scratch = allocate(rows.vectors, rows.rows);
        e.loop(begin, end, step, [&](Value row) {
          expandRows(row, e.min(e.add(row, step), end), scratch);
        });
        deallocate(scratch);
      });
}

void AlongM::expand() {
  if (tile.image)
    return expandImage();
  RowTiles tiles = {maxVectors, vectorsOfUnit,
                    /*leastWhole=*/2 * vectorsOfUnit};
  forEachRowRange(e, tile, tiles,
                  [&](Value begin, Value end, int64_t vectors, bool isWhole) {
                    Scratch scratch = allocate(vectors);
                    scratch.isWhole = isWhole;
                    e.loop(begin, end, vectors * e.lanes, [&](Value row) {
                      expandRows(row, tile.m, scratch);
                    });
                    deallocate(scratch);
                  });
}

AlongM::Scratch AlongM::allocate(int64_t vectors, int64_t imageRows) {
  int64_t width = vectors * e.lanes;
  // A is laid out, and C taken out, by square blocks: both may pass the end by
  // up to one.
  int64_t kRows =
      llvm::alignTo(windowsPerTile * tile.pattern.windowRows(), e.lanes);
  Value columns =
      e.mul(e.ceilDiv(e.mul(weights.panels, weights.panel), e.lanes), e.lanes);
  Value a = e.allocate({e.index(kRows), e.index(width / vectorsOfUnit)}),
        sums = e.allocate({columns, e.index(width)});
  Value promoted =
      windowsPerGroup < windows ? e.allocate({columns, e.index(width)}) : sums;
  return {vectors, imageRows, a, sums, promoted};
}

void AlongM::deallocate(const Scratch &scratch) {
  e.deallocate(scratch.a);
  e.deallocate(scratch.sums);
  if (scratch.promoted != scratch.sums)
    e.deallocate(scratch.promoted);
}

void AlongM::expandRows(Value firstRow, Value endRow, const Scratch &scratch) {
  e.loop(e.index(0), e.index(windows), windowsPerGroup, [&](Value first) {
    Value end = e.min(e.add(first, windowsPerGroup), windows);
    sumGroup(firstRow, first, end, scratch);
    if (scratch.promoted != scratch.sums)
      addToPromoted(isEqual(first, e.index(0)), scratch);
  });
  writeSums(e, tile,
            {scratch.promoted, firstRow, e.index(0), scratch.vectors, endRow});
}

/// The sums of the windows from `first` to `end`.
void AlongM::sumGroup(Value firstRow, Value first, Value end,
                      const Scratch &scratch) {
  e.loop(first, end, windowsPerTile, [&](Value firstWindow) {
    Value windowsLeft = e.sub(end, firstWindow);
    KTile kTile{firstWindow, e.min(windowsLeft, windowsPerTile),
                isEqual(firstWindow, first)};
    int64_t windowRows = tile.pattern.windowRows();
    // Rows of k past the end are zero, which a ragged window reads.
    layOutA(e, tile,
            {firstRow, e.mul(firstWindow, windowRows),
             e.mul(kTile.windows, windowRows), scratch.vectors, scratch.a,
             scratch.imageRows, scratch.isWhole, isOfPairs()});
    e.loop(e.index(0), weights.panels, 1,
           [&](Value panel) { sumPanel(panel, kTile, scratch); });
  });
}

void AlongM::addToPromoted(Value isFirst, const Scratch &scratch) {
  e.loop(e.index(0), e.dim(scratch.sums, 0), 1, [&](Value column) {
    for (int64_t vector = 0; vector < scratch.vectors; ++vector) {
      SmallVector<Value> place = {column, e.index(vector * e.lanes)};
      Value before =
          e.select(isFirst, e.zeroVector(), e.load(scratch.promoted, place));
      e.store(e.addElements(before, e.load(scratch.sums, place)),
              scratch.promoted, place);
    }
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void AlongM::sumPanel(Value panel, const KTile &kTile, const Scratch &scratch) {
  int64_t whole = scratch.vectors / maxVectors * maxVectors;
  auto sum = [&](Value firstVector, int64_t vectors) {
    RegisterTile registers{};
    registers.firstVector = firstVector;
    registers.vectors = vectors;
    registers.panel = panel;
    sumColumns(registers, kTile, scratch);
  };
  e.loop(e.index(0), e.index(whole), maxVectors,
         [&](Value first) { sum(first, maxVectors); });
  if (whole < scratch.vectors)
    sum(e.index(whole), scratch.vectors - whole);
}

/// The sums of all columns of a panel, for the vectors of `all`.
void AlongM::sumColumns(const RegisterTile &all, const KTile &kTile,
                        const Scratch &scratch) {
  int64_t groupColumns = weights.groupColumns;
  if (groupColumns >= registerColumns) {
    // A register tile is a part of one group.
    int64_t whole = groupColumns / registerColumns * registerColumns;
    e.loop(e.index(0), e.index(weights.groups), 1, [&](Value group) {
      Value groupStart = e.mul(group, groupColumns);
      auto sum = [&](Value column, int64_t columns) {
        sumTile({all.firstVector, all.vectors, all.panel,
                 e.add(groupStart, column), group, columns, columns},
                kTile, scratch);
      };
      e.loop(e.index(0), e.index(whole), registerColumns,
             [&](Value column) { sum(column, registerColumns); });
      if (whole < groupColumns)
        sum(e.index(whole), groupColumns - whole);
    });
    return;
  }
  // A register tile is a few groups.
  int64_t tileGroups = registerColumns / groupColumns;
  int64_t whole = weights.groups / tileGroups * tileGroups;
  auto sum = [&](Value group, int64_t groups) {
    sumTile({all.firstVector, all.vectors, all.panel,
             e.mul(group, groupColumns), group, groups * groupColumns,
             groupColumns},
            kTile, scratch);
  };
  e.loop(e.index(0), e.index(whole), tileGroups,
         [&](Value group) { sum(group, tileGroups); });
  if (whole < weights.groups)
    sum(e.index(whole), weights.groups - whole);
}

void AlongM::sumTile(const RegisterTile &registers, const KTile &kTile,
                     const Scratch &scratch) {
  if (windowsPerChain >= windowsPerTile)
    return sumChain(registers, kTile, e.index(0), kTile.windows, scratch);
  e.loop(e.index(0), kTile.windows, windowsPerChain, [&](Value first) {
    Value end = e.min(e.add(first, windowsPerChain), kTile.windows);
    sumChain(registers, kTile, first, end, scratch);
  });
}

/// Has LLVM leave the loop that makes `sums` as it is. One of few turns would
/// be unrolled whole, and the loads of A, which all columns of a group share,
/// moved in front of the loop over the columns: more vectors than registers
/// hold, which then go by the stack.
static void keepRolled(ArrayRef<Value> sums) {
  auto loop = sums.front().getDefiningOp<scf::ForOp>();
  if (!loop)
    return;
  MLIRContext *context = loop.getContext();
  auto yes = BoolAttr::get(context, true);
  auto unroll = LLVM::LoopUnrollAttr::get(context, /*disable=*/yes, {}, {}, {},
                                          {}, {}, {});
  // The name that branches of the LLVM dialect have for it.
  loop->setAttr("loop_annotation", LLVM::LoopAnnotationAttr::get(
                                       context, {}, {}, {}, unroll, {}, {}, {},
                                       {}, {}, {}, {}, {}, {}, {}, {}));
}

/// Adds the products of a tile's windows from `first` to `end`, summed in
/// registers, to the scratch tile.
void AlongM::sumChain(const RegisterTile &registers, const KTile &kTile,
                      Value first, Value end, const Scratch &scratch) {
  int64_t count = registers.columns * registers.vectors;
  SmallVector<Value> sums(count, e.zeroVector());
  sums = addChain(registers, kTile, first, end, scratch, sums);
  keepRolled(sums);

  Value firstSum =
      e.add(e.mul(registers.panel, weights.panel), registers.firstColumn);
  Value isFirst = e.b.createOrFold<arith::AndIOp>(kTile.isFirst,
                                                  isEqual(first, e.index(0)));
  for (auto [i, sum] : llvm::enumerate(sums)) {
    SmallVector<Value> place = {
        e.add(firstSum, i / registers.vectors),
        e.mul(e.add(registers.firstVector, i % registers.vectors), e.lanes)};
    Value before =
        e.select(isFirst, e.zeroVector(), e.load(scratch.sums, place));
    e.store(e.addElements(before, sum), scratch.sums, place);
  }
}

/// Adds the products of the windows from `first` to `end`.
SmallVector<Value> AlongM::addChain(const RegisterTile &registers,
                                    const KTile &kTile, Value first, Value end,
                                    const Scratch &scratch,
                                    ArrayRef<Value> sums) {
  auto addOne = [&](Value window, ArrayRef<Value> before) {
    return addWindows(registers, kTile, window, Value(), scratch, before);
  };
  if (!isOfPairs() || tile.pattern.n % 2 == 0)
    return e.loop(first, end, 1, sums, addOne);
  Value whole = e.add(first, e.roundDown(e.sub(end, first), 2));
  SmallVector<Value> results =
      e.loop(first, whole, 2, sums, [&](Value window, ArrayRef<Value> before) {
        return addWindows(registers, kTile, window, e.add(window, 1), scratch,
                          before);
      });
  keepRolled(results);
  return e.loop(whole, end, 1, results, addOne);
}

/// Adds the products of a window, and of a second one where that is not null.
SmallVector<Value> AlongM::addWindows(const RegisterTile &registers,
                                      const KTile &kTile, Value window,
                                      Value second, const Scratch &scratch,
                                      ArrayRef<Value> sums) {
  const ::nm::Pattern &pattern = tile.pattern;
  // A pair has units of one window, or of two.
  int64_t step = isOfPairs() && pattern.n % 2 == 0 ? 2 : 1;
  return e.sumItems(
      e.index(0), pattern.n / step, vectorsOfUnit * pattern.bk,
      pattern.bk == 1 ? kUnroll / 2 : 1, sums,
      [&](Value item, ArrayRef<Value> itemSums) {
        SmallVector<Unit, 2> units = {{window, e.mul(item, step)}};
        if (step == 2)
          units.push_back({window, e.add(units[0].unit, 1)});
        else if (second)
          units.push_back({second, units[0].unit});
        return addUnits(registers, kTile, units, scratch, itemSums);
      });
}

/// Adds the products of a unit, or of a pair of them.
SmallVector<Value> AlongM::addUnits(const RegisterTile &registers,
                                    const KTile &kTile, ArrayRef<Unit> units,
                                    const Scratch &scratch,
                                    ArrayRef<Value> sums) {
  int64_t bk = tile.pattern.bk;
  SmallVector<Value> numbers;
  SmallVector<SmallVector<Value>> starts;
  for (const Unit &unit : units) {
    numbers.push_back(unitOf(kTile, unit));
    starts.push_back(startsOf(registers, kTile, unit, scratch));
  }
  return e.sumItems(
      e.index(0), bk, /*rowsPerItem=*/vectorsOfUnit, kUnroll / vectorsOfUnit,
      sums, [&](Value rowOfUnit, ArrayRef<Value> rowSums) {
        SmallVector<Value> weightRows;
        SmallVector<SmallVector<Value>> aRows;
        for (auto [number, start] : llvm::zip_equal(numbers, starts)) {
          weightRows.push_back(e.add(e.mul(number, bk), rowOfUnit));
          aRows.push_back(advanceAll(start, rowOfUnit, scratch));
        }
        if (isOfPairs())
          return addPair(registers, weightRows, aRows, rowSums);
        return addRow(registers, weightRows.front(), aRows.front(), rowSums);
      });
}

/// Where the rows of A begin that the groups of columns choose for a unit.
SmallVector<Value> AlongM::startsOf(const RegisterTile &registers,
                                    const KTile &kTile, const Unit &unit,
                                    const Scratch &scratch) {
  const ::nm::Pattern &pattern = tile.pattern;
  // The index is scaled by itself: what it is added to is one addition for all
  // units of a window.
  Value windowStart = e.address(
      scratch.a,
      {e.mul(unit.window, pattern.windowRows()),
       e.mul(e.floorDiv(registers.firstVector, vectorsOfUnit), e.lanes)});
  SmallVector<Value> starts;
  for (int64_t group = 0; group < registers.columns / registers.columnsPerGroup;
       ++group) {
    Value position = weights.unitIndex(registers.panel, unitOf(kTile, unit),
                                       e.add(registers.firstGroup, group));
    starts.push_back(e.advance(
        windowStart, e.mul(position, pattern.bk * elementsOfRow(scratch))));
  }
  return starts;
}

/// Row `rowOfUnit` of each unit that begins at one of `starts`.
SmallVector<Value> AlongM::advanceAll(ArrayRef<Value> starts, Value rowOfUnit,
                                      const Scratch &scratch) {
  if (tile.pattern.bk == 1)
    return SmallVector<Value>(starts);
  return llvm::map_to_vector(starts, [&](Value start) {
    return e.advance(start, e.mul(rowOfUnit, elementsOfRow(scratch)));
  });
}

/// Adds the products of a row of weights and the rows of A whose addresses
/// `aRows` has, one for each group of columns.
SmallVector<Value> AlongM::addRow(const RegisterTile &registers,
                                  Value weightRow, ArrayRef<Value> aRows,
                                  ArrayRef<Value> sums) {
  SmallVector<Value> a, results, broadcasts;
  auto broadcast = [&](int64_t column, int64_t count) {
    broadcasts.append(weights.broadcasts(registers.panel, weightRow,
                                         e.add(registers.firstColumn, column),
                                         count));
  };
  bool isShared = registers.columnsPerGroup > 1;
  if (!isShared)
    broadcast(0, registers.columns);
  for (int64_t column = 0; column < registers.columns; ++column) {
    if (column % registers.columnsPerGroup == 0) {
      a.clear();
      Value row = aRows[column / registers.columnsPerGroup];
      // A few multiplications of one column load from the address: an Intel
      // core takes each for two instructions where the address is a sum of two
      // registers.
      if (!isShared && registers.vectors > 1)
        row = e.keepInRegister(row);
      for (int64_t vector = 0; vector < registers.vectors; ++vector)
        a.push_back(e.loadAt(row, vector * e.lanes));
    }
    if (isShared)
      broadcast(column, 1);
    for (Value vector : a)
      results.push_back(e.multiplyAdd(vector, broadcasts[size_t(column)],
                                      sums[results.size()]));
  }
  return results;
}

/// Adds the products of one or two rows of weights and the rows of A whose
/// addresses `aRows` has, for each of them one for each group of columns.
SmallVector<Value> AlongM::addPair(const RegisterTile &registers,
                                   ArrayRef<Value> weightRows,
                                   ArrayRef<SmallVector<Value>> aRows,
                                   ArrayRef<Value> sums) {
  bool isPair = weightRows.size() == 2;
  SmallVector<Value> pairs = weights.pairs(
      registers.panel, weightRows[0], isPair ? weightRows[1] : Value(),
      registers.firstColumn, registers.columns);
  SmallVector<Value> a, results;
  for (int64_t column = 0; column < registers.columns; ++column) {
    if (column % registers.columnsPerGroup == 0) {
      a.clear();
      int64_t group = column / registers.columnsPerGroup;
      for (int64_t place = 0; place < registers.vectors / 2; ++place) {
        auto load = [&](ArrayRef<Value> rows) {
          return e.loadAt(rows[size_t(group)], place * e.lanes);
        };
        a.append(interleavePairs(e, load(aRows[0]),
                                 isPair ? load(aRows[1]) : Value()));
      }
    }
    for (Value vector : a)
      results.push_back(multiplyPairs(e, vector, pairs[size_t(column)],
                                      sums[results.size()]));
  }
  return results;
}

void mlir::nm::expandAlongM(VectorEmitter &emitter, const ProductTile &tile,
                            const VectorSchedule &schedule) {
  AlongM(emitter, tile, schedule).expand();
}
