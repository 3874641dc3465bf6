// The parser of answers, put together as the server's is (`chat/stream/markdown/parsing.py`): what it
// makes of a text is the same but for the colours of code. `tests/markdown.json` holds both.

import { formula, formulaBlock, keepThinSpace } from "./formulas.js"
import { bareLink, imagesAsLinks, markLinks } from "./links.js"
import { alignCells, lowerHeadings, markTasks } from "./shape.js"
import { spend } from "./work.js"

export const LONGEST = 50_000
export const DEEPEST = 60
const NAME = /^[A-Za-z0-9_+#.-]{1,24}$/
const EVERYWHERE = { alt: ["paragraph", "reference", "blockquote", "list"] }

export function makeParser(MarkdownIt) {
  const parser = new MarkdownIt("commonmark", { html: false, maxNesting: DEEPEST, xhtmlOut: false })
  parser.validateLink = (url) => /^(?:https?|mailto):/i.test(url)
  parser.enable(["table", "strikethrough"])
  count(parser)
  parser.block.ruler.before("fence", "formula", formulaBlock, EVERYWHERE)
  parser.inline.ruler.before("escape", "formula", formula)
  parser.inline.ruler.before("escape", "thin_space", keepThinSpace)
  parser.inline.ruler.before("newline", "bare_link", bareLink)
  for (const rule of [imagesAsLinks, markLinks, lowerHeadings, alignCells, markTasks]) {
    parser.core.ruler.push(rule.name, rule)
  }
  const { escapeHtml } = parser.utils
  Object.assign(parser.renderer.rules, {
    fence: (tokens, index) => codeBlock(tokens[index], escapeHtml),
    code_block: (tokens, index) => codeBlock(tokens[index], escapeHtml),
    formula_block: (tokens, index) =>
      `<p class="formula"><code>${escapeHtml(tokens[index].content)}</code></p>\n`,
    table_open: () => '<div class="prose__table" tabindex="0"><table>\n',
    table_close: () => "</table></div>\n",
  })
  return parser
}

function count(parser) {
  const one = (state) => {
    spend(state.env, 1)
    return false
  }
  const skip = parser.inline.skipToken
  parser.inline.skipToken = function (state) {
    spend(state.env, 1)
    skip.call(this, state)
  }
  parser.core.ruler.after("block", "work", (state) => spend(state.env, state.tokens.length))
  parser.inline.ruler.before("text", "work", one)
  parser.block.ruler.before("table", "work", one, EVERYWHERE)
}

export function isTooDeep(tokens) {
  return tokens.some(({ level }) => level >= DEEPEST - 1)
}

function codeBlock({ info, content }, escapeHtml) {
  const named = info.trim().split(/\s+/)[0]
  const language = NAME.test(named) ? named : ""
  return (
    `<div class="code"><div class="code__bar"><span class="code__language">${language}</span>` +
    '<button class="code__button code__wrap needs-scripts" type="button" aria-pressed="false">' +
    'Wrap<span class="for-screen-reader"> the lines of this code</span></button>' +
    '<button class="code__button code__copy needs-scripts" type="button">' +
    'Copy<span class="for-screen-reader"> this code</span></button></div>' +
    `<pre tabindex="0"><code>${escapeHtml(content)}</code></pre></div>\n`
  )
}
