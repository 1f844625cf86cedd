//===- fuzz-ir.cpp - Mutated IR through parser, verifiers and passes ------===//
//
// usage: NMFuzzIR SOURCE_DIR [--what=parser|passes|runs|all] [--seed=N]
//                 [--first=N] [--executions=N] [--seconds=S] [--save=FOLDER]
//
// No IR may end the process that reads it. The seeds are the IR of the lit
// tests, which reach every op, attribute and pass. One execution makes a mutant
// of a part of a test, and
//   - parser: parses and verifies it; what is valid is printed and written as
//     bytecode, and has to come back as it was;
//   - passes: runs a test of one pass as that test does, one pass after the
//     other;
//   - runs: runs it as its test does, or by passes that are drawn.
// What it does follows from the seed and its number alone. Executions share a
// forked child, which another replaces where one dies. A mutant that does is
// reduced and printed with its flags; --save keeps it in a folder. Those that
// only take too long, or too much memory, are counted, and so are those that
// die upstream: without anything of nm's, or where kUpstream says.
//
//===----------------------------------------------------------------------===//

#include "ForkedRuns.h"
#include "IrMutator.h"
#include "IrSeeds.h"

#include "nm/CheckText.h"
#include "nm/InitNM.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir;
namespace cl = llvm::cl;

namespace {
/// Where upstream's own code dies of what has nothing to do with ours: of ops
/// of other dialects between transform ops, and of malformed arrays of
/// integers, or of arrays of indices.
constexpr StringRef kUpstream[] = {
    "mlir::transform::TransformState::applyTransform",
    "mlir::detail::Parser::parseDenseArrayAttr",
    "mlir::linalg::TransposeOp::parse",
    "mlir::linalg::BroadcastOp::parse",
    "mlir::LLVM::ExtractValueOp::parse",
    "mlir::LLVM::GlobalOp::getAddrSpace",
    "mlir::NVVM::MmaOp::verify"};

/// Functions that tell one death from others.
constexpr size_t kOfPlace = 3;

/// Executions of one context, whose attributes stay, and of one child.
constexpr uint64_t kOfContext = 32, kOfChild = 2048;

enum class What { Parser, Passes, Runs, All };

cl::opt<std::string> source(cl::Positional, cl::Required,
                            cl::desc("<folder of the sources>"));
cl::opt<What>
    what("what", cl::init(What::All), cl::desc("What is fed:"),
         cl::values(clEnumValN(What::Parser, "parser", "parser and verifiers"),
                    clEnumValN(What::Passes, "passes", "each pass"),
                    clEnumValN(What::Runs, "runs", "the tests' runs"),
                    clEnumValN(What::All, "all", "a third each")));
cl::opt<uint64_t> seed("seed", cl::init(1));
cl::opt<uint64_t> first("first", cl::init(0),
                        cl::desc("The number of the first execution"));
cl::opt<uint64_t> executions("executions", cl::init(3000));
cl::opt<double> seconds("seconds", cl::init(1e9),
                        cl::desc("Start no child after that time"));
cl::opt<std::string> save("save", cl::desc("A folder for what is found"));

/// What one execution does.
struct Plan {
  std::string path, text;
  PassFlags flags;
  bool isRead = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// What an execution does
//===----------------------------------------------------------------------===//

static PassFlags drawFlags(const IrSeeds &seeds, const IrSeed &test,
                           Draw &draw) {
  if (!test.runs.empty() && draw.below(4))
    return draw.from(test.runs);
  PassFlags flags = {"--nm-attach-chip=chip=sm_90a"};
  for (size_t count = 1 + draw.below(3); count > 0; --count)
    flags.push_back("--" + draw.from(seeds.passes).name);
  return flags;
}

static Plan planOf(const IrSeeds &seeds, uint64_t number) {
  Draw draw(seed, number);
  What kind = what == What::All ? What(number % 3) : what;
  Plan plan;
  const IrSeed *test = &draw.from(seeds.tests);
  if (kind == What::Passes) {
    uint64_t turn = what == What::All ? number / 3 : number;
    const PassSeeds &pass = seeds.passes[turn % seeds.passes.size()];
    test = &draw.from(pass.tests);
    plan.flags = draw.from(test->runs);
  } else if (kind == What::Runs) {
    plan.flags = drawFlags(seeds, *test, draw);
  }
  plan.isRead = kind == What::Parser;
  plan.path = test->path;
  std::vector<std::string> others = test->parts;
  for (int i = 0; i < 4; ++i)
    others.push_back(draw.from(draw.from(seeds.tests).parts));
  plan.text = mutateIr(draw.from(test->parts), others, draw);
  return plan;
}

static std::string printed(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().assumeVerified());
  return text;
}

/// Ends the process where valid IR does not come back as it was.
static void expectToComeBack(ModuleOp module) {
  std::string text = printed(module), bytes;
  // A context that has a resource gives another of its name a new one.
  if (StringRef(text).contains("dense_resource"))
    return;
  llvm::raw_string_ostream os(bytes);
  if (failed(writeBytecodeToFile(module, os)))
    return;
  for (StringRef form : {StringRef(text), StringRef(bytes)}) {
    auto again = parseSourceString<ModuleOp>(form, module.getContext());
    if (!again || printed(*again) != text) {
      llvm::errs() << "expected valid IR to be read as it was written\n";
      std::abort();
    }
  }
}

/// Whether the mutant is valid IR.
static bool execute(const Plan &plan, MLIRContext &context) {
  if (nm::whyNoText(llvm::MemoryBufferRef(plan.text, "mutant")))
    return false;
  auto module = parseSourceString<ModuleOp>(plan.text, &context);
  if (!module)
    return false;
  if (plan.isRead) {
    expectToComeBack(*module);
    return true;
  }
  PassManager manager(&context, ModuleOp::getOperationName(),
                      OpPassManager::Nesting::Implicit);
  if (succeeded(
          parsePassPipeline(pipelineOf(plan.flags), manager, llvm::nulls())))
    (void)manager.run(*module);
  return true;
}

namespace {
/// A context that is replaced from time to time.
class Contexts {
public:
  Contexts() { nm::registerAllDialects(registry); }

