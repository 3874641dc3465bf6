// An answer that grows: what can change no more is made once, and only its last block again and
// again, so that a frame costs the same at the end of a long answer as at its beginning.

import { isTooDeep, LONGEST } from "./parsing.js"
import { TooMuchWork } from "./work.js"

export class Growing {
  #parser
  #settled = 0
  #looked = 0
  #environment = {}

  constructor(parser) {
    this.#parser = parser
  }

  // Returns the HTML of what has settled since the last time and of the rest; null for text that
  // is shown plainly, as the server will.
  take(text) {
    if (text.length > LONGEST) return null
    try {
      const settled = this.#settle(text)
      return { settled, rest: this.#html(text.slice(this.#settled), copied(this.#environment)) }
    } catch (error) {
      if (error instanceof TooMuchWork) return null
      throw error
    }
  }

  // Of whole lines only, for the next character may make a heading of "#" or a word of it.
  #settle(text) {
    const end = text.lastIndexOf("\n") + 1
    if (end === this.#looked) return ""
    this.#looked = end
    const whole = text.slice(this.#settled, end)
    const length = startOfLast(this.#parser.parse(whole, copied(this.#environment)), whole)
    if (length === 0) return ""
    this.#settled += length
    return this.#html(whole.slice(0, length), this.#environment)
  }

  #html(text, environment) {
    const tokens = this.#parser.parse(text, environment)
    if (isTooDeep(tokens)) throw new TooMuchWork()
    return this.#parser.renderer.render(tokens, this.#parser.options, environment)
  }
}

// What begun definitions and headings of the rest say is not yet sure.
function copied({ references, headings, ...rest }) {
  return { ...rest, references: { ...references }, headings: [...(headings ?? [])] }
}

function startOfLast(tokens, text) {
  const last = tokens.findLast(({ level, nesting, map }) => level === 0 && nesting >= 0 && map)
  let at = 0
  for (let line = last?.map[0] ?? 0; line > 0; line -= 1) at = text.indexOf("\n", at) + 1
  return at
}
