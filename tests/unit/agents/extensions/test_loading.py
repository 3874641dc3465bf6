"""Extensions are found and loaded; what is wrong with one is said, and takes nothing else away."""

import importlib
import shutil
from pathlib import Path

import pytest

from agents.extensions import loading
from agents.extensions.loading import VARIABLE, Extensions, load, named_in
from agents.policies import POLICIES, makeup
from agents.policies.spec import PolicySpec
from agents.providers.brought import BROUGHT
from agents.tools.catalogue import TOOLS, described, doing, reaching_out, toolkit
from tests.extensions import TEMPLATE
from tests.unit.agents.extensions.conftest import Written

NAME_ONLY = "extension = Extension(name={!r})"


def loaded(*modules: str) -> Extensions:
    return load(dict.fromkeys(modules, VARIABLE))


def names(found: Extensions) -> list[str]:
    return [one.extension.name for one in found.loaded]


def before() -> tuple[set[str], set[str], set[str]]:
    return set(TOOLS), set(POLICIES), set(BROUGHT)


def test_without_extensions_nothing_is_loaded_and_nothing_said() -> None:
    assert load({}) == Extensions()


def test_an_extension_brings_tools_policies_and_providers(warehouse: str) -> None:
    tools, policies, providers = before()

    found = loaded(warehouse)

    assert found.not_loaded == {}
    assert set(TOOLS) - tools == {"stock", "orders"}
    assert set(POLICIES) - policies == {"grounded"}
    assert set(BROUGHT) - providers == {"storekeeper"}
    assert toolkit(["stock", "orders"], find_turns=lambda _: ()).names == (
        *("stock", "orders_add", "orders_list"),
    )
    assert doing("stock") == "Looking into the stock"
    assert [tool["name"] for tool in described(["orders"])] == ["orders_add", "orders_list"]


def test_a_tool_that_reaches_out_is_known_to(written: Written) -> None:
    assert "fetch_it" not in reaching_out()
    shelf = written(
        "shelf_out",
        "from agents.tools.spec import tool",
        "@tool(reaches_out=True)",
        "def fetch_it(url: str) -> str:",
        "    'Fetch it.'",
        "    return url",
        "extension = Extension(name='shelf', tools=(fetch_it,))",
    )

    loaded(shelf)

    assert "fetch_it" in reaching_out()


def test_a_variable_names_modules_between_commas(written: Written) -> None:
    told = (
        f"{written('one_x', NAME_ONLY.format('one'))}, {written('two_x', NAME_ONLY.format('two'))},"
    )

    assert names(load(named_in(told))) == ["one", "two"]


def test_an_installed_distribution_is_found_by_its_entry_point(
    written: Written, tmp_path: Path
) -> None:
    module = written("shelf_x", NAME_ONLY.format("shelf"))
    told = tmp_path / "shelf-1.2.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: shelf\nVersion: 1.2\n")
    (told / "entry_points.txt").write_text(f"[{loading.GROUP}]\nshelf = {module}\n")
    importlib.invalidate_caches()

    found = loaded(module)  # named a second time, and loaded once

    assert [(one.extension.name, one.source) for one in found.loaded] == [
        ("shelf", "shelf_x (shelf 1.2)")
    ]
    assert found.not_loaded == {}


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (("x = 1", "raise RuntimeError('no shelf')"), "RuntimeError: no shelf ({file}, line 3)"),
        (("x = (",), "SyntaxError: "),
        (("import nowhere_at_all",), "No module named 'nowhere_at_all' ({file}, line 2)"),
        (("import sys", "sys.exit('bye')"), "SystemExit: bye ({file}, line 3)"),
        (("",), "It has no `extension = Extension(...)`."),
        (("", "extension = Extension(name='A b')"), "cannot be called 'A b'"),
        (("", "extension = Extension(name='A b')"), "{file}, line 3"),
        (("extension = Extension(nam='x')",), "unexpected keyword argument 'nam' ({file}, line 2)"),
    ],
)
def test_a_broken_one_is_said_with_its_line_and_the_others_are_loaded(
    lines: tuple[str, ...], why: str, written: Written, tmp_path: Path
) -> None:
    good, other = (written(f"{name}_x", NAME_ONLY.format(name)) for name in ("good", "other"))
    broken = written("broken_x", *lines)
    there_were = before()

    found = loaded(good, broken, other)

    assert names(found) == ["good", "other"]
    said = found.not_loaded[f"broken_x ({VARIABLE})"]
    assert why.format(file=tmp_path / "broken_x.py") in said
    assert before() == there_were


def test_what_is_no_module_is_said() -> None:
    found = loaded("nowhere_at_all", "../etc/passwd")

    assert "No module named 'nowhere_at_all'" in found.not_loaded[f"nowhere_at_all ({VARIABLE})"]
    assert "is not the name of a module" in found.not_loaded[f"../etc/passwd ({VARIABLE})"]


def test_two_of_one_name_are_not_both_loaded(written: Written) -> None:
    first, second = (written(name, NAME_ONLY.format("shelf")) for name in ("first_x", "second_x"))

    found = loaded(first, second)

    assert [one.source for one in found.loaded] == [f"first_x ({VARIABLE})"]
    assert "There is an extension 'shelf' already." in found.not_loaded[f"second_x ({VARIABLE})"]


def test_a_policy_that_is_declared_and_not_brought_is_said(written: Written) -> None:
    lines = (
        "from agents.policies.context import NoSettings, Parts",
        "from agents.policies.declared import policy",
        "@policy('mine', NoSettings)",
        "def mine(parts, _):",
        "    raise NotImplementedError",
        "extension = Extension(name='shelf')",
    )

    found = loaded(written("shelf_x", *lines))

    (why,) = found.not_loaded.values()
    assert "It declares a policy 'mine' that it does not bring." in why
    assert "mine" not in POLICIES


def test_nothing_of_a_broken_one_stays(warehouse: str, written: Written) -> None:
    broken = written(
        "broken_x",
        "from turnstone_warehouse import grounded, stock",
        "extension = Extension(name='b', tools=(stock,), policies=(grounded,), offers=('x',))",
    )
    there_were = before()

    assert names(loaded(broken)) == []
    assert before() == there_were
    assert names(loaded(warehouse)) == ["warehouse"]


def test_a_changed_extension_makes_another_version_of_its_policy(
    warehouse: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copytree(TEMPLATE, tmp_path / "copy")
    monkeypatch.syspath_prepend(tmp_path / "copy")
    loaded(warehouse)
    spec = PolicySpec(policy="grounded", tools=("stock",))
    before = makeup.makeup(spec)

    with (tmp_path / "copy" / "turnstone_warehouse" / "stock.py").open("a") as source:
        source.write("# more\n")

    assert before.keys() == {"prompts", "reading", "tools", "extension"}
    assert before["prompts"] == makeup.makeup(PolicySpec(policy="explicit"))["prompts"]
    assert {part for part, digest in makeup.makeup(spec).items() if digest != before[part]} == {
        "extension"
    }