  MLIRContext &get() {
    if (uses++ % kOfContext == 0) {
      context = std::make_unique<MLIRContext>(registry,
                                              MLIRContext::Threading::DISABLED);
      context->getDiagEngine().registerHandler([](Diagnostic &) {});
    }
    return *context;
  }

private:
  DialectRegistry registry;
  std::unique_ptr<MLIRContext> context;
  uint64_t uses = 0;
};
} // namespace

static Ending runAlone(const Plan &plan) {
  return runForked(0, 1, [&](uint64_t) {
    Contexts contexts;
    return execute(plan, contexts.get());
  });
}

//===----------------------------------------------------------------------===//
// What is found
//===----------------------------------------------------------------------===//

static bool dies(const Plan &plan) {
  return runAlone(plan).kind == Ending::Died;
}

/// Drops lines as long as it still dies.
static void reduce(Plan &plan) {
  SmallVector<StringRef> lines = llvm::to_vector(llvm::split(plan.text, '\n'));
  std::string kept;
  for (size_t size = 8; size > 0; size /= 2)
    for (size_t at = 0; at < lines.size();) {
      SmallVector<StringRef> shorter(lines);
      shorter.erase(shorter.begin() + at,
                    shorter.begin() + std::min(at + size, lines.size()));
      Plan candidate = plan;
      candidate.text = llvm::join(shorter, "\n");
      if (dies(candidate))
        lines = std::move(shorter);
      else
        at += size;
    }
  plan.text = llvm::join(lines, "\n") + "\n";
}

/// Whether upstream is to blame: for what it is known for, and for IR that has
/// nothing of nm's.
static bool isUpstreams(const Plan &plan, const Ending &ending) {
  for (StringRef name : kUpstream)
    if (llvm::is_contained(ending.stack, name))
      return true;
  if (StringRef(plan.text).contains("nm."))
    return false;
  Plan alone = plan;
  alone.flags.clear();
  return plan.isRead || dies(alone);
}

/// The mutant with its command, which goes into the folder of `--save`.
static std::string keep(const Plan &plan, StringRef name) {
  std::string text = "// nm-opt";
  for (const std::string &flag : plan.flags)
    text += " '" + flag + "'";
  text += (plan.isRead ? " | nm-opt\n" : "\n") + plan.text;
  if (save.empty())
    return text;
  std::error_code error = llvm::sys::fs::create_directories(save);
  llvm::raw_fd_ostream file((save + "/" + name + ".mlir").str(), error);
  if (error)
    llvm::errs() << "expected to write to " << save << ": " << error.message()
                 << "\n";
  else
    file << text;
  return text;
}

static std::string placeOf(const Ending &ending) {
  ArrayRef<std::string> stack(ending.stack);
  return ending.cause + " in " + llvm::join(stack.take_front(kOfPlace), " < ");
}

static void report(const Plan &plan, const Ending &ending) {
  llvm::outs() << "execution " << ending.number << ", from " << plan.path
               << ": " << placeOf(ending) << " by\n"
               << keep(plan, std::to_string(ending.number)) << "\n";
  llvm::outs().flush();
}

namespace {
/// What has come out so far.
struct Counts {
  uint64_t executions = 0, valid = 0, found = 0, again = 0, upstream = 0,
           later = 0, tooMuch = 0;
  llvm::StringSet<> places;

