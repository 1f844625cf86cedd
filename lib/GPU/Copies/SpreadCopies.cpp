//===- SpreadCopies.cpp - Copies among multiplications --------------------===//

#include "GPU/Copies/SpreadCopies.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;
using namespace mlir::nm;

/// Asynchronous copies of a thread that may follow one another: with eight
/// warps as many as a multiplied row takes clocks. On an H200 spreading fewer
/// gains nothing, and spreading more, as of an A that is m-major, up to 12 %.
static constexpr size_t kMaxAsyncCopiesAtOnce = 8;

/// Places that stores need: between fewer, what they store has not arrived.
static constexpr size_t kMinPlacesOfStores = 4;

/// Moves `op` behind `place`, with all that it is computed from after `place`.
static void moveBehind(RewriterBase &rewriter, Operation *op,
                       Operation *place) {
  llvm::SetVector<Operation *> moved;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  options.filter = [&](Operation *needed) {
    return needed == op || (needed->getBlock() == op->getBlock() &&
                            place->isBeforeInBlock(needed));
  };
  (void)getBackwardSlice(op, &moved, options);
  for (Operation *next : moved) {
    rewriter.moveOpAfter(next, place);
    place = next;
  }
}

/// Spreads `ops` evenly over `places`, from the last op on, so that those of
/// one place stay in order.
static void spread(RewriterBase &rewriter, ArrayRef<Operation *> ops,
                   ArrayRef<Operation *> places) {
  for (size_t i = ops.size(); i-- > 0;)
    moveBehind(rewriter, ops[i], places[i * places.size() / ops.size()]);
}

namespace {
/// Ops and the places that they go to, in order.
class Itinerary {
public:
  explicit Itinerary(ArrayRef<Operation *> places)
      : places(places), stops(places.size()) {}

  void add(Operation *op, size_t place) {
    stops[std::min(place, places.size() - 1)].push_back(op);
  }
  void run(RewriterBase &rewriter) {
    for (auto [place, ops] : llvm::zip(places, stops))
      for (Operation *op : llvm::reverse(ops))
        moveBehind(rewriter, op, place);
  }

private:
  ArrayRef<Operation *> places;
  SmallVector<SmallVector<Operation *>> stops;
};
} // namespace

/// Moves parts of a staging buffer on from the first of `places` on, at most in
/// half of them: at each a load, and a place later its store, as what it loads
/// has then arrived. A part is refilled as soon as all of it is loaded, so that
/// its copies have most of a tile to arrive; all at once, as ptxas puts three
/// instructions that do nothing before the first copy behind a barrier.
///
/// The group of the other operands' copies has ended before the place `others`.
static void spreadParts(RewriterBase &rewriter, ArrayRef<StagedPart> parts,
                        ArrayRef<Operation *> places, size_t others) {
  Itinerary itinerary(places);
  size_t perPart = parts.front().loads.size();
  size_t all = parts.size() * perPart;
  auto placeOf = [&](size_t load) {
    return load * std::min(places.size() / 2, all) / all;
  };
  for (auto [i, part] : llvm::enumerate(parts)) {
    size_t first = i * perPart, loaded = placeOf(first + perPart - 1) + 1;
    rewriter.moveOpBefore(part.await, places[placeOf(first)]);
    for (auto [j, load] : llvm::enumerate(part.loads))
      itinerary.add(load, placeOf(first + j));
    for (auto [j, store] : llvm::enumerate(part.stores))
      itinerary.add(store, placeOf(first + j) + 1);
    for (Operation *copy : part.copies)
      itinerary.add(copy, loaded);
    // Places are barriers of the warp.
    cast<AwaitOp>(part.await).setScope(SyncScope::Thread);
    rewriter.eraseOp(part.release);
    itinerary.add(part.group, std::max(loaded, others));
  }
  itinerary.run(rewriter);
}

void mlir::nm::spreadCopies(RewriterBase &rewriter,
                            const CopyAccesses &accesses,
                            ArrayRef<Operation *> places) {
  if (places.empty())
    return;
  ArrayRef<Operation *> copies = accesses.copies;
  // Copies that are issued in the first half of a tile's products arrive by the
  // tile's end.
  size_t half = places.size() / 2;
  bool isOnePlace = copies.size() <= kMaxAsyncCopiesAtOnce || half == 0;
  spread(rewriter, copies, places.take_front(isOnePlace ? 1 : half));
  if (places.size() < kMinPlacesOfStores)
    return;
  // Loads that go before all places arrive by the second half.
  if (!accesses.parts.empty())
    spreadParts(rewriter, accesses.parts, places, isOnePlace ? 1 : half);
  else
    spread(rewriter, accesses.stores, places.drop_front(half));
}
