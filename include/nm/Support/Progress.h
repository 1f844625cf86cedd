//===- Progress.h - Telling that long work goes on --------------*- C++ -*-===//

#ifndef NM_SUPPORT_PROGRESS_H
#define NM_SUPPORT_PROGRESS_H

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace nm {

/// While it lives, shows what is being done and for how long, on a terminal
/// alone (stderr) and only once the work has taken a second.
class Progress {
public:
  explicit Progress(std::string what);
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  ~Progress();

  /// Shows `step` behind the work, as in `compiling model.mlir: the linker`.
  void setStep(std::string step);

private:
  void show();

  std::string what, step;
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::thread thread;
};

} // namespace nm

#endif // NM_SUPPORT_PROGRESS_H