  /// Counts the ending of one execution, and reports one that is new.
  void add(const IrSeeds &seeds, const Ending &ending) {
    if (ending.kind == Ending::TookTooMuch) {
      ++tooMuch;
      return;
    }
    std::string place = placeOf(ending);
    if (!ending.stack.empty() && places.contains(place)) {
      ++again;
      return;
    }
    Plan plan = planOf(seeds, ending.number);
    // Of memory that upstream has spoilt before, as a build with
    // AddressSanitizer shows at once where it was ours.
    if (!dies(plan)) {
      ++later;
      llvm::outs() << "execution " << ending.number << ": " << placeOf(ending)
                   << ", but not alone\n";
      return;
    }
    reduce(plan);
    if (isUpstreams(plan, ending)) {
      ++upstream;
      keep(plan, "upstream-" + std::to_string(ending.number));
      return;
    }
    places.insert(place);
    ++found;
    report(plan, ending);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// main
//===----------------------------------------------------------------------===//

static Counts runAll(const IrSeeds &seeds) {
  Counts counts;
  auto start = std::chrono::steady_clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  };
  uint64_t next = first, end = first + executions;
  while (next < end && elapsed() < seconds) {
    uint64_t stop = std::min(end, next - next % kOfChild + kOfChild);
    Ending ending = runForked(next, stop, [&](uint64_t number) {
      static Contexts contexts;
      return execute(planOf(seeds, number), contexts.get());
    });
    uint64_t after = ending.kind == Ending::Done ? stop : ending.number + 1;
    counts.executions += after - next;
    counts.valid += ending.accepted;
    next = after;
    if (ending.kind != Ending::Done)
      counts.add(seeds, ending);
  }
  return counts;
}

int main(int argc, char **argv) {
  nm::registerAllPasses();
  cl::ParseCommandLineOptions(argc, argv);
  // Names of functions are enough, and take no time.
  setenv("LLVM_DISABLE_SYMBOLIZATION", "1", /*overwrite=*/0);
  IrSeeds seeds = IrSeeds::read(source);
  for (const PassSeeds &pass : seeds.passes)
    if (pass.tests.empty()) {
      llvm::errs()
          << "expected a test with nm-opt of each pass, but found none "
             "of "
          << pass.name << "\n";
      return 1;
    }
  Counts counts = runAll(seeds);
  llvm::outs() << counts.executions << " mutants with seed " << seed << ", "
               << counts.valid << " valid: " << counts.found << " died, "
               << counts.again << " more where one of these did, "
               << counts.upstream << " upstream, " << counts.later
               << " not alone, " << counts.tooMuch << " took too much\n";
  return counts.found ? 1 : 0;
}
