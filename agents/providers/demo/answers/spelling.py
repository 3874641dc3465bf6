"""Turn an expression in words into one in signs: "three times the square root of 16"."""

import re

from agents.providers.demo.answers.numbers import NUMBER, plain_number

_SIGNS = (
    (r"multiplied by|times", "*"),
    (r"divided by|over", "/"),
    (r"plus|added to", "+"),
    (r"minus|less", "-"),
    (r"(?:raised )?to the power(?: of)?", "^"),
    (r"modulo|mod", "%"),
    (r"squared", "^ 2"),
    (r"cubed", "^ 3"),
    (r"(?:the )?square root of", "sqrt "),
    (r"(?:the )?cube root of", "cbrt "),
    (r"(?:the )?factorial of", "factorial "),
    (r"half of|halve", "1/2 *"),
    (r"double|twice", "2 *"),
    (r"triple", "3 *"),
)
_OF_THAT = r"(?:that|it|this|the (?:result|answer))"
_ORDERS = (
    (rf"(?:multiply|take) {_OF_THAT} (?:by|times) ", r"that * "),
    (rf"divide {_OF_THAT} by ", r"that / "),
    (rf"add (\S+)(?: to {_OF_THAT})?$", r"that + \1"),
    (rf"(?:subtract|take) (\S+)(?: (?:away )?from {_OF_THAT})?$", r"that - \1"),
)
_ORDERED = tuple((re.compile(rf"^{words}"), meant) for words, meant in _ORDERS)
"""What is to be done to the number before, in the words of an order."""
_SPELLED = (
    *((re.compile(rf"\b(?:{words})\b"), f" {sign} ") for words, sign in _SIGNS),
    (re.compile(r"[\u00d7\u00b7]|(?<=\d) ?x ?(?=[\d(])"), " * "),
    (re.compile("\u00f7"), " / "),
    (re.compile("[\u2212\u2013]"), "-"),
)
_SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
_ROUND = {"thirty": "30", "forty": "40", "fifty": "50", "hundred": "100", "thousand": "1000"}
_DIGITS = {word: str(value) for value, word in enumerate(_SMALL)} | _ROUND
_WORD = re.compile(r"[a-z]+")
_THOUSANDS = re.compile(r"(?<![\d.])\d{1,3}(?:,\d{3})+(?![\d,])")
_VALUE = rf"{NUMBER}|\(-?[\d.]+\)"
_PERCENT_OF = re.compile(rf"({_VALUE}) ?(?:%|percent) of ({_VALUE})")
_CALL = re.compile(rf"\b(sqrt|cbrt|factorial) +({_VALUE})")
_FACTORIAL = re.compile(r"(\d+)!(?!=)")
_THAT = re.compile(rf"\b{_OF_THAT}\b")
_CONTINUES = re.compile(r"[*/^%+]|- ")


def spelled_out(text: str, previous: str) -> str:
    """Return the expression in signs; "that", or a sign in the first place, means `previous`."""
    text = _THOUSANDS.sub(lambda found: plain_number(found[0]), text)
    if previous:
        for order, meant in _ORDERED:
            text = order.sub(meant, text)
    for spelling, sign in _SPELLED:
        text = spelling.sub(sign, text)
    text = _WORD.sub(lambda found: _DIGITS.get(found[0], found[0]), text)
    text = " ".join(text.split())
    if previous:
        text = _THAT.sub(f"({previous})", text)
        text = f"({previous}) {text}" if _CONTINUES.match(text) else text
    text = _PERCENT_OF.sub(r"\1 / 100 * \2", text)
    text = _FACTORIAL.sub(r"factorial(\1)", text)
    return _CALL.sub(lambda found: f"{found[1]}({found[2].strip('()')})", text)
