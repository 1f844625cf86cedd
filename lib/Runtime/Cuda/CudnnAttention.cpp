//===- CudnnAttention.cpp - Attention as a graph of cuDNN -----------------===//

#include "Cuda/Cudnn.h"
#include "nm/Runtime/Export.h"

#include <cstring>
#include <limits>

using namespace nm;
using namespace nm::cudnn;
using namespace nm::cuda;

/// The tensors and numbers of the graph.
enum Id : int64_t { kQ = 1, kK, kV, kO, kScale, kLowest };

static CudnnShape shapeOf(const Attention::Strides &strides, int64_t batches,
                          int64_t heads, int64_t rows, int64_t columns) {
  return {{batches, heads, rows, columns},
          {strides.batch, strides.head, strides.row, 1}};
}

namespace {
/// Builds the graph, from the scores to the output. It is the one that cuDNN
/// knows as attention and makes one kernel of (cuDNN's frontend,
/// node/scaled_dot_product_flash_attention.h).
class AttentionBuilder {
public:
  using Descriptor = CudnnGraph::Descriptor;

  AttentionBuilder(CudnnGraph &graph, const Attention &attention)
      : graph(graph), attention(attention),
        type(attention.type == ElementType::BF16 ? kBFloat16 : kHalf),
        heads(attention.heads * attention.groups),
        scores(CudnnShape::getContiguous(
            {attention.batches, heads, attention.rows, attention.keys})),
        ofRows(CudnnShape::getContiguous(
            {attention.batches, heads, attention.rows, 1})) {}

  void build();

private:
  Descriptor addScores(int element = kFloat) {
    return graph.addVirtual(scores, element);
  }
  Descriptor multiplyKeys();
  Descriptor hideLaterKeys(Descriptor from);
  Descriptor normalize(Descriptor from);

  CudnnGraph &graph;
  const Attention &attention;
  int type;
  int64_t heads;
  CudnnShape scores, ofRows;
};
} // namespace

AttentionBuilder::Descriptor AttentionBuilder::multiplyKeys() {
  Descriptor q =
      graph.addTensor(shapeOf(attention.ofQ, attention.batches, heads,
                              attention.rows, attention.depth),
                      type, kQ);
  const Attention::Strides &strides = attention.ofK;
  CudnnShape transposed{
      {attention.batches, attention.heads, attention.depth, attention.keys},
      {strides.batch, strides.head, 1, strides.row}};
  Descriptor k = graph.addTensor(transposed, type, kK);
  Descriptor products = addScores(), scaled = addScores();
  graph.multiply(q, k, products);
  graph.apply(kMul, products, graph.addNumber(kScale), scaled);
  return scaled;
}

AttentionBuilder::Descriptor AttentionBuilder::hideLaterKeys(Descriptor from) {
  Descriptor row = addScores(kInt32), column = addScores(kInt32),
             isSeen = addScores(kBoolean), masked = addScores();
  graph.generateIndex(from, /*axis=*/2, row);
  graph.generateIndex(from, /*axis=*/3, column);
  graph.apply(kGreaterOrEqual, row, column, isSeen, nullptr, kBoolean);
  graph.apply(kSelect, from, graph.addNumber(kLowest), masked, isSeen);
  return masked;
}

AttentionBuilder::Descriptor AttentionBuilder::normalize(Descriptor from) {
  Descriptor most = graph.addVirtual(ofRows, kFloat),
             total = graph.addVirtual(ofRows, kFloat),
             logarithm = graph.addVirtual(ofRows, kFloat),
             stats = graph.addVirtual(ofRows, kFloat), less = addScores(),
             powers = addScores(), weights = addScores(type);
  graph.reduce(kReduceMax, from, most);
  graph.apply(kSub, from, most, less);
  graph.apply(kExp, less, nullptr, powers);
  graph.reduce(kReduceAdd, powers, total);
  // What training keeps. Nothing reads it here, but the pattern has it.
  graph.apply(kLog, total, nullptr, logarithm);
  graph.apply(kAdd, most, logarithm, stats);
  graph.apply(kDiv, powers, total, weights);
  return weights;
}

