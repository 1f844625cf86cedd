// RUN: nm-opt %s --nm-detect-weights=min-sparsity=1 --verify-diagnostics
// RUN: not nm-opt %s --nm-detect-weights=min-sparsity=1 2>/dev/null

// expected-error @+1 {{expected min-sparsity to be at least 0 and below 1, but got 1.000000e+00}}
module {}
