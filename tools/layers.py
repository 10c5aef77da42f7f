#!/usr/bin/env python3
"""Every #include goes with doc/layers.txt.

    tools/layers.py [ROOT]

A line of doc/layers.txt names a layer (a folder of src/) and the layers it may include besides itself; "all of the
above" means what it says. The layers stand lowest first: each may include only layers above it in the list, so
there are no cycles. What is not in src/ (bridge, cmd, example, the public headers) includes <weft/...> only.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"([^"]+)"|<([^>]+)>|(\w+))', re.M)
SOURCES = {".c", ".h", ".cpp", ".hpp", ".S", ".in"}

# arch/arch.hpp includes the headers of the chosen processor by macros that CMake defines.
MACROS = {"WEFT_ARCH_CONTEXT": "arch", "WEFT_ARCH_CPU": "arch", "WEFT_ARCH_LOOK": "arch"}
# Folders of which the build chooses one: only files within may name them, and the layer that comes with the choice.
CHOSEN = re.compile(r"^(arch/(?:x86_64|aarch64)|os/(?:linux|sim))/")
COMES_WITH = {"os/sim": "sim"}
# Seen by tests only: test/ is not a layer.
TEST_ONLY = "test"
OUTSIDE = ["bridge", "cmd", "example", "include"]


def read_layers(path):
    """{layer: the layers it may include, itself among them}, and what is wrong with the file."""
    layers, wrong = {}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
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
    return layers, wrong


def sources(folder):
    return [path for path in sorted(folder.rglob("*")) if path.suffix in SOURCES and path.is_file()]


def includes(path):
    """(line number, what is included, the name of a macro instead, whether in quotes) of each include."""
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
        test = re.search(r"_(test|bench)$", path.stem)
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
            elif target == "weft":      # the public headers are everybody's vocabulary
                if not (root / "include" / file).exists():
                    wrong.append(f"{where}: there is no include/{file}")
            elif quoted and not (test and target == TEST_ONLY):
                wrong.append(f'{where}: "{file}" does not begin with a layer')
    return wrong


def check_outside(root, layers):
    """Neighbours may be included by their name; of Weft, <weft/...>."""
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


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    layers, wrong = read_layers(root / "doc" / "layers.txt")
    wrong += check_src(root, layers) + check_outside(root, layers)
    for line in wrong:
        print(line)
    print(f"{len(layers)} layers, {len(sources(root / 'src'))} files, {len(wrong)} wrong")
    return 1 if wrong or not layers else 0


if __name__ == "__main__":
    sys.exit(main())
