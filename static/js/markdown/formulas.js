// Formulas are kept to the letter; the rules are those of `chat/stream/markdown/formulas.py`.

import { spend } from "./work.js"

const INLINE = new RegExp(
  [
    String.raw`\\\((?:[^\\]|\\[^)]){1,1000}?\\\)`,
    String.raw`\\\[(?:[^\\]|\\[^\]]){1,1000}?\\\]`,
    String.raw`\$\$(?:[^$\\]|\\[\s\S]){1,1000}\$\$`,
    String.raw`\$(?![ $])(?![0-9][0-9.,]*[ ]+[A-Za-z])(?:[^$\\\n]|\\[^\n]){0,400}` +
      String.raw`(?:[^$\\\n ]|\\[^\n])\$(?![A-Za-z0-9_$])`,
  ].join("|"),
  "y",
)
const WORD = /[A-Za-z0-9_]/
const BEGIN = /^(\\\[|\$\$|\\begin\{([A-Za-z]{1,20}\*?)\})([\s\S]*)/
const CLOSING = { "\\[": "\\]", $$: "$$" }
const BEGUN = /^[ \t]*$|\\[A-Za-z]/
const REST = /^[ \t]*[.,;:]?[ \t]*$/
const MOST_LINES = 200
const SEARCH_STEPS = 16

export function formula(state, silent) {
  const here = state.src[state.pos]
  if (here !== "\\" && here !== "$") return false
  if (here === "$" && state.pos && WORD.test(state.src[state.pos - 1])) return false
  INLINE.lastIndex = state.pos
  const found = INLINE.exec(state.src)?.[0]
  if (!found || state.pos + found.length > state.posMax) {
    spend(state.env, SEARCH_STEPS)
    return false
  }
  if (!silent) {
    const token = state.push("code_inline", "code", 0)
    token.attrs = [["class", "formula"]]
    token.content = found
  }
  state.pos += found.length
  return true
}

export function keepThinSpace(state, silent) {
  const taken = state.src.slice(state.pos, state.pos + 2)
  if ((taken !== "\\," && taken !== "\\;") || state.pos + 2 > state.posMax) return false
  if (!silent) state.pending += taken
  state.pos += 2
  return true
}

export function formulaBlock(state, start, end, silent) {
  if (state.sCount[start] - state.blkIndent >= 4) return false
  const begin = BEGIN.exec(lineOf(state, start))
  if (!begin) return false
  const after = lineAfter(state, start, end, begin)
  if (after === null) return false
  if (silent) return true
  const token = state.push("formula_block", "p", 0)
  token.content = state.getLines(start, after, state.blkIndent, false).replace(/^\n+|\n+$/g, "")
  token.map = [start, after]
  state.line = after
  return true
}

function lineAfter(state, start, end, [, mark, name, first]) {
  const closing = CLOSING[mark] ?? `\\end{${name}}`
  const isBegun = name || BEGUN.test(first)
  let line = start
  for (; line < Math.min(end, start + MOST_LINES); line += 1) {
    if (line > start && (state.isEmpty(line) || state.sCount[line] < state.blkIndent)) break
    spend(state.env, 1)
    const text = line > start ? lineOf(state, line) : first
    const at = text.indexOf(closing)
    if (at < 0) continue
    const isWhole =
      REST.test(text.slice(at + closing.length)) && (line > start || /[^ \t]/.test(text.slice(0, at)))
    return isWhole || (isBegun && line > start) ? line + 1 : null
  }
  return isBegun ? line : null
}

function lineOf(state, line) {
  return state.src.slice(state.bMarks[line] + state.tShift[line], state.eMarks[line])
}
