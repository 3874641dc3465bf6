// Single-key shortcuts, which can be turned off (WCAG 2.1.4).

const OFF = "turnstone:shortcuts-off"

const ACTIONS = {
  "?": () => document.getElementById("shortcuts")?.showModal(),
  "/": () => document.querySelector("input[type=search], #question")?.focus(),
  "n": () => location.assign("/"),
}

export function listenForShortcuts() {
  addShortcuts(ACTIONS)
  const off = document.querySelector("[data-shortcuts-off]")
  if (!off) return
  off.checked = areOff()
  off.addEventListener("change", () => localStorage.setItem(OFF, off.checked ? "yes" : ""))
}

export function addShortcuts(actions) {
  document.addEventListener("keydown", (event) => {
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : null
    if (!action || areOff() || isTyping(event)) return
    event.preventDefault()
    action()
  })
}

export function isTyping(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true
  return event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable], dialog[open]") !== null
}

function areOff() {
  try {
    return localStorage.getItem(OFF) === "yes"
  } catch {
    return false
  }
}
