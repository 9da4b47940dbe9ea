"""Coefficients of the time model: which file holds for which device, and what is refused."""

import json
from dataclasses import replace

import pytest

from autotune.search_spaces.contract.registry import OPERATORS, operator
from autotune.search_spaces.machine import coefficients
from autotune.search_spaces.machine.coefficients import Coefficients, read_file, trying, version
from autotune.search_spaces.machine.devices import file_stem, named_device
from autotune.search_spaces.machine.time_model import MachineCosts

H100, H200, T4 = map(named_device, ("h100", "h200", "t4"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of coefficients in place of the shipped one."""
    monkeypatch.setattr(coefficients, "FOLDER", tmp_path)
    monkeypatch.setattr(coefficients, "_known", {})
    for cached in (version, coefficients._values):
        cached.cache_clear()
    yield tmp_path
    for cached in (version, coefficients._values):
        cached.cache_clear()


def write(folder, scope, **values):
    text = json.dumps({"machine": {"fitted_to": "nothing", "values": values}})
    (folder / f"{scope}.json").write_text(text)


def test_a_value_is_of_the_model_else_of_the_architecture_else_of_any_device(folder):
    everywhere = dict.fromkeys(MachineCosts.__dataclass_fields__, 1.0)
    write(folder, "any", **everywhere)
    write(folder, "sm_90", bandwidth=0.9, line_clocks=2.5)
    write(folder, file_stem(H100.name), bandwidth=0.8)
    found = [(one.bandwidth, one.line_clocks, one.issue_clocks) for one in map(MachineCosts.of, (H100, H200, T4))]
    assert found == [(0.8, 2.5, 1.0), (0.9, 2.5, 1.0), (1.0, 1.0, 1.0)]
    assert len({version(one) for one in (H100, H200, T4)}) == 3


def test_what_is_tried_holds_until_the_end(folder):
    write(folder, "any", **dict.fromkeys(MachineCosts.__dataclass_fields__, 1.0))
    with trying(replace(MachineCosts.of(T4), bandwidth=0.5)):
        assert (MachineCosts.of(T4).bandwidth, MachineCosts.of(H200).bandwidth) == (0.5, 0.5)
    assert MachineCosts.of(T4).bandwidth == 1.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a file of coefficients"),
        ('{"machine": 1}', "not a file of coefficients"),
        ('{"machine": {"values": {"bandwidth": -1}}}', "machine.bandwidth -1: expected a number of at least 0"),
        ('{"machine": {"values": {"bandwidth": "1"}}}', "machine.bandwidth '1': expected"),
    ],
)
def test_a_file_that_is_none_is_refused_in_one_line(tmp_path, text, message):
    (tmp_path / "any.json").write_text(text)
    with pytest.raises(ValueError, match=message) as refused:
        read_file(tmp_path / "any.json")
    assert "\n" not in str(refused.value)


def test_a_name_too_many_or_too_few_is_refused(folder):
    write(folder, "any", bandwidth=1.0, speed=2.0)
    with pytest.raises(ValueError, match=r"coefficients of machine: .*speed.*: expected those of MachineCosts"):
        MachineCosts.of(T4)


def test_every_shipped_section_is_one_of_the_program():
    for name in OPERATORS:
        operator(name)
    known = {kind.section: kind for kind in Coefficients.__subclasses__()}
    for path in coefficients.FOLDER.glob("*.json"):
        for section, values in read_file(path).items():
            assert values.keys() <= known[section].__dataclass_fields__.keys(), (path.name, section)
