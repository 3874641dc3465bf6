// A transcript that is read while its run still works: turns grow and are added; when the run is
// interrupted or ends the page is fetched again, for it shows more than frames tell.

import { Connection } from "../transport/connection.js"
import { isAfter } from "../live/cursor.js"
import { grow, growingPart } from "../live/growing.js"
import { element, partOfPage, putInPlace } from "../live/html.js"
import { Outline } from "./outline.js"
import { GONE, isSignedOut } from "../transport/backoff.js"
import { Preview } from "../live/preview.js"
import { begin, isLive, take } from "../live/run_state.js"
import { wordsOf } from "../live/run_words.js"

const NO_NEWS = Number.MAX_SAFE_INTEGER

export class Reading {
  #root
  #words
  #changed
  #outline
  #run
  #preview = null
  #isRefreshing = false

  // `words` says on the page how far the run is, and knows where to follow it; `changed` hears of
  // every turn that is new.
  constructor(root, words, changed) {
    const { run, cursor, status, socket, events, rows } = words.dataset
    this.#root = root
    this.#words = words
    this.#changed = changed
    this.#outline = new Outline(root, rows, changed)
    this.#run = begin(Number(run), cursor, status)
    new Connection(
      { socket, events, frames: "", token: () => "" },
      {
        hello: () => ({
          cursors: isLive(this.#run) ? { [this.#run.id]: this.#run.cursor } : {},
          after: NO_NEWS,
        }),
        receive: (frames) => {
          for (const frame of frames) this.#receive(frame)
        },
        say: (state, code) => this.#line(state, code),
      },
    )
  }

  #receive(frame) {
    const { run, changes } = take(this.#run, frame)
    this.#run = run
    for (const change of changes) this.#show(change)
    this.#say(this.#now())
  }

  #show(change) {
    const { show, index, html, text, clearsAnswer } = change
    if (show === "run") this.#refresh()
    else if (show === "turn") this.#showTurn(html, clearsAnswer)
    else if (show === "answer") this.#showAnswer(text)
    else this.#showMore(growingPart(this.#turn(index), change), text)
  }

  #showTurn(html, clearsAnswer) {
    const turn = element(html)
    const isNew = !putInPlace(turn, this.#root.querySelector(".transcript__turns"))
    if (turn.dataset.status === "complete") this.#outline.add(Number(turn.dataset.index))
    if (clearsAnswer) this.#preview?.clear()
    if (isNew) this.#changed()
  }

  #showMore(part, text) {
    if (part) grow(part, text)
  }

  #showAnswer(text) {
    this.#preview ??= new Preview(this.#root.querySelector(".run__answer"))
    this.#preview.show(text)
  }

  async #refresh() {
    if (this.#isRefreshing) return
    this.#isRefreshing = true
    try {
      const answer = await fetch(location.href)
      if (!answer.ok) throw new Error(`The server answered ${answer.status}.`)
      const fresh = partOfPage(await answer.text(), ".transcript")
      this.#preview?.end()
      this.#preview = null
      this.#root.replaceChildren(...fresh.childNodes)
      globalThis.htmx?.process(this.#root)
      this.#adopt()
      this.#changed()
    } catch {
      this.#say("Reload the page to see how this run went on.")
    } finally {
      this.#isRefreshing = false
    }
  }

  // The fresh page may already be further than the frame that asked for it.
  #adopt() {
    this.#words = this.#root.querySelector("#live")
    if (!this.#words) {
      this.#root.classList.remove("transcript--live")
      this.#run = { ...this.#run, status: "ended" }
      return
    }
    const { cursor, status } = this.#words.dataset
    const { id, cursor: read } = this.#run
    this.#run = begin(id, isAfter(cursor, read) ? cursor : read, status)
  }

  #line(state, code) {
    this.#root.dataset.connection = state
    if (state === "over") this.#say(isSignedOut(code) ? "You are signed out. Sign in again to go on." : GONE)
    else if (state === "lost") this.#say("Connection lost. Reconnecting.")
    else this.#say(this.#now())
  }

  #now() {
    return wordsOf(this.#run, this.#turn(this.#run.turn)?.dataset.doing, this.#words?.dataset.asker)
  }

  #say(words) {
    if (this.#words && words && this.#words.textContent !== words) this.#words.textContent = words
  }

  #turn(index) {
    return index === null ? null : document.getElementById(`run-${this.#run.id}-turn-${index + 1}`)
  }
}
