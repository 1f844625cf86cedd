//===- WgmmaSelectStrategy.cpp - Products of selected bytes ---------------===//
//
// A warpgroup makes 64 rows of C by wgmma m64nNk32, whose first operand is in
// registers: four words of each thread, of two rows of A, which it selects from
// words of A's tile in shared memory. Which those are, and how it selects, is
// in SelectedBytes.h and SelectedFragments.h. The second operand are the
// weights of up to 64 columns, packed in chunks of 16 bytes of each column. A
// thread's next words are loaded while products of the last ones are in flight.
//
// Sums of f8 are cut off after 13 bits of mantissa or so. With promoted sums
// those of a tile are made for 64 columns at a time, or 128, waited for, and
// added.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/MmaFragments.h"
#include "GPU/Strategies/Mma/SparseOperands.h"
#include "GPU/Strategies/Warpgroup/WarpgroupExpansion.h"
#include "GPU/Sums/TileStores.h"

#include "nm/Dialect/NM/IR/EmittedIndex.h"
#include "nm/Format/SelectedFragments.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <array>
#include <numeric>

using namespace mlir;
using namespace mlir::nm;
using ::nm::MmaShape;
using ::nm::SelectedBytes;
using ::nm::SelectedSource;
using ::nm::SelectedWord;

/// Registers of an instruction's first operand: of two halves of its k, those
/// of two rows, eight apart.
static constexpr int64_t kHalves = 2, kRows = 2, kRowStep = 8;
/// Bytes of a chunk that is swizzled, of a selector, and of an access of some
/// at most.
static constexpr int64_t kChunkBytes = 16, kSelectorBytes = 2,
                         kSelectorAccess = 16;
/// Columns that a thread has side by side, of each 16, and lines whose loads,
/// for an epilogue, do not wait for stores of others.
static constexpr int64_t kPerLine = 4, kColumnsOfLine = 16, kLinesAtOnce = 8;
/// Registers of words that instructions in flight may read: a thread has others
/// for sums, and for words that are loaded. Of tiles of many steps, fewer.
static constexpr int64_t kMostWords = 48, kMostWordsOfMany = 32;
/// Sums of a thread of 64 columns.
static constexpr int64_t kSumsOfBlock = 32;

namespace {
/// The words of an instruction's first operand.
using Fragment = std::array<Value, kHalves * kRows>;

/// Words of a run, those that are loaded; the others are null.
using RunWords = SmallVector<Value>;
/// The words of accesses that a tile's steps have loaded, of each row, by the
/// column of lane 0: several words may be of one run, and so of one access.
using LoadedAccesses =
    std::array<llvm::SmallDenseMap<int64_t, SmallVector<Value>>, kRows>;
/// The two words of a source.
using SourceWords = std::pair<Value, Value>;

/// What a thread loads for an instruction's k: of each half and row the words
/// that a word is selected from, and of each half the units' selectors.
struct LoadedStep {
  RunWords words[kHalves][kRows];
  SmallVector<Value> selectors[kHalves];
};

/// The sources of the words that a thread selects for an instruction's k.
struct StepSources {
  SmallVector<SourceWords> sources[kHalves][kRows];
};

/// A tile's operands in shared memory, as a thread finds its parts of them.
struct SelectTile {
  /// The bytes of A and of selectors, in memrefs of one dimension.
  Value a, selectors;
  /// The first byte of the thread's first row, and the byte in a panel of its
  /// first run. Both are i32.
  Value row, byte;
  /// Those of the warpgroup's first columns.
  Value weights, firstSelector;
};

class SelectSource : public OperandSource {
public:
  SelectSource(SpMMOp op, const GpuTile &tile)
      : OperandSource(op, tile, SparseTypes(op).sum,
                      getSchedule(op).promote ? SumsKept::Promoted
                                              : SumsKept::InPlace),
        types(op), bytes(*SelectedBytes::of(op.getPattern().getPattern())),
        columnsOfUnit(op.getPattern().getPattern().bn) {}

  static LogicalResult verify(SpMMOp op, const GpuTile &tile);

