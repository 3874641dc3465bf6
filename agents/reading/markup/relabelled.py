"""Write a reply's labels as the text format has them: of other words, in lists, without a colon."""

import re

from agents.reading.text_reply import ReplyReader, TextReply

_WORDS = {
    "input": r"""
        action[\x20_-]?input tool[\x20_]input input arguments? parameters?
        行动输入 动作输入 输入 入力 行動輸入 entrada entrada\x20de\x20la\x20acci[óo]n
        entrada\x20da\x20a[çc][ãa]o eingabe aktionseingabe entr[ée]e
        entr[ée]e\x20de\x20l['\u2019]action input\x20dell['\u2019]azione ввод
        """,
    "answer": r"""
        final[\x20_-]?answer final\x20response answer
        最终答案 最终回答 最終回答 最終答案 答案 回答 respuesta respuesta\x20final resposta
        resposta\x20final r[ée]ponse r[ée]ponse\x20finale antwort endg[üu]ltige\x20antwort
        finale\x20antwort
        risposta risposta\x20finale \u043e\u0442\u0432\u0435\u0442
        \u043e\u043a\u043e\u043d\u0447\u0430\u0442\u0435\u043b\u044c\u043d\u044b\u0439\x20\u043e\u0442\u0432\u0435\u0442
        """,
    "thought": r"""
        thoughts? reasoning 思考 想法 pensamiento pensamento pens[ée]e r[ée]flexion gedanken?
        [üu]berlegung pensiero мысль
        """,
    "action": r"""
        action 行动 動作 动作 操作 行動 acci[óo]n aktion azione a[çc][ãa]o действие アクション
        """,
    "observation": r"""
        observation 观察 觀察 観察 observaci[óo]n beobachtung osservazione наблюдение
        """,
}
"""How labels are called, by what they mean, in the languages that models fall into."""

_EACH = {
    name: "|".join(sorted(words.split(), key=len, reverse=True)) for name, words in _WORDS.items()
}
_GROUPS = "|".join(f"(?P<{name}>{words})" for name, words in _EACH.items())
_LABEL = re.compile(
    r"^[ \t]*(?:(?:[-*+>\u2022]|\d{1,2}[.)])[ \t]+)?(?P<head>\#{1,6}[ \t]+)?(?P<open>[*_`]{0,3})"
    rf"(?:{_GROUPS})[ \t]?\d{{0,3}}(?P<close>[*_`]{{0,3}})[ \t]*"
    r"(?:(?P<colon>[:\uff1a])[*_`]{0,3}|$)",
    re.IGNORECASE | re.MULTILINE,
)
_LABELS = {
    "input": "Action Input",
    "answer": "Final Answer",
    "thought": "Thought",
    "action": "Action",
    "observation": "Observation",
}
_TWICE = re.compile(r"^Action:\s{0,9}(?=Final[ _]?Answer\s{0,3}:)", re.IGNORECASE | re.MULTILINE)
_NO_STEP = re.compile(
    r"^[ \t>#*_`\d.)-]{0,12}(?:thoughts?|action(?:[ _-]?input)?|observation|final[ _-]?answer)"
    r"[ \t]?\d{0,3}[*_`]{0,3}[ \t]*[:\uff1a]",
    re.IGNORECASE | re.MULTILINE,
)
_THOUGHT = re.compile(r"\s*[*_#]{0,3}\s?thoughts?[ \t]?\d{0,3}[*_]{0,3}\s?[:\uff1a][*_]{0,3}", re.I)
_ROLE = re.compile(r"\s*[*_]{0,3}(?:assistant|ai|bot)[*_]{0,3}[ \t]?[:\uff1a][*_]{0,3}[ \t]*", re.I)
_OBJECT = re.compile(r"\s*(?:`{3,}+[\w+-]{0,20}\s*+)?(?:\{|\[\s*\{)")
_PARAGRAPHS = re.compile(r"\n[ \t]*\n\s*")


def read_relabelled(text: str) -> TextReply:
    """Return what the text says with its labels as they are asked for."""
    reader = ReplyReader()
    reader.feed(_TWICE.sub("", _LABEL.sub(_canonical, text)))
    reader.finish()
    return reader.reply


def prose_of(text: str) -> str:
    """Return what a reply without a step says to a person, empty where it only began a step.

    That is the text without a label; behind a labelled thought, what its further paragraphs say.
    """
    labels = list(_NO_STEP.finditer(text))
    begin = _THOUGHT.match(text)
    if begin is not None and len(labels) == 1:
        _, *rest = _PARAGRAPHS.split(text[begin.end() :].strip(), maxsplit=1)
        text = rest[0] if rest else ""
    elif labels:
        return ""
    role = _ROLE.match(text)
    said = (text if role is None else text[role.end() :]).strip()
    return "" if _OBJECT.match(said) else said


def _canonical(label: re.Match[str]) -> str:
    """Return the label, or the line as it is where a word alone is none."""
    is_marked = label["head"] or (label["open"] and label["close"])
    if not label["colon"] and not is_marked:
        return label[0]
    name = next(name for name in _LABELS if label[name] is not None)
    emphasis = label["open"] if label["open"] and not label["close"] and label["colon"] else ""
    is_closed = emphasis and label[0].endswith(emphasis)
    return f"{_LABELS[name]}: " + ("" if is_closed else emphasis)
