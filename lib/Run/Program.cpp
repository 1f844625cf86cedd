//===- Program.cpp - How command-line programs end ------------------------===//

#include "Program.h"

#include <cstdio>

using namespace nm;

int Program::fail(const Error &error, int code) const {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: error: %s\n", name, error.message.c_str());
  return code;
}

int Program::failUsage(const Error &error) const {
  fail(error);
  std::fprintf(stderr, "%s --help lists the options\n", name);
  return kUsage;
}

int Program::finish(int code) const {
  bool isWritten = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!isWritten && code == kSuccess)
    return fail(Error{"cannot write to the standard output"});
  return code;
}
