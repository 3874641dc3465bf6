// The form at the foot of a conversation: keeps the draft, sends once, says what is wrong.

import { Draft } from "./draft.js"
import { sends } from "./keys.js"
import { Models } from "./models.js"

const ANSWER_MS = 10_000

export class Composer {
  #form
  #text
  #id
  #policy
  #models
  #draft
  #error = document.getElementById("composer-error")
  #send
  #canSend
  #pending = null
  #isHindered = false

  // `send(message)` tells whether the message left; `canSend()` returns why it may not, or "".
  constructor(form, { send, canSend }) {
    this.#form = form
    this.#text = form.elements.text
    this.#id = form.elements.client_message_id
    this.#policy = form.elements.policy
    this.#draft = new Draft(form.dataset.draft)
    this.#send = send
    this.#canSend = canSend
    this.#models = new Models(document.getElementById("models"), () => this.#keep())
    this.#restore()
    this.#text.addEventListener("input", () => this.#changed())
    this.#policy.addEventListener("change", () => this.#keep())
    this.#text.addEventListener("keydown", (event) => this.#press(event))
    form.addEventListener("submit", (event) => this.#submit(event))
    this.#grow()
  }

  get isWaiting() {
    return this.#pending !== null
  }

  // Whether the agent has asked something, which a message answers.
  asks(isAsked) {
    const { reply, answer } = this.#form.dataset
    this.#text.placeholder = isAsked ? answer : reply
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

  refuse(id, ...words) {
    if (id !== this.#pending?.client_message_id) return false
    this.#pending = null
    this.#busy(false)
    this.fail(...words)
    return true
  }

  // After a reconnect: an unanswered message is sent again under the same id.
  resend() {
    if (this.#pending) this.#post()
  }

  fail(...words) {
    this.#isHindered = false
    this.#error.replaceChildren(...words)
  }

  // What kept a message from being sent may be over; then it is not said any more.
  look() {
    if (this.#isHindered && !this.#canSend()) this.fail("")
  }

  #press(event) {
    if (!sends(event)) return
    event.preventDefault()
    this.#form.requestSubmit()
  }

  #submit(event) {
    this.#keep()
    event.preventDefault()
    if (this.isEmpty || this.#pending) return
    const obstacle = this.#canSend()
    this.fail(obstacle)
    this.#isHindered = Boolean(obstacle)
    if (obstacle) return
    this.#pending = {
      type: "send",
      client_message_id: this.#id.value,
      text: this.#text.value,
      policy: this.#policy.value,
      model: this.#models.value,
    }
    this.#post()
  }

  #post() {
    const message = this.#pending
    this.#busy(true)
    if (!this.#send(message)) {
      this.fail(
        navigator.onLine
          ? "No connection. It will be sent when there is one."
          : "You are offline. It will be sent when you are back.",
      )
      return
    }
    setTimeout(() => this.#pending === message && this.#failSilent(), ANSWER_MS)
  }

  #failSilent() {
    if (!this.#error.textContent) this.fail("Still no answer from the server. Your message is kept.")
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
    const text = this.#text.value
    const isChosen = !this.#policy.selectedOptions[0]?.defaultSelected || !this.#models.isAsServed
    const chosen = { policy: this.#policy.value, model: this.#models.value }
    if (text.trim() || isChosen) this.#draft.keep({ text, id: this.#id.value, ...chosen })
    else this.#draft.forget()
  }

  #restore() {
    new Draft(this.#form.dataset.draftNew).forgetIfShown()
    this.#draft.forgetIfShown()
    const kept = this.#draft.read()
    if (!kept || this.#text.value) return
    this.#text.value = kept.text
    this.#id.value = kept.id
    if (this.#offers(kept.policy)) this.#policy.value = kept.policy
    if (kept.model !== undefined) this.#models.value = kept.model
  }

  #offers(policy) {
    return [...this.#policy.options].some(({ value }) => value === policy)
  }

  // Where the browser cannot size the field by its content.
  #grow() {
    if (CSS.supports("field-sizing", "content")) return
    this.#text.style.height = "auto"
    this.#text.style.height = `${this.#text.scrollHeight}px`
  }
}
