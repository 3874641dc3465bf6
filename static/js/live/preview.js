// The answer while it is written: Markdown as the server will render it. The libraries are fetched
// with the first word; until then, without them, and for text that is too much, it is shown plainly.

import { Growing } from "../markdown/growing.js"
import { makeParser } from "../markdown/parsing.js"
import { makeSafe } from "../markdown/safe.js"
import { Floor } from "./floor.js"

// A paint may take a tenth of the time: after a slow one the next is further away.
const REST = 9

let libraries = null
let tools = null

export class Preview {
  #element
  #floor
  #text = ""
  #isAsked = false
  #isOver = false
  #restsUntil = 0
  #growing = null
  #settled = 0
  #plain = null

  constructor(element) {
    this.#element = element
    this.#floor = new Floor(element)
    element.classList.add("run__answer--streaming")
  }

  show(text) {
    this.#text = text
    if (this.#isAsked) return
    this.#isAsked = true
    const rest = this.#restsUntil - performance.now()
    if (rest > 0) setTimeout(() => requestAnimationFrame(() => this.#paint()), rest)
    else requestAnimationFrame(() => this.#paint())
  }

  // The server's own rendering has taken the place: a paint that is still asked for must not.
  end() {
    this.#isOver = true
    this.#floor.end()
  }

  clear() {
    this.#text = ""
    this.#empty()
    this.#floor.lift()
  }

  #empty() {
    this.#growing = null
    this.#settled = 0
    this.#plain = null
    this.#element.replaceChildren()
  }

  #paint() {
    this.#isAsked = false
    if (this.#isOver) return
    const begun = performance.now()
    if (tools) this.#paintMarkdown()
    else {
      this.#paintPlain()
      load().then(
        () => this.show(this.#text),
        () => {},
      )
    }
    const now = performance.now()
    this.#restsUntil = now + REST * (now - begun)
  }

  #paintMarkdown() {
    if (this.#growing === null) {
      this.#empty()
      this.#growing = new Growing(tools.parser)
    }
    const html = this.#plain === null ? this.#growing.take(this.#text) : null
    if (html === null) return this.#paintPlain()
    while (this.#element.childNodes.length > this.#settled) this.#element.lastChild.remove()
    this.#element.append(tools.safe(html.settled))
    this.#settled = this.#element.childNodes.length
    this.#element.append(tools.safe(html.rest))
  }

  // What stands is left standing, for the text may be long.
  #paintPlain() {
    if (this.#plain === null) {
      const paragraph = document.createElement("p")
      paragraph.className = "prose__plain"
      this.#element.replaceChildren(paragraph)
      this.#plain = { paragraph, length: 0 }
    }
    this.#plain.paragraph.append(this.#text.slice(this.#plain.length))
    this.#plain.length = this.#text.length
  }
}

function load() {
  libraries ??= Promise.all([import("../../vendor/markdown-it.js"), import("../../vendor/purify.js")]).then(
    ([markdown, purify]) => {
      tools = { parser: makeParser(markdown.default), safe: makeSafe(purify.default) }
    },
  )
  return libraries
}
