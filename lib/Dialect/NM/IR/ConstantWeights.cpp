//===- ConstantWeights.cpp - Constant attributes as raw arrays ------------===//

#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/StorageShape.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemAlloc.h"
#include "llvm/Support/xxhash.h"

#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace mlir::nm;

std::optional<size_t> mlir::nm::getConstantBytes(ShapedType type) {
  std::optional<::nm::ElementType> elementType =
      nm::getElementType(type.getElementType());
  if (!elementType)
    return std::nullopt;
  int64_t bytes = ::nm::elementSize(*elementType);
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bytes, size, bytes))
      return std::nullopt;
  if (bytes > kMostConstantBytes)
    return std::nullopt;
  return bytes;
}

std::optional<ConstantArray> ConstantArray::get(Value value) {
  Attribute constant;
  if (!value || !matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  return get(constant);
}

/// `count` copies of `element`.
static std::vector<char> repeat(ArrayRef<char> element, size_t count) {
  std::vector<char> elements(element.size() * count);
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = element[i % element.size()];
  return elements;
}

std::optional<ConstantArray> ConstantArray::get(Attribute attribute) {
  auto elements = dyn_cast_or_null<ElementsAttr>(attribute);
  if (!elements || !isa<RankedTensorType>(elements.getShapedType()))
    return std::nullopt;
  ConstantArray array;
  array.type = elements.getShapedType();
  std::optional<::nm::ElementType> elementType =
      nm::getElementType(array.type.getElementType());
  if (!elementType)
    return std::nullopt;
  array.elementType = *elementType;
  std::optional<size_t> numBytes = getConstantBytes(array.type);
  if (!numBytes)
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute)) {
    ArrayRef<char> raw = dense.getRawData();
    if (!dense.isSplat()) {
      array.borrowed = raw;
      return array;
    }
    array.owned = repeat(raw, array.type.getNumElements());
    return array;
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != *numBytes)
      return std::nullopt;
    array.borrowed = blob->getData();
    return array;
  }
  return std::nullopt;
}

std::optional<std::string> mlir::nm::whyNoBytes(Attribute constant) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(constant);
  if (!resource)
    return std::nullopt;
  std::string name = ("'" + getConstantName(constant) + "'").str();
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return "expected the resource " + name +
           " in the file's dialect_resources, but there is none";
  ShapedType type = resource.getShapedType();
  if (!type.getElementType().isIntOrFloat())
    return std::nullopt;
  uint64_t expected = llvm::divideCeil(
      llvm::SaturatingMultiply<uint64_t>(type.getNumElements(),
                                         type.getElementTypeBitWidth()),
      8);
  // A boolean of a resource takes a byte.
  if (type.getElementType().isInteger(1) || blob->getData().size() == expected)
    return std::nullopt;
  return "expected the resource " + name + " to have the " +
         std::to_string(expected) + " bytes of " + debugString(type) +
         ", but got " + std::to_string(blob->getData().size());
}

ArrayRef<char> ConstantArray::getBytes() const {
  return owned.empty() ? borrowed : ArrayRef<char>(owned);
}

::nm::DenseView ConstantArray::getDenseView(int64_t kDim) const {
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  const char *data = getBytes().data();
  return kDim == 0
             ? ::nm::DenseView::rowMajor(data, elementType, rows, columns)
             : ::nm::DenseView::transposed(data, elementType, columns, rows);
}

using BlobEntry = DialectResourceBlobManager::BlobEntry;

static DialectResourceBlobManager &getBlobs(MLIRContext *context) {
  return DenseResourceElementsHandle::getManagerInterface(context)
      .getBlobManager();
}

static bool holds(BlobEntry *entry, ArrayRef<char> bytes) {
  AsmResourceBlob *blob = entry->getBlob();
  return blob && blob->getData() == bytes;
}

/// Below 1 MiB, other passes may compute with the elements, and programs that
/// embed nm read them as dense elements.
static constexpr size_t kResourceBytes = 1 << 20;

/// Whether all elements are the first one's bytes, of which one is kept.
static bool isSplat(RankedTensorType type, ArrayRef<char> bytes) {
  size_t size = type.getElementTypeBitWidth() / 8;
  return size != 0 && bytes.size() > size &&
         bytes.drop_front(size) == bytes.drop_back(size);
}

/// The attribute of a large constant with the bytes of what `make` gives, which
/// is called where there is none yet.
static TypedAttr getResource(RankedTensorType type, ArrayRef<char> bytes,
                             llvm::function_ref<AsmResourceBlob()> make) {
  MLIRContext *context = type.getContext();
  std::string name =
      "nm." +
      llvm::utohexstr(llvm::xxh3_64bits(ArrayRef(
          reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size())));
  DialectResourceBlobManager &blobs = getBlobs(context);
  BlobEntry *entry = blobs.lookup(name);
  if (!entry || !holds(entry, bytes))
    entry = &blobs.insert(name, make());
  DenseResourceElementsHandle handle(
      entry, context->getOrLoadDialect<BuiltinDialect>());
  return DenseResourceElementsAttr::get(type, handle);
}

static bool isSmall(RankedTensorType type, ArrayRef<char> bytes) {
  return bytes.size() < kResourceBytes || isSplat(type, bytes);
}

static constexpr size_t kAlignment = 64;

