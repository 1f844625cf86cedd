#!/usr/bin/env python3
"""Writes the pages of results, and the tables of the README, from measurements.

usage: make_results.py [--plots] [--check]

A folder beside this script is a card. Its page.toml has the page's title and parts.
Each NAME.csv in it is a table of one commit, and NAME.toml says which: `title`,
`commit`, `date`, `device`, `command`, and what else `Table` has. A file that
`nm-bench --csv` wrote is taken as it is; any other is a table that is printed as
it stands.

With --plots the figures are drawn too, which needs matplotlib and nm's package. With
--check nothing is written: it fails where a page, the README, or a figure is not of
the measurements that are there.
"""

import argparse
import csv
import hashlib
import math
import re
import sys
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
README = HERE.parents[1] / "README.md"
CARDS = ("h200", "h100", "cpu", "accuracy", "pruning")
# More rows than this multiply operands that stay in the cache: as in nm-bench.
MOST_COLD_ROWS = 64


@dataclass
class Table:
    """A file of measurements, and what its sidecar says of it."""

    path: Path
    title: str
    commit: str
    date: str
    device: str
    command: str
    # What ran beside it, as "CUDA 13.0, cuBLAS 13.1.0".
    versions: str = ""
    # What to see, above and below the table.
    text: str = ""
    after: str = ""
    # Of nm-bench's files: which of "summary", "rows", and which figures.
    show: list[str] = field(default_factory=lambda: ["rows"])
    plots: list[str] = field(default_factory=list)
    rows: list[dict[str, str]] = field(default_factory=list)

    @property
    def is_of_bench(self):
        return bool(self.rows) and "blas_median_us" in self.rows[0]

    @property
    def digest(self):
        return hashlib.sha256(self.path.read_bytes()).hexdigest()[:16]

    def figure(self, kind):
        return self.path.with_name(f"{self.path.stem}-{kind}.svg")


def read_table(path):
    with open(path.with_suffix(".toml"), "rb") as file:
        about = tomllib.load(file)
    with open(path, newline="", encoding="utf-8") as file:
        table = Table(path=path, rows=list(csv.DictReader(file)), **about)
    if not table.rows:
        raise ValueError(f"{path}: expected rows, but found none")
    return table


# ===-- Tables ------------------------------------------------------------===


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def micros(text):
    """Three digits, which is what times repeat to."""
    if not text:
        return "-"
    value = float(text)
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


# The granularity of weights that are pruned one by one, in no windows.
ANYWHERE = "unstructured"


def weights_of(row):
    """What is said of weights that no call takes, which files of before them have not."""
    return f", {row['weights']}" if row.get("weights") else ""


def pattern_of(row):
    if row["granularity"] == ANYWHERE:
        return f"{row['pattern_n']} anywhere{weights_of(row)}"
    block = f"{row['block_k']}x{row['block_n']}"
    text = f"{row['pattern_n']}:{row['pattern_m']}"
    return (text if block == "1x1" else f"{text}, {block}") + weights_of(row)


def counts(row):
    """Whether there is a speed-up that was neither disturbed nor inaccurate."""
    return (row["speedup"] and row["accurate"] not in ("0", "")
            and row["disturbed"] in ("0", ""))


def ratio(row, column):
    if not row.get(column):
        return "-"
    return f"{float(row[column]) / float(row['median_us']):.2f}"


# ===-- What ran ----------------------------------------------------------===

TENSOR_CORES = ("wgmma", "wgmma_select", "mma_sync")
SPARSE_TENSOR_CORES = ("wgmma_sp", "mma_sp")
WIDER = re.compile(r"weights are taken to be (\d+):(\d+)")
MARKS = {"c": "CUDA cores", "t": "tensor cores", "s": "sparse tensor cores",
         "x": "CPU cores", "b": "cuBLAS, with dense weights"}
DENSE_MARK, PARTLY_MARK = "d", "p"


