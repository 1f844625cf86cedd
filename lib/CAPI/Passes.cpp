//===- Passes.cpp - Passes with options, from C ---------------------------===//

#include "nm-c/Dialect.h"

#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// `a=1 b={two words}`, as the options of a pass are read.
static std::string printOptions(ArrayRef<NmPassOption> options) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      options, stream,
      [&](const NmPassOption &option) {
        stream << unwrap(option.name) << "={" << unwrap(option.value) << "}";
      },
      " ");
  return text;
}

/// Braces end where they began.
static bool isBalanced(StringRef value) {
  int64_t depth = 0;
  for (char c : value) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (depth < 0)
      return false;
  }
  return depth == 0;
}

static void ignore(MlirStringRef, void *) {}

MlirLogicalResult nmPassManagerAdd(MlirOpPassManager manager,
                                   MlirStringRef name, intptr_t numOptions,
                                   const NmPassOption *options,
                                   MlirStringCallback report, void *userData) {
  mlir::detail::CallbackOstream stream(report ? report : ignore, userData);
  if (!manager.ptr || numOptions < 0 || (numOptions > 0 && !options)) {
    stream
        << "expected a pass manager and an array of options, but got NULL or "
           "a count below 0";
    return mlirLogicalResultFailure();
  }
  ArrayRef<NmPassOption> given(options, numOptions);
  for (const NmPassOption &option : given)
    if (!isBalanced(unwrap(option.value))) {
      stream << "expected braces of option " << unwrap(option.name)
             << " to be balanced, but got " << unwrap(option.value);
      return mlirLogicalResultFailure();
    }
  const PassRegistryEntry *entry = PassInfo::lookup(unwrap(name));
  if (!entry)
    entry = PassPipelineInfo::lookup(unwrap(name));
  if (!entry) {
    stream << "expected a pass or pipeline that is registered, but got "
           << unwrap(name);
    return mlirLogicalResultFailure();
  }
  return wrap(entry->addToPipeline(*unwrap(manager), printOptions(given),
                                   [&](const Twine &message) {
                                     stream << message;
                                     return failure();
                                   }));
}
