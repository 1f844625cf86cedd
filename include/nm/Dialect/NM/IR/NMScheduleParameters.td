//===- NMScheduleParameters.td - What schedules have -------*- tablegen -*-===//
//
// Parameters of schedules: how they are parsed and printed, which field of the
// plain structs they are, and what the verifier checks them for.
//
//===----------------------------------------------------------------------===//

#ifndef NM_DIALECT_NM_IR_NMSCHEDULEPARAMETERS_TD
#define NM_DIALECT_NM_IR_NMSCHEDULEPARAMETERS_TD

include "nm/Dialect/NM/IR/NMAttributes.td"
include "mlir/IR/EnumAttr.td"

/// How the plain structs of nm/Schedule/ScheduleFields.h have a parameter:
/// nm-tblgen makes these structs of all NM_ScheduleAttrs. Parameters of one name
/// are one field.
class NM_Field<string type, string value> {
  /// The call that the attribute's verifier makes where the parameter is given:
  /// of a function of ScheduleChecks.h, with the parameter's name `$_name` and its
  /// value `given`.
  string check = "";
  /// The field's type, and what it is where the parameter is left out.
  string plainType = type;
  string plainDefault = value;
  /// The ends of the fields' names, where the parameter has several sizes.
  list<string> suffixes = [""];
  /// When an attribute that is made of `fields` has the parameter, by the value
  /// of its own, `field`: always where no condition is named.
  string writtenIf = "";
  /// The field's value by the parameter's, `given`, and the other way round.
  string toPlain = "*given";
  string fromPlain = "field";
}

/// Sizes in elements, as in `[64, 128, 32]`, which are multiples of `steps`, and
/// at most `most`; may be left out.
class NM_SizesOf<list<string> dims, list<int> steps, string most>
    : OptionalArrayRefParameter<"int64_t">, NM_Field<"int64_t", "0"> {
  let parser = "parseSizes($_parser)";
  let printer = "printSizes($_printer, $_self)";
  let suffixes = dims;
  let check = "verifySizes(emitError, \"$_name\", given, {"
              # !interleave(steps, ", ") # "}, " # most # ")";
}
class NM_PartOf<int m, int n> : NM_SizesOf<["M", "N"], [m, n], "kMaxTile">;
class NM_BlockOf<int k>
    : NM_SizesOf<["M", "N", "K"], [1, 1, k], "::nm::kMaxSize">;
def NM_Sizes : NM_PartOf<1, 1>;
def NM_BlockSizes : NM_BlockOf<1>;

/// A number that may be left out, and is written under `condition`. `range` is
/// the least, the most, and maybe a step that it is a multiple of; none where it
/// is checked with others.
class NM_CountIf<string condition, int value, string range = "1, kMaxParts">
    : OptionalParameter<"std::optional<int64_t>">,
      NM_Field<"int64_t", !cast<string>(value)> {
  let parser = "parseCount($_parser)";
  let printer = "$_printer << *$_self";
  let writtenIf = condition;
  let check = !if(!empty(range), "",
                  "verifyCount(emitError, \"$_name\", *given, " # range # ")");
}
class NM_CountIn<string range> : NM_CountIf<"", 1, range>;
def NM_Count : NM_CountIn<"1, kMaxParts">;
def NM_ClusterK : NM_CountIn<"1, kMaxCluster">;
def NM_SliceK : NM_CountIn<"1, kMaxWarps">;
/// One that is written unless it is `value`.
class NM_CountUnless<int value, string range = "">
    : NM_CountIf<"field != " # value, value, range>;
/// Parts of `#nm.columns`.
def NM_OfColumns : NM_CountUnless<0>;

/// `true` or `false`, or neither where it is left out.
class NM_ChoiceIf<string condition>
    : OptionalParameter<"std::optional<bool>">, NM_Field<"bool", "false"> {
  let parser = "parseChoice($_parser)";
  let printer = "$_printer << *$_self";
  let writtenIf = condition;
}
def NM_Choice : NM_ChoiceIf<"">;
/// One that is written only where it is true.
def NM_Flag : NM_ChoiceIf<"field">;

/// Elements that rows of a temporary A start at multiples of; 0 where they lie as
/// they come.
def NM_Padding : NM_CountUnless<0, "0, 64, 8">;

/// A case of an enum, which may be left out.
class NM_Case<string enum, string value>
    : OptionalParameter<"std::optional<::mlir::nm::" # enum # ">">,
      NM_Field<enum, enum # "::" # value> {
  string enumName = enum;
  let parser = "parseCase<::mlir::nm::" # enum # ">($_parser, symbolize"
               # enum # ", symbolize" # enum # ", stringify" # enum # ")";
  let printer = "$_printer << stringify" # enum # "(*$_self)";
  let toPlain = "static_cast<::nm::" # enum # ">(*given)";
  let fromPlain = "static_cast<::mlir::nm::" # enum # ">(field)";
}
/// A case that is written unless it is `value`.
class NM_CaseUnless<string enum, string value> : NM_Case<enum, value> {
  let writtenIf = "field != ::nm::" # enum # "::" # value;
}

/// The kinds of copies that a block's own threads make.
def NM_ThreadCopy : NM_Case<"CopyKind", "Direct"> {
  let check = "verifyCopy(emitError, *given, {CopyKind::Direct, "
              "CopyKind::Matrices, CopyKind::Elements, CopyKind::Squares})";
}

/// The packed form of weights, unless it has no panels, that `kind` names a check
/// of.
class NM_PackingOf<string kind> : OptionalParameter<"::mlir::nm::PackingAttr">,
                                  NM_Field<"PanelPacking", "{}"> {
  let writtenIf = "field.panel != 0";
  let toPlain = "given.getPacking()";
  let fromPlain = "::mlir::nm::PackingAttr::get(context, field)";
  let check = !if(!empty(kind), "",
                  "verify" # kind # "Packing(emitError, given)");
}
def NM_OptionalPacking : NM_PackingOf<"">;
/// One without lists of rows, which follow from `pack = true`.
def NM_UnlistedPacking : NM_PackingOf<"Unlisted">;

def NM_TileOrder : I32EnumAttr<"TileOrder", "the order of A's tile", [
    I32EnumAttrCase<"MMajor", 0, "m_major">,
    I32EnumAttrCase<"Interleaved", 1, "interleaved">,
    I32EnumAttrCase<"RowMajor", 2, "row_major">]> {
  let cppNamespace = "::mlir::nm";
  let genSpecializedAttr = 0;
}

#endif // NM_DIALECT_NM_IR_NMSCHEDULEPARAMETERS_TD