def what_ran(row):
    """The unit that multiplied and what became of the zeros, from the columns `unit` and
    `zeros`, which files of before them have in the strategy and the remark alone."""
    if row.get("unit"):
        return row["unit"], row["zeros"]
    strategy, _, dense = row["strategy"].partition(" ")
    if row.get("threads", "0") not in ("0", ""):
        return "cpu cores", "multiplied" if dense else "skipped"
    if strategy == "cublas":
        return "cublas", "multiplied"
    unit = ("sparse tensor cores" if strategy in SPARSE_TENSOR_CORES else
            "tensor cores" if strategy in TENSOR_CORES else "cuda cores")
    if dense:
        return unit, "multiplied"
    density = 1 - float(row["sparsity"])
    wider = WIDER.search(row.get("remark") or "")
    made = (0.5 if unit == "sparse tensor cores" else
            int(wider[1]) / int(wider[2]) if wider else density)
    return unit, "skipped" if made <= density + 1e-9 else "partly"


def mark(row):
    """`t`, `td` where its zeros were multiplied, `tp` where some were."""
    unit, zeros = what_ran(row)
    letter = {"cublas": "b", "cpu cores": "x"}.get(unit, unit[0])
    if letter == "b":
        return letter
    return letter + {"multiplied": DENSE_MARK, "partly": PARTLY_MARK}.get(zeros, "")


def marks(rows):
    return "/".join(sorted({mark(row) for row in rows} - {"x"}))


def legend(rows):
    """What the marks of these rows stand for."""
    used = {mark(row) for row in rows} - {"x"}
    if not used:
        return ""
    letters = [f"{letter}: {MARKS[letter]}" for letter in MARKS
               if any(each[0] == letter for each in used)]
    if any(each[1:] == DENSE_MARK for each in used):
        letters.append(f"{DENSE_MARK} behind one: with dense weights, zeros multiplied")
    if any(each[1:] == PARTLY_MARK for each in used):
        letters.append(f"{PARTLY_MARK} behind one: some zeros multiplied")
    return "What multiplied: " + "; ".join(letters) + ". Other zeros are skipped."


def each_case(table):
    """A line for each case of nm-bench."""
    has_csr = any(row.get("csr_median_us") for row in table.rows)
    has_sparse = any(row["sparse_median_us"] for row in table.rows)
    has_reduced = any(row.get("blas_tf32_median_us") for row in table.rows)
    has_steps = any(row["step"] or row["schedule"] for row in table.rows)
    types = len({(row["type"], row["result_type"]) for row in table.rows}) > 1
    header = ["m x n x k", "pattern", "zeros", *["type"] * types,
              *["schedule"] * has_steps, "strategy", "ran", "nm, µs", "dense, µs",
              "dense / nm", *["in TF32, µs", "TF32 / nm", "in f16, µs"] * has_reduced,
              *["cuSPARSELt, µs", "cuSPARSELt / nm"] * has_sparse,
              *["cuSPARSE, µs", "cuSPARSE / nm"] * has_csr, "error"]
    lines = []
    for row in table.rows:
        shape = "x".join(row[size] for size in "mnk")
        kind = row["type"] + (f" → {row['result_type']}"
                              if row["result_type"] != row["type"] else "")
        step = row["step"] or (f"`{row['schedule']}`" if row["schedule"] else "chosen")
        reduced = [micros(row.get("blas_tf32_median_us")),
                   ratio(row, "blas_tf32_median_us"), micros(row.get("blas_f16_median_us"))]
        sparse = [micros(row["sparse_median_us"]), ratio(row, "sparse_median_us")]
        csr = [micros(row.get("csr_median_us")), ratio(row, "csr_median_us")]
        lines.append([
            shape, pattern_of(row), f"{100 * float(row['sparsity']):.4g} %",
            *[kind] * types, *[step] * has_steps, row["strategy"], mark(row),
            micros(row["median_us"]), micros(row["blas_median_us"]),
            ratio(row, "blas_median_us") if counts(row) else "-",
            *reduced * has_reduced, *sparse * has_sparse, *csr * has_csr, f"{float(row['relative_error']):.1e}"])
    return "\n\n".join(filter(None, [markdown(header, lines), legend(table.rows)]))


def cell(rows):
    """Geometric mean (least-most), and what multiplied."""
    if not rows:
        return "-"
    return f"{mean_of([float(row['speedup']) for row in rows])} {marks(rows)}".rstrip()


def mean_of(speedups):
    mean = math.exp(sum(map(math.log, speedups)) / len(speedups))
    if len(speedups) == 1:
        return f"{mean:.2f}"
    return f"{mean:.2f} ({min(speedups):.2f}-{max(speedups):.2f})"


