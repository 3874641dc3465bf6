"""The Atom feed that arXiv answers with, read without trusting it."""

from dataclasses import dataclass

from lxml import etree

_NAMES = {
    "atom": "http://www.w3.org/2005/Atom",
    "arxiv": "http://arxiv.org/schemas/atom",
    "search": "http://a9.com/-/spec/opensearch/1.1/",
}
_PAPERS, _AUTHORS, _SUBJECTS = 100, 100, 20
_TEXT = 10_000
_ERRORS = "/api/errors"


@dataclass(frozen=True)
class Paper:
    """One entry; `id` is as in `1706.03762v7`, dates are as in `2017-06-12`."""

    id: str
    title: str
    abstract: str
    authors: tuple[str, ...]
    published: str
    updated: str
    subjects: tuple[str, ...]
    comment: str = ""
    journal: str = ""
    doi: str = ""


@dataclass(frozen=True)
class Feed:
    """What arXiv answers: papers, how many fit in all, or in `error` why there are none."""

    papers: list[Paper]
    total: int = 0
    error: str = ""


def read_feed(body: bytes) -> Feed | None:
    """Return the feed, None for what is none, and for what declares a document type or entities."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False
    )
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    # A feed needs no types of its own: where one is declared, entities are to be played with.
    if root.getroottree().docinfo.internalDTD is not None:
        return None
    if root.tag != f"{{{_NAMES['atom']}}}feed":
        return None
    entries = root.findall("atom:entry", _NAMES)
    failed = [entry for entry in entries if _ERRORS in _text(entry, "atom:id")]
    if failed:
        return Feed([], error=_text(failed[0], "atom:summary")[:300] or "it does not say why.")
    papers = [_paper(entry) for entry in entries[:_PAPERS]]
    total = _text(root, "search:totalResults")
    is_number = total.isascii() and total.isdigit() and len(total) < 12
    return Feed([one for one in papers if one.id and one.title], int(total) if is_number else 0)


def _paper(entry: etree._Element) -> Paper:
    names = [_text(author, "atom:name") for author in entry.findall("atom:author", _NAMES)]
    subjects = [str(one.get("term", "")) for one in entry.findall("atom:category", _NAMES)]
    return Paper(
        id=_text(entry, "atom:id").rpartition("/abs/")[2][:40],
        title=_text(entry, "atom:title"),
        abstract=_text(entry, "atom:summary"),
        authors=tuple(name for name in names if name)[:_AUTHORS],
        published=_text(entry, "atom:published")[:10],
        updated=_text(entry, "atom:updated")[:10],
        subjects=tuple(one[:40] for one in subjects if one)[:_SUBJECTS],
        comment=_text(entry, "arxiv:comment"),
        journal=_text(entry, "arxiv:journal_ref"),
        doi=_text(entry, "arxiv:doi"),
    )


def _text(part: etree._Element, path: str) -> str:
    """Return the text of a part on one line, empty if there is none."""
    return " ".join((part.findtext(path, "", _NAMES) or "")[:_TEXT].split())
