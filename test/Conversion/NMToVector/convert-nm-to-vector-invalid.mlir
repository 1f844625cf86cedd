// RUN: not nm-opt %s --convert-nm-to-vector=vector-bits=96 2>&1 | FileCheck %s

// CHECK: expected vector-bits to be 128, 256 or 512, but got 96
module {}
