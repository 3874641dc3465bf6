// As much of a document as the live modules touch, for a page without a browser. It reads the
// markup of our own templates, which is well-formed, and draws nothing.

const VOID = new Set(["img", "br", "hr", "input", "wbr"])
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0" }

class Text {
  parent = null

  constructor(text) {
    this.text = text
  }

  get textContent() {
    return this.text
  }
}

export class Element {
  parent = null
  nodes = []
  open = false
  scrollTop = 0
  scrollHeight = 0

  constructor(name, attributes = {}) {
    this.name = name
    this.attributes = attributes
    this.open = "open" in attributes
    this.dataset = new Proxy(attributes, {
      get: (all, key) => all[dashed(key)],
      set: (all, key, value) => {
        all[dashed(key)] = String(value)
        return true
      },
    })
    this.classList = {
      contains: (name) => this.className.split(/\s+/).includes(name),
      add: (name) => (this.className += ` ${name}`),
    }
  }

  get id() {
    return this.attributes.id ?? ""
  }

  get className() {
    return this.attributes.class ?? ""
  }

  set className(value) {
    this.attributes.class = value
  }

  get children() {
    return this.nodes.filter((node) => node instanceof Element)
  }

  get firstElementChild() {
    return this.children[0] ?? null
  }

  get lastElementChild() {
    return this.children.at(-1) ?? null
  }

  get textContent() {
    return this.nodes.map((node) => node.textContent).join("")
  }

  set textContent(text) {
    this.replaceChildren(text)
  }

  append(...nodes) {
    for (const node of nodes) {
      const one = typeof node === "string" ? new Text(node) : node
      one.parent?.nodes.splice(one.parent.nodes.indexOf(one), 1)
      one.parent = this
      this.nodes.push(one)
    }
  }

  appendChild(node) {
    this.append(node)
    return node
  }

  replaceChildren(...nodes) {
    this.nodes = []
    this.append(...nodes)
  }

  replaceWith(fresh) {
    Element.replaced?.(this, fresh)
    fresh.parent = this.parent
    this.parent.nodes[this.parent.nodes.indexOf(this)] = fresh
    this.parent = null
  }

  remove() {
    this.parent.nodes.splice(this.parent.nodes.indexOf(this), 1)
    this.parent = null
  }

  normalize() {}

  focus() {}

  addEventListener() {}

  contains() {
    return false
  }

  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null
  }

  querySelectorAll(selector) {
    const found = this.children.filter((child) => matches(child, selector))
    return [...found, ...this.children.flatMap((child) => child.querySelectorAll(selector))]
  }
}

export class Document {
  hidden = false
  activeElement = null
  scrollingElement = new Element("html")
  body = new Element("body")
  addEventListener() {}

  createElement(name) {
    return new Element(name)
  }

  adoptNode(node) {
    node.remove()
    return node
  }

  getElementById(id) {
    return this.body.querySelector(`#${id}`)
  }
}

export class DOMParser {
  parseFromString(markup) {
    const page = new Document()
    let at = page.body
    for (const [, text, closing, name, attributes] of markup.matchAll(
      /([^<]+)|<(\/?)([a-z0-9]+)((?:\s+[^\s=>]+(?:="[^"]*")?)*)\s*\/?>/g,
    )) {
      if (text !== undefined) at.append(plain(text))
      else if (closing) at = at.parent
      else {
        const element = new Element(name, parsed(attributes))
        at.append(element)
        if (!VOID.has(name)) at = element
      }
    }
    return page
  }
}

function parsed(attributes) {
  const pairs = [...attributes.matchAll(/([^\s=]+)(?:="([^"]*)")?/g)]
  return Object.fromEntries(pairs.map(([, name, value = ""]) => [name, plain(value)]))
}

function plain(text) {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, number, name) => {
    if (name) return ENTITIES[name] ?? whole
    return String.fromCodePoint(hex ? parseInt(hex, 16) : Number(number))
  })
}

function matches(element, selectors) {
  return selectors.split(", ").some((selector) => matchesOne(element, selector))
}

function matchesOne(element, selector) {
  if (selector.startsWith("#")) return element.id === selector.slice(1)
  if (selector.startsWith(".")) return element.classList.contains(selector.slice(1))
  return selector.slice(1, -1) in element.attributes
}

function dashed(key) {
  return `data-${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
