// What stands beside the turns of a run that is followed: its rows in the outline, with the bars of the
// waterfall, and its model calls. Frames do not tell of them; they are fetched when a turn is complete.

import { partOfPage, putInPlace } from "../live/html.js"

export class Outline {
  #root
  #address
  #changed
  #from = Infinity
  #isAsking = false

  constructor(root, address, changed) {
    this.#root = root
    this.#address = address
    this.#changed = changed
  }

  // Many turns may be told of at once; they are asked for together.
  async add(index) {
    this.#from = Math.min(this.#from, index + 1)
    if (this.#isAsking) return
    this.#isAsking = true
    try {
      while (this.#from < Infinity) await this.#ask()
    } catch {
      // The line may be lost; at its end the whole page is fetched anew.
    } finally {
      this.#isAsking = false
    }
  }

  async #ask() {
    const from = this.#from
    this.#from = Infinity
    const answer = await fetch(`${this.#address}?from=${from}`)
    if (!answer.ok) return
    const rows = partOfPage(await answer.text(), ".rows")
    const list = this.#root.querySelector(".outline > ol")
    for (const row of rows.querySelectorAll("li")) putInPlace(row, list)
    for (const svg of list.querySelectorAll(".outline__waterfall")) {
      svg.setAttribute("viewBox", `0 0 ${rows.dataset.whole} 4`)
    }
    for (const part of rows.querySelectorAll("[data-turn]")) {
      const turn = document.getElementById(part.dataset.turn)
      if (turn) putInPlace(part.firstElementChild, turn)
    }
    this.#changed()
  }
}
