//===- JitProduct.cpp - Compiles one product in process -------------------===//

#include "JitProduct.h"

#include "nm/InitNM.h"

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

using namespace ::nm;
using namespace ::nm::test;

static const char kLowering[] =
    "expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "convert-vector-to-llvm,finalize-memref-to-llvm,convert-arith-to-llvm,"
    "convert-func-to-llvm,convert-cf-to-llvm,canonicalize,cse,"
    "reconcile-unrealized-casts";

std::vector<int64_t> Product::shapeOfA() const {
  if (isVector)
    return {k};
  std::vector<int64_t> shape;
  if (isBatched)
    shape.push_back(batches);
  shape.push_back(transposeA ? k : m);
  shape.push_back(transposeA ? m : k);
  return shape;
}

std::vector<int64_t> Product::shapeOfC() const {
  if (isVector)
    return {n};
  std::vector<int64_t> shape;
  if (isBatched)
    shape.push_back(batches);
  shape.push_back(transposeC ? n : m);
  shape.push_back(transposeC ? m : n);
  return shape;
}

static std::vector<int64_t> shapeOfValues(const Product &product) {
  const Pattern &pattern = product.pattern;
  if (!product.packing)
    return {pattern.condensedRows(product.k), pattern.paddedColumns(product.n)};
  auto shape = product.packing->valueShape(pattern, product.k, product.n);
  return {shape.begin(), shape.end()};
}

static std::vector<int64_t> shapeOfIndices(const Product &product) {
  const Pattern &pattern = product.pattern;
  if (!product.packing)
    return {pattern.unitRows(product.k), pattern.blockColumns(product.n)};
  auto shape = product.packing->indexShape(pattern, product.k, product.n);
  return {shape.begin(), shape.end()};
}

/// `dynamicDim` is printed as `?`; -1 for none.
static std::string memref(const std::vector<int64_t> &shape, ElementType type,
                          int64_t dynamicDim = -1) {
  std::string text = "memref<";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (int64_t(i) == dynamicDim ? "?" : std::to_string(shape[i])) + "x";
  return text + std::string(elementName(type)) + ">";
}

std::string Product::ir() const {
  int64_t rank = shapeOfA().size();
  int64_t dynamicA = -1, dynamicC = -1;
  if (dynamicM && !isVector) {
    dynamicA = rank - (transposeA ? 1 : 2);
    dynamicC = rank - (transposeC ? 1 : 2);
  }
  std::string a = memref(shapeOfA(), type, dynamicA);
  std::string v = memref(shapeOfValues(*this), type);
  std::string i = memref(shapeOfIndices(*this), ElementType::I8);
  std::string c = memref(shapeOfC(), result, dynamicC);
  std::string op = isVector ? "nm.spmv <" : "nm.spmm <";
  op += pattern.str() + ">";
  if (transposeA)
    op += " transpose_a";
  if (transposeC)
    op += " transpose_c";
  if (packing)
    op += " packing #nm.packing<panel = " + std::to_string(packing->panel) +
          ", index_bits = " + std::to_string(packing->indexBits) + ">";
  if (!schedule.empty())
    op += " schedule " + schedule;
  return "func.func @f(%a: " + a + ", %v: " + v + ", %i: " + i + ", %c: " + c +
         ") attributes {llvm.emit_c_interface} {\n  " + op +
         " ins(%a, %v, %i : " + a + ", " + v + ", " + i + ") outs(%c : " + c +
         ")\n  return\n}\n";
}

static void initialiseOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    mlir::nm::registerAllPasses();
  });
}

static std::unique_ptr<llvm::TargetMachine> hostMachine() {
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return nullptr;
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  auto machine = builder->createTargetMachine();
  return machine ? std::move(*machine) : nullptr;
}

JitProduct::JitProduct(const Product &product, const std::string &passes) {
  initialiseOnce();
  shapes[0] = product.shapeOfA();
  shapes[1] = shapeOfValues(product);
  shapes[2] = shapeOfIndices(product);
  shapes[3] = product.shapeOfC();

  mlir::DialectRegistry registry;
  mlir::nm::registerAllDialects(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  context = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(product.ir(), context.get());
  if (!module)
    return;
  mlir::PassManager manager(context.get());
  if (mlir::failed(
          mlir::parsePassPipeline(passes + "," + kLowering, manager)) ||
      mlir::failed(manager.run(*module)))
    return;
  std::unique_ptr<llvm::TargetMachine> machine = hostMachine();
  if (!machine)
    return;
  auto optimise = mlir::makeOptimizingTransformer(3, 0, machine.get());
  mlir::ExecutionEngineOptions options;
  options.transformer = optimise;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Aggressive;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto created =
      mlir::ExecutionEngine::create(*module, options, std::move(machine));
  if (!created) {
    llvm::errs() << llvm::toString(created.takeError()) << "\n";
    return;
  }
  engine = std::move(*created);
}

JitProduct::~JitProduct() = default;

/// The words of a row-major memref descriptor.
static std::vector<int64_t> descriptor(void *data,
                                       const std::vector<int64_t> &shape) {
  int64_t address = reinterpret_cast<intptr_t>(data);
  std::vector<int64_t> words = {address, address, 0};
  words.insert(words.end(), shape.begin(), shape.end());
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (int64_t i = shape.size() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= shape[i];
  }
  words.insert(words.end(), strides.begin(), strides.end());
  return words;
}

void JitProduct::run(void *a, void *values, void *indices, void *c) const {
  void *data[4] = {a, values, indices, c};
  std::vector<int64_t> descriptors[4];
  void *pointers[4];
  llvm::SmallVector<void *> arguments;
  for (int i = 0; i < 4; ++i) {
    descriptors[i] = descriptor(data[i], shapes[i]);
    pointers[i] = descriptors[i].data();
    arguments.push_back(&pointers[i]);
  }
  if (llvm::Error error = engine->invokePacked("_mlir_ciface_f", arguments))
    llvm::errs() << llvm::toString(std::move(error)) << "\n";
}

bool ::nm::test::hostHasVectors(int64_t bits) {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (bits == 512)
    return features.lookup("avx512f") && features.lookup("avx512bw");
  return bits < 256 || features.lookup("avx2");
}
