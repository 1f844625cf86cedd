//===- JitModule.cpp - IR text to callable functions ----------------------===//

#include "JitModule.h"

#include "nm/InitNM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/Support/TargetSelect.h"

using namespace nm::test;

static std::unique_ptr<mlir::MLIRContext> makeContext() {
  mlir::DialectRegistry registry;
  mlir::nm::registerAllDialects(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  return std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
}

static mlir::LogicalResult lower(mlir::ModuleOp module,
                                 const std::string &strategy) {
  static const bool registered = [] {
    mlir::nm::registerAllPasses();
    return true;
  }();
  (void)registered;
  mlir::PassManager manager(module.getContext());
  std::string pipeline = strategy + ",nm-bufferized-to-llvm";
  if (failed(mlir::parsePassPipeline(pipeline, manager)))
    return mlir::failure();
  return manager.run(module);
}

static std::unique_ptr<mlir::ExecutionEngine>
makeEngine(mlir::ModuleOp module) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  // Pairs of bf16 are multiplied by inline assembly.
  llvm::InitializeNativeTargetAsmParser();
  auto machineBuilder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!machineBuilder)
    return llvm::logAllUnhandledErrors(machineBuilder.takeError(),
                                       llvm::errs()),
           nullptr;
  auto machine = machineBuilder->createTargetMachine();
  if (!machine)
    return llvm::logAllUnhandledErrors(machine.takeError(), llvm::errs()),
           nullptr;
  // The options refer to the transformer.
  auto transformer = mlir::makeOptimizingTransformer(
      /*optLevel=*/1, /*sizeLevel=*/0, machine->get());
  mlir::ExecutionEngineOptions options;
  options.transformer = transformer;
  auto engine =
      mlir::ExecutionEngine::create(module, options, std::move(*machine));
  if (!engine)
    return llvm::logAllUnhandledErrors(engine.takeError(), llvm::errs()),
           nullptr;
  return std::move(*engine);
}

std::unique_ptr<JitModule> JitModule::compile(const std::string &source,
                                              const std::string &strategy) {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(source, context.get());
  if (!module || failed(lower(*module, strategy)))
    return nullptr;
  std::unique_ptr<mlir::ExecutionEngine> engine = makeEngine(*module);
  if (!engine)
    return nullptr;
  return std::unique_ptr<JitModule>(new JitModule(std::move(engine)));
}

JitModule::JitModule(std::unique_ptr<mlir::ExecutionEngine> engine)
    : engine(std::move(engine)) {}

JitModule::~JitModule() = default;

bool JitModule::call(const std::string &name,
                     const std::vector<void *> &descriptors) {
  // The packed form takes the address of each argument, itself an address here.
  std::vector<void *> arguments = descriptors;
  llvm::SmallVector<void *> packed;
  for (void *&argument : arguments)
    packed.push_back(&argument);
  llvm::Error error = engine->invokePacked("_mlir_ciface_" + name, packed);
  if (!error)
    return true;
  llvm::logAllUnhandledErrors(std::move(error), llvm::errs());
  return false;
}
