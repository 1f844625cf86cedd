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
#include "GPU/Sums/CompleteSums.h"
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
  /// The first byte of the thread's first row, or of its first run there, in
  /// panels that are not swizzled; and the byte in a swizzled panel of its
  /// first run. Both are i32.
  Value row, byte;
  /// Those of the warpgroup's first columns.
  Value weights, firstSelector;
};

class WgmmaSelectExpansion : public WarpgroupExpansion {
public:
  /// Sums are carried one by one, as with promotion: instructions of fewer than
  /// 64 columns make some of a block's.
  WgmmaSelectExpansion(SpMMOp op, const GpuTile &tile)
      : WarpgroupExpansion(tile, getSchedule(op).getWarpgroup(),
                           SparseTypes(op).sum, /*isPromoted=*/true),
        addsPromotedSums(getSchedule(op).isPromoted()), types(op),
        bytes(*SelectedBytes::of(op.getPattern().getPattern())),
        columnsOfUnit(op.getPattern().getPattern().bn) {}

  static LogicalResult verify(SpMMOp op, const GpuTile &tile);

  SmallVector<Value> expand(OpBuilder &builder, SparseProductOpInterface op,
                            ArrayRef<Value> sums) override;
  SmallVector<Value> complete(OpBuilder &builder, Location loc,
                              ArrayRef<Value> sums) override {
    return addsPromotedSums ? SmallVector<Value>(sums)
                            : completeSums(builder, loc, sums);
  }
  void end(OpBuilder &builder, SparseProductOpInterface op,
           ArrayRef<Value> sums, Value initial) override;

private:
  static WgmmaSelectScheduleAttr getSchedule(SpMMOp op) {
    return cast<WgmmaSelectScheduleAttr>(op.getScheduleAttr());
  }
  /// Blocks of 64 columns whose sums of a tile have registers beside promoted
  /// sums of `columns`: all of two blocks, or one of more.
  static int64_t blocksAtOnce(int64_t columns) {
    int64_t blocks = columns / ::nm::kWarpgroupM;
    return blocks <= 2 ? blocks : 1;
  }
  int64_t keptRows() const {
    return tile.k / bytes.windowRows * bytes.keptOfWindow;
  }
  int64_t steps() const { return keptRows() / bytes.kInstructionK; }
  /// Whether tiles have more steps than the one to four of windows that divide
  /// eight rows and keep 1, 2 or 4 of each eight.
  bool hasManySteps() const {
    return !bytes.isSwizzled() || bytes.wordsOfRun() > 1;
  }
  int64_t blocks() const { return warpgroupN / ::nm::kWarpgroupM; }
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

  SelectTile partialTile(ThreadEmitter &emitter, SpMMOp op);
  Value rowOfThread(ThreadEmitter &emitter);
  /// What a thread makes of its words `2 * step` and `2 * step + 1`.
  SelectedWord wordOf(int64_t step, int64_t half) const {
    return SelectedWord::of(bytes,
                            (kHalves * step + half) % bytes.wordsOfRun());
  }
  LoadedStep loadStep(ThreadEmitter &emitter, const SelectTile &in,
                      int64_t step, LoadedAccesses &known);
  Value loadAccess(ThreadEmitter &emitter, const SelectTile &in, int64_t column,
                   int64_t row);
  RunWords loadWords(ThreadEmitter &emitter, const SelectTile &in, int64_t step,
                     int64_t half, int64_t row, LoadedAccesses &known);
  SmallVector<Value> loadSelectors(ThreadEmitter &emitter, const SelectTile &in,
                                   int64_t step, int64_t half);
  StepSources makeSources(ThreadEmitter &emitter, const LoadedStep &loaded,
                          int64_t step);
  Fragment selectFragment(ThreadEmitter &emitter, const LoadedStep &loaded,
                          const StepSources &from, int64_t step, int64_t unit);
  void multiply(ThreadEmitter &emitter, const Fragment &rows, Value weights,
                MutableArrayRef<Value> sums, bool addsToSums);
  void multiplyBlock(ThreadEmitter &emitter, const SelectTile &in,
                     ArrayRef<Fragment> ofUnits, int64_t step, int64_t block,
                     MutableArrayRef<Value> sums, bool addsToSums);
  void multiplyTile(ThreadEmitter &emitter, const SelectTile &in,
                    int64_t firstBlock, int64_t numBlocks,
                    MutableArrayRef<Value> sums, bool addsToSums);