def group_of(row):
    """The table that a case is in: its types, and whether weights are cold."""
    kind = row["type"]
    if row["result_type"] != row["type"]:
        kind += f", C in {row['result_type']}"
    rows = int(row["m"])
    return f"{kind}, " + (f"m = {rows}" if rows <= MOST_COLD_ROWS
                          else f"m > {MOST_COLD_ROWS}")


def granularities(rows):
    """By granularity, and by M where one sparsity has several."""
    found = {}
    windows = {}
    for row in rows:
        key = (row["granularity"] + weights_of(row), row["step"] or row["schedule"],
               row["sparsity"])
        windows.setdefault(key, set()).add(int(row["pattern_m"]))
    for row in rows:
        kind, step = row["granularity"] + weights_of(row), row["step"] or row["schedule"]
        name = kind + (f", {step}" if step else "")
        if any(len(each) > 1 for key, each in windows.items()
               if key[:2] == (kind, step)):
            name += f", M = {row['pattern_m']}"
        found.setdefault(name, []).append(row)
    return found


def summary(table):
    """Speed-ups over dense by granularity and sparsity, over all shapes."""
    groups = {}
    for row in filter(counts, table.rows):
        groups.setdefault(group_of(row), []).append(row)
    parts = []
    for title, rows in groups.items():
        sparsities = sorted({float(row["sparsity"]) for row in rows})
        lines = []
        for name, each in granularities(rows).items():
            cells = [cell([row for row in each if float(row["sparsity"]) == sparsity])
                     for sparsity in sparsities]
            lines.append([name, *cells])
        shapes = len({tuple(row[size] for size in "mnk") for row in rows})
        dense = sum(row["strategy"] == "cublas" for row in rows)
        error = max(float(row["relative_error"]) for row in rows)
        left = f" {dense} of {len(rows)} products were left to cuBLAS." if dense else ""
        parts.append(
            f"**{title}**: speed-up over dense, geometric mean (least-most) of up to "
            f"{shapes} shape{'s' * (shapes > 1)}.{left} The largest error against float64 "
            f"is {error:.1e}.\n\n"
            + markdown(["pruned at once", *(f"{100 * each:.4g} %"
                                            for each in sparsities)], lines)
            + (f"\n\n{legend(rows)}" if legend(rows) else ""))
    return "\n\n".join(parts)


def as_it_stands(table):
    return markdown(list(table.rows[0]), [list(row.values()) for row in table.rows])


# ===-- Pages -------------------------------------------------------------===


def describe(table):
    """The section of one table."""
    stem = f"{table.path.parent.name}/{table.path.name}"
    facts = [f"commit {table.commit}", table.date, table.device, table.versions]
    parts = [f"### {table.title}", ", ".join(filter(None, facts))
             + f". [The file]({stem}).", f"```sh\n{table.command.strip()}\n```",
             table.text.strip()]
    if not table.is_of_bench:
        parts.append(as_it_stands(table))
    elif "summary" in table.show:
        parts.append(summary(table))
    if table.is_of_bench and "rows" in table.show:
        parts.append(each_case(table))
    for kind in table.plots:
        figure = table.figure(kind)
        parts.append(f"![{table.title}: {kind}]({figure.parent.name}/{figure.name})")
    parts.append(table.after.strip())
    return "\n\n".join(filter(None, parts))


def read_card(card):
    """The page's title and text, and the tables of each of its parts."""
    folder = HERE / card
    with open(folder / "page.toml", "rb") as file:
        page = tomllib.load(file)
    wanted = [name for part in page["part"] for name in part["tables"]]
    there = sorted(path.stem for path in folder.glob("*.csv"))
    if sorted(wanted) != there:
        raise ValueError(f"{folder}/page.toml: expected each file in one part, but got "
                         f"{sorted(set(wanted) ^ set(there)) or wanted}")
    for part in page["part"]:
        part["tables"] = [read_table(folder / f"{name}.csv") for name in part["tables"]]
    titles = [table.title for part in page["part"] for table in part["tables"]]
    if len(set(titles)) < len(titles):
        raise ValueError(f"{folder}: expected a title of its own for each table, but got "
                         f"{sorted(titles)}")
    return page


def slug(title):
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def make_page(page):
    parts = [f"# {page['title']}",
             "<!-- Written by docs/results/make_results.py; do not edit. -->",
             page["text"].strip()]
    parts.append("\n".join(
        f"- [{part['title']}](#{slug(part['title'])}): " + ", ".join(
            f"[{table.title}](#{slug(table.title)})" for table in part["tables"])
        for part in page["part"]))
    for part in page["part"]:
        parts.append(f"## {part['title']}")
        if part.get("text"):
            parts.append(part["text"].strip())
        parts += [describe(table) for table in part["tables"]]
    return "\n\n".join(parts) + "\n"


