//===- Compiler.cpp - From a module to a shared object --------------------===//

#include "nm/Compiler/Compiler.h"
#include "nm/Conversion/LinalgToNM/LinalgToNM.h"

#include "CheckInput.h"
#include "ChipModule.h"
#include "Codegen.h"
#include "DenseReference.h"
#include "DetectChip.h"
#include "LargeConstants.h"
#include "Linker.h"
#include "Phases.h"
#include "Ptxas.h"
#include "Recovery.h"
#include "Resources.h"
#include "ScheduleTables.h"
#include "Signature.h"
#include "WriteManifest.h"

#include "nm/CheckText.h"
#include "nm/Compiler/OutputFile.h"
#include "nm/Dialect/NM/IR/CheckDivisors.h"
#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/InitNM.h"
#include "nm/Pipelines/NMToCPU.h"
#include "nm/Pipelines/NMToNVVM.h"
#include "nm/ReadInput.h"
#include "nm/Schedule/Target.h"
#include "nm/Support/KernelObjects.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::Result;
using ::nm::Status;

namespace {
/// One compilation, from text to what `emit` asks for.
class Compilation {
public:
  Compilation(const CompileOptions &options, Diagnostics &diagnostics);

  /// The text is freed once it is parsed.
  LogicalResult run(std::unique_ptr<llvm::MemoryBuffer> input,
                    StringRef output);

private:
  LogicalResult readTarget();
  LogicalResult parse(std::unique_ptr<llvm::MemoryBuffer> input);
  void warnOfTriple();
  LogicalResult readSignatures();
  LogicalResult checkNoUpdates();
  LogicalResult convertToNM();
  LogicalResult lowerForCpu();
  LogicalResult lowerForGpu();
  LogicalResult embedKernels();
  void recordChips();
  void releaseUnused();
  LogicalResult translate();
  LogicalResult link(ModuleOp lowered, StringRef what);
  LogicalResult linkReference();
  LogicalResult write(StringRef output);
  LogicalResult writeText(StringRef output);
  LogicalResult writeLLVM(StringRef output);
  LogicalResult writeCubin(StringRef output);
  LogicalResult writeObject(StringRef output);
  Status emitTo(StringRef path);

  LogicalResult report(Status status) {
    return status ? success() : diagnostics.fail(status.error().message);
  }
  bool makesCode() const { return options.emit >= Emit::LLVM; }

  const CompileOptions &options;
  Diagnostics &diagnostics;
  MLIRContext context;
  ScopedDiagnosticHandler handler;
  llvm::LLVMContext llvmContext;
  ::nm::Target target;
  /// The GPU that is here, where its chip was asked for.
  std::string device;
  std::optional<HostTarget> host;
  ModuleRecord record;
  OwningOpRef<ModuleOp> module, reference;
  /// For cuda: the module for each chip, in the order of the target's.
  std::vector<ChipModule> chips;
  std::unique_ptr<llvm::Module> code;
  LargeConstants largeConstants;
};
} // namespace

static DialectRegistry getRegistry() {
  DialectRegistry registry;
  mlir::nm::registerAllDialects(registry);
  return registry;
}

Compilation::Compilation(const CompileOptions &options,
                         Diagnostics &diagnostics)
    : options(options), diagnostics(diagnostics),
      // Functions are few: a pool of threads costs more than it brings.
      context(getRegistry(), MLIRContext::Threading::DISABLED),
      handler(&context, [&diagnostics](Diagnostic &diagnostic) {
        diagnostics.add(diagnostic);
      }) {
  // Places and messages say enough; whole functions would drown them.
  context.printOpOnDiagnostic(false);
}

/// The phases that only one kind of target has, and only one chip of it.
static bool isOfOneChip(Emit emit) {
  return emit >= Emit::Schedule && emit < Emit::LLVM;
}

