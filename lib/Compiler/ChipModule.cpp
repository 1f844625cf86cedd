//===- ChipModule.cpp - A module lowered for one GPU ----------------------===//

#include "ChipModule.h"

#include "CountedKernels.h"
#include "Phases.h"
#include "Ptxas.h"
#include "ScheduleTables.h"

#include "nm/Pipelines/NMToNVVM.h"
#include "nm/Pipelines/NMToSim.h"
#include "nm/Support/KernelObjects.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::KernelFormat;
using ::nm::KernelObject;

ChipModule::ChipModule(std::string chip, OwningOpRef<ModuleOp> module,
                       std::vector<FunctionRecord> records, bool isVariant,
                       bool isSimulated)
    : chip(std::move(chip)), isSimulated(isSimulated),
      module(std::move(module)), records(std::move(records)) {
  if (!isVariant)
    return;
  for (FunctionRecord &record : this->records) {
    auto function =
        this->module->lookupSymbol<func::FuncOp>(record.signature.name);
    record.signature.name += "." + this->chip;
    auto name = StringAttr::get(function.getContext(), record.signature.name);
    // Calls of it are recursive at most, and have the same name.
    (void)SymbolTable::replaceAllSymbolUses(function, name, *this->module);
    function.setName(name);
  }
}

LogicalResult ChipModule::lower(const CompileOptions &options,
                                const std::string &device,
                                Diagnostics &diagnostics) {
  NMToNVVMOptions pipeline;
  pipeline.chip = chip;
  pipeline.schedule = options.schedule;
  pipeline.profile = options.profile;
  pipeline.overlapKernels = options.overlapKernels;
  pipeline.propagateLayouts = options.propagateLayouts;
  // The simulator's kernels work on memory of the host.
  pipeline.cublas = !isSimulated;
  pipeline.denseFallback = options.denseFallback;
  setTables(options, device, pipeline);
  pipeline.format = "isa";
  pipeline.optLevel = options.optLevel;
  pipeline.toolkit = options.toolkit;
  return runPasses(
      *module, options, diagnostics,
      [&](OpPassManager &pm) {
        buildScheduleForGPU(pm, pipeline, isSimulated);
        if (options.emit >= Emit::GPU)
          buildLaunches(pm, pipeline);
        if (options.emit >= Emit::NVVM)
          buildKernels(pm, pipeline);
        if (options.emit >= Emit::NVVM && !isSimulated)
          buildDeviceMemory(pm, pipeline);
        if (options.emit >= Emit::PTX && isSimulated)
          buildSimulatedKernels(pm);
        else if (options.emit >= Emit::PTX)
          buildKernelBinary(pm, pipeline);
        if (options.emit >= Emit::LLVM)
          buildKernelHost(pm);
      },
      &records);
}

/// nm-gather-kernels leaves one at most.
static gpu::BinaryOp findBinary(ModuleOp module) {
  for (gpu::BinaryOp binary : module.getOps<gpu::BinaryOp>())
    return binary;
  return {};
}

static gpu::ObjectAttr getObject(gpu::BinaryOp binary) {
  return cast<gpu::ObjectAttr>(binary.getObjects()[0]);
}

std::string ChipModule::getPtx() const {
  gpu::BinaryOp binary = findBinary(*module);
  if (!binary)
    return "";
  StringRef text = getObject(binary).getObject().getValue();
  return text.rtrim('\0').str();
}

/// The first function of libdevice that PTX calls but lacks: upstream links
/// libdevice where it finds a toolkit, and says nothing where it does not.
static StringRef findMissingFunction(StringRef ptx) {
  SmallVector<StringRef> lines;
  ptx.split(lines, '\n');
  for (StringRef line : lines) {
    size_t at = line.find("__nv_");
    if (line.starts_with(".extern .func") && at != StringRef::npos)
      return line.substr(at).take_while(
          [](char c) { return llvm::isAlnum(c) || c == '_'; });
  }
  return "";
}

FailureOr<std::string> ChipModule::makeCubin(StringRef ptxas,
                                             const CompileOptions &options,
                                             Diagnostics &diagnostics) {
  diagnostics.setStep("ptxas");
  ::nm::Result<Assembly> assembly =
      assemble(ptxas, chip, getPtx(), options.optLevel);
  if (!assembly)
    return diagnostics.fail(assembly.error().message);
  for (const SpilledKernel &kernel : assembly->spilled)
    diagnostics.add(
        {DiagnosticSeverity::Warning, "",
         (kernel.name + " has too few registers on " + chip + " and keeps " +
          Twine(kernel.bytes) + " bytes in local memory, which is slow")
             .str()});
  takeCounts(chip, assembly->kernels, records);
  return std::move(assembly->cubin);
}

LogicalResult ChipModule::embedKernels(StringRef ptxas, bool keepPtx,
                                       const CompileOptions &options,
                                       Diagnostics &diagnostics) {
  gpu::BinaryOp binary = findBinary(*module);
  if (!binary)
    return success();
  std::string ptx = getPtx(), cubin;
  if (StringRef name = findMissingFunction(ptx); !name.empty())
    return diagnostics.fail(
        "a kernel calls " + name +
        " of CUDA's libdevice, which was not found: expected "
        "a toolkit in --toolkit, CUDA_ROOT or CUDA_HOME");
  std::vector<KernelObject> parts;
  if (!ptxas.empty()) {
    FailureOr<std::string> made = makeCubin(ptxas, options, diagnostics);
    if (failed(made))
      return failure();
    cubin = std::move(*made);
    parts.push_back({chip, KernelFormat::Cubin, cubin});
  }
  if (ptxas.empty() || keepPtx)
    parts.push_back({chip, KernelFormat::Ptx, ptx});
  for (const KernelObject &part : parts)
    objects.push_back(part.str());
  // One string of bytes, which the runtime takes apart.
  gpu::ObjectAttr before = getObject(binary);
  MLIRContext *context = binary.getContext();
  Attribute container = gpu::ObjectAttr::get(
      context, before.getTarget(), gpu::CompilationTarget::Binary,
      StringAttr::get(context, ::nm::encodeKernelObjects(parts)),
      /*properties=*/DictionaryAttr(), before.getKernels());
  binary.setObjectsAttr(ArrayAttr::get(context, container));
  return success();
}

int64_t mlir::nm::countConstantBytes(ModuleOp module) {
  int64_t bytes = 0;
  for (LLVM::GlobalOp global : module.getOps<LLVM::GlobalOp>())
    if (auto value = dyn_cast_or_null<ElementsAttr>(global.getValueOrNull()))
      bytes +=
          llvm::divideCeil(value.getNumElements() *
                               value.getShapedType().getElementTypeBitWidth(),
                           8);
  return bytes;
}
