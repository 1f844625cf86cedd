//===- CudnnAttention.cpp - Attention as a graph of cuDNN -----------------===//

#include "Cuda/Cudnn.h"

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

void nm::cuda::buildAttention(CudnnGraph &graph, const Attention &attention) {
  AttentionBuilder(graph, attention).build();
}

std::vector<int64_t> nm::cuda::getAttentionIds(const Attention &attention) {
  std::vector<int64_t> ids = {kQ, kK, kV, kO, kScale};
  if (attention.isCausal)
    ids.push_back(kLowest);
  return ids;
}
