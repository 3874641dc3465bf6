// A page of a conversation without a browser: the live modules as they are, with real sockets and
// real requests, and stand-ins only for the document and for the length of pauses. It follows until
// its run has ended, and prints what it showed.

import { Document, DOMParser, Element } from "./dom.mjs"

const {
  LINES_URL: origin,
  LINES_CONVERSATION: conversation,
  LINES_COOKIE: cookie,
  LINES_HTML: html,
} = process.env
const HASTE = 20

const RealSocket = WebSocket
const realFetch = fetch
const realTimeout = setTimeout
const opened = { socket: 0, events: 0 }
const typed = []

globalThis.document = new Document()
globalThis.DOMParser = DOMParser
globalThis.addEventListener = () => {}
globalThis.requestAnimationFrame = (paint) => realTimeout(paint, 16)
// Pauses between two tries, which chance makes no whole numbers, are shorter here than for people;
// what guards a line, and Node's own timers, are as they are.
globalThis.setTimeout = (work, ms = 0, ...rest) =>
  realTimeout(work, Number.isInteger(ms) ? ms : ms / HASTE, ...rest)
globalThis.WebSocket = class extends RealSocket {
  constructor(url) {
    super(url, { headers: { cookie, origin } })
    this.addEventListener("open", () => (opened.socket += 1))
  }
}
globalThis.fetch = async (url, options = {}) => {
  const answer = await realFetch(url, { ...options, headers: { ...options.headers, cookie } })
  opened.events += 1
  return answer
}

// What was typed word by word must be what the server then puts in its place.
Element.replaced = (old, fresh) => {
  for (const part of [".turn__thought", ".run__answer"]) {
    const before = shown(old, part)
    if (before) typed.push({ id: old.id, part, before, after: shown(fresh, part) })
  }
}

const log = new Element("div", { id: "log" })
document.body.append(log)
log.append(new DOMParser().parseFromString(html).body.firstElementChild)

const { Connection } = await import("../../static/js/transport/connection.js")
const { Log } = await import("../../static/js/live/log.js")

const states = {}
let isOver = false
const runs = new Log(log, () => {})
const addresses = {
  socket: `${origin.replace("http", "ws")}/ws/conversations/${conversation}/`,
  events: `${origin}/conversations/${conversation}/events/`,
  frames: `${origin}/conversations/${conversation}/frames/`,
  token: () => "",
}
const seen = { frames: 0, snapshots: [], errors: [] }
new Connection(addresses, {
  hello: () => runs.hello(),
  receive: (frames) => frames.forEach(receive),
  say: (state) => (states[state] = (states[state] ?? 0) + 1),
})

function receive(frame) {
  seen.frames += 1
  if (frame.type === "run.snapshot" && frame.html.includes('data-status="running"'))
    seen.snapshots.push({ at: frame.id, cursors: runs.hello().cursors })
  if (frame.type === "error") seen.errors.push(frame.message)
  runs.receive(frame)
  if (runs.live.length === 0 && !isOver) finish()
}

function finish() {
  isOver = true
  const thoughts = log.querySelectorAll(".turn__thought").map((one) => one.textContent.trim())
  const answer = shown(log, ".run__answer")
  const said = JSON.stringify({ thoughts, answer, typed, opened, states, ...seen })
  process.stdout.write(said, () => process.exit(0))
}

function shown(element, part) {
  return element
    .querySelectorAll(part)
    .map((one) => one.textContent.trim())
    .join("\n")
    .trim()
}
