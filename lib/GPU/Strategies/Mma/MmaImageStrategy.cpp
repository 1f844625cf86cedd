//===- MmaImageStrategy.cpp - Products of an image by mma.sync ------------===//
//
// Where A are the patches of an image in planes, each of its elements is in as
// many rows of k as the filter has taps. A block copies the rows of the image
// that its places take to shared memory once, of all channels, and makes a list
// of how far each kept row of k is from where a place begins. Then its warps
// multiply without meeting again: a lane loads the elements of its places one
// by one, for mma.sync m16n8k16, and its weights from memory.
//
// The 16 kept rows of an instruction may be in any order that both operands
// have. Lanes of pair p have rows 4 p to 4 p + 3 of them, whose weights are
// side by side in chunks of four rows.
//
//===----------------------------------------------------------------------===//

#include "GPU/Expand/WarpExpansion.h"
#include "GPU/Strategies/Mma/ImageTile.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/Schedule/ImageBytes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::kImageRowWords;
using ::nm::kImageStep;

/// Rows of an instruction that a lane has.
static constexpr int64_t kRowsOfLane = 4;
/// The bit of taps by which rows behind the last kept one are outside.
static constexpr int64_t kBehindBit = kMostTapBits - 1;

namespace {
/// What a lane loads of the list for its rows of an instruction.
struct RowsOfLane {
  std::array<Value, kRowsOfLane> distance, taps;
};

class MmaImageExpansion : public WarpExpansion {
public:
  MmaImageExpansion(SpMMOp op, const GpuTile &tile);

  SmallVector<Value> expand(OpBuilder &builder,
                            SparseProductOpInterface product,
                            ArrayRef<Value> sums) override;

private:
  bool areRowsOfN() const override { return areWeightsRows; }
  int64_t steps() const { return llvm::divideCeil(keptRows, kImageStep); }
  /// Columns of the warp's that have one unit.
  int64_t unitColumns() const { return std::min(panel, tile.warpN); }
  int64_t units() const { return tile.warpN / unitColumns(); }
  /// Whether instructions have kept rows behind the last one, or the last
  /// window has fewer rows of k than are kept of it.
  bool hasRest() const {
    return keptRows % kImageStep != 0 || keepsRowsBehindK();
  }
  bool keepsRowsBehindK() const {
    int64_t rest = k % (pattern.m * pattern.bk);
    return rest != 0 && rest < pattern.n * pattern.bk;
  }
  Value findPanel(ThreadEmitter &emitter, Value weights, Value column) const;
  Value loadRow(ThreadEmitter &emitter, SpMMOp op, Value panel,
                Value row) const;
  void listRows(ThreadEmitter &emitter, SpMMOp op, const ImagePlaces &places,
                Value thread);
  RowsOfLane loadRows(ThreadEmitter &emitter, Value step, int64_t unit) const;
  SmallVector<Value> loadWeights(ThreadEmitter &emitter, Value values,
                                 Value step) const;
  SmallVector<ImagePlaces::Part> findPlaces(ThreadEmitter &emitter, SpMMOp op,
                                            const ImagePlaces &places) const;
  std::array<Value, 2> loadPlace(ThreadEmitter &emitter, const ImageTile &image,
                                 const ImagePlaces::Part &place,
                                 const RowsOfLane &rows) const;
  void multiplyStep(ThreadEmitter &emitter, const ImageTile &image,
                    ArrayRef<ImagePlaces::Part> ofPlaces, Value step,
                    ArrayRef<Value> weights, MutableArrayRef<Value> sums) const;

  ::nm::Pattern pattern;
  ::nm::PanelPacking packing;
  Type type;
  int64_t panel, k, keptRows;
  bool areWeightsRows;
  /// Whether a lane's rows of an instruction are of one tap.
  bool haveOneTap = false;
  /// The list of rows, words.
  Value list;
};
} // namespace

