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
  assert.deepEqual(
    shown.map((change) => change.text),
    ["a", "b"],
  )
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
    [{ type: "actions.proposed", index: 0, html: "" }, "thinking"],
    [{ type: "action.started", index: 0, position: 0, tool: "calculator" }, "acting"],
    [{ type: "action.completed", index: 0, html: "" }, "acting"],
    [{ type: "action.started", index: 0, position: 1, tool: "calculator" }, "acting"],
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

test("what an action puts out is shown at its own place in the turn", () => {
  const output = (position, text) => ({ type: "observation.delta", index: 0, position, text })
  const over = { type: "action.completed", index: 0, html: "<li>one" }

  const { shown } = play(running(), frame("1-4", output(0, "a"), over), frame("1-5", output(1, "b")))

  assert.deepEqual(shown, [
    { show: "observation", index: 0, position: 0, text: "a" },
    { show: "turn", index: 0, html: "<li>one" },
    { show: "observation", index: 0, position: 1, text: "b" },
  ])
})

test("the answer only grows", () => {
  const { shown } = play(running(), frame("1-4", answer("The ")), frame("1-5", answer("sum.")))

  assert.deepEqual(
    shown.map((change) => change.text),
    ["The ", "The sum."],
  )
})

test("what is said before calls is taken back as an answer", () => {
  const proposed = { type: "actions.proposed", index: 0, html: "<li>" }

  const { run, shown } = play(running(), frame("1-4", answer("I look it up."), proposed))

  assert.equal(run.answer, "")
  assert.deepEqual(shown[1], { show: "turn", index: 0, html: "<li>", clearsAnswer: true })
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

test("a snapshot that is behind the page is shown too, and what follows it is shown once", () => {
  const snapshot = { type: "run.snapshot", run: 12, id: "1-2", html: "<article>" }

  const { run, shown } = play(
    running("1-3"),
    frame("1-5", thought("b")),
    snapshot,
    frame("1-9", thought("a"), thought("b"), thought("c")),
  )

  assert.equal(run.cursor, "1-9")
  assert.deepEqual(
    shown.map((change) => change.show),
    ["thought", "run", "thought", "thought", "thought"],
  )
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

  assert.deepEqual(
    shown.map((change) => change.text),
    ["a"],
  )
})

test("a run waits for a person, and goes on with the answer", () => {
  const asked = { type: "approval.requested", index: 0, html: "<li>card" }
  const decided = { type: "approval.decided", index: 0, html: "<li>allowed" }
  const waiting = play(running(), frame("1-4", asked))
  const answered = play(waiting.run, frame("1-5", decided), frame("2-1", { type: "run.started" }))

  assert.deepEqual([waiting.run.status, waiting.run.phase, waiting.run.turn], ["waiting", "asking", 0])
  assert.ok(isLive(waiting.run))
  assert.deepEqual(answered.shown, [{ show: "turn", index: 0, html: "<li>allowed" }])
  assert.equal(answered.run.status, "running")
})

test("a place in the line is told beside the stream, and only of a run that waits", () => {
  const queued = begin(12, "0-0", "queued")
  const place = (ahead) => ({ type: "run.queued", run: 12, ahead })

  assert.equal(play(queued, place(3)).run.ahead, 3)
  assert.equal(play(queued, place(3)).run.cursor, "0-0")
  assert.equal(play(running(), place(3)).run.ahead, null)
  assert.equal(
    play(queued, place(3), frame("1-1", { type: "run.started", attempt: 1 }), place(2)).run.ahead,
    null,
  )
})

test("a run that was let go of is shown as it is stored, and goes on in a new attempt", () => {
  const told = { type: "run.interrupted", message: "Its worker let go of it.", html: "<article>" }

  const { run, shown } = play(running(), frame("1-4", answer("half")), frame("2-0", told))
  const resumed = play(run, frame("2-1", { type: "run.started", attempt: 2 })).run

  assert.deepEqual(shown.at(-1), { show: "run", html: "<article>" })
  assert.deepEqual([run.status, run.answer, isLive(run)], ["interrupted", "", true])
  assert.deepEqual([resumed.status, resumed.phase], ["running", "thinking"])
})

test("a frame of the worker that was let go of comes too late", () => {
  const told = { type: "run.interrupted", message: "", html: "<article>" }

  const { shown } = play(running(), frame("2-0", told), frame("1-9", thought("zombie")))

  assert.equal(shown.length, 1)
})

test("a run waits for its model, and thinks when it is its turn", () => {
  const waiting = play(running(), frame("1-4", { type: "run.waiting", ahead: 2 })).run
  const thinking = play(waiting, frame("1-5", { type: "run.waiting", ahead: null })).run

  assert.deepEqual([waiting.phase, waiting.ahead], ["lining", 2])
  assert.deepEqual([thinking.phase, thinking.ahead], ["thinking", null])
})

test("a server that asks for patience is not a line to stand in, and is then asked again", () => {
  const paused = play(running(), frame("1-4", { type: "run.paused" })).run
  const again = play(paused, frame("1-5", { type: "run.waiting", ahead: null })).run
  const answers = play(again, frame("1-6", thought("a"))).run

  assert.deepEqual([paused.phase, again.phase, answers.phase], ["paused", "retrying", "thinking"])
})

test("a run whose worker is dead is stalled until anything comes of it", () => {
  const stalled = take(running(), { type: "run.stalled", run: 12, stalled: true }).run
  const lives = play(stalled, frame("1-4", thought("a"))).run

  assert.deepEqual([stalled.isStalled, lives.isStalled], [true, false])
})

test("a turn that changed the plan shows the plan, and no other does", () => {
  const { shown } = play(
    running(),
    frame("1-4", { type: "turn.completed", index: 0, html: "<li>", plan: "<section>" }),
    frame("1-5", { type: "turn.completed", index: 1, html: "<li>" }),
  )

  assert.deepEqual(
    shown.map((change) => change.plan),
    ["<section>", undefined],
  )
})

test("a turn that starts again while it is open is the same step asked again", () => {
  const started = (index) => ({ type: "turn.started", index, html: "<article>" })
  const { shown } = play(
    running(),
    frame("1-4", started(0), thought("a")),
    frame("1-5", started(0)),
    frame("1-6", { type: "turn.completed", index: 0, html: "<article>" }, started(1)),
  )

  const turns = shown.filter((change) => change.show === "turn" && "isAgain" in change)
  assert.deepEqual(
    turns.map((change) => change.isAgain),
    [false, true, false],
  )
})

test("a turn that a later attempt begins anew is not the same step asked again", () => {
  const started = { type: "turn.started", index: 0, html: "<article>" }
  const { shown } = play(
    running(),
    frame("1-4", started, thought("a")),
    frame("1-5", { type: "run.interrupted", message: "", html: "<article>" }),
    frame("2-1", { type: "run.started", attempt: 2 }, started),
  )

  assert.equal(shown.at(-1).isAgain, false)
})
