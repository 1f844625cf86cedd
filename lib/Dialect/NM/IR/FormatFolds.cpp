//===- FormatFolds.cpp - Folds of the format ops --------------------------===//
//
// Weights are static, so format ops on constants are computed here, by the
// same arithmetic that the runtime uses. A constant that breaks its pattern is
// left alone: nm-materialize-storage reports it.
//
//===----------------------------------------------------------------------===//

#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Dialect/NM/IR/StorageShape.h"
#include "nm/Format/Prune.h"

using namespace mlir;
using namespace mlir::nm;

/// The condensed constants in `values` and `indices`, if they are and the
/// indices are sound.
static std::optional<::nm::CondensedView>
getCondensedView(const std::optional<ConstantArray> &values,
                 const std::optional<ConstantArray> &indices,
                 const ::nm::Pattern &pattern, int64_t k, int64_t n) {
  if (!values || !indices)
    return std::nullopt;
  auto *indexBytes =
      reinterpret_cast<const uint8_t *>(indices->getBytes().data());
  if (!::nm::verifyIndices(indexBytes, pattern, k, n, "indices"))
    return std::nullopt;
  return ::nm::CondensedView{values->getBytes().data(),
                             indexBytes,
                             values->getElementType(),
                             pattern,
                             k,
                             n};
}

LogicalResult CompressOp::fold(FoldAdaptor adaptor,
                               SmallVectorImpl<OpFoldResult> &results) {
  if (getResults().empty())
    return failure();
  ::nm::Pattern pattern = getPattern().getPattern();
  if (auto decompress = getDense().getDefiningOp<DecompressOp>();
      decompress && decompress.getPattern() == getPattern() &&
      decompress.getDim() == getDim() &&
      decompress.getValues().getType() == getResult(0).getType() &&
      decompress.getIndices().getType() == getResult(1).getType()) {
    results.assign({decompress.getValues(), decompress.getIndices()});
    return success();
  }
  std::optional<ConstantArray> dense = ConstantArray::get(adaptor.getDense());
  if (!dense)
    return failure();
  ::nm::Result<CondensedConstant> condensed =
      compressConstant(*dense, pattern, getDim(), "weights");
  if (!condensed)
    return failure();
  results.assign({condensed->values, condensed->indices});
  return success();
}

LogicalResult DecompressOp::fold(FoldAdaptor adaptor,
                                 SmallVectorImpl<OpFoldResult> &results) {
  if (getResults().empty())
    return failure();
  if (auto compress = getValues().getDefiningOp<CompressOp>();
      compress && compress.getOperation() == getIndices().getDefiningOp() &&
      getValues() == compress.getResult(0) &&
      getIndices() == compress.getResult(1) &&
      compress.getPattern() == getPattern() && compress.getDim() == getDim() &&
      compress.getDense().getType() == getResult(0).getType()) {
    results.push_back(compress.getDense());
    return success();
  }
  auto type = cast<RankedTensorType>(getResult(0).getType());
  if (!type.hasStaticShape())
    return failure();
  std::optional<ConstantArray> values = ConstantArray::get(adaptor.getValues()),
                               indices =
                                   ConstantArray::get(adaptor.getIndices());
  int64_t kDim = getDim();
  std::optional<::nm::CondensedView> view =
      getCondensedView(values, indices, getPattern().getPattern(),
                       type.getDimSize(kDim), type.getDimSize(1 - kDim));
  if (!view)
    return failure();
  std::optional<size_t> denseBytes = getConstantBytes(type);
  if (!denseBytes)
    return failure();
  std::vector<char> dense(*denseBytes);
  int64_t rowStride = type.getDimSize(1);
  ::nm::decompress(*view, dense.data(), kDim == 0 ? rowStride : 1,
                   kDim == 0 ? 1 : rowStride);
  results.push_back(getConstant(type, dense));
  return success();
}

