// Headings that fit the page, cells without styles, tasks; the rules are those of
// `chat/stream/markdown/shape.py`.

const TOP = 3
const TASK = /^\[([ xX])\] /

export function lowerHeadings(state) {
  state.env.headings ??= []
  const above = state.env.headings
  for (const token of state.tokens) {
    if (token.type === "heading_open") {
      const level = Number(token.tag[1])
      while (above.length > 0 && above.at(-1) >= level) above.pop()
      above.push(level)
    }
    if (token.type === "heading_open" || token.type === "heading_close") {
      token.tag = `h${Math.min(6, TOP - 1 + above.length)}`
    }
  }
}

export function alignCells(state) {
  for (const token of state.tokens) {
    if (token.type !== "th_open" && token.type !== "td_open") continue
    const style = token.attrGet("style")
    if (style) token.attrs = [["class", `prose__cell--${style.split(":").at(-1)}`]]
  }
}

export function markTasks(state) {
  state.tokens.forEach((item, index) => {
    if (item.type !== "list_item_open" || state.tokens[index + 1].type !== "paragraph_open") return
    const children = state.tokens[index + 2].children
    const found = children[0]?.type === "text" ? TASK.exec(children[0].content) : null
    if (!found) return
    item.attrSet("class", "prose__task")
    children[0].content = children[0].content.slice(found[0].length)
    children.unshift(box(found[1] !== " ", state.Token))
  })
}

function box(isDone, Token) {
  const token = new Token("task", "input", 0)
  token.attrs = [
    ["type", "checkbox"],
    ["disabled", ""],
  ]
  token.attrs.push(
    ...(isDone
      ? [
          ["checked", ""],
          ["aria-label", "Done"],
        ]
      : [["aria-label", "To do"]]),
  )
  return token
}
