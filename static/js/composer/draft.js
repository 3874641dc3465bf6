// What is being written and for whom, kept in the browser until the server has it, under the id it is
// sent with.

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

  keep(draft) {
    try {
      localStorage.setItem(this.#key, JSON.stringify(draft))
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