MmaImageExpansion::MmaImageExpansion(SpMMOp op, const GpuTile &tile)
    : WarpExpansion(tile, {tile.warpM, tile.warpN},
                    Float32Type::get(op.getContext())),
      pattern(op.getPattern().getPattern()),
      packing(op.getPanelPacking().getPacking()),
      type(cast<MemRefType>(op.getA().getType()).getElementType()),
      panel(packing.panel), k(cast<SparseProductOpInterface>(*op).getStaticK()),
      keptRows(pattern.condensedRows(k)), areWeightsRows(op.getTransposeC()) {}

//===----------------------------------------------------------------------===//
// The list of rows
//===----------------------------------------------------------------------===//

Value MmaImageExpansion::findPanel(ThreadEmitter &emitter, Value weights,
                                   Value number) const {
  return clampToDim(emitter, weights, 0, emitter.toIndex(number),
                    tile.n / panel);
}

/// The row of k of kept row `row`, an i32, of a panel of the tile.
Value MmaImageExpansion::loadRow(ThreadEmitter &emitter, SpMMOp op, Value panel,
                                 Value row) const {
  if (pattern.m == 1)
    return row;
  OpBuilder &builder = emitter.builder;
  auto [unit, rowOfUnit] = emitter.split(row, pattern.bk);
  auto [indexRow, ofRow] = emitter.split(unit, packing.indexRows);
  Value indices = op.getIndices();
  Value position = memref::LoadOp::create(
      builder, emitter.loc, indices,
      ValueRange{findPanel(emitter, indices, panel), emitter.toIndex(indexRow),
                 emitter.toIndex(ofRow)});
  position = arith::ExtUIOp::create(builder, emitter.loc, builder.getI32Type(),
                                    position);
  Value window = emitter.div(unit, pattern.n);
  Value unitOfK = emitter.add(emitter.mul(window, pattern.m), position);
  return emitter.add(emitter.mul(unitOfK, pattern.bk), rowOfUnit);
}

/// Makes the list, by all threads.
void MmaImageExpansion::listRows(ThreadEmitter &emitter, SpMMOp op,
                                 const ImagePlaces &places, Value thread) {
  OpBuilder &builder = emitter.builder;
  int64_t perPanel = steps() * kImageStep, rows = tile.n / panel * perPanel;
  list = allocShared(builder, emitter.loc, {rows * kImageRowWords},
                     builder.getI32Type());
  scf::ForOp::create(
      builder, emitter.loc, thread, emitter.index(rows),
      emitter.index(tile.threads), ValueRange(),
      [&](OpBuilder &inner, Location loc, Value id, ValueRange) {
        ThreadEmitter body{inner, loc};
        auto [number, row] = body.split(body.toI32(id), perPanel);
        Value isKept, kept = row;
        if (hasRest()) {
          isKept = body.less(row, body.i32(keptRows));
          kept = body.least(row, body.i32(keptRows - 1));
        }
        Value ofK = loadRow(body, op, number, kept);
        if (keepsRowsBehindK()) {
          isKept = body.both(isKept, body.less(ofK, body.i32(k)));
          ofK = body.least(ofK, body.i32(k - 1));
        }
        ImagePlaces::Part part = places.placeOfRow(body, ofK);
        Value taps = part.taps ? part.taps : body.i32(0);
        if (isKept)
          taps = arith::SelectOp::create(inner, loc, isKept, taps,
                                         body.i32(INT64_C(1) << kBehindBit));
        Value words = vector::FromElementsOp::create(
            inner, loc, VectorType::get(kImageRowWords, inner.getI32Type()),
            ValueRange{part.distance, taps});
        vector::StoreOp::create(inner, loc, words, list,
                                body.mul(id, kImageRowWords),
                                /*nontemporal=*/false, llvm::MaybeAlign(8));
        scf::YieldOp::create(inner, loc);
      });
}

