// What a page knows of one run, folded from frames. Pure: a frame gives a new state and the changes
// to show; a frame that was seen before, or came after the end, gives none.

import { isAfter } from "./cursor.js"

export function begin(id, cursor, status) {
  return { id, cursor, status, phase: status === "running" ? "thinking" : status, turn: null, answer: "" }
}

export function isLive(run) {
  return ["queued", "running", "waiting", "interrupted"].includes(run.status)
}

export function take(run, frame) {
  if (frame.run !== run.id || !isLive(run) || !isAfter(frame.id, run.cursor)) return { run, changes: [] }
  if (frame.type === "run.snapshot") return replaced(run, frame)
  let next = { ...run, cursor: frame.id }
  const changes = []
  for (const event of frame.events) {
    const step = STEPS[event.type]
    if (!step) continue
    const [changed, change] = step(next, event)
    next = { ...next, ...changed }
    if (change) changes.push(change)
  }
  return { run: next, changes }
}

// The page reads the status of a snapshot from its HTML, which is the truth of the record.
function replaced(run, frame) {
  return { run: { ...run, cursor: frame.id, answer: "" }, changes: [{ show: "run", html: frame.html }] }
}

const STEPS = {
  "run.started": () => [{ status: "running", phase: "thinking" }, null],
  "turn.started": (run, { index, html }) => [
    { status: "running", phase: "thinking", turn: index, answer: "" },
    { show: "turn", index, html, clearsAnswer: run.answer !== "" },
  ],
  "thought.delta": (run, { index, text }) => [{ phase: "thinking" }, { show: "thought", index, text }],
  "action.proposed": (run, { index, html }) => [{ turn: index }, { show: "turn", index, html }],
  "action.started": (run, { index }) => [{ phase: "acting", turn: index }, null],
  "observation.delta": (run, { index, text }) => [{ phase: "acting" }, { show: "observation", index, text }],
  "turn.completed": (run, { index, html }) => [{ phase: "thinking" }, { show: "turn", index, html }],
  "answer.delta": (run, { text }) => {
    const answer = run.answer + text
    return [{ phase: "answering", answer }, { show: "answer", text: answer }]
  },
  "run.ended": (run, { status, html }) => [{ status, phase: "ended", turn: null }, { show: "run", html }],
}
