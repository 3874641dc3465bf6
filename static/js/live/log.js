// The runs on the page: frames come in, articles change.

import { Clock } from "./clock.js"
import { isAfter } from "./cursor.js"
import { Folding } from "./folding.js"
import { element, putInPlace } from "./html.js"
import { keepWritten } from "./outdated.js"
import { begin, isLive } from "./run_state.js"
import { RunView } from "./run_view.js"

export class Log {
  #element
  #changed
  #folding
  #views = new Map()
  #clock = new Clock()
  #settled = 0

  // `changed(run)` hears of all that happens to a run; `isRead()` is what Folding asks.
  constructor(root, changed, isRead = () => false) {
    this.#element = root
    this.#changed = changed
    this.#folding = new Folding(root, isRead)
    for (const article of root.querySelectorAll("[data-run]")) this.#know(article)
    this.#settled = this.last
  }

  get live() {
    return [...this.#views.values()].map((view) => view.run).filter(isLive)
  }

  get last() {
    return Math.max(0, ...this.#views.keys())
  }

  // Whether the last run ended with a question back.
  get asks() {
    return articleOf(this.last)?.dataset.asks === "yes"
  }

  hello() {
    return { cursors: Object.fromEntries(this.live.map((run) => [run.id, run.cursor])), after: this.#settled }
  }

  // No run up to `after` is missing here; of later ones some may be that nobody has told of yet.
  settle(after) {
    this.#settled = after
  }

  has(id) {
    return this.#views.has(id)
  }

  // A page may have the run from the answer to its own question, and nothing of it since.
  add(frame) {
    const article = element(frame.html)
    const known = this.#views.get(frame.run)
    if (known) {
      const { cursor } = article.dataset
      if (isAfter(cursor, known.run.cursor)) this.receive({ ...frame, type: "run.snapshot", id: cursor })
      return
    }
    this.#element.querySelector(".conversation__none")?.remove()
    putInPlace(article, this.#element)
    this.#know(article)
    this.#changed(this.#views.get(frame.run).run)
  }

  receive(frame) {
    const view = this.#views.get(frame.run)
    if (!view?.receive(frame)) return
    this.#say(view)
    this.#changed(view.run)
  }

  words(run) {
    return this.#views.get(run.id).words()
  }

  #know(article) {
    const { run, cursor, status, stalled } = article.dataset
    const id = Number(run)
    const view = new RunView(begin(id, cursor, status, stalled === "yes"), {
      root: () => articleOf(id),
      showRun: (html) => this.#showRun(view, html),
      beginsAnswer: () => this.#folding.begin(id, articleOf(id)),
      takesBack: () => this.#folding.takeBack(id, articleOf(id)),
    })
    this.#views.set(id, view)
    if (isLive(view.run) && status !== "queued") this.#count(article, view.run)
  }

  #say(view) {
    const { run } = view
    const article = articleOf(run.id)
    if (!article) return
    const before = article.dataset.status
    if (isLive(run) && before !== run.status) {
      article.dataset.status = run.status
      if (before === "queued") this.#clock.begin(article)
      else this.#count(article, run)
    }
    if ((article.dataset.stalled === "yes") !== run.isStalled) {
      article.dataset.stalled = run.isStalled ? "yes" : ""
      this.#count(article, run)
    }
    const words = view.words()
    if (words) article.querySelector(".run__words").textContent = words
  }

  // It is folded at its end as it will be when it is read again; the focus stays where it was.
  #showRun(view, html) {
    const { id } = view.run
    const article = element(html)
    const old = articleOf(id)
    const work = article.querySelector(".run__work")
    const { status } = article.dataset
    const next = { ...view.run, status, phase: null, isStalled: article.dataset.stalled === "yes" }
    if (isLive(next) || this.#folding.stays(id)) work.open = old.querySelector(".run__work").open
    if (isLive(next)) keepWritten(old, article)
    const focused = old.contains(document.activeElement) ? document.activeElement : null
    putInPlace(article, this.#element)
    if (focused) sameIn(article, focused)?.focus({ preventScroll: true })
    view.endPreview()
    view.run = next
    if (isLive(next)) this.#count(article, next)
    else this.#clock.forget(article)
  }

  #count(article, { status, isStalled }) {
    if (isStalled || status === "waiting" || status === "interrupted") this.#clock.hold(article)
    else this.#clock.follow(article)
  }
}

function articleOf(id) {
  return document.getElementById(`run-${id}`)
}

// What stands in a fresh article for a control of the old one.
function sameIn(article, control) {
  const alike = [...article.querySelectorAll(control.localName)]
  return (
    alike.find((one) => one.className === control.className && one.textContent === control.textContent) ??
    article.querySelector(".run__status")
  )
}
