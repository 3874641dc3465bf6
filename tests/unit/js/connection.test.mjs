import assert from "node:assert/strict"
import { beforeEach, mock, test } from "node:test"

const SECOND = 1000
const sockets = []
const document = { hidden: false, addEventListener() {} }
class FakeSocket {
  static OPEN = 1
  readyState = 1
  sent = []

  constructor() {
    sockets.push(this)
  }

  send(text) {
    this.sent.push(JSON.parse(text))
  }

  close() {}
}
Object.assign(globalThis, { document, WebSocket: FakeSocket, addEventListener() {} })
const { Connection } = await import("../../../static/js/transport/connection.js")

beforeEach(() => {
  sockets.length = 0
  document.hidden = false
  mock.timers.reset()
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: 1_000_000 })
})

function connected(isWaiting) {
  const said = []
  const page = {
    hello: () => ({ cursors: {}, after: 0 }),
    receive() {},
    say: (state) => said.push(state),
    isWaiting: () => isWaiting,
  }
  new Connection({ socket: "ws://here/" }, page)
  sockets[0].onopen()
  hears({ type: "caught_up", after: 0 })
  return said
}

function hears(frame) {
  sockets.at(-1).onmessage({ data: JSON.stringify(frame) })
}

// Second by second, for within one tick of the mock all is at its end.
function pass(seconds) {
  for (let second = 0; second < seconds; second += 1) mock.timers.tick(SECOND)
}

function pings() {
  return sockets[0].sent.filter(({ type, answer }) => type === "ping" && answer)
}

test("a line that says nothing while an answer is awaited is given up within about ten seconds", () => {
  const said = connected(true)

  pass(10)

  assert.equal(pings().length, 1)
  assert.deepEqual(said, ["open", "lost"])
})

test("a line that answers when it is asked stays, however long nothing else comes", () => {
  const said = connected(true)

  for (let second = 0; second < 60; second += 1) {
    mock.timers.tick(SECOND)
    if (sockets[0].sent.at(-1)?.answer) hears({ type: "heartbeat" })
  }

  assert.deepEqual(said, ["open"])
  assert.equal(sockets.length, 1)
})

test("a line that nothing is awaited from is not asked, and neither is that of a hidden page", () => {
  connected(false)
  pass(15)
  assert.equal(pings().length, 0)

  document.hidden = true
  sockets.length = 0
  connected(true)
  pass(15)
  assert.equal(pings().length, 0)
})

test("timers that slept do not take a line for dead before it was asked", () => {
  const said = connected(true)

  mock.timers.setTime(Date.now() + 15 * SECOND)
  mock.timers.tick(SECOND)

  assert.equal(pings().length, 1)
  assert.deepEqual(said, ["open"])
})
