// The page's one socket: says hello with the cursors, comes back after every loss, notices silence.

import { isFinal, pause } from "./patience.js"

const HANDSHAKE_MS = 8_000
const SILENCE_MS = 20_000
const STALE_MS = 12_000
const WATCH_MS = 5_000

export class Connection {
  #url
  #page
  #socket = null
  #backlog = null
  #losses = 0
  #heard = 0
  #retry = null
  #isOver = false

  // `page` has hello() -> {cursors, after}, receive(frames) and say(state, code).
  constructor(url, page) {
    this.#url = url
    this.#page = page
    setInterval(() => this.#watch(), WATCH_MS)
    document.addEventListener("visibilitychange", () => document.hidden || this.#wake())
    addEventListener("online", () => this.#wake())
    addEventListener("pageshow", (event) => event.persisted && this.#wake())
    addEventListener("pagehide", () => this.#drop())
    this.#open()
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN && this.#backlog === null
  }

  send(message) {
    if (!this.isOpen) return false
    this.#socket.send(JSON.stringify(message))
    return true
  }

  #open() {
    if (this.#isOver) return
    this.#drop()
    const socket = new WebSocket(this.#url)
    this.#socket = socket
    this.#backlog = []
    this.#heard = Date.now()
    const handshake = setTimeout(() => socket.readyState === WebSocket.CONNECTING && this.#lose(), HANDSHAKE_MS)
    socket.onopen = () => {
      clearTimeout(handshake)
      socket.send(JSON.stringify({ type: "hello", ...this.#page.hello() }))
    }
    socket.onmessage = (message) => this.#take(JSON.parse(message.data))
    socket.onclose = (event) => {
      clearTimeout(handshake)
      this.#lose(event.code)
    }
  }

  #take(frame) {
    this.#heard = Date.now()
    if (frame.type === "heartbeat") this.#socket.send('{"type":"ping"}')
    else if (frame.type === "caught_up") this.#catchUp()
    else if (this.#backlog) this.#backlog.push(frame)
    else this.#page.receive([frame])
  }

  // What was missed is shown in one paint, not typed again.
  #catchUp() {
    const backlog = this.#backlog ?? []
    this.#backlog = null
    this.#losses = 0
    if (backlog.length) this.#page.receive(backlog)
    this.#page.say("open")
  }

  #lose(code) {
    this.#drop()
    if (isFinal(code)) {
      this.#isOver = true
      this.#page.say("over", code)
      return
    }
    this.#page.say("lost", code)
    this.#retry = setTimeout(() => this.#open(), pause(this.#losses, Math.random()))
    this.#losses += 1
  }

  #drop() {
    clearTimeout(this.#retry)
    const socket = this.#socket
    this.#socket = null
    if (!socket) return
    socket.onopen = socket.onmessage = socket.onclose = null
    socket.close()
  }

  #watch() {
    if (this.#socket && Date.now() - this.#heard > SILENCE_MS) this.#lose()
  }

  #wake() {
    if (this.#isOver) return
    if (!this.#socket || Date.now() - this.#heard > STALE_MS) this.#open()
  }
}