  void open(ThreadEmitter &emitter, SpMMOp op) override;
  int64_t countSteps() const override {
    return keptRows() / bytes.kInstructionK;
  }
  /// One by one: instructions of fewer than 64 columns make some of a block's.
  SmallVector<Type> typesOf(const SumsPart &part) const override {
    return SmallVector<Type>(part.blocks * kSumsOfBlock, sum);
  }
  SumsPart partAtOnce() const override {
    return {0, warpgroupM, 0, blocksAtOnce(warpgroupN)};
  }
  bool readsRegisters() const override { return true; }
  int64_t stepsAtOnce(const SumsPart &part) const override;
  void prepare(ThreadEmitter &emitter, const SumsPart &part,
               int64_t step) override;
  void multiply(ThreadEmitter &emitter, const SumsPart &part, int64_t step,
                SplitPair pair, MutableArrayRef<Value> sums,
                SumsUse use) override;
  bool store(ThreadEmitter &emitter, SpMMOp op, ArrayRef<Value> sums, Value c,
             Value initial,
             const std::optional<TileEpilogue> &epilogue) override;

private:
  /// Blocks of 64 columns whose sums of a tile have registers beside promoted
  /// sums of `columns`: all of two blocks, or one of more.
  static int64_t blocksAtOnce(int64_t columns) {
    int64_t blocks = columns / ::nm::kWarpgroupM;
    return blocks <= 2 ? blocks : 1;
  }
  int64_t keptRows() const {
    return tile.k / bytes.windowRows * bytes.keptOfWindow;
  }
  /// Whether tiles have more steps than the one to four of windows that keep 1,
  /// 2 or 4 of each eight rows.
  bool hasManySteps() const { return bytes.wordsOfRun() > 1; }
  /// Units that the warpgroup's columns are of.
  int64_t units() const {
    return std::max<int64_t>(1, warpgroupN / columnsOfUnit);
  }
  int64_t unitsOfTile() const {
    return std::max<int64_t>(1, tile.n / columnsOfUnit);
  }
  int64_t unitOf(int64_t column) const {
    return std::min(column / columnsOfUnit, units() - 1);
  }
  /// Columns of an instruction: of one unit, and of one block of 64.
  int64_t columnsAtOnce() const {
    return std::gcd(columnsOfUnit, ::nm::kWarpgroupM);
  }

  int64_t firstUnitOf(const SumsPart &part) const {
    return unitOf(part.firstBlock * ::nm::kWarpgroupM);
  }
  int64_t lastUnitOf(const SumsPart &part) const {
    return unitOf((part.firstBlock + part.blocks) * ::nm::kWarpgroupM - 1);
  }

  Value rowOfThread(ThreadEmitter &emitter);
  /// What a thread makes of its words `2 * step` and `2 * step + 1`.
  SelectedWord wordOf(int64_t step, int64_t half) const {
    return SelectedWord::of(bytes,
                            (kHalves * step + half) % bytes.wordsOfRun());
  }
  LoadedStep loadStep(ThreadEmitter &emitter, int64_t step);
  Value loadAccess(ThreadEmitter &emitter, int64_t column, int64_t row);
  RunWords loadWords(ThreadEmitter &emitter, int64_t step, int64_t half,
                     int64_t row);
  SmallVector<Value> loadSelectors(ThreadEmitter &emitter, int64_t step,
                                   int64_t half);
  StepSources makeSources(ThreadEmitter &emitter, int64_t step);
  Fragment selectFragment(ThreadEmitter &emitter, const StepSources &from,
                          int64_t step, int64_t unit);
  void emitInstruction(ThreadEmitter &emitter, const Fragment &rows,
                       Value ofWeights, MutableArrayRef<Value> sums,
                       SumsUse use);

  SparseTypes types;
  SelectedBytes bytes;
  int64_t columnsOfUnit;
  SelectTile in;
  /// What the step that `prepare` takes next has loaded, and the steps before
  /// it; and the fragments of the step that is multiplied, by unit.
  LoadedStep loaded;
  LoadedAccesses known;
  SmallVector<Fragment> fragments;
};
} // namespace

