//===- Codegen.cpp - The LLVM dialect to machine code ---------------------===//

#include "Codegen.h"

#include "nm/Support/ArmFeatures.h"
#include "nm/Support/ProcessorTiles.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Config/Targets.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/Transforms/IPO/CalledValuePropagation.h"
#include "llvm/Transforms/Scalar/ConstraintElimination.h"

#include <mutex>

using namespace mlir;
using mlir::nm::CompileOptions;
using mlir::nm::HostTarget;
using ::nm::Result;
using ::nm::Status;

static constexpr StringLiteral kManifest = "nm_manifest";

//===----------------------------------------------------------------------===//
// The processor
//===----------------------------------------------------------------------===//

HostTarget::HostTarget() = default;
HostTarget::HostTarget(HostTarget &&) = default;
HostTarget::~HostTarget() = default;

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
#define NM_INITIALIZE(Name)                                                    \
  LLVMInitialize##Name##TargetInfo();                                          \
  LLVMInitialize##Name##Target();                                              \
  LLVMInitialize##Name##TargetMC();                                            \
  LLVMInitialize##Name##AsmPrinter();                                          \
  LLVMInitialize##Name##AsmParser();
#if LLVM_HAS_X86_TARGET
    NM_INITIALIZE(X86)
#endif
#if LLVM_HAS_AARCH64_TARGET
    NM_INITIALIZE(AArch64)
#endif
#if LLVM_HAS_RISCV_TARGET
    NM_INITIALIZE(RISCV)
#endif
#undef NM_INITIALIZE
  });
}

/// Whether code for `triple` may run in this process.
static bool isOwn(const llvm::Triple &triple) {
  return triple.getArch() ==
         llvm::Triple(llvm::sys::getProcessTriple()).getArch();
}

/// This process' triple, or that of Linux on another kind of processor.
static llvm::Triple makeTriple(StringRef architecture) {
  llvm::Triple own(llvm::sys::getProcessTriple());
  if (architecture.empty() || own.getArchName() == architecture)
    return own;
  return llvm::Triple(architecture, "unknown", "linux", "gnu");
}

/// LLVM's name of the processor that `options` mean.
static std::string findProcessor(const CompileOptions &options,
                                 const llvm::Triple &triple) {
  if (options.cpu != "native")
    return options.cpu;
  if (isOwn(triple))
    return llvm::sys::getHostCPUName().str();
  return triple.isX86()       ? "x86-64"
         : triple.isRISCV64() ? "generic-rv64"
                              : "generic";
}

/// Instructions that only intrinsics ask for which nm does not make. Without
/// them code runs on processors that lack nothing else, and the manifest's list
/// of features is all that code may use.
static constexpr StringLiteral kUnusedX86Features[] = {
    "adx",       "amx-avx512", "amx-complex", "amx-fp16",
    "amx-fp8",   "amx-movrs",  "amx-tf32",    "avx512vp2intersect",
    "cldemote",  "clflushopt", "clwb",        "clzero",
    "enqcmd",    "fsgsbase",   "hreset",      "invpcid",
    "kl",        "lwp",        "movdir64b",   "movdiri",
    "movrs",     "mwaitx",     "pconfig",     "pku",
    "prefetchi", "ptwrite",    "rdpid",       "rdpru",
    "rdrnd",     "rdseed",     "rtm",         "serialize",
    "sgx",       "sha",        "sha512",      "shstk",
    "sm3",       "sm4",        "sse4a",       "tsxldtrk",
    "uintr",     "usermsr",    "waitpkg",     "wbnoinvd",
    "widekl",    "xsave",      "xsavec",      "xsaveopt",
    "xsaves"};

/// The features that `options` add to the processor's own, without two kinds of
/// instructions. Those that round to bf16 take subnormal numbers for zero,
/// which neither IEEE 754 nor a GPU does. Those that compute in f16 let LLVM
/// fuse a product and a sum, which then skips the rounding of the product.
static std::string getFeatures(const CompileOptions &options,
                               const llvm::Triple &triple) {
  llvm::SubtargetFeatures features;
  bool isNative = options.cpu == "native" && isOwn(triple);
  if (isNative)
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      features.AddFeature(feature.first(), feature.second);
  // What the processor has is of no use where Linux does not let this process.
  if (isNative && !::nm::takeProcessorTiles())
    features.AddFeature("amx-tile", /*Enable=*/false);
  // RV64GC, which distributions of Linux ask of every processor.
  if (triple.isRISCV() && !isNative)
    for (StringRef feature : {"m", "a", "f", "d", "c"})
      features.AddFeature(feature);
  if (triple.isX86())
    for (StringRef feature : kUnusedX86Features)
      features.AddFeature(feature, /*Enable=*/false);
  SmallVector<StringRef> given;
  StringRef(options.features).split(given, ',', -1, /*KeepEmpty=*/false);
  for (StringRef feature : given)
    features.AddFeature(feature.trim());
  // nm rounds to bf16 by itself, and to f16 after each operation: with
  // AVX512-FP16 LLVM fuses products and sums of f16.
  if (triple.isX86())
    for (StringRef feature : {"avx512bf16", "avx512fp16", "avxneconvert"})
      features.AddFeature(feature, /*Enable=*/false);
  return features.getString();
}

