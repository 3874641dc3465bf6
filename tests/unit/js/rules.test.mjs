import assert from "node:assert/strict"
import { test } from "node:test"

import { sends } from "../../../static/js/composer/keys.js"
import { isAfter } from "../../../static/js/live/cursor.js"
import { elapsedInWords } from "../../../static/js/live/elapsed.js"
import { isNearEnd, NEAR_PX } from "../../../static/js/live/near_end.js"
import { isFinal, pause } from "../../../static/js/live/patience.js"

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
