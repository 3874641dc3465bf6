"""How texts become a tsvector: their words by weight, and beside them their English stems.

One tsvector serves exact words and English forms. The words stand with their positions, for
phrases, and the weight of the part that they are said in. A stem that differs from the word has its
weight too, and a position that tells nothing but the weight: before all words, and not beside any.
"""

from collections.abc import Mapping

from chat.search.documents.parts import Said
from chat.search.words import split

# A tsvector holds 1,048,575 bytes of words with their positions and its writer raises beyond, so
# that the turn would be lost. It takes at most three bytes for each that these limits let through.
MAX_CHARACTERS = 200_000
MAX_BYTES = 300_000

WEIGHTS = "ABCD"

OF_TURN = {
    "question": "A",
    "answer": "A",
    "thought": "B",
    "plan": "B",
    "tool": "C",
    "inputs": "C",
    "observation": "D",
    "message": "D",
}
"""What the parts of a turn weigh."""

OF_RUN = {"question": "A", "answer": "B", "message": "C", "title": "D"}
"""What the parts of a run weigh."""

# Between two parts, so that no phrase is found across them.
_BREAK = "u2029"

# A stem's position is an odd number of its own, so that no two stand one behind the other.
_STEMS = " || ".join(
    f"""coalesce(nullif(array_to_string(tsvector_to_array(
      ts_delete(to_tsvector('english', said[{n}]), tsvector_to_array(exact_{weight}))
    ), ':{2 * n - 1}{weight} '), '') || ':{2 * n - 1}{weight} ', '')"""
    for n, weight in enumerate(WEIGHTS, 1)
)
_EXACT = [f"to_tsvector('simple', said[{n}]) AS exact_{w}" for n, w in enumerate(WEIGHTS, 1)]
_WEIGHED = " || ".join(f"setweight(exact_{weight}, '{weight}')" for weight in WEIGHTS)

VECTOR = f"""(
  SELECT ({_STEMS} || '{_BREAK}:{2 * len(WEIGHTS) + 1}')::tsvector || {_WEIGHED}
  FROM (
    SELECT said, {", ".join(_EXACT)} FROM (SELECT %s::text[] AS said) AS bodies OFFSET 0
  ) AS parts
)"""  # noqa: S608 - constants
"""The SQL of a tsvector; its parameter is what `bodies_of` returns."""


def bodies_of(said: Said, weights: Mapping[str, str]) -> tuple[list[str], bool]:
    """Return the words said with each of WEIGHTS, split and joined, and whether some were left out.

    `weights` has the weight of each part.
    """
    kept: dict[str, list[str]] = {weight: [] for weight in WEIGHTS}
    is_cut = _fill(kept, said, weights)
    return [" ".join(words) for words in kept.values()], is_cut


def _fill(kept: dict[str, list[str]], said: Said, weights: Mapping[str, str]) -> bool:
    characters, size = MAX_CHARACTERS, MAX_BYTES
    for name, text in said:
        if not text:
            continue
        words = kept[weights[name]]
        for word in split(text[:characters]):
            size -= len(word.encode()) + 1
            if size < 0:
                return True
            words.append(word)
        words.append(_BREAK)
        characters -= len(text)
        if characters < 0:
            return True
    return False