/// The lane's rows of `step`, an i32, for the columns of the warp's unit
/// `unit`.
RowsOfLane MmaImageExpansion::loadRows(ThreadEmitter &emitter, Value step,
                                       int64_t unit) const {
  OpBuilder &builder = emitter.builder;
  Value number =
      emitter.div(emitter.add(firstColumn, unit * unitColumns()), panel);
  Value row = emitter.add(emitter.mul(step, kImageStep),
                          emitter.mul(lane->pair, kRowsOfLane));
  row = emitter.add(row, emitter.mul(number, steps() * kImageStep));
  auto pairType = VectorType::get(2 * kImageRowWords, builder.getI32Type());
  RowsOfLane rows;
  for (int64_t i = 0; i < kRowsOfLane; i += 2) {
    Value place = emitter.toIndex(emitter.mul(row, kImageRowWords));
    Value pair =
        vector::LoadOp::create(builder, emitter.loc, pairType, list,
                               emitter.add(place, i * kImageRowWords),
                               /*nontemporal=*/false, llvm::MaybeAlign(16));
    for (int64_t j : {0, 1}) {
      rows.distance[i + j] = emitter.extract(pair, j * kImageRowWords);
      rows.taps[i + j] = emitter.extract(pair, j * kImageRowWords + 1);
    }
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The lane's words of the weights of `step`, an i32: for each eight of the
/// warp's columns, those of its first two rows and of the others.
SmallVector<Value> MmaImageExpansion::loadWeights(ThreadEmitter &emitter,
                                                  Value values,
                                                  Value step) const {
  OpBuilder &builder = emitter.builder;
  int64_t rows = packing.chunkRows, perLane = kRowsOfLane / rows;
  Value chunk = emitter.mul(
      emitter.add(emitter.mul(step, kImageStep / kRowsOfLane), lane->pair),
      perLane);
  int64_t chunks = steps() * kImageStep / rows;
  SmallVector<Value> words;
  for (int64_t n = 0; n < tile.warpN; n += kMatrixSide) {
    Value column = emitter.add(emitter.add(firstColumn, lane->row), n);
    auto [number, inPanel] = emitter.split(column, panel);
    for (int64_t i = 0; i < perLane; ++i) {
      Value wanted = emitter.toIndex(emitter.add(chunk, i)),
            row = clampToDim(emitter, values, 1, wanted, chunks);
      Value loaded = vector::LoadOp::create(
          builder, emitter.loc, VectorType::get(rows, type), values,
          ValueRange{findPanel(emitter, values, number), row,
                     emitter.toIndex(emitter.mul(inPanel, rows))},
          /*nontemporal=*/false, llvm::MaybeAlign(uint64_t(rows) * 2));
      // Behind the last kept row weights are zeros.
      Value isKept;
      if (hasRest())
        isKept = emitter.less(
            wanted, emitter.index(int64_t(llvm::divideCeil(keptRows, rows))));
      for (Value word : emitter.words(loaded))
        words.push_back(emitter.orZero(word, isKept));
    }
  }
  return words;
}

/// Where the lane's places begin in the copy: of each eight of the warp's.
SmallVector<ImagePlaces::Part>
MmaImageExpansion::findPlaces(ThreadEmitter &emitter, SpMMOp op,
                              const ImagePlaces &places) const {
  Value rows = emitter.builder.createOrFold<memref::DimOp>(
      emitter.loc, op.getA(),
      cast<MemRefType>(op.getA().getType()).getRank() - 1);
  Value last = emitter.builder.createOrFold<arith::SubIOp>(emitter.loc, rows,
                                                           emitter.index(1));
  SmallVector<ImagePlaces::Part> found;
  for (int64_t m = 0; m < tile.warpM; m += kMatrixSide) {
    Value column =
        emitter.toIndex(emitter.add(emitter.add(firstRow, lane->row), m));
    // Places behind the last one are that.
    found.push_back(places.placeOfM(emitter, emitter.least(column, last)));
    if (!hasRest())
      continue;
    Value behind = emitter.i32(INT64_C(1) << kBehindBit);
    Value &taps = found.back().taps;
    taps = taps ? emitter.either(taps, behind) : behind;
  }
  return found;
}

/// What the image has of a lane's rows at a place: two words.
std::array<Value, 2>
MmaImageExpansion::loadPlace(ThreadEmitter &emitter, const ImageTile &image,
                             const ImagePlaces::Part &place,
                             const RowsOfLane &rows) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  auto isInside = [&](int64_t row) -> Value {
    Value hit =
        builder.createOrFold<arith::AndIOp>(loc, place.taps, rows.taps[row]);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, hit,
                                 emitter.i32(0));
  };
  bool sharesTap = haveOneTap && !hasRest();
  Value inside;
  if (place.taps && sharesTap)
    inside = isInside(0);
  std::array<Value, 2> words;
  for (int64_t half : {0, 1}) {
    SmallVector<Value> pair;
    for (int64_t row = 2 * half; row < 2 * half + 2; ++row) {
      Value element =
          image.load(emitter, emitter.add(place.distance, rows.distance[row]));
      if (place.taps && !sharesTap)
        element = emitter.orZero(element, isInside(row));
      pair.push_back(element);
    }
    Value word = emitter
                     .words(vector::FromElementsOp::create(
                         builder, loc, VectorType::get(2, type), pair))
                     .front();
    words[half] = emitter.orZero(word, inside);
  }
  return words;
}

