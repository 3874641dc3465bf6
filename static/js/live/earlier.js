// Earlier questions come in above what is read, which stays where it is.

const LINK = ".conversation__earlier"

export function keepPlace(log) {
  let first = null
  let top = 0
  log.addEventListener("htmx:beforeSwap", ({ detail }) => {
    first = detail.target.matches(LINK) ? log.querySelector("[data-run]") : null
    top = first?.getBoundingClientRect().top
  })
  log.addEventListener("htmx:afterSwap", () => {
    if (!first) return
    const hadFocus = document.activeElement === document.body
    back()
    requestAnimationFrame(back)
    if (hadFocus) first.querySelector("summary").focus({ preventScroll: true })
  })

  function back() {
    scrollBy({ top: first.getBoundingClientRect().top - top, behavior: "instant" })
  }
}
