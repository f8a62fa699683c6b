"""Rewrites a Python function so that its control flow can be of the kernel: see control.py for what it calls.

The function is parsed, 'if', 'for', 'while', 'and', 'or', 'not', conditional expressions and assignments become calls,
and the result is compiled under the user's own file name and lines, so that every message and traceback points there.
"""

import ast
import inspect
import types

from . import control

_TL = "_deep_accel_control"
# What only code for threads calls; those that work in blocks too are not among them.
_THREADS = {
    "activemask", "all_sync", "any_sync", "ballot", "ballot_count", "ballot_sync", "get_lane_idx", "get_thread_binding",
    "get_thread_bindings", "get_warp_idx", "get_warp_idx_sync", "shfl_down", "shfl_sync", "shfl_up", "shfl_xor",
    "sync_threads", "sync_warp", "syncthreads_and", "syncthreads_count", "syncthreads_or", "thread_binding",
    "tvm_thread_allreduce", "warp_reduce_bitand", "warp_reduce_bitor", "warp_reduce_max", "warp_reduce_min",
    "warp_reduce_sum",
}  # fmt: skip
_PHASES = {"sync_global", "sync_grid"}
_BUILTINS = {"range", "min", "max", "float", "int", "bool"}
_OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.MatMult: "@",
}  # fmt: skip
_SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


def _called(node):
    """The last part of the name of what is called: "copy" for T.copy(...)."""
    if not isinstance(node, ast.Call):
        return None
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)


