//===- PassageCopy.cpp - Transposition by way of shared memory ------------===//
//
// ldmatrix (PTX ISA, warp-level matrix load instruction) takes four matrices of
// eight rows of 16 bytes, named by lane, and hands lane l word l % 4 of row
// l / 4 of each. Of a piece of A it is given, as row r of matrix i, chunk
// r % 2 of two neighbouring ones in row i of the r / 2-th four rows: lane l
// then has column l % 8 of the four rows l / 8, which is one store of 16 bytes.
// Eight lanes, which are served together, store to eight neighbouring rows of
// the destination; these are an odd number of 16-byte words apart.
//
//===----------------------------------------------------------------------===//

#include "PassageCopy.h"

#include "nm/Dialect/NM/Transforms/GpuTile.h"
#include "nm/Support/SimtPassage.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

/// Elements of a chunk: 16 bytes, a row of a matrix.
static constexpr int64_t kChunk = 4;
static constexpr int64_t kChunksPerRow = ::nm::kPassageColumns / kChunk;
/// Matrices that one ldmatrix takes: the rows of a four.
static constexpr int64_t kMatrices = 4, kMatrixRows = 8;
/// Chunks of a row that one ldmatrix takes.
static constexpr int64_t kChunksPerLoad =
    kMatrixRows / (::nm::kPassageRows / kMatrices);

int64_t PassageCopy::piecesPerWarp() const {
  ::nm::PassageTile tile;
  tile.m = copy.extents[0];
  tile.k = copy.extents[1];
  tile.warps = warps();
  return tile.piecesPerWarp();
}

PassageCopy::Piece PassageCopy::getPiece(int64_t inWarp) {
  OffsetIndex number{index.div(threads.id, mlir::nm::kWarpSize), warps(),
                     inWarp * warps()};
  auto [column, row] =
      index.split(number, copy.extents[0] / ::nm::kPassageRows);
  return {index.materialize(number),
          index.materialize(index.scale(row, ::nm::kPassageRows)),
          index.materialize(index.scale(column, ::nm::kPassageColumns))};
}

/// Eight lanes that read two neighbouring chunks of four rows, each of another
/// four, find them in different sixteenths of a kilobyte.
Value PassageCopy::permute(Value chunk, Value quad) {
  Value slot = builder.createOrFold<arith::XOrIOp>(
      loc, chunk, index.mul(quad, kChunksPerLoad));
  return index.mul(slot, kChunk);
}

void PassageCopy::emitCopies() {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  passage = memref::AllocOp::create(
      builder, loc,
      MemRefType::get({piecesPerWarp() * warps(), ::nm::kPassageRows,
                       ::nm::kPassageColumns},
                      builder.getF32Type(), MemRefLayoutAttrInterface(),
                      space));
  // Eight lanes take a row: a line of memory, which stays one in the passage.
  Value lane = index.rem(threads.id, mlir::nm::kWarpSize);
  Value chunk = index.rem(lane, kChunksPerRow);
  Value rowInQuad = index.div(lane, kChunksPerRow);
  for (int64_t i = 0; i < piecesPerWarp(); ++i) {
    Piece piece = getPiece(i);
    Value column = index.add(piece.column, index.mul(chunk, kChunk));
    for (int64_t quad = 0; quad < ::nm::kPassageRows / kMatrices; ++quad) {
      Value rowInPiece = index.add(rowInQuad, quad * kMatrices);
      Value slot = permute(chunk, index.constant(quad));
      copyDirectly({index.add(piece.row, rowInPiece), column}, passage,
                   {piece.number, rowInPiece, slot});
    }
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

void PassageCopy::emitMoves() {
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
  for (int64_t i = 0; i < piecesPerWarp(); ++i) {
    Piece piece = getPiece(i);
    NVVM::SyncWarpOp::create(
        builder, loc, arith::ConstantIntOp::create(builder, loc, -1, 32));
    // No load waits for a store.
    SmallVector<Value> words;
    for (int64_t first = 0; first < kChunksPerRow; first += kChunksPerLoad) {
      Value slot = permute(index.add(chunkInLoad, first), readQuad);
      words.push_back(nvgpu::LdMatrixOp::create(
          builder, loc, loaded, passage,
          ValueRange{piece.number, readRow, slot}, /*transpose=*/false,
          /*numTiles=*/kMatrices));
    }
    Value row = index.add(piece.row, storeRow), column = piece.column;
    for (Value loads : words) {
      vector::StoreOp::create(
          builder, loc, joinWords(builder, loc, loads), copy.destination,
          ValueRange{index.add(column, storeColumn), row},
          /*nontemporal=*/false, llvm::MaybeAlign(kChunk * sizeof(float)));
      column = index.add(column, columns);
    }
  }
}
