"""Shows that each check of hygiene.py fails where it is violated, and passes
where it is not."""

import shutil
import tempfile
import unittest
from pathlib import Path

import hygiene

PASS = """
def TileToBlocks : Pass<"nm-tile-to-blocks"> {
  let summary = "tiles";
  let description = [{
    Tiles.
  }];
  let options = [Option<"size", "tile-size", "int64_t", "8", "the size">];
}
"""
# One tree that no check objects to; each test below spoils it in one place.
CLEAN = {
    "include/Passes.td": PASS,
    "include/Passes.h": "int tile();\n",
    "lib/TileToBlocks.cpp":
        "struct P {\n  void runOnOperation() {\n    collect();\n    tile();\n"
        "  }\n};\n",
    "test/tile-to-blocks.mlir":
        "// RUN: nm-opt --nm-tile-to-blocks=tile-size=4 %s | FileCheck %s\n"
        "// CHECK-LABEL: func @f\n// CHECK: scf.forall\n",
    "test/tile-to-blocks-invalid.mlir": "// RUN: not nm-opt %s\n",
    "test/invalid.mlir": "// RUN: nm-opt -verify-diagnostics %s\n",
    "docs/reference/Passes.md": "### `-nm-tile-to-blocks`\n",
    "README.md": "[passes](include/Passes.td), [web](https://a.example)\n",
    "scripts/run": "#!/bin/sh\necho \"$1\"\n",
}


