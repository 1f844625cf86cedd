//===- FakeGraphs.cpp - Graphs of the driver for tests --------------------===//

#include "FakeDevice.h"

#include <algorithm>
#include <cstring>

using namespace fake;

extern "C" {
EXPORT int cuStreamBeginCapture_v2(void *stream, int) {
  ENTER("cuStreamBeginCapture");
  std::lock_guard<std::mutex> lock(state().mutex);
  static uint64_t captures = 0;
  state().capturing[stream] = std::make_unique<Graph>();
  state().capturing[stream]->number = ++captures;
  return 0;
}
EXPORT int cuStreamIsCapturing(void *stream, int *status) {
  ENTER("cuStreamIsCapturing");
  std::lock_guard<std::mutex> lock(state().mutex);
  *status = int(state().capturing.count(stream));
  return 0;
}
EXPORT int cuStreamGetCaptureInfo_v2(void *stream, int *status,
                                     uint64_t *number, void **graph,
                                     const void **dependencies,
                                     size_t *numDependencies) {
  ENTER("cuStreamGetCaptureInfo");
  std::lock_guard<std::mutex> lock(state().mutex);
  auto capturing = state().capturing.find(stream);
  *status = int(capturing != state().capturing.end());
  *graph = *status ? capturing->second.get() : nullptr;
  *number = *status ? capturing->second->number : 0;
  if (!dependencies || !*status)
    return 0;
  // One node is behind the other.
  static thread_local void *last = nullptr;
  auto &nodes = capturing->second->nodes;
  last = nodes.empty() ? nullptr : nodes.back().get();
  *dependencies = &last;
  *numDependencies = nodes.empty() ? 0 : 1;
  return 0;
}
EXPORT int cuStreamUpdateCaptureDependencies(void *stream, void **dependencies,
                                             size_t count, unsigned flags) {
  ENTER("cuStreamUpdateCaptureDependencies");
  std::lock_guard<std::mutex> lock(state().mutex);
  auto &nodes = state().capturing[stream]->nodes;
  constexpr unsigned kSet = 1;
  return count == 1 && flags == kSet && dependencies[0] == nodes.back().get()
             ? 0
             : 1;
}
static int listNodes(const Graph &graph, void **nodes, size_t *count,
                     size_t most) {
  size_t found = std::min(graph.nodes.size(), most);
  for (size_t i = 0; i < std::min(found, *count); ++i)
    nodes[i] = graph.nodes[i].get();
  *count = found;
  return 0;
}
EXPORT int cuGraphGetNodes(void *graph, void **nodes, size_t *count) {
  ENTER("cuGraphGetNodes");
  const auto &own = *static_cast<Graph *>(graph);
  return listNodes(own, nodes, count, own.nodes.size());
}
EXPORT int cuGraphGetRootNodes(void *graph, void **nodes, size_t *count) {
  ENTER("cuGraphGetRootNodes");
  return listNodes(*static_cast<Graph *>(graph), nodes, count, 1);
}
EXPORT int cuGraphNodeGetType(void *node, int *type) {
  ENTER("cuGraphNodeGetType");
  *type = static_cast<Node *>(node)->type;
  return 0;
}
static int getParams(void *node, void *params) {
  const std::vector<uint64_t> &known = static_cast<Node *>(node)->params;
  std::memcpy(params, known.data(), known.size() * sizeof known[0]);
  return 0;
}
EXPORT int cuGraphMemsetNodeGetParams(void *node, void *params) {
  ENTER("cuGraphMemsetNodeGetParams");
  return getParams(node, params);
}
EXPORT int cuGraphKernelNodeGetParams_v2(void *node, void *params) {
  ENTER("cuGraphKernelNodeGetParams");
  return getParams(node, params);
}
/// The kernel runs with no parameters until it gets the attributes, and with
/// them those, of another node.
EXPORT int cuGraphAddKernelNode_v2(void **node, void *graph,
                                   void *const *dependencies, size_t count,
                                   const void *params) {
  ENTER("cuGraphAddKernelNode");
  std::lock_guard<std::mutex> lock(state().mutex);
  auto &nodes = static_cast<Graph *>(graph)->nodes;
  if (count != 1 || dependencies[0] != nodes.back().get())
    return 1;
  auto *words = static_cast<const uint64_t *>(params);
  nodes.push_back(
      std::make_shared<Node>(Node{0, nullptr, {words[0], words[1]}}));
  *node = nodes.back().get();
  return 0;
}
EXPORT int cuGraphKernelNodeCopyAttributes(void *to, void *from) {
  ENTER("cuGraphKernelNodeCopyAttributes");
  auto *node = static_cast<Node *>(to), *known = static_cast<Node *>(from);
  if (node->params != known->params)
    return 1;
  node->run = known->run;
  return 0;
}
EXPORT int cuUserObjectCreate(void **object, void *data,
                              void (*destroy)(void *), unsigned, unsigned) {
  ENTER("cuUserObjectCreate");
  *object = new std::shared_ptr<void>(data, destroy);
  return 0;
}
EXPORT int cuGraphRetainUserObject(void *graph, void *object, unsigned,
                                   unsigned) {
  ENTER("cuGraphRetainUserObject");
  std::unique_ptr<std::shared_ptr<void>> own(
      static_cast<std::shared_ptr<void> *>(object));
  static_cast<Graph *>(graph)->kept.push_back(*own);
  return 0;
}
EXPORT int cuStreamEndCapture(void *stream, void **graph) {
  ENTER("cuStreamEndCapture");
  std::lock_guard<std::mutex> lock(state().mutex);
  *graph = state().capturing[stream].release();
  state().capturing.erase(stream);
  ++state().live;
  return 0;
}
#ifndef FAKE_NO_GRAPHS
EXPORT int cuGraphInstantiateWithFlags(void **exec, void *graph,
                                       unsigned long long) {
  ENTER("cuGraphInstantiateWithFlags");
  *exec = new Graph(*static_cast<Graph *>(graph));
  count(1);
  return 0;
}
#endif
EXPORT int cuGraphLaunch(void *exec, void *) {
  ENTER("cuGraphLaunch");
  for (const auto &node : static_cast<Graph *>(exec)->nodes)
    if (int code = node->run())
      return code;
  return 0;
}
EXPORT int cuGraphExecDestroy(void *exec) {
  ENTER("cuGraphExecDestroy");
  delete static_cast<Graph *>(exec);
  count(-1);
  return 0;
}
EXPORT int cuGraphDestroy(void *graph) {
  ENTER("cuGraphDestroy");
  delete static_cast<Graph *>(graph);
  count(-1);
  return 0;
}
}
