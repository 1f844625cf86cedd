//===- Resources.cpp - Constants whose bytes are in other files -----------===//

#include "Resources.h"

#include "nm/Support/Checksum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <optional>

using namespace mlir;

namespace {
/// A tensor of a safetensors file.
struct StoredTensor {
  std::string kind;
  SmallVector<int64_t> shape;
  ArrayRef<char> bytes;
  /// What keeps the bytes.
  std::shared_ptr<llvm::MemoryBuffer> file;
  std::string path;

  std::string str() const {
    std::string text = kind + " [";
    for (int64_t size : shape)
      text += (text.back() == '[' ? "" : ", ") + std::to_string(size);
    return text + "]";
  }
};

/// The tensors of all files by name.
class Resources {
public:
  explicit Resources(Location loc) : loc(loc) {}

  LogicalResult addFile(StringRef path);
  LogicalResult fill(DenseResourceElementsAttr constant, Location place) const;

private:
  LogicalResult checkSums(StringRef header, const llvm::json::Object &entries,
                          ArrayRef<char> data, StringRef path) const;
  LogicalResult addTensor(StringRef name, const llvm::json::Value &entry,
                          ArrayRef<char> data,
                          const std::shared_ptr<llvm::MemoryBuffer> &file,
                          StringRef path);

  Location loc;
  llvm::StringMap<StoredTensor> tensors;
};
} // namespace

/// The bits of an element in memory, by safetensors' name of its type.
static unsigned getBits(StringRef kind) {
  return llvm::StringSwitch<unsigned>(kind)
      .Cases({"F64", "I64"}, 64)
      .Cases({"F32", "I32"}, 32)
      .Cases({"F16", "BF16"}, 16)
      .Cases({"F8_E4M3", "F8_E5M2", "I8", "U8", "BOOL"}, 8)
      .Default(0);
}

/// Whether elements of safetensors' `kind` are those of `type`.
static bool isKindOf(StringRef kind, Type type) {
  std::string expected = llvm::StringSwitch<std::string>(kind)
                             .Cases({"I64", "I32", "I8"}, kind.lower())
                             .Cases({"U8", "BOOL"}, "i8")
                             .Cases({"F64", "F32", "F16", "BF16"}, kind.lower())
                             .Case("F8_E4M3", "f8E4M3FN")
                             .Case("F8_E5M2", "f8E5M2")
                             .Default("");
  return expected == debugString(type);
}

/// The sizes and the place of the tensor that `entry` describes; none if it is
/// no such description, or if its place is not in `data` or too small.
static std::optional<StoredTensor> readEntry(const llvm::json::Value &entry,
                                             ArrayRef<char> data) {
  const llvm::json::Object *object = entry.getAsObject();
  if (!object)
    return std::nullopt;
  std::optional<StringRef> kind = object->getString("dtype");
  const llvm::json::Array *shape = object->getArray("shape");
  const llvm::json::Array *place = object->getArray("data_offsets");
  if (!kind || !shape || !place || place->size() != 2)
    return std::nullopt;
  std::optional<uint64_t> begin = (*place)[0].getAsUINT64(),
                          end = (*place)[1].getAsUINT64();
  if (!begin || !end || *begin > *end || *end > data.size())
    return std::nullopt;
  StoredTensor tensor;
  tensor.kind = kind->str();
  tensor.bytes = data.slice(*begin, *end - *begin);
  for (const llvm::json::Value &size : *shape) {
    std::optional<int64_t> number = size.getAsInteger();
    if (!number || *number < 0)
      return std::nullopt;
    tensor.shape.push_back(*number);
  }
  return tensor;
}

LogicalResult Resources::addTensor(
    StringRef name, const llvm::json::Value &entry, ArrayRef<char> data,
    const std::shared_ptr<llvm::MemoryBuffer> &file, StringRef path) {
  std::optional<StoredTensor> tensor = readEntry(entry, data);
  if (!tensor)
    return emitError(loc) << "'" << path
                          << "': expected dtype, shape and data_offsets of '"
                          << name << "' in a file of safetensors";
  tensor->file = file;
  tensor->path = path.str();
  auto [other, isNew] = tensors.try_emplace(name, std::move(*tensor));
  if (!isNew)
    return emitError(loc) << "expected one resource '" << name
                          << "', but it is in '" << other->second.path
                          << "' and in '" << path << "'";
  return success();
}

/// The value of a text whose brackets are nested as deep as a header's, or a
/// little deeper: LLVM's parser calls itself for each.
static llvm::Expected<llvm::json::Value> parseJson(StringRef text) {
  constexpr unsigned kMaxDepth = 64;
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString && c == '\\')
      ++i;
    else if (c == '"')
      inString = !inString;
    else if (!inString && (c == '[' || c == '{') && ++depth > kMaxDepth)
      return llvm::createStringError(
          "expected at most 64 brackets inside each other");
    else if (!inString && (c == ']' || c == '}') && depth > 0)
      --depth;
  }
  return llvm::json::parse(text);
}

static std::string checksum(std::initializer_list<StringRef> parts) {
  ::nm::Crc32 sum;
  for (StringRef part : parts)
    sum.add(part);
  return ::nm::formatChecksum(sum.value());
}