  bool addsPromotedSums;
  SparseTypes types;
  SelectedBytes bytes;
  int64_t columnsOfUnit;
};
} // namespace

LogicalResult WgmmaSelectExpansion::verify(SpMMOp op, const GpuTile &tile) {
  auto a = cast<MemRefType>(op.getA().getType());
  auto layout = dyn_cast<TileLayoutAttr>(a.getLayout());
  SelectedBytes bytes = *SelectedBytes::of(op.getPattern().getPattern());
  if (!layout || layout.getPanelColumns() != bytes.panelBytes() ||
      layout.getXors().empty() == bytes.isSwizzled() ||
      !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(
          cast<MemRefType>(op.getIndices().getType())))
    return op.emitOpError() << "expected operands in workgroup memory, where "
                               "nm-stage-shared-memory copies them, but got "
                            << a << " and " << op.getIndices().getType();
  ArrayRef<int64_t> warpgroup = getSchedule(op).getWarpgroup();
  int64_t unit = op.getPattern().getPattern().bn;
  if (warpgroup[1] % unit != 0 && unit % warpgroup[1] != 0)
    return op.emitOpError()
           << "expected a warpgroup's " << warpgroup[1]
           << " columns to be whole units of " << unit << ", or a part of one";
  int64_t beside = blocksAtOnce(warpgroup[1]) * ::nm::kWarpgroupM;
  return verifySums(op, tile, warpgroup, getSchedule(op).isPromoted() ? 2 : 1,
                    /*rows=*/
                    llvm::divideCeil(::nm::kWarpgroupM * beside, warpgroup[1]));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The first of a thread's two rows of the warpgroup's A.
Value WgmmaSelectExpansion::rowOfThread(ThreadEmitter &emitter) {
  Value inGroup = emitter.toI32(emitter.rem(thread, ::nm::kWarpgroupThreads));
  auto [warp, lane] = emitter.split(inGroup, MmaShape::kLanes);
  EmittedIndex lanes{&emitter, emitter.div(lane, bytes.kLanes)};
  return emitter.add(emitter.mul(warp, MmaShape::kM),
                     bytes.rowOfLanes(lanes).value);
}

SelectTile WgmmaSelectExpansion::partialTile(ThreadEmitter &emitter,
                                             SpMMOp op) {
  SelectTile in;
  in.a = flattenBuffer(emitter, op.getA());
  in.selectors = flattenBuffer(emitter, op.getIndices());
  Value row = rowOfThread(emitter);
  Value first = emitter.mul(emitter.toI32(groupM), warpgroupM);
  in.row = emitter.mul(emitter.add(first, row), bytes.panelBytes());
  Value lane = emitter.toI32(emitter.rem(thread, bytes.kLanes));
  if (bytes.isSwizzled()) {
    Value swizzle = emitter.mul(emitter.rem(row, kRowStep), kChunkBytes);
    in.byte = emitter.builder.createOrFold<arith::XOrIOp>(
        emitter.loc, emitter.mul(lane, bytes.runBytes()), swizzle);
  } else {
    in.row = emitter.add(in.row, emitter.mul(lane, bytes.runBytes()));
  }
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
  return in;
}

/// The bytes of A from byte `column` of a row on, which is that of lane 0, in
/// the thread's first row or the one eight behind.
Value WgmmaSelectExpansion::loadAccess(ThreadEmitter &emitter,
                                       const SelectTile &in, int64_t column,
                                       int64_t row) {
  auto type = VectorType::get(bytes.accessBytes(), types.element);
  int64_t inPanel = column % bytes.panelBytes(),
          rows = column / bytes.panelBytes() * tile.m + row * kRowStep;
  Value place = in.row;
  if (bytes.isSwizzled())
    place =
        emitter.add(in.row, emitter.builder.createOrFold<arith::XOrIOp>(
                                emitter.loc, in.byte, emitter.i32(inPanel)));
  int64_t behind =
      rows * bytes.panelBytes() + (bytes.isSwizzled() ? 0 : inPanel);
  Value index = emitter.add(emitter.toIndex(place), behind);
  return vector::LoadOp::create(
      emitter.builder, emitter.loc, type, in.a, index,
      /*nontemporal=*/false, llvm::MaybeAlign(uint64_t(bytes.accessBytes())));
}

/// What one of the thread's two words of a step is selected from, of its first
/// row or the one eight behind.
RunWords WgmmaSelectExpansion::loadWords(ThreadEmitter &emitter,
                                         const SelectTile &in, int64_t step,
                                         int64_t half, int64_t row,
                                         LoadedAccesses &known) {
  int64_t access = bytes.accessBytes(),
          run = (kHalves * step + half) / bytes.wordsOfRun();
  RunWords words(bytes.runBytes() / bytes.kWord);
  for (int64_t number : wordOf(step, half).accesses(access)) {
    int64_t column = run * bytes.bytesOfLanes() + number * access;
    SmallVector<Value> &loaded = known[row][column];
    if (loaded.empty())
      loaded = emitter.words(loadAccess(emitter, in, column, row));
    llvm::copy(loaded, words.begin() + number * access / bytes.kWord);
  }
  return words;
}

/// The selectors of the warpgroup's units for one of the thread's two words of
/// a step.
SmallVector<Value> WgmmaSelectExpansion::loadSelectors(ThreadEmitter &emitter,
                                                       const SelectTile &in,
                                                       int64_t step,
                                                       int64_t half) {
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

LoadedStep WgmmaSelectExpansion::loadStep(ThreadEmitter &emitter,
                                          const SelectTile &in, int64_t step,
                                          LoadedAccesses &known) {
  LoadedStep loaded;
  for (int64_t half = 0; half < kHalves; ++half) {
    loaded.selectors[half] = loadSelectors(emitter, in, step, half);
    for (int64_t row = 0; row < kRows; ++row)
      loaded.words[half][row] = loadWords(emitter, in, step, half, row, known);
  }
  return loaded;
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

/// The sources of the two words of a step, which all units select from. What is
/// of three words is shifted to two.
StepSources WgmmaSelectExpansion::makeSources(ThreadEmitter &emitter,
                                              const LoadedStep &loaded,
                                              int64_t step) {
  StepSources result;
  for (int64_t half = 0; half < kHalves; ++half)
    for (int64_t row = 0; row < kRows; ++row) {
      const RunWords &words = loaded.words[half][row];
      for (const SelectedSource &source : wordOf(step, half).sources) {
        int64_t first = source.firstWord();
        SourceWords pair(words[first], words[first + 1]);
        if (source.isShifted()) {
          Value shift = emitter.i32(source.shift());
          pair = {permute(emitter, words[first], words[first + 1], shift),
                  permute(emitter, words[first + 1], words[first + 2], shift)};
        }
        result.sources[half][row].push_back(pair);
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
Fragment WgmmaSelectExpansion::selectFragment(ThreadEmitter &emitter,
                                              const LoadedStep &loaded,
                                              const StepSources &from,
                                              int64_t step, int64_t unit) {
  Fragment fragment;
  for (int64_t half = 0; half < kHalves; ++half)
    for (int64_t row = 0; row < kRows; ++row)
      fragment[half * kRows + row] =
          select(emitter, wordOf(step, half), from.sources[half][row],
                 loaded.selectors[half][unit]);
  return fragment;
}

/// The text of the instruction on `sums` registers: results, then what they
/// begin with, four words, and a descriptor.
static std::string getText(size_t sums, const SparseTypes &types,
                           bool addsToSums) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto list = [&](size_t first, size_t count) {
    for (size_t i = first; i < first + count; ++i)
      stream << (i == first ? "{$" : ", $") << i;
    stream << "}";
  };
  stream << "{ .reg .pred p; setp.ne.b32 p, " << int(addsToSums) << ", 0; "
         << "wgmma.mma_async.sync.aligned.m" << ::nm::kWarpgroupM << "n"
         << 2 * sums << "k" << SelectedBytes::kInstructionK
         << (types.sum.isInteger() ? ".s32." : ".f32.") << types.name() << "."
         << types.name() << " ";
  list(0, sums);
  stream << ", ";
  list(2 * sums, kHalves * kRows);
  stream << ", $" << 2 * sums + kHalves * kRows << ", p"
         << (types.sum.isInteger() ? "" : ", 1, 1") << "; }";
  return text;
}

static std::string getConstraints(size_t sums, bool areIntegers) {
  std::string constraints;
  for (size_t i = 0; i < sums; ++i)
    constraints += areIntegers ? "=r," : "=f,";
  for (size_t i = 0; i < sums; ++i)
    constraints += std::to_string(i) + ",";
  return constraints + "r,r,r,r,l";
}

/// The NVVM dialect has the instruction with both operands in shared memory
/// alone.
void WgmmaSelectExpansion::multiply(ThreadEmitter &emitter,
                                    const Fragment &rows, Value weights,
                                    MutableArrayRef<Value> sums,
                                    bool addsToSums) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  SmallVector<Value> operands(sums);
  llvm::append_range(operands, rows);
  operands.push_back(weights);
  auto type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), SmallVector<Type>(sums.size(), sum));
  Value result =
      LLVM::InlineAsmOp::create(
          builder, loc, type, operands, getText(sums.size(), types, addsToSums),
          getConstraints(sums.size(), sum.isInteger()),
          /*has_side_effects=*/true, /*is_align_stack=*/false,
          LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
          /*operand_attrs=*/nullptr)
          .getResult(0);
  for (auto [i, each] : llvm::enumerate(sums))
    each = LLVM::ExtractValueOp::create(builder, loc, result,
                                        ArrayRef<int64_t>{int64_t(i)});
}

/// The products of 64 columns, by unit or part of one.
void WgmmaSelectExpansion::multiplyBlock(
    ThreadEmitter &emitter, const SelectTile &in, ArrayRef<Fragment> ofUnits,
    int64_t step, int64_t block, MutableArrayRef<Value> sums, bool addsToSums) {
  constexpr int64_t kChunk = ::nm::MatrixDescriptor::kChunk;
  int64_t ofBlock = block * keptRows() * ::nm::kWarpgroupM +
                    step * bytes.kInstructionK * ::nm::kWarpgroupM;
  for (int64_t column = 0; column < ::nm::kWarpgroupM;
       column += columnsAtOnce()) {
    Value weights =
        advanceDescriptor(emitter, in.weights, ofBlock + column * kChunk);
    int64_t unit = unitOf(block * ::nm::kWarpgroupM + column);
    multiply(emitter, ofUnits[unit], weights,
             sums.slice(size_t(column / 2), size_t(columnsAtOnce() / 2)),
             addsToSums);
  }
}

/// The products of the tile with some blocks of 64 columns.
void WgmmaSelectExpansion::multiplyTile(ThreadEmitter &emitter,
                                        const SelectTile &in,
                                        int64_t firstBlock, int64_t numBlocks,
                                        MutableArrayRef<Value> sums,
                                        bool addsToSums) {
  int64_t firstUnit = unitOf(firstBlock * ::nm::kWarpgroupM),
          lastUnit = unitOf((firstBlock + numBlocks) * ::nm::kWarpgroupM - 1);
  int64_t words = (lastUnit - firstUnit + 1) * kHalves * kRows,
          mostWords = hasManySteps() ? kMostWordsOfMany : kMostWords,
          stepsAtOnce = std::max<int64_t>(1, mostWords / words);
  LoadedAccesses known;
  LoadedStep loaded = loadStep(emitter, in, /*step=*/0, known);
  for (int64_t step = 0; step < steps(); ++step) {
    if (step != 0 && step % stepsAtOnce == 0)
      turns.await(emitter.builder, emitter.loc);
    StepSources sources = makeSources(emitter, loaded, step);
    SmallVector<Fragment> fragments(units());
    for (int64_t unit = firstUnit; unit <= lastUnit; ++unit)
      fragments[unit] = selectFragment(emitter, loaded, sources, step, unit);
    if (step + 1 < steps())
      loaded = loadStep(emitter, in, step + 1, known);
    // The words that were selected are seen by the instructions behind it.
    if (step % stepsAtOnce == 0)
      turns.start(emitter.builder, emitter.loc);
    else
      NVVM::WgmmaFenceAlignedOp::create(emitter.builder, emitter.loc);
    for (int64_t i = 0; i < numBlocks; ++i)
      multiplyBlock(emitter, in, fragments, step, firstBlock + i,
                    sums.slice(size_t(i * kSumsOfBlock), kSumsOfBlock),
                    addsToSums || step != 0);
  }
  turns.await(emitter.builder, emitter.loc);
}

SmallVector<Value>
WgmmaSelectExpansion::expand(OpBuilder &builder,
                             SparseProductOpInterface product,
                             ArrayRef<Value> sums) {
  auto op = cast<SpMMOp>(*product);
  Location loc = op.getLoc();
  ThreadEmitter emitter{builder, loc};
  SelectTile in = partialTile(emitter, op);
  SmallVector<Value> result(sums);
  if (!addsPromotedSums) {
    multiplyTile(emitter, in, /*firstBlock=*/0, blocks(), result,
                 /*addsToSums=*/true);
    return result;
  }
  int64_t atOnce = blocksAtOnce(warpgroupN);
  for (int64_t block = 0; block < blocks(); block += atOnce) {
    // Undefined: the first product does not add to sums, but makes them.
    Value none = LLVM::UndefOp::create(builder, loc, sum);
    SmallVector<Value> parts(atOnce * kSumsOfBlock, none);
    multiplyTile(emitter, in, block, atOnce, parts, /*addsToSums=*/false);
    auto promoted = MutableArrayRef(result).slice(size_t(block * kSumsOfBlock),
                                                  parts.size());
    for (auto [part, total] :
         llvm::zip_equal(completeSums(builder, loc, parts), promoted))
      total = addSums(builder, loc, total, part);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// C
//===----------------------------------------------------------------------===//

/// Lane q of four stores four neighbours, from 4q on, of each 16 columns, which
/// packed weights have the even ones of first.
void WgmmaSelectExpansion::end(OpBuilder &builder,
                               SparseProductOpInterface product,
                               ArrayRef<Value> sums, Value initial) {
  auto op = cast<SpMMOp>(*product);
  Location loc = op.getLoc();
  ThreadEmitter emitter{builder, loc};
  Value m = emitter.toIndex(emitter.add(
      emitter.mul(emitter.toI32(groupM), warpgroupM), rowOfThread(emitter)));
  Value n =
      emitter.add(emitter.mul(groupN, warpgroupN),
                  emitter.mul(emitter.rem(thread, bytes.kLanes), kPerLine));
  auto type = VectorType::get(kPerLine, sum);
  TileStores stores(builder, op, op.getC(), initial, epilogue, kPerLine);
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
}

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createWgmmaSelectExpansion(SparseProductOpInterface product,
                                     const GpuTile &tile) {
  auto op = dyn_cast<SpMMOp>(*product);
  if (!op)
    return product->emitOpError()
           << "expected nm.spmm for strategy wgmma_select, but got a vector";
  if (failed(WgmmaSelectExpansion::verify(op, tile)))
    return failure();
  return std::unique_ptr<TileExpansion>(
      std::make_unique<WgmmaSelectExpansion>(op, tile));
}
