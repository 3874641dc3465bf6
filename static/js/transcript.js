// Reading a transcript with the keyboard: j and k go from turn to turn, the outline shows where.

import { Reading } from "./reading/reading.js"
import { answerApprovals } from "./page/approvals.js"
import { addShortcuts } from "./page/shortcuts.js"

const TOP_PX = 100
const root = document.querySelector(".transcript")
const live = document.getElementById("live")
let turns = []
let rows = new Map()

addShortcuts({ j: () => step(1), k: () => step(-1) })
answerApprovals(root, {
  send: () => false,
  done: () => location.reload(),
})
addEventListener("hashchange", arrive)
root.addEventListener("click", (event) => event.target.closest("[data-close-call]") && closeCall())
document.addEventListener("keydown", (event) => event.key === "Escape" && closeCall())
collect()
arrive()
watch()
if (live?.dataset.socket) new Reading(root, live, collect)

function collect() {
  turns = [...root.querySelectorAll(".transcript__turns > .turn")]
  rows = new Map([...root.querySelectorAll(".outline__row")].map((row) => [row.hash.slice(1), row]))
}

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
  return target >= 0 ? target : reached()
}

// The last turn whose beginning has come up to the top; -1 before the first.
function reached() {
  const below = turns.findIndex((turn) => turn.getBoundingClientRect().top > TOP_PX)
  return (below < 0 ? turns.length : below) - 1
}

function closeCall() {
  const call = root.querySelector(".call[open]")
  if (!call) return
  call.open = false
  call.querySelector("summary").focus({ preventScroll: true })
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
  let isAsked = false
  const look = () => {
    isAsked = false
    for (const row of rows.values()) row.removeAttribute("aria-current")
    const turn = turns[Math.max(0, reached())]
    if (rows.has(turn?.id)) mark(rows.get(turn.id))
  }
  addEventListener(
    "scroll",
    () => {
      if (isAsked) return
      isAsked = true
      requestAnimationFrame(look)
    },
    { passive: true },
  )
  look()
}

function mark(row) {
  row.setAttribute("aria-current", "true")
  const list = row.closest(".outline")
  if (list.scrollHeight > list.clientHeight) {
    list.scrollTop = row.offsetTop - list.clientHeight / 2
  }
}
