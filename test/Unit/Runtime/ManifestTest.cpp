//===- ManifestTest.cpp - What a compiled module says of itself -----------===//

#include "nm/Runtime/Manifest.h"

#include <gtest/gtest.h>

using namespace nm;

static constexpr const char *kGood = R"({
  "version": 2, "target": "cpu", "functions": [ {
    "name": "ffn", "symbol": "_mlir_ciface_ffn",
    "args": [ {"dtype": "f32", "shape": [-1, 64]},
              {"dtype": "f32", "shape": [64, 256],
               "encoding": "2:4, block = 1x32, dim = 0"},
              {"dtype": "f32", "shape": [-1, 256], "encoding": null} ],
    "results": [ {"dtype": "f32", "shape": [-1, 256],
                  "dims": [ {"arg": 0, "dim": 0}, 256 ]} ],
    "equal_dims": [ [ {"arg": 0, "dim": 0}, {"arg": 2, "dim": 0} ] ],
    "pack": { "symbol": "_mlir_ciface_ffn.pack", "weights": [
      {"arg": 1, "values": {"dtype": "f32", "shape": [4, 32, 64]},
                 "indices": {"dtype": "i8", "shape": [4, 32, 16]}} ] },
    "reference": { "symbol": "_mlir_ciface_ffn.reference",
      "args": [ {"dtype": "f64", "shape": [-1, 64]},
                {"dtype": "f64", "shape": [64, 256]},
                {"dtype": "f64", "shape": [-1, 256]} ],
      "results": [ {"dtype": "f64", "shape": [-1, 256],
                    "dims": [ {"arg": 0, "dim": 0}, 256 ]} ] },
    "ops": [ {"strategy": "vector", "loc": "a.mlir:1:2", "remark": "r",
      "schedule": "#nm.vector", "falls_back": true, "estimate_us": 1.5,
      "op": "nm.spmm", "m": -1, "n": 256, "k": 64, "shared_bytes": 7} ],
    "flops_per_row": 16384 } ] })";

/// kGood with the first `from` replaced by `to`.
static std::string changed(const std::string &from, const std::string &to) {
  std::string text = kGood;
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

static std::string parseError(const std::string &text) {
  Result<Manifest> manifest = Manifest::parse(text);
  return manifest ? "" : manifest.error().message;
}

TEST(Manifest, ReadsSeveralFormsOfAWeight) {
  const std::string weight =
      R"({"arg": 1, "values": {"dtype": "f32", "shape": [4, 32, 64]},
                 "indices": {"dtype": "i8", "shape": [4, 32, 16]}})";
  Result<Manifest> manifest =
      Manifest::parse(changed(weight, weight + ", " + weight));
  ASSERT_TRUE(manifest) << manifest.error().message;
  ASSERT_EQ(manifest->functions[0].pack->weights.size(), 2u);
  EXPECT_EQ(manifest->functions[0].pack->weights[1].arg, 1);
}

TEST(Manifest, ReadsListsOfRows) {
  Result<Manifest> without = Manifest::parse(kGood);
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_FALSE(without->functions[0].pack->weights[0].lists);
  const std::string indices = R"({"dtype": "i8", "shape": [4, 32, 16]})";
  Result<Manifest> manifest =
      Manifest::parse(changed(indices, indices + ", \"lists\": " + indices));
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->functions[0].pack->weights[0].lists->shape,
            (std::vector<int64_t>{4, 32, 16}));
  EXPECT_NE(parseError(changed(indices, indices + ", \"lists\": {}")), "");
  // A module that an older release of the compiler made is read as it is.
  EXPECT_EQ(parseError(changed("\"version\": 2", "\"version\": 1")), "");
}

