//===- Compiler.cpp - From a module to a shared object --------------------===//

#include "nm/Compiler/Compiler.h"

#include "Codegen.h"
#include "Linker.h"
#include "Manifest.h"
#include "OutputFile.h"
#include "Reference.h"
#include "Signature.h"
#include "Stages.h"

#include "nm/InitNM.h"
#include "nm/Pipelines/NMToCPU.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::Result;
using ::nm::Status;

namespace {
/// One compilation, from text to what `emit` asks for.
class Compilation {
public:
  Compilation(const CompileOptions &options, Diagnostics &diagnostics);

  LogicalResult run(llvm::MemoryBufferRef input, StringRef output);

private:
  LogicalResult parse(llvm::MemoryBufferRef input);
  LogicalResult readSignatures();
  LogicalResult lower();
  LogicalResult translate();
  LogicalResult linkReference();
  LogicalResult write(StringRef output);
  LogicalResult writeText(StringRef output);
  LogicalResult writeObject(StringRef output);

  LogicalResult report(Status status) {
    return status ? success() : diagnostics.fail(status.error().message);
  }
  bool makesCode() const { return options.emit >= Emit::LLVM; }

  const CompileOptions &options;
  Diagnostics &diagnostics;
  MLIRContext context;
  ScopedDiagnosticHandler handler;
  llvm::LLVMContext llvmContext;
  std::optional<HostTarget> target;
  ModuleRecord record;
  OwningOpRef<ModuleOp> module, reference;
  std::unique_ptr<llvm::Module> code;
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

LogicalResult Compilation::parse(llvm::MemoryBufferRef input) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(input.getBuffer(),
                                           input.getBufferIdentifier()),
      SMLoc());
  module = parseSourceFile<ModuleOp>(sources, &context);
  if (module)
    return success();
  return diagnostics.hasErrors()
             ? failure()
             : diagnostics.fail("'" + input.getBufferIdentifier() +
                                "' is no MLIR module");
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

LogicalResult Compilation::lower() {
  NMToCPUOptions pipeline;
  pipeline.detectWeights = options.detectWeights;
  pipeline.strategy = options.strategy;
  pipeline.block = options.block;
  pipeline.thread = options.thread;
  pipeline.denseFallback = options.denseFallback;
  pipeline.threads = options.threads;
  pipeline.features = target->getFeatureText();
  return runPasses(
      *module, options, diagnostics,
      [&](OpPassManager &pm) {
        buildConvertToNM(pm, pipeline);
        if (options.emit >= Emit::Schedule)
          buildScheduleForCPU(pm, pipeline);
        if (makesCode())
          buildLowerToCPU(pm, pipeline);
      },
      &record.functions);
}

/// Names an op that the pipeline has no lowering for; LLVM's translation would
/// speak of the casts around it.
static LogicalResult checkLowered(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    if (isa<ModuleOp, UnrealizedConversionCastOp>(op) ||
        isa_and_present<LLVM::LLVMDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError() << "has no lowering for the cpu target";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult Compilation::linkReference() {
  if (failed(
          runPasses(*reference, options, diagnostics, buildReferencePipeline)))
    return failure();
  if (failed(checkLowered(*reference)))
    return failure();
  std::unique_ptr<llvm::Module> referenceCode =
      translateToLLVM(*reference, llvmContext, *target);
  if (!referenceCode)
    return diagnostics.fail("the reference does not translate to LLVM IR");
  hideAllButInterface(*referenceCode);
  if (llvm::Linker::linkModules(*code, std::move(referenceCode)))
    return diagnostics.fail("the reference does not link with the module");
  for (FunctionRecord &function : record.functions)
    function.hasReference = true;
  return success();
}

LogicalResult Compilation::translate() {
  if (failed(checkLowered(*module)))
    return failure();
  diagnostics.setStep("the translation to LLVM IR");
  code = translateToLLVM(*module, llvmContext, *target);
  if (!code)
    return diagnostics.fail("the module does not translate to LLVM IR");
  if (failed(report(checkHalf(*code, *target))))
    return failure();
  // Before the reference, whose names may be the same.
  hideAllButInterface(*code);
  record.target = options.target;
  record.processorFeatures = target->getCheckedFeatures();
  record.constantBytes = countConstantBytes(*code);
  if (reference && failed(linkReference()))
    return failure();
  addManifest(*code, writeManifest(record));
  diagnostics.setStep("LLVM's optimizer");
  optimize(*code, *target, options.optLevel);
  return success();
}

LogicalResult Compilation::writeText(StringRef output) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (options.emit == Emit::LLVM)
    code->print(stream, nullptr);
  else
    module->print(stream);
  if (text.back() != '\n')
    text += '\n';
  return report(writeOutput(output, text));
}

LogicalResult Compilation::writeObject(StringRef output) {
  diagnostics.setStep("LLVM's code generator");
  SmallVector<char, 0> object;
  if (failed(report(emitObject(*code, *target, object))))
    return failure();
  StringRef bytes(object.data(), object.size());
  if (options.emit == Emit::Object)
    return report(writeOutput(output, bytes));
  return report(makeOutput(output, [&](StringRef sharedObject) {
    std::string path = (sharedObject + ".o").str();
    Status status = writeOutput(path, bytes);
    diagnostics.setStep("the linker");
    if (status)
      status = linkSharedObject(path, sharedObject);
    llvm::sys::fs::remove(path);
    return status;
  }));
}

LogicalResult Compilation::write(StringRef output) {
  return options.emit <= Emit::LLVM ? writeText(output) : writeObject(output);
}

LogicalResult Compilation::run(llvm::MemoryBufferRef input, StringRef output) {
  if (failed(report(checkTarget(options.target))))
    return failure();
  Result<HostTarget> host = HostTarget::create(options);
  if (!host)
    return diagnostics.fail(host.error().message);
  target.emplace(std::move(*host));
  diagnostics.setStep("the parser");
  if (failed(parse(input)))
    return failure();
  if (makesCode() && failed(readSignatures()))
    return failure();
  // Of the module as it was written, so before it is lowered.
  if (makesCode() && options.withReference) {
    reference = createReference(*module);
    if (!reference)
      return failure();
  }
  if (failed(lower()) || (makesCode() && failed(translate())))
    return failure();
  return write(output);
}

LogicalResult mlir::nm::compileBuffer(llvm::MemoryBufferRef input,
                                      StringRef output,
                                      const CompileOptions &options,
                                      Diagnostics &diagnostics) {
  // Upstream's passes are not proof against every module, and a program that
  // has this library loaded must survive them. What the compilation held is
  // lost then.
  LogicalResult result = failure();
  llvm::CrashRecoveryContext::Enable();
  llvm::CrashRecoveryContext recovery;
  bool finished = recovery.RunSafely(
      [&] { result = Compilation(options, diagnostics).run(input, output); });
  if (finished)
    return result;
  return diagnostics.fail("internal error: the compiler crashed in " +
                          diagnostics.getStep());
}

LogicalResult mlir::nm::compileFile(StringRef input, StringRef output,
                                    const CompileOptions &options,
                                    Diagnostics &diagnostics) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(input, /*IsText=*/true);
  if (!buffer)
    return diagnostics.fail("cannot read '" + input +
                            "': " + buffer.getError().message());
  return compileBuffer(**buffer, output, options, diagnostics);
}
