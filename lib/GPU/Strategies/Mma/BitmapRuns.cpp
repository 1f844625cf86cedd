//===- BitmapRuns.cpp - What a lane reads of condensed weights ------------===//
//
// Values of 16 bits are read one after the other: the address of a row's value
// is that of the run's first one and, for each row before it that is kept, a
// slot. A dp4a adds up those of four rows, whose bits stand in a byte each, and
// a prmt puts two values, or zeros, into a word.
//
// For an instruction of 16 columns a lane has 8 loads of 2 bytes, which meet no
// bank twice, 8 dp4a, 4 prmt and 10 other instructions, none of them a popc, of
// which a multiprocessor has 16 results a clock.
//
// Values of 8 bits are read four at a time: the two words of the lane's string
// that have them, from which a prmt takes the four that begin at the first
// one. A popc of the run's bits says how many stand before. A multiply-add
// makes the selector of a prmt, which puts four values, or zeros, into a word:
// of four bits of four places each, it adds to the place of each row those that
// are kept before it, or what makes the prmt take a zero.
//
// For four rows of a column a lane has two loads of 4 bytes, which meet no bank
// twice, a popc, a multiply-add, two prmt and six other instructions.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Mma/BitmapRuns.h"

#include "GPU/Copies/BulkCopies.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::BitmapForm;

static Value permute(ThreadEmitter &emitter, Value low, Value high,
                     Value selector) {
  return NVVM::PermuteOp::create(emitter.builder, emitter.loc,
                                 emitter.builder.getI32Type(), low, high,
                                 selector, NVVM::PermuteMode::DEFAULT);
}

//===----------------------------------------------------------------------===//
// Values of 16 bits
//===----------------------------------------------------------------------===//

/// Bytes of a value, and of what all lanes have in a slot.
static constexpr int64_t kHalfBytes = 2;
static constexpr int64_t kSlotBytes = BitmapForm::kSlotValues * kHalfBytes;

namespace {
/// An instruction has four rows, whose values come first in what is loaded, and
/// then what prmt makes two words of them by.
class RunOfHalves : public BitmapRun {
public:
  RunOfHalves(ThreadEmitter &emitter, const BitmapForm &form, RunPlace place);

  LoadedRows load(ThreadEmitter &emitter, int64_t number) override;
  Value makeWord(ThreadEmitter &emitter, const LoadedRows &loaded,
                 int64_t number) const override;

private:
  SmallVector<Value> bits;
  /// The address of the next value, or of the last one that was read.
  Value next;
  /// Whether a row that is not kept reads the value of the last one that was,
  /// and `next` is of that; else that of the next one that will be.
  bool readsLast = false;
  /// The last address that may be read, where the warp has no other run of its
  /// column; else null.
  Value end;
};
} // namespace

/// Rows that are not kept read a slot of another: of the warp's last run one
/// before, and of others one behind, so that there is one.
RunOfHalves::RunOfHalves(ThreadEmitter &emitter, const BitmapForm &form,
                         RunPlace place)
    : bits(std::move(place.bits)),
      next(emitter.add(place.values, place.column * kHalfBytes)) {
  if (place.isAlone)
    end = emitter.add(next, (form.slots - 1) * kSlotBytes);
  else if (place.stepsBehind == 0)
    readsLast = true;
  if (readsLast)
    next = emitter.add(next, -kSlotBytes);
}

/// `start`, and a slot for each of the first `count` rows of four that is kept,
/// of which `isKept` has a byte each.
static Value skipKept(ThreadEmitter &emitter, Value isKept, int64_t count,
                      Value start) {
  constexpr uint32_t kOfAll = kSlotBytes * 0x01010101u;
  if (count == 0)
    return start;
  OpBuilder &builder = emitter.builder;
  auto asBytes = [&](Value word) -> Value {
    return LLVM::BitcastOp::create(
        builder, emitter.loc, VectorType::get(4, builder.getI8Type()), word);
  };
  Value slots = emitter.i32(int32_t(kOfAll >> 8 * (4 - count)));
  return NVVM::DotAccumulate4WayOp::create(
      builder, emitter.loc, builder.getI32Type(), asBytes(isKept),
      NVVM::DotAccumulateType::UNSIGNED, asBytes(slots),
      NVVM::DotAccumulateType::UNSIGNED, start);
}

