"""What a PTX entry does to memory, with its operands traced back to the entry's parameters."""

import re

_REGISTER = re.compile(r"%[a-z]+\d*")
_ENTRY = re.compile(r"\.visible \.entry (\w+)\((.*?)\)\s*\{(.*?)\n\}", re.DOTALL)
_PARAMETER = re.compile(r"\[\w+_param_(\d+)\]")
_COPIES = (
    "mov.",
    "cvta.",
    "ld.param.",
    "cvt.u64.u32",
    "cvt.u32.u64",
)  # addresses of shared memory are widened and narrowed
_ELSEWHERE = ("{", "}", "$", ".", "//", "bra", "ret")


def effects(ptx, parameters):
    """The stores, branches and inline assembly of each entry, in order.

    A register is replaced by what it holds: a parameter by its name (``as s32`` if fewer than its 64 bits are read), a
    constant, a sum, a half, an expression of the instruction that made it, or ``v1``, ``v2``, … if inline assembly did.
    """
    entries = _ENTRY.findall(ptx)
    return {name: list(_Entry(parameters, _bits(declared)).effects(body)) for name, declared, body in entries}


class _Entry:
    def __init__(self, parameters, bits):
        self._parameters = list(zip(parameters, bits, strict=True))
        self._values = {}
        self._results = 0

    def effects(self, body):
        inline = False
        for line in re.sub(r"\{\s*\.reg[^;]*;", "", body).replace(";", ";\n").splitlines():
            statement = _without_types(" ".join(line.split()).rstrip(";"))
            if "inline asm" in statement:
                inline = "begin" in statement
            elif branch := re.match(r"@(!?)(%p\d+) bra", statement):
                yield f"branch {'unless' if branch[1] else 'if'} {self._held(branch[2])}"
            elif not statement or statement.startswith(_ELSEWHERE):
                continue
            elif inline:
                self._name_results(statement)
                yield self._held(statement)
            elif statement.startswith("st."):
                yield self._held(statement)
            else:
                self._define(*statement.split(" ", 1))

    def _held(self, text):
        text = _REGISTER.sub(lambda register: self._values.get(register[0], register[0]), text)
        return re.sub(r"(\+\d+)+", lambda terms: f"+{sum(map(int, terms[0][1:].split('+')))}", text)

    def _name_results(self, statement):
        for register in _REGISTER.findall(statement):
            if register not in self._values:
                self._results += 1
                self._values[register] = f"v{self._results}"

    def _define(self, operation, operands):
        if packed := re.fullmatch(r"(\S+), (\{.*\})", operands):
            self._values[packed[1]] = self._held(packed[2])
            return
        if unpacked := re.fullmatch(r"\{(.*)\}, (\S+)", operands):
            parameter = _PARAMETER.fullmatch(unpacked[2])
            whole = self._parameters[int(parameter[1])][0] if parameter else self._held(unpacked[2])
            halves = zip(unpacked[1].split(", "), ("low", "high"), strict=True)
            self._values |= {register: f"{half} of {whole}" for register, half in halves}
            return
        target, *sources = operands.split(", ")
        sources = [self._held(source) for source in sources]
        if parameter := _PARAMETER.fullmatch(sources[0]):
            value, bits = self._parameters[int(parameter[1])]
            value += "" if bits < 64 or operation.endswith("64") else f" as {operation.removeprefix('ld.param.')}"
        elif operation.startswith(_COPIES):
            value = sources[0]
        elif operation.startswith("add.") and sources[1].isdecimal():
            value = "+".join(sources)
        else:
            value = f"{operation}({', '.join(sources)})"
        self._values[target] = value


def _bits(declared):
    return [int(bits) for bits in re.findall(r"\.param \.[bfus](\d+)", declared)]


def _without_types(statement):
    """Loads, stores and comparisons for equality take floats and integers alike; zero is zero."""
    statement = statement.replace("0f00000000", "0")
    return re.sub(r"^((?:ld|st|setp\.eq)(?:\.\S*?)?)\.[fsu](?=(?:8|16|32|64) )", r"\1.b", statement)
