"""Control flow of kernels: what the rewritten 'if', 'for', 'while', 'and', 'or', 'not' and assignments call.

Each works on plain Python values as Python does, and on values of the kernel by writing the operation for it. Names
that a body assigns go through `values`, functions that look them up: in a loop or branch of the kernel their values
are carried by the operation.
"""

import operator

from .. import _native
from . import trace
from .loops import Loop, as_loop
from .trace import Buffer, Element, Missing, Var, is_scalar, is_symbolic, plain, tracing

_OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": operator.lshift, ">>": operator.rshift, "@": operator.matmul,
}  # fmt: skip


def look(values, names):
    """The values of the names; Missing where one has none."""
    found = []
    for value, name in zip(values, names):
        try:
            found.append(value())
        except NameError:
            found.append(Missing(name, "has no value here: it is assigned in a loop or branch that may not run"))
    return found


def _carriable(value):
    return is_scalar(value) and not isinstance(value, (Missing, Var, trace.Const, trace.Dynamic))


def _inside_only(name, what):
    return Missing(name, f"is assigned inside {what}, and known only there; keep it in a buffer, or reduce")


class Branch:
    """An 'if'. `then` and `orelse` yield once where their code is to be written (or to run)."""

    def __init__(self, test, values, names):
        self.test = trace.plain(test)
        self.names = names
        self.before = look(values, names)
        self.after = [None, None]
        self.symbolic = isinstance(self.test, _native.Scalar)
        if self.symbolic:
            self.builder = trace.builder("if")
            self.builder.begin_if(self.test)

    def then(self):
        if self.symbolic or self.test:
            self.side = 0
            yield tuple(self.before)

    def orelse(self):
        if self.symbolic:
            self.builder.begin_else()
        if self.symbolic or not self.test:
            self.side = 1
            yield tuple(self.before)

    def done(self, values):
        self.after[self.side] = look(values, self.names)

    def results(self):
        if not self.symbolic:
            taken = self.after[0] if self.test else self.after[1]
            return tuple(self.before if taken is None else taken)
        first, second = (self.before if a is None else a for a in self.after)
        joined, merged = [], []
        for name, a, b in zip(self.names, first, second):
            if a is b:
                joined.append(a)
            elif isinstance(a, Missing) and isinstance(b, Missing):
                joined.append(a)
            elif _carriable(a) and _carriable(b):
                if not is_symbolic(a) and not is_symbolic(b) and type(a) is type(b) and a == b:
                    joined.append(a)
                else:
                    merged.append((len(joined), plain(a), plain(b)))
                    joined.append(None)
            else:
                joined.append(Missing(name, "has different values on the two sides of an 'if' that the kernel decides"))
        results = self.builder.end_if([m[1] for m in merged], [m[2] for m in merged])
        for (index, _, _), result in zip(merged, results):
            joined[index] = result
        return tuple(joined)


class ForLoop:
    """A 'for'. Iterating yields (target, values): once for a loop of the kernel, each time for a Python iterable."""

    def __init__(self, iterable, values, names):
        self.names = names
        self.before = self.now = look(values, names)
        self.loop = as_loop(iterable)
        self.iterable = iterable

    def __iter__(self):
        if self.loop is None:
            for item in self.iterable:
                yield item, tuple(self.now)
            return
        loop = self.loop
        self.carried = [i for i, v in enumerate(self.before) if loop.carries and _carriable(v)]
        if loop.carries == "memory":
            self.cells = {i: Var(_cell_dtype(self.before[i]), self.before[i]) for i in self.carried}
        variables, inner = loop.begin([plain(self.before[i]) for i in self.carried] if loop.carries == "values" else [])
        start = list(self.before)
        for place, i in enumerate(self.carried):
            start[i] = inner[place] if loop.carries == "values" else self.cells[i].__tile_scalar__()
        self.start = start
        yield variables, tuple(start)

    def next(self, values):
        self.now = look(values, self.names)
        if self.loop is None:
            return
        loop = self.loop
        after = []
        for i, (name, old, new) in enumerate(zip(self.names, self.start, self.now)):
            if i in self.carried and _carriable(new):
                after.append(None)
            elif old is new:
                after.append(self.before[i])
            else:
                if name.startswith("_break_"):
                    raise ValueError(
                        f"{trace.place()}: 'break' cannot leave {loop.title}; its iterations have no order"
                    )
                after.append(_inside_only(name, loop.title))
        results = ()
        if loop.carries == "values":
            results = loop.end([plain(self.now[i]) if _carriable(self.now[i]) else self.start[i] for i in self.carried])
        else:
            for i in self.carried:
                if _carriable(self.now[i]) and self.now[i] is not self.start[i]:
                    self.cells[i].store(self.now[i])
            loop.end([])
            results = [self.cells[i].__tile_scalar__() for i in self.carried] if loop.carries else ()
        for i, result in zip(self.carried, results):
            if after[i] is None:
                after[i] = self.before[i] if self.now[i] is self.start[i] else result
        self.now = after

    def results(self):
        return tuple(self.now)