/// The 16 bits at `address` of shared memory, as i32.
static Value loadHalf(ThreadEmitter &emitter, Value address) {
  OpBuilder &builder = emitter.builder;
  Value bits = LLVM::LoadOp::create(
      builder, emitter.loc, builder.getI16Type(),
      toPointer(emitter, address, NVVM::NVVMMemorySpace::Shared),
      /*alignment=*/kHalfBytes);
  return arith::ExtUIOp::create(builder, emitter.loc, builder.getI32Type(),
                                bits);
}

/// Loads a value for each of the four rows: for one that is not kept that of
/// another row, which is not used.
LoadedRows RunOfHalves::load(ThreadEmitter &emitter, int64_t number) {
  // prmt picks from two words, a row's value each, whose upper halves are zero:
  // bytes 0 and 1 of a row that is kept, else 2 and 3: 0x22 more.
  constexpr uint32_t kNoneKept = 0x76327632;
  constexpr int64_t kDifference = 0x22, kLowBits = 0x01010101;
  Value word = bits[number / BitmapForm::kQuadsOfWord];
  Value isKept = emitter.mask(
      emitter.shiftRight(word, number % BitmapForm::kQuadsOfWord), kLowBits);
  Value selectors = emitter.add(emitter.mul(isKept, -kDifference),
                                emitter.i32(int32_t(kNoneKept)));
  LoadedRows loaded;
  for (int64_t row = 0; row < BitmapForm::kQuadRows; ++row) {
    Value place = skipKept(emitter, isKept, row + readsLast, next);
    loaded.push_back(
        loadHalf(emitter, end ? emitter.least(place, end) : place));
  }
  next = skipKept(emitter, isKept, BitmapForm::kQuadRows, next);
  loaded.push_back(selectors);
  return loaded;
}

Value RunOfHalves::makeWord(ThreadEmitter &emitter, const LoadedRows &loaded,
                            int64_t number) const {
  return permute(emitter, loaded[2 * number], loaded[2 * number + 1],
                 emitter.shiftRight(loaded.back(), 16 * number));
}

//===----------------------------------------------------------------------===//
// Values of 8 bits
//===----------------------------------------------------------------------===//

/// Bytes of a word of the lane's string, and of those of all lanes.
static constexpr int64_t kWordBytes = BitmapForm::kWordBytes;
static constexpr int64_t kRowBytes = BitmapForm::kLanes * kWordBytes;

namespace {
/// An instruction has two times four rows. Of each is loaded: the word with the
/// first value, the next word, the bits before the value in the first, and
/// prmt's selector.
class RunOfBytes : public BitmapRun {
public:
  RunOfBytes(ThreadEmitter &emitter, const BitmapForm &form, RunPlace place);

  LoadedRows load(ThreadEmitter &emitter, int64_t number) override;
  Value makeWord(ThreadEmitter &emitter, const LoadedRows &loaded,
                 int64_t number) const override;

private:
  Value countBefore(ThreadEmitter &emitter, int64_t quad);
  std::array<Value, 2> loadWords(ThreadEmitter &emitter, Value address) const;
  void loadQuad(ThreadEmitter &emitter, int64_t quad, LoadedRows &loaded);

  BitmapForm form;
  SmallVector<Value> bits;
  /// The address of the word that has the run's first value, and the bytes of
  /// that word before it.
  Value first;
  int64_t skipped;
  /// The last address that may be read, or null.
  Value end;
  /// The values of the words of bits before the one that is read.
  Value before;
};
} // namespace

RunOfBytes::RunOfBytes(ThreadEmitter &emitter, const BitmapForm &form,
                       RunPlace place)
    : form(form), bits(std::move(place.bits)) {
  int64_t start = place.column * form.slots, behind = start + form.slots,
          words = BitmapForm::kLaneColumns * form.slots / kWordBytes,
          readable = words * (1 + place.stepsBehind);
  first = emitter.add(place.values, start / kWordBytes * kRowBytes);
  skipped = start % kWordBytes;
  // Behind its last value a run reads the two words that would follow.
  if (behind / kWordBytes + 1 >= readable)
    end = emitter.add(place.values, (readable - 1) * kRowBytes);
  before = emitter.i32(int32_t(skipped));
}

