//===- SpreadCopies.cpp - Copies among multiplications --------------------===//

#include "SpreadCopies.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

/// Asynchronous copies of a thread that may follow one another: with eight
/// warps as many as a multiplied row takes clocks. On an H200 spreading fewer
/// gains nothing, and spreading more, as of an A that is k-major, up to 12 %.
static constexpr size_t kMaxAsyncCopiesAtOnce = 8;

/// Places that stores need: between fewer, what they store has not arrived.
static constexpr size_t kMinPlacesOfStores = 4;

static bool isGuardedCopy(Operation *op) {
  return isa<scf::IfOp>(op) && op->getNumResults() == 0;
}

/// The asynchronous copies between the barrier before `product` and `product`,
/// and the end of their group.
static SmallVector<Operation *> collectAsyncCopies(Operation *product) {
  SmallVector<Operation *> copies;
  for (Operation *before = product->getPrevNode();
       before && !isa<gpu::BarrierOp>(before); before = before->getPrevNode())
    if (isa<nvgpu::DeviceAsyncCopyOp, nvgpu::DeviceAsyncCreateGroupOp>(
            before) ||
        isGuardedCopy(before))
      copies.push_back(before);
  return llvm::to_vector(llvm::reverse(copies));
}

namespace {
/// What a warp does to a piece of A that goes by way of a passage; see
/// nm-pipeline-copies.
struct Piece {
  /// The wait for its copies, and the barrier behind it.
  Operation *wait = nullptr, *arrived = nullptr;
  SmallVector<Operation *> loads, stores;
  /// The barrier before it is refilled.
  Operation *moved = nullptr;
  SmallVector<Operation *> copies;
  /// The end of their group.
  Operation *group = nullptr;
};
} // namespace

/// The pieces that are moved after `product`.
static SmallVector<Piece> collectPieces(Operation *product) {
  SmallVector<Piece> pieces;
  for (Operation *after = product; after; after = after->getNextNode()) {
    if (isa<nvgpu::DeviceAsyncWaitOp>(after))
      pieces.emplace_back().wait = after;
    if (pieces.empty())
      continue;
    Piece &piece = pieces.back();
    if (isa<NVVM::SyncWarpOp>(after))
      (piece.arrived ? piece.moved : piece.arrived) = after;
    else if (isa<nvgpu::LdMatrixOp>(after))
      piece.loads.push_back(after);
    else if (isa<vector::StoreOp>(after))
      piece.stores.push_back(after);
    else if (isa<nvgpu::DeviceAsyncCopyOp>(after))
      piece.copies.push_back(after);
    else if (isa<nvgpu::DeviceAsyncCreateGroupOp>(after))
      piece.group = after;
  }
  return pieces;
}

/// The stores after `product`.
static SmallVector<Operation *> collectStores(Operation *product) {
  SmallVector<Operation *> stores;
  for (Operation *after = product; after; after = after->getNextNode())
    if (isa<vector::StoreOp, memref::StoreOp>(after) || isGuardedCopy(after))
      stores.push_back(after);
  return stores;
}

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

/// Lets the wait for each piece leave those groups under way that were ended
/// since its own, one of each piece and of the other operands in each tile.
static void setGroupsUnderWay(ArrayRef<Piece> pieces) {
  size_t ended = 0, piece = 0;
  for (Operation *op = &pieces.front().wait->getBlock()->front();
       piece < pieces.size(); op = op->getNextNode()) {
    if (isa<nvgpu::DeviceAsyncCreateGroupOp>(op))
      ++ended;
    if (op != pieces[piece].wait)
      continue;
    ++piece;
    cast<nvgpu::DeviceAsyncWaitOp>(op).setNumGroups(
        static_cast<int32_t>(pieces.size() - piece + ended));
  }
}

/// Moves pieces from the first of `places` on, at most in half of them: at each
/// a load, and a place later its store, as what it loads has then arrived. A
/// piece is refilled as soon as all of it is loaded, so that its copies have
/// most of a tile to arrive; all at once, as ptxas puts three instructions that
/// do nothing before the first copy behind a barrier.
///
/// The group of the other operands' copies has ended before the place `others`.
static void spreadPieces(RewriterBase &rewriter, ArrayRef<Piece> pieces,
                         ArrayRef<Operation *> places, size_t others) {
  Itinerary itinerary(places);
  size_t perPiece = pieces.front().loads.size();
  size_t all = pieces.size() * perPiece;
  auto placeOf = [&](size_t load) {
    return load * std::min(places.size() / 2, all) / all;
  };
  for (auto [i, piece] : llvm::enumerate(pieces)) {
    size_t first = i * perPiece, loaded = placeOf(first + perPiece - 1) + 1;
    rewriter.moveOpBefore(piece.wait, places[placeOf(first)]);
    for (auto [j, load] : llvm::enumerate(piece.loads))
      itinerary.add(load, placeOf(first + j));
    for (auto [j, store] : llvm::enumerate(piece.stores))
      itinerary.add(store, placeOf(first + j) + 1);
    for (Operation *copy : piece.copies)
      itinerary.add(copy, loaded);
    // Places are barriers of the warp.
    rewriter.eraseOp(piece.arrived);
    rewriter.eraseOp(piece.moved);
    itinerary.add(piece.group, std::max(loaded, others));
  }
  itinerary.run(rewriter);
  setGroupsUnderWay(pieces);
}

void mlir::nm::spreadCopies(RewriterBase &rewriter, Operation *product,
                            ArrayRef<Operation *> places) {
  if (places.empty())
    return;
  SmallVector<Operation *> copies = collectAsyncCopies(product);
  // Those of the first half arrive by the end of the tile.
  size_t half = places.size() / 2;
  bool isOnePlace = copies.size() <= kMaxAsyncCopiesAtOnce || half == 0;
  spread(rewriter, copies, places.take_front(isOnePlace ? 1 : half));
  if (places.size() < kMinPlacesOfStores)
    return;
  // Loads that go before all places arrive by the second half.
  if (SmallVector<Piece> pieces = collectPieces(product); !pieces.empty())
    spreadPieces(rewriter, pieces, places, isOnePlace ? 1 : half);
  else
    spread(rewriter, collectStores(product), places.drop_front(half));
}
