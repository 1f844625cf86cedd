//===- RowShape.cpp - How threads share rows ------------------------------===//

#include "GPU/Rows/RowShape.h"

#include "GPU/Rows/LaneSums.h"
#include "GPU/Rows/LargestOfRow.h"
#include "GPU/Rows/RowsAhead.h"
#include "GPU/Rows/TransposedTile.h"

#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/Support/Warp.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::nm;
using ::nm::kWarpSize;

/// Elements of a row that a thread keeps: 32, of 32 bits, are half of the
/// registers of a thread in a block of 1024.
static constexpr int64_t kMaxKept = 32;
static constexpr int64_t kMaxThreads = 1024;
/// Blocks that every chip with clusters has in one.
static constexpr int64_t kMaxCluster = 8;
/// Threads of each of them, if rows are few: a softmax of one row of 128256
/// elements takes 6.1 us on an H200, and 7.2 us with 1024.
static constexpr int64_t kClusterThreads = 512;
/// Elements that a thread of theirs keeps, if rows are many and need all
/// blocks: two such blocks fit on a multiprocessor, and one has memory busy
/// while the other meets its cluster. An RMS norm of 256 rows of 151936
/// elements takes 57 us on an H200, and 94 us with 1024 threads. Shorter rows
/// were not measured.
static constexpr int64_t kClusterKept = 40;
/// Threads and elements of rows that are reduced twice: each block meets its
/// cluster twice: fewer threads meet sooner. A layer norm of those rows takes
/// 71 us, and 100 with 512 threads, a softmax 65 and 71; an RMS norm 60 and 57.
static constexpr int64_t kTwiceThreads = 256, kTwiceKept = 80;
/// Rows that are too few for a large chip by a block each.
static constexpr int64_t kFewRows = 16;
/// Shared memory of each of two blocks of a multiprocessor that stay for all
/// rows, and what the chip has of each block for itself.
static constexpr int64_t kStayingBytes = 113 * 1024, kReservedBytes = 1024;
/// Multiprocessors that clusters do not get, for each part of a chip has a
/// number of its own: an H200 of 132 has 30 clusters of eight blocks at a time,
/// two of a multiprocessor, and 62 of four.
static constexpr int64_t kApart = 12;
/// Blocks and rows of a cluster that stays, at least: 128 rows of 151936
/// elements take an RMS norm 27.4 us on an H200, and 30.7 with a cluster each,
/// but 64 of them 17.9 (a kernel in CUDA) and 16.7. Clusters of two were not
/// measured. Of rows that are reduced twice, and of which threads of 512 keep
/// more than 32 elements, 256 are the faster: 53 us in place of 59 for a layer
/// norm.
static constexpr int64_t kLeastStaying = 4, kLeastRows = 4;
/// Columns that a warp takes by itself, without a barrier.
static constexpr int64_t kWarpColumns = kWarpSize * kMaxKept;
/// Largest elements that a warp finds by itself, and columns of a row, which
/// the warp has no barrier for: the 8 largest of each of 2048 rows of 4096
/// elements take 11.1 us on an H200, and 15.2 with 128 threads of a row.
static constexpr int64_t kWarpFinds = 8, kWarpFindsColumns = 4096;
/// Threads of a row whose length is not known.
static constexpr int64_t kUnknownThreads = 256;
/// Shared memory of a block's rows that are stored transposed: two such blocks
/// fit on most chips.
static constexpr int64_t kMaxTileBytes = int64_t(96) << 10;
/// Threads of a block that has several rows.
static constexpr int64_t kSharedBlock = 128;
/// Threads that a large chip has at a time: with no more of them, each has one
/// access, so that all of memory's accesses are under way at once.
static constexpr int64_t kResident = 132 * 2048;

int64_t RowShape::threads() const {
  return lanes == 0 ? kElementThreads : lanes * rowsOfBlock;
}

bool mlir::nm::hasFewElements(const RowSpace &space) {
  int64_t count = space.columns;
  for (int64_t size : space.rows) {
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(count))
      return false;
    count *= size;
  }
  return !ShapedType::isDynamic(count) &&
         count < std::numeric_limits<int32_t>::max();
}

/// Elements that as many blocks as may share a row keep in registers.
static int64_t countKept(bool hasClusters) {
  return kMaxKept * kMaxThreads * (hasClusters ? kMaxCluster : 1);
}

bool mlir::nm::fitRegisters(const RowSpace &space, bool hasClusters) {
  return !ShapedType::isDynamic(space.columns) &&
         space.columns <= countKept(hasClusters);
}

int64_t mlir::nm::countRowBlocks(int64_t columns, bool hasClusters) {
  return hasClusters && columns <= countKept(hasClusters) ? kMaxCluster : 1;
}

