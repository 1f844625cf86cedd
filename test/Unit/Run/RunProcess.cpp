//===- RunProcess.cpp - Running nm-run as its users do --------------------===//

#include "RunProcess.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

Finished runProcess(const std::vector<std::string> &args) {
  std::vector<char *> argv;
  argv.push_back(const_cast<char *>(NM_RUN));
  for (const std::string &arg : args)
    argv.push_back(const_cast<char *>(arg.c_str()));
  argv.push_back(nullptr);
  Finished finished;
  int ends[2];
  if (pipe(ends) != 0)
    return finished;
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    execv(NM_RUN, argv.data());
    _exit(127);
  }
  close(ends[1]);
  char chunk[4096];
  while (ssize_t count = read(ends[0], chunk, sizeof chunk)) {
    if (count < 0)
      break;
    finished.text.append(chunk, count);
  }
  close(ends[0]);
  int status = 0;
  rusage usage;
  if (wait4(child, &status, 0, &usage) == child && WIFEXITED(status))
    finished.code = WEXITSTATUS(status);
  finished.peakBytes = usage.ru_maxrss * 1024;
  return finished;
}
