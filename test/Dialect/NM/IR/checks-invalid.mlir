// RUN: nm-opt %s --split-input-file --verify-diagnostics
// RUN: not nm-opt %s --split-input-file 2>&1 | FileCheck %s

// CHECK: error: 'nm.check' op expected a text with numbers below 1 in braces, but got 1
func.func @number(%holds: i1, %n: index) {
  // expected-error @below {{expected a text with numbers below 1 in braces, but got 1}}
  nm.check %holds, "expected {1}, but got {0}" (%n)
  return
}

// -----

func.func @many(%holds: i1, %n: index) {
  // expected-error @below {{expected at most 4 values, but got 5}}
  nm.check %holds, "" (%n, %n, %n, %n, %n)
  return
}

// -----

func.func @index(%n: index) -> index {
  // expected-error @below {{expected a text with numbers below 2 in braces, but got 2}}
  %0 = nm.check_index %n in %n, "{2}"
  return %0 : index
}
