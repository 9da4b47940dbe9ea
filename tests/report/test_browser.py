"""What a browser draws of a report."""

import re
from base64 import b64decode
from itertools import combinations

import pytest
from pages import LONG_NAME

SECTIONS = [
    "summary",
    "convergence",
    "pareto",
    "by-two",
    "parallel",
    "fastest",
    "winner",
    "failures",
    "roofline",
    "calibration",
    "ratios-0",
    "ratios-1",
    "facts",
]
# Of each chart its section, and how many paths of SVG or points it has.
DRAWN = """[...document.querySelectorAll('.chart')].map((box) => [
  box.closest('section').id,
  box.querySelectorAll('svg path').length,
  echarts.getInstanceByDom(box).getOption().series.reduce((sum, series) => sum + series.data.length, 0),
])"""


def titles(browser):
    return browser.ask("[...document.querySelectorAll('section')].map((section) => section.id)")


def tip(browser, section, path):
    """What hovering over the first path that a selector finds shows."""
    box = f"document.querySelector('#{section} .chart')"
    browser.ask(f"{box}.scrollIntoView()")
    place = browser.ask(f"""((path) => {{
      const inside = path.getAttribute('fill') !== 'none' && path.getBoundingClientRect();
      if (inside) return [(inside.left + inside.right) / 2, (inside.top + inside.bottom) / 2];
      const {{x, y}} = path.getPointAtLength(0.3 * path.getTotalLength()).matrixTransform(path.getScreenCTM());
      return [x, y];
    }})({box}.querySelector("{path}"))""")
    for aside in (30, 0):
        browser.command("Input.dispatchMouseEvent", type="mouseMoved", x=place[0] + aside, y=place[1])
    return browser.wait_for(f"{box}.querySelector('.tip')?.innerText")


def painted(browser, section, left, right):
    """Pixels of canvases that are not empty as soon as they are drawn for paper, in a part of their width.

    Those of the legend and of the axis do not count.
    """
    return browser.ask(f"""(() => {{
      dispatchEvent(new Event('beforeprint'));
      return [...document.querySelectorAll('#{section} canvas')].reduce((sum, canvas) => {{
        const [from, to] = [{left} * canvas.width, {right} * canvas.width].map(Math.round);
        const {{data}} = canvas.getContext('2d').getImageData(from, 40, to - from, canvas.height - 100);
        return sum + data.filter((byte, place) => place % 4 === 3 && byte).length;
      }}, 0);
    }})()""")


def test_all_is_drawn_of_ten_trials(browser, ten):
    browser.open(ten)
    assert titles(browser) == SECTIONS
    drawn = browser.ask(DRAWN)
    assert {section for section, *_ in drawn} >= {"convergence", "by-two", "parallel", "winner", "roofline", "ratios-0"}
    assert all(paths > points > 0 for _, paths, points in drawn), drawn
    assert browser.complaints() == []
    assert browser.ask("performance.getEntriesByType('resource').map((entry) => entry.name)") == []


def test_all_is_drawn_of_ten_thousand_trials(browser, ten_thousand):
    assert len(ten_thousand.encode()) < 2e6
    browser.open(ten_thousand)
    points = {}
    for section, _, count in browser.ask(DRAWN):
        points.setdefault(section, count)
    assert points["convergence"] > 10_000  # the trials, and the line of the best
    assert points["by-two"] == 8_000  # every fifth failed
    assert 500 < points["parallel"] <= 1000
    assert titles(browser) == [*SECTIONS[:2], "importance", *SECTIONS[2:]]
    assert browser.complaints() == []
    first, last = painted(browser, "convergence", 0.1, 0.2), painted(browser, "convergence", 0.8, 0.9)
    assert first / 2 < last < 2 * first  # the last trials, too


def test_hovering_shows_the_schedule(browser, ten):
    browser.open(ten)
    axis = "echarts.getInstanceByDom(document.querySelector('#parallel .chart')).getOption().parallelAxis[0].name"
    assert browser.ask(axis) == "tile_m"
    for section, path in (("by-two", "path[fill-opacity='0.85']"), ("parallel", "path[stroke-opacity='0.6']")):
        text = tip(browser, section, path)
        assert re.match(r"Trial \d+: \d\.\d+ ms, \d\.\d % of the roofline\s", text), text
        assert "=" in text


def test_the_line_of_the_best_goes_up_only(browser, ten):
    browser.open(ten)
    box = "echarts.getInstanceByDom(document.querySelector('#convergence .chart'))"
    shares = [share for _, share, *_ in browser.ask(f"{box}.getOption().series[1].data")]
    assert shares == sorted(shares)
    best = browser.ask("document.querySelectorAll('#summary .tile b')[1].innerText")
    assert f"{shares[-1]:.1f} %" == best


