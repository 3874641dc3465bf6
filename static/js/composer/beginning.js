// The first question of a conversation, which has a page of its own: posted until the server has it,
// which is once, however often it was sent; then that page is opened.

import { pause } from "../transport/backoff.js"
import { signInAgain } from "../page/session.js"

const AWAY = 502
const LONGEST_MS = 20_000
const REFUSED = "This page is too old to send from. Reload it; what you have written is kept."
const BROKEN = "Something went wrong on our side. Nothing was lost; try again."
const NO_ANSWER = "Turnstone does not answer. It will be sent when it does."
const OFFLINE = "You are offline. It will be sent when you are back."

export class Beginning {
  #address
  #page
  #message = null
  #tries = 0
  #retry = null

  // `page` has token() to post, say(...words) while the message waits, and refuse(id, ...words).
  constructor(address, page) {
    this.#address = address
    this.#page = page
    addEventListener("online", () => this.#message && this.#post())
  }

  send(message) {
    if (this.#message) return true
    this.#message = message
    this.#tries = 0
    this.#post()
    return true
  }

  async #post() {
    clearTimeout(this.#retry)
    const message = this.#message
    const body = new URLSearchParams({ ...message, csrfmiddlewaretoken: this.#page.token() })
    let answer
    try {
      const headers = { accept: "application/json" }
      const signal = AbortSignal.timeout(LONGEST_MS)
      answer = await fetch(this.#address, { method: "POST", headers, body, signal, redirect: "manual" })
    } catch {
      // Said below: it did not get there.
    }
    if (message !== this.#message) return
    if (!answer || answer.status >= AWAY) this.#again()
    else await this.#read(answer, message)
  }

  async #read(answer, { client_message_id }) {
    if (answer.ok) return location.assign((await answer.json()).url)
    this.#message = null
    this.#page.refuse(client_message_id, ...(await wordsOf(answer)))
  }

  #again() {
    this.#page.say(navigator.onLine ? NO_ANSWER : OFFLINE)
    this.#retry = setTimeout(() => this.#post(), pause(this.#tries, Math.random()))
    this.#tries += 1
  }
}

async function wordsOf(answer) {
  if (answer.type === "opaqueredirect") return signInAgain()
  if (answer.headers.get("content-type")?.startsWith("application/json")) return [(await answer.json()).error]
  return [answer.status === 403 ? REFUSED : BROKEN]
}
