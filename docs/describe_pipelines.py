"""Writes the pipelines with their options and passes, as nm-opt says them.

usage: describe_pipelines.py NM_OPT OUTPUT.md
"""

import re
import subprocess
import sys
from pathlib import Path

# A pipeline, and what it needs to be built.
PIPELINES = {"nm-to-cpu": "", "nm-to-nvvm": "=chip=sm_90a", "nm-to-sim": "=chip=sm_90a",
             "nm-bufferized-to-llvm": ""}


def run(tool, *arguments):
    result = subprocess.run([tool, *arguments], input="module {}", text=True,
                            capture_output=True, check=True)
    return result.stdout + result.stderr


def passes_of(nm_opt, pipeline):
    """The passes in order, without their options."""
    text = run(nm_opt, "-", f"--{pipeline}{PIPELINES[pipeline]}", "--dump-pass-pipeline")
    text = text[text.index("builtin.module("):]
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"\{[^{}]*\}", "", text)
    anchors = {"builtin.module", "func.func", "gpu.module"}
    lines = text[:text.index("\n)")].splitlines()
    return [n for line in lines for n in re.findall(r"[\w.-]+", line) if n not in anchors]


def describe(nm_opt):
    help_text = run(nm_opt, "--help")
    listed = help_text[help_text.index("Pass Pipelines:"):]
    yield "<!-- Written by docs/describe_pipelines.py; do not edit. -->\n\n# Pipelines\n"
    for pipeline in PIPELINES:
        section = re.search(rf"^      --{pipeline} +-   (.*)\n((?:        --.*\n)*)", listed,
                            flags=re.M)
        yield f"\n## `{pipeline}`\n\n_{section[1][0].upper()}{section[1][1:]}_\n"
        options = re.findall(r"^ +--([\w-]+)(\S*) +- (.*)$", section[2], flags=re.M)
        if options:
            yield "\n| option | what it is |\n| --- | --- |\n"
        for name, value, text in options:
            value = value.replace("<", "\\<")
            yield f"| `{name}`{value} | {text} |\n"
        names = [f"`{name}`" for name in passes_of(nm_opt, pipeline)]
        example = PIPELINES[pipeline].lstrip("=")
        yield f"\nIts passes{f', with {example}' if example else ''}: {', '.join(names)}.\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    Path(sys.argv[2]).write_text("".join(describe(sys.argv[1])), encoding="utf-8")


if __name__ == "__main__":
    main()
