// Light, dark, or as the system; a cookie keeps the choice so that the server renders it at once.

const NAMES = { "": "System", light: "Light", dark: "Dark" }
const ORDER = ["", "light", "dark"]
const YEAR_SECONDS = 31_536_000

export function listenForTheme() {
  const root = document.documentElement
  const button = document.querySelector("[data-theme-next]")
  if (!button) return
  const show = () => {
    button.querySelector("[data-theme-name]").textContent = NAMES[root.dataset.theme] ?? NAMES[""]
  }
  button.addEventListener("click", () => {
    const next = ORDER[(ORDER.indexOf(root.dataset.theme) + 1) % ORDER.length]
    root.dataset.theme = next
    // The cookie store is not in every browser
    document.cookie = `theme=${next}; path=/; max-age=${YEAR_SECONDS}; samesite=lax`
    show()
  })
  show()
}
