// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a | FileCheck %s
// RUN: nm-opt %s --nm-attach-chip --nm-attach-chip=chip= | FileCheck %s --check-prefix=GONE
// RUN: not nm-opt %s --nm-attach-chip=chip=sm_12 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not nm-opt %s --nm-select-gpu-schedule 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not nm-opt %s --convert-kernels-to-sim 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: module attributes {nm.chip = #nm.chip<"sm_90a">}
// GONE-NOT: nm.chip
// UNKNOWN: error: expected a chip of sm_80, {{.*}}, but got 'sm_12'
// NONE: error: expected a module with a chip, as nm-attach-chip sets it: nm.chip = #nm.chip<"sm_90a">
func.func private @f()