# ===-- The README --------------------------------------------------------===


def find_row(rows, where, name):
    found = [row for row in rows
             if all(row.get(key) == str(value) for key, value in where.items())]
    if len(found) != 1:
        raise ValueError(f"front.toml: expected one row of {name} with {where}, "
                         f"but got {len(found)}")
    return found[0]


def front_line(entry):
    """A line of the README's table: dense, the best peer, and nm."""
    table = read_table(HERE / f"{entry['table']}.csv")
    card = table.path.parent.name
    cells = []
    for column in ("dense", "peer", "nm"):
        wanted = entry.get(column)
        if not wanted or "column" not in wanted:
            cells.append(wanted["text"] if wanted else "-")
            continue
        row = find_row(table.rows, {**entry.get("where", {}), **wanted.get("where", {})},
                       entry["table"])
        cells.append(micros(row[wanted["column"]]) + wanted.get("note", ""))
    link = f"docs/results/{card}.md#{slug(table.title)}"
    return [f"[{entry['what']}]({link})", *cells]


def make_front(text):
    """The README with its table anew."""
    with open(HERE / "front.toml", "rb") as file:
        front = tomllib.load(file)
    commits = {read_table(HERE / f"{each['table']}.csv").commit for each in front["line"]}
    if len(commits) > 1:
        raise ValueError(f"front.toml: expected lines of one commit, but got {commits}")
    lines = markdown(front["header"], [front_line(each) for each in front["line"]])
    begin, end = "<!-- results -->\n", "\n<!-- end of results -->"
    if begin not in text or end not in text:
        raise ValueError(f"{README.name}: expected the lines {begin!r} and {end!r}")
    before, _, rest = text.partition(begin)
    return before + begin + lines + end + rest.partition(end)[2]


# ===-- Figures -----------------------------------------------------------===


def front_plot():
    """The table, the shape and the file of the README's figure."""
    with open(HERE / "front.toml", "rb") as file:
        plot = tomllib.load(file)["plot"]
    return read_table(HERE / f"{plot['table']}.csv"), plot["shape"], HERE / "front.svg"


def figures(tables):
    """(file, table, kind, shape) of all figures."""
    found = [(table.figure(kind), table, kind, None)
             for table in tables for kind in table.plots]
    table, shape, path = front_plot()
    return [*found, (path, table, "speedup", tuple(shape))]


def stamp(table):
    return f"of {table.path.name}, {table.digest}"


def draw(path, table, kind, shape):
    sys.path.insert(0, str(HERE.parents[1] / "python"))
    from nm._plots.data import _counts, read_measurements
    from nm._plots.roofline import draw_roofline
    from nm._plots.speedup import draw_speedup
    from nm._plots.style import styled
    # Files of before have no columns of what multiplied.
    ran = map(what_ran, filter(_counts, table.rows))
    rows = [replace(row, unit=unit, zeros=zeros)
            for row, (unit, zeros) in zip(read_measurements(str(table.path)), ran)
            if shape is None or row.shape == shape]
    drawing = (draw_roofline if kind == "roofline" else draw_speedup)(rows, table.date)
    with styled():
        drawing.savefig(path, metadata={"Date": None, "Description": stamp(table)})


# ===-- Main --------------------------------------------------------------===


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--plots", action="store_true")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    cards = {card: read_card(card) for card in CARDS}
    tables = [table for page in cards.values() for part in page["part"]
              for table in part["tables"]]
    texts = {HERE / f"{card}.md": make_page(page) for card, page in cards.items()}
    texts[README] = make_front(README.read_text(encoding="utf-8"))
    stale = []
    for path, text in texts.items():
        if not args.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path.name)
    for path, table, kind, shape in figures(tables):
        if args.plots and not args.check:
            draw(path, table, kind, shape)
        elif not path.exists() or stamp(table) not in path.read_text(encoding="utf-8"):
            stale.append(path.name)
    if stale:
        sys.exit(f"not of the measurements in docs/results: {', '.join(stale)}; update "
                 "by:\n  docs/results/make_results.py --plots")


if __name__ == "__main__":
    main()
