// The runs on the page: frames come in, articles change.

import { Clock } from "./clock.js"
import { isAfter } from "./cursor.js"
import { Folding } from "./folding.js"
import { grow, growingPart } from "./growing.js"
import { element, putInPlace } from "./html.js"
import { dropAnswer, keepOutdated, keepWritten, passes } from "./outdated.js"
import { Preview } from "./preview.js"
import { begin, isLive, take } from "./run_state.js"
import { wordsOf } from "./run_words.js"

export class Log {
  #element
  #changed
  #folding
  #runs = new Map()
  #previews = new Map()
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
    return [...this.#runs.values()].filter(isLive)
  }

  get last() {
    return Math.max(0, ...this.#runs.keys())
  }

  // Whether the last run ended with a question back.
  get asks() {
    return this.#article({ id: this.last })?.dataset.asks === "yes"
  }

  hello() {
    return { cursors: Object.fromEntries(this.live.map((run) => [run.id, run.cursor])), after: this.#settled }
  }

  // No run up to `after` is missing here; of later ones some may be that nobody has told of yet.
  settle(after) {
    this.#settled = after
  }

  has(id) {
    return this.#runs.has(id)
  }

  // A page may have the run from the answer to its own question, and nothing of it since.
  add(frame) {
    const article = element(frame.html)
    const known = this.#runs.get(frame.run)
    if (known) {
      const { cursor } = article.dataset
      if (isAfter(cursor, known.cursor)) this.receive({ ...frame, type: "run.snapshot", id: cursor })
      return
    }
    this.#element.querySelector(".conversation__none")?.remove()
    putInPlace(article, this.#element)
    this.#know(article)
    this.#changed(this.#runs.get(frame.run))
  }

  receive(frame) {
    const known = this.#runs.get(frame.run)
    if (!known) return
    const { run, changes } = take(known, frame)
    this.#runs.set(run.id, run)
    for (const change of changes) SHOW[change.show].call(this, run, change)
    if (run === known) return
    this.#say(this.#runs.get(run.id))
    this.#changed(this.#runs.get(run.id))
  }

  words(run) {
    return wordsOf(run, this.#turn(run, run.turn)?.dataset.doing)
  }

  #know(article) {
    const { run, cursor, status, stalled } = article.dataset
    const known = begin(Number(run), cursor, status, stalled === "yes")
    this.#runs.set(known.id, known)
    if (isLive(known) && known.status !== "queued") this.#count(article, known)
  }

  #say(run) {
    const article = this.#article(run)
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
    const words = this.words(run)
    if (words) article.querySelector(".run__words").textContent = words
  }

  showTurn(run, { html, clearsAnswer }) {
    const article = this.#article(run)
    const fresh = element(html)
    const old = document.getElementById(fresh.id)
    if (old) keepOutdated(old, fresh)
    putInPlace(fresh, article.querySelector(".run__turns"))
    if (clearsAnswer) {
      this.#previews.get(run.id)?.clear()
      this.#folding.takeBack(run.id, article)
    }
    dropAnswer(article, fresh)
  }

  showMore(run, change) {
    const part = growingPart(this.#turn(run, change.index), change)
    if (!part) return
    grow(part, change.text)
    if (change.show === "observation") part.scrollTop = part.scrollHeight
  }

  showAnswer(run, { text }) {
    const article = this.#article(run)
    const part = article.querySelector(".run__answer")
    if (!passes(part, text)) return
    if (!this.#previews.has(run.id)) this.#previews.set(run.id, new Preview(part))
    this.#folding.begin(run.id, article)
    this.#previews.get(run.id).show(text)
  }

  // It is folded at its end as it will be when it is read again; the focus stays where it was.
  showRun(run, { html }) {
    const article = element(html)
    const old = this.#article(run)
    const work = article.querySelector(".run__work")
    const { status } = article.dataset
    const next = { ...run, status, phase: null, isStalled: article.dataset.stalled === "yes" }
    if (isLive(next) || this.#folding.stays(run.id)) work.open = old.querySelector(".run__work").open
    if (isLive(next)) keepWritten(old, article)
    const focused = old.contains(document.activeElement) ? document.activeElement : null
    putInPlace(article, this.#element)
    if (focused) sameIn(article, focused)?.focus({ preventScroll: true })
    this.#previews.get(run.id)?.end()
    this.#previews.delete(run.id)
    this.#runs.set(run.id, next)
    if (isLive(next)) this.#count(article, next)
    else this.#clock.forget(article)
  }

  #count(article, { status, isStalled }) {
    if (isStalled || status === "waiting" || status === "interrupted") this.#clock.hold(article)
    else this.#clock.follow(article)
  }

  #article(run) {
    return document.getElementById(`run-${run.id}`)
  }

  #turn(run, index) {
    return document.getElementById(`run-${run.id}-turn-${index + 1}`)
  }
}

const SHOW = {
  turn: Log.prototype.showTurn,
  thought: Log.prototype.showMore,
  observation: Log.prototype.showMore,
  answer: Log.prototype.showAnswer,
  run: Log.prototype.showRun,
}

// What stands in a fresh article for a control of the old one.
function sameIn(article, control) {
  const alike = [...article.querySelectorAll(control.localName)]
  return (
    alike.find((one) => one.className === control.className && one.textContent === control.textContent) ??
    article.querySelector(".run__status")
  )
}
