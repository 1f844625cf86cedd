"""Feeds nm-opt with mutated IR: no input may end its process by a signal.

usage: fuzz_ir.py NM_OPT SOURCE_DIR [--seed N] [--first N] [--batches N]
                  [--mutants N] [--seconds S] [--save FOLDER]

The seeds are the IR of the lit tests, which reach every op, attribute and pass.
A batch takes the parts of one test, makes mutants of them, and runs nm-opt on
all of them at once, with the flags of one of the test's RUN lines or of passes
drawn at random. Every other batch is for one pass, one after the other: a test
of it, run as that test runs it. What a batch does follows from the seed and its
number alone, so that a finding can be run again. A mutant that ends nm-opt by a
signal is reduced and printed with its flags; --save keeps it in a folder. Those
that only take too long, or too much memory, are counted, and so are those that
end upstream: without anything of nm's, or where UPSTREAM says.
"""

import argparse
import glob
import os
import random
import re
import resource
import shlex
import subprocess
import sys
import time

# Of a process, and of each mutant that it is given.
SECONDS_OF_PROCESS, SECONDS_OF_MUTANT = 10, 0.5
BYTES_OF_PROCESS = 8 << 30

NUMBERS = [0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256, 1023, 4096,
           65535, 65536, 2**31 - 1, 2**31, 2**32, 2**40, 2**40 + 1, 2**62, 2**63 - 1]
TYPES = ["f32", "f16", "bf16", "i8", "i32", "f64", "i1", "index", "f8E4M3FN", "i64"]
WORDS = ["packing", "schedule", "transpose_a", "transpose_c", "where", "rows", "part", "tokens",
         "async_proxy", "registers", "block", "stages", "split_k", "cluster_k"]
# Where upstream's own code dies of IR that its verifiers let pass, and that has
# nothing to do with ours: ops of other dialects between transform ops.
UPSTREAM = ("mlir::transform::TransformState::applyTransform",)
TOKEN = re.compile(r"%[\w#:]+|@[\w.]+|#[\w.]+|![\w.]+|-?\d+|\w+(?:\.\w+)*|\s+|.", re.DOTALL)


class Seeds:
    """The parts of the lit tests' IR, and the flags that they are run with."""

    def __init__(self, source):
        self.tests = []
        for path in sorted(glob.glob(os.path.join(source, "test/**/*.mlir"), recursive=True)):
            with open(path) as file:
                text = file.read()
            runs = [found for line in re.findall(r"RUN: *(.*)", text.replace("\\\n// RUN:", ""))
                    if (found := flags_of_run(line)) is not None]
            parts = [without_comments(part) for part in text.split("// -----")]
            parts = [part for part in parts if part.strip()]
            if runs and parts and max(map(len, parts)) < 20000:
                self.tests.append((os.path.relpath(path, source), runs, parts))
        self.passes = []
        for path in sorted(glob.glob(os.path.join(source, "include/nm/**/*.td"), recursive=True)):
            with open(path) as file:
                self.passes += re.findall(r':\s*Pass<"([\w-]+)"', file.read())
        # The tests of each pass, with the runs that have it.
        self.tests_of = {}
        for name in self.passes:
            of_pass = re.compile(rf"(^--|[(,]){re.escape(name)}(?![\w-])")
            for path, runs, parts in self.tests:
                own = [run for run in runs if any(map(of_pass.search, run))]
                if own:
                    self.tests_of.setdefault(name, []).append((path, own, parts))


def flags_of_run(line):
    """The flags of `nm-opt %s FLAGS`; None for another command."""
    words = shlex.shlex(line, posix=True, punctuation_chars="|&>")
    words.whitespace_split = True
    words.commenters = ""
    command = []
    for word in words:
        if set(word) <= set("|&>"):
            if word.startswith(">") and command[-1] == "2":
                del command[-1]
            break
        command.append(word)
    command = command[1:] if command[:1] == ["not"] else command
    if command[:2] != ["nm-opt", "%s"] or any("%" in word for word in command[2:]):
        return None
    return [flag for flag in command[2:]
            if not flag.startswith(("--verify-diagnostics", "--split-input-file", "-o"))]


def without_comments(text):
    return "\n".join(line for line in text.splitlines()
                     if not line.lstrip().startswith("//")) + "\n"


# Mutations: each takes tokens, and changes them in place.

