//===- Export.h - What libnm_runtime exports --------------------*- C++ -*-===//

#ifndef NM_RUNTIME_EXPORT_H
#define NM_RUNTIME_EXPORT_H

/// libnm_runtime is built with hidden symbols; this marks the ones it exports.
#define NM_RUNTIME_API __attribute__((visibility("default")))

#endif // NM_RUNTIME_EXPORT_H