LogicalResult Compilation::readTarget() {
  Result<::nm::Target> parsed = ::nm::Target::parse(options.target);
  if (!parsed)
    return diagnostics.fail(parsed.error().message);
  target = std::move(*parsed);
  if (target.kind == ::nm::Target::Kind::Cpu) {
    if (options.emit >= Emit::GPU && options.emit < Emit::LLVM)
      return diagnostics.fail("expected emit to be one of nm, schedule, llvm, "
                              "obj, so for the target cpu");
    if (!options.overlapKernels)
      return diagnostics.fail("expected the target cuda with overlap-kernels, "
                              "but got cpu");
    if (!options.propagateLayouts)
      return diagnostics.fail("expected the target cuda or sim with "
                              "propagate-layouts, but got cpu");
  }
  if (target.kind == ::nm::Target::Kind::Sim && options.profile)
    return diagnostics.fail("expected the target cpu or cuda with profile, but "
                            "got sim, whose times say nothing of a GPU's");
  if (target.kind != ::nm::Target::Kind::Cuda && !options.toolkit.empty())
    return diagnostics.fail("expected the target cuda with toolkit, but got " +
                            target.kindName());
  if (target.kind == ::nm::Target::Kind::Cpu)
    return success();
  if (target.kind == ::nm::Target::Kind::Sim &&
      (options.emit == Emit::PTX || options.emit == Emit::Cubin))
    return diagnostics.fail("expected emit to be one of nm, schedule, gpu, "
                            "nvvm, llvm, obj, so for the target sim");
  if (target.chips.empty()) {
    std::string chip = detectChip().value_or("sm_90");
    device = detectDevice();
    parsed = ::nm::Target::parse(target.kindName() + ":" + chip);
    if (!parsed)
      return diagnostics.fail("the device that is here: " +
                              parsed.error().message);
    target = std::move(*parsed);
  }
  if (options.profile && target.chips.size() > 1)
    return diagnostics.fail("expected one chip with profile, but got '" +
                            target.str() + "'");
  if (isOfOneChip(options.emit) && target.chips.size() > 1)
    return diagnostics.fail(
        "expected one chip to print a phase for, but got '" + target.str() +
        "'");
  return success();
}

LogicalResult Compilation::parse(std::unique_ptr<llvm::MemoryBuffer> input) {
  std::string name = input->getBufferIdentifier().str();
  if (std::optional<std::string> reason = whyNoText(*input))
    return diagnostics.fail(*reason);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(input), SMLoc());
  module = parseSourceFile<ModuleOp>(sources, &context);
  if (module)
    warnOfTriple();
  if (module)
    return success(succeeded(checkSizes(*module)) &&
                   succeeded(checkDivisors(*module)) &&
                   succeeded(loadResources(*module, options.resources)) &&
                   succeeded(checkConstants(*module)) &&
                   succeeded(checkFunctions(*module, target.kind)));
  if (!diagnostics.hasErrors())
    return diagnostics.fail("'" + name + "' is no MLIR module");
  StringRef text =
      sources.getMemoryBuffer(sources.getMainFileID())->getBuffer();
  if (std::string tool = findImporter(text); !tool.empty())
    diagnostics.add({DiagnosticSeverity::Note, "",
                     "expected linalg on tensors, which " + tool + " makes"});
  return failure();
}

/// A module for another processor is compiled for this one all the same.
void Compilation::warnOfTriple() {
  auto given = (*module)->getAttrOfType<StringAttr>("llvm.target_triple");
  if (!given)
    return;
  llvm::Triple wanted(given.getValue()),
      triple = host->getMachine().getTargetTriple();
  if (wanted.getArch() != triple.getArch() || wanted.getOS() != triple.getOS())
    diagnostics.add({DiagnosticSeverity::Warning, "",
                     ("llvm.target_triple = \"" + given.getValue() +
                      "\" has no effect: code is for " + triple.str())
                         .str()});
}

LogicalResult Compilation::readSignatures() {
  // Of a copy on which sizes are easier to follow.
  OwningOpRef<ModuleOp> copy = module->clone();
  if (failed(runPasses(*copy, options, diagnostics, buildSizeAnalysis)))
    return failure();
  for (func::FuncOp function : getEntryPoints(*copy)) {
    FailureOr<Signature> signature = getSignature(function);
    if (failed(signature))
      return failure();
    record.functions.emplace_back().signature = std::move(*signature);
  }
  if (record.functions.empty())
    return diagnostics.fail(
        "expected a public func.func with a body, but the module has none");
  return success();
}

/// A reference would be called with what the function has updated.
LogicalResult Compilation::checkNoUpdates() {
  for (const FunctionRecord &function : record.functions)
    for (auto [i, arg] : llvm::enumerate(function.signature.args))
      if (arg.isUpdated)
        return diagnostics.fail(
            "expected functions that update no argument with with-reference, "
            "but @" +
            function.signature.name + " updates argument " + llvm::Twine(i));
  return success();
}

