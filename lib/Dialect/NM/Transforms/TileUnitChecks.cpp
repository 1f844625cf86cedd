//===- TileUnitChecks.cpp - What a processor's tile unit takes ------------===//

#include "TileUnitChecks.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"

using namespace mlir;
using namespace mlir::nm;

LogicalResult mlir::nm::checkTileUnit(SparseProductOpInterface op,
                                      const ::nm::CpuProduct &product,
                                      const ::nm::CpuTarget &cpu, bool packs) {
  if (::nm::Status status = ::nm::checkTiles(product, cpu); !status)
    return op->emitOpError() << status.error().message;
  if (!::nm::canTile(product, cpu))
    return op->emitOpError()
           << "expected a processor with "
           << (product.type == ::nm::ElementType::I8
                   ? "avx512vnni and avx512bw, amx-int8, or dotprod or i8mm of "
                     "Arm,"
                   : "amx-tile, amx-bf16 and avx512bw, or bf16 of Arm,")
           << " for strategy amx; see the option features";
  if (!packs)
    return op->emitOpError() << "expected weights in condensed form, constant "
                                "or loaded once, for strategy amx";
  return success();
}

/// Checks that the processor `cpu` expands the weights of `op`, if `schedule`
/// has them packed for that (#nm.bitmap_panels).
static LogicalResult checkExpansion(SparseProductOpInterface op,
                                    ScheduleAttrInterface schedule,
                                    const ::nm::CpuTarget &cpu) {
  auto panels = dyn_cast_if_present<BitmapPanelsAttr>(
      schedule.getPackedForm(op.getPattern()));
  if (!panels)
    return success();
  std::optional<::nm::ElementType> type =
      mlir::nm::getElementType(op.getAType().getElementType());
  int64_t rows = type ? cpu.expandedRows(*type) : 0;
  // One row at a time needs no more than wider words do.
  if (rows != 0 && (panels.getWordRows() == rows ||
                    (panels.getWordRows() == 1 && rows == 2)))
    return success();
  return op->emitOpError()
         << "expected a processor with avx512f for word_rows = 1, and of i8 or "
            "for pairs of bf16 with avx512bw, avx512vbmi2, and avx512vnni or "
            "avx512bf16 of AMD's; see the option features";
}

LogicalResult mlir::nm::checkChunks(SparseProductOpInterface op,
                                    ScheduleAttrInterface schedule,
                                    const ::nm::CpuTarget &cpu) {
  constexpr int64_t kRowsOfByteTiles = 64, kWordBits = 32;
  if (!schedule.isForTileUnit())
    return checkExpansion(op, schedule, cpu);
  auto packing =
      cast_if_present<PackingAttr>(schedule.getPackedForm(op.getPattern()));
  if (!packing)
    return success();
  if (packing.getPacking().hasBitmaps()) {
    if (op.getAType().getElementType().isBF16() && cpu.expands)
      return success();
    return op->emitOpError()
           << "expected operands of bf16 and a processor with amx-tile, "
              "amx-bf16 and avx512vbmi2 for index_bits = 0, but got operands "
              "of "
           << op.getAType().getElementType()
           << "; see the options features and dense-fallback";
  }
  int64_t rows = packing.getChunkRows();
  if (::nm::hasWords(packing.getPacking())) {
    Type type = op.getAType().getElementType();
    if (rows * type.getIntOrFloatBitWidth() == kWordBits &&
        cpu.choosesWords(type.isBF16() ? ::nm::ElementType::BF16
                                       : ::nm::ElementType::I8))
      return success();
    return op->emitOpError()
           << "expected operands of bf16 for chunks of 2 rows, or of i8 for 4, "
              "and a processor of AMD's with avx512bw, avx512vbmi, and "
              "avx512bf16 or avx512vnni, but got operands of "
           << type << "; see the option features";
  }
  bool isOfBytes = op.getAType().getElementType().isInteger(8);
  if (rows == kRowsOfByteTiles && !(isOfBytes && cpu.byteTiles))
    return op->emitOpError()
           << "expected operands of i8 and a processor with amx-tile, amx-int8 "
              "and avx512bw for chunks of 64 rows, but got operands of "
           << op.getAType().getElementType() << "; see the option features";
  if (rows != kRowsOfByteTiles && isOfBytes && !cpu.dots && !cpu.i8Matrices)
    return op->emitOpError()
           << "expected a processor with avx512vnni and avx512bw, or dotprod "
              "or i8mm of Arm, for chunks of "
           << rows << " rows of i8; see the option features";
  return success();
}

bool mlir::nm::multipliesPairs(SparseProductOpInterface op,
                               const ::nm::CpuTarget &cpu) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  if (!cpu.bf16Pairs || !op.getAType().getElementType().isBF16() ||
      schedule.isForTileUnit() || schedule.isReference())
    return false;
  if (auto panels = dyn_cast_if_present<BitmapPanelsAttr>(
          schedule.getPackedForm(op.getPattern())))
    return panels.getWordRows() > 1;
  BlockTiling tile = schedule.getTiling();
  return tile.threadM == 0 ||
         (tile.threadM >= tile.threadN && tile.threadM > cpu.lanes());
}