TEST(Manifest, ReadsModulesForCuda) {
  std::string text = changed("\"cpu\"", R"("cuda", "chips": ["sm_90a"])");
  const std::string a = "\"shape\": [-1, 64]";
  text.replace(text.find(a), a.size(), a + ", \"alignment\": 16");
  Result<Manifest> manifest = Manifest::parse(text);
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->target, "cuda");
  EXPECT_EQ(manifest->chips, std::vector<std::string>{"sm_90a"});
  EXPECT_EQ(manifest->functions[0].args[0].alignment, 16);
  EXPECT_EQ(manifest->functions[0].args[1].alignment, 0);
  for (const char *bad : {"0", "-4", "12", "512", "\"16\""})
    EXPECT_NE(parseError(changed("\"dtype\": \"f32\"",
                                 std::string("\"dtype\": \"f32\", "
                                             "\"alignment\": ") +
                                     bad))
                  .find("functions.0.args.0.alignment: expected"),
              std::string::npos)
        << bad;
}

TEST(Manifest, ReadsEverything) {
  Result<Manifest> manifest = Manifest::parse(kGood);
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->target, "cpu");
  ASSERT_EQ(manifest->functions.size(), 1u);
  const FunctionInfo &ffn = manifest->functions[0];
  EXPECT_EQ(ffn.name, "ffn");
  ASSERT_EQ(ffn.args.size(), 3u);
  EXPECT_EQ(ffn.args[0].str(), "tensor<?x64xf32>");
  EXPECT_EQ(ffn.args[1].str(),
            "tensor<64x256xf32, #nm.encoding<2:4, block = 1x32>>");
  EXPECT_FALSE(ffn.args[2].encoding);
  ASSERT_EQ(ffn.resultDims[0].size(), 2u);
  EXPECT_EQ(ffn.resultDims[0][0].from->arg, 0);
  EXPECT_EQ(ffn.resultDims[0][1].size, 256);
  ASSERT_TRUE(ffn.pack);
  EXPECT_EQ(ffn.pack->weights[0].values.shape,
            (std::vector<int64_t>{4, 32, 64}));
  ASSERT_TRUE(ffn.reference);
  EXPECT_EQ(ffn.reference->args[1].element, ElementType::F64);
  EXPECT_EQ(ffn.equalDims[0][1].arg, 2);
  EXPECT_EQ(ffn.ops[0].strategy, "vector");
  EXPECT_EQ(ffn.ops[0].schedule, "#nm.vector");
  EXPECT_TRUE(ffn.ops[0].fallsBack);
  EXPECT_EQ(ffn.ops[0].op, "nm.spmm");
  EXPECT_EQ(ffn.ops[0].m, kDynamicSize);
  EXPECT_EQ(ffn.ops[0].n, 256);
  EXPECT_EQ(ffn.ops[0].estimate, 1.5);
  EXPECT_FALSE(ffn.ops[0].denseEstimate);
  EXPECT_EQ(ffn.ops[0].sharedBytes, 7);
  EXPECT_NE(parseError(changed("1.5", "\"fast\"")).find("ops.0.estimate_us"),
            std::string::npos);
  EXPECT_EQ(ffn.flopsPerRow, 16384);
}

TEST(Manifest, ReadsVariants) {
  auto withVariants = [](const std::string &chip) {
    return changed("\"name\": \"ffn\"",
                   "\"variants\": [ {\"chips\": [\"sm_80\"], \"symbol\": "
                   "\"ffn.sm_80\"}, {\"chips\": [\"sm_90a\", \"" +
                       chip + "\"], \"symbol\": \"ffn\"} ], \"name\": \"ffn\"");
  };
  Result<Manifest> manifest = Manifest::parse(withVariants("sm_90a+ptx"));
  ASSERT_TRUE(manifest) << manifest.error().message;
  const std::vector<VariantInfo> &variants = manifest->functions[0].variants;
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[0].symbol, "ffn.sm_80");
  EXPECT_FALSE(variants[0].pack);
  EXPECT_EQ(variants[1].chips,
            (std::vector<std::string>{"sm_90a", "sm_90a+ptx"}));
  for (const char *bad : {"gfx90", "sm_90+cubin", ""})
    EXPECT_NE(parseError(withVariants(bad))
                  .find("functions.0.variants.1.chips.1: expected a chip, as "
                        "sm_90a or sm_80+ptx"),
              std::string::npos)
        << bad << parseError(withVariants(bad));
}