/// Each form of a weight goes once the next one is made.
void Compilation::releaseUnused() {
  SmallVector<Operation *> modules;
  for (OwningOpRef<ModuleOp> *owned : {&module, &reference})
    if (*owned)
      modules.push_back(owned->get());
  for (const ChipModule &chip : chips)
    modules.push_back(chip.getModule());
  releaseConstants(&context, modules);
}

LogicalResult Compilation::convertToNM() {
  ConvertToNMOptions convert{options.detectWeights, options.arithmetic,
                             target.kind != ::nm::Target::Kind::Cpu,
                             llvm::any_of(target.chips, copiesPixels)};
  auto build = [&](OpPassManager &pm) { buildConvertToNM(pm, convert); };
  if (failed(runPasses(*module, options, diagnostics, build)))
    return failure();
  releaseUnused();
  return success();
}

LogicalResult Compilation::lowerForCpu() {
  NMToCPUOptions pipeline;
  pipeline.schedule = options.schedule;
  pipeline.profile = options.profile;
  pipeline.denseFallback = options.denseFallback;
  setTables(options, host->getMachine().getTargetCPU().str(), pipeline);
  pipeline.threads = options.threads;
  pipeline.features = host->getModelFeatureText();
  if (failed(convertToNM()))
    return failure();
  return runPasses(
      *module, options, diagnostics,
      [&](OpPassManager &pm) {
        if (options.emit >= Emit::Schedule)
          buildScheduleForCPU(pm, pipeline);
        if (makesCode())
          buildLowerToCPU(pm, pipeline);
      },
      &record.functions);
}

LogicalResult Compilation::lowerForGpu() {
  if (failed(convertToNM()))
    return failure();
  if (options.emit == Emit::NM)
    return success();
  bool isSimulated = target.kind == ::nm::Target::Kind::Sim;
  for (const std::string &chip : target.chips) {
    bool isVariant = chip != target.chips.back();
    OwningOpRef<ModuleOp> own =
        isVariant ? OwningOpRef<ModuleOp>(module->clone()) : std::move(module);
    chips.emplace_back(chip, std::move(own), record.functions, isVariant,
                       isSimulated);
    if (failed(chips.back().lower(options, device, diagnostics)))
      return failure();
  }
  if (!makesCode())
    return success();
  if (!isSimulated)
    return embedKernels();
  recordChips();
  return success();
}

/// Where no ptxas is found, the module carries PTX alone, and says so.
LogicalResult Compilation::embedKernels() {
  Result<std::string> ptxas = findPtxas(options.toolkit);
  if (!ptxas) {
    if (!options.toolkit.empty())
      return diagnostics.fail(ptxas.error().message);
    diagnostics.add({DiagnosticSeverity::Warning, "",
                     ptxas.error().message +
                         ": the module carries its kernels as PTX, which the "
                         "driver compiles when they are first used"});
  }
  auto number = [](const ChipModule &chip) {
    ::nm::Chip parsed = *::nm::Chip::parse(chip.getChip());
    return std::pair(parsed.major, parsed.minor);
  };
  const ChipModule &newest = *llvm::max_element(
      chips, [&](const ChipModule &lhs, const ChipModule &rhs) {
        return number(lhs) < number(rhs);
      });
  // Chips that are newer still can compile the newest one's PTX.
  for (ChipModule &chip : chips)
    if (failed(chip.embedKernels(ptxas ? *ptxas : "", &chip == &newest, options,
                                 diagnostics)))
      return failure();
  recordChips();
  return success();
}

void Compilation::recordChips() {
  for (const ChipModule &chip : chips)
    llvm::append_range(record.chips, chip.getObjects());
  // The last has the function's own name.
  std::vector<Signature> signatures;
  for (FunctionRecord &function : record.functions)
    signatures.push_back(function.signature);
  record.functions = chips.back().getRecords();
  for (auto [i, function] : llvm::enumerate(record.functions)) {
    function.signature = signatures[i];
    // Kernels read and write 16 bytes at once.
    for (auto *tensors :
         {&function.signature.args, &function.signature.results})
      for (TensorInfo &tensor : *tensors)
        tensor.alignment = 16;
    if (chips.size() == 1)
      continue;
    for (const ChipModule &chip : chips) {
      const FunctionRecord &variant = chip.getRecords()[i];
      function.variants.push_back(
          {variant.signature.name, chip.getObjects(), variant.packed});
    }
  }
}

