import assert from "node:assert/strict"
import { test } from "node:test"

import { sends } from "../../../static/js/composer/keys.js"
import { isAfter } from "../../../static/js/live/cursor.js"
import { elapsedInWords } from "../../../static/js/live/elapsed.js"
import { isNearEnd, NEAR_PX } from "../../../static/js/live/near_end.js"
import { EventReader } from "../../../static/js/transport/event_reader.js"
import { isFinal, lostWords, nextKind, pause } from "../../../static/js/transport/backoff.js"
import { wordsOf } from "../../../static/js/live/run_words.js"

test("ids are ordered by attempt, then by seq", () => {
  assert.ok(isAfter("1-10", "1-9"))
  assert.ok(isAfter("2-0", "1-99"))
  assert.ok(!isAfter("1-9", "1-9"))
  assert.ok(!isAfter("1-99", "2-0"))
})

test("Enter sends; Shift, Ctrl, Alt and Meta with it do not", () => {
  assert.ok(sends({ key: "Enter", keyCode: 13 }))
  for (const modifier of ["shiftKey", "ctrlKey", "altKey", "metaKey"]) {
    assert.ok(!sends({ key: "Enter", keyCode: 13, [modifier]: true }))
  }
  assert.ok(!sends({ key: "a", keyCode: 65 }))
})

test("Enter that ends a composition does not send", () => {
  assert.ok(!sends({ key: "Enter", keyCode: 13, isComposing: true }))
  assert.ok(!sends({ key: "Enter", keyCode: 229 }))
})

test("pauses grow, are never longer than fifteen seconds, and are spread by chance", () => {
  const longest = [0, 1, 2, 3].map((losses) => pause(losses, 1))

  assert.deepEqual(longest, [400, 800, 1600, 3200])
  assert.equal(pause(5000, 1), 15_000)
  assert.equal(pause(0, 0), 200)
})

test("only being signed out and having no conversation are final", () => {
  assert.ok(isFinal(4401))
  assert.ok(isFinal(4404))
  for (const code of [undefined, 1000, 1006, 1012, 1013, 4408]) assert.ok(!isFinal(code))
})

test("the end is near within a few lines, not further up", () => {
  assert.ok(isNearEnd({ top: 1000, height: 1800, view: 800 }))
  assert.ok(isNearEnd({ top: 1000 - NEAR_PX, height: 1800, view: 800 }))
  assert.ok(!isNearEnd({ top: 999 - NEAR_PX, height: 1800, view: 800 }))
})

test("elapsed time is said in seconds, then in minutes", () => {
  assert.equal(elapsedInWords(0.9), "")
  assert.equal(elapsedInWords(12.7), "12 s")
  assert.equal(elapsedInWords(125), "2 min 05 s")
})

test("events are tried when two sockets have not opened, and sockets again after that", () => {
  assert.deepEqual([0, 1, 2, 3].map(nextKind), ["socket", "socket", "events", "events"])
})

test("events are read whole, however the response was cut into parts", () => {
  const text = 'id: after=1&cursors=\ndata: {"a":1}\n\ndata: {"b":"\\n\\n"}\n\n: a comment\n\ndata: {"c"'
  for (const size of [1, 2, 7, text.length]) {
    const reader = new EventReader()
    const read = []
    for (let at = 0; at < text.length; at += size) read.push(...reader.read(text.slice(at, at + size)))
    assert.deepEqual(read, ['{"a":1}', '{"b":"\\n\\n"}'])
  }
})

test("what a run does is said in words, with its place where it waits", () => {
  const said = [
    [{ status: "running", phase: "thinking" }, "Thinking"],
    [{ status: "running", phase: "acting" }, "Calculating"],
    [{ status: "running", phase: "lining", ahead: 3 }, "Waiting for the model, 3 ahead"],
    [{ status: "running", phase: "lining", ahead: 0 }, "Waiting for the model, next in line"],
    [{ status: "running", phase: "paused", ahead: null }, "The model’s server asks for patience"],
    [{ status: "running", phase: "retrying", ahead: null }, "Asking the model again"],
    [{ status: "running", phase: "answering", isStalled: true }, "Interrupted; it will go on"],
    [{ status: "queued", phase: "queued", ahead: null }, ""],
    [{ status: "queued", phase: "queued", ahead: 3 }, "Waiting in line, 3 ahead"],
    [{ status: "queued", phase: "queued", ahead: 0 }, "Next in line"],
    [{ status: "interrupted", phase: null, ahead: null }, ""],
    [{ status: "interrupted", phase: null, ahead: 1 }, "Interrupted; it goes on after 1 other run"],
    [{ status: "interrupted", phase: "interrupted", ahead: 0 }, "Interrupted; it goes on next"],
    [
      { status: "interrupted", phase: null, ahead: 2, answered: true },
      "It goes on with the answer after 2 other runs",
    ],
    [{ status: "waiting", phase: "asking" }, "Waiting for you"],
    [{ status: "succeeded", phase: "ended" }, ""],
  ]
  for (const [run, words] of said) assert.equal(wordsOf(run, "Calculating"), words)
})

test("who only reads a run is told who it waits for", () => {
  assert.equal(wordsOf({ status: "waiting", phase: "asking" }, "Calculating", "ada"), "Waiting for ada")
  assert.equal(wordsOf({ status: "waiting", phase: null }, undefined, "ada"), "Waiting for ada")
})

test("of a lost line no more is said than the page can know", () => {
  const said = [lostWords(1, true), lostWords(9, true), lostWords(1, false)]

  assert.deepEqual(said, [
    "Reconnecting.",
    "Turnstone does not answer. Trying again; what was stored is kept.",
    "You are offline. Reconnecting when you are back.",
  ])
})
