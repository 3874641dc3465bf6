// The page's one line: says hello with the cursors, comes back after every loss, notices silence,
// and finds another way where WebSockets do not pass.

import { EventTransport } from "./event_transport.js"
import { isFinal, nextKind, pause } from "./backoff.js"
import { SocketTransport } from "./socket_transport.js"

const SILENCE_MS = 20_000
const STALE_MS = 12_000
const WATCH_MS = 1_000
const QUIET_MS = 4_000
const PROBE_MS = 60_000
const HIDDEN_MS = 30_000

export class Connection {
  #addresses
  #page
  #transport = null
  #probe = null
  #backlog = null
  #losses = 0
  #unopened = 0
  #heard = 0
  #asked = 0
  #probed = 0
  #hidden = 0
  #retry = null
  #isOver = false

  // `addresses` are those of the socket, of the events and of the frames, and a token() to post;
  // `page` has hello() -> {cursors, after}, receive(frames), say(state, code), and isWaiting(): whether
  // somebody waits for what comes, so that a dead line must be noticed soon.
  constructor(addresses, page) {
    this.#addresses = addresses
    this.#page = page
    if (document.hidden) this.#hide()
    setInterval(() => this.#watch(), WATCH_MS)
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#hide() : this.#wake()))
    addEventListener("online", () => this.#wake())
    addEventListener("pagehide", () => this.#drop())
    this.#open()
  }

  get isOpen() {
    return this.#transport !== null && this.#backlog === null
  }

  send(message) {
    return this.isOpen && this.#transport.send(message)
  }

  // Nothing more is to come, for a reason that the server would give.
  end(code) {
    if (!this.#isOver) this.#lose(code)
  }

  #open() {
    if (this.#isOver) return
    this.#drop()
    this.#heard = Date.now()
    this.#backlog = []
    const kind = nextKind(this.#unopened)
    let hasOpened = false
    this.#transport = this.#make(kind === "events" ? EventTransport : SocketTransport, {
      opened: () => {
        hasOpened = true
        this.#opened(kind)
      },
      closed: (code) => {
        if (!hasOpened) this.#unopened = kind === "socket" ? this.#unopened + 1 : 0
        this.#lose(code)
      },
    })
  }

  #make(Line, ends) {
    return new Line(this.#addresses, {
      hello: () => this.#page.hello(),
      take: (frame) => this.#take(frame),
      ...ends,
    })
  }

  #opened(kind) {
    this.#heard = Date.now()
    this.#backlog ??= []
    if (kind === "socket") this.#unopened = 0
    else this.#probed = Date.now()
  }

  #take(frame) {
    this.#heard = Date.now()
    if (frame.type === "heartbeat") return
    if (frame.type === "caught_up") this.#catchUp(frame)
    else if (this.#backlog) this.#backlog.push(frame)
    else this.#page.receive([frame])
  }

  #catchUp(frame) {
    this.#losses = 0
    this.#paint()
    this.#page.receive([frame])
    this.#page.say("open")
  }

  // What was missed is shown in one paint, not typed again; also as much of it as came before a loss.
  #paint() {
    const backlog = this.#backlog ?? []
    this.#backlog = null
    if (backlog.length) this.#page.receive(backlog)
  }

  #lose(code) {
    this.#paint()
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
    this.#transport?.close()
    this.#probe?.close()
    this.#transport = this.#probe = null
  }

  #watch() {
    if (!this.#transport) return
    if (Date.now() - this.#heard > SILENCE_MS) this.#lose()
    else if (this.#transport.kind === "events") this.#watchEvents()
    else if (!document.hidden && this.isOpen && this.#page.isWaiting?.()) this.#watchWaiting()
  }

  // A line that says nothing is asked whether it is there. What is measured is from the question on, for
  // the timers of a page may have slept.
  #watchWaiting() {
    const now = Date.now()
    const isAsked = this.#asked > this.#heard
    if (isAsked && now - this.#asked > QUIET_MS) this.#lose()
    else if (!isAsked && now - this.#heard > QUIET_MS) {
      this.#asked = now
      this.send({ type: "ping", answer: true })
    }
  }

  // A browser has few connections for one server: a hidden page leaves them to the others.
  #watchEvents() {
    if (this.#hidden && Date.now() - this.#hidden > HIDDEN_MS) this.#drop()
    else if (!this.#probe && Date.now() - this.#probed > PROBE_MS) this.#tryASocket()
  }

  // The events go on until a socket has opened; it then takes over where they stand.
  #tryASocket() {
    this.#probed = Date.now()
    const probe = this.#make(SocketTransport, {
      opened: () => {
        this.#transport.close()
        this.#transport = probe
        this.#probe = null
        this.#opened("socket")
      },
      closed: (code) => {
        if (this.#transport === probe) this.#lose(code)
        else this.#probe = null
      },
    })
    this.#probe = probe
  }

  #hide() {
    this.#hidden = Date.now()
  }

  #wake() {
    this.#hidden = 0
    if (this.#isOver) return
    if (!this.#transport || Date.now() - this.#heard > STALE_MS) this.#open()
  }
}
