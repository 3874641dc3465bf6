// What is being written, kept in the browser until the server has it, under the id it is sent with.

const PREFIX = "turnstone:draft:"

export class Draft {
  #key

  constructor(name) {
    this.#key = PREFIX + name
  }

  read() {
    try {
      return JSON.parse(localStorage.getItem(this.#key))
    } catch {
      return null
    }
  }

  // A draft whose message the page shows has arrived.
  forgetIfShown() {
    const kept = this.read()
    if (kept && document.querySelector(`[data-message="${CSS.escape(kept.id)}"]`)) this.forget()
  }

  keep(text, id) {
    if (!text.trim()) return this.forget()
    try {
      localStorage.setItem(this.#key, JSON.stringify({ text, id }))
    } catch {
      // A full or forbidden store costs only the draft.
    }
  }

  forget() {
    try {
      localStorage.removeItem(this.#key)
    } catch {
      // As above.
    }
  }
}
