// What a page knows of one run, folded from frames. Pure: a frame gives a new state and the changes
// to show; a frame that was seen before, or came after the end, gives none.

import { isAfter } from "./cursor.js"

export function begin(id, cursor, status, isStalled = false) {
  const phase = status === "running" ? "thinking" : status
  return { id, cursor, status, phase, isStalled, ahead: null, turn: null, answer: "", answered: false }
}

export function isLive(run) {
  return ["queued", "running", "waiting", "interrupted"].includes(run.status)
}

export function take(run, frame) {
  if (frame.run !== run.id || !isLive(run)) return { run, changes: [] }
  if (frame.type === "run.queued") return { run: inLine(run, frame), changes: [] }
  if (frame.type === "run.stalled") return { run: { ...run, isStalled: frame.stalled }, changes: [] }
  // What is stored may be behind what was read; what follows it is sent anew.
  if (frame.type === "run.snapshot") return replaced(run, frame)
  if (!isAfter(frame.id, run.cursor)) return { run, changes: [] }
  let next = { ...run, cursor: frame.id, isStalled: false }
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

// Where a run stands in the queue for a worker is told beside its stream: it may come too late.
function inLine(run, { ahead }) {
  const waits = run.status === "queued" || run.status === "interrupted"
  return waits && run.ahead !== ahead ? { ...run, ahead } : run
}

// The page reads the status of a snapshot from its HTML, which is the truth of the record.
function replaced(run, frame) {
  return {
    run: { ...run, cursor: frame.id, ahead: null, answer: "" },
    changes: [{ show: "run", html: frame.html }],
  }
}

function begun({ phase }) {
  return phase === "paused" ? "retrying" : "thinking"
}

const STEPS = {
  "run.started": () => [{ status: "running", phase: "thinking", ahead: null, answered: false }, null],
  "run.waiting": (run, { ahead }) => [{ phase: ahead === null ? begun(run) : "lining", ahead }, null],
  "run.paused": () => [{ phase: "paused", ahead: null }, null],
  "turn.started": (run, { index, html }) => [
    { status: "running", phase: "thinking", turn: index, answer: "" },
    // The step is asked again: what was shown of it broke off.
    { show: "turn", index, html, isAgain: run.turn === index, clearsAnswer: run.answer !== "" },
  ],
  "thought.delta": (_run, { index, text }) => [{ phase: "thinking" }, { show: "thought", index, text }],
  "actions.proposed": (run, { index, html }) => [
    { turn: index, answer: "" },
    // What was shown as the answer came before calls, and is the turn's thought.
    { show: "turn", index, html, ...(run.answer && { clearsAnswer: true }) },
  ],
  "action.started": (_run, { index }) => [{ phase: "acting", turn: index }, null],
  "observation.delta": (_run, { index, position, text }) => [
    { phase: "acting" },
    { show: "observation", index, position, text },
  ],
  "action.completed": (_run, { index, html }) => [{ turn: index }, { show: "turn", index, html }],
  "turn.completed": (_run, { index, html, plan }) => [
    { phase: "thinking" },
    { show: "turn", index, html, ...(plan && { plan }) },
  ],
  "answer.delta": (run, { text }) => {
    const answer = run.answer + text
    return [
      { phase: "answering", answer },
      { show: "answer", text: answer },
    ]
  },
  "approval.requested": (_run, { index, html }) => [
    { status: "waiting", phase: "asking", turn: index },
    { show: "turn", index, html },
  ],
  "approval.decided": (_run, { index, html }) => [
    { status: "interrupted", phase: "interrupted", ahead: null, answered: true },
    { show: "turn", index, html },
  ],
  "run.interrupted": (_run, { html }) => [
    { status: "interrupted", phase: "interrupted", ahead: null, turn: null, answer: "" },
    { show: "run", html },
  ],
  "run.ended": (_run, { status, html }) => [
    { status, phase: "ended", turn: null },
    { show: "run", html },
  ],
}
