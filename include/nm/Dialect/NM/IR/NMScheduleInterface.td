//===- NMScheduleInterface.td - What all schedules say -----*- tablegen -*-===//

#ifndef NM_DIALECT_NM_IR_NMSCHEDULEINTERFACE_TD
#define NM_DIALECT_NM_IR_NMSCHEDULEINTERFACE_TD

include "mlir/IR/Interfaces.td"

def NM_ScheduleAttrInterface : AttrInterface<"ScheduleAttrInterface"> {
  let cppNamespace = "::mlir::nm";
  let description = [{
    How one product is mapped to one chip. Each strategy has an attribute of its
    own, which holds every decision that changes the code it makes; passes that
    treat all strategies alike go through this interface.
  }];
  let methods = [
    InterfaceMethod<"The strategy's name: `simt`, `vector`, ...",
                    "::llvm::StringRef", "getStrategyName">,
    InterfaceMethod<"Whether a CPU can run it.", "bool", "isForCPU", (ins), "",
                    "return false;">,
    InterfaceMethod<"Whether a CPU's tile unit makes the product.", "bool",
                    "isForTileUnit", (ins), "", "return false;">,
    InterfaceMethod<"Whether it becomes a GPU's kernels or library calls.",
                    "bool", "isForGPU", (ins), "", "return false;">,
    InterfaceMethod<"Whether it is the reference: a loop for each dimension.",
                    "bool", "isReference", (ins), "", "return false;">,
    InterfaceMethod<"Whether a library makes the product, with dense weights.",
                    "bool", "isLibraryCall", (ins), "", "return false;">,
    InterfaceMethod<[{
        The schedule of our own product beside a library's call; null where
        there is none.
      }], "::mlir::nm::ScheduleAttrInterface", "getOwn", (ins), "",
      "return {};">,
    InterfaceMethod<[{
        Its parameters by name, without those that are left out: sizes as
        arrays, counts as integers, choices as flags or names, and packings and
        schedules inside it as dictionaries. A schedule inside it has
        "strategy" as well.
      }], "::mlir::DictionaryAttr", "getParameters", (ins), "",
      "return ::mlir::DictionaryAttr::get($_attr.getContext());">,
    InterfaceMethod<[{
        The tiles of blocks (tasks of a CPU), warps and threads, and the parts
        that k is cut into.
      }], "::mlir::nm::BlockTiling", "getTiling", (ins), "", "return {};">,
    InterfaceMethod<[{
        The packed form that weights of `pattern` take; null where they stay
        condensed.
      }], "::mlir::nm::PackedFormAttrInterface", "getPackedForm",
      (ins "const ::nm::Pattern &":$pattern), "", "return {};">,
    InterfaceMethod<[{
        Whether weights of `pattern` that another op's schedule has packed can
        be read, too.
      }], "bool", "canRead",
      (ins "const ::nm::Pattern &":$pattern,
           "::mlir::nm::PackedFormAttrInterface":$packedForm), "",
      "return $_attr.getPackedForm(pattern) == packedForm;">,
    InterfaceMethod<[{
        Whether its kernels have no zeros at all, whatever the pattern of the
        weights: those are 1:1 before, and packed without their zeros.
      }], "bool", "skipsZeros", (ins), "", "return false;">,
    InterfaceMethod<"Whether a block stages only the rows of A that it uses.",
                    "bool", "packsRows", (ins), "", "return false;">,
    InterfaceMethod<"The same for an A that is staged whole.",
                    "::mlir::nm::ScheduleAttrInterface", "withoutPack", (ins),
                    "", "return $_attr;">,
    InterfaceMethod<[{
        Where an operand of tensor cores comes from; none of a strategy without
        tensor cores.
      }], "::std::optional<::mlir::nm::SourceKind>", "getSource", (ins), "",
      "return ::std::nullopt;">,
    InterfaceMethod<"Checks that products of `pattern` can have the schedule.",
      "::llvm::LogicalResult", "verifyPattern",
      (ins "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError,
           "const ::nm::Pattern &":$pattern), "",
      "return ::mlir::success();">,
  ];
}

#endif // NM_DIALECT_NM_IR_NMSCHEDULEINTERFACE_TD