def _cell_dtype(value):
    value = plain(value)
    if isinstance(value, _native.Scalar):
        return {"f64": "float64", "f32": "float32", "i64": "int64", "index": "int64", "bool": "bool"}.get(
            value.type.name, "int32"
        )
    return "bool" if isinstance(value, bool) else "int32" if isinstance(value, int) else "float32"


class WhileLoop:
    """A 'while'. `test` is a function of the names' current values."""

    def __init__(self, values, names):
        self.names, self.values = names, values
        self.before = self.now = look(values, names)
        self.symbolic = False

    def iterate(self, test, enter):
        """Yields the names' values for each body; `enter` sets the names, so that the test sees them."""
        first = plain(test())
        if not isinstance(first, _native.Scalar):
            while first:
                yield tuple(self.now)
                first = plain(test())
                if isinstance(first, _native.Scalar):
                    raise TypeError(
                        f"{trace.place()}: the condition of 'while' was a plain value first and is decided by the "
                        f"kernel now; "
                        "begin with values of the kernel, T.int32(0) in T.alloc_var"
                    )
            return
        self.symbolic = True
        b = self.builder = trace.builder("while")
        self.carried = [i for i, v in enumerate(self.before) if _carriable(v)]
        inner = b.begin_while([plain(self.before[i]) for i in self.carried])
        self.start = self._with(inner)
        enter(tuple(self.start))
        inner = b.begin_while_body(plain(test()))
        self.start = self._with(inner)
        yield tuple(self.start)

    def _with(self, inner):
        values = list(self.before)
        for i, value in zip(self.carried, inner):
            values[i] = value
        return values

    def next(self, values):
        self.now = look(values, self.names)
        if not self.symbolic:
            return
        results = self.builder.end(
            [plain(self.now[i]) if _carriable(self.now[i]) else self.start[i] for i in self.carried]
        )
        after = [
            before if new is old else _inside_only(name, "a while loop")
            for name, before, old, new in zip(self.names, self.before, self.start, self.now)
        ]
        for i, result in zip(self.carried, results):
            after[i] = result
        self.now = after

    def results(self):
        return tuple(self.now)


# Expressions -------------------------------------------------------------------------------------------------------


def choose(test, a, b):
    """``a() if test else b()``; in a kernel only the one is computed."""
    test = plain(test)
    if not isinstance(test, _native.Scalar):
        return a() if test else b()
    builder = trace.builder("a conditional expression")
    builder.begin_if(test)
    first = a()
    first = plain(first) if is_scalar(first) else first
    builder.begin_else()
    second = b()
    second = plain(second) if is_scalar(second) else second
    if not (is_scalar(first) and is_scalar(second)):
        builder.end_if([], [])
        raise TypeError(
            f"{trace.place()}: both sides of a condition that the kernel decides must be numbers, got "
            f"{type(first).__name__} and {type(second).__name__}"
        )
    return builder.end_if([first], [second])[0]


