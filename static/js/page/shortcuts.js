// Single-key shortcuts, which can be turned off (WCAG 2.1.4). None leaves the page: what is typed by
// mistake, with the focus elsewhere than it was thought to be, must lose nothing.

const OFF = "turnstone:shortcuts-off"

const ACTIONS = {
  "?": () => document.getElementById("shortcuts")?.showModal(),
  "/": () => document.querySelector("input[type=search], #question")?.focus(),
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
    if (!action || isTyping(event)) return
    event.preventDefault()
    action()
  })
}

// Whether a key is not for us: it goes into a field, or single keys do nothing here.
export function isTyping(event) {
  if (areOff() || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true
  return (
    event.target instanceof Element &&
    event.target.closest("input, textarea, select, [contenteditable], dialog[open]") !== null
  )
}

function areOff() {
  try {
    return localStorage.getItem(OFF) === "yes"
  } catch {
    return false
  }
}
