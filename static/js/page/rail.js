// The marks of the rail: which conversations work right now. While any does, and somebody looks, the
// server is asked every few seconds; a conversation's own page knows of its own.

const LOOK_MS = 5000

export function listenForMarks() {
  const rail = document.getElementById("rail")
  if (!rail) return
  setInterval(() => rail.querySelector(".rail__live:not([hidden])") && look(rail), LOOK_MS)
  document.addEventListener("visibilitychange", () => look(rail))
  addEventListener("focus", () => look(rail))
}

// `state` is "working" or "waiting", or "" for a conversation that does neither.
export function showMark(row, state) {
  const mark = row?.querySelector(".rail__live")
  if (!mark || mark.dataset.state === state) return
  mark.dataset.state = state
  mark.hidden = !state
  mark.classList.toggle("rail__live--waiting", state === "waiting")
  mark.firstElementChild.textContent = state === "waiting" ? "waits for you" : "working"
}

async function look(rail) {
  if (document.hidden || !rail.checkVisibility()) return
  try {
    const headers = { accept: "application/json" }
    const answer = await fetch(rail.dataset.working, { headers, redirect: "error" })
    if (answer.ok) show(rail, await answer.json())
  } catch {
    // The marks stay as they are until the server answers again.
  }
}

function show(rail, states) {
  for (const row of rail.querySelectorAll(".rail__row:not([aria-current])")) {
    showMark(row, states[row.dataset.conversation] ?? "")
  }
}