/// Names an op that the pipeline has no lowering for; LLVM's translation would
/// speak of the casts around it.
static LogicalResult checkLowered(ModuleOp module, StringRef target) {
  WalkResult result = module.walk([&](Operation *op) {
    if (isa<ModuleOp, UnrealizedConversionCastOp>(op) ||
        isa_and_present<LLVM::LLVMDialect>(op->getDialect()) ||
        (target != "cpu" && isa<gpu::BinaryOp, gpu::LaunchFuncOp>(op)))
      return WalkResult::advance();
    op->emitOpError() << "has no lowering for the " << target << " target";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult Compilation::link(ModuleOp lowered, StringRef what) {
  if (failed(checkLowered(lowered, target.kindName())))
    return failure();
  largeConstants.take(lowered);
  std::unique_ptr<llvm::Module> translated =
      translateToLLVM(lowered, llvmContext, *host);
  if (!translated)
    return diagnostics.fail(what + " does not translate to LLVM IR");
  largeConstants.rename(*translated, code.get());
  // Names may be the same in each part.
  hideAllButInterface(*translated);
  if (!code)
    code = std::move(translated);
  else if (llvm::Linker::linkModules(*code, std::move(translated)))
    return diagnostics.fail(what + " does not link with the module");
  return success();
}

LogicalResult Compilation::linkReference() {
  if (failed(
          runPasses(*reference, options, diagnostics, buildReferencePipeline)))
    return failure();
  if (failed(link(*reference, "the reference")))
    return failure();
  for (FunctionRecord &function : record.functions)
    function.hasReference = true;
  return success();
}

LogicalResult Compilation::translate() {
  // Before zeros take their place.
  if (!chips.empty())
    record.constantBytes = countConstantBytes(chips.back().getModule());
  diagnostics.setStep("the translation to LLVM IR");
  if (module && failed(link(*module, "the module")))
    return failure();
  for (const ChipModule &chip : chips)
    if (failed(link(chip.getModule(), "the module for " + chip.getChip())))
      return failure();
  if (failed(report(checkHalf(*code, *host))))
    return failure();
  record.target = target.kindName();
  record.processorFeatures = host->getCheckedFeatures(*code);
  if (chips.empty())
    record.constantBytes = countConstantBytes(*code);
  if (reference && failed(linkReference()))
    return failure();
  addManifest(*code, writeManifest(record));
  diagnostics.setStep("LLVM's optimizer");
  optimize(*code, *host, options.optLevel);
  return success();
}

LogicalResult Compilation::writeText(StringRef output) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (options.emit == Emit::PTX)
    stream << chips.front().getPtx();
  else
    (chips.empty() ? *module : chips.front().getModule()).print(stream);
  if (text.empty() || text.back() != '\n')
    text += '\n';
  return report(writeOutput(output, text));
}

LogicalResult Compilation::writeCubin(StringRef output) {
  Result<std::string> ptxas = findPtxas(options.toolkit);
  if (!ptxas)
    return diagnostics.fail("a cubin is made by ptxas: " +
                            ptxas.error().message);
  FailureOr<std::string> cubin =
      chips.front().makeCubin(*ptxas, options, diagnostics);
  return failed(cubin) ? failure() : report(writeOutput(output, *cubin));
}

/// Calls `write` with a stream to the file `path`.
static Status
writeTo(StringRef path,
        llvm::function_ref<Status(llvm::raw_fd_ostream &)> write) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    Status status = write(stream);
    stream.close();
    error = stream.error();
    // The destructor would abort.
    stream.clear_error();
    if (!status)
      return status;
  }
  if (error)
    return ::nm::Error{"cannot write '" + path.str() + "': " + error.message()};
  return Status::success();
}

/// Straight to the file, of which there is no copy in memory then.
LogicalResult Compilation::writeLLVM(StringRef output) {
  largeConstants.fill(*code);
  releaseConstants(&context, {});
  return report(makeOutput(output, [&](StringRef made) {
    return writeTo(made, [&](llvm::raw_fd_ostream &stream) {
      code->print(stream, nullptr);
      return Status::success();
    });
  }));
}

