"""The small mistakes that are made on purpose: each changes one place of a module.

Left alone is what no test should know: docstrings and logging, constants of a module (most are
seconds), defaults of arguments, and locks between threads, whose lack no test sees for sure.
"""

import ast
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import NamedTuple

_OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
_NARROWING = ("filter", "exclude", "select_for_update", "order_by", "distinct")
_ATOMIC = ("transaction.atomic", "transaction.atomic()")
_SCOPES = (ast.Module, ast.ClassDef)
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

Option = tuple[str, Callable[[], ast.AST]]
"""What a mistake is, and what it puts in the place of a node."""


class Place(NamedTuple):
    """Where one mistake can be made, and what it is; `number` counts them in a module."""

    number: int
    line: int
    what: str


def places(source: str) -> list[Place]:
    """Return where mistakes can be made in a module, in an order that never changes."""
    maker = _Maker(None)
    maker.visit(ast.parse(source))
    return [Place(number, *found) for number, found in enumerate(maker.found)]


def mutant(source: str, place: Place) -> str:
    """Return the module with the mistake in it, and without comments."""
    tree = _Maker(place.number).visit(ast.parse(source))
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


class _Maker(ast.NodeTransformer):
    """Find the places of a tree, and change the one that is wanted."""

    def __init__(self, wanted: int | None) -> None:
        self._wanted = wanted
        self.found: list[tuple[int, str]] = []

    def visit(self, node: ast.AST) -> ast.AST:
        """Change the node or what is in it, if the place that is wanted is there."""
        if _is_left_alone(node):
            return node
        for what, change in chain(_in_expressions(node), _in_calls(node), _in_statements(node)):
            self.found.append((getattr(node, "lineno", 0), what))
            if len(self.found) - 1 == self._wanted:
                return change()
        if isinstance(node, _SCOPES):
            node.body = [self._of_scope(one) for one in node.body]
            return node
        return self.generic_visit(node)

    def _of_scope(self, node: ast.stmt) -> ast.stmt:
        changed = self.visit(node) if isinstance(node, _DEFINED) else node
        assert isinstance(changed, ast.stmt)
        return changed


def _is_left_alone(node: ast.AST) -> bool:
    match node:
        case ast.arguments() | ast.JoinedStr():
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="logger")))):
            return True
        case _:
            return False


def _in_expressions(node: ast.AST) -> Iterator[Option]:
    match node:
        case ast.Compare(ops=[sign]) | ast.BoolOp(op=sign) | ast.BinOp(op=sign):
            if opposite := _OPPOSITES.get(type(sign)):
                yield (
                    f"{_name(sign)} becomes {opposite.__name__}",
                    lambda: _signed(node, opposite()),
                )
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not is dropped", lambda: operand
        case ast.Constant(value=bool(value)):
            yield f"{value} becomes {not value}", lambda: ast.Constant(not value)
        case ast.Constant(value=int(number)):
            yield f"{number} becomes {number + 1}", lambda: ast.Constant(number + 1)


def _in_calls(node: ast.AST) -> Iterator[Option]:
    match node:
        case ast.Call(func=ast.Attribute(value=narrowed, attr=attr)) if attr in _NARROWING:
            if not isinstance(narrowed, ast.Attribute) or narrowed.attr != "objects":
                yield f"{attr}() is dropped", lambda: narrowed
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg is not None:
                yield f"{keyword.arg}= is dropped", partial(_without, node, keyword)


def _in_statements(node: ast.AST) -> Iterator[Option]:
    match node:
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.AugAssign() | ast.Raise():
            yield f"{ast.unparse(node)[:60]!r} is dropped", ast.Pass
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield f"{ast.unparse(node)[:60]!r} is dropped", ast.Pass
        case ast.Return(value=value) if not _is_none(value):
            yield "None is returned", lambda: ast.Return(ast.Constant(None))
        case ast.If(test=test, body=body, orelse=rest) if not isinstance(test, ast.UnaryOp):
            yield "if is turned round", lambda: ast.If(_not(test), body, rest)
        case ast.While(test=test, body=body, orelse=rest) if not isinstance(test, ast.Constant):
            yield "while is turned round", lambda: ast.While(_not(test), body, rest)
        case ast.With(items=[item], body=body) if ast.unparse(item) in _ATOMIC:
            yield "the transaction is dropped", lambda: ast.If(ast.Constant(True), body, [])
    if isinstance(node, _FUNCTIONS) and any(map(_is_atomic, node.decorator_list)):
        yield "the transaction is dropped", lambda: _undecorated(node)


def _signed(node: ast.AST, sign: ast.AST) -> ast.AST:
    match node, sign:
        case ast.Compare(left=left, comparators=right), ast.cmpop():
            return ast.Compare(left, [sign], right)
        case ast.BoolOp(values=values), ast.boolop():
            return ast.BoolOp(sign, values)
        case ast.BinOp(left=left, right=right), ast.operator():
            return ast.BinOp(left, sign, right)
    raise TypeError(f"{ast.dump(node)} cannot be signed {sign}.")


def _without(call: ast.Call, keyword: ast.keyword) -> ast.AST:
    return ast.Call(call.func, call.args, [one for one in call.keywords if one is not keyword])


def _undecorated(node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
    node.decorator_list = [one for one in node.decorator_list if not _is_atomic(one)]
    return node


def _is_atomic(decorator: ast.expr) -> bool:
    return ast.unparse(decorator) in _ATOMIC


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _not(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def _name(sign: ast.AST) -> str:
    return type(sign).__name__
