"""Bar charts of the result document, one SVG per scenario."""

from html import escape

from harness.scenario import HOLD_SCENARIOS, SCENARIOS

WIDTH = 720
LABEL = 130  # pixels for the contenders' names
BAR = 22
STEP = 34
TOP = 64
COLOURS = {"strata": "#2563a8", "epoll": "#8a8f98", "redis": "#b5523b"}

TITLES = {
    (scenario.name, metric.key): metric.title
    for scenario in SCENARIOS + HOLD_SCENARIOS
    for metric in scenario.metrics
}


def write_plots(document, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for scenario in document["scenarios"]:
        if scenario["contenders"]:
            path = folder / f"{scenario['name']}.svg"
            path.write_text(draw(scenario, document["machine"]))


def draw(scenario, machine):
    rows = [(row["name"], row["figures"][scenario["cost"]]) for row in scenario["contenders"]]
    scale = (WIDTH - LABEL - 200) / (max(figure["high"] for _, figure in rows) or 1)
    height = TOP + STEP * len(rows) + 34
    title = f"{TITLES[scenario['name'], scenario['cost']]}, less is better"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        _text(16, 26, title, 'font-size="16" font-weight="bold"'),
        _text(16, 46, f"{scenario['name']}: {scenario['about']}", 'fill="#555555"'),
    ]
    for index, (name, figure) in enumerate(rows):
        parts += _bar(TOP + STEP * index, name, figure, scale)
    foot = f"median; line: its interval. {machine['cpu_model']}, Linux {machine['kernel']}"
    parts += [_text(16, height - 12, foot, 'fill="#555555" font-size="11"'), "</svg>"]
    return "\n".join(parts) + "\n"


def _bar(top, name, figure, scale):
    colour = COLOURS.get(name.split("-")[0], "#444444")
    median, least, most = (figure[key] * scale for key in ("median", "low", "high"))
    middle = top + BAR / 2
    value = f"{figure['median']:,.4g}" if figure["median"] < 1000 else f"{figure['median']:,.0f}"
    return [
        _text(LABEL - 10, middle + 5, name, 'text-anchor="end"'),
        f'<rect x="{LABEL}" y="{top}" width="{max(median, 1):.1f}" height="{BAR}" '
        f'fill="{colour}"/>',
        f'<path d="M{LABEL + least:.1f} {middle} H{LABEL + most:.1f}" stroke="#000000" '
        'stroke-width="1.5"/>',
        _text(LABEL + max(median, most) + 8, middle + 5, value),
    ]


def _text(x, y, words, style=""):
    return f'<text x="{x:.1f}" y="{y:.1f}"{style and " " + style}>{escape(words)}</text>'
