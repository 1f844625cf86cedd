//===- Bytecode.cpp - The dialect in MLIR's bytecode ----------------------===//

#include "Bytecode.h"

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Bytecode/BytecodeImplementation.h"

using namespace mlir;
using namespace mlir::nm;

/// What bytecode is written as; Bytecode.h says what each version has.
static constexpr uint64_t kVersion = 2;

namespace {
/// Bytecode without a version has none of these.
struct Version : DialectVersion {
  explicit Version(uint64_t number) : number(number) {}
  uint64_t number;
};

struct NMBytecode : BytecodeDialectInterface {
  explicit NMBytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  void writeVersion(DialectBytecodeWriter &writer) const final {
    writer.writeVarInt(kVersion);
  }

  std::unique_ptr<DialectVersion>
  readVersion(DialectBytecodeReader &reader) const final {
    uint64_t number;
    if (failed(reader.readVarInt(number)))
      return nullptr;
    if (number > kVersion) {
      reader.emitError() << "expected dialect nm of version " << kVersion
                         << " or older, but got " << number
                         << ", which a newer nm has written";
      return nullptr;
    }
    return std::make_unique<Version>(number);
  }
};
} // namespace

void mlir::nm::addBytecodeInterface(NMDialect *dialect) {
  dialect->addInterface(std::make_unique<NMBytecode>(dialect));
}

//===----------------------------------------------------------------------===//
// Fields of products
//===----------------------------------------------------------------------===//

/// Fields of bytecode without a version: those that may be left out before the
/// pattern, the pattern, and those behind it.
static FailureOr<DictionaryAttr> readInOrder(DialectBytecodeReader &reader,
                                             ArrayRef<StringRef> before,
                                             ArrayRef<StringRef> behind) {
  NamedAttrList fields;
  auto readOptional = [&](StringRef name) {
    Attribute value;
    if (failed(reader.readOptionalAttribute(value)))
      return failure();
    if (value)
      fields.set(name, value);
    return success();
  };
  Attribute pattern;
  for (StringRef name : before)
    if (failed(readOptional(name)))
      return failure();
  if (failed(reader.readAttribute(pattern)))
    return failure();
  fields.set("pattern", pattern);
  for (StringRef name : behind)
    if (failed(readOptional(name)))
      return failure();
  return fields.getDictionary(reader.getContext());
}

/// A field that is not known says something that a result may depend on.
static LogicalResult checkNames(DialectBytecodeReader &reader, OperationName op,
                                DictionaryAttr fields) {
  for (NamedAttribute field : fields)
    if (!llvm::is_contained(op.getAttributeNames(), field.getName()))
      return reader.emitError()
             << op << " has a field " << field.getName()
             << " that is not known, which a newer nm has written";
  return success();
}

/// Before version 2, A, two arrays of weights, C and what the maps are of were
/// all that a product could have.
static DictionaryAttr addOperandCounts(DictionaryAttr fields) {
  auto maps = fields.getAs<ArrayAttr>("epilogue_maps");
  NamedAttrList counted(fields);
  counted.set("operandSegmentSizes",
              DenseI32ArrayAttr::get(
                  fields.getContext(),
                  {1, 1, 1, 0, 0, maps ? int32_t(maps.size()) : 0, 1}));
  return counted.getDictionary(fields.getContext());
}

template <typename Product>
static LogicalResult readFields(DialectBytecodeReader &reader,
                                OperationState &state,
                                ArrayRef<StringRef> behindPattern) {
  FailureOr<DictionaryAttr> fields = failure();
  FailureOr<const DialectVersion *> version =
      reader.getDialectVersion<NMDialect>();
  if (failed(version)) {
    fields = readInOrder(reader, {"arithmetic", "epilogue_maps", "packing"},
                         behindPattern);
  } else {
    DictionaryAttr named;
    if (succeeded(reader.readAttribute(named)) &&
        succeeded(checkNames(reader, state.name, named)))
      fields = named;
  }
  if (failed(fields))
    return failure();
  if (failed(version) || static_cast<const Version *>(*version)->number < 2)
    fields = addOperandCounts(*fields);
  return Product::setPropertiesFromAttr(
      state.getOrAddProperties<typename Product::Properties>(), *fields,
      [&] { return reader.emitError(); });
}

template <typename Product>
static void writeFields(DialectBytecodeWriter &writer, Product op) {
  writer.writeAttribute(
      Product::getPropertiesAsAttr(op.getContext(), op.getProperties()));
}

LogicalResult SpMMOp::readProperties(DialectBytecodeReader &reader,
                                     OperationState &state) {
  return readFields<SpMMOp>(reader, state,
                            {"schedule", "transpose_a", "transpose_c"});
}

void SpMMOp::writeProperties(DialectBytecodeWriter &writer) {
  writeFields(writer, *this);
}

LogicalResult SpMVOp::readProperties(DialectBytecodeReader &reader,
                                     OperationState &state) {
  return readFields<SpMVOp>(reader, state, {"schedule"});
}

void SpMVOp::writeProperties(DialectBytecodeWriter &writer) {
  writeFields(writer, *this);
}
