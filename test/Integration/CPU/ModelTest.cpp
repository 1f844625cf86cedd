//===- ModelTest.cpp - linalg to a shared object to a result --------------===//
//
// Drawn contractions go the whole way that a user's do: compiled by
// libnm_compiler, loaded and called by libnm_runtime, with weights given dense.
//
//===----------------------------------------------------------------------===//

#include "CompareOutputs.h"
#include "ModelCase.h"

#include "../../Unit/TemporaryFolder.h"

#include "nm-c/Compiler.h"
#include "nm/Runtime/Module.h"
#include "nm/Support/Prune.h"
#include "nm/Support/ReferenceSpMM.h"

#include "gtest/gtest.h"

using namespace nm;
using namespace nm::test;

static constexpr int64_t kCases = 12;

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

static std::string checkModel(const ModelCase &model, const Module &module,
                              Random &random) {
  Result<Function> function = module.function(model.name());
  if (!function)
    return function.error().message;
  const TensorType &weightType = function->args()[1];
  Result<Buffer> a =
      drawTensor(model.type, model.sizes(model.activationLoops), random);
  Result<Buffer> w = drawTensor(model.type, weightType.shape, random);
  Result<Buffer> c =
      drawTensor(model.outputType, model.sizes(model.outputLoops), random);
  Result<Buffer> result =
      Buffer::allocate(model.outputType, model.sizes(model.outputLoops));
  if (!a || !w || !c || !result)
    return "no memory";

  bool kFirst = model.weightDim == 0;
  DenseView dense{w->tensor().data, model.type,           model.k,
                  model.n,          kFirst ? model.n : 1, kFirst ? 1 : model.k};
  prune(dense, model.pattern, w->tensor().data);
  Result<Weight> condensed = compressWeight(weightType, w->tensor(), "w");
  if (!condensed)
    return condensed.error().message;
  Result<std::vector<Weight>> packed = function->pack({*condensed});
  if (!packed)
    return packed.error().message;

  std::vector<double> expected =
      model.asMatrix(c->tensor(), model.outputLoops, model.nLoop());
  std::vector<double> activations =
      model.asMatrix(a->tensor(), model.activationLoops, model.kLoop());
  referenceDense(ActivationView::rowMajor(activations.data(), ElementType::F64,
                                          model.rows(), model.k),
                 dense, expected.data());
  Status status = function->call(
      {Argument(a->tensor()), Argument((*packed)[0]), Argument(c->tensor())},
      {result->tensor()});
  if (!status)
    return status.error().message;
  return compareOutputs(
      model.asMatrix(result->tensor(), model.outputLoops, model.nLoop()),
      expected, model.outputType);
}

TEST_P(ModelTest, AgreesWithFloat64) {
  std::vector<ModelCase> cases;
  for (int64_t i = 0; i < kCases; ++i) {
    Random random(4000000 + i * 10 + int64_t(GetParam()));
    cases.push_back(ModelCase::draw(i, GetParam(), random));
  }
  TemporaryFolder folder;
  Result<Module> module = compileAndLoad(cases, folder);
  ASSERT_TRUE(module) << module.error().message
                      << "\nNM_TEST_SEED=" << runSeed();
  for (const ModelCase &model : cases) {
    Random random(5000000 + model.number);
    EXPECT_EQ(checkModel(model, *module, random), "")
        << model.function() << "NM_TEST_SEED=" << runSeed();
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ModelTest,
                         testing::Values(ElementType::F32, ElementType::F16,
                                         ElementType::BF16, ElementType::I8),
                         [](const auto &info) {
                           return std::string(elementName(info.param));
                         });