Status Compilation::emitTo(StringRef path) {
  return writeTo(path, [&](llvm::raw_fd_ostream &stream) {
    return emitObject(*code, *host, stream);
  });
}

LogicalResult Compilation::writeObject(StringRef output) {
  diagnostics.setStep("LLVM's code generator");
  return report(makeOutput(output, [&](StringRef made) -> Status {
    bool isObject = options.emit == Emit::Object;
    std::string path = isObject ? made.str() : (made + ".o").str();
    if (!isObject)
      largeConstants.declare(*code);
    if (Status status = emitTo(path); !status || isObject)
      return status ? largeConstants.write(made) : status;
    code.reset();
    diagnostics.setStep("the linker");
    return linkSharedObject(path, made, host->getMachine().getTargetTriple(),
                            largeConstants);
  }));
}

LogicalResult Compilation::write(StringRef output) {
  if (options.emit == Emit::Cubin)
    return writeCubin(output);
  if (options.emit == Emit::LLVM)
    return writeLLVM(output);
  return options.emit < Emit::LLVM ? writeText(output) : writeObject(output);
}

LogicalResult Compilation::run(std::unique_ptr<llvm::MemoryBuffer> input,
                               StringRef output) {
  if (failed(readTarget()))
    return failure();
  Result<HostTarget> processor =
      HostTarget::create(options, target.architecture);
  if (!processor)
    return diagnostics.fail(processor.error().message);
  host.emplace(std::move(*processor));
  diagnostics.setStep("the parser");
  if (failed(parse(std::move(input))))
    return failure();
  if (makesCode() && failed(readSignatures()))
    return failure();
  // Of the module as it was written, so before it is lowered.
  if (makesCode() && options.withReference) {
    if (failed(checkNoUpdates()))
      return failure();
    OwningOpRef<ModuleOp> written(module->clone());
    // Of which the reference makes loops.
    if (failed(runPasses(*written, options, diagnostics, [](OpPassManager &pm) {
          pm.addPass(createNMDecomposeAttention());
        })))
      return failure();
    reference = createReference(*written);
    if (!reference)
      return failure();
  }
  bool isCpu = target.kind == ::nm::Target::Kind::Cpu;
  if (failed(isCpu ? lowerForCpu() : lowerForGpu()))
    return failure();
  if (!makesCode())
    return write(output);
  releaseUnused();
  return failed(translate()) ? failure() : write(output);
}

static LogicalResult compile(std::unique_ptr<llvm::MemoryBuffer> input,
                             StringRef output, const CompileOptions &options,
                             Diagnostics &diagnostics) {
  // Upstream's passes are not proof against every module, and a program that
  // has this library loaded must survive them.
  LogicalResult result = failure();
  std::optional<std::string> reason = whyCrashed([&] {
    result = Compilation(options, diagnostics).run(std::move(input), output);
  });
  if (!reason)
    return result;
  return diagnostics.fail("internal error: " + *reason + " in " +
                          diagnostics.getStep());
}

LogicalResult mlir::nm::compileBuffer(llvm::MemoryBufferRef input,
                                      StringRef output,
                                      const CompileOptions &options,
                                      Diagnostics &diagnostics) {
  // The parser reads up to a NUL.
  return compile(llvm::MemoryBuffer::getMemBufferCopy(
                     input.getBuffer(), input.getBufferIdentifier()),
                 output, options, diagnostics);
}

/// Whether compiling `input` to `path` would put the result in its place.
static bool isInput(StringRef path, StringRef input) {
  StringRef read = input == "-" ? "/dev/stdin" : input;
  bool isFile = llvm::sys::fs::is_regular_file(path);
  return isFile && llvm::sys::fs::equivalent(path, read);
}

LogicalResult mlir::nm::compileFile(StringRef input, StringRef output,
                                    const CompileOptions &options,
                                    Diagnostics &diagnostics) {
  SmallVector<StringRef> inputs = {input};
  llvm::append_range(inputs, options.resources);
  for (StringRef path : {output, StringRef(options.reproducer)})
    for (StringRef read : inputs)
      if (isInput(path, read))
        return diagnostics.fail(
            "expected to write to another file than the input "
            "'" +
            read + "', but got '" + path + "'");
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> buffer = readInput(input, error);
  if (!buffer)
    return diagnostics.fail(error);
  return compile(std::move(buffer), output, options, diagnostics);
}
