//===- GpuProductCost.cpp - What a product takes on a GPU -----------------===//

#include "GPU/Select/GpuProductCost.h"

#include "GPU/Layouts/LayoutCosts.h"
#include "GPU/Select/MeasuredChoice.h"
#include "GPU/Strategies/Warpgroup/SplitFloatsOfC.h"

#include "nm/Dialect/NM/IR/Contractions.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/IR/LeastSplit.h"
#include "nm/Dialect/NM/Transforms/DenseFallback.h"
#include "nm/Dialect/NM/Transforms/UnstructuredWeights.h"
#include "nm/Dialect/NM/Transforms/WeightOrigin.h"
#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/GPU/Stage/OperandDemands.h"
#include "nm/GPU/Stage/RowBytes.h"
#include "nm/Schedule/TensorBoxes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuProduct;

std::optional<std::string> mlir::nm::whyUnknown(SparseProductOpInterface op) {
  for (Type type : {op.getAType(), op.getCType()})
    if (!mlir::nm::getElementType(getElementTypeOrSelf(type)))
      return "expected operands of an element type with weights, but got " +
             debugString(type);
  if (ShapedType::isDynamic(op.getStaticK()) ||
      ShapedType::isDynamic(op.getStaticN()))
    return "expected a constant k and n on a GPU";
  if (op.getRowsOfPanels() != 0)
    return "expected an A that is not in panels, which its schedule asks for";
  return std::nullopt;
}

/// The splits that are as accurate as the product allows.
static int64_t countSplitsToUse(SparseProductOpInterface op) {
  if (!op.getAType().getElementType().isF32())
    return 1;
  return getLeastSplits(op.getArithmetic()).value_or(1);
}

int64_t mlir::nm::getPaddedStride(int64_t columns, bool isMMajor,
                                  int64_t bits) {
  if (bits != 16)
    return 0;
  int64_t chunk = getPaddedChunk(columns, isMMajor);
  return ShapedType::isDynamic(columns) ? chunk : llvm::alignTo(columns, chunk);
}

/// The padded stride of a temporary A.
static int64_t getStrideOfTemporary(SparseProductOpInterface op,
                                    bool isMMajor) {
  return getPaddedStride(isMMajor ? op.getStaticM() : op.getStaticK(), isMMajor,
                         op.getAType().getElementTypeBitWidth());
}

/// Whether `value` is made in memory of its own.
static bool hasOwnMemory(Value value) {
  if (auto copy = value.getDefiningOp<bufferization::AllocTensorOp>())
    return copy.getCopy() && !copy.getMemorySpace();
  auto producer = value.getDefiningOp<DestinationStyleOpInterface>();
  if (!isa_and_present<linalg::LinalgOp, AttentionOp, SparseProductOpInterface>(
          producer.getOperation()))
    return false;
  Value init = producer.getTiedOpOperand(cast<OpResult>(value))->get();
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.getOutputs()[0];
  return bool(init.getDefiningOp<tensor::EmptyOp>());
}

/// Whether `value` is a tensor in memory of its own, which only linalg ops and
/// products read; or a view of one, which nothing else reads.
static bool isTemporary(Value value) {
  auto view = value.getDefiningOp<tensor::CollapseShapeOp>();
  bool isView = view && view.getSrc().hasOneUse();
  return hasOwnMemory(isView ? view.getSrc() : value) &&
         llvm::all_of(value.getUses(), [](OpOperand &use) {
           auto reader = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
           return isa<linalg::LinalgOp, SparseProductOpInterface>(
                      use.getOwner()) &&
                  reader.isDpsInput(&use);
         });
}