/// Checks the sums of a file that the Python package wrote, where they are;
/// python/nm/_safetensors.py describes them.
LogicalResult Resources::checkSums(StringRef header,
                                   const llvm::json::Object &entries,
                                   ArrayRef<char> data, StringRef path) const {
  constexpr StringRef kSum = "\"nm.crc32\": \"", kNoSum = "00000000";
  auto check = [&](const Twine &what, std::optional<StringRef> expected,
                   StringRef found) -> LogicalResult {
    if (expected == found)
      return success();
    return emitError(loc) << "'" << path << "': expected the checksum "
                          << expected.value_or("none") << " of " << what
                          << ", but got " << found << ": the file is damaged";
  };
  const llvm::json::Object *metadata = entries.getObject("__metadata__");
  if (!metadata || (!metadata->get("nm.crc32") && !metadata->get("nm.sums")))
    return success();
  auto [before, after] = header.split(kSum);
  if (failed(check(
          "its header", metadata->getString("nm.crc32"),
          checksum({before, kSum, kNoSum,
                    after.drop_front(std::min(after.size(), kNoSum.size()))}))))
    return failure();
  llvm::Expected<llvm::json::Value> sums =
      parseJson(metadata->getString("nm.sums").value_or("missing"));
  if (!sums)
    return check(llvm::toString(sums.takeError()), std::nullopt, "none");
  const llvm::json::Object *known = sums->getAsObject();
  for (const auto &[name, entry] : entries) {
    std::optional<StoredTensor> tensor = readEntry(entry, data);
    if (!tensor || StringRef(name) == "__metadata__")
      continue;
    StringRef bytes(tensor->bytes.data(), tensor->bytes.size());
    if (failed(check("'" + StringRef(name) + "'",
                     known ? known->getString(name) : std::nullopt,
                     checksum({bytes}))))
      return failure();
  }
  return success();
}

LogicalResult Resources::addFile(StringRef path) {
  // A device may have no end.
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path))
    return emitError(loc)
           << "cannot read '" << path
           << "': expected a file, but got a folder, a device or "
              "a pipe";
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return emitError(loc) << "cannot read '" << path
                          << "': " << buffer.getError().message();
  std::shared_ptr<llvm::MemoryBuffer> file = std::move(*buffer);
  StringRef text = file->getBuffer();
  auto damaged = [&](const Twine &reason) {
    return emitError(loc) << "'" << path << "': expected a file of safetensors "
                          << reason;
  };
  if (text.size() < 8)
    return damaged("of at least 8 bytes, but got " + Twine(text.size()));
  uint64_t length = llvm::support::endian::read64le(text.data());
  if (length > text.size() - 8)
    return damaged("with a header of at most " + Twine(text.size() - 8) +
                   " bytes, but it says " + Twine(length));
  llvm::Expected<llvm::json::Value> header = parseJson(text.substr(8, length));
  if (!header)
    return damaged("with a header of JSON: " +
                   llvm::toString(header.takeError()));
  const llvm::json::Object *entries = header->getAsObject();
  if (!entries)
    return damaged("with an object of JSON as its header");
  ArrayRef<char> data(text.drop_front(8 + length).data(),
                      text.size() - 8 - length);
  if (failed(checkSums(text.substr(8, length), *entries, data, path)))
    return failure();
  for (const auto &[name, entry] : *entries)
    if (StringRef(name) != "__metadata__" &&
        failed(addTensor(name, entry, data, file, path)))
      return failure();
  return success();
}

/// The tensor's bytes where they lie, or a copy where a writer put them to an
/// odd place.
static AsmResourceBlob makeBlob(const StoredTensor &tensor) {
  size_t alignment = getBits(tensor.kind) / 8;
  if (!llvm::isAddrAligned(llvm::Align(alignment), tensor.bytes.data()))
    return HeapAsmResourceBlob::allocateAndCopyWithAlign(
        tensor.bytes, alignment, /*dataIsMutable=*/false);
  return AsmResourceBlob(
      tensor.bytes, alignment, [file = tensor.file](void *, size_t, size_t) {},
      /*dataIsMutable=*/false);
}

LogicalResult Resources::fill(DenseResourceElementsAttr constant,
                              Location place) const {
  DenseResourceElementsHandle handle = constant.getRawHandle();
  auto found = tensors.find(handle.getKey());
  if (handle.getBlob() || found == tensors.end())
    return success();
  const StoredTensor &tensor = found->second;
  ShapedType type = constant.getShapedType();
  uint64_t bytes = getBits(tensor.kind) / 8;
  for (int64_t size : tensor.shape)
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, size);
  if (!isKindOf(tensor.kind, type.getElementType()) ||
      ArrayRef(tensor.shape) != type.getShape())
    return emitError(place)
           << "expected the resource '" << handle.getKey() << "' to be " << type
           << ", but '" << tensor.path << "' has it as " << tensor.str();
  if (bytes != tensor.bytes.size())
    return emitError(place)
           << "expected the resource '" << handle.getKey() << "' to have "
           << bytes << " bytes in '" << tensor.path << "', but it has "
           << tensor.bytes.size();
  handle.getResource()->setBlob(makeBlob(tensor));
  return success();
}

/// Makes a scalar constant of a resource a dense constant: upstream's lowering
/// of globals asks the attribute of a scalar for the element, which a resource
/// does not give.
static void readScalar(arith::ConstantOp constant) {
  auto value = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
  if (!value || value.getShapedType().getRank() != 0)
    return;
  AsmResourceBlob *blob = value.getRawHandle().getBlob();
  bool isSplat = false;
  if (blob && DenseElementsAttr::isValidRawBuffer(value.getShapedType(),
                                                  blob->getData(), isSplat))
    constant.setValueAttr(DenseElementsAttr::getFromRawBuffer(
        value.getShapedType(), blob->getData()));
}

LogicalResult mlir::nm::loadResources(ModuleOp module,
                                      ArrayRef<std::string> paths) {
  Resources resources(UnknownLoc::get(module.getContext()));
  for (StringRef path : paths)
    if (failed(resources.addFile(path)))
      return failure();
  WalkResult result = module.walk([&](arith::ConstantOp constant) {
    auto value = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
    if (value && failed(resources.fill(value, constant.getLoc())))
      return WalkResult::interrupt();
    readScalar(constant);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