def _inner(node):
    """Child nodes, without those of functions and classes inside."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _inner(child)


def _assigned(statements):
    """The names that the statements assign, in order."""
    names = {}
    for statement in statements:
        nodes = [statement, *(_inner(statement) if not isinstance(statement, _SCOPES) else ())]
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names[node.id] = None
    return list(names)


def _leaves(statements):
    """Whether break or continue of the surrounding loop stand in the statements."""
    for statement in statements:
        if isinstance(statement, (ast.Break, ast.Continue)) or (
            isinstance(statement, ast.Expr) and _called(statement.value) == "loop_break"
        ):
            return True
        if isinstance(statement, (ast.For, ast.While)):
            if _leaves(statement.orelse):
                return True
        elif not isinstance(statement, _SCOPES):
            for field in ("body", "orelse", "finalbody"):
                if _leaves(getattr(statement, field, [])):
                    return True
    return False


class _Rewriter(ast.NodeTransformer):
    def __init__(self, shadowed):
        self.counter = 0
        self.shadowed = shadowed

    # Small makers of nodes -------------------------------------------------------------------------------------------

    def fresh(self, prefix):
        self.counter += 1
        return f"_{prefix}_{self.counter}"

    def call(self, name, *arguments):
        return ast.Call(ast.Attribute(ast.Name(_TL, ast.Load()), name, ast.Load()), list(arguments), [])

    def method(self, variable, name, *arguments):
        return ast.Call(ast.Attribute(ast.Name(variable, ast.Load()), name, ast.Load()), list(arguments), [])

    def lazily(self, expression):
        empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        return ast.Lambda(empty, expression)

    def look_ups(self, names):
        return ast.Tuple([self.lazily(ast.Name(n, ast.Load())) for n in names], ast.Load())

    def name_list(self, names):
        return ast.Tuple([ast.Constant(n) for n in names], ast.Load())

    def targets(self, names):
        if not names:
            return ast.Name("_", ast.Store())
        return ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())

    def at(self, node, new):
        return ast.fix_missing_locations(ast.copy_location(new, node))

    # Statements ------------------------------------------------------------------------------------------------------

    def block(self, statements):
        result = []
        for statement in statements:
            visited = self.visit(statement)
            result += visited if isinstance(visited, list) else [visited] if visited is not None else []
        return result

    def visit_FunctionDef(self, node):
        return node  # decorated ones are rewritten when they are decorated

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

    def visit_If(self, node):
        names = _assigned([*node.body, *node.orelse])
        branch = self.fresh("if")

        def done():
            return ast.Expr(self.method(branch, "done", self.look_ups(names)))

        new = [
            ast.Assign(
                [ast.Name(branch, ast.Store())],
                self.call("Branch", self.visit(node.test), self.look_ups(names), self.name_list(names)),
            ),
            ast.For(self.targets(names), self.method(branch, "then"), [*self.block(node.body), done()], []),
            ast.For(self.targets(names), self.method(branch, "orelse"), [*self.block(node.orelse), done()], []),
        ]
        # The results end the branch, also where there is no name to give them to.
        results = self.method(branch, "results")
        new.append(ast.Assign([self.targets(names)], results) if names else ast.Expr(results))
        return [self.at(node, n) for n in new]

    def guarded(self, statements, flags):
        """The statements with break and continue as flags, the rest of each block under 'if no flag is up'."""
        result = []
        for index, statement in enumerate(statements):
            if isinstance(statement, (ast.Break, ast.Continue)) or (
                isinstance(statement, ast.Expr) and _called(statement.value) == "loop_break"
            ):
                flag = flags[1] if isinstance(statement, ast.Continue) else flags[0]
                result.append(self.at(statement, ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(True))))
                return result
            if not _leaves([statement]):
                result.append(statement)
                continue
            for field in ("body", "orelse"):
                if hasattr(statement, field):
                    setattr(statement, field, self.guarded(getattr(statement, field), flags))
            result.append(statement)
            rest = self.guarded(statements[index + 1 :], flags)
            if rest:
                up = ast.BoolOp(ast.Or(), [ast.Name(f, ast.Load()) for f in flags])
                result.append(self.at(statement, ast.If(ast.UnaryOp(ast.Not(), up), rest, [])))
            return result
        return result

    def without_leaving(self, node):
        """The loop with its break and continue as flags, and what stands before it."""
        if not _leaves(node.body):
            return []
        flags = (self.fresh("break"), self.fresh("continue"))

        def set_flag(f, v):
            return self.at(node, ast.Assign([ast.Name(f, ast.Store())], ast.Constant(v)))

        body = [set_flag(flags[1], False), *self.guarded(node.body, flags)]
        going_on = ast.UnaryOp(ast.Not(), ast.Name(flags[0], ast.Load()))
        if isinstance(node, ast.While):
            node.test = self.at(node, ast.BoolOp(ast.And(), [going_on, node.test]))
            node.body = body
        else:
            node.body = [self.at(node, ast.If(going_on, body, []))]
        return [set_flag(flags[0], False), set_flag(flags[1], False)]

    def visit_For(self, node):
        if node.orelse:
            raise SyntaxError("'else' of a loop cannot be part of a kernel; put a test behind the loop")
        before = self.block(self.without_leaving(node))
        own = _assigned([ast.Expr(node.target)])
        names = [n for n in _assigned(node.body) if n not in own]
        loop = self.fresh("for")
        body = [*self.block(node.body), ast.Expr(self.method(loop, "next", self.look_ups(names)))]
        new = [
            ast.Assign(
                [ast.Name(loop, ast.Store())],
                self.call("ForLoop", self.visit(node.iter), self.look_ups(names), self.name_list(names)),
            ),
            ast.For(ast.Tuple([node.target, self.targets(names)], ast.Store()), ast.Name(loop, ast.Load()), body, []),
        ]
        if names:
            new.append(ast.Assign([self.targets(names)], self.method(loop, "results")))
        return [*before, *(self.at(node, n) for n in new)]

    def visit_While(self, node):
        if node.orelse:
            raise SyntaxError("'else' of a loop cannot be part of a kernel; put a test behind the loop")
        before = self.block(self.without_leaving(node))
        names = _assigned(node.body)
        loop, enter, values = self.fresh("while"), self.fresh("enter"), self.fresh("values")
        # The names are this function's own, or of one around it.
        set_names = ast.FunctionDef(
            enter, ast.arguments(posonlyargs=[], args=[ast.arg(values)], kwonlyargs=[], kw_defaults=[], defaults=[]),
            [*([ast.Nonlocal(names)] if names else []),
             ast.Assign([self.targets(names)], ast.Name(values, ast.Load()))],
            [],
            type_params=[],
        )  # fmt: skip
        body = [*self.block(node.body), ast.Expr(self.method(loop, "next", self.look_ups(names)))]
        new = [
            set_names,
            ast.Assign(
                [ast.Name(loop, ast.Store())],
                self.call("WhileLoop", self.look_ups(names), self.name_list(names)),
            ),
            ast.For(
                self.targets(names),
                self.method(loop, "iterate", self.lazily(self.visit(node.test)), ast.Name(enter, ast.Load())),
                body, [],
            ),
        ]  # fmt: skip
        if names:
            new.append(ast.Assign([self.targets(names)], self.method(loop, "results")))
        return [*before, *(self.at(node, n) for n in new)]

    def visit_With(self, node):
        first, rest, before = [], [], []
        if any(_called(item.context_expr) == "Kernel" for item in node.items):
            # The order of blocks belongs to the grid; tiles of the block are made before its threads begin.
            for statement in node.body:
                value = getattr(statement, "value", None)
                if isinstance(statement, ast.Expr) and _called(value) == "use_swizzle":
                    before.append(statement)
                elif isinstance(statement, ast.Assign) and _called(value) in ("alloc_shared", "alloc_barrier"):
                    first.append(statement)
                else:
                    rest.append(statement)
            node.body = [*first, *rest]
        before = self.block(before)
        node.items = [self.visit(item) for item in node.items]
        node.body = self.block(node.body) or [ast.Pass()]
        return [*before, node]

    def visit_Assign(self, node):
        if len(node.targets) != 1:
            raise SyntaxError("one assignment at a time: 'a = b = ...' cannot be part of a kernel")
        value = self.visit(node.value)
        target = node.targets[0]
        if isinstance(target, ast.Name):
            value = self.call(
                "assign",
                self.call("named", ast.Constant(target.id)),
                value,
                self.lazily(ast.Name(target.id, ast.Load())),
            )
        return self.at(node, ast.Assign([self.visit(target)], value))

    def visit_AugAssign(self, node):
        operator, value = ast.Constant(_OPERATORS[type(node.op)]), self.visit(node.value)
        if isinstance(node.target, ast.Name):
            old = ast.Name(node.target.id, ast.Load())
            combined = self.call("combine", old, operator, value)
            new = ast.Assign(
                [node.target], self.call("assign", ast.Constant(node.target.id), combined, self.lazily(old))
            )
        elif isinstance(node.target, ast.Subscript):
            key = self.key(self.visit(node.target.slice))
            new = ast.Expr(self.call("store_combined", self.visit(node.target.value), key, operator, value))
        else:
            return self.generic_visit(node)
        return self.at(node, new)

    def key(self, node):
        """The key of a subscript as an expression: 'a:b' as slice(a, b)."""
        if isinstance(node, ast.Slice):
            parts = [part or ast.Constant(None) for part in (node.lower, node.upper, node.step)]
            return ast.Call(ast.Name("slice", ast.Load()), parts, [])
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self.key(e) for e in node.elts], ast.Load())
        return node

    def visit_AnnAssign(self, node):
        if not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        name, annotation = node.target.id, self.visit(node.annotation)
        if node.value is None:
            value = self.call("bind", ast.Constant(name), annotation, self.lazily(ast.Name(name, ast.Load())))
        else:
            value = self.call("declare", self.call("named", ast.Constant(name)), annotation, self.visit(node.value))
        return self.at(node, ast.Assign([ast.Name(name, ast.Store())], value))

    def visit_Assert(self, node):
        message = self.lazily(self.visit(node.msg)) if node.msg else ast.Constant(None)
        return self.at(node, ast.Expr(self.call("check", self.visit(node.test), message)))

    # Expressions -----------------------------------------------------------------------------------------------------

    def visit_IfExp(self, node):
        parts = self.visit(node.test), self.lazily(self.visit(node.body)), self.lazily(self.visit(node.orelse))
        return self.at(node, self.call("choose", *parts))

    def visit_BoolOp(self, node):
        function = "both" if isinstance(node.op, ast.And) else "either"
        return self.at(node, self.call(function, *(self.lazily(self.visit(v)) for v in node.values)))

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            return self.at(node, self.call("negate", self.visit(node.operand)))
        return self.generic_visit(node)

    def visit_Compare(self, node):
        if len(node.ops) == 1:
            return self.generic_visit(node)
        operands = [node.left, *node.comparators]
        pairs = [ast.Compare(a, [op], [b]) for a, op, b in zip(operands, node.ops, operands[1:])]
        return self.visit(self.at(node, ast.BoolOp(ast.And(), pairs)))

    def visit_Call(self, node):
        if _called(node) == "if_then_else" and len(node.args) == 3 and not node.keywords:
            return self.visit(self.at(node, ast.IfExp(*node.args)))
        if isinstance(node.func, ast.Name) and node.func.id in _BUILTINS - self.shadowed:
            node.func = ast.Attribute(ast.Name(_TL, ast.Load()), node.func.id + "_", ast.Load())
        return self.generic_visit(node)


def parse(function):
    """The function's syntax tree, with lines and columns of its file."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError) as error:
        raise ValueError(f"{function.__name__}: its source cannot be read; define kernels in a file") from error
    text = "".join(lines)
    # Indented code parses as the body of something; its columns stay right.
    indented = text[:1] in " \t"
    tree = ast.parse("if True:\n" + text if indented else text)
    node = tree.body[0].body[0] if indented else tree.body[0]
    ast.increment_lineno(node, first - (2 if indented else 1))
    return node


