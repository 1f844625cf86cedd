//===- Terminal.h - What a terminal has room for ----------------*- C++ -*-===//

#ifndef NM_SUPPORT_TERMINAL_H
#define NM_SUPPORT_TERMINAL_H

#include <sys/ioctl.h>
#include <unistd.h>

namespace nm {

/// The columns of the terminal that `fd` is; 0 where it is none, or does not
/// say.
inline int terminalColumns(int fd) {
  winsize size = {};
  bool isKnown = isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0;
  return isKnown ? size.ws_col : 0;
}

} // namespace nm

#endif // NM_SUPPORT_TERMINAL_H
