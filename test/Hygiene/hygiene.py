"""Checks the source tree for what reviewers would otherwise have to find.

usage: hygiene.py ROOT

       hygiene.py --constants ROOT    the real constants of models, by file
       hygiene.py --parameters ROOT   how many source files know each parameter of a schedule

Each check takes a Tree and yields one line for each violation.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

MAX_FILE_LINES = 600
MAX_COMMENTS_WITHOUT_SUBJECT = 29
MAX_RUN_ON_OPERATION_LINES = 60
# Pages that readers meet first.
MAX_README_LINES = 120
MAX_COMPILE_WORDS = 1500

UNFINISHED = re.compile(
    r"\b(?:TODO|FIXME|XXX|HACK|(?i:stubs?|placeholders?))\b(?<!graph\.placeholder)"
    # Words that stand for a commit until it is known.
    r"|\b[Cc]ommit (?:[A-Z]{4,}\b|<\w+>)")
CHECK_LINE = re.compile(
    r"(?://|#|;|\*)\s*([A-Z][A-Z0-9_-]*?)"
    r"(?:-(?:NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT-\d+))?(?:\{LITERAL\})?:")
# Words before a colon that no one takes for a FileCheck prefix.
NOT_A_PREFIX = {"RUN", "REQUIRES", "UNSUPPORTED", "XFAIL", "ALLOW_RETRIES",
                "DEFINE", "REDEFINE", "END", "COM", "NOTE"}


# Folders of passes; models and selection in them, and what runs before; and what
# reads a chip or a model.
PASSES = ("lib/Conversion/", "lib/Dialect/NM/Transforms/", "lib/GPU/", "lib/Transforms/")
SELECTION = re.compile(
    r"^lib/GPU/Select/|(?:Models?\.(?:cpp|h)|Schedule\.cpp|/Simt(?:Copies|Tiles)\.cpp"
    r"|/(?:PropagateLayouts|LayoutCosts)\.(?:cpp|h))$")
# What a strategy's class of selection does after it.
STAGE = re.compile(r"\bLogicalResult\s+(?:\w+::)?stage\([^;{]*\{")
MODEL_HEADER = re.compile(r"Models?\.h$")
CHIP_OR_MODEL = re.compile(
    r"\b(?:GpuChip|getChip|GpuProduct|GpuSchedule|\w+Models?\.h|"
    r"chooseGpuSchedule|select\w+Schedule|estimate[A-Z]\w*)\b")
# Those of the passes that may, and what for: none to decide anything.
READS_CHIP_OR_MODEL = {
    # Refuse what the chip has no instructions or shared memory for.
    "lib/GPU/Stage/StagedOperands.cpp",
    "lib/GPU/Stage/StagedOperands.h",
    "lib/GPU/Strategies/Mma/MmaSpStrategy.cpp",
    "lib/GPU/Strategies/Mma/MmaSyncStaging.cpp",
    "lib/GPU/Strategies/Mma/SparseOperandStaging.cpp",
    "lib/GPU/Strategies/Simt/SimtStaging.cpp",
    "lib/GPU/Strategies/Warpgroup/WgmmaSelectStaging.cpp",
    "lib/GPU/Strategies/Warpgroup/WgmmaStaging.cpp",
    "lib/GPU/Tile/NMToGPU.cpp",
    # Limits that packed forms rest on.
    "lib/GPU/Strategies/Gemv/GemvWeights.cpp",
    "lib/GPU/Strategies/Mma/MmaSyncOperands.cpp",
    "lib/GPU/Strategies/Warpgroup/GatherUnits.cpp",
    # Kernels of no product, which have no schedule: what the chip has.
    "lib/GPU/Attention/AttentionKernel.cpp",
    "lib/GPU/Library/CallAttention.cpp",
    "lib/GPU/Rows/FormRows.cpp",
    "lib/GPU/Rows/RowsToGPU.cpp",
    "lib/Transforms/LoadEarly.cpp",
    "lib/Transforms/OverlapKernels.cpp",
    # The shared memory that the simulator has.
    "lib/Conversion/KernelsToSim/KernelsToSim.cpp",
    # Products that nothing selected a schedule for.
    "lib/Conversion/NMToVector/NMToVector.cpp",
}


# A cast asks which strategy a schedule is of; outside of the strategies' folder none may.
SCHEDULE_CAST = re.compile(
    r"\b(?:isa|cast|dyn_cast)(?:_\w+)?<[^<>()]*?\b\w*?ScheduleAttr\b")
MAX_SCHEDULE_CASTS = 0
# A parameter of a schedule is known to few source files, or else it is hard to add, to change and
# to take away. Those of before that more files know may only fall.
MAX_FILES_OF_PARAMETER = 8
FILES_OF_PARAMETERS = {"copy_a": 13, "producers": 15, "promote": 20}
# Tiles, parts of k and the form of weights are what most phases go by, and fields of other structs
# have the same names.
GO_BY_ALL = {"bits", "block", "blocks", "cluster_k", "kept", "own", "pack", "packing", "slice_k",
             "source", "split_k", "splits", "stages", "steps", "thread", "tile_rows", "warp",
             "warpgroup", "word_rows"}
# Models of time, whose real constants are counted. The rates of a chip are in a file of its own;
# LibraryEpilogue.cpp recognizes GELU's polynomial, and estimates nothing.
MODELS = re.compile(
    r"(?:lib|include/nm)/Schedule/\w+\.(?:cpp|h)$|"
    r"lib/GPU/(?:Select|Library|Layouts)/(?!LibraryEpilogue)(?:\w+\.cpp|\w*Models?\.h)$|"
    r"(?:lib|include/nm)/GPU/Strategies/\w+/\w*(?:Models?|SimtTiles)\.(?:cpp|h)$")
MAX_REAL_CONSTANTS = 63
REAL_CONSTANT = re.compile(r"\bconstexpr (?:double|float)\s+([^;]*);", re.S)
REAL_NUMBER = re.compile(r"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)f?(?![\w.])")
# Sizes of arrays are no constants of a model.
NOT_COUNTED = re.compile(r"//[^\n]*|\"(?:\\.|[^\"\\])*\"|\[\d+\]")
# Halves and doubles, and factors of units.
PLAIN_NUMBERS = {0, 0.5, 1, 2, 4, 8, 16, 1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9}


def real_constants(text):
    """The real numbers that a source writes: all of a `constexpr double` or `float`, and others
    that are more than units."""
    text = NOT_COUNTED.sub("", text)
    found = [number for body in REAL_CONSTANT.findall(text)
             for number in REAL_NUMBER.findall(body)]
    others = [number for number in REAL_NUMBER.findall(REAL_CONSTANT.sub("", text))
              if re.search(r"[.e]", number) and float(number) not in PLAIN_NUMBERS]
    return found + others


class Tree:
    """The files of a source tree that git tracks or would add."""

    def __init__(self, root):
        self.root = Path(root)
        listed = subprocess.run(
            ["git", "-C", root, "ls-files", "-co", "--exclude-standard"],
            capture_output=True, text=True)
        if listed.returncode == 0:
            names = listed.stdout.splitlines()
        else:
            names = [p.relative_to(root).as_posix()
                     for p in self.root.rglob("*") if p.is_file()]
        self.names = sorted(n for n in names if (self.root / n).is_file())

    def read(self, name):
        return (self.root / name).read_text(encoding="utf-8", errors="replace")

    def ending(self, *suffixes, under=""):
        return [n for n in self.names
                if n.endswith(suffixes) and n.startswith(under)]

    def written(self):
        """Text that people write: neither generated nor this checker, which
        has to name what it forbids."""
        return [n for n in self.names
                if not n.startswith(("docs/reference/", "test/Hygiene/"))
                and not (n.startswith("docs/results/")
                         and n.endswith((".csv", ".md", ".svg")))
                and b"\0" not in (self.root / n).read_bytes()[:1024]]

    def lit_tests(self):
        """A C program is one if it says so; others are tests of ctest."""
        return [n for n in self.ending(".mlir", ".test", ".c", under="test/")
                if "/Inputs/" not in n and not n.startswith("test/Unit/")
                and not (n.endswith(".c") and "RUN:" not in self.read(n))]

    def passes(self):
        """(file, definition's name, flag, body) for each pass in ODS."""
        for name in self.ending(".td"):
            parts = re.split(r"^def (\w+)\s*:\s*(?:Interface)?Pass<\s*\"([^\"]+)\"",
                             self.read(name), flags=re.M)
            for i in range(1, len(parts), 3):
                body = re.split(r"^}", parts[i + 2], flags=re.M)[0]
                yield name, parts[i], parts[i + 1], body


def run_lines(text):
    return re.findall(r"RUN:(.*)", text)


def stem(text):
    """What the one stem of a pass leaves of its flag or of a file's name."""
    text = re.sub(r"^(nm|convert)-", "", text)
    text = re.sub(r"^Convert(?=[A-Z])", "", text)
    return text.replace("-", "").replace("_", "").lower()


def check_lines_reach_filecheck(tree):
    for name in tree.lit_tests():
        text = tree.read(name)
        runs = "\n".join(run_lines(text))
        if not runs:
            yield f"{name}: expected a RUN line"
        elif re.search(r"\bCHECK[A-Z-]*:", text) and "FileCheck" not in runs:
            yield f"{name}: has CHECK lines, but no RUN line pipes to FileCheck"


def check_prefixes_are_used(tree):
    for name in tree.lit_tests():
        text = tree.read(name)
        runs = "\n".join(run_lines(text)).replace("\\\n", " ")
        # Lines of another file are that file's.
        runs = re.sub(r"FileCheck %S\S+", "", runs)
        if "FileCheck" not in runs:
            continue
        asked = set()
        for given in re.findall(r"-check-prefix(?:es)?[= ](\S+)", runs):
            asked.update(given.split(","))
        if len(re.findall("FileCheck", runs)) > len(
                re.findall(r"-check-prefix(?:es)?[= ]", runs)) or not asked:
            asked.add("CHECK")
        # A substitution in the prefix is one of several runs' own.
        asked = {p for p in asked if "%" not in p}
        written = set(CHECK_LINE.findall(text)) - NOT_A_PREFIX
        for prefix in sorted(asked - written):
            yield f"{name}: no line has the prefix {prefix} that a RUN line asks for"
        for prefix in sorted(written - asked):
            if prefix.startswith("CHECK") or re.search(
                    rf"{prefix}-(NEXT|SAME|NOT|DAG|LABEL)", text):
                yield f"{name}: no RUN line asks for the prefix {prefix}"


def check_refusals_exit_non_zero(tree):
    for name in tree.ending("invalid.mlir", under="test/"):
        runs = "\n".join(run_lines(tree.read(name)))
        refused = re.search(r"\bnot nm-", runs)
        if Path(name).name == "invalid.mlir":
            if not refused and "verify-diagnostics" not in runs:
                yield f"{name}: expected -verify-diagnostics or `not nm-opt`"
        elif not refused:
            yield f"{name}: expected a RUN line with `not nm-opt`"


def check_passes_are_described(tree):
    for name, _, flag, body in tree.passes():
        for field in ("summary", "description"):
            if not re.search(rf"let {field}\s*=\s*(\[\{{\s*(?!\}}\])\S|\"[^\"])", body):
                yield f"{name}: pass {flag} has no {field}"


def check_options_are_tested(tree):
    tests = "\n".join("\n".join(run_lines(tree.read(n)))
                      for n in tree.ending(".mlir", ".test", under="test/"))
    for name, _, flag, body in tree.passes():
        for option in re.findall(
                r"(?:List)?Option<\s*\"\w+\",\s*\"([\w-]+)\"", body):
            if not re.search(rf"(?<![\w-]){option}(?![\w-])", tests):
                yield f"{name}: no RUN line gives option {option} of {flag}"


def check_passes_have_one_stem(tree):
    sources = {stem(Path(n).stem) for n in tree.ending(".cpp", under="lib/")}
    tests = {stem(Path(n).stem) for n in tree.ending(".mlir", under="test/")}
    for name, definition, flag, _ in tree.passes():
        wanted = stem(flag)
        # A pass that only refuses has only tests of what it refuses.
        tested = [wanted, wanted + "invalid"] if "-check-" in flag else [wanted]
        if stem(definition) not in (wanted, "nm" + wanted, wanted + "pass"):
            yield f"{name}: pass {flag} is defined as {definition}"
        if wanted not in sources:
            yield f"{name}: pass {flag} has no source file of that name in lib"
        if not tests.intersection(tested):
            yield f"{name}: pass {flag} has no test of that name"


def check_nothing_is_unfinished(tree):
    for name in tree.written():
        for number, line in enumerate(tree.read(name).splitlines(), 1):
            word = UNFINISHED.search(line)
            if word:
                yield f"{name}:{number}: {word.group(0)}"


def check_paths_are_relative(tree):
    for name in tree.written():
        for number, line in enumerate(tree.read(name).splitlines(), 1):
            if re.search(r"(?<![\w.}/*])/(work|home|root)/\w", line):
                yield f"{name}:{number}: a path of one machine"


def check_files_are_short(tree):
    for name in tree.written():
        lines = len(tree.read(name).splitlines())
        if lines > MAX_FILE_LINES:
            yield f"{name}: {lines} lines, more than {MAX_FILE_LINES}"


def check_run_on_operation_is_short(tree):
    for name in tree.ending(".cpp"):
        text = tree.read(name)
        for found in re.finditer(r"^( *)void .*\brunOnOperation\(\).*\{\n", text,
                                 flags=re.M):
            end = text.find(f"\n{found.group(1)}}}", found.end())
            lines = text.count("\n", found.end(), end) + 1
            if lines > MAX_RUN_ON_OPERATION_LINES:
                yield (f"{name}: runOnOperation has {lines} lines, "
                       f"more than {MAX_RUN_ON_OPERATION_LINES}")


def check_headers_open_no_namespace(tree):
    for name in tree.ending(".h"):
        if re.search(r"^\s*using namespace", tree.read(name), flags=re.M):
            yield f"{name}: `using namespace` in a header"


def check_joined_strings_keep_their_space(tree):
    for name in tree.ending(".cpp", ".h", ".td"):
        text = tree.read(name)
        for found in re.finditer(r"(?<!\\)[a-z]\"\s*\n\s*\"[a-z]", text):
            line = text.count("\n", 0, found.start()) + 1
            yield f"{name}:{line}: two joined strings have no space between them"


def check_banners_are_whole(tree):
    """clang-format cuts their long lines, and then objects to nothing."""
    for name in tree.ending(".cpp", ".h", ".c", ".td"):
        text = tree.read(name)
        if text.startswith("//===") and not re.match(r".*===//\n", text):
            yield f"{name}: expected a first line that ends in ===//"
        if text.startswith("/*===") and not re.match(
                r".*(===\*/\n|\*\\\n(\|\*.*\n)+\\\*===)", text):
            yield f"{name}: expected lines that start with |* in its banner"


def check_comments_have_subjects(tree):
    """A comment that begins with "The same" or "Of" leaves its subject to the
    comment before, which a reader may not have seen."""
    found = []
    for name in tree.ending(".cpp", ".h", ".td"):
        lines = tree.read(name).splitlines()
        for i, line in enumerate(lines):
            starts = not (i and lines[i - 1].lstrip().startswith("///"))
            if starts and re.match(r"\s*/// (The same|Of)\b", line):
                found.append(f"{name}:{i + 1}")
    if len(found) > MAX_COMMENTS_WITHOUT_SUBJECT:
        yield (f"{len(found)} comments begin with 'The same' or 'Of', more than "
               f"{MAX_COMMENTS_WITHOUT_SUBJECT}: {', '.join(found[:5])}, ...")


def check_clang_format(tree):
    tool = shutil.which("clang-format-22")
    sources = [n for n in tree.ending(".h", ".cpp", ".c")
               if not n.endswith(".mlir")]
    if not tool or not sources:
        return
    result = subprocess.run([tool, "--dry-run", "--Werror", *sources],
                            cwd=tree.root, capture_output=True, text=True)
    for name in sorted(set(re.findall(r"^([^:\n]+):\d+:\d+: error",
                                      result.stderr, flags=re.M))):
        yield f"{name}: not as clang-format-22 would have it"


def check_links_resolve(tree):
    for name in tree.ending(".md"):
        text = re.sub(r"^```.*?^```$", "", tree.read(name), flags=re.M | re.S)
        for link in re.findall(r"\]\(([^)#\s]+)", text):
            if "://" not in link and not (
                    tree.root / Path(name).parent / link).exists():
                yield f"{name}: no file at the link {link}"


def sections(text):
    """The names by which links find a page's headings, as GitHub makes them."""
    for heading in re.findall(r"^#+ (.*)$", text, flags=re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        yield re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def check_sections_resolve(tree):
    pages = {name: re.sub(r"^```.*?^```$", "", tree.read(name), flags=re.M | re.S)
             for name in tree.ending(".md")}
    for name, text in pages.items():
        for link, section in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", text):
            target = (tree.root / Path(name).parent / link).resolve() if link else None
            page = pages.get(name) if not link else next(
                (pages[n] for n in pages if (tree.root / n).resolve() == target), None)
            if page is not None and section not in sections(page):
                yield f"{name}: no section #{section} in {link or name}"


def check_front_pages_are_short(tree):
    for name in tree.names:
        lines = len(tree.read(name).splitlines()) if name == "README.md" else 0
        if lines > MAX_README_LINES:
            yield f"{name}: {lines} lines, more than {MAX_README_LINES}"
    for name in tree.ending("docs/Compile.md"):
        words = len(tree.read(name).split())
        if words > MAX_COMPILE_WORDS:
            yield f"{name}: {words} words, more than {MAX_COMPILE_WORDS}"


def check_passes_are_in_the_reference(tree):
    pages = "".join(tree.read(n) for n in tree.ending(".md", under="docs/reference/"))
    for name, _, flag, _ in tree.passes():
        if f"`-{flag}`" not in pages:
            yield f"{name}: docs/reference has no {flag}"


def check_pipeline_page_has_all_stages(tree):
    """docs/phases.svg is drawn from the pipelines; the page says what each pass does."""
    if "docs/phases.svg" not in tree.names:
        return
    drawn, page = tree.read("docs/phases.svg"), tree.read("docs/Pipeline.md")
    for _, _, flag, _ in tree.passes():
        if f">{flag}<" in drawn and f"`{flag}`" not in page:
            yield f"docs/Pipeline.md: no pass {flag}"


def check_named_files_are_there(tree):
    """Pages name files of the tree, which move."""
    for name in tree.ending(".md"):
        for path in re.findall(r"`((?:\.?\w[\w.-]*/)+[\w.-]+)`", tree.read(name)):
            # Elsewhere than in CONTRIBUTING.md a path may be a user's own.
            known = name == "CONTRIBUTING.md" or re.match(
                "(?:docs|examples|include|lib|python|scripts|test|tools)/", path)
            if (known and not path.startswith("build/")
                    and not (tree.root / path).exists()):
                yield f"{name}: no file {path}"


def block_of(text):
    """What is before the brace that closes the block that `text` begins in."""
    depth = 1
    for at, letter in enumerate(text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth == 0:
            return text[:at]
    return text


def check_passes_after_selection_decide_nothing(tree):
    """What the schedule does not say, they do not ask a chip or a model."""
    functions = {function for name in tree.ending(".h", under=("include/nm/GPU/", "lib/GPU/"))
                 if MODEL_HEADER.search(name)
                 for function in re.findall(r"\b(\w+)\(", tree.read(name))}

    def find(text):
        read = CHIP_OR_MODEL.search(text)
        return read.group() if read else next(
            (f for f in re.findall(r"::nm::(\w+)\(", text) if f in functions), None)

    for name in tree.ending(".cpp", ".h", under="lib/"):
        text = tree.read(name)
        if not name.startswith(PASSES):
            if "GEN_PASS_DEF_" in text:
                yield f"{name}: a pass outside of {', '.join(PASSES)}"
            continue
        is_selection = SELECTION.search(name)
        found = find("".join(map(block_of, STAGE.split(text)[1:])) if is_selection else text)
        if found and name not in READS_CHIP_OR_MODEL:
            yield (f"{name}: reads {found} after the choice of a "
                   "schedule, which is to have a field for what that decides")
        elif not found and name in READS_CHIP_OR_MODEL:
            yield f"{name}: reads no chip or model, so is not to be listed"


def check_schedules_are_asked_by_their_interface(tree):
    found = [f"{name}:{text.count(chr(10), 0, cast.start()) + 1}"
             for name in tree.ending(".cpp", ".h")
             if name.startswith(("lib/", "include/")) and "/GPU/Strategies/" not in name
             for text in [tree.read(name)]
             for cast in SCHEDULE_CAST.finditer(text)]
    if len(found) > MAX_SCHEDULE_CASTS:
        yield (f"{len(found)} casts to a strategy's schedule, more than "
               f"{MAX_SCHEDULE_CASTS}: {', '.join(found)}")


def count_constants(tree):
    return {name: len(real_constants(tree.read(name))) for name in tree.names
            if MODELS.search(name)}


def check_models_have_few_constants(tree):
    """A constant that is fitted is upkeep, and one card's: rates belong to chips."""
    count = sum(count_constants(tree).values())
    if count > MAX_REAL_CONSTANTS:
        yield (f"models have {count} real constants, more than {MAX_REAL_CONSTANTS}; "
               "hygiene.py --constants lists them")


def files_of_parameters(tree):
    """The source files that know each parameter of a schedule: by its name, or by the field or the
    getter that nm-tblgen makes of it."""
    names = {name for file in tree.ending("Schedules.td")
             for found in re.findall(r"let parameters =\s*\(ins(.*?)\);", tree.read(file), re.S)
             for name in re.findall(r":\$(\w+)", found)}
    sources = {file: re.sub(r"//[^\n]*", "", tree.read(file)) for file in tree.ending(".cpp", ".h")
               if file.startswith(("include/", "lib/", "tools/"))}
    files = {}
    for name in sorted(names - GO_BY_ALL):
        upper = "".join(word.capitalize() for word in name.split("_"))
        field = upper[0].lower() + upper[1:]
        text = rf"\b{name}\b" if "_" in name else rf"\"{name}\""
        knows = re.compile(rf"(?:\.|->){field}\b(?!\()|\bget{upper}\b|{text}")
        files[name] = [file for file in sources if knows.search(sources[file])]
    return files


def check_few_files_know_a_parameter(tree):
    for name, files in files_of_parameters(tree).items():
        most = FILES_OF_PARAMETERS.get(name, MAX_FILES_OF_PARAMETER)
        if len(files) > most:
            yield (f"{len(files)} source files know the parameter {name}, more than {most}: "
                   f"{', '.join(files)}")
        elif name in FILES_OF_PARAMETERS and len(files) < most:
            yield (f"{len(files)} source files know the parameter {name}, fewer than the {most} of "
                   "FILES_OF_PARAMETERS, which may fall")


def check_shell_scripts(tree):
    tool = shutil.which("shellcheck")
    scripts = [n for n in tree.written()
               if re.match(r"#!.*\b(ba)?sh\b", tree.read(n))]
    if not tool or not scripts:
        return
    result = subprocess.run([tool, "-f", "gcc", *scripts], cwd=tree.root,
                            capture_output=True, text=True)
    yield from result.stdout.splitlines()


CHECKS = [value for name, value in list(globals().items())
          if name.startswith("check_")]


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--constants":
        counts = count_constants(Tree(sys.argv[2]))
        for name, count in sorted(counts.items(), key=lambda item: -item[1]):
            if count:
                print(f"{count:4} {name}")
        print(f"{sum(counts.values()):4} in all")
        return
    if len(sys.argv) == 3 and sys.argv[1] == "--parameters":
        for name, files in files_of_parameters(Tree(sys.argv[2])).items():
            print(f"{len(files):4} {name}")
        return
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tree = Tree(sys.argv[1])
    violations = [line for check in CHECKS for line in check(tree)]
    for line in violations:
        print(line)
    print(f"{len(tree.names)} files, {len(CHECKS)} checks, "
          f"{len(violations)} violations")
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
