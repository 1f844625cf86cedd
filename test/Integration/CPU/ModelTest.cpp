//===- ModelTest.cpp - linalg to a shared object to a result --------------===//
//
// Drawn contractions go the whole way that a user's do: compiled by
// libnm_compiler, loaded and called by libnm_runtime, with weights given dense.
//
//===----------------------------------------------------------------------===//

#include "CompareOutputs.h"
#include "ModelOperands.h"

#include "../../Unit/TemporaryFolder.h"

#include "nm-c/Compiler.h"
#include "nm/Runtime/Module.h"

#include "gtest/gtest.h"

#include <iostream>

using namespace nm;
using namespace nm::test;

/// Drawn cases of each type: products, and each further kind of model.
static constexpr int64_t kCases = 12, kFewCases = 6;

namespace {
class ModelTest : public testing::TestWithParam<ElementType> {};
} // namespace

/// Compiles `cases` to one module in `folder`.
static Result<Module> compileAndLoad(const std::vector<ModelCase> &cases,
                                     const TemporaryFolder &folder) {
  std::string source;
  for (const ModelCase &model : cases)
    source += model.function();
  std::string input = folder.write("model.mlir", source);
  std::string output = folder.path("model.so");
  char *diagnostics = nullptr;
  int failed =
      nmCompileFile(input.c_str(), "cpu", "", output.c_str(), &diagnostics);
  std::string text = diagnostics ? diagnostics : "";
  nmFree(diagnostics);
  if (failed)
    return Error{text + "\n" + source};
  return Module::load(output);
}

/// The weight as `function` takes it; none that is a constant.
static Result<std::vector<Weight>> packWeight(const ModelCase &model,
                                              const Function &function,
                                              const ModelOperands &operands) {
  if (model.isConstant)
    return std::vector<Weight>();
  Result<Weight> condensed =
      compressWeight(function.args()[1], operands.weight.tensor(), "w");
  if (!condensed)
    return condensed.error();
  return function.pack({*condensed});
}

static std::string checkModel(const ModelCase &model, const Module &module,
                              Random &random) {
  Result<Function> function = module.function(model.name());
  if (!function)
    return function.error().message;
  Result<ModelOperands> operands = ModelOperands::draw(model, random);
  if (!operands)
    return operands.error().message;
  Result<Buffer> result =
      Buffer::allocate(model.resultType(), model.sizes(model.outputLoops));
  if (!result)
    return result.error().message;
  Result<std::vector<Weight>> packed = packWeight(model, *function, *operands);
  if (!packed)
    return packed.error().message;
  std::vector<Argument> arguments = {Argument(operands->activation.tensor())};
  for (const Weight &weight : *packed)
    arguments.emplace_back(weight);
  arguments.emplace_back(operands->output.tensor());
  for (const Buffer &other : operands->others)
    arguments.push_back(Argument(other.tensor()));
  Status status = function->call(arguments, {result->tensor()});
  if (!status)
    return status.error().message;
  return compareOutputs(
      model.asMatrix(result->tensor(), model.outputLoops, model.nLoop()),
      operands->expected, operands->magnitudes,
      toleranceOf(model.resultType()));
}

/// How many products of `module` have weights that vectors expand.
static int64_t countExpanded(const Module &module) {
  int64_t count = 0;
  for (const FunctionInfo &function : module.manifest().functions)
    for (const OpInfo &op : function.ops)
      count += op.schedule.find("word_rows") != std::string::npos;
  return count;
}

/// Compiles the cases, and compares what each gives. Gives how many of their
/// products have weights that vectors expand.
static int64_t checkAll(const std::vector<ModelCase> &cases) {
  TemporaryFolder folder;
  Result<Module> module = compileAndLoad(cases, folder);
  EXPECT_TRUE(module) << module.error().message
                      << "\nNM_TEST_SEED=" << runSeed();
  if (!module)
    return 0;
  for (const ModelCase &model : cases) {
    Random random(5000000 + model.number);
    EXPECT_EQ(checkModel(model, *module, random), "")
        << model.function() << "NM_TEST_SEED=" << runSeed();
  }
  return countExpanded(*module);
}

TEST_P(ModelTest, AgreesWithFloat64) {
  std::vector<ModelCase> cases;
  for (int64_t i = 0; i < kCases; ++i) {
    Random random(4000000 + i * 10 + int64_t(GetParam()));
    cases.push_back(ModelCase::draw(i, GetParam(), random));
    cases.back().drawQuantized(random);
    cases.back().drawEpilogue(random);
  }
  checkAll(cases);
}

TEST_P(ModelTest, UnstructuredAgreesWithFloat64) {
  std::vector<ModelCase> cases;
  for (int64_t i = 0; i < kFewCases; ++i) {
    Random random(6000000 + i * 10 + int64_t(GetParam()));
    cases.push_back(ModelCase::draw(i, GetParam(), random));
    cases.back().drawKept(random);
    cases.back().drawEpilogue(random);
  }
  checkAll(cases);
}

/// Whether this processor expands weights of `type`.
static bool canExpand(ElementType type) {
  if (type == ElementType::I8 && !(__builtin_cpu_supports("avx512vbmi2") &&
                                   __builtin_cpu_supports("avx512vnni")))
    return false;
  return __builtin_cpu_supports("avx512f");
}

/// Weights that are constants, or loaded, of any number that is not zero. Of
/// six products three are expanded on the average, and of one seed in twenty
/// none: 24 are drawn.
TEST_P(ModelTest, FewRowsOfUnstructuredAgreeWithFloat64) {
  constexpr int64_t kProducts = 24;
  std::vector<ModelCase> cases;
  for (int64_t i = 0; i < kProducts; ++i) {
    Random random(8000000 + i * 10 + int64_t(GetParam()));
    ModelCase model;
    do
      model = ModelCase::draw(i, GetParam(), random);
    while (model.rows() > 16);
    int64_t all = model.k * model.n;
    model.pattern = Pattern::unstructured(
        random.oneOf({1, all, random.integer(1, all), random.integer(1, all)}));
    model.dynamic = false;
    model.isConstant = i % 3 == 0;
    model.drawEpilogue(random);
    cases.push_back(model);
  }
  int64_t expanded = checkAll(cases);
  std::cout << expanded << " products expanded" << std::endl;
  EXPECT_TRUE(expanded > 0 || !canExpand(GetParam()));
}

/// Filters have an N:M pattern along taps and channels, in both orders, or are
/// pruned anywhere.
TEST_P(ModelTest, ConvolutionAgreesWithFloat64) {
  std::vector<ModelCase> cases;
  for (int64_t i = 0; i < kFewCases; ++i) {
    Random random(7000000 + i * 10 + int64_t(GetParam()));
    ModelCase model;
    do {
      model = ModelCase::draw(i, GetParam(), random);
      model.drawImage(random, /*hasChannelsLast=*/i % 2 != 0);
    } while (model.pattern.bk > model.k);
    if (i % 3 == 0)
      model.drawKept(random);
    model.drawEpilogue(random);
    cases.push_back(model);
  }
  checkAll(cases);
}

INSTANTIATE_TEST_SUITE_P(Models, ModelTest,
                         testing::Values(ElementType::F32, ElementType::F16,
                                         ElementType::BF16, ElementType::I8),
                         [](const auto &info) {
                           return std::string(elementName(info.param));
                         });
