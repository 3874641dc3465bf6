// The runs that shall stop. A stop is sent until its run has ended: over the line, or as a form where
// there is none, and once more when a line is back that was lost meanwhile.

export class Stopping {
  #page
  #asked = new Set()

  // `page` has live() runs, send(message), form() to post to the address(run), and changed(problem).
  constructor(page) {
    this.#page = page
  }

  get isWished() {
    return this.#page.live().some((run) => this.#asked.has(run.id))
  }

  all() {
    for (const run of this.#page.live()) this.#asked.add(run.id)
    this.send()
  }

  send() {
    for (const { id } of this.#page.live()) {
      if (this.#asked.has(id) && !this.#page.send({ type: "stop", run: id })) this.#post(id)
    }
  }

  forget() {
    this.#asked.clear()
  }

  async #post(run) {
    try {
      const answer = await fetch(this.#page.address(run), { method: "POST", body: this.#page.form() })
      if (answer.ok) return
    } catch {
      return this.#page.changed("") // It goes out when the line is back.
    }
    this.#asked.delete(run)
    this.#page.changed("The run could not be stopped. Try again in a moment.")
  }
}