/// Names that LLVM does not know it would report on stderr and go on.
static Status checkNames(const llvm::MCSubtargetInfo &info,
                         const CompileOptions &options) {
  if (options.cpu != "native" && !info.isCPUStringValid(options.cpu))
    return ::nm::Error{
        "expected mcpu to be a processor that LLVM knows, but got '" +
        options.cpu + "'"};
  SmallVector<StringRef> given;
  StringRef(options.features).split(given, ',', -1, /*KeepEmpty=*/false);
  for (StringRef feature : given) {
    StringRef name = feature.trim();
    if (name.starts_with("+") || name.starts_with("-"))
      name = name.drop_front();
    bool known = llvm::any_of(info.getAllProcessorFeatures(),
                              [&](const llvm::SubtargetFeatureKV &entry) {
                                return name == entry.Key;
                              });
    // The width of addresses is the triple's.
    known = known && !name.ends_with("bit-mode");
    if (!known)
      return ::nm::Error{
          "expected mattr to name features that LLVM knows, but got '" +
          feature.str() + "'"};
  }
  return Status::success();
}

/// Those of kOfLibraries that the processor has, and `options` leave it.
static std::string findOthersFeatures(const CompileOptions &options,
                                      const llvm::Target &target,
                                      const llvm::Triple &triple,
                                      StringRef cpu) {
  static constexpr StringLiteral kOfLibraries[] = {"amx-fp16", "avx512bf16",
                                                   "avx512fp16", "sse4a"};
  if (!triple.isX86())
    return "";
  llvm::SubtargetFeatures features;
  if (options.cpu == "native" && isOwn(triple))
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      features.AddFeature(feature.first(), feature.second);
  SmallVector<StringRef> given;
  StringRef(options.features).split(given, ',', -1, /*KeepEmpty=*/false);
  for (StringRef feature : given)
    features.AddFeature(feature.trim());
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target.createMCSubtargetInfo(triple, cpu, features.getString()));
  std::string text;
  for (StringRef name : kOfLibraries)
    if (info && info->checkFeatures(("+" + name).str()))
      text += (",+" + name).str();
  return text;
}

Result<HostTarget> HostTarget::create(const CompileOptions &options,
                                      StringRef architecture) {
  initializeTargets();
  llvm::Triple triple = makeTriple(architecture);
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return ::nm::Error{"expected a target that this compiler's LLVM has: " +
                       message};
  std::unique_ptr<llvm::MCSubtargetInfo> generic(
      target->createMCSubtargetInfo(triple, "", ""));
  if (Status status = checkNames(*generic, options); !status)
    return status.error();
  llvm::TargetOptions targetOptions;
  // One rounding instead of two is closer to the reference, and twice as fast.
  targetOptions.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  // Constructors, which load kernels, go where the dynamic linker looks.
  targetOptions.UseInitArray = true;
  if (triple.isRISCV64())
    targetOptions.MCOptions.ABIName = "lp64d";
  std::string cpu = findProcessor(options, triple);
  HostTarget host;
  host.machine.reset(target->createTargetMachine(
      triple, cpu, getFeatures(options, triple), targetOptions,
      llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel(options.optLevel)));
  host.othersFeatures = findOthersFeatures(options, *target, triple, cpu);
  if (!host.machine)
    return ::nm::Error{"LLVM cannot make code for " + triple.str()};
  if (triple.isX86() && triple.isArch64Bit() && !host.has("64bit"))
    return ::nm::Error{"expected a processor with 64bit, but got " + cpu +
                       "; see --mcpu and --mattr"};
  return host;
}

bool HostTarget::has(StringRef feature) const {
  const llvm::MCSubtargetInfo &info = *machine->getMCSubtargetInfo();
  // LLVM ends the process where it does not know the name.
  return llvm::any_of(info.getAllProcessorFeatures(),
                      [&](const llvm::SubtargetFeatureKV &known) {
                        return feature == known.Key &&
                               info.getFeatureBits().test(known.Value);
                      });
}

