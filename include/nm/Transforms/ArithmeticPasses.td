//===- ArithmeticPasses.td - Passes on scalars -------------*- tablegen -*-===//
//
// A part of Passes.td, which generates them: functions and roundings that
// upstream's conversions do not have.
//
//===----------------------------------------------------------------------===//

#ifndef NM_TRANSFORMS_ARITHMETICPASSES
#define NM_TRANSFORMS_ARITHMETICPASSES

include "mlir/Pass/PassBase.td"

def NMExpandIntegerMath : Pass<"nm-expand-integer-math"> {
  let summary = "math ops on integers to arith";
  let description = [{
    `math.absi`, `ctpop`, `ctlz` and `cttz` of i8 to i64 become shifts, sums and
    choices: `convert-gpu-to-nvvm` has none of them. `math.ipowi` is a loop over
    the bits of the exponent, by squares, and `math.fpowi` a `math.powf`.

    Before:
    ```mlir
    %y = math.absi %x : i32
    ```
    After:
    ```mlir
    %zero = arith.constant 0 : i32
    %negated = arith.subi %zero, %x : i32
    %y = arith.maxsi %x, %negated : i32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def NMApproximateMath : Pass<"nm-approximate-math"> {
  let summary = "f32 functions to polynomials that vectorize";
  let description = [{
    Replaces `math.erf`, `exp`, `tanh`, `log` and the like on f32 (f16 and bf16
    through f32) by polynomials, which are accurate to a few units in the last
    place and, unlike calls of libm, leave the loops around them vectorizable:
    `erf` by one of our own without divisions and branches, the others by
    upstream's approximations. Functions on f64 are left for libm.

    GELU, x (1 + erf(c x)) / 2 in whatever order it is multiplied, is taken
    whole. With `has-exp2`, which says that powers of two and reciprocals are
    instructions, as they are of NVIDIA GPUs, GELU is 12 instructions, and its
    tanh form, the sigmoid function and SiLU are a power of two and a
    reciprocal; `exp` of f32 is a power of two, subnormal results of which are
    zero, and quotients of a vector by one broadcast f32 are products with one
    reciprocal. Infinity and NaN give what they give in the ops replaced.
    `math.fma` on scalars is LLVM's intrinsic then, so that nothing calls CUDA's
    libdevice.

    Conversions between other floats and f8E4M3FN or f8E5M2, which upstream does
    not lower, are arithmetic on integers: to f8 to nearest, ties to even; past
    448 f8E4M3FN is NaN, and past 57344 f8E5M2 is infinity. Other ops on these
    types are computed in f32, and each result is rounded.

    Before:
    ```mlir
    %y = math.erf %x : f32
    ```
    After: a polynomial in `arith` ops and `math.fma`.
  }];
  let options = [
    Option<"hasExp2", "has-exp2", "bool", "false",
           "Compute activations by NVIDIA GPUs' instructions for powers of two "
           "and reciprocals">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def NMKeepRoundings : Pass<"nm-keep-roundings"> {
  let summary = "has operations on narrow floats that f32 makes round each";
  let description = [{
    Upstream makes operations that the processor does not have in f16 or bf16 in
    f32, between conversions that it marks with `contract`, by which a fold drops
    the rounding between two of them.

    Before:
    ```mlir
    %r = arith.truncf %p fastmath<contract> : f32 to bf16
    ```
    After:
    ```mlir
    %r = arith.truncf %p : f32 to bf16
    ```
  }];
}

def NMRoundToBF16 : Pass<"nm-round-to-bf16"> {
  let summary = "arith.truncf of f32 to bf16 as arithmetic on 32 bits";
  let description = [{
    Rounds to nearest, ties to even; NaN becomes the quiet NaN 0x7fc0. NaN is
    chosen before the rounding: `arith-expand` chooses it behind, of which LLVM
    makes a choice between vectors of bf16, and takes them apart, value by value,
    where a processor has no instructions for bf16.

    Before:
    ```mlir
    %r = arith.truncf %x : f32 to bf16
    ```
    After:
    ```mlir
    %is_nan = arith.cmpf uno, %x, %x : f32
    %number = arith.select %is_nan, %nan, %x : f32
    %bits = arith.bitcast %number : f32 to i32
    %half = arith.shrui %bits, %c16 : i32
    %odd = arith.andi %half, %c1 : i32
    %bias = arith.addi %odd, %c32767 : i32
    %sum = arith.addi %bits, %bias : i32
    %rounded = arith.shrui %sum, %c16 : i32
    %narrow = arith.trunci %rounded : i32 to i16
    %r = arith.bitcast %narrow : i16 to bf16
    ```
  }];
}

#endif // NM_TRANSFORMS_ARITHMETICPASSES
