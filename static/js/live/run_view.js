// One run on a page while it works: frames come in, its turns and its answer change. A conversation
// shows several, a transcript one.

import { grow, growingPart } from "./growing.js"
import { element, putInPlace } from "./html.js"
import { dropAnswer, keepOutdated, outdateAnswer, passes } from "./outdated.js"
import { Preview } from "./preview.js"
import { take } from "./run_state.js"
import { wordsOf } from "./run_words.js"

const TURNS = ".run__turns, .transcript__turns"

export class RunView {
  #page
  #preview = null

  // `page` has root(), what holds the turns and the answer, and showRun(html), for the whole run anew;
  // it may hear of showsTurn(turn, isNew), beginsAnswer() and takesBack(), of an answer that was a draft.
  constructor(run, page) {
    this.run = run
    this.#page = page
  }

  // Return whether the frame told anything new.
  receive(frame) {
    const { run, changes } = take(this.run, frame)
    const isNews = run !== this.run
    this.run = run
    for (const change of changes) this.#show(change)
    return isNews
  }

  // `asker` is what the person who asked is called on this page.
  words(asker) {
    return wordsOf(this.run, this.#turn(this.run.turn)?.dataset.doing, asker)
  }

  // The server's own HTML of the answer has come, or comes.
  endPreview() {
    this.#preview?.end()
    this.#preview = null
  }

  #show(change) {
    if (change.show === "run") this.#page.showRun(change.html)
    else if (change.show === "turn") this.#showTurn(change)
    else if (change.show === "answer") this.#showAnswer(change)
    else this.#showMore(change)
  }

  #showTurn({ html, plan, isAgain, clearsAnswer }) {
    const root = this.#page.root()
    if (plan) showPlan(element(plan), root)
    const fresh = element(html)
    const old = document.getElementById(fresh.id)
    if (old) keepOutdated(old, fresh, isAgain)
    putInPlace(fresh, root.querySelector(TURNS))
    if (isAgain && clearsAnswer) {
      this.endPreview()
      outdateAnswer(root)
    } else if (clearsAnswer) {
      this.#preview?.clear()
      this.#page.takesBack?.()
    }
    dropAnswer(root, fresh)
    this.#page.showsTurn?.(fresh, !old)
  }

  #showMore(change) {
    const part = growingPart(this.#turn(change.index), change)
    if (!part) return
    grow(part, change.text)
    if (change.show === "observation") part.scrollTop = part.scrollHeight
  }

  #showAnswer({ text }) {
    const part = this.#page.root().querySelector(".run__answer")
    if (!passes(part, text)) return
    this.#preview ??= new Preview(part)
    this.#page.beginsAnswer?.()
    this.#preview.show(text)
  }

  #turn(index) {
    return index === null ? null : document.getElementById(`run-${this.run.id}-turn-${index + 1}`)
  }
}

// The plan stands before the turns; its goals are ticked where they are.
function showPlan(fresh, root) {
  const old = root.querySelector(".plan")
  if (old) old.replaceWith(fresh)
  else root.querySelector(TURNS).before(fresh)
}