LogicalResult SelectSource::verify(SpMMOp op, const GpuTile &tile) {
  auto a = cast<MemRefType>(op.getA().getType());
  auto layout = dyn_cast<TileLayoutAttr>(a.getLayout());
  if (!layout || layout.getPanelColumns() != SelectedBytes::kPanelBytes ||
      layout.getXors().empty() ||
      !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(
          cast<MemRefType>(op.getIndices().getType())))
    return op.emitOpError() << "expected operands in workgroup memory, where "
                               "nm-stage-shared-memory copies them, but got "
                            << a << " and " << op.getIndices().getType();
  int64_t columns = getSchedule(op).warpgroupN;
  int64_t unit = op.getPattern().getPattern().bn;
  if (columns % unit != 0 && unit % columns != 0)
    return op.emitOpError()
           << "expected a warpgroup's " << columns
           << " columns to be whole units of " << unit << ", or a part of one";
  int64_t beside = blocksAtOnce(columns) * ::nm::kWarpgroupM;
  return verifySums(op, tile, getSchedule(op).promote ? 2 : 1,
                    /*rows=*/
                    llvm::divideCeil(::nm::kWarpgroupM * beside, columns));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The first of a thread's two rows of the warpgroup's A.
Value SelectSource::rowOfThread(ThreadEmitter &emitter) {
  Value inGroup = emitter.toI32(emitter.rem(thread, ::nm::kWarpgroupThreads));
  auto [warp, lane] = emitter.split(inGroup, MmaShape::kLanes);
  EmittedIndex lanes{&emitter, emitter.div(lane, bytes.kLanes)};
  return emitter.add(emitter.mul(warp, MmaShape::kM),
                     bytes.rowOfLanes(lanes).value);
}

void SelectSource::open(ThreadEmitter &emitter, SpMMOp op) {
  in.a = flattenBuffer(emitter, op.getA());
  in.selectors = flattenBuffer(emitter, op.getIndices());
  Value row = rowOfThread(emitter);
  Value first = emitter.mul(emitter.toI32(groupM), warpgroupM);
  in.row = emitter.mul(emitter.add(first, row), bytes.kPanelBytes);
  Value lane = emitter.toI32(emitter.rem(thread, bytes.kLanes));
  Value swizzle = emitter.mul(emitter.rem(row, kRowStep), kChunkBytes);
  in.byte = emitter.builder.createOrFold<arith::XOrIOp>(
      emitter.loc, emitter.mul(lane, bytes.runBytes()), swizzle);
  in.weights = getChunkDescriptor(emitter, op.getValues(),
                                  emitter.mul(groupN, warpgroupN * keptRows()));
  // A row of selectors is of four kept rows, of all units.
  Value inRow =
      tile.n < columnsOfUnit
          ? emitter.index(0)
          : emitter.div(emitter.mul(groupN, warpgroupN), columnsOfUnit);
  in.firstSelector = emitter.mul(
      emitter.add(emitter.toIndex(emitter.mul(lane, unitsOfTile())), inRow),
      kSelectorBytes);
}

/// The bytes of A from byte `column` of a row on, which is that of lane 0, in
/// the thread's first row or the one eight behind.
Value SelectSource::loadAccess(ThreadEmitter &emitter, int64_t column,
                               int64_t row) {
  auto type = VectorType::get(bytes.accessBytes(), types.element);
  int64_t inPanel = column % bytes.kPanelBytes,
          rows = column / bytes.kPanelBytes * tile.m + row * kRowStep;
  Value place =
      emitter.add(in.row, emitter.builder.createOrFold<arith::XOrIOp>(
                              emitter.loc, in.byte, emitter.i32(inPanel)));
  Value index = emitter.add(emitter.toIndex(place), rows * bytes.kPanelBytes);
  return vector::LoadOp::create(
      emitter.builder, emitter.loc, type, in.a, index,
      /*nontemporal=*/false, llvm::MaybeAlign(uint64_t(bytes.accessBytes())));
}

/// What one of the thread's two words of a step is selected from, of its first
/// row or the one eight behind.
RunWords SelectSource::loadWords(ThreadEmitter &emitter, int64_t step,
                                 int64_t half, int64_t row) {
  int64_t access = bytes.accessBytes(),
          run = (kHalves * step + half) / bytes.wordsOfRun();
  RunWords words(bytes.runBytes() / bytes.kWord);
  for (int64_t number : wordOf(step, half).accesses(access)) {
    int64_t column = run * bytes.bytesOfLanes() + number * access;
    SmallVector<Value> &loaded = known[row][column];
    if (loaded.empty())
      loaded = emitter.words(loadAccess(emitter, column, row));
    llvm::copy(loaded, words.begin() + number * access / bytes.kWord);
  }
  return words;
}

/// The selectors of the warpgroup's units for one of the thread's two words of
/// a step.
SmallVector<Value> SelectSource::loadSelectors(ThreadEmitter &emitter,
                                               int64_t step, int64_t half) {
  constexpr int64_t kMost = kSelectorAccess / kSelectorBytes;
  int64_t atOnce = std::gcd(units(), kMost),
          firstOfWindows = wordOf(step, half).firstOfWindows,
          word = (kHalves * step + half) * bytes.kLanes;
  OpBuilder &builder = emitter.builder;
  auto type = VectorType::get(atOnce * kSelectorBytes, builder.getI8Type()),
       whole = VectorType::get(atOnce, builder.getIntegerType(16));
  SmallVector<Value> selectors;
  for (int64_t unit = 0; unit < units(); unit += atOnce) {
    Value index = emitter.add(in.firstSelector,
                              (word * unitsOfTile() + unit) * kSelectorBytes);
    Value loaded = vector::LoadOp::create(
        builder, emitter.loc, type, in.selectors, index, /*nontemporal=*/false,
        llvm::MaybeAlign(uint64_t(atOnce * kSelectorBytes)));
    loaded = vector::BitCastOp::create(builder, emitter.loc, whole, loaded);
    for (int64_t i = 0; i < atOnce; ++i) {
      Value selector =
          arith::ExtUIOp::create(builder, emitter.loc, builder.getI32Type(),
                                 emitter.extract(loaded, i));
      selectors.push_back(emitter.add(selector, firstOfWindows));
    }
  }
  return selectors;
}

LoadedStep SelectSource::loadStep(ThreadEmitter &emitter, int64_t step) {
  LoadedStep ofStep;
  for (int64_t half = 0; half < kHalves; ++half) {
    ofStep.selectors[half] = loadSelectors(emitter, step, half);
    for (int64_t row = 0; row < kRows; ++row)
      ofStep.words[half][row] = loadWords(emitter, step, half, row);
  }
  return ofStep;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static Value permute(ThreadEmitter &emitter, Value low, Value high,
                     Value selector) {
  return NVVM::PermuteOp::create(emitter.builder, emitter.loc,
                                 emitter.builder.getI32Type(), low, high,
                                 selector, NVVM::PermuteMode::DEFAULT);
}

/// The sources of the two words of a step, which all units select from.
StepSources SelectSource::makeSources(ThreadEmitter &emitter, int64_t step) {
  StepSources result;
  for (int64_t half = 0; half < kHalves; ++half)
    for (int64_t row = 0; row < kRows; ++row) {
      const RunWords &words = loaded.words[half][row];
      for (const SelectedSource &source : wordOf(step, half).sources) {
        int64_t first = source.firstWord();
        result.sources[half][row].emplace_back(words[first], words[first + 1]);
      }
    }
  return result;
}

/// The kept bytes that `selector` numbers in the sources of `word`.
static Value select(ThreadEmitter &emitter, const SelectedWord &word,
                    ArrayRef<SourceWords> sources, Value selector) {
  std::vector<std::pair<int64_t, Value>> selected;
  for (auto [source, words] : llvm::zip_equal(word.sources, sources))
    selected.emplace_back(source.firstField, permute(emitter, words.first,
                                                     words.second, selector));
  return ::nm::joinFields(
      std::move(selected), [&](Value left, Value right, int64_t which) {
        return permute(emitter, left, right, emitter.i32(which));
      });
}

/// PTX's order: rows change first.
Fragment SelectSource::selectFragment(ThreadEmitter &emitter,
                                      const StepSources &from, int64_t step,
                                      int64_t unit) {
  Fragment fragment;
  for (int64_t half = 0; half < kHalves; ++half)
    for (int64_t row = 0; row < kRows; ++row)
      fragment[half * kRows + row] =
          select(emitter, wordOf(step, half), from.sources[half][row],
                 loaded.selectors[half][unit]);
  return fragment;
}

/// Sums of C's rows, not of its columns: the first operand is of A.
void SelectSource::emitInstruction(ThreadEmitter &emitter, const Fragment &rows,
                                   Value ofWeights, MutableArrayRef<Value> sums,
                                   SumsUse use) {
  emitWgmmaOfRegisters(emitter, types, bytes.kInstructionK, rows, ofWeights,
                       sums, use);
}

int64_t SelectSource::stepsAtOnce(const SumsPart &part) const {
  int64_t words = (lastUnitOf(part) - firstUnitOf(part) + 1) * kHalves * kRows,
          mostWords = hasManySteps() ? kMostWordsOfMany : kMostWords;
  return std::max<int64_t>(1, mostWords / words);
}

/// Selects the words of a step, and loads those of the next.
void SelectSource::prepare(ThreadEmitter &emitter, const SumsPart &part,
                           int64_t step) {
  if (step == 0) {
    known = LoadedAccesses();
    loaded = loadStep(emitter, step);
  }
  StepSources sources = makeSources(emitter, step);
  fragments.assign(units(), {});
  for (int64_t unit = firstUnitOf(part); unit <= lastUnitOf(part); ++unit)
    fragments[unit] = selectFragment(emitter, sources, step, unit);
  if (step + 1 < countSteps())
    loaded = loadStep(emitter, step + 1);
}

/// The products of each 64 columns, by unit or part of one.
void SelectSource::multiply(ThreadEmitter &emitter, const SumsPart &part,
                            int64_t step, SplitPair,
                            MutableArrayRef<Value> sums, SumsUse use) {
  constexpr int64_t kChunk = ::nm::MatrixDescriptor::kChunk;
  int64_t ofStep = step * bytes.kInstructionK * ::nm::kWarpgroupM,
          atOnce = columnsAtOnce();
  for (int64_t column = 0; column < part.blocks * ::nm::kWarpgroupM;
       column += atOnce) {
    int64_t inTile = part.firstBlock * ::nm::kWarpgroupM + column,
            block = inTile / ::nm::kWarpgroupM,
            inBlock = inTile % ::nm::kWarpgroupM;
    Value ofWeights = advanceDescriptor(emitter, in.weights,
                                        block * keptRows() * ::nm::kWarpgroupM +
                                            ofStep + inBlock * kChunk);
    emitInstruction(emitter, fragments[unitOf(inTile)], ofWeights,
                    sums.slice(size_t(column / 2), size_t(atOnce / 2)), use);
  }
}

//===----------------------------------------------------------------------===//
// C
//===----------------------------------------------------------------------===//

/// Lane q of four stores four neighbours, from 4q on, of each 16 columns, which
/// packed weights have the even ones of first.
bool SelectSource::store(ThreadEmitter &emitter, SpMMOp op,
                         ArrayRef<Value> sums, Value c, Value initial,
                         const std::optional<TileEpilogue> &epilogue) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value m = emitter.toIndex(emitter.add(
      emitter.mul(emitter.toI32(groupM), warpgroupM), rowOfThread(emitter)));
  Value n =
      emitter.add(emitter.mul(groupN, warpgroupN),
                  emitter.mul(emitter.rem(thread, bytes.kLanes), kPerLine));
  auto type = VectorType::get(kPerLine, sum);
  TileStores stores(builder, op, c, initial, epilogue, kPerLine);
  SmallVector<TileLine> lines;
  auto flush = [&] {
    // It forgets what it has checked once.
    TileStores some = stores;
    some.store(lines, tile);
    lines.clear();
  };
  // Of eight columns a thread has two sums of its first row, then of the other.
  for (int64_t column = 0; column < warpgroupN; column += kColumnsOfLine)
    for (int64_t row = 0; row < kRows; ++row) {
      size_t even = size_t(column / 2 + 2 * row), odd = even + 4;
      Value line = vector::FromElementsOp::create(
          builder, loc, type,
          ValueRange{sums[even], sums[odd], sums[even + 1], sums[odd + 1]});
      lines.push_back(
          {emitter.add(m, row * kRowStep), emitter.add(n, column), line});
      if (int64_t(lines.size()) == kLinesAtOnce)
        flush();
    }
  if (!lines.empty())
    flush();
  return true;
}

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createWgmmaSelectExpansion(SparseProductOpInterface product,
                                     const GpuTile &tile) {
  return WarpgroupExpansion::create<SelectSource>(product, tile);
}
