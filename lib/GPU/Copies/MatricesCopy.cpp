//===- MatricesCopy.cpp - Transposition by matrix loads -------------------===//
//
// ldmatrix (PTX ISA, warp-level matrix load instruction) takes four matrices of
// eight rows of 16 bytes, named by lane, and hands lane l word l % 4 of row
// l / 4 of each. Of a fragment of A it is given, as row r of matrix i, chunk
// r % 2 of two neighbouring ones in row i of the r / 2-th four rows: lane l
// then has column l % 8 of the four rows l / 8, which is one store of 16 bytes.
// Eight lanes, which are served together, store to eight neighbouring rows of
// the destination; these are an odd number of 16-byte words apart.
//
//===----------------------------------------------------------------------===//

#include "GPU/Copies/CopyEmitter.h"

#include "nm/GPU/Strategies/Simt/SimtCopies.h"
#include "nm/GPU/Tile/GpuTile.h"
#include "nm/Support/Warp.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

/// Elements of a chunk: 16 bytes, a row of a matrix.
static constexpr int64_t kChunk = ::nm::kAccessWords;
static constexpr int64_t kChunksPerRow = ::nm::kFragmentColumns / kChunk;
/// Matrices that one ldmatrix takes: the rows of a four.
static constexpr int64_t kMatrices = 4, kMatrixRows = 8;
/// Chunks of a row that one ldmatrix takes.
static constexpr int64_t kChunksPerLoad =
    kMatrixRows / (::nm::kFragmentRows / kMatrices);

namespace {
/// Copies between a row-major tile, fragments of a staging buffer and a
/// tile [columns x rows]. A fragment is the same warp's from its copy to the
/// staging buffer to its store, so that no other has to be waited for.
class StagedCopy : CopyEmitter {
public:
  StagedCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
             const CopyThreads &threads)
      : CopyEmitter(builder, loc, copy, threads) {}

  void copyTo(int64_t part);
  void moveFrom(int64_t part);

private:
  struct Fragment {
    /// Its place among fragments, and its first column and row in the tile.
    Value columnFragment, rowFragment, column, row;
  };
  Fragment getFragment(int64_t part);
};
} // namespace

StagedCopy::Fragment StagedCopy::getFragment(int64_t part) {
  int64_t warps = threads.count / mlir::nm::kWarpSize;
  OffsetIndex number{index.div(threads.id, mlir::nm::kWarpSize), warps,
                     part * warps};
  auto [column, row] =
      index.split(number, copy.extents[0] / ::nm::kFragmentRows);
  return {index.materialize(column), index.materialize(row),
          index.materialize(index.scale(column, ::nm::kFragmentColumns)),
          index.materialize(index.scale(row, ::nm::kFragmentRows))};
}

/// Eight lanes take a row: a line of memory, which stays one in the buffer.
void StagedCopy::copyTo(int64_t part) {
  Fragment fragment = getFragment(part);
  Value lane = index.rem(threads.id, mlir::nm::kWarpSize);
  Value columnInFragment = index.mul(index.rem(lane, kChunksPerRow), kChunk);
  Value rowInQuad = index.div(lane, kChunksPerRow);
  Value column = index.add(fragment.column, columnInFragment);
  for (int64_t quad = 0; quad < ::nm::kFragmentRows / kMatrices; ++quad) {
    Value rowInFragment = index.add(rowInQuad, quad * kMatrices);
    Place place;
    place.source = {index.add(fragment.row, rowInFragment), column};
    place.tile = {fragment.columnFragment, fragment.rowFragment, rowInFragment,
                  columnInFragment};
    copyDirectly(place);
  }
}

/// The words of a lane as one vector. In ops of LLVM: those of vector would be
/// folded to a shape_cast, which no conversion of kernels takes.
static Value joinWords(OpBuilder &builder, Location loc, Value words) {
  auto type = VectorType::get(kMatrices, builder.getF32Type());
  Value joined = LLVM::PoisonOp::create(builder, loc, type);
  for (int64_t matrix = 0; matrix < kMatrices; ++matrix) {
    Value word = vector::ExtractOp::create(builder, loc, words,
                                           ArrayRef<int64_t>{matrix, 0});
    Value at = arith::ConstantIntOp::create(builder, loc, matrix, 64);
    joined = LLVM::InsertElementOp::create(builder, loc, joined, word, at);
  }
  return joined;
}

void StagedCopy::moveFrom(int64_t part) {
  Value lane = index.rem(threads.id, mlir::nm::kWarpSize);
  Value matrix = index.div(lane, kMatrixRows);
  Value matrixRow = index.rem(lane, kMatrixRows);
  Value chunkInLoad = index.rem(matrixRow, kChunksPerLoad);
  Value readQuad = index.div(matrixRow, kChunksPerLoad);
  Value readRow = index.add(index.mul(readQuad, kMatrices), matrix);
  int64_t columns = kChunksPerLoad * kChunk;
  Value storeRow = index.mul(index.div(lane, columns), kMatrices);
  Value storeColumn = index.rem(lane, columns);
  auto loaded = VectorType::get({kMatrices, 1}, builder.getF32Type());
  Fragment fragment = getFragment(part);
  // No load waits for a store.
  SmallVector<Value> words;
  for (int64_t first = 0; first < kChunksPerRow; first += kChunksPerLoad) {
    Value readColumn = index.mul(index.add(chunkInLoad, first), kChunk);
    SmallVector<Value> place = placeElement(
        builder, loc, copy.layout,
        {fragment.columnFragment, fragment.rowFragment, readRow, readColumn});
    words.push_back(nvgpu::LdMatrixOp::create(builder, loc, loaded, copy.source,
                                              place, /*transpose=*/false,
                                              /*numTiles=*/kMatrices));
  }
  Value row = index.add(fragment.row, storeRow), column = fragment.column;
  for (Value loads : words) {
    vector::StoreOp::create(
        builder, loc, joinWords(builder, loc, loads), copy.destination,
        ValueRange{index.add(column, storeColumn), row},
        /*nontemporal=*/false, llvm::MaybeAlign(kChunk * sizeof(float)));
    column = index.add(column, columns);
  }
}

void mlir::nm::emitCopyToStagingBuffer(OpBuilder &builder, Location loc,
                                       const TileCopy &copy,
                                       const CopyThreads &threads,
                                       int64_t part) {
  StagedCopy(builder, loc, copy, threads).copyTo(part);
}

void mlir::nm::emitMoveFromStagingBuffer(OpBuilder &builder, Location loc,
                                         const TileCopy &copy,
                                         const CopyThreads &threads,
                                         int64_t part) {
  StagedCopy(builder, loc, copy, threads).moveFrom(part);
}