/// The words of two times eight rows or columns of an operand, each of two
/// halves of k, as mma.sync takes those of `role`.
static SquareWords joinSquare(MmaRole role, std::array<Value, 2> first,
                              std::array<Value, 2> second) {
  return role == MmaRole::Rows
             ? SquareWords{first[0], second[0], first[1], second[1]}
             : SquareWords{first[0], first[1], second[0], second[1]};
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Adds the products of the 16 kept rows of `step`, of which the lane has
/// `weights`.
void MmaImageExpansion::multiplyStep(ThreadEmitter &emitter,
                                     const ImageTile &image,
                                     ArrayRef<ImagePlaces::Part> ofPlaces,
                                     Value step, ArrayRef<Value> weights,
                                     MutableArrayRef<Value> sums) const {
  MmaRole ofActivations = areWeightsRows ? MmaRole::Columns : MmaRole::Rows,
          ofWeights = areWeightsRows ? MmaRole::Rows : MmaRole::Columns;
  int64_t squaresOfUnit = unitColumns() / kSquareSide;
  for (int64_t unit = 0; unit < units(); ++unit) {
    RowsOfLane rows = loadRows(emitter, step, unit);
    for (int64_t m = 0; m < tile.warpM / kSquareSide; ++m) {
      SquareWords a = joinSquare(
          ofActivations, loadPlace(emitter, image, ofPlaces[2 * m], rows),
          loadPlace(emitter, image, ofPlaces[2 * m + 1], rows));
      for (int64_t n = unit * squaresOfUnit; n < (unit + 1) * squaresOfUnit;
           ++n) {
        ArrayRef<Value> words = weights.slice(4 * n, 4);
        SquareWords w =
            joinSquare(ofWeights, {words[0], words[1]}, {words[2], words[3]});
        const SquareWords &ofRows = areWeightsRows ? w : a,
                          &ofColumns = areWeightsRows ? a : w;
        int64_t row = areWeightsRows ? n : m, column = areWeightsRows ? m : n;
        for (int64_t half : {0, 1})
          multiply(emitter, type, ofRows,
                   ArrayRef<Value>(ofColumns).slice(2 * half, 2),
                   sums.slice((row * columnFragments() + 2 * column + half) *
                                  kMmaSums,
                              kMmaSums));
      }
    }
  }
}

SmallVector<Value> MmaImageExpansion::expand(OpBuilder &builder,
                                             SparseProductOpInterface product,
                                             ArrayRef<Value> sums) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  ImageTile image = *ImageTile::find(emitter, op.getA(), tile.m);
  const ImagePlaces &places = image.getPlaces();
  haveOneTap = pattern.keptRows() % kRowsOfLane == 0 &&
               places.isOfOneTap(pattern.windowRows());
  Value thread =
      gpu::ThreadIdOp::create(builder, op.getLoc(), gpu::Dimension::x);
  Value first = emitter.div(emitter.mul(slice, steps()), tile.sliceK),
        end = emitter.div(emitter.mul(emitter.add(slice, 1), steps()),
                          tile.sliceK);
  if (tile.sliceK == 1) {
    first = emitter.i32(0);
    end = emitter.i32(steps());
  }
  // Weights are on their way while the image is copied.
  SmallVector<Value> carried(sums);
  Value lastStep = emitter.i32(steps() - 1);
  for (int64_t i = 0; i < tile.stages; ++i)
    llvm::append_range(
        carried, loadWeights(emitter, op.getValues(),
                             emitter.least(emitter.add(first, i), lastStep)));
  int64_t perStep = int64_t(carried.size() - sums.size()) / tile.stages;
  image.copy(emitter, thread, tile.threads);
  listRows(emitter, op, places, thread);
  SmallVector<ImagePlaces::Part> ofPlaces = findPlaces(emitter, op, places);
  image.await(emitter);
  gpu::BarrierOp::create(builder, op.getLoc());
  auto loop = scf::ForOp::create(
      builder, op.getLoc(), first, end, emitter.i32(1), carried,
      [&](OpBuilder &inner, Location loc, Value step, ValueRange carried) {
        ThreadEmitter body{inner, loc};
        SmallVector<Value> next =
            loadWeights(body, op.getValues(),
                        body.least(body.add(step, tile.stages), lastStep));
        SmallVector<Value> result(carried.take_front(sums.size())),
            loaded(carried.drop_front(sums.size()));
        multiplyStep(body, image, ofPlaces, step,
                     ArrayRef(loaded).take_front(size_t(perStep)), result);
        result.append(loaded.begin() + perStep, loaded.end());
        llvm::append_range(result, next);
        scf::YieldOp::create(inner, loc, result);
      });
  return SmallVector<Value>(loop.getResults().take_front(sums.size()));
}