//===----------------------------------------------------------------------===//
// The width of accesses
//===----------------------------------------------------------------------===//

static int64_t getBytes(Value memref) {
  return llvm::divideCeil(
      cast<MemRefType>(memref.getType()).getElementTypeBitWidth(), 8);
}

template <typename Fn>
static void forEachRowOperand(const RowGroup &group, Fn visit) {
  for (const RowOp &row : group.ops) {
    if (row.kind == RowOp::Short)
      continue;
    for (const SmallVector<RowOperand> &operands : {row.inputs, row.outputs})
      for (const RowOperand &operand : operands)
        if (operand.hasColumns && !group.isTemporary(operand.value))
          visit(operand);
  }
}

/// The widest access of the narrowest elements, but no more of them than 16
/// bits have: those of 32 bits beside them take two accesses then.
static int64_t findWidest(const RowGroup &group) {
  int64_t bytes = 8;
  forEachRowOperand(group, [&](const RowOperand &operand) {
    // A thread stores what is split as it is read.
    int64_t own = operand.splits > 1 ? bytes : getBytes(operand.value);
    bytes = std::min(bytes, std::max<int64_t>(own, 2));
  });
  return kMaxAccessBytes / bytes;
}

/// Narrows `width` to what is known of where rows of `operand` start, and adds
/// what is not.
static void restrict(OpBuilder &builder, Location loc,
                     const RowOperand &operand, RowWidth &width) {
  auto type = cast<MemRefType>(operand.value.getType());
  // Elements of one bit are accessed one by one.
  if (type.getElementTypeBitWidth() < 8)
    return;
  auto [strides, offset] = type.getStridesAndOffset();
  SmallVector<int64_t> factors = getStrideFactors(operand.value);
  int64_t widest = kMaxAccessBytes / getBytes(operand.value);
  memref::ExtractStridedMetadataOp metadata;
  // What is known as `known`, or else result `result` of the metadata.
  auto take = [&](int64_t known, int64_t factor, unsigned result) {
    int64_t step = std::min(width.elements, widest);
    if (!ShapedType::isDynamic(known)) {
      if (known % step != 0)
        width.elements = std::gcd(known, step);
    } else if (factor % step != 0) {
      if (!metadata)
        metadata = memref::ExtractStridedMetadataOp::create(builder, loc,
                                                            operand.value);
      width.unknown.push_back({metadata->getResult(result), step});
    }
  };
  int64_t rank = type.getRank();
  take(offset, 1, /*result=*/1);
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    if (type.getDimSize(dim) != 1)
      take(strides[dim], factors[dim], /*result=*/2 + rank + dim);
}

RowWidth mlir::nm::findWidth(OpBuilder &builder, Location loc,
                             const RowGroup &group) {
  RowWidth width{findWidest(group), {}};
  int64_t columns = group.space.columns;
  if (!ShapedType::isDynamic(columns)) {
    width.elements = std::gcd(width.elements, columns);
  } else {
    auto type = cast<MemRefType>(group.space.memref.getType());
    Value size = memref::DimOp::create(builder, loc, group.space.memref,
                                       type.getRank() - 1);
    width.unknown.push_back({size, width.elements});
  }
  forEachRowOperand(group, [&](const RowOperand &operand) {
    if (!operand.isTransposed)
      restrict(builder, loc, operand, width);
  });
  // Known strides may have narrowed it since.
  for (auto &[value, factor] : width.unknown)
    factor = std::min(factor, width.elements);
  return width;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// The product of the sizes, or nothing if one is not known.
static std::optional<int64_t> countRows(const RowSpace &space) {
  int64_t count = 1;
  for (int64_t size : space.rows) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    count *= size;
  }
  return count;
}

/// Threads of a row of so many accesses.
static int64_t chooseLanes(const RowSpace &space, int64_t width) {
  int64_t columns = space.columns,
          accesses = llvm::PowerOf2Ceil(llvm::divideCeil(columns, width)),
          most = std::min(accesses, kMaxThreads);
  std::optional<int64_t> rows = countRows(space);
  if (rows && *rows * most <= kResident)
    return most;
  if (columns <= kWarpColumns)
    return std::min(most, kWarpSize);
  return std::min<int64_t>(
      most, llvm::PowerOf2Ceil(llvm::divideCeil(columns, kMaxKept)));
}

/// Of several rows of a block, where a warp may have one.
static int64_t chooseTransposedLanes(int64_t columns, int64_t width) {
  int64_t accesses = llvm::PowerOf2Ceil(llvm::divideCeil(columns, width)),
          least = llvm::PowerOf2Ceil(llvm::divideCeil(columns, kMaxKept));
  return std::min(accesses, std::max(least, kWarpSize));
}

