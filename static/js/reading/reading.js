// A transcript that is read while its run still works: turns grow and are added; when the run is
// interrupted or ends the page is fetched again, for it shows more than frames tell.

import { Connection } from "../transport/connection.js"
import { isAfter } from "../live/cursor.js"
import { partOfPage } from "../live/html.js"
import { Outline } from "./outline.js"
import { GONE, isSignedOut } from "../transport/backoff.js"
import { begin, isLive } from "../live/run_state.js"
import { RunView } from "../live/run_view.js"

const NO_NEWS = Number.MAX_SAFE_INTEGER

export class Reading {
  #root
  #words
  #changed
  #outline
  #view
  #isRefreshing = false

  // `words` says on the page how far the run is, and knows where to follow it; `changed` hears of
  // every turn that is new.
  constructor(root, words, changed) {
    const { run, cursor, status, socket, events, rows } = words.dataset
    this.#root = root
    this.#words = words
    this.#changed = changed
    this.#outline = new Outline(root, rows, changed)
    this.#view = new RunView(begin(Number(run), cursor, status), {
      root: () => root,
      showRun: () => this.#refresh(),
      showsTurn: (turn, isNew) => this.#note(turn, isNew),
    })
    new Connection(
      { socket, events, frames: "", token: () => "" },
      {
        hello: () => ({ cursors: this.#cursors(), after: NO_NEWS }),
        receive: (frames) => frames.forEach((frame) => this.#receive(frame)),
        say: (state, code) => this.#line(state, code),
      },
    )
  }

  #cursors() {
    const { run } = this.#view
    return isLive(run) ? { [run.id]: run.cursor } : {}
  }

  #receive(frame) {
    this.#view.receive(frame)
    this.#say(this.#now())
  }

  #note(turn, isNew) {
    if (turn.dataset.status === "complete") this.#outline.add(Number(turn.dataset.index))
    if (isNew) this.#changed()
  }

  async #refresh() {
    if (this.#isRefreshing) return
    this.#isRefreshing = true
    try {
      const answer = await fetch(location.href)
      if (!answer.ok) throw new Error(`The server answered ${answer.status}.`)
      const fresh = partOfPage(await answer.text(), ".transcript")
      this.#view.endPreview()
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
      this.#view.run = { ...this.#view.run, status: "ended" }
      return
    }
    const { cursor, status } = this.#words.dataset
    const { id, cursor: read } = this.#view.run
    this.#view.run = begin(id, isAfter(cursor, read) ? cursor : read, status)
  }

  #line(state, code) {
    this.#root.dataset.connection = state
    if (state === "over") this.#say(isSignedOut(code) ? "You are signed out. Sign in again to go on." : GONE)
    else if (state === "lost") this.#say("Connection lost. Reconnecting.")
    else this.#say(this.#now())
  }

  #now() {
    return this.#view.words(this.#words?.dataset.asker)
  }

  #say(words) {
    if (this.#words && words && this.#words.textContent !== words) this.#words.textContent = words
  }
}
