// Text that grows at its end, as it is written by a model or a tool.

export function grow(part, text) {
  const last = part.lastElementChild
  const place = last?.classList.contains("text") ? last : part.appendChild(block())
  place.append(text)
  place.normalize()
}

function block() {
  const place = document.createElement("div")
  place.className = "text"
  return place
}
