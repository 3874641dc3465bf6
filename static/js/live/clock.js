// The seconds that live runs have worked, counted on the page from what the server said.

import { elapsedInWords } from "./elapsed.js"

const TICK_MS = 1000

export class Clock {
  #starts = new Map()

  constructor() {
    setInterval(() => this.#tick(), TICK_MS)
  }

  follow(article) {
    const elapsed = Number(article.dataset.elapsed) || 0
    const known = this.#starts.get(article.id)
    this.#starts.set(article.id, known ?? performance.now() - elapsed * 1000)
    this.#show(article.id)
  }

  begin(article) {
    this.#starts.set(article.id, performance.now())
  }

  // While a run waits for a person it does not work; what it has worked is kept for later.
  hold(article) {
    const start = this.#starts.get(article.id)
    if (start !== undefined) article.dataset.elapsed = (performance.now() - start) / 1000
    this.#starts.delete(article.id)
  }

  forget(article) {
    this.#starts.delete(article.id)
  }

  #tick() {
    for (const id of this.#starts.keys()) this.#show(id)
  }

  #show(id) {
    const article = document.getElementById(id)
    const place = article?.querySelector(".run__elapsed")
    if (place) place.textContent = elapsedInWords((performance.now() - this.#starts.get(id)) / 1000)
  }
}