def both(*operands):
    """'and': stops at the first that does not hold."""
    value = operands[0]()
    for operand in operands[1:]:
        if is_symbolic(value):
            rest = operand
            value = choose(value, lambda: _truth(rest()), lambda: False)  # noqa: B023 (called at once)
        elif value:
            value = operand()
        else:
            return value
    return value


def either(*operands):
    """'or': stops at the first that holds."""
    value = operands[0]()
    for operand in operands[1:]:
        if is_symbolic(value):
            rest = operand
            value = choose(value, lambda: True, lambda: _truth(rest()))  # noqa: B023 (called at once)
        elif not value:
            value = operand()
        else:
            return value
    return value


def _truth(value):
    value = plain(value)
    return value if not isinstance(value, _native.Scalar) else _native.cast_type(value, _native.ScalarType.bool)


def negate(value):
    value = plain(value)
    return _native.logical_not(value) if isinstance(value, _native.Scalar) else not value


def check(test, message):
    """'assert'."""
    value = plain(test)
    if isinstance(value, _native.Scalar):
        trace.builder("assert").assert_(value, message() if message else "assertion failed")
    elif not value:
        raise AssertionError(message() if message else "")


# Assignments -------------------------------------------------------------------------------------------------------


def named(name):
    """Says what the value that is computed next will be called."""
    if (tracer := tracing()) is not None:
        tracer.pending_name = name
    return name


def assign(name, value, old):
    """What the name is to hold: a variable of the kernel is written to and stays."""
    if (tracer := tracing()) is None:
        return value
    tracer.pending_name = None
    if isinstance(value, Element):
        value = value.__tile_scalar__()
    try:
        previous = old()
    except NameError:
        return value
    if isinstance(previous, Var) and value is not previous and is_scalar(value) and not isinstance(value, Var):
        previous.store(value)
        return previous
    if isinstance(previous, Var) and isinstance(value, Var) and value is not previous:
        previous.store(value)
        return previous
    return value


def combine(value, operator_text, other):
    """``value op other`` of an augmented assignment."""
    return _OPERATORS[operator_text](value, other)


def store_combined(target, key, operator_text, other):
    """``target[key] op= other``."""
    if isinstance(target, Buffer) and target.accumulate(operator_text, key, other):
        return
    target[key] = _OPERATORS[operator_text](target[key], other)


def declare(name, annotation, value):
    """``name: T.int32 = value``: a variable of the kernel."""
    from .types import dtype

    if tracing() is not None and isinstance(annotation, dtype) and tracing().in_kernel and is_scalar(value):
        return Var(annotation, value)
    return value


def bind(name, annotation, old):
    """``A: T.Tensor((M, K), dtype)`` in a function under @jit: what the argument is."""
    tracer = tracing()
    return old() if tracer is None else tracer.bind(name, annotation, old())


# Builtins, under names of their own: this file needs the real ones ---------------------------------------------------


def range_(*bounds):
    if tracing() is None or not tracing().in_kernel:
        return range(*(plain(b) for b in bounds))
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if isinstance(plain(step), int) and plain(step) < 0:
        raise ValueError(
            f"{trace.place()}: loops of kernels count upwards, got step {step}; compute the index from another"
        )
    return Loop("serial", start, stop, step)


def _extreme(native, built_in):
    def function(*values, **options):
        if len(values) >= 2 and any(is_symbolic(v) for v in values):
            result = plain(values[0])
            for value in values[1:]:
                result = native(result, plain(value))
            return result
        return built_in(*(plain(v) for v in values), **options)

    return function


min_ = _extreme(_native.min, min)
max_ = _extreme(_native.max, max)


def float_(value):
    return _native.cast(plain(value), "float32") if is_symbolic(value) else float(plain(value))


def int_(value):
    return _native.cast(plain(value), "int32") if is_symbolic(value) else int(plain(value))


def bool_(value):
    return _truth(value) if is_symbolic(value) else bool(plain(value))
