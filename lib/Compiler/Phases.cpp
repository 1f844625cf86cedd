//===- Phases.cpp - Running a module through the pipeline -----------------===//

#include "Phases.h"

#include "CountFlops.h"
#include "CountedKernels.h"
#include "RecordProducts.h"

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// The manifest's records
//===----------------------------------------------------------------------===//

/// All that `pack`, which packs one weight, does to the condensed parts, as a
/// text that two packs have in common only where they give the same; empty
/// where none says it.
static std::string describeLayout(func::FuncOp pack) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (Operation &op : pack.front()) {
    if (isa<tensor::EmptyOp, func::ReturnOp>(op))
      continue;
    if (op.getNumRegions() != 0)
      return "";
    os << op.getName() << ' ' << op.getAttrDictionary() << " : ";
    llvm::interleaveComma(op.getResultTypes(), os);
    os << '\n';
  }
  return text;
}

static void recordPackedWeights(func::FuncOp function, FunctionRecord &record) {
  record.packed.clear();
  for (unsigned i = 0; i + 1 < function.getNumArguments(); ++i) {
    auto arg = function.getArgAttrOfType<IntegerAttr>(i, "nm.packed_values_of");
    if (!arg)
      continue;
    std::optional<TensorInfo> values =
        getTensorInfo(function.getArgumentTypes()[i]);
    std::optional<TensorInfo> indices =
        getTensorInfo(function.getArgumentTypes()[i + 1]);
    std::optional<TensorInfo> lists;
    if (i + 2 < function.getNumArguments() &&
        function.getArgAttr(i + 2, "nm.packed_lists_of"))
      lists = getTensorInfo(function.getArgumentTypes()[i + 2]);
    if (values && indices)
      record.packed.push_back({arg.getInt(), *values, *indices, lists, ""});
  }
  auto pack = function->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(
      (function.getName() + ".pack").str());
  if (pack && record.packed.size() == 1)
    record.packed[0].layout = describeLayout(pack);
}

static std::vector<StepRecord> recordSteps(func::FuncOp function) {
  std::vector<StepRecord> records;
  auto steps = function->getAttrOfType<ArrayAttr>(kSteps);
  if (!steps)
    return records;
  for (auto step : steps.getAsRange<DictionaryAttr>()) {
    auto getText = [&](StringRef key) {
      return step.getAs<StringAttr>(key).getValue().str();
    };
    records.push_back({getText("name"), getText("kernel"), getText("place"),
                       step.getAs<IntegerAttr>("bytes").getInt()});
  }
  return records;
}

static StringRef getPassName(Pass *pass) {
  return pass->getArgument().empty() ? pass->getName() : pass->getArgument();
}

namespace {
/// Remembers which pass failed, and fills the records between passes: what they
/// hold is gone from the IR later.
class Observer : public PassInstrumentation {
public:
  Observer(std::string &failedPass, Diagnostics &diagnostics,
           std::vector<FunctionRecord> *records)
      : failedPass(failedPass), diagnostics(diagnostics), records(records) {}

  void runBeforePass(Pass *pass, Operation *) override {
    diagnostics.setStep(getPassName(pass));
  }

  void runAfterPassFailed(Pass *pass, Operation *op) override {
    if (!failedPass.empty())
      return;
    failedPass = "pass '" + getPassName(pass).str() + "' failed on '" +
                 op->getName().getStringRef().str() + "'";
    if (auto name = op->getAttrOfType<StringAttr>("sym_name"))
      failedPass += " @" + name.str();
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    if (auto function = dyn_cast<func::FuncOp>(op))
      recordTemporaries(pass, function);
    auto module = dyn_cast<ModuleOp>(op);
    if (!records || !module)
      return;
    if (pass->getArgument() == "nm-gather-kernels")
      recordKernels(module, *records);
    for (FunctionRecord &record : *records) {
      auto function = module.lookupSymbol<func::FuncOp>(record.signature.name);
      if (!function)
        continue;
      if (pass->getArgument() == "nm-select-schedule" ||
          pass->getArgument() == "nm-select-gpu-schedule") {
        record.ops = recordProducts(function);
        record.flops = countFlops(function);
      }
      if (pass->getArgument() == "nm-mark-steps")
        record.steps = recordSteps(function);
      if (pass->getArgument() == "nm-pack-weights")
        recordPackedWeights(function, record);
    }
  }

private:
  void recordTemporaries(Pass *pass, func::FuncOp function) {
    auto bytes = function->getAttrOfType<IntegerAttr>(kTemporaryBytes);
    if (!records || !bytes || pass->getArgument() != "nm-plan-memory")
      return;
    for (FunctionRecord &record : *records)
      if (record.signature.name == function.getName())
        record.temporaryBytes = bytes.getInt();
  }

  std::string &failedPass;
  Diagnostics &diagnostics;
  std::vector<FunctionRecord> *records;
};
} // namespace

LogicalResult
mlir::nm::runPasses(ModuleOp module, const CompileOptions &options,
                    Diagnostics &diagnostics,
                    llvm::function_ref<void(OpPassManager &)> build,
                    std::vector<FunctionRecord> *records) {
  PassManager pm(module.getContext());
  std::string failedPass;
  pm.addInstrumentation(
      std::make_unique<Observer>(failedPass, diagnostics, records));
  if (!options.reproducer.empty())
    pm.enableCrashReproducerGeneration(options.reproducer);
  build(pm);
  if (succeeded(pm.run(module)))
    return success();
  if (failedPass.empty())
    failedPass = "the pipeline failed";
  return diagnostics.fail(failedPass);
}
