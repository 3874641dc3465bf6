// The form at the foot of a conversation: keeps the draft, sends once, says what is wrong.

import { Draft } from "./draft.js"
import { sends } from "./keys.js"

const ANSWER_MS = 10_000

export class Composer {
  #form
  #text
  #id
  #draft
  #send
  #canSend
  #pending = null

  // `send(message)` tells whether the message left; `canSend()` returns why not, or "".
  constructor(form, { send, canSend }) {
    this.#form = form
    this.#text = form.elements.text
    this.#id = form.elements.client_message_id
    this.#draft = new Draft(form.dataset.draft)
    this.#send = send
    this.#canSend = canSend
    this.#restore()
    this.#text.addEventListener("input", () => this.#changed())
    this.#text.addEventListener("keydown", (event) => this.#press(event))
    form.addEventListener("submit", (event) => this.#submit(event))
    this.#grow()
  }

  get isEmpty() {
    return !this.#text.value.trim()
  }

  // The server has the message: only now may the page let go of it.
  acknowledge(id) {
    if (id !== this.#pending?.client_message_id && id !== this.#id.value) return
    this.#pending = null
    this.#text.value = ""
    this.#id.value = crypto.randomUUID()
    this.#draft.forget()
    this.#busy(false)
    this.fail("")
    this.#grow()
  }

  refuse(id, words) {
    if (id !== this.#pending?.client_message_id) return false
    this.#pending = null
    this.#busy(false)
    this.fail(words)
    return true
  }

  // After a reconnect: an unanswered message is sent again under the same id.
  resend() {
    if (this.#pending) this.#post()
  }

  fail(words) {
    document.getElementById("composer-error").textContent = words
  }

  #press(event) {
    if (!sends(event)) return
    event.preventDefault()
    this.#form.requestSubmit()
  }

  #submit(event) {
    this.#keep()
    if (!this.#send) return // A new conversation begins with a page of its own.
    event.preventDefault()
    if (this.isEmpty || this.#pending) return
    const obstacle = this.#canSend()
    this.fail(obstacle)
    if (obstacle) return
    this.#pending = {
      type: "send",
      client_message_id: this.#id.value,
      text: this.#text.value,
      policy: this.#form.elements.policy.value,
      parent: null,
    }
    this.#post()
  }

  #post() {
    const message = this.#pending
    this.#busy(true)
    if (!this.#send(message)) {
      this.fail("Not sent yet: there is no connection. It is kept here and goes out when the line is back.")
      return
    }
    setTimeout(() => this.#pending === message && this.fail("Still no answer from the server. Your message is kept."), ANSWER_MS)
  }

  #busy(isBusy) {
    this.#text.readOnly = isBusy
    this.#form.querySelector("#send").disabled = isBusy
  }

  #changed() {
    this.#keep()
    this.fail("")
    this.#grow()
  }

  #keep() {
    this.#draft.keep(this.#text.value, this.#id.value)
  }

  #restore() {
    new Draft(this.#form.dataset.draftNew).forgetIfShown()
    this.#draft.forgetIfShown()
    const kept = this.#draft.read()
    if (!kept || this.#text.value) return
    this.#text.value = kept.text
    this.#id.value = kept.id
  }

  // Where the browser cannot size the field by its content.
  #grow() {
    if (CSS.supports("field-sizing", "content")) return
    this.#text.style.height = "auto"
    this.#text.style.height = `${this.#text.scrollHeight}px`
  }
}
