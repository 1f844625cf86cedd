//===- Deterministic.h - Whether run time may choose ------------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_DETERMINISTIC_H
#define NM_LIB_RUNTIME_DETERMINISTIC_H

namespace nm {

/// Whether nothing may be chosen by how long it takes, so that two processes
/// round alike: where nmSetDeterministic or NM_DETERMINISTIC=1 says so.
bool isDeterministic();

} // namespace nm

#endif // NM_LIB_RUNTIME_DETERMINISTIC_H
