#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks every #include against doc/layers.txt.

    tools/layers.py [ROOT]

A line of doc/layers.txt names a layer (a folder of src/) and the layers it may include besides itself; "all of the
above" means all layers listed before it. The lowest layer comes first: each may include only layers above it in the
list, so there are no circles of folders. Code outside src/ (bridge, cmd, example, the public headers) includes only
<weft/...>.

Within a folder modules may include each other in circles; a module is a header and the source file of its name. A line
"limit circle 9" limits the modules of a circle, "limit folder 18" limits each folder to that percentage of the lines
of src/, and "limit core 5500" limits the lines of that folder. Tests do not count. The tool prints the circles
and the largest folders.
"""
import collections
import pathlib
import re
import sys

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"([^"]+)"|<([^>]+)>|(\w+))', re.M)
SOURCES = {".c", ".h", ".cpp", ".hpp", ".S", ".in"}

# arch/arch.hpp includes the headers of the chosen processor by macros that CMake defines.
MACROS = {"WEFT_ARCH_CONTEXT": "arch", "WEFT_ARCH_CPU": "arch", "WEFT_ARCH_LOOK": "arch"}
# Folders of which the build chooses one: only files within them may name them, and the layer that
# comes with the choice.
CHOSEN = re.compile(r"^(arch/(?:x86_64|aarch64)|os/(?:linux|sim))/")
COMES_WITH = {"os/sim": "sim"}
SUFFIX = re.compile(r"\.(c|h|cpp|hpp|S)(\.in)?$")
OF_TESTS = re.compile(r"_(test|bench)$")
# Only tests may include it: test/ is not a layer.
TEST_ONLY = "test"
OUTSIDE = ["bridge", "cmd", "example", "include"]


def read_layers(path):
    """{layer: the layers it may include, itself among them}, {what is limited: the limit}, and the errors in the
    file."""
    layers, limits, wrong = {}, {}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if words[0] == "limit":
            if len(words) == 3 and words[2].isdecimal():
                limits[words[1]] = int(words[2])
            else:
                wrong.append(f"{path.name}:{number}: a limit reads: limit <what> <number>")
            continue
        layer, may = words[0], words[1:]
        if layer in layers:
            wrong.append(f"{path.name}:{number}: {layer} is listed twice")
        if may == ["all", "of", "the", "above"]:
            may = list(layers)
        for other in may:
            if other not in layers:
                wrong.append(f"{path.name}:{number}: {layer} may include {other}, which is not listed above it")
        layers[layer] = {layer, *may}
    for what in limits:
        if what not in {"circle", "folder", *layers}:
            wrong.append(f"{path.name}: there is no {what} to be limited")
    return layers, limits, wrong


def sources(folder):
    return [path for path in sorted(folder.rglob("*")) if path.suffix in SOURCES and path.is_file()]


def includes(path):
    """(line number, included file, or else the name of a macro, whether in quotes) of each include."""
    text = path.read_text()
    for found in INCLUDE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield line, found.group(1) or found.group(2), found.group(3), found.group(1) is not None


def check_src(root, layers):
    wrong = []
    src = root / "src"
    for path in sources(src):
        name = path.relative_to(src)
        layer = name.parts[0]
        if len(name.parts) < 2 or layer not in layers:
            wrong.append(f"src/{name}: is in no layer of doc/layers.txt")
            continue
        test = OF_TESTS.search(path.stem)
        for line, file, macro, quoted in includes(path):
            where = f"src/{name}:{line}"
            if macro:
                if MACROS.get(macro) not in layers[layer]:
                    wrong.append(f"{where}: includes the macro {macro}")
                continue
            target = file.partition("/")[0] if "/" in file else None
            if target in layers:
                if target not in layers[layer]:
                    wrong.append(f"{where}: {layer}/ may not include {target}/ ({file})")
                chosen = CHOSEN.match(file)
                if chosen and not str(name).startswith(chosen.group(0)) and COMES_WITH.get(chosen.group(1)) != layer:
                    wrong.append(f"{where}: {chosen.group(1)}/ is chosen by the build; include its contract")
                if not (src / file).exists() and not (src / f"{file}.in").exists():
                    wrong.append(f"{where}: there is no src/{file}")
            elif target == "weft":  # every layer may include the public headers
                if not (root / "include" / file).exists():
                    wrong.append(f"{where}: there is no include/{file}")
            elif quoted and not (test and target == TEST_ONLY):
                wrong.append(f'{where}: "{file}" does not begin with a layer')
    return wrong


def check_outside(root, layers):
    """Code outside src/ may include neighbours by their names, and of Weft only <weft/...>."""
    wrong = []
    for folder in OUTSIDE:
        for path in sources(root / folder):
            for line, file, macro, quoted in includes(path):
                where = f"{path.relative_to(root)}:{line}"
                if macro:
                    wrong.append(f"{where}: includes the macro {macro}")
                elif quoted and not (path.parent / file).exists():
                    wrong.append(f'{where}: "{file}" is no neighbour; of Weft it may include <weft/...> only')
                elif file.partition("/")[0] in layers and "/" in file:
                    wrong.append(f"{where}: {file} is Weft's inside; it may include <weft/...> only")
                elif file.startswith("weft/") and not (root / "include" / file).exists():
                    wrong.append(f"{where}: there is no include/{file}")
    return wrong


def modules(src):
    """{module: the modules that its files include}. A module has the name of its files without their suffixes."""
    found = collections.defaultdict(set)
    for path in sources(src):
        module = SUFFIX.sub("", str(path.relative_to(src)))
        if OF_TESTS.search(module):
            continue
        found[module] |= {SUFFIX.sub("", file) for _, file, macro, quoted in includes(path) if quoted and not macro} - {
            module
        }
    return found


def circles(graph):
    """Sets of nodes that reach each other, the largest first (Tarjan's strongly connected components)."""
    number, lowest, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in number:
                visit(other)
            if other in stack:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == number[node]:
            where = stack.index(node)
            found.append(sorted(stack[where:]))
            del stack[where:]

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return sorted((circle for circle in found if len(circle) > 1), key=len, reverse=True)


def check_sizes(root, limits):
    """Prints the circles and the largest folders; returns which of them are too large."""
    src, wrong = root / "src", []
    for circle in circles(modules(src)):
        line = f"a circle of {len(circle)}: {' '.join(circle)}"
        print(line)
        if len(circle) > limits.get("circle", len(circle)):
            wrong.append(f"src/: {line}; at most {limits['circle']} may include each other")
    lines = collections.Counter()
    for path in sources(src):
        if not OF_TESTS.search(path.stem):
            lines[path.relative_to(src).parts[0]] += len(path.read_text().splitlines())
    all_lines = sum(lines.values())
    for folder, count in lines.most_common():
        percent = 100 * count / all_lines
        if percent >= 10:
            print(f"{folder}/: {count} lines, {percent:.1f} % of src/")
        if percent > limits.get("folder", 100):
            wrong.append(f"src/{folder}: {percent:.1f} % of the lines of src/; a folder may have {limits['folder']} %")
        if count > limits.get(folder, count):
            wrong.append(f"src/{folder}: {count} lines; it may have {limits[folder]}")
    return wrong


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    layers, limits, wrong = read_layers(root / "doc" / "layers.txt")
    wrong += check_src(root, layers) + check_outside(root, layers) + check_sizes(root, limits)
    for line in wrong:
        print(line)
    print(f"{len(layers)} layers, {len(sources(root / 'src'))} files, {len(wrong)} wrong")
    return 1 if wrong or not layers else 0


if __name__ == "__main__":
    sys.exit(main())