std::optional<int64_t> mlir::nm::findTransposedRows(const RowGroup &group) {
  int64_t narrowest = 0, ofRow = 0, columns = group.space.columns;
  bool hasSplits = false;
  for (auto [index, row] : llvm::enumerate(group.ops))
    for (const RowOperand &output : row.outputs)
      if (output.isTransposed) {
        hasSplits |= output.splits > 1;
        narrowest =
            std::max(narrowest, TransposedTile::countWidest(output.value));
        if (group.isStored(index, output.value))
          ofRow += TransposedTile::getBytes(output, /*rows=*/1);
      }
  if (narrowest == 0 || !group.keepsRows || !group.hasReduction())
    return std::nullopt;
  std::optional<int64_t> count = countRows(group.space);
  int64_t lanes = chooseTransposedLanes(columns, /*width=*/1);
  auto fits = [&](int64_t rows) {
    return rows * lanes <= kMaxThreads && rows * ofRow <= kMaxTileBytes &&
           (!count || *count >= rows);
  };
  // Two accesses along rows are a sector of memory. With half of one a layer
  // norm of 1576 x 1024 in f16 takes 6.7 us on an H200, and 5.8 with one.
  if (fits(2 * narrowest))
    return 2 * narrowest;
  // A kernel that splits reads and writes all of it again.
  return hasSplits && fits(narrowest) ? std::optional(narrowest) : std::nullopt;
}

/// How often the threads of a row meet for what it is reduced to, at least.
static size_t countReductions(const RowGroup &group) {
  size_t count = 0;
  for (const RowOp &row : group.ops)
    count += row.kind == RowOp::Reduction ? row.combiners.size() : 0;
  // Ops that find largest elements together, of one result each, meet once.
  for (const LargestOfRow &found : listLargest(group))
    count -= found.ops.size() - 1;
  return count;
}

/// Has the blocks of a cluster share a row: as many as it needs, or of few
/// rows, such that each thread has one access. Of two accesses, the second
/// takes less time than a cluster takes to meet.
static void shareByCluster(const RowGroup &group, RowShape &shape) {
  const RowSpace &space = group.space;
  std::optional<int64_t> rows = countRows(space);
  bool isFew = rows && *rows <= kFewRows &&
               space.columns > 2 * kMaxThreads * shape.width;
  bool hasPairs = space.columns > kMaxKept * kMaxThreads * kMaxCluster / 2 &&
                  space.columns <= kClusterKept * kClusterThreads * kMaxCluster;
  bool isTwice = hasPairs && !isFew && countReductions(group) > 1;
  int64_t kept = isFew      ? shape.width
                 : isTwice  ? kTwiceKept
                 : hasPairs ? kClusterKept
                            : kMaxKept;
  if (isFew || hasPairs)
    shape.lanes = isTwice ? kTwiceThreads : kClusterThreads;
  shape.cluster = std::min<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeil(space.columns, shape.lanes * kept)),
      kMaxCluster);
}

StayingBytes mlir::nm::countStayingBytes(const RowGroup &group,
                                         const RowShape &shape) {
  StayingBytes bytes;
  int64_t results = 0;
  for (const RowOp &row : group.ops)
    results += row.combiners.size();
  bytes.sums = llvm::alignTo(
      LaneSums::getStayingBytes(shape.lanes, shape.cluster, results),
      kMaxAccessBytes);
  auto getBytes = [&](ArrayRef<RowOperand> operands) {
    return RowsAhead::getBytes(operands, shape.width, shape.lanes,
                               shape.chunks);
  };
  bytes.rows = getBytes(listCopied(group, shape.width, /*isOfRows=*/true));
  for (const RowOperand &operand :
       listCopied(group, shape.width, /*isOfRows=*/false)) {
    int64_t own = getBytes(operand);
    if (bytes.count() + own > kStayingBytes)
      break;
    bytes.kept.push_back(operand);
    bytes.ofKept += own;
  }
  return bytes;
}

/// `shape`, of rows that clusters share, with clusters that stay for all rows,
/// and copy each row while they compute the one before; none where rows are
/// few, or do not fit.
static std::optional<RowShape>
keepClusters(const RowGroup &group, const ClusterChip &chip, RowShape shape) {
  int64_t columns = group.space.columns;
  shape.cluster = llvm::PowerOf2Ceil(
      llvm::divideCeil(columns, kClusterKept * kClusterThreads));
  bool keepsMore = columns > kMaxKept * kClusterThreads * shape.cluster;
  shape.lanes =
      keepsMore && countReductions(group) > 1 ? kTwiceThreads : kClusterThreads;
  shape.chunks = llvm::divideCeil(columns, shape.step());
  StayingBytes bytes = countStayingBytes(group, shape);
  if (shape.cluster < kLeastStaying || shape.cluster > kMaxCluster ||
      shape.width == 1 || bytes.rows == 0 || !listLargest(group).empty() ||
      bytes.count() > kStayingBytes ||
      chip.sharedBytes < kBlocksOfRows * (kStayingBytes + kReservedBytes))
    return std::nullopt;
  int64_t clusters =
      (chip.multiprocessors - kApart) * kBlocksOfRows / shape.cluster;
  std::optional<int64_t> rows = countRows(group.space);
  if (!rows || *rows < kLeastRows * clusters)
    return std::nullopt;
  // As many as take no more turns than all of them.
  shape.staying = llvm::divideCeil(*rows, llvm::divideCeil(*rows, clusters));
  return shape;
}

