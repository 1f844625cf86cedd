//===- LargeConstants.h - Weights that LLVM does not see --------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_LARGECONSTANTS_H
#define NM_LIB_COMPILER_LARGECONSTANTS_H

#include "nm/Support/Error.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::nm {

/// The constants of a module that are too large to be copied by each step of
/// LLVM: it makes an object with zeros in their place, or with a section that
/// has their sizes alone, and their bytes are written to their places in the
/// file that the linker makes.
class LargeConstants {
public:
  /// Puts zeros in place of the large constants of `module`, which is in the
  /// LLVM dialect. Code may not rely on these being zeros.
  void take(ModuleOp module);

  /// Gives those that were taken last, of which `translated` is the
  /// translation, names that `before`, if there is one, has not. `translated`
  /// can then be linked with it.
  void rename(llvm::Module &translated, const llvm::Module *before);

  /// Puts the bytes into `module`, as arrays of these: of elements, LLVM's
  /// printer would make a constant each.
  void fill(llvm::Module &module) const;

  /// Makes declarations of the zeros in `module`, which is optimized, and gives
  /// them places in a section that has no bytes in an object, but has in what
  /// is linked. No zeros are then written, copied by the linker and
  /// overwritten.
  void declare(llvm::Module &module);

  /// Writes the bytes to their places in the ELF file `path`, an object or what
  /// is linked. Symbols that the file lacks are of constants without a use.
  ::nm::Status write(StringRef path) const;

  /// Equal for equal bytes of equal names.
  uint64_t hash() const;

private:
  /// By name in the module that was taken last, and in the object.
  std::vector<std::pair<std::string, ElementsAttr>> taken;
  llvm::StringMap<ElementsAttr> named;
};

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_LARGECONSTANTS_H