void AttentionBuilder::build() {
  Descriptor seen = multiplyKeys();
  if (attention.isCausal)
    seen = hideLaterKeys(seen);
  Descriptor weights = normalize(seen);
  Descriptor v =
      graph.addTensor(shapeOf(attention.ofV, attention.batches, attention.heads,
                              attention.keys, attention.width),
                      type, kV);
  Descriptor o =
      graph.addTensor(shapeOf(attention.ofO, attention.batches, heads,
                              attention.rows, attention.width),
                      type, kO);
  graph.multiply(weights, v, o);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Whether 16 bytes can be accessed at once everywhere, which plans take for
/// granted.
static bool isAligned(const Attention &attention) {
  constexpr int64_t kElements = 8;
  for (const void *pointer : {attention.q, attention.k, attention.v,
                              static_cast<const void *>(attention.o)})
    if (reinterpret_cast<uintptr_t>(pointer) % 16 != 0)
      return false;
  for (const Attention::Strides &strides :
       {attention.ofQ, attention.ofK, attention.ofV, attention.ofO})
    if (strides.row % kElements || strides.head % kElements ||
        strides.batch % kElements)
      return false;
  return attention.depth % kElements == 0 && attention.width % kElements == 0;
}

/// What cuDNN has no attention of, whatever its version.
static std::string whyNotTaken(const Attention &attention) {
  if (attention.type != ElementType::F16 && attention.type != ElementType::BF16)
    return "expected f16 or bf16 for attention by cuDNN";
  if (!isAligned(attention))
    return "expected rows at multiples of 16 bytes for attention by cuDNN";
  for (int64_t size : {attention.batches, attention.heads * attention.groups,
                       attention.rows, attention.keys})
    if (size > std::numeric_limits<int32_t>::max())
      return "expected sizes of at most 2147483647 for cuDNN";
  return "";
}

/// What a score that is not seen becomes, as cuDNN's frontend has it.
static float getLowest(size_t version) {
  constexpr size_t kTakesInfinity = 91000;
  return version < kTakesInfinity ? std::numeric_limits<float>::lowest()
                                  : -std::numeric_limits<float>::infinity();
}

static std::vector<int64_t> keyOf(const Attention &attention) {
  std::vector<int64_t> key = {
      attention.batches, attention.heads,         attention.groups,
      attention.rows,    attention.keys,          attention.depth,
      attention.width,   int64_t(attention.type), int64_t(attention.isCausal)};
  for (const Attention::Strides &strides :
       {attention.ofQ, attention.ofK, attention.ofV, attention.ofO})
    key.insert(key.end(), {strides.batch, strides.head, strides.row});
  return key;
}

Result<std::string> Cudnn::attend(const ContextScope &scope,
                                  const Attention &attention) const {
  if (attention.batches == 0 || attention.heads == 0 || attention.rows == 0)
    return std::string();
  if (attention.keys == 0)
    return std::string("expected keys for attention by cuDNN, but got none");
  if (std::string reason = whyNotTaken(attention); !reason.empty())
    return reason;
  float scale = attention.scale, lowest = getLowest(functions.getVersion());
  CudnnCall call{
      "attention",
      keyOf(attention),
      [&](CudnnGraph &graph) { AttentionBuilder(graph, attention).build(); },
      /*notes=*/0,
      {kQ, kK, kV, kO, kScale},
      {const_cast<void *>(attention.q), const_cast<void *>(attention.k),
       const_cast<void *>(attention.v), attention.o, &scale}};
  if (attention.isCausal) {
    call.ids.push_back(kLowest);
    call.pointers.push_back(&lowest);
  }
  return queue(scope, call);
}

//===----------------------------------------------------------------------===//
// What compiled code calls
//===----------------------------------------------------------------------===//

/// Whether heads of queries that share keys are neighbours of one another as
/// all heads of queries are.
static bool areGroupsNeighbours(int64_t heads, int64_t groups, int64_t head,
                                int64_t group) {
  return heads <= 1 || groups <= 1 || head == group * groups;
}

extern "C" {

/// O = softmax(scale * Q * K^T) * V. Strides, in elements, are along batches,
/// heads of keys, heads of queries that share keys, and rows; those of K and V
/// along batches, heads and keys. `scale` has the bits of an f32. Returns 0
/// where the library refuses and O is as it was.
NM_RUNTIME_API int64_t nmCudnnTryAttention(
    int64_t batches, int64_t heads, int64_t groups, int64_t rows, int64_t keys,
    int64_t depth, int64_t width, const void *q, const void *k, const void *v,
    void *o, int64_t type, int64_t batchOfQ, int64_t headOfQ, int64_t groupOfQ,
    int64_t rowOfQ, int64_t batchOfK, int64_t headOfK, int64_t rowOfK,
    int64_t batchOfV, int64_t headOfV, int64_t rowOfV, int64_t batchOfO,
    int64_t headOfO, int64_t groupOfO, int64_t rowOfO, int64_t scale,
    int64_t isCausal) {
  if (!areGroupsNeighbours(heads, groups, headOfQ, groupOfQ) ||
      !areGroupsNeighbours(heads, groups, headOfO, groupOfO))
    return 0;
  auto bits = static_cast<uint32_t>(scale);
  Attention attention{batches, heads,
                      groups,  rows,
                      keys,    depth,
                      width,   q,
                      k,       v,
                      o,       static_cast<ElementType>(type),
                      0,       isCausal != 0,
                      {},      {},
                      {},      {}};
  std::memcpy(&attention.scale, &bits, sizeof bits);
  attention.ofQ = {batchOfQ, groups > 1 ? groupOfQ : headOfQ, rowOfQ};
  attention.ofK = {batchOfK, headOfK, rowOfK};
  attention.ofV = {batchOfV, headOfV, rowOfV};
  attention.ofO = {batchOfO, groups > 1 ? groupOfO : headOfO, rowOfO};
  return queueOrRecord([&](const Cudnn &cudnn, const ContextScope &scope) {
    return cudnn.attend(scope, attention);
  });
}
}