static Value countBits(ThreadEmitter &emitter, Value word) {
  return LLVM::CtPopOp::create(emitter.builder, emitter.loc, word);
}

/// Bytes from `first` on before those of quad `quad`. Quads come in their
/// order.
Value RunOfBytes::countBefore(ThreadEmitter &emitter, int64_t quad) {
  auto [word, inWord] = std::div(quad, BitmapForm::kQuadsOfWord);
  if (inWord == 0 && word > 0)
    before = emitter.add(before, countBits(emitter, bits[word - 1]));
  if (inWord == 0)
    return before;
  Value masked = emitter.mask(bits[word], form.bitsBefore(inWord));
  return emitter.add(before, countBits(emitter, masked));
}

/// The words at `address` and behind it, or the last one.
std::array<Value, 2> RunOfBytes::loadWords(ThreadEmitter &emitter,
                                           Value address) const {
  OpBuilder &builder = emitter.builder;
  auto pointerTo = [&](Value address) {
    if (end)
      address = emitter.least(address, end);
    return toPointer(emitter, address, NVVM::NVVMMemorySpace::Shared);
  };
  auto load = [&](Value pointer) -> Value {
    return LLVM::LoadOp::create(builder, emitter.loc, builder.getI32Type(),
                                pointer, /*alignment=*/kWordBytes);
  };
  Value first = pointerTo(address), second;
  // A constant of the instruction.
  if (end)
    second = pointerTo(emitter.add(address, kRowBytes));
  else
    second = LLVM::GEPOp::create(builder, emitter.loc, first.getType(),
                                 builder.getI8Type(), first,
                                 ArrayRef<LLVM::GEPArg>{int32_t(kRowBytes)});
  return {load(first), load(second)};
}

void RunOfBytes::loadQuad(ThreadEmitter &emitter, int64_t quad,
                          LoadedRows &loaded) {
  // Four places of prmt's second word are zeros. To the place of each row that
  // is kept those are added that come after it.
  constexpr int64_t kLowBits = 0x1111, kNoneKept = 0x4444,
                    kDifference = 0x1110 - 4;
  Value count = countBefore(emitter, quad);
  Value words = emitter.mask(count, ~(kWordBytes - 1));
  Value address =
      emitter.add(first, emitter.mul(words, kRowBytes / kWordBytes));
  llvm::append_range(loaded, loadWords(emitter, address));
  loaded.push_back(emitter.mul(count, 8));
  int64_t inWord = quad % BitmapForm::kQuadsOfWord;
  Value isKept =
      emitter.mask(emitter.shiftRight(bits[quad / BitmapForm::kQuadsOfWord],
                                      inWord / 4 * 16 + inWord % 4),
                   kLowBits);
  loaded.push_back(
      emitter.add(emitter.mul(isKept, kDifference), emitter.i32(kNoneKept)));
}

LoadedRows RunOfBytes::load(ThreadEmitter &emitter, int64_t number) {
  LoadedRows loaded;
  loadQuad(emitter, 2 * number, loaded);
  loadQuad(emitter, 2 * number + 1, loaded);
  return loaded;
}

Value RunOfBytes::makeWord(ThreadEmitter &emitter, const LoadedRows &loaded,
                           int64_t number) const {
  ArrayRef<Value> quad =
      ArrayRef(loaded).slice(number * loaded.size() / 2, loaded.size() / 2);
  Value four = LLVM::FshrOp::create(emitter.builder, emitter.loc, quad[1],
                                    quad[0], quad[2]);
  return permute(emitter, four, emitter.i32(0), quad[3]);
}

std::unique_ptr<BitmapRun>
BitmapRun::get(ThreadEmitter &emitter, const BitmapForm &form, RunPlace place) {
  if (form.bytes == 1)
    return std::make_unique<RunOfBytes>(emitter, form, std::move(place));
  return std::make_unique<RunOfHalves>(emitter, form, std::move(place));
}