std::string HostTarget::getModelFeatureText() const {
  std::string text = getFeatureText();
  return text.empty() ? text : text + othersFeatures;
}

std::string HostTarget::getFeatureText() const {
  std::string text;
  const llvm::MCSubtargetInfo &info = *machine->getMCSubtargetInfo();
  for (const llvm::SubtargetFeatureKV &feature : info.getAllProcessorFeatures())
    if (info.getFeatureBits().test(feature.Value))
      text += (text.empty() ? "+" : ",+") + std::string(feature.Key);
  return text;
}

/// Whether `module` has code for `feature` of AMX. Only strategy amx makes such
/// code; LLVM does not by itself.
static bool usesTiles(const llvm::Module &module, StringRef feature) {
  StringRef intrinsic = feature == "amx-tile"   ? "tilezero"
                        : feature == "amx-bf16" ? "tdpbf16ps"
                        : feature == "amx-int8" ? "tdpbssd"
                                                : "";
  return !intrinsic.empty() &&
         module.getFunction(("llvm.x86." + intrinsic + ".internal").str());
}

/// Whether `module` has code that pairs of bf16 are multiplied by, which LLVM
/// does not know to be of AVX512_BF16.
static bool multipliesPairs(const llvm::Module &module) {
  for (const llvm::Function &function : module)
    for (const llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = dyn_cast<llvm::CallInst>(&instruction))
        if (auto *code = dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
          if (StringRef(code->getAsmString()).starts_with("vdpbf16ps"))
            return true;
  return false;
}

/// Whether LLVM calls instructions of x86 so, and not a way to tune code or to
/// harden it, which runs anywhere.
static bool isInstructionSet(StringRef feature) {
  static const StringSet<> names = {
#define X86_FEATURE(ENUM, STR) STR,
#include "llvm/TargetParser/X86TargetParser.def"
  };
  // Not in the list, as Clang has no option for it.
  if (feature.starts_with("avx10."))
    return true;
  return names.contains(feature) && feature != "vzeroupper" &&
         !feature.starts_with("retpoline-") && !feature.starts_with("lvi-");
}

std::vector<std::string>
HostTarget::getCheckedFeatures(const llvm::Module &module) const {
  std::vector<std::string> features;
  if (machine->getTargetTriple().isAArch64())
    for (const ::nm::ArmFeature &feature : ::nm::kArmFeatures)
      if (has(feature.name))
        features.emplace_back(feature.name);
  if (!machine->getTargetTriple().isX86())
    return features;
  const llvm::MCSubtargetInfo &info = *machine->getMCSubtargetInfo();
  for (const llvm::SubtargetFeatureKV &feature :
       info.getAllProcessorFeatures()) {
    StringRef name = feature.Key;
    if (info.getFeatureBits().test(feature.Value) && isInstructionSet(name) &&
        (!name.starts_with("amx-") || usesTiles(module, name)))
      features.push_back(name.str());
  }
  if (multipliesPairs(module))
    features.push_back("avx512bf16");
  return features;
}

//===----------------------------------------------------------------------===//
// LLVM IR
//===----------------------------------------------------------------------===//

static void setTargetAttributes(llvm::Module &module,
                                const HostTarget &target) {
  llvm::TargetMachine &machine = target.getMachine();
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.setDoesNotThrow();
    // LLVM halves vectors on some processors to keep clocks up, which
    // bandwidth-bound code does not gain from.
    if (target.has("avx512f"))
      function.addFnAttr("prefer-vector-width", "512");
  }
}

std::unique_ptr<llvm::Module>
mlir::nm::translateToLLVM(ModuleOp module, llvm::LLVMContext &context,
                          const HostTarget &target) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context);
  if (!translated)
    return nullptr;
  translated->setTargetTriple(target.getMachine().getTargetTriple());
  translated->setDataLayout(target.getMachine().createDataLayout());
  setTargetAttributes(*translated, target);
  return translated;
}

static bool computesInHalf(const llvm::Instruction &instruction) {
  auto isHalf = [](llvm::Type *type) {
    return type->getScalarType()->isHalfTy();
  };
  bool computes = isa<llvm::CastInst, llvm::BinaryOperator, llvm::CmpInst,
                      llvm::UnaryOperator, llvm::CallInst>(instruction);
  return computes && (isHalf(instruction.getType()) ||
                      llvm::any_of(instruction.operand_values(),
                                   [&](const llvm::Value *operand) {
                                     return isHalf(operand->getType());
                                   }));
}

