//===- CheckInput.cpp - What no module may ask for ------------------------===//

#include "CheckInput.h"

#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Support/KernelObjects.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

/// The addresses that x86-64 and AArch64 give a process.
static constexpr uint64_t kMaxBytes = uint64_t(1) << 47;

/// The bytes of `type`, of which dynamic and empty dimensions are taken to have
/// one element: they are multiplied with the others when the program runs.
static uint64_t countBytes(ShapedType type) {
  unsigned bits =
      type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 64;
  uint64_t bytes = llvm::divideCeil(bits, 8);
  for (int64_t size : type.getShape())
    if (size > 0)
      bytes = llvm::SaturatingMultiply<uint64_t>(bytes, size);
  return bytes;
}

static LogicalResult checkTypes(Location loc, TypeRange types) {
  for (Type type : types) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (shaped && shaped.hasRank() && countBytes(shaped) > kMaxBytes)
      return emitError(loc)
             << "expected at most " << kMaxBytes
             << " bytes, which a process can address, but got " << type;
  }
  return success();
}

LogicalResult mlir::nm::checkSizes(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) -> WalkResult {
    if (failed(checkTypes(op->getLoc(), op->getResultTypes())))
      return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(checkTypes(op->getLoc(), block.getArgumentTypes())))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult mlir::nm::checkConstants(ModuleOp module) {
  WalkResult result = module.walk([](arith::ConstantOp constant) {
    std::optional<std::string> reason = whyNoBytes(constant.getValue());
    if (!reason)
      return WalkResult::advance();
    // An error on the op itself would print the whole constant.
    emitError(constant.getLoc()) << *reason;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// What the compiler, MLIR or LLVM has a meaning of its own for.
static bool isReserved(StringRef name) {
  return name == "nm_manifest" || name.starts_with("_mlir_") ||
         name.starts_with("llvm.");
}

/// What the host's code on the simulator calls of C, by its name.
static bool isCalledBySim(StringRef name) {
  return name == "malloc" || name == "aligned_alloc" || name == "free";
}

/// Whether the compiler makes functions with the name `name` of one that is
/// called what stands before its last dot.
static bool isMade(StringRef name, ModuleOp module) {
  auto [before, suffix] = name.rsplit('.');
  return (suffix == "pack" || suffix == "reference" ||
          ::nm::Chip::parse(suffix.str())) &&
         module.lookupSymbol<func::FuncOp>(before);
}

static LogicalResult checkName(func::FuncOp function, ModuleOp module,
                               ::nm::Target::Kind target) {
  StringRef name = function.getSymName();
  if (name.contains('\0'))
    return function.emitOpError()
           << "expected a name without a zero byte, but got \""
           << llvm::toHex(name) << "\" in hexadecimal";
  if (isReserved(name))
    return function.emitOpError()
           << "expected a name other than nm_manifest and without the prefixes "
              "_mlir_ and llvm., which compiled modules use, but got @"
           << name;
  if (target == ::nm::Target::Kind::Sim && isCalledBySim(name))
    return function.emitOpError()
           << "expected a name other than malloc, aligned_alloc and free on "
              "the "
              "sim target, whose code calls the functions of C, but got @"
           << name;
  if (isMade(name, module))
    return function.emitOpError()
           << "expected another name than @" << name
           << ", which the compiler gives to what it makes of @"
           << name.rsplit('.').first;
  return success();
}

LogicalResult mlir::nm::checkFunctions(ModuleOp module,
                                       ::nm::Target::Kind target) {
  WalkResult inside =
      module.walk([&](func::FuncOp function) {
        if (function->getParentOp() == module ||
            !isa<ModuleOp>(function->getParentOp()))
          return WalkResult::advance();
        function.emitOpError()
            << "expected functions of the module itself, but got @"
            << function.getSymName() << " of a module inside it";
        return WalkResult::interrupt();
      });
  if (inside.wasInterrupted())
    return failure();
  for (auto function : module.getOps<func::FuncOp>()) {
    if (failed(checkName(function, module, target)))
      return failure();
    WalkResult result = function.walk([&](func::CallOp call) {
      if (call.getCallee() != function.getSymName())
        return WalkResult::advance();
      call.emitOpError() << "expected no call of the function that it is in, @"
                         << call.getCallee();
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

std::string mlir::nm::findImporter(StringRef text) {
  static constexpr std::pair<StringLiteral, StringLiteral> kTools[] = {
      {"stablehlo.", "stablehlo-opt --stablehlo-legalize-to-linalg"},
      {"mhlo.", "mlir-hlo-opt --hlo-legalize-to-linalg"},
      {"torch.",
       "torch-mlir-opt --torch-backend-to-linalg-on-tensors-backend-pipeline"},
      {"onnx.", "iree-import-onnx and torch-mlir-opt (docs/Import.md)"},
      {"util.func", "sed of its functions (docs/Import.md)"}};
  for (auto [prefix, tool] : kTools)
    for (StringRef before : {" ", "\""})
      if (text.contains((before + prefix).str()))
        return tool.str();
  return "";
}