def test_what_the_database_holds_is_text(browser, ten):
    browser.open(ten)
    assert "<img src=x" in browser.ask("document.querySelector('#failures').innerText")
    assert browser.ask("document.querySelectorAll('img').length") == 0
    assert browser.ask("[document.title, document.querySelector('h1').innerText]") == ["transpose <10>"] * 2


def test_failures_that_differ_in_numbers_have_one_cause(browser, ten):
    browser.open(ten)
    rows = browser.ask("[...document.querySelectorAll('#failures tbody tr')].map((row) => row.innerText)")
    assert len(rows) == 1
    assert rows[0].startswith("2") and "wrong" in rows[0] and "9 times" in rows[0]


def test_the_energy_of_launches_is_shown_where_it_was_measured(browser, ten):
    browser.open(ten)
    rows = "[...document.querySelectorAll('#ratios-{} tbody tr')].map((row) => row.innerText.split('\\t'))"
    assert browser.ask(rows.format(0)) == [["m4096-n4096-e4", "autotune", "12.3 mJ", "457 W"]]
    assert browser.ask(rows.format(1)) == []


@pytest.mark.parametrize("dark", [False, True])
def test_the_theme_is_that_of_the_system_until_the_button_is_pressed(browser, ten, dark):
    browser.open(ten, dark=dark)
    ground = "getComputedStyle(document.body).backgroundColor"
    colour = "document.querySelector('#convergence svg text').getAttribute('fill')"
    before = browser.ask(f"[document.documentElement.dataset.theme, {ground}, {colour}]")
    assert before[0] == ("dark" if dark else "light")
    browser.click("#theme")
    after = browser.ask(f"[document.documentElement.dataset.theme, {ground}, {colour}]")
    assert after[0] == ("light" if dark else "dark")
    assert before[1] != after[1] and before[2] != after[2]
    assert browser.complaints() == []


def test_another_problem_is_shown_when_it_is_chosen(browser, ten):
    browser.open(ten)
    browser.choose("#summary select", 1)
    assert "m2048-n4096-e4" in browser.ask("document.querySelector('#summary h2').innerText")
    assert "failures" not in titles(browser)
    assert browser.complaints() == []


def test_other_axes_are_shown_when_they_are_chosen(browser, ten):
    browser.open(ten)
    names = browser.ask("[...document.querySelectorAll('#by-two select')[0].options].map((option) => option.text)")
    wanted = names.index("registers of a thread")
    browser.choose("#by-two select", wanted)
    axis = "echarts.getInstanceByDom(document.querySelector('#by-two .chart')).getOption().xAxis[0].name"
    assert browser.ask(axis) == "registers of a thread"
    browser.choose("#convergence select", 1)
    assert browser.ask(axis.replace("by-two", "convergence")) == "seconds since the first trial"


@pytest.mark.parametrize("width", [390, 1200])
def test_nothing_is_cut_off_and_no_labels_overlap(browser, ten, width):
    browser.open(ten, width)
    assert browser.ask("document.documentElement.scrollWidth") <= width
    boxes = browser.ask("""[...document.querySelectorAll('.chart svg')].map((chart) => [
      chart.closest('section').id,
      [...chart.querySelectorAll('text')].filter((text) => text.textContent.trim()).map((text) => {
        const {left, right, top, bottom} = text.getBoundingClientRect();
        return [text.textContent, left, right, top, bottom];
      }),
      chart.getBoundingClientRect().left,
      chart.getBoundingClientRect().right,
    ])""")
    for section, texts, left, right in boxes:
        for one, other in combinations(texts, 2):
            assert not overlap(one, other), (section, one, other)
        for text in texts:
            assert text[1] >= left - 1 and text[2] <= right + 1, (section, text)


@pytest.mark.parametrize("width", [390, 1200])
def test_names_of_problems_are_whole(browser, ten, width):
    browser.open(ten, width)
    lines = browser.ask("[...document.querySelectorAll('#ratios-0 .chart text')].map((text) => text.textContent)")
    assert LONG_NAME in "".join(lines)


def overlap(one, other):
    """Whether two texts lie on each other by more than a hair."""
    across = min(one[2], other[2]) - max(one[1], other[1])
    down = min(one[4], other[4]) - max(one[3], other[3])
    return bool(across > 1 and down > 3)


def test_paper_is_light_and_has_all_pages(browser, ten):
    browser.open(ten, dark=True)
    browser.ask("dispatchEvent(new Event('beforeprint'))")
    assert browser.ask("[document.documentElement.dataset.theme, document.body.clientWidth]") == ["light", 680]
    browser.ask("dispatchEvent(new Event('afterprint'))")
    assert browser.ask("document.documentElement.dataset.theme") == "dark"
    printed = b64decode(browser.command("Page.printToPDF", printBackground=True)["data"])
    assert printed.startswith(b"%PDF") and printed.count(b"/Type /Page\n") > 3
    assert browser.complaints() == []