/// Whether a kernel of `group` passes over its rows once.
static bool passesOnce(const RowGroup &group) {
  return countReductions(group) == 1 &&
         llvm::none_of(group.ops, [](const RowOp &row) {
           return row.kind == RowOp::Elementwise;
         });
}

/// How many largest elements a kernel that passes over its rows once finds of
/// each; 0 of others.
static int64_t countLargest(const RowGroup &group) {
  SmallVector<LargestOfRow> list = listLargest(group);
  return list.empty() || !passesOnce(group) ? 0 : list.front().count();
}

/// The threads of `lanes` that find `count` largest elements of a row. To find
/// one, more threads than have the chip busy only meet later: an argmax of 512
/// rows of 4096 elements takes 3.2 us on an H200 with 128 threads of a row, and
/// 3.9 with 512. Rows with an access of each thread take no longer by a block.
static int64_t chooseSearchLanes(const RowSpace &space, int64_t count,
                                 int64_t width, int64_t lanes) {
  int64_t columns = space.columns,
          least = std::max<int64_t>(
              kWarpSize,
              llvm::PowerOf2Ceil(llvm::divideCeil(columns, kMaxKept))),
          accesses = llvm::PowerOf2Ceil(llvm::divideCeil(columns, width));
  std::optional<int64_t> rows = countRows(space);
  bool isBusy = !rows || *rows * least >= kResident / 8,
       hasOneEach = rows && *rows * accesses <= kResident;
  if (count == 1 && isBusy)
    return std::min(lanes, least);
  if (count > 1 && count <= kWarpFinds && columns <= kWarpFindsColumns &&
      !hasOneEach)
    return std::min(lanes, kWarpSize);
  return lanes;
}

/// Whether a kernel that passes over its rows once keeps nothing of them: rows
/// that a cluster would share, if they are not few, which then have a block
/// each; and where several largest elements are found, since the lanes of a
/// warp read again what one of them had.
static bool readsInLoop(const RowGroup &group, RowShape &shape) {
  if (!passesOnce(group) || shape.lanes < kWarpSize)
    return false;
  std::optional<int64_t> rows = countRows(group.space);
  if (shape.cluster > 1 && (!rows || *rows > kFewRows)) {
    shape.lanes = kMaxThreads;
    shape.cluster = 1;
    return true;
  }
  return countLargest(group) > 1;
}

RowShape mlir::nm::chooseShape(const RowGroup &group, int64_t width,
                               const ClusterChip *chip) {
  RowShape shape;
  shape.width = width;
  if (!group.hasReduction())
    return shape;
  if (!group.keepsRows) {
    shape.lanes = ShapedType::isDynamic(group.space.columns) ? kUnknownThreads
                                                             : kMaxThreads;
    shape.chunks = 0;
    return shape;
  }
  if (std::optional<int64_t> rows = findTransposedRows(group)) {
    shape.rowsOfBlock = shape.rowMultiple = *rows;
    for (const RowOp &row : group.ops)
      for (const RowOperand &output : row.outputs)
        shape.rowMultiple =
            std::max(shape.rowMultiple, TransposedTile::getRowMultiple(output));
    shape.lanes = chooseTransposedLanes(group.space.columns, width);
    shape.chunks = llvm::divideCeil(group.space.columns, shape.step());
    return shape;
  }
  shape.lanes = chooseLanes(group.space, width);
  if (int64_t count = countLargest(group))
    shape.lanes = chooseSearchLanes(group.space, count, width, shape.lanes);
  if (chip && shape.lanes == kMaxThreads)
    shareByCluster(group, shape);
  bool loops = readsInLoop(group, shape);
  shape.rowsOfBlock = shape.lanes > kWarpSize ? 1 : kSharedBlock / shape.lanes;
  shape.rowMultiple = shape.rowsOfBlock;
  shape.chunks =
      loops ? 0 : llvm::divideCeil(group.space.columns, shape.step());
  if (shape.cluster == 1 || loops)
    return shape;
  return keepClusters(group, *chip, shape).value_or(shape);
}