def violations(check, **spoilt):
    """What `check` says of the clean tree with some files replaced."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in {**CLEAN, **spoilt.get("files", {})}.items():
            path = Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is not None:
                path.write_text(text)
        return list(check(hygiene.Tree(root)))


class Clean(unittest.TestCase):
    def test_no_check_objects(self):
        for check in hygiene.CHECKS:
            self.assertEqual(violations(check), [], check.__name__)

    def test_every_check_is_tested(self):
        tested = {case.check.__name__ for case in Violations.cases()}
        self.assertEqual(tested, {check.__name__ for check in hygiene.CHECKS})


class Case:
    def __init__(self, check, files, says, needs=None):
        self.check, self.files, self.says, self.needs = check, files, says, needs


class Violations(unittest.TestCase):
    @staticmethod
    def cases():
        test = "test/tile-to-blocks.mlir"
        run = "// RUN: nm-opt --nm-tile-to-blocks=tile-size=4 %s"
        return [
            Case(hygiene.check_lines_reach_filecheck,
                 {test: f"{run}\n// CHECK: x\n"}, "no RUN line pipes"),
            Case(hygiene.check_lines_reach_filecheck,
                 {test: "func.func @f()\n"}, "expected a RUN line"),
            Case(hygiene.check_prefixes_are_used,
                 {test: f"{run} | FileCheck %s --check-prefix=FAST\n"}, "has the prefix FAST"),
            Case(hygiene.check_prefixes_are_used,
                 {test: f"{run} | FileCheck %s\n// CHECK: x\n"
                        "// CHECK-LABLE: y\n"}, "prefix CHECK-LABLE"),
            Case(hygiene.check_prefixes_are_used,
                 {test: f"{run} | FileCheck %s\n// CHECK: x\n"
                        "// AFTER-NOT: y\n"}, "prefix AFTER"),
            Case(hygiene.check_refusals_exit_non_zero,
                 {"test/tile-to-blocks-invalid.mlir":
                  "// RUN: nm-opt -verify-diagnostics %s\n"}, "`not nm-opt`"),
            Case(hygiene.check_refusals_exit_non_zero,
                 {"test/invalid.mlir": "// RUN: nm-opt %s\n"},
                 "-verify-diagnostics or"),
            Case(hygiene.check_passes_are_described,
                 {"include/Passes.td": PASS.replace("let summary", "let x")},
                 "has no summary"),
            Case(hygiene.check_passes_are_described,
                 {"include/Passes.td": PASS.replace("    Tiles.\n  }", "  }")},
                 "has no description"),
            Case(hygiene.check_options_are_tested,
                 {test: "// RUN: nm-opt --nm-tile-to-blocks %s\n"},
                 "option tile-size"),
            Case(hygiene.check_passes_have_one_stem,
                 {"include/Passes.td":
                  PASS.replace("def TileToBlocks", "def Tiling")},
                 "is defined as Tiling"),
            Case(hygiene.check_passes_have_one_stem,
                 {"lib/TileToBlocks.cpp": None}, "no source file"),
            Case(hygiene.check_passes_have_one_stem,
                 {test: None}, "no test of that name"),
            Case(hygiene.check_schedules_are_asked_by_their_interface,
                 {"lib/GPU/Stage/Roles.cpp": "bool b() {\n  return "
                  + " || ".join(["isa<WarpgroupScheduleAttr>(s)"]
                                * (hygiene.MAX_SCHEDULE_CASTS + 1)) + ";\n}\n"},
                 "casts to a strategy's schedule"),
            Case(hygiene.check_models_have_few_constants,
                 {"lib/Schedule/Model.cpp": "static constexpr double kRate = "
                  + " + ".join(["7"] * (hygiene.MAX_REAL_CONSTANTS + 1)) + ";\n"},
                 "models have"),
            Case(hygiene.check_models_have_few_constants,
                 {"lib/GPU/Select/GpuModels.h": "inline float rate() { return "
                  + " + ".join(["1.7f", ".7"] * hygiene.MAX_REAL_CONSTANTS) + "; }\n"},
                 f"models have {2 * hygiene.MAX_REAL_CONSTANTS} "),
            Case(hygiene.check_passes_after_selection_decide_nothing,
                 {"lib/GPU/Stage/Roles.cpp":
                  "bool isLarge(GpuChip chip);\n"}, "reads GpuChip after"),
            Case(hygiene.check_passes_after_selection_decide_nothing,
                 {"lib/Transforms/PadRows.cpp":
                  "int64_t chunk = chooseGpuSchedule();\n"}, "reads chooseGpuSchedule after"),
            Case(hygiene.check_passes_after_selection_decide_nothing,
                 {"lib/GPU/Strategies/Mma/MmaModel.h": "bool copies(int64_t rows);\n",
                  "lib/GPU/Strategies/Mma/MmaSchedule.cpp":
                  "void choose(GpuChip chip) {}\n"
                  "LogicalResult stage(OpBuilder &b, SpMMOp op) const override {\n"
                  "  if (op) { op.walk(); }\n  return to(::nm::copies(16));\n}\n"},
                 "MmaSchedule.cpp: reads copies after"),
            Case(hygiene.check_passes_after_selection_decide_nothing,
                 {"lib/Runtime/Pad.cpp": "#define GEN_PASS_DEF_NMPAD\n"},
                 "a pass outside of"),
            Case(hygiene.check_passes_after_selection_decide_nothing,
                 {"lib/GPU/Tile/NMToGPU.cpp": "int tile();\n"},
                 "not to be listed"),
            Case(hygiene.check_nothing_is_unfinished,
                 {"lib/TileToBlocks.cpp": "// TODO: write\n"}, "TODO"),
            Case(hygiene.check_nothing_is_unfinished,
                 {"lib/TileToBlocks.cpp": "// a stub\n"}, "stub"),
            Case(hygiene.check_nothing_is_unfinished,
                 {"README.md": "one H200, commit SHORTHASH\n"}, "SHORTHASH"),
            Case(hygiene.check_paths_are_relative,
                 {"scripts/run": "#!/bin/sh\ncd /home/me\n"},
                 "a path of one machine"),
            Case(hygiene.check_files_are_short,
                 {"lib/TileToBlocks.cpp": "int x;\n" * 601}, "601 lines"),
            Case(hygiene.check_run_on_operation_is_short,
                 {"lib/TileToBlocks.cpp": "struct P {\n"
                  "  void runOnOperation() {\n" + "    tile();\n" * 61
                  + "  }\n};\n"}, "has 61 lines"),
            Case(hygiene.check_headers_open_no_namespace,
                 {"include/Passes.h": "using namespace mlir;\n"},
                 "in a header"),
            Case(hygiene.check_joined_strings_keep_their_space,
                 {"include/Passes.td":
                  PASS.replace('"the size"', '"the"\n    "size"')},
                 "no space between"),
            Case(hygiene.check_banners_are_whole,
                 {"include/Passes.h": "//===- Passes.h - Tiles -*- C++\n//-*-===//\n"},
                 "ends in ===//"),
            Case(hygiene.check_banners_are_whole,
                 {"include/Passes.h":
                  "/*===- Passes.h -===*\\\n|* Tiles and\nblocks.\n\\*===*/\n"},
                 "start with |*"),
            Case(hygiene.check_comments_have_subjects,
                 {"include/Passes.h": "/// Of a tile.\nint a;\n" * 15 +
                                      "/// The same of B.\nint b;\n" * 15},
                 "30 comments begin with"),
            Case(hygiene.check_clang_format,
                 {"include/Passes.h": "int   tile( );\n"},
                 "not as clang-format", needs="clang-format-22"),
            Case(hygiene.check_links_resolve,
                 {"README.md": "[passes](include/Passes.md)\n"},
                 "no file at the link include/Passes.md"),
            Case(hygiene.check_sections_resolve,
                 {"README.md": "# Two `words`\n[here](#two-words), [there](#one)\n"},
                 "no section #one in README.md"),
            Case(hygiene.check_front_pages_are_short,
                 {"README.md": "line\n" * 121}, "121 lines"),
            Case(hygiene.check_front_pages_are_short,
                 {"docs/Compile.md": "word " * 1501}, "1501 words"),
            Case(hygiene.check_passes_are_in_the_reference,
                 {"docs/reference/Passes.md": None},
                 "docs/reference has no nm-tile-to-blocks"),
            Case(hygiene.check_named_files_are_there,
                 {"CONTRIBUTING.md": "In `lib/Schedule/Chip.cpp`, or in `lib`.\n"},
                 "no file lib/Schedule/Chip.cpp"),
            Case(hygiene.check_pipeline_page_has_all_stages,
                 {"docs/phases.svg": "<text>nm-tile-to-blocks</text>\n",
                  "docs/Pipeline.md": "`nm-tile-to-gpu-blocks`\n"},
                 "no pass nm-tile-to-blocks"),
            Case(hygiene.check_named_files_are_there,
                 {"docs/Page.md": "In `lib/Chip.cpp`, of `lib/TileToBlocks.cpp`, or in a "
                  "model's `onnx/model.onnx`.\n"}, "docs/Page.md: no file lib/Chip.cpp"),
            Case(hygiene.check_few_files_know_a_parameter,
                 {"include/Schedules.td": "let parameters = (ins NM_Count:$block,\n"
                  "                        NM_Count:$box_rows);\n",
                  **{f"lib/Box{i}.cpp": "int rows = fields.boxRows + fields.block;\n"
                     for i in range(8)},
                  "lib/Comment.cpp": "// fields.boxRows\n",
                  "lib/Getter.cpp": "int rows = schedule.getBoxRows();\n"},
                 "9 source files know the parameter box_rows, more than 8: lib/Box0.cpp"),
            Case(hygiene.check_few_files_know_a_parameter,
                 {"include/Schedules.td": "let parameters = (ins NM_Flag:$promote);\n",
                  "lib/One.cpp": "if (fields.promote)\n  sums.promote();\n"},
                 "1 source files know the parameter promote, fewer than the 20"),
            Case(hygiene.check_shell_scripts,
                 {"scripts/run": "#!/bin/sh\necho $1\n"}, "Double quote",
                 needs="shellcheck"),
        ]

    def test_each_check_fails(self):
        for case in self.cases():
            if case.needs and not shutil.which(case.needs):
                continue
            with self.subTest(check=case.check.__name__, says=case.says):
                said = violations(case.check, files=case.files)
                self.assertEqual(len(said), 1, said)
                self.assertIn(case.says, said[0])


if __name__ == "__main__":
    unittest.main()
