//===- GatherKernels.cpp - All kernels to one gpu.module ------------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"

#include <map>
#include <vector>

namespace mlir::nm {
#define GEN_PASS_DEF_NMGATHERKERNELS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

static constexpr StringLiteral kKernels("kernels");

/// Whether two kernels differ in nothing but their names and locations.
static bool areEqual(gpu::GPUFuncOp lhs, gpu::GPUFuncOp rhs) {
  auto getAttrs = [](gpu::GPUFuncOp kernel) {
    NamedAttrList attributes(kernel->getAttrs());
    attributes.erase(SymbolTable::getSymbolAttrName());
    return attributes.getDictionary(kernel.getContext());
  };
  return getAttrs(lhs) == getAttrs(rhs) &&
         OperationEquivalence::isRegionEquivalentTo(
             &lhs.getBody(), &rhs.getBody(),
             OperationEquivalence::IgnoreLocations);
}

/// PTX has no dots and the like in names.
static std::string makePtxName(StringRef name) {
  std::string text = name.str();
  for (char &c : text)
    if (!llvm::isAlnum(c) && c != '_')
      c = '_';
  return text;
}

namespace {
class Gathering {
public:
  explicit Gathering(ModuleOp module) : module(module), symbols(module) {}

  void run();

private:
  gpu::GPUModuleOp createTarget(Location loc);
  void gather(gpu::GPUModuleOp source);
  gpu::GPUFuncOp findEqual(gpu::GPUFuncOp kernel);

  ModuleOp module;
  SymbolTable symbols;
  gpu::GPUModuleOp target;
  std::optional<SymbolTable> targetSymbols;
  std::vector<gpu::GPUFuncOp> kernels;
  /// Where each kernel is now, by what launches call it.
  llvm::DenseMap<Attribute, SymbolRefAttr> places;
};
} // namespace

gpu::GPUModuleOp Gathering::createTarget(Location loc) {
  OpBuilder builder(module.getBodyRegion());
  builder.setInsertionPointToEnd(module.getBody());
  auto created = gpu::GPUModuleOp::create(builder, loc, kKernels);
  symbols.insert(created);
  return created;
}

gpu::GPUFuncOp Gathering::findEqual(gpu::GPUFuncOp kernel) {
  for (gpu::GPUFuncOp other : kernels)
    if (areEqual(kernel, other))
      return other;
  return {};
}

void Gathering::gather(gpu::GPUModuleOp source) {
  MLIRContext *context = module.getContext();
  for (auto kernel : llvm::to_vector(source.getOps<gpu::GPUFuncOp>())) {
    auto before = SymbolRefAttr::get(source.getNameAttr(),
                                     {FlatSymbolRefAttr::get(kernel)});
    gpu::GPUFuncOp kept = findEqual(kernel);
    if (!kept) {
      kernel->remove();
      kernel.setName(makePtxName(kernel.getName()));
      // The first keeps its name; others are told apart by a number.
      targetSymbols->insert(kernel);
      kernels.push_back(kernel);
      kept = kernel;
    }
    places[before] = SymbolRefAttr::get(context, target.getName(),
                                        {FlatSymbolRefAttr::get(kept)});
  }
}

void Gathering::run() {
  auto sources = llvm::to_vector(module.getOps<gpu::GPUModuleOp>());
  if (sources.empty())
    return;
  target = createTarget(sources.front().getLoc());
  targetSymbols.emplace(target);
  for (gpu::GPUModuleOp source : sources)
    gather(source);
  module.walk([&](gpu::LaunchFuncOp launch) {
    if (SymbolRefAttr place = places.lookup(launch.getKernelAttr()))
      launch.setKernelAttr(place);
  });
  for (gpu::GPUModuleOp source : sources)
    source.erase();
}

namespace {
struct NMGatherKernels : mlir::nm::impl::NMGatherKernelsBase<NMGatherKernels> {
  void runOnOperation() override { Gathering(getOperation()).run(); }
};
} // namespace
