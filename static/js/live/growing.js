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
