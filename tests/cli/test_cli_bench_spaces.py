"""autotune bench spaces."""

import json

import pytest

from autotune.base.files import write_text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with one space of 40 configurations."""

    def result(x, y):
        time = 1.0 + abs(x - 3) + abs(y - 5)
        return {
            "configuration": {"x": x, "y": y},
            "times": {"compilation": 90.0, "runtimes": [time]},
            "invalidity": "correct",
            "measurements": [{"name": "time", "value": time}],
        }

    folder = tmp_path_factory.mktemp("folder")
    document = {"metadata": {"timeunit": "milliseconds"}, "results": [result(x, y) for x in range(5) for y in range(8)]}
    write_text(folder / "small.json", json.dumps(document))
    return str(folder)


def test_searches_are_scored_and_drawn(autotune, folder, tmp_path):
    output, picture = tmp_path / "out.json", tmp_path / "out.svg"
    words = ("--searchers", "bayes,random", "--seeds", "3", "-o", str(output), "--plot", str(picture))
    outcome = autotune("bench", "spaces", folder, *words)
    document = json.loads(output.read_text())
    assert document["seeds"] == 3
    assert document["environment"]["numpy"]
    assert list(document["searches"]) == ["bayes", "random"]
    for result in document["results"]:
        assert result["space"] == "small"
        assert result["score"] == document["searches"][result["searcher"]]["score"]
        assert len(result["curve"]) == 50
        assert len(result["evaluations_to_1_percent"]) == 3
        assert f"{result['score']:.3f}" in outcome.stdout
    assert "2/2  small  random" in outcome.stderr
    assert "random" in picture.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("{folder}", "--searchers", "best"), "unknown search 'best'; known: bayes, random, kernel_tuner.bayes_opt"),
        (("{folder}", "--plot", "curves.pdf"), "--plot curves.pdf: expected a file name that ends in .svg or .png"),
        (("docs",), "docs has no measured space"),
        (("no-such-folder",), "no-such-folder: No such file or directory"),
    ],
)
def test_bad_input_is_one_line(autotune, folder, words, message):
    assert message in autotune("bench", "spaces", *(word.format(folder=folder) for word in words)).refusal
