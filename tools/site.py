#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the site: tutorials, guides, reference, decisions and figures, as one static folder.

    tools/site.py [--out build/site]

MkDocs makes pages of the Markdown files where they lie, Doxygen the reference of the public headers, mandoc the manual
pages. Then each link within the site is checked: the file must be there, and the anchor in it. `make site` installs the
three first.
"""
import argparse
import collections
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
AWESOME = pathlib.Path("/usr/share/doxygen-awesome-css/doxygen-awesome.css")
# The tabs, each with its pages in order; `*` takes what is left of a folder. A page's title is its
# first heading.
TABS = {
    "Home": ["README.md"],
    "Tutorials": ["doc/tutorials/oversubscribed.md", "doc/tutorials/first-hour-*.md", "doc/tutorials/*.md"],
    "Guides": [
        "doc/features.md",
        "doc/run.md",
        "doc/when-it-helps.md",
        "doc/openmp.md",
        "doc/tbb.md",
        "doc/domains.md",
        "doc/argobots.md",
        "doc/debugging.md",
        "doc/simulation.md",
        "doc/variants.md",
        "doc/upgrade.md",
        "doc/glossary.md",
        "doc/porting.md",
        "CHANGES.md",
    ],
    "Manual": ["man/*.md"],
    "Speed": ["doc/speed.md", "bench/README.md", "bench/*/*.md"],
    "Inside": [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "doc/testing.md",
        "src/*/README.md",
        "bridge/*/README.md",
        "doc/decisions/*.md",
    ],
}
LEFT_OUT = {"bridge/argobots/apps/README.md"}
# The theme's, for its script; and one that Doxygen 1.9 links to although all nested classes are
# private.
NO_ANCHORS = {"__skip", "nested-classes"}
FENCE = re.compile(r"^\s*```")


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def manual_pages(pages):
    """Manual pages as Markdown."""
    for page in sorted((ROOT / "doc" / "man").iterdir()):
        text = run("mandoc", "-T", "markdown", page)
        body = text.split("\n", 2)[2].rpartition("\n\n")[0]  # without the lines of the terminal's head and foot
        body = re.sub(r"^# ", "## ", body, flags=re.M)
        write(pages / "man" / f"{page.name}.md", f"# {page.stem}({page.suffix[1:]})\n\n{body}\n")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def with_links(text, path, known):
    """`doc/run.md` in a text becomes a link to that page, where there is one. Code blocks stay."""

    def link(match):
        name = match.group(1)
        for base in (pathlib.PurePath("."), path.parent):
            target = os.path.normpath(base / name)
            if target in known and target != str(path):
                return f"[`{name}`]({os.path.relpath(target, path.parent)})"
        return match.group(0)

    lines, fenced = [], False
    for line in text.splitlines():
        fenced ^= bool(FENCE.match(line))
        lines.append(line if fenced else re.sub(r"(?<!\[)`([\w./-]+\.md)`", link, line))
    return "\n".join(lines) + "\n"


def collect(pages):
    """Copies the pages, and the figures beside them. Returns {tab: [page]}."""
    manual_pages(pages)
    tabs, seen = collections.OrderedDict(), set(LEFT_OUT)
    for tab, patterns in TABS.items():
        tabs[tab] = []
        for pattern in patterns:
            base = pages if pattern.startswith("man/") else ROOT
            for path in sorted(base.glob(pattern)):
                name = str(path.relative_to(base))
                if name not in seen:
                    seen.add(name)
                    tabs[tab].append(name)
    known = {name for names in tabs.values() for name in names}
    for name in known:
        path = pathlib.PurePath(name)
        text = (pages if name.startswith("man/") else ROOT).joinpath(name).read_text()
        write(pages / name, with_links(text, path, known))
    for figure in [*ROOT.glob("doc/figures/*"), *ROOT.glob("bench/*/figures/*.svg")]:
        target = pages / figure.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(figure, target)
    return tabs


def title_of(page):
    for line in page.read_text().splitlines():
        if line.startswith("# "):
            return line[2:].strip().replace("`", "")
    sys.exit(f"{page}: no heading")


def configure(place, pages, tabs, out):
    lines = [(ROOT / "doc" / "site" / "mkdocs.yml").read_text(), f"docs_dir: {pages}", f"site_dir: {out}", "nav:"]
    for tab, names in tabs.items():
        if not names:
            continue
        if len(names) == 1:
            lines.append(f"  - {tab}: {names[0]}")
            continue
        lines.append(f"  - {tab}:")
        for name in names:
            title = title_of(pages / name).replace('"', '\\"')
            lines.append(f'    - "{title}": {name}')
    lines.append("  - Reference: reference/index.html")
    write(place / "mkdocs.yml", "\n".join(lines) + "\n")


def reference(place, pages):
    """The public headers by Doxygen, with the pages of the site beside it."""
    more = [
        "@INCLUDE = doc/Doxyfile",
        f"OUTPUT_DIRECTORY = {place}",
        "HTML_OUTPUT = reference",
        "INPUT = include/weft doc/site/reference.md",
        "GENERATE_TREEVIEW = YES",
    ]
    if AWESOME.exists():
        more.append(f"HTML_EXTRA_STYLESHEET = {AWESOME}")
    write(place / "Doxyfile", "\n".join(more) + "\n")
    said = subprocess.run(["doxygen", place / "Doxyfile"], cwd=ROOT, capture_output=True, text=True)
    if said.returncode != 0 or "warning" in said.stderr:
        sys.exit(f"doxygen:\n{said.stderr}")
    shutil.copytree(place / "reference", pages / "reference")


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.anchors, self.targets = set(), []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            if (tag, name) in {("a", "href"), ("link", "href"), ("img", "src"), ("script", "src")} and value:
                self.targets.append(value)


def check(out):
    """A line for each link to a file or an anchor that is not there."""
    pages = {}
    for path in out.rglob("*.html"):
        pages[path] = Links()
        pages[path].feed(path.read_text(errors="replace"))
    wrong = []
    for path, page in sorted(pages.items()):
        for target in page.targets:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc or target.startswith("javascript"):
                continue
            name = urllib.parse.unquote(parts.path)
            file = path if not name else (out / name.lstrip("/") if name.startswith("/") else path.parent / name)
            file = pathlib.Path(os.path.normpath(file))
            file = file / "index.html" if file.is_dir() else file
            if not file.exists():
                wrong.append(f"{path.relative_to(out)}: {target}: there is no such file")
            elif parts.fragment and file in pages:
                anchor = urllib.parse.unquote(parts.fragment)
                if anchor not in pages[file].anchors and anchor not in NO_ANCHORS:
                    wrong.append(f"{path.relative_to(out)}: {target}: there is no such anchor")
    return len(pages), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "site")
    parser.add_argument("--if-possible", action="store_true", help="status 77 where a tool is not installed")
    options = parser.parse_args()
    missing = [tool for tool in ("mkdocs", "doxygen", "mandoc") if shutil.which(tool) is None]
    if missing and options.if_possible:
        print(f"not found: {', '.join(missing)}")
        return 77
    if missing:
        sys.exit(f"not found: {', '.join(missing)}; tools/setup site installs what builds the site")
    out = options.out.resolve()
    place = out.with_name(out.name + ".work")
    for folder in (out, place):
        shutil.rmtree(folder, ignore_errors=True)
    pages = place / "pages"
    pages.mkdir(parents=True)
    tabs = collect(pages)
    reference(place, pages)
    configure(place, pages, tabs, out)
    run("mkdocs", "build", "--quiet", "--strict", "--config-file", place / "mkdocs.yml")
    count, wrong = check(out)
    print("\n".join(wrong[:60]))
    print(f"{out}/index.html: {count} pages, {len(wrong)} links wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
