// A line to the server where WebSockets do not pass: events in one long response after another, and
// a POST per wish. A response that has been long enough is no loss; the next goes on where it ended.

import { EventReader } from "./event_reader.js"

const ANSWER_MS = 8_000
const FINISHED = 1000
const CODES = { 401: 4401, 404: 4404 }
const UNSENT = "This did not reach the server. Try again in a moment."

export class EventTransport {
  kind = "events"
  #addresses
  #ends
  #stop = new AbortController()
  #code = undefined

  // `ends` is as a SocketTransport's.
  constructor(addresses, ends) {
    this.#addresses = addresses
    this.#ends = ends
    this.#follow()
  }

  send(message) {
    if (this.#stop.signal.aborted) return false
    this.#post(message)
    return true
  }

  close() {
    this.#stop.abort()
  }

  async #follow() {
    const late = setTimeout(() => this.#end(), ANSWER_MS)
    let code
    try {
      do {
        this.#code = undefined
        const { cursors, after } = this.#ends.hello()
        const place = Object.entries(cursors)
          .map(([run, cursor]) => `${run}:${cursor}`)
          .join(",")
        const response = await fetch(`${this.#addresses.events}?after=${after}&cursors=${place}`, {
          headers: { accept: "text/event-stream" },
          signal: this.#stop.signal,
        })
        clearTimeout(late)
        if (!response.ok) return this.#end(CODES[response.status])
        this.#ends.opened()
        await this.#read(response.body)
      } while (this.#code === FINISHED)
      code = this.#code
    } catch {
      // Said below: the line is lost.
    }
    clearTimeout(late)
    this.#end(code)
  }

  async #read(body) {
    const events = new EventReader()
    const reader = body.pipeThrough(new TextDecoderStream()).getReader()
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      for (const data of events.read(part.value)) {
        if (this.#stop.signal.aborted) return
        this.#take(JSON.parse(data))
      }
    }
  }

  #take(frame) {
    if (frame.type === "closed") this.#code = frame.code
    else this.#ends.take(frame)
  }

  async #post(message) {
    try {
      const response = await fetch(this.#addresses.frames, {
        method: "POST",
        headers: { "content-type": "application/json", "x-csrftoken": this.#addresses.token() },
        body: JSON.stringify(message),
      })
      if (this.#stop.signal.aborted) return
      if (CODES[response.status]) return this.#end(CODES[response.status])
      if (!response.ok) throw new Error(`The server answered ${response.status}.`)
      for (const frame of await response.json()) this.#take(frame)
    } catch {
      if (!this.#stop.signal.aborted) this.#take(unsent(message))
    }
  }

  #end(code) {
    if (this.#stop.signal.aborted) return
    this.close()
    this.#ends.closed(code)
  }
}

function unsent({ client_message_id = null }) {
  return { type: "error", code: "unavailable", message: UNSENT, client_message_id }
}
