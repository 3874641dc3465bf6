// A page that one has left and comes back to, alive in the browser's memory, shows what it showed
// then; to whoever is there now. So it is loaded anew, and is not seen until that is done.

export function loadAnewWhenBack() {
  addEventListener("pagehide", (event) => {
    if (event.persisted) document.documentElement.classList.add("is-left")
  })
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload()
  })
}
