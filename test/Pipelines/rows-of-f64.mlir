// RUN: nm-compile %s --target=cuda:sm_90a --emit=ptx -o - 2> /dev/null | FileCheck %s

// Partial sums of f64 pass through shared memory as 8 bytes. Stores of their halves are
// wrong: ptxas converts the lower one, which it takes for a double, to an integer.
// CHECK-LABEL: .entry f_kernel
// CHECK-NOT: st.shared.b32
// CHECK: st.shared.b64
// CHECK-NOT: st.shared.b32
func.func @f(%x: tensor<40x100xf64>) -> tensor<40xf64> {
  %least = arith.constant 0xFFF0000000000000 : f64
  %e = tensor.empty() : tensor<40xf64>
  %o = linalg.fill ins(%least : f64) outs(%e : tensor<40xf64>) -> tensor<40xf64>
  %y = linalg.reduce { arith.maximumf } ins(%x : tensor<40x100xf64>)
    outs(%o : tensor<40xf64>) dimensions = [1]
  return %y : tensor<40xf64>
}
