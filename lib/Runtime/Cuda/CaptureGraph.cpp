//===- CaptureGraph.cpp - Work that is queued, as a graph -----------------===//

#include "Cuda/CaptureGraph.h"

#include "Cuda/CaptureKeep.h"

using namespace nm;
using namespace nm::cuda;

Result<GraphExec> cuda::captureGraph(const ContextScope &scope, Stream stream,
                                     Flag mode,
                                     const std::function<Status()> &body) {
  Driver &driver = scope.driver();
  if (Status status =
          driver.check("cuStreamBeginCapture",
                       scope.api().cuStreamBeginCapture(stream, mode));
      !status)
    return status.error();
  Status recorded = body();
  // Ended in any case: the stream is of no use while it captures.
  Graph graph = nullptr;
  Status ended = driver.check("cuStreamEndCapture",
                              scope.api().cuStreamEndCapture(stream, &graph));
  GraphExec exec = nullptr;
  Status made = Status::success();
  if (recorded && ended)
    made =
        driver.check("cuGraphInstantiateWithFlags",
                     scope.api().cuGraphInstantiateWithFlags(&exec, graph, 0));
  if (graph)
    scope.api().cuGraphDestroy(graph);
  freeUnkept();
  for (const Status *status : {&recorded, &ended, &made})
    if (!*status)
      return status->error();
  return exec;
}
