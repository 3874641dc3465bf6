// Links and buttons that open a dialog of the page; without scripts the links lead to a page instead.

export function listenForDialogs() {
  document.addEventListener("click", (event) => {
    openNamed(event)
    openAgain(event)
    closeAsked(event)
    closeMenus(event.target)
  })
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && closeMenus(null)) event.preventDefault()
  })
}

export function isSomethingOpen() {
  return document.querySelector("dialog[open], details.menu[open], :popover-open") !== null
}

function openNamed(event) {
  const opener = event.target.closest("[data-dialog]")
  const dialog = opener && document.getElementById(opener.dataset.dialog)
  if (!dialog) return
  event.preventDefault()
  // The focus comes back to where it was, which must not be inside a menu that is closed by then.
  opener.closest("details.menu")?.querySelector("summary").focus()
  dialog.showModal()
  dialog.querySelector("input:not([type=hidden], [type=checkbox])")?.select()
}

// One dialog serves every run of the page, so its form learns here which run is meant.
function openAgain(event) {
  const opener = event.target.closest("[data-again]")
  const dialog = document.getElementById("again")
  if (!opener || !(dialog instanceof HTMLDialogElement)) return
  event.preventDefault()
  dialog.querySelector("form").action = opener.dataset.again
  dialog.showModal()
}

function closeAsked(event) {
  const closer = event.target.closest("[data-dialog-close]")
  const dialog = closer?.closest("dialog")
  if (!dialog) return
  event.preventDefault()
  dialog.close()
}

function closeMenus(target) {
  let hasClosed = false
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (target && menu.contains(target) && !target.closest(".menu__item:not([data-theme-next])")) continue
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus()
    menu.open = false
    hasClosed = true
  }
  return hasClosed
}
