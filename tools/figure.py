#!/usr/bin/env python3
"""figure.py REPORT.html NAME... >FIGURE.svg: figures of a report side by side, as one drawing that stands alone.

NAME is what the page writes above a figure: "heat capacity", "gr". Colours are the page's on light paper,
which is part of the drawing: it is legible on dark pages, too.
"""
import html
import re
import sys

WIDTH, GAP, EDGE = 400, 24, 12  # of a figure, between two, around all
LETTER, ROW = 6.6, 18  # of the legend: at 12px


def rules(style):
    """The page's rules for drawings, without variables: not every viewer of SVG knows them."""
    colours = dict(re.findall(r"--(\w+):(#[0-9a-f]+)", style[:style.index("@media")]))
    colours["c8"] = colours["ink"]
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", style[style.index(".c8{"):style.index(".h circle{")]):
        selectors = selectors.replace("svg ", "").split(",")
        for n in range(9) if "var(--c)" in body else [None]:
            which = ",".join(s if n is None else f"{s}.c{n}" for s in selectors)
            what = body.replace("var(--c)", "" if n is None else colours[f"c{n}"])
            what = re.sub(r"var\(--(\w+)\)", lambda name: colours[name[1]], what)
            if not which.startswith((".c8", "sub")):
                yield f"{which}{{{what}}}"
    yield f".w{{fill:{colours['paper']}}}.h{{font-size:14px;font-weight:600;fill:{colours['ink']}}}"
    yield f".s{{font-size:12px;fill:{colours['soft']}}}text{{font-family:system-ui,'DejaVu Sans',Arial,sans-serif}}"


def legend(figure):
    """(x, y, swatch, words) of each entry, and the rows that they need."""
    entries, x, row = [], 0, 0
    for swatch, words in re.findall(r"<span><svg[^>]*>(.*?)</svg>(.*?)</span>", figure, re.S):
        room = 28 + LETTER * len(html.unescape(words)) + 12
        if x and x + room > WIDTH:
            x, row = 0, row + 1
        entries.append((x, row * ROW, swatch, words.strip()))
        x += room
    return entries, row + 1 if entries else 0


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        page = file.read()
    figures = {}
    for figure in re.findall(r"<figure>.*?</figure>", page, re.S):
        name = re.search(r"<figcaption><b>(.*?)</b>", figure, re.S)
        figures.setdefault(re.sub("<.*?>", "", name[1]) if name else "", figure)
    missing = [name for name in sys.argv[2:] if name not in figures]
    if missing:
        sys.exit(f"figure.py: no figure {missing[0]!r} in {sys.argv[1]}; there are: {', '.join(filter(None, figures))}")
    parts, heads, heights = [], [], []
    for name in sys.argv[2:]:
        drawings = re.findall(r'<svg viewBox="0 0 [\d.]+ ([\d.]+)" role="img"[^>]*>(.*?)</svg>', figures[name], re.S)
        parts.append((name, legend(figures[name]), drawings[0][1]))
        parts[-1] = parts[-1][:2] + (re.sub(r'<g class="h">.*?</g>', "", drawings[0][1], flags=re.S),)  # for pointers
        heads.append(24 + ROW * parts[-1][1][1])
        heights.append(float(drawings[0][0]))
    top = max(heads)
    width = 2 * EDGE + len(parts) * (WIDTH + GAP) - GAP
    height = 2 * EDGE + top + max(heights)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" width="{width}" height="{height:.0f}">')
    print(f"<style>{''.join(rules(re.search('<style>(.*?)</style>', page, re.S)[1]))}</style>")
    print(f'<rect class="w" width="{width}" height="{height:.0f}" rx="6"/>')
    for i, (name, (entries, _), drawing) in enumerate(parts):
        print(f'<g transform="translate({EDGE + i * (WIDTH + GAP)} {EDGE})"><text class="h" x="4" y="14">{name}</text>')
        for x, y, swatch, words in entries:
            print(f'<g transform="translate({x + 4:.0f} {y + 22})">{swatch}'
                  f'<text class="s" x="27" y="10">{words}</text></g>')
        print(f'<g transform="translate(0 {top})">{drawing}</g></g>')
    print("</svg>")


main()