LogicalResult PruneOp::fold(FoldAdaptor adaptor,
                            SmallVectorImpl<OpFoldResult> &results) {
  if (getResults().empty())
    return failure();
  std::optional<ConstantArray> dense = ConstantArray::get(adaptor.getDense());
  if (!dense)
    return failure();
  std::vector<char> pruned(dense->getBytes().size());
  ::nm::prune(dense->getDenseView(getDim()), getPattern().getPattern(),
              pruned.data());
  results.push_back(
      getConstant(cast<RankedTensorType>(getResult(0).getType()), pruned));
  return success();
}

LogicalResult PackOp::fold(FoldAdaptor adaptor,
                           SmallVectorImpl<OpFoldResult> &results) {
  if (getResults().empty())
    return failure();
  auto valuesType = cast<RankedTensorType>(getResult(0).getType());
  auto indicesType = cast<RankedTensorType>(getResult(1).getType());
  auto condensedType = cast<RankedTensorType>(getValues().getType());
  if (!condensedType.hasStaticShape() ||
      !llvm::all_of(getResultTypes(), [](Type type) {
        return cast<RankedTensorType>(type).hasStaticShape();
      }))
    return failure();
  std::optional<ConstantArray> values = ConstantArray::get(adaptor.getValues()),
                               indices =
                                   ConstantArray::get(adaptor.getIndices());
  // The packed form depends on whole windows only, so the padded sizes do.
  ::nm::Pattern pattern = getPattern().getPattern();
  int64_t k =
      condensedType.getDimSize(0) / pattern.keptRows() * pattern.windowRows();
  std::optional<::nm::CondensedView> view = getCondensedView(
      values, indices, pattern, k, condensedType.getDimSize(1));
  if (!view)
    return failure();
  std::optional<size_t> valueBytes = getConstantBytes(valuesType);
  std::optional<size_t> indexBytes = getConstantBytes(indicesType);
  if (!valueBytes || !indexBytes)
    return failure();
  // Loops stop the program, where a constant has too many values.
  if (auto columns = dyn_cast<ColumnsAttr>(getPacking());
      columns && !columns.getForm().holds(*view))
    return failure();
  if (auto panels = dyn_cast<BitmapPanelsAttr>(getPacking());
      panels && !panels.getForm().holds(*view))
    return failure();
  if (auto ell = dyn_cast<EllAttr>(getPacking());
      ell && !ell.getForm().holds(*view))
    return failure();
  AsmResourceBlob packedValues = allocateConstant(*valueBytes),
                  packedIndices = allocateConstant(*indexBytes);
  std::vector<char> packedLists(
      getPackedLists()
          ? cast<RankedTensorType>(getResult(2).getType()).getNumElements()
          : 0);
  getPacking().pack(
      *view, packedValues.getMutableData().data(),
      reinterpret_cast<uint8_t *>(packedIndices.getMutableData().data()),
      reinterpret_cast<uint8_t *>(packedLists.data()));
  results.assign({getConstant(valuesType, std::move(packedValues)),
                  getConstant(indicesType, std::move(packedIndices))});
  if (getPackedLists())
    results.push_back(getConstant(
        cast<RankedTensorType>(getResult(2).getType()), packedLists));
  return success();
}

LogicalResult DisassembleOp::fold(FoldAdaptor adaptor,
                                  SmallVectorImpl<OpFoldResult> &results) {
  if (auto assemble = getEncoded().getDefiningOp<AssembleOp>()) {
    results.assign({assemble.getValues(), assemble.getIndices()});
    return success();
  }
  std::optional<ConstantArray> dense = ConstantArray::get(adaptor.getEncoded());
  if (!dense)
    return failure();
  EncodingAttr encoding = getEncoding(getEncoded().getType());
  ::nm::Result<CondensedConstant> condensed = compressConstant(
      *dense, encoding.getPattern().getPattern(), encoding.getDim(), "weights");
  if (!condensed)
    return failure();
  results.assign({condensed->values, condensed->indices});
  return success();
}

OpFoldResult AssembleOp::fold(FoldAdaptor) {
  auto disassemble = getValues().getDefiningOp<DisassembleOp>();
  if (!disassemble || disassemble != getIndices().getDefiningOp() ||
      getIndices() != disassemble.getIndices() ||
      disassemble.getEncoded().getType() != getType())
    return {};
  return disassemble.getEncoded();
}
