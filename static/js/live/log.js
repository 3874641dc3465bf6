// The runs on the page: frames come in, articles change.

import { Clock } from "./clock.js"
import { isAfter } from "./cursor.js"
import { grow } from "./growing.js"
import { element, putInPlace } from "./html.js"
import { Preview } from "./preview.js"
import { begin, isLive, take } from "./run_state.js"
import { wordsOf } from "./run_words.js"

export class Log {
  #element
  #changed
  #runs = new Map()
  #previews = new Map()
  #clock = new Clock()
  #settled = 0

  constructor(root, changed) {
    this.#element = root
    this.#changed = changed
    for (const article of root.querySelectorAll("[data-run]")) this.#know(article)
    this.#settled = this.last
  }

  get live() {
    return [...this.#runs.values()].filter(isLive)
  }

  get last() {
    return Math.max(0, ...this.#runs.keys())
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
    const { run, cursor, status } = article.dataset
    const known = begin(Number(run), cursor, status)
    this.#runs.set(known.id, known)
    if (isLive(known) && known.status !== "queued") this.#count(article, known.status)
  }

  #say(run) {
    const article = this.#article(run)
    if (!article) return
    const before = article.dataset.status
    if (isLive(run) && before !== run.status) {
      article.dataset.status = run.status
      if (before === "queued") this.#clock.begin(article)
      else this.#count(article, run.status)
    }
    const words = this.words(run)
    if (words) article.querySelector(".run__words").textContent = words
  }

  showTurn(run, { html, clearsAnswer }) {
    const article = this.#article(run)
    putInPlace(element(html), article.querySelector(".run__turns"))
    if (clearsAnswer) this.#previews.get(run.id)?.clear()
  }

  showMore(run, { show, index, text }) {
    const part = this.#turn(run, index)?.querySelector(`.turn__${show}`)
    if (!part) return
    grow(part, text)
    if (show === "observation") part.scrollTop = part.scrollHeight
  }

  showAnswer(run, { text }) {
    if (!this.#previews.has(run.id)) {
      this.#previews.set(run.id, new Preview(this.#article(run).querySelector(".run__answer")))
    }
    this.#previews.get(run.id).show(text)
  }

  // What the reader has unfolded stays unfolded, and the focus stays where it was.
  showRun(run, { html }) {
    const article = element(html)
    const old = this.#article(run)
    const work = article.querySelector(".run__work")
    work.open = old.querySelector(".run__work").open
    const hadFocus = old.querySelector(".run__status") === document.activeElement
    putInPlace(article, this.#element)
    if (hadFocus) work.querySelector(".run__status").focus({ preventScroll: true })
    this.#previews.get(run.id)?.end()
    this.#previews.delete(run.id)
    const { status } = article.dataset
    this.#runs.set(run.id, { ...run, status, phase: null })
    if (isLive({ status })) this.#count(article, status)
    else this.#clock.forget(article)
  }

  #count(article, status) {
    if (status === "waiting") this.#clock.hold(article)
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