TypedAttr mlir::nm::getResourceConstant(RankedTensorType type,
                                        ArrayRef<char> bytes) {
  return getResource(type, bytes, [&] {
    return HeapAsmResourceBlob::allocateAndCopyWithAlign(
        bytes, kAlignment, /*dataIsMutable=*/false);
  });
}

TypedAttr mlir::nm::getConstant(RankedTensorType type, ArrayRef<char> bytes) {
  return isSmall(type, bytes)
             ? TypedAttr(DenseElementsAttr::getFromRawBuffer(type, bytes))
             : getResourceConstant(type, bytes);
}

AsmResourceBlob mlir::nm::allocateConstant(size_t bytes) {
  // The system's zeros, which are made where they are first touched: by the
  // threads that pack.
  void *memory = llvm::safe_calloc(1, bytes + kAlignment);
  auto *data = reinterpret_cast<char *>(
      llvm::alignAddr(memory, llvm::Align(kAlignment)));
  return AsmResourceBlob(
      ArrayRef<char>(data, bytes), kAlignment,
      [memory](void *, size_t, size_t) { std::free(memory); },
      /*dataIsMutable=*/true);
}

TypedAttr mlir::nm::getConstant(RankedTensorType type, AsmResourceBlob blob) {
  ArrayRef<char> bytes = blob.getData();
  if (isSmall(type, bytes))
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  return getResource(type, bytes, [&] { return std::move(blob); });
}

TypedAttr mlir::nm::joinColumns(ArrayRef<ConstantArray> arrays,
                                std::optional<int64_t> group) {
  auto widthOf = [](const ConstantArray &array) {
    return array.getType().getShape().back();
  };
  ShapedType type = arrays.front().getType();
  SmallVector<int64_t> shape(type.getShape());
  int64_t rows = computeProduct(ArrayRef(shape).drop_back()), columns = 0;
  for (const ConstantArray &array : arrays)
    columns += widthOf(array);
  shape.back() = columns;
  size_t element = type.getElementTypeBitWidth() / 8;
  std::vector<char> bytes(size_t(rows * columns) * element);
  char *to = bytes.data();
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t first = 0; first < (group ? widthOf(arrays.front()) : 1);
         first += group.value_or(1))
      for (const ConstantArray &array : arrays) {
        int64_t width = widthOf(array);
        size_t size = size_t(group.value_or(width)) * element;
        std::memcpy(
            to, array.getBytes().data() + size_t(row * width + first) * element,
            size);
        to += size;
      }
  return getConstant(RankedTensorType::get(shape, type.getElementType()),
                     bytes);
}

TypedAttr mlir::nm::sliceColumns(const ConstantArray &array, int64_t first,
                                 int64_t count) {
  ShapedType type = array.getType();
  SmallVector<int64_t> shape(type.getShape());
  size_t element = type.getElementTypeBitWidth() / 8,
         width = size_t(shape.back()) * element, size = size_t(count) * element;
  shape.back() = count;
  std::vector<char> bytes(size_t(computeProduct(ArrayRef(shape).drop_back())) *
                          size);
  const char *from = array.getBytes().data() + size_t(first) * element;
  for (size_t to = 0; to < bytes.size(); to += size, from += width)
    std::memcpy(bytes.data() + to, from, size);
  return getConstant(RankedTensorType::get(shape, type.getElementType()),
                     bytes);
}

void mlir::nm::releaseConstants(MLIRContext *context,
                                ArrayRef<Operation *> modules) {
  llvm::DenseSet<StringRef> kept;
  AttrTypeWalker walker;
  walker.addWalk([&](DenseResourceElementsAttr constant) {
    kept.insert(constant.getRawHandle().getKey());
  });
  for (Operation *module : modules)
    module->walk([&](Operation *op) { walker.walk(op->getAttrDictionary()); });
  SmallVector<StringRef> unused;
  DialectResourceBlobManager &blobs = getBlobs(context);
  blobs.getBlobMap([&](const llvm::StringMap<BlobEntry> &entries) {
    for (const auto &[name, entry] : entries)
      if (entry.getBlob() && !kept.contains(name))
        unused.push_back(entry.getKey());
  });
  for (StringRef name : unused)
    blobs.update(name, AsmResourceBlob());
}

StringRef mlir::nm::getConstantName(Attribute constant) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant))
    return resource.getRawHandle().getKey();
  return "constant";
}

::nm::Result<CondensedConstant>
mlir::nm::compressConstant(const ConstantArray &dense,
                           const ::nm::Pattern &pattern, int64_t kDim,
                           StringRef name) {
  ::nm::DenseView view = dense.getDenseView(kDim);
  StorageShape shape = StorageShape::condensed(pattern, view.k, view.n);
  RankedTensorType valuesType =
      shape.valuesType(dense.getType().getElementType());
  RankedTensorType indicesType =
      shape.indicesType(dense.getType().getContext());
  std::optional<size_t> valueBytes = getConstantBytes(valuesType);
  if (!valueBytes)
    return ::nm::Error{"expected the condensed form of '" + name.str() +
                       "' to take at most " +
                       std::to_string(kMostConstantBytes) + " bytes"};
  std::vector<char> values(*valueBytes);
  // There are no more indices than values.
  std::vector<char> indices(indicesType.getNumElements());
  if (::nm::Status status =
          ::nm::compress(view, pattern, std::string_view(name), values.data(),
                         reinterpret_cast<uint8_t *>(indices.data()));
      !status)
    return status.error();
  return CondensedConstant{getConstant(valuesType, values),
                           getConstant(indicesType, indices)};
}
