//===- nm-opt.cpp - Runs passes on IR -------------------------------------===//

#include "nm/CheckText.h"
#include "nm/InitNM.h"
#include "nm/ReadInput.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;

static LogicalResult fail(const llvm::Twine &message) {
  llvm::WithColor::error() << message << "\n";
  return failure();
}

/// What MlirOptMain does, after a look at the input.
static LogicalResult run(StringRef inputName, StringRef outputName,
                         DialectRegistry &registry,
                         const MlirOptMainConfig &config) {
  std::string message;
  auto input = mlir::nm::readInput(inputName, message);
  if (!input)
    return fail(message);
  if (std::optional<std::string> reason = mlir::nm::whyNoText(*input))
    return fail(*reason);
  auto output = openOutputFile(outputName, &message);
  if (!output)
    return fail(message);
  if (failed(MlirOptMain(output->os(), std::move(input), registry, config)))
    return failure();
  output->keep();
  return success();
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  mlir::nm::registerAllDialects(registry);
  mlir::nm::registerAllPasses();
  auto [input, output] =
      registerAndParseCLIOptions(argc, argv, "nm optimizer driver\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  // Lists need no input.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  llvm::InitLLVM init(argc, argv);
  return asMainReturnCode(run(input, output, registry, config));
}