def change_number(tokens, draw, others):
    places = [i for i, token in enumerate(tokens) if re.fullmatch(r"-?\d+", token)]
    if places:
        i = draw.choice(places)
        number = draw.choice([draw.choice(NUMBERS), -draw.choice(NUMBERS),
                              int(tokens[i]) + draw.choice([-1, 1]), int(tokens[i]) * 2,
                              int(draw.choice([tokens[j] for j in places]))])
        tokens[i] = str(number)


def change_shape(tokens, draw, others):
    places = [i for i, token in enumerate(tokens) if re.fullmatch(r"\d+x[\dx]*\w+", token)]
    if places:
        i = draw.choice(places)
        sizes = tokens[i].split("x")
        j = draw.randrange(len(sizes))
        if j == len(sizes) - 1:
            sizes[j] = draw.choice(TYPES)
        else:
            action = draw.randrange(4)
            if action == 0:
                sizes[j] = str(draw.choice(NUMBERS))
            elif action == 1:
                sizes[j] = "?"
            elif action == 2:
                del sizes[j]
            else:
                sizes.insert(j, str(draw.choice([1, 2, 3, 32])))
        tokens[i] = "x".join(sizes)


def swap_alike(tokens, draw, others):
    first = draw.randrange(len(tokens))
    kind = tokens[first][:1]
    places = [i for i, token in enumerate(tokens)
              if token[:1] == kind and not token.isspace() and token != tokens[first]]
    if places and not kind.isspace():
        second = draw.choice(places)
        tokens[first], tokens[second] = tokens[second], tokens[first]


def repeat_alike(tokens, draw, others):
    first = draw.randrange(len(tokens))
    places = [i for i, token in enumerate(tokens) if token[:1] == tokens[first][:1]]
    tokens[first] = tokens[draw.choice(places)]


def drop_tokens(tokens, draw, others):
    first = draw.randrange(len(tokens))
    del tokens[first:first + draw.choice([1, 1, 2, 4])]


def insert_word(tokens, draw, others):
    tokens.insert(draw.randrange(len(tokens)), f" {draw.choice(WORDS)} ")


def lines_of(tokens):
    return "".join(tokens).splitlines(keepends=True)


def drop_line(tokens, draw, others):
    lines = lines_of(tokens)
    del lines[draw.randrange(len(lines))]
    tokens[:] = TOKEN.findall("".join(lines))


def repeat_line(tokens, draw, others):
    lines = lines_of(tokens)
    lines.insert(draw.randrange(len(lines)), draw.choice(lines))
    tokens[:] = TOKEN.findall("".join(lines))


def take_line(tokens, draw, others):
    lines = lines_of(tokens)
    lines.insert(draw.randrange(len(lines)), draw.choice(lines_of([draw.choice(others)])))
    tokens[:] = TOKEN.findall("".join(lines))


def take_attribute(tokens, draw, others):
    """Puts an attribute of another test in the place of one like it."""
    attribute = re.compile(r"#nm\.\w+<[^<>]*(?:<[^<>]*>[^<>]*)*>")
    text = "".join(tokens)
    here = list(attribute.finditer(text))
    there = attribute.findall(draw.choice(others))
    if here and there:
        place = draw.choice(here)
        text = text[:place.start()] + draw.choice(there) + text[place.end():]
        tokens[:] = TOKEN.findall(text)


MUTATIONS = [change_number] * 4 + [change_shape] * 4 + [swap_alike] * 3 + [
    repeat_alike, repeat_alike, drop_tokens, insert_word, drop_line, repeat_line, take_line,
    take_attribute, take_attribute]


def mutate(text, draw, others):
    tokens = TOKEN.findall(text)
    for _ in range(draw.choice([1, 1, 1, 2, 3, 6])):
        if tokens:
            draw.choice(MUTATIONS)(tokens, draw, others)
    return "".join(tokens)


def draw_flags(seeds, runs, draw):
    kind = draw.randrange(6)
    if kind == 0:
        return []
    if kind == 1:
        return ["--nm-attach-chip=chip=sm_90a"] + [
            f"--{name}" for name in draw.choices(seeds.passes, k=draw.choice([1, 2, 3]))
            if name != "nm-attach-chip"]
    return draw.choice(runs)


