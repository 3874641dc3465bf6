// The answer while it is written: Markdown as the server will render it, at most once a frame.
// The libraries are fetched with the first word; until then, and without them, text is shown plainly.

let libraries = null
let render = null

export class Preview {
  #element
  #text = ""
  #isAsked = false
  #isOver = false

  constructor(element) {
    this.#element = element
    element.classList.add("run__answer--streaming")
  }

  show(text) {
    this.#text = text
    if (this.#isAsked) return
    this.#isAsked = true
    requestAnimationFrame(() => this.#paint())
  }

  // The server's own rendering has taken the place: a paint that is still asked for must not.
  end() {
    this.#isOver = true
  }

  clear() {
    this.#text = ""
    this.#element.replaceChildren()
  }

  #paint() {
    this.#isAsked = false
    if (this.#isOver) return
    if (!render) {
      this.#element.replaceChildren(plain(this.#text))
      load().then(() => this.show(this.#text), () => {})
    } else {
      this.#element.replaceChildren(render(this.#text))
    }
  }
}

function plain(text) {
  const paragraph = document.createElement("p")
  paragraph.className = "prose__plain"
  paragraph.textContent = text
  return paragraph
}

function load() {
  libraries ??= Promise.all([
    import("../../vendor/markdown-it.js"),
    import("../../vendor/purify.js"),
  ]).then(([markdown, purify]) => { render = renderer(markdown.default, purify.default) })
  return libraries
}

function renderer(MarkdownIt, DOMPurify) {
  const parser = new MarkdownIt("commonmark", { html: false }).enable(["table", "strikethrough"])
  // As on the server: nothing remote is loaded, headings stand below the page's own.
  parser.renderer.rules.image = (tokens, index) => parser.utils.escapeHtml(`Image: ${tokens[index].content}`)
  parser.renderer.rules.heading_open = (tokens, index) => `<h${level(tokens[index])}>`
  parser.renderer.rules.heading_close = (tokens, index) => `</h${level(tokens[index])}>`
  return (text) => DOMPurify.sanitize(parser.render(text), {
    RETURN_DOM_FRAGMENT: true,
    FORBID_ATTR: ["style", "id", "name"],
    FORBID_TAGS: ["img", "style", "form", "input", "svg", "math"],
  })
}

function level(token) {
  return Math.min(6, Number(token.tag[1]) + 2)
}
