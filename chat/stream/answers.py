"""The answers of runs as the pages show them."""

from collections.abc import Iterable

from django.utils.safestring import SafeString, mark_safe

from chat.models import Run
from chat.stream.markdown import FORM, render_markdown


def renew_answers(runs: Iterable[Run]) -> None:
    """Render anew what an earlier form of rendering made, and keep it: by one statement for all."""
    stale = [run for run in runs if _renewed(run)]
    if stale:
        Run.objects.bulk_update(stale, ["answer_html", "answer_form"])


def shown_answer(run: Run) -> SafeString:
    """Return the answer as HTML of today's form, whether it was kept or not."""
    _renewed(run)
    return mark_safe(run.answer_html)  # noqa: S308 - made by render_markdown alone


def _renewed(run: Run) -> bool:
    is_stale = bool(run.answer) and run.answer_form < FORM
    if is_stale:
        run.answer_html = render_markdown(run.answer)
        run.answer_form = FORM
    return is_stale
