// When a run's turns fold by themselves, and when what the reader did stays.

export class Folding {
  #isRead
  #byReader = new Set()
  #byAnswer = new Set()

  // `isRead()` tells whether somebody reads further up, to whom nothing must fold.
  constructor(root, isRead) {
    this.#isRead = isRead
    root.addEventListener("click", ({ target }) => this.#note(target))
  }

  // The turns fold when the answer begins, so that it is written where it will stand.
  begin(id, article) {
    const work = article.querySelector(".run__work")
    if (!work.open || this.#byAnswer.has(id) || this.stays(id)) return
    this.#byAnswer.add(id)
    work.open = false
  }

  // It was a draft; the turns go on.
  takeBack(id, article) {
    if (this.#byAnswer.delete(id)) article.querySelector(".run__work").open = true
  }

  // What the reader has folded or unfolded stays so.
  stays(id) {
    return this.#byReader.has(id) || this.#isRead()
  }

  #note(target) {
    const article = target.closest(".run__status")?.closest("[data-run]")
    if (article) this.#byReader.add(Number(article.dataset.run))
  }
}