TEST(Manifest, NamesTheEntryThatIsWrong) {
  struct Case {
    const char *from, *to, *message;
  } cases[] = {
      {"\"version\": 2", "\"version\": 4",
       "version: expected version 1 to 3, but got version 4"},
      {"\"version\": 2", "\"version\": \"1\"", "version: expected an integer"},
      {"\"version\": 2,", "", "version: expected this entry"},
      {"\"name\": \"ffn\"", "\"name\": 3",
       "functions.0.name: expected a string"},
      {"\"f32\"", "\"f33\"",
       "functions.0.args.0.dtype: expected an element type, but got 'f33'"},
      {"[-1, 64]", "[-2, 64]", "functions.0.args.0.shape.0: expected a size"},
      {"[-1, 64]", "64", "functions.0.args.0.shape: expected a list"},
      {"[64, 256]", "[-1, 256]", "expected an encoded argument to have two"},
      {"2:4, block", "5:4, block", "functions.0.args.1.encoding: "},
      {"dim = 0\"", "dim = 2\"", "expected dim = 0 or dim = 1"},
      {"\"dims\": [ {\"arg\": 0, \"dim\": 0}, 256 ]", "\"dims\": [ 256 ]",
       "functions.0.results.0.dims: expected 2 sizes"},
      {"\"dims\": [ {\"arg\": 0, \"dim\": 0}, 256 ]", "\"dims\": null",
       "expected 'dims' for a result with a dynamic size"},
      {"\"dims\": [ {\"arg\": 0", "\"dims\": [ {\"arg\": 7",
       "functions.0.results.0.dims.0: expected an argument below 3"},
      {"{\"arg\": 2, \"dim\": 0}", "{\"arg\": 2, \"dim\": 2}",
       "functions.0.equal_dims.0.1: expected a dimension below 2"},
      {"{\"arg\": 1, \"values\"", "{\"arg\": 0, \"values\"",
       "functions.0.pack.weights.0.arg: expected an encoded argument"},
      {"[4, 32, 64]", "[4, -1, 64]", "expected a static shape"},
      {"{\"dtype\": \"f64\", \"shape\": [64, 256]},", "",
       "functions.0.reference: expected as many arguments"},
      {"\"flops_per_row\": 16384", "\"flops_per_row\": \"x\"",
       "functions.0.flops_per_row: expected a number"},
  };
  for (const Case &c : cases)
    EXPECT_NE(parseError(changed(c.from, c.to)).find(c.message),
              std::string::npos)
        << parseError(changed(c.from, c.to)) << "\nhas no: " << c.message;
}

TEST(Manifest, RefusesEveryTruncation) {
  std::string text = kGood;
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_NE(parseError(text.substr(0, size)), "") << size;
  EXPECT_NE(parseError("[]"), "");
  EXPECT_NE(parseError("null"), "");
}

TEST(Manifest, Encodings) {
  Result<Encoding> encoding = Encoding::parse("8:32, block = 1x32, dim = 1");
  ASSERT_TRUE(encoding) << encoding.error().message;
  EXPECT_EQ(encoding->dim, 1);
  EXPECT_EQ(encoding->pattern, (Pattern{8, 32, 1, 32}));
  EXPECT_EQ(encoding->str(), "8:32, block = 1x32, dim = 1");
  ASSERT_TRUE(Encoding::parse("2:4"));
  ASSERT_TRUE(Encoding::parse("2:4, dim = 1"));
  for (const char *bad : {"", "2", "2:4, dim", "2:4, dim = x", "dim = 1"})
    EXPECT_FALSE(Encoding::parse(bad)) << bad;
}

TEST(Manifest, TakesAnyDepth) {
  constexpr size_t kDepth = 1000000;
  std::string open(kDepth, '['), close(kDepth, ']');
  for (const std::string &text :
       {open, open + close,
        "{\"version\": 2, \"functions\": " + open + close + "}"})
    EXPECT_FALSE(Manifest::parse(text));
}
