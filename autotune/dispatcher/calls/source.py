"""The source of the function that users call, written out for the arrays of each operator: loops take too long.

For an operator with an input a, an output out and a scalar alpha it is this:

    def name(a, *, out=_defaults['out'], alpha=_defaults['alpha'], stream=_defaults['stream']):
        _case = ()
        if out is None:
            _call = _fresh.recent[_fresh.ahead]
            if _call.case != _case or not _call.alike(a) or _call.recorded and _call.recorded():
                _call = _fresh.find(_case, (a, ))
                if _call is None:
                    return _launch(stream, (a, ), (out, ), _case, (alpha, ))
            else:
                _fresh.recent.appendleft(_call)
            out = _call.allocate()
        else:
            ... the same with _given for _fresh, and (a, out) for (a, )
        (_at_a, _at_out, ) = (a.data_ptr(), out.data_ptr(), )
        if (_at_a | _at_out) & 15:
            return _launch(stream, (a, ), (out, ), _case, (alpha, ))
        if _call.extents:
            (_n_a, _n_out, ) = _call.extents
            if (
                _at_out < _at_a + _n_a and _at_a < _at_out + _n_out
            ):
                _call.check_apart((_at_a, _at_out, ))
        if stream is None:
            _stream = _call.current() or 1
        else:
            _stream = _handle(stream, a)
        _call.launch(_stream, (_at_a, _at_out, alpha, ))
        return out

Only PyTorch tensors that are as well aligned as accesses ask for get beyond ``_launch``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from inspect import Parameter

from autotune.dispatcher.arrays.arrays import LEGACY_DEFAULT_STREAM
from autotune.search_spaces.contract.call import OUT, STREAM, Call

UNALIGNED = 15  # bits of an address that are 0 where accesses may be as wide as they get


def function_source(call: Call) -> str:
    """The source of a call's function; see the page's head for the names that it takes from its scope."""
    required = call.required_outputs
    slow = f"_launch({_arguments(call)})"
    addresses = [f"_at_{name}" for name in call.arrays]
    given = _recognition(call, "_given", call.arrays, slow)
    if required:
        fresh = _recognition(call, "_fresh", [name for name in call.arrays if name not in required], slow)
        given = [
            f"    if {' and '.join(f'{name} is None' for name in required)}:",
            *(f"    {line}" for line in fresh),
            f"        {', '.join(required)} = _call.allocate()",
            "    else:",
            *(f"    {line}" for line in given),
        ]
    lines = [
        *_head(call),
        *given,
        f"    {_tuple(addresses)} = {_tuple(_address(call, name) for name in call.arrays)}",
        f"    if ({' | '.join(addresses)}) & {UNALIGNED}:",
        f"        return {slow}",
        "    if _call.extents:",
        f"        {_tuple(f'_n_{name}' for name in call.arrays)} = _call.extents",
        "        if (",
        *_either(_overlaps(call)),
        "        ):",
        f"            _call.check_apart({_tuple(addresses)})",
        f"    if {STREAM} is None:",
        f"        _stream = _call.current() or {LEGACY_DEFAULT_STREAM}",
        "    else:",
        f"        _stream = _handle({STREAM}, {call.inputs[0]})",
        f"    _call.launch(_stream, {_tuple([*addresses, *call.scalars])})",
        f"    return {', '.join(required)}".rstrip(),
    ]
    return "\n".join(lines) + "\n"


def arguments_source(call: Call) -> str:
    """The source of a function with the parameters of a call that returns the arguments of `Resolver.prepare`."""
    return "\n".join([*_head(call), f"    return {_arguments(call)}\n"])


def _head(call: Call) -> list[str]:
    lines = [f"def {call.name}({', '.join(declared(call.signature.parameters.values()))}):"]
    if call.outputs_packed:
        lines += [
            "    try:",
            f"        {_tuple(call.outputs)} = ({'None, ' * len(call.outputs)}) if {OUT} is None else _sequence({OUT})",
            "    except (TypeError, ValueError):",
            f"        raise _not_a_tuple({OUT}) from None",
        ]
    return [*lines, f"    _case = {_tuple(_case(call))}"]


def _arguments(call: Call) -> str:
    return f"{STREAM}, {_tuple(call.inputs)}, {_tuple(call.outputs)}, _case, {_tuple(call.scalars)}"


def declared(parameters: Iterable[Parameter]) -> Iterator[str]:
    """Parameters as the head of a function has them, whose scope has ``_defaults``."""
    star = False
    for parameter in parameters:
        if parameter.kind is Parameter.KEYWORD_ONLY and not star:
            star = True
            yield "*"
        name = parameter.name
        yield name if parameter.default is Parameter.empty else f"{name}=_defaults[{name!r}]"


def _case(call: Call) -> Iterator[str]:
    """What beside the arrays' kinds tells calls apart: see `resolve.Resolver`."""
    yield from call.options
    yield from (f"{name} is None" for name in call.optional)
    yield from (f"{output} is {operand}" for output, operand in call.in_place)
    yield from (f"_nonnegative({name})" for name in call.nonnegative)  # others take the slow way, which refuses them
    yield from (f"{name} != 0" for name in call.all_switches)


def _recognition(call: Call, memory: str, names: Iterable[str], slow: str) -> list[str]:
    """Finds an earlier call with such arrays, or takes the slow way."""
    tensors = ", ".join(_compared(call, name) for name in names)
    return [
        f"    _call = {memory}.recent[{memory}.ahead]",
        f"    if _call.case != _case or not _call.alike({tensors}) or _call.recorded and _call.recorded():",
        f"        _call = {memory}.find(_case, ({tensors},))",
        "        if _call is None:",
        f"            return {slow}",
        "    else:",
        f"        {memory}.recent.appendleft(_call)",
    ]


def _compared(call: Call, name: str) -> str:
    """An argument of the comparison, which takes no None, and no tensor twice."""
    reasons = [f"{name} is {operand}" for output, operand in call.in_place if output == name]
    if name in call.optional:
        reasons.append(f"{name} is None")
    return f"*(() if {' or '.join(reasons)} else ({name},))" if reasons else name


def _address(call: Call, name: str) -> str:
    return f"0 if {name} is None else {name}.data_ptr()" if name in call.optional else f"{name}.data_ptr()"


def _overlaps(call: Call) -> Iterator[str]:
    """Whether an array that is written and another one have bytes in common, gaps counted."""
    for written, other in call.apart:
        test = f"_at_{written} < _at_{other} + _n_{other} and _at_{other} < _at_{written} + _n_{written}"
        if (written, other) in call.in_place:
            test = f"(_at_{written} != _at_{other} or not _call.in_place) and {test}"
        yield test


def _either(tests: Iterable[str]) -> Iterator[str]:
    for number, test in enumerate(tests):
        yield f"            {'or ' if number else ''}{test}"


def _tuple(names: Iterable[str]) -> str:
    return f"({''.join(f'{name}, ' for name in names)})"
