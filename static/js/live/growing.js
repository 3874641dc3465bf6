// Text that grows at its end, as it is written by a model or a tool.

import { added } from "./outdated.js"

export function grow(part, text) {
  const shown = added(part, text)
  if (!shown) return
  const last = part.lastElementChild
  const place = last?.classList.contains("text") ? last : part.appendChild(block())
  place.append(shown)
  place.normalize()
}

function block() {
  const place = document.createElement("div")
  place.className = "text"
  return place
}

// The part of a turn that a change adds to: its thought, or what comes back of one of its actions.
export function growingPart(turn, { show, position }) {
  const within = show === "observation" ? turn?.querySelector(`[data-position="${position}"]`) : turn
  return within?.querySelector(`.turn__${show}`)
}