def limit_memory():
    # AddressSanitizer reserves more than there is.
    if "ASAN_OPTIONS" not in os.environ:
        resource.setrlimit(resource.RLIMIT_AS, (BYTES_OF_PROCESS, BYTES_OF_PROCESS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Runner:
    def __init__(self, nm_opt):
        self.nm_opt = nm_opt
        self.slow = 0
        self.upstream = 0
        self.executions = 0
        self.place = ""

    def run(self, text, flags, seconds=SECONDS_OF_PROCESS):
        """The signal that ends nm-opt, 0, or None where it takes too long or too
        much memory."""
        command = [self.nm_opt, "-", *flags, "--split-input-file", "--mlir-disable-threading",
                   "-o", os.devnull]
        try:
            done = subprocess.run(command, input=text.encode(), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=seconds,
                                  preexec_fn=limit_memory)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode >= 0:
            return 0
        if b"out of memory" in done.stderr or b"bad_alloc" in done.stderr:
            return None
        # The first named frame of the stack trace below the handler of signals.
        names = re.findall(rb"^ *#\d+ 0x\w+ ([\w:]+)\(", done.stderr, re.MULTILINE)
        self.place = next((name.decode() for name in names
                           if not name.startswith(b"llvm::sys::")), "")
        return -done.returncode

    def dies(self, text, flags):
        return self.run(text, flags) or 0

    def killers(self, mutants, flags):
        """Those of the mutants that end nm-opt by a signal, which is given with
        each."""
        outcome = self.run("\n// -----\n".join(mutants), flags,
                           SECONDS_OF_PROCESS + SECONDS_OF_MUTANT * len(mutants))
        if outcome == 0 or len(mutants) == 1:
            self.executions += len(mutants)
            self.slow += outcome is None
            return [(mutants[0], outcome)] if outcome else []
        half = len(mutants) // 2
        return self.killers(mutants[:half], flags) + self.killers(mutants[half:], flags)

    def is_upstream(self, text, flags):
        """Whether it dies where upstream is known to, or upstream's parser alone
        does, of its own ops and types."""
        if self.dies(text, flags) and self.place in UPSTREAM:
            return True
        return not re.search(r"[#!]?\bnm\.", text) and self.dies(text, [])

    def reduce(self, text, flags):
        """Drops lines as long as the process still dies."""
        lines, size = text.splitlines(keepends=True), 8
        while size:
            at = 0
            while at < len(lines):
                shorter = lines[:at] + lines[at + size:]
                if shorter and self.dies("".join(shorter), flags):
                    lines = shorter
                else:
                    at += size
            size //= 2
        return "".join(lines)


def plan(seeds, options, number):
    """What batch `number` does: a test's path, flags and mutants."""
    draw = random.Random(f"{options.seed}/{number}")
    if number % 2:
        # Hashed, so that batches of a short run are of other passes for another seed.
        known = sorted(seeds.tests_of, key=lambda name: random.Random(
            f"{options.seed}/{name}").random())
        path, runs, parts = draw.choice(seeds.tests_of[known[number // 2 % len(known)]])
        flags = draw.choice(runs)
    else:
        path, runs, parts = draw.choice(seeds.tests)
        flags = draw_flags(seeds, runs, draw)
    others = [draw.choice(draw.choice(seeds.tests)[2]) for _ in range(4)] + parts
    return path, flags, [mutate(draw.choice(parts), draw, others)
                         for _ in range(options.mutants)]


def report(number, path, flags, mutant, signal, folder):
    print(f"batch {number}, from {path}: signal {signal} by\n"
          f"nm-opt {shlex.join(flags)}\n{mutant}", flush=True)
    if folder:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{number}.mlir"), "w") as file:
            file.write(f"// nm-opt {shlex.join(flags)}\n{mutant}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nm_opt")
    parser.add_argument("source")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first batch")
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--mutants", type=int, default=24, help="of a batch")
    parser.add_argument("--seconds", type=float, default=float("inf"),
                        help="start no batch after that time")
    parser.add_argument("--save", help="a folder for what is found")
    options = parser.parse_args()
    seeds, runner = Seeds(options.source), Runner(options.nm_opt)
    untested = sorted(set(seeds.passes) - set(seeds.tests_of))
    if untested:
        sys.exit(f"expected a test with nm-opt of each pass, but found none of {untested}")
    end, found, done = time.monotonic() + options.seconds, 0, 0
    for number in range(options.first, options.first + options.batches):
        if time.monotonic() > end:
            break
        path, flags, mutants = plan(seeds, options, number)
        done += 1
        for mutant, signal in runner.killers(mutants, flags)[:1]:
            mutant = runner.reduce(mutant, flags)
            if runner.is_upstream(mutant, flags):
                runner.upstream += 1
                continue
            found += 1
            report(number, path, flags, mutant, signal, options.save)
    print(f"{runner.executions} mutants in {done} batches with seed {options.seed}: "
          f"{found} died by a signal, {runner.upstream} upstream, "
          f"{runner.slow} took too long")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
