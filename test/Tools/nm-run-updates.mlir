// Files of results, and of what a function updates behind them. What an op that is no
// product becomes on a CPU is said, too, and how many bytes its temporaries take.

// RUN: nm-compile %s -o %t.so 2>&1 | FileCheck %s --check-prefix=SAID
// SAID: nm-run-updates.mlir:{{[0-9]+}}:{{[0-9]+}}: remark: linalg.{{.*}} is loops {{that threads share, in tasks of|of one thread}}
// RUN: nm-run %t.so --random --output=%t.y.npy --output=%t.cache.npy
// RUN: %python -c "import struct; y, c = (struct.unpack('<64f', open('%t.' + n + '.npy', 'rb').read()[-256:]) for n in ('y', 'cache')); assert any(c) and all(a == 2 * b for a, b in zip(y, c))"
// RUN: nm-run %t.so --random --output=%t.y.npy
// RUN: not nm-run %t.so --random --output=a.npy --output=b.npy --output=c.npy 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: @step has 1 result and updates 1 argument, but got 3 --output
// RUN: nm-run %t.so --list | FileCheck %s --check-prefix=LIST
// LIST: @step(tensor<64xf32>, memref<64xf32>) -> (tensor<64xf32>)

func.func @step(%x: tensor<64xf32>, %cache: memref<64xf32>) -> tensor<64xf32> {
  %old = bufferization.to_tensor %cache restrict writable : memref<64xf32> to tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %new = linalg.add ins(%x, %old : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  bufferization.materialize_in_destination %new in restrict writable %cache
    : (tensor<64xf32>, memref<64xf32>) -> ()
  %f = tensor.empty() : tensor<64xf32>
  %y = linalg.add ins(%new, %new : tensor<64xf32>, tensor<64xf32>) outs(%f : tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}