//===----------------------------------------------------------------------===//
// What can be expanded
//===----------------------------------------------------------------------===//

static LogicalResult verifyPacking(SpMMOp op, const GpuTile &tile) {
  PackingAttr packing = op.getPanelPacking();
  int64_t columns = op.getPattern().getPattern().bn,
          rows = packing ? packing.getChunkRows() : 0;
  if (packing && (rows == 2 || rows == kRowsOfLane) &&
      packing.getChunkColumns() == 1 && packing.getIndexBits() == 8 &&
      packing.getPanel() % kSquareSide == 0 &&
      columns % packing.getPanel() == 0)
    return success();
  return op.emitOpError()
         << "expected packing with index_bits = 8, chunks of 2 or 4 rows, and "
            "panels of 16, 32, ... columns of one unit for strategy mma_image";
}

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createMmaImageExpansion(SparseProductOpInterface product,
                                  const GpuTile &tile) {
  FailureOr<SpMMOp> op = getMatrixProduct(product);
  if (failed(op) || failed(verifyPacking(*op, tile)))
    return failure();
  PatchesOp patches = findPatches(op->getA());
  if (!patches ||
      !findImagePart(patches.getMap(), patches.getLoops(), patches.getGroups(),
                     patches.getImageType().getShape()))
    return op->emitOpError() << "expected the patches of an image in planes, "
                                "padded by no more than its size, for strategy "
                                "mma_image";
  int64_t panel = op->getPanelPacking().getPanel();
  if (panel % tile.warpN != 0 && tile.warpN % panel != 0)
    return op->emitOpError()
           << "expected a warp's " << tile.warpN
           << " columns to be a multiple or a divisor of a panel's " << panel
           << " for strategy mma_image";
  return std::unique_ptr<TileExpansion>(
      std::make_unique<MmaImageExpansion>(*op, tile));
}
