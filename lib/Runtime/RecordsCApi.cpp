//===- RecordsCApi.cpp - How a function was compiled, from C --------------===//

#include "nm-c/Runtime.h"

#include "CApiFunction.h"
#include "CApiTensor.h"
#include "nm/Runtime/Ceilings.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/Profile.h"

#include <algorithm>
#include <cmath>

using namespace nm;

extern "C" {

NM_RUNTIME_API int64_t nmFunctionGetNumProducts(const NmFunction *function) {
  return function ? int64_t(function->info->ops.size()) : -1;
}

NM_RUNTIME_API int nmFunctionGetProduct(const NmFunction *function,
                                        int64_t index,
                                        NmProductRecord *record) {
  if (!record || index < 0 || index >= nmFunctionGetNumProducts(function))
    return 1;
  const OpInfo &op = function->info->ops[size_t(index)];
  const double unknown = std::nan("");
  record->op = op.op.c_str();
  record->pattern = op.pattern.c_str();
  record->m = op.m;
  record->n = op.n;
  record->k = op.k;
  record->dtype = op.dtype.c_str();
  record->strategy = op.strategy.c_str();
  record->schedule = op.schedule.c_str();
  record->source = op.source.c_str();
  record->fallsBack = op.fallsBack;
  record->reason = op.reason.c_str();
  record->estimate = op.estimate.value_or(unknown);
  record->denseEstimate = op.denseEstimate.value_or(unknown);
  record->multiplyFloor = op.multiplyFloor.value_or(unknown);
  record->memoryFloor = op.memoryFloor.value_or(unknown);
  record->sharedBytes = op.sharedBytes.value_or(-1);
  record->place = op.loc.c_str();
  record->remark = op.remark.c_str();
  return 0;
}

NM_RUNTIME_API int64_t nmFunctionGetNumAlternatives(const NmFunction *function,
                                                    int64_t index) {
  if (index < 0 || index >= nmFunctionGetNumProducts(function))
    return -1;
  return int64_t(function->info->ops[size_t(index)].alternatives.size());
}

NM_RUNTIME_API int nmFunctionGetAlternative(const NmFunction *function,
                                            int64_t index, int64_t way,
                                            NmAlternative *alternative) {
  if (!alternative || way < 0 ||
      way >= nmFunctionGetNumAlternatives(function, index))
    return 1;
  const AlternativeInfo &entry =
      function->info->ops[size_t(index)].alternatives[size_t(way)];
  const double unknown = std::nan("");
  *alternative = {entry.name.c_str(),
                  entry.strategy.c_str(),
                  entry.estimate.value_or(unknown),
                  entry.extra.value_or(unknown),
                  entry.isChosen,
                  entry.whyNot.c_str()};
  return 0;
}

NM_RUNTIME_API int64_t nmFunctionGetNumSteps(const NmFunction *function) {
  return function ? int64_t(function->info->steps.size()) : -1;
}

NM_RUNTIME_API int nmFunctionGetStep(const NmFunction *function, int64_t index,
                                     NmStep *step) {
  if (!step || index < 0 || index >= nmFunctionGetNumSteps(function))
    return 1;
  const StepInfo &info = function->info->steps[size_t(index)];
  step->name = info.name.c_str();
  step->kernel = info.kernel.c_str();
  step->place = info.loc.c_str();
  step->bytes = info.bytes;
  return 0;
}

NM_RUNTIME_API char *nmCallProfile(const NmCall *call, void *const *data,
                                   void *stream, int64_t runs, double *seconds,
                                   double *floors) {
  if (char *message = refuseNull({{"a call", call},
                                  {"addresses", data},
                                  {"a place for the times", seconds}}))
    return message;
  // The arguments have their values once the caller's stream is done.
  if (!call->device.isCpu())
    if (Status status = synchronizeStream(call->device, stream); !status)
      return copyMessage(status.error());
  Result<std::vector<double>> times =
      profileSteps(call->device, int64_t(call->info->steps.size()), runs,
                   [&] { return call->call.run(data); });
  if (!times)
    return copyMessage(times.error());
  std::copy(times->begin(), times->end(), seconds);
  if (!floors)
    return nullptr;
  Result<double> bandwidth = memoryCeiling(call->device);
  if (!bandwidth)
    return copyMessage(bandwidth.error());
  std::vector<double> least = stepFloors(*call->info, *bandwidth);
  std::copy(least.begin(), least.end(), floors);
  return nullptr;
}
}
