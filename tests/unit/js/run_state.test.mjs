import assert from "node:assert/strict"
import { test } from "node:test"

import { begin, isLive, take } from "../../../static/js/live/run_state.js"

const frame = (id, ...events) => ({ type: "events", run: 12, id, events })
const thought = (text, index = 0) => ({ type: "thought.delta", index, text })
const answer = (text) => ({ type: "answer.delta", text })
const running = (cursor = "1-3") => begin(12, cursor, "running")

function play(run, ...frames) {
  const shown = []
  for (const one of frames) {
    const step = take(run, one)
    run = step.run
    shown.push(...step.changes)
  }
  return { run, shown }
}

test("a frame moves the cursor and shows its deltas in order", () => {
  const { run, shown } = play(running(), frame("1-4", thought("a"), thought("b")))

  assert.equal(run.cursor, "1-4")
  assert.deepEqual(shown.map((change) => change.text), ["a", "b"])
})

test("a repeated frame shows nothing", () => {
  const { shown } = play(running(), frame("1-4", thought("a")), frame("1-4", thought("a")))

  assert.equal(shown.length, 1)
})

test("a frame from before the page's cursor shows nothing", () => {
  const { run, shown } = play(running("2-5"), frame("2-5", thought("x")), frame("1-99", thought("y")))

  assert.deepEqual(shown, [])
  assert.equal(run.cursor, "2-5")
})

test("seqs are numbers, not texts", () => {
  const { run } = play(running("1-9"), frame("1-10", thought("a")))

  assert.equal(run.cursor, "1-10")
})

test("a new attempt comes after every frame of the old one", () => {
  const { run } = play(running("1-99"), frame("2-1", { type: "run.started", attempt: 2 }))

  assert.equal(run.cursor, "2-1")
})

test("another run's frame changes nothing", () => {
  const before = running()

  const { run, changes } = take(before, { ...frame("1-9", thought("a")), run: 13 })

  assert.equal(run, before)
  assert.deepEqual(changes, [])
})

test("the phase follows the events", () => {
  const events = [
    [{ type: "run.started", attempt: 1 }, "thinking"],
    [{ type: "turn.started", index: 0, html: "" }, "thinking"],
    [{ type: "action.started", index: 0, tool: "calculator" }, "acting"],
    [{ type: "turn.completed", index: 0, html: "" }, "thinking"],
    [answer("4"), "answering"],
    [{ type: "run.ended", status: "succeeded", reason: "answered", html: "" }, "ended"],
  ]
  let run = begin(12, "0-0", "queued")

  events.forEach(([event, phase], index) => {
    run = take(run, frame(`1-${index + 1}`, event)).run
    assert.equal(run.phase, phase)
  })
  assert.equal(isLive(run), false)
})

test("the answer only grows", () => {
  const { shown } = play(running(), frame("1-4", answer("The ")), frame("1-5", answer("sum.")))

  assert.deepEqual(shown.map((change) => change.text), ["The ", "The sum."])
})

test("a turn after a drafted answer clears the draft", () => {
  const turn = { type: "turn.started", index: 1, html: "<li>" }

  const { run, shown } = play(running(), frame("1-4", answer("No.")), frame("1-5", turn))

  assert.equal(run.answer, "")
  assert.equal(shown.at(-1).clearsAnswer, true)
})

test("nothing is shown after the end", () => {
  const end = { type: "run.ended", status: "stopped", reason: "stopped", html: "<article>" }

  const { run, shown } = play(running(), frame("1-4", end), frame("1-5", thought("more")))

  assert.equal(run.status, "stopped")
  assert.equal(shown.length, 1)
})

test("a snapshot takes the place of the run and goes on from its id", () => {
  const snapshot = { type: "run.snapshot", run: 12, id: "2-7", html: "<article>" }

  const { run, shown } = play(running(), frame("1-4", answer("old")), snapshot, frame("2-7", thought("x")))

  assert.equal(run.cursor, "2-7")
  assert.equal(run.answer, "")
  assert.deepEqual(shown.at(-1), { show: "run", html: "<article>" })
})

test("an unknown event is passed over, the rest of its frame is not", () => {
  const { shown } = play(running(), frame("1-4", { type: "of.tomorrow" }, thought("a")))

  assert.deepEqual(shown.map((change) => change.text), ["a"])
})
