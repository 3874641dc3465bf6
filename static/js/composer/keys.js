// Which key press sends. Enter that confirms a composition (IME) is not meant for us. Pure.

export function sends(event) {
  if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return false
  return !event.isComposing && event.keyCode !== 229
}
