// Reading a transcript with the keyboard: j and k go from turn to turn, the outline shows where.

import { addShortcuts } from "./page/shortcuts.js"

const turns = [...document.querySelectorAll(".transcript__turns > .turn")]
const rows = new Map([...document.querySelectorAll(".outline__row")].map((row) => [row.hash.slice(1), row]))

addShortcuts({ j: () => step(1), k: () => step(-1) })
addEventListener("hashchange", arrive)
arrive()
watch()

function step(by) {
  const next = turns[current() + by]
  if (next) return goTo(next)
  document.querySelector(`.pages a[rel=${by > 0 ? "next" : "prev"}]`)?.click()
}

function goTo(turn) {
  location.replace(`#${turn.id}`)
  turn.querySelector(".turn__number").focus({ preventScroll: true })
}

function current() {
  const target = turns.findIndex((turn) => `#${turn.id}` === location.hash)
  return target >= 0 ? target : turns.findIndex((turn) => turn.getBoundingClientRect().top > 60) - 1
}

// A link to a turn of another page of this transcript leads to that page.
function arrive() {
  const number = /^#run-\d+-turn-(\d+)$/.exec(location.hash)?.[1]
  const asked = new URLSearchParams(location.search).get("turn")
  if (number && turns.length && !document.getElementById(location.hash.slice(1)) && asked !== number) {
    location.replace(`?turn=${number}${location.hash}`)
  }
}

function watch() {
  const seen = new Set()
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) seen[isIntersecting ? "add" : "delete"](target)
    const first = turns.find((turn) => seen.has(turn))
    for (const row of rows.values()) row.removeAttribute("aria-current")
    if (first) mark(rows.get(first.id))
  }, { rootMargin: "-60px 0px -40% 0px" })
  for (const turn of turns) observer.observe(turn)
}

function mark(row) {
  row.setAttribute("aria-current", "true")
  const list = row.closest(".outline")
  if (list.scrollHeight > list.clientHeight) {
    list.scrollTop = row.offsetTop - list.clientHeight / 2
  }
}