def uses_threads(node):
    """Whether the code is written for threads."""
    return any(_called(child) in _THREADS for child in ast.walk(node))


def has_phases(node):
    """Whether barriers of the grid cut the kernel."""
    return any(_called(child) in _PHASES for child in ast.walk(node))


def writes_kernel(node):
    """Whether 'with T.Kernel(...)' stands in the function itself."""
    return any(
        isinstance(child, ast.With) and any(_called(item.context_expr) == "Kernel" for item in child.items)
        for child in _inner(node)
    )


def rewritten(function):
    """The function with its control flow rewritten, its globals, defaults and closure kept; and its syntax tree."""
    node = parse(function)
    source = parse(function)
    filename = inspect.getsourcefile(function) or function.__code__.co_filename
    parameters = [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
    shadowed = {*parameters, *_assigned(node.body), *function.__code__.co_freevars, *function.__globals__}
    rewriter = _Rewriter(shadowed)
    try:
        node.body = rewriter.block(node.body)
    except SyntaxError as error:
        raise SyntaxError(f"{filename}:{source.lineno}: {error.msg}") from None
    node.decorator_list, node.returns = [], None
    for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
        argument.annotation = None
    node.args.defaults = [ast.Constant(None)] * len(node.args.defaults)
    node.args.kw_defaults = [d and ast.Constant(None) for d in node.args.kw_defaults]
    free = [*function.__code__.co_freevars, _TL]
    # A function around it makes the free variables what they were.
    outer = ast.FunctionDef(
        "_outer",
        ast.arguments(posonlyargs=[], args=[ast.arg(n) for n in free], kwonlyargs=[], kw_defaults=[], defaults=[]),
        [node, ast.Return(ast.Name(node.name, ast.Load()))], [], type_params=[],
    )  # fmt: skip
    module = ast.fix_missing_locations(ast.Module([outer], []))
    code = compile(module, filename, "exec", dont_inherit=True)
    outer_code = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    inner = next(c for c in outer_code.co_consts if isinstance(c, types.CodeType) and c.co_name == node.name)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    cells[_TL] = types.CellType(control)
    closure = tuple(cells.setdefault(name, types.CellType()) for name in inner.co_freevars)
    new = types.FunctionType(inner, function.__globals__, function.__name__, function.__defaults__, closure)
    new.__kwdefaults__ = function.__kwdefaults__
    new.__doc__ = function.__doc__
    return new, source