/// Whether `value`, or what it is a view of, comes with each call.
static bool isArgument(Value value) {
  while (isa_and_present<tensor::ExtractSliceOp, tensor::CollapseShapeOp,
                         tensor::ExpandShapeOp, tensor::CastOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(value);
  return argument &&
         isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

int64_t mlir::nm::choosePadding(SparseProductOpInterface op,
                                const GpuProduct &product, int64_t splits) {
  constexpr int64_t kBytes = 2;
  // Rows of splits of a known m are whole lines.
  if (splits > 1)
    return ShapedType::isDynamic(op.getStaticM())
               ? getPaddedChunk(op.getStaticM(), /*isMMajorA=*/true)
               : 0;
  if (product.isVector || ::nm::elementSize(product.type) != kBytes ||
      (product.strideOfA == 0 && isArgument(op.getA())))
    return 0;
  int64_t columns = product.isMMajor ? op.getStaticM() : product.k,
          chunk = getPaddedChunk(columns, product.isMMajor);
  bool isWhole = !ShapedType::isDynamic(columns) && columns % chunk == 0;
  return isWhole ? 0 : chunk;
}

std::optional<CopiedImage> mlir::nm::findPixels(SparseProductOpInterface op,
                                                bool transposes) {
  int64_t bytes = op.getAType().getElementTypeBitWidth() / 8;
  std::optional<CopiedImage> found =
      findCopiedImage(op, ::nm::kPixelBytes / bytes, transposes);
  if (!found)
    return std::nullopt;
  // A transposed image has memory of its own; to transpose it pays where
  // patches have more elements.
  bool isRight =
      found->isTransposed
          ? found->getType().getNumElements() < op.getAType().getNumElements()
          : hasRowsAt(found->image, ::nm::kBulkRowBytes);
  return isRight ? found : std::nullopt;
}

/// Describes the image that threads could read in place of an A in `form`.
static void setReadImage(SparseProductOpInterface op, ActivationForm form,
                         GpuProduct &product) {
  std::optional<ReadableImage> image;
  if (form != ActivationForm::Copied)
    image = findReadableImage(op, form == ActivationForm::Transposed);
  product.hasImage = image.has_value();
  if (!image)
    return;
  product.imageElements = image->elements;
  product.hasChannelsLast = image->hasChannelsLast;
  product.imagePart = image->part.value_or(::nm::ImagePart());
}

/// Describes the image that tensor copies could read.
static void setCopiedImage(SparseProductOpInterface op, ActivationForm form,
                           GpuProduct &product) {
  std::optional<CopiedImage> image;
  if (form != ActivationForm::Copied && product.splits == 1)
    image = findPixels(op, form == ActivationForm::Transposed);
  product.hasPixels = image.has_value();
  if (!image)
    return;
  product.imageElements = image->getType().getNumElements();
  product.isImageTransposed = image->isTransposed;
}

static void setImages(SparseProductOpInterface op, ActivationForm form,
                      GpuProduct &product) {
  setReadImage(op, form, product);
  setCopiedImage(op, form, product);
}

GpuProduct mlir::nm::getGpuProduct(SparseProductOpInterface op,
                                   ActivationForm form) {
  GpuProduct product = getGpuProduct(op);
  if (form == ActivationForm::AsIs)
    return product;
  if (form == ActivationForm::Transposed)
    product.isMMajor = !product.isMMajor;
  product.strideOfA = getStrideOfTemporary(op, product.isMMajor);
  product.isMadeElementwise &= form == ActivationForm::Transposed;
  product.hasSplitsOfA = false;
  setImages(op, form, product);
  return product;
}

bool mlir::nm::canBeCopied(SparseProductOpInterface op) {
  auto product = dyn_cast<SpMMOp>(op.getOperation());
  if (!product || isTemporary(op.getA()))
    return false;
  bool isMMajor = product.getTransposeA();
  int64_t columns = isMMajor ? op.getStaticM() : op.getStaticK(),
          stride = getStrideOfTemporary(op, isMMajor);
  return stride != 0 && (ShapedType::isDynamic(columns) || stride != columns);
}

/// Whether C is a slice of another tensor, whose rows may start anywhere.
static bool isSlice(SparseProductOpInterface op) {
  Value init = cast<SpMMOp>(*op).getC();
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.getOutputs()[0];
  return init.getDefiningOp<tensor::ExtractSliceOp>() ||
         llvm::any_of(op->getUsers(),
                      llvm::IsaPred<tensor::InsertSliceOp,
                                    tensor::ParallelInsertSliceOp>);
}

/// Whether tensor copies can store C.
static bool canStoreByTensor(SparseProductOpInterface op) {
  constexpr int64_t kRowBytes = 16, kElementBits = 16;
  ShapedType type = op.getCType();
  int64_t columns = type.getShape().back();
  return isa<SpMMOp>(*op) && type.getElementTypeBitWidth() == kElementBits &&
         !ShapedType::isDynamic(columns) &&
         columns * kElementBits / 8 % kRowBytes == 0 && !isSlice(op);
}

/// Whether nm-fuse-elementwise fuses what changes the order of `a` to the op
/// that makes it.
static bool isMadeElementwise(Value a) {
  auto maker = a.getDefiningOp<linalg::GenericOp>();
  return maker && a.hasOneUse() && maker->getNumResults() == 1 &&
         maker.getNumParallelLoops() == maker.getNumLoops();
}

bool mlir::nm::isBatchInvariant(SparseProductOpInterface op) {
  auto module = op->getParentOfType<ModuleOp>();
  return module && module->hasAttr(kBatchInvariantAttr);
}

/// The products of a batch, 1 where their number is not known.
static int64_t countBatch(SparseProductOpInterface op) {
  ArrayRef<int64_t> sizes =
      op.getCType().getShape().take_front(size_t(op.getNumBatchDims()));
  bool isKnown = llvm::none_of(sizes, ShapedType::isDynamic);
  return isKnown ? llvm::product_of(sizes) : 1;
}

GpuProduct mlir::nm::getGpuProduct(SparseProductOpInterface op) {
  GpuProduct product;
  product.pattern = op.getPattern();
  if (narrowsDenseUnits(op))
    product.pattern = getDensePattern(
        std::gcd(op.getValuesType().getShape().back(), kDenseColumns));
  product.isVector = isa<SpMVOp>(op);
  int64_t m = op.getStaticM();
  // Models then choose as for any m.
  bool isUnknown =
      ShapedType::isDynamic(m) || (!product.isVector && isBatchInvariant(op));
  product.m = isUnknown ? GpuProduct::kUnknown : m;
  product.n = op.getStaticN();
  product.k = op.getStaticK();
  if (auto spmm = dyn_cast<SpMMOp>(op.getOperation())) {
    product.isMMajor = spmm.getTransposeA();
    product.isCMMajor = spmm.getTransposeC();
  }
  if (auto kept = op->getAttrOfType<IntegerAttr>(kKeptAttr))
    product.kept = kept.getInt();
  if (auto steps = op->getAttrOfType<DenseI64ArrayAttr>(kEllStepsAttr))
    for (auto [i, ell] : llvm::enumerate(product.ellSteps))
      ell = {steps[int64_t(2 * i)], steps[int64_t(2 * i + 1)]};
  if (isTemporary(op.getA()))
    product.strideOfA = getStrideOfTemporary(op, product.isMMajor);
  product.type = *mlir::nm::getElementType(op.getAType().getElementType());
  product.splits = countSplitsToUse(op);
  product.allowsTF32 = product.type == ::nm::ElementType::F32 &&
                       op.getArithmetic() == Arithmetic::TF32;
  product.hasFastAccum = op.getArithmetic() == Arithmetic::FastAccum;
  product.isMadeElementwise = isMadeElementwise(op.getA());
  setImages(op, ActivationForm::AsIs, product);
  product.batch = countBatch(op);
  product.storesByTensor = canStoreByTensor(op);
  product.hasSplitsOfA = findSplitterOfA(op) != nullptr;
  if (QuantizationAttr quantization = op.getQuantizationAttr()) {
    product.weightBits = quantization.getBits();
    product.scaleGroup = quantization.getGroup();
  }
  // Of the sums, whatever an epilogue then makes of them.
  product.outputType = *mlir::nm::getElementType(
      op.hasEpilogue() ? getRoundedSumType(op)
                       : op.getCType().getElementType());
  return product;
}

bool mlir::nm::isDenseOfEachCall(SparseProductOpInterface op) {
  return isDense(op) && (op.getScales() || !areWeightsLoaded(op));
}

bool mlir::nm::narrowsDenseUnits(SparseProductOpInterface op) {
  return isDenseOfEachCall(op) && op.hasPureTensorSemantics() &&
         op.getValuesType().hasStaticShape();
}

bool mlir::nm::isOfBytes(SparseProductOpInterface op) {
  return op.getAType().getElementTypeBitWidth() == 8;
}

bool mlir::nm::needsColumns(SparseProductOpInterface op) {
  return isFloat8(op.getAType().getElementType());
}

/// Why the weights of a product of cuBLAS with operands of 8 bits cannot be
/// packed so that both operands are contiguous along k; none where they can. Of
/// 8-bit floats it has no other products, and of i8 that one is many times
/// faster.
static std::optional<StringRef> whyNotInColumns(SparseProductOpInterface op,
                                                const GpuProduct &product) {
  constexpr int64_t kMostIndexRows = 1 << 16;
  if (product.isMMajor)
    return StringRef("its activations are m-major");
  if (!areWeightsLoaded(op) && !areWeightsRemadeAtLoad(op))
    return StringRef("its weights come with each call");
  if (product.k < 1 || product.k > kMostIndexRows)
    return StringRef("its k is not in 1..65536");
  return std::nullopt;
}

ScheduleAttrInterface SelectionOptions::getOwnOfLibrary() const {
  ScheduleAttrInterface own = given ? given.getOwn() : nullptr;
  return isReference(own) ? nullptr : own;
}

std::optional<StringRef>
mlir::nm::whyRowMajor(SparseProductOpInterface op, const GpuProduct &product,
                      const SelectionOptions &options) {
  if (isLibraryCall(options.given) &&
      options.given.getPackedForm(op.getPattern()))
    return std::nullopt;
  if (options.getOwnOfLibrary())
    return StringRef("so our own product wants them");
  return whyNotInColumns(op, product);
}

PackingAttr mlir::nm::getColumnPacking(SparseProductOpInterface op) {
  ::nm::PanelPacking packing;
  packing.panel = op.getPattern().bn;
  packing.indexBits = 1;
  packing.chunkRows = packing.indexRows = op.getStaticK();
  return PackingAttr::get(op->getContext(), packing);
}

/// Elements of a row of C, which the library's rows are: its matrices are
/// column-major.
static int64_t getRowOfC(SparseProductOpInterface op) {
  return cast<SpMMOp>(*op).getTransposeC() ? op.getStaticM() : op.getStaticN();
}

/// Whether cuBLAS is known to refuse the i8 product `op`, as cuBLAS 13.1 does
/// on an H200 whatever its documentation says: of layouts that do not have both
/// operands contiguous along k it has all where it sees fewer than 32 rows, and
/// the rest from k = 136. Its rows are our columns, unless C is transposed.
static bool isRefusedInBytes(SparseProductOpInterface op,
                             const GpuProduct &product) {
  return whyNotInColumns(op, product) && getRowOfC(op) >= 32 && product.k < 136;
}

/// Whether `size` is known and a multiple of `factor`.
static bool isMultiple(int64_t size, int64_t factor) {
  return !ShapedType::isDynamic(size) && size % factor == 0;
}

/// Why cuBLAS has no i8 product like `op`, if so. Its matrices have rows of
/// whole words; where both operands are contiguous along k, the other dimension
/// of C is free (docs.nvidia.com/cuda/cublas, cublasLtMatmul, "To use IMMA
/// kernels").
static std::optional<std::string> whyNotIntegers(SparseProductOpInterface op,
                                                 const GpuProduct &product,
                                                 bool isDemanded) {
  constexpr int64_t kWord = 4;
  if (!isMultiple(product.k, kWord) || !isMultiple(getRowOfC(op), kWord))
    return "cuBLAS multiplies i8 where k and the length of C's rows are known "
           "multiples of 4";
  std::optional<StringRef> notInColumns = whyNotInColumns(op, product);
  bool areAllMultiples =
      isMultiple(op.getStaticM(), kWord) && isMultiple(product.n, kWord);
  if (notInColumns && !areAllMultiples)
    return "cuBLAS multiplies i8 that is contiguous along k, or whose sizes "
           "are all known multiples of 4, but of this product " +
           notInColumns->str();
  // On demand it is asked, and what it refuses our own product makes.
  if (!isDemanded && isRefusedInBytes(op, product))
    return "cuBLAS refuses sums of i8 that are as short";
  return std::nullopt;
}

/// Why cuBLAS has no product of 8-bit floats like `op`, if so: its operands are
/// contiguous along k, and all rows are whole 16 bytes
/// (docs.nvidia.com/cuda/cublas, cublasLtMatmul, "To use FP8 kernels").
static std::optional<std::string> whyNotSmallFloats(SparseProductOpInterface op,
                                                    const GpuProduct &product) {
  constexpr int64_t kRowBytes = 16;
  std::string type = debugString(op.getAType().getElementType());
  if (isFloat8(product.outputType))
    return "the runtime calls cuBLAS for no sums of " + type;
  if (std::optional<StringRef> reason = whyNotInColumns(op, product))
    return "cuBLAS multiplies " + type +
           " that is contiguous along k, but of this product " + reason->str();
  auto elements = kRowBytes / int64_t(elementSize(product.outputType));
  if (!isMultiple(product.k, kRowBytes) || !isMultiple(getRowOfC(op), elements))
    return "cuBLAS multiplies " + type +
           " where k is known to be a multiple of 16, and the length of C's "
           "rows of " +
           std::to_string(elements);
  return std::nullopt;
}

std::optional<std::string> mlir::nm::whyNotCublas(SparseProductOpInterface op,
                                                  const GpuProduct &product,
                                                  double estimate,
                                                  bool isDemanded) {
  if (!isa<SpMMOp>(op) || estimate < 0 || op.getNumBatchDims() > 1)
    return "cuBLAS has no such product";
  if (!isDemanded && isBatchInvariant(op))
    return kSumsDependOnRows.str();
  if (!isOfBytes(op))
    return std::nullopt;
  return isFloat8(op.getAType().getElementType())
             ? whyNotSmallFloats(op, product)
             : whyNotIntegers(op, product, isDemanded);
}

double mlir::nm::estimateLibrary(SparseProductOpInterface op,
                                 const GpuProduct &product,
                                 const ::nm::GpuChip &chip,
                                 ActivationForm form) {
  double dense = ::nm::estimateCublas(product, chip);
  if (dense >= 0)
    dense = findMeasuredDense(op, product).value_or(dense);
  bool isApart = form == ActivationForm::AsIs && !areRowsContiguous(op.getA());
  if (dense < 0 || !isApart)
    return dense;
  return dense + estimateCopy(cast<RankedTensorType>(op.getAType()), chip);
}
