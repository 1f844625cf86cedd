//===- ConstantWeights.h - Constant attributes as raw arrays ----*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_CONSTANTWEIGHTS_H
#define NM_DIALECT_NM_IR_CONSTANTWEIGHTS_H

#include "nm/Format/Condensed.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace mlir::nm {

/// The largest constant that the compiler computes. A few characters of IR can
/// ask for any size: a splat, or a huge block around one weight.
inline constexpr int64_t kMostConstantBytes = int64_t(1) << 32;

/// The bytes of a constant of the static `type`; none if its element type is no
/// weight's, or if there are more than kMostConstantBytes.
std::optional<size_t> getConstantBytes(ShapedType type);

/// The elements of a constant, row-major. They are the attribute's own memory
/// unless it is a splat, which is expanded.
class ConstantArray {
public:
  /// Takes dense and dense_resource attributes of static ranked type; none for
  /// anything else, for a resource whose size does not match its type, and for
  /// more than kMostConstantBytes.
  static std::optional<ConstantArray> get(Attribute attribute);
  /// That of a constant `value`, which may be null.
  static std::optional<ConstantArray> get(Value value);

  ShapedType getType() const { return type; }
  ::nm::ElementType getElementType() const { return elementType; }
  ArrayRef<char> getBytes() const;

  /// A constant matrix as weights B[k×n], where dimension `kDim` is k.
  ::nm::DenseView getDenseView(int64_t kDim) const;

private:
  ShapedType type;
  ::nm::ElementType elementType;
  ArrayRef<char> borrowed;
  std::vector<char> owned;
};

/// A constant of `type` with the row-major elements `bytes`. A large one is a
/// resource, which releaseConstants frees; of equal ones there is one.
TypedAttr getConstant(RankedTensorType type, ArrayRef<char> bytes);

/// Zeros for a constant of `bytes`, which is made there and becomes a large
/// constant without a copy.
AsmResourceBlob allocateConstant(size_t bytes);
TypedAttr getConstant(RankedTensorType type, AsmResourceBlob blob);

/// The attribute of a constant whose bytes are a resource, however few they
/// are: no fold computes with it. Equal bytes are one resource.
TypedAttr getResourceConstant(RankedTensorType type, ArrayRef<char> bytes);

/// The elements of `arrays`, which differ in their last dimension at most, side
/// by side along that: all of one array's after those of the one before; or
/// `group` columns of each in turn, where all have a multiple of so many.
TypedAttr joinColumns(ArrayRef<ConstantArray> arrays,
                      std::optional<int64_t> group = std::nullopt);

/// `count` neighbours along the last dimension of `array`, from `first` on.
TypedAttr sliceColumns(const ConstantArray &array, int64_t first,
                       int64_t count);

/// Frees the bytes of all resources that no op in `modules` has. Dense
/// attributes, and resources of their own accord, live as long as the context.
void releaseConstants(MLIRContext *context, ArrayRef<Operation *> modules);

/// Why the bytes of `constant` are not known, if so: its resource is missing,
/// or has another size than its type.
std::optional<std::string> whyNoBytes(Attribute constant);

/// What a message calls a constant: its resource's key, if it has one.
StringRef getConstantName(Attribute constant);

/// The condensed parts of a constant weight.
struct CondensedConstant {
  TypedAttr values;
  TypedAttr indices;
};

/// Compresses a constant matrix; the error says where it breaks the pattern.
::nm::Result<CondensedConstant> compressConstant(const ConstantArray &dense,
                                                 const ::nm::Pattern &pattern,
                                                 int64_t kDim, StringRef name);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_CONSTANTWEIGHTS_H
