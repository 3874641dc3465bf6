"""A run reads arXiv where the administrator allows the network, and nowhere else."""

from collections.abc import Callable
from typing import Any

import pytest

from chat.models import Run, RunStatus
from tests.integration.here import here
from tests.page_server import Page

SCRIPT = [
    {"say": 'Thought: Look.\nAction: arxiv_search\nAction Input: {"words": "looms"}'},
    {"say": "Thought: I know now.\nFinal Answer: Done."},
]
FEED = """<feed xmlns="http://www.w3.org/2005/Atom"><entry>
<id>http://arxiv.org/abs/2103.00001v2</id><title>On Looms</title><summary>We weave.</summary>
<published>2021-03-04T10:00:00Z</published><updated>2021-03-04T10:00:00Z</updated>
<author><name>Ada Lovelace</name></author><category term="cs.DS"/></entry></feed>"""


@pytest.mark.parametrize("is_on", [True, False])
def test_a_run_searches_arxiv_only_where_the_network_is_allowed(
    asked: Callable[..., Run], set_up: Callable[..., None], settings: Any, is_on: bool
) -> None:
    settings.NETWORK_TOOLS = is_on
    with Page(FEED) as arxiv:
        set_up(TURNSTONE_ARXIV_URL=arxiv.url)
        run = asked(SCRIPT, tools=("calculator", "arxiv"))
        here().work(run.pk)
        heard = list(arxiv.heard)

    run.refresh_from_db()
    observation = run.turns.get(index=0).actions[0].observation or ""
    assert (run.status, run.answer) == (RunStatus.SUCCEEDED, "Done.")
    assert len(heard) == (1 if is_on else 0)
    if is_on:
        assert "1. On Looms\n2103.00001v2 (2021-03-04; cs.DS)" in observation
    else:
        assert "Available tools: calculator." in observation