Status mlir::nm::checkHalf(const llvm::Module &module,
                           const HostTarget &target) {
  const llvm::Triple &triple = target.getMachine().getTargetTriple();
  StringRef wanted = triple.isX86()     ? "f16c"
                     : triple.isRISCV() ? "zvfhmin"
                                        : "";
  if (wanted.empty() || target.has(wanted))
    return Status::success();
  for (const llvm::Function &function : module)
    for (const llvm::BasicBlock &block : function)
      if (llvm::any_of(block, computesInHalf))
        return ::nm::Error{
            ("expected a processor with " + wanted + " for f16, but got " +
             target.getMachine().getTargetCPU() + "; see --mcpu and --mattr")
                .str()};
  return Status::success();
}

int64_t mlir::nm::countConstantBytes(const llvm::Module &module) {
  int64_t bytes = 0;
  for (const llvm::GlobalVariable &global : module.globals())
    if (global.isConstant() && global.hasInitializer())
      bytes += module.getDataLayout().getTypeAllocSize(global.getValueType());
  return bytes;
}

void mlir::nm::addManifest(llvm::Module &module, StringRef text) {
  llvm::Constant *value =
      llvm::ConstantDataArray::getString(module.getContext(), text);
  new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, value,
                           kManifest);
}

void mlir::nm::hideAllButInterface(llvm::Module &module) {
  auto isInterface = [](StringRef name) {
    return name.starts_with("_mlir_ciface_") || name == kManifest;
  };
  for (llvm::GlobalValue &value : module.global_values())
    // LLVM's own lists, such as that of constructors, keep their linkage.
    if (!value.isDeclaration() && !value.hasAppendingLinkage() &&
        !isInterface(value.getName()))
      value.setLinkage(llvm::GlobalValue::InternalLinkage);
}

/// Whether to run the optimization `pass` on `unit`. These take a time that
/// grows faster than a function that calls one layer after the other, and find
/// nothing there:
/// - which functions pointers may lead to, which are the tasks of parallel
///   loops, of which only the runtime calls any;
/// - which comparisons follow from those before.
static bool isWanted(StringRef pass, llvm::Any unit) {
  constexpr unsigned kMostInstructions = 4000;
  if (pass == llvm::ConstraintEliminationPass::name())
    if (const auto *function = llvm::any_cast<const llvm::Function *>(&unit))
      return (*function)->getInstructionCount() < kMostInstructions;
  return pass != llvm::CalledValuePropagationPass::name();
}

void mlir::nm::optimize(llvm::Module &module, const HostTarget &target,
                        unsigned optLevel) {
  static const llvm::OptimizationLevel kLevels[] = {
      llvm::OptimizationLevel::O0, llvm::OptimizationLevel::O1,
      llvm::OptimizationLevel::O2, llvm::OptimizationLevel::O3};
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = optLevel > 1;
  // It would gather the kernels' scalar index loads into vectors, only to take
  // them apart again for addresses.
  tuning.SLPVectorization = false;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(isWanted);
  llvm::PassBuilder builder(&target.getMachine(), tuning, std::nullopt,
                            &callbacks);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  llvm::ModulePassManager passes =
      optLevel == 0 ? builder.buildO0DefaultPipeline(kLevels[0])
                    : builder.buildPerModuleDefaultPipeline(kLevels[optLevel]);
  passes.run(module, modules);
}

/// Whether `function` has a long block that does little but call others, as
/// one that calls or launches one layer after the other. Code for it is
/// selected without optimization, for LLVM compares all that a block reads and
/// writes with each other.
static bool isListOfCalls(const llvm::Function &function) {
  constexpr size_t kLongBlock = 2000, kInstructionsOfCall = 200;
  return llvm::any_of(function, [](const llvm::BasicBlock &block) {
    if (block.size() < kLongBlock)
      return false;
    size_t calls = llvm::count_if(block, [](const llvm::Instruction &op) {
      return isa<llvm::CallInst>(op) && !isa<llvm::IntrinsicInst>(op);
    });
    return calls * kInstructionsOfCall > block.size();
  });
}

Status mlir::nm::emitObject(llvm::Module &module, const HostTarget &target,
                            llvm::raw_pwrite_stream &stream) {
  for (llvm::Function &function : module)
    if (isListOfCalls(function)) {
      function.addFnAttr(llvm::Attribute::NoInline);
      function.addFnAttr(llvm::Attribute::OptimizeNone);
    }
  llvm::legacy::PassManager passes;
  if (target.getMachine().addPassesToEmitFile(
          passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return ::nm::Error{"LLVM cannot write objects for " +
                       target.getMachine().getTargetTriple().str()};
  passes.run(module);
  return Status::success();
}
