// The page of a conversation: its log, its socket and its composer, put together.

import { Beginning } from "./composer/beginning.js"
import { Composer } from "./composer/composer.js"
import { listenForFiles } from "./composer/files.js"
import { Connection } from "./transport/connection.js"
import { keepPlace } from "./live/earlier.js"
import { Follow } from "./live/follow.js"
import { Log } from "./live/log.js"
import { GONE, isSignedOut, lostWords, SIGNED_OUT } from "./transport/backoff.js"
import { whyNot } from "./live/run_words.js"
import { Stopping } from "./live/stopping.js"
import { answerApprovals, reopenApprovals } from "./page/approvals.js"
import { isSomethingOpen } from "./page/dialogs.js"
import { Focus } from "./page/focus.js"
import { showMark } from "./page/rail.js"
import { listenForOthers, signInAgain } from "./page/session.js"
import { isTyping } from "./page/shortcuts.js"

const root = document.getElementById("conversation")
const form = document.getElementById("composer")
const stop = document.getElementById("stop")
const status = document.getElementById("status")
const line = document.getElementById("connection")

const BLINK_MS = 800

if (form) {
  const focus = new Focus(form.elements.text)
  const composer = root.dataset.socket ? follow(focus) : begin()
  listenForFiles(form, (words) => composer.fail(words))
  focus.takesLetters(isTyping)
  if (!location.hash) focus.toHome()
}

// A new conversation: its first question, written here or taken from the examples, leads to its page.
function begin() {
  const beginning = new Beginning(form.action, {
    token: () => form.elements.csrfmiddlewaretoken.value,
    say: (...words) => composer.fail(...words),
    refuse: (id, ...words) => composer.refuse(id, ...words) || composer.fail(...words),
  })
  const composer = new Composer(form, { send: (message) => beginning.send(message), canSend: () => "" })
  document.querySelector(".examples")?.addEventListener("submit", (event) => {
    event.preventDefault()
    const { client_message_id, policy } = event.target.elements
    const model = form.elements.model?.value ?? ""
    const message = { client_message_id: client_message_id.value, policy: policy.value, model }
    beginning.send({ ...message, text: event.submitter.value })
  })
  return composer
}

function follow(focus) {
  let blink = null
  let losses = 0
  const end = new Follow(document.getElementById("log"), document.getElementById("follow"))
  const log = new Log(document.getElementById("log"), changed, () => !end.isFollowing)
  const composer = new Composer(form, {
    send: (message) => connection.send(message),
    canSend: () => whyNot(log.live),
  })
  const { socket, events, frames } = root.dataset
  const addresses = { socket, events, frames, token: () => form.elements.csrfmiddlewaretoken.value }
  const connection = new Connection(addresses, {
    hello: () => log.hello(),
    isWaiting: () => log.live.length > 0 || composer.isWaiting,
    receive,
    say,
  })
  const stopping = new Stopping({
    live: () => log.live,
    send: (message) => connection.send(message),
    form: () => new FormData(form),
    address: (run) => document.getElementById(`run-${run}`).dataset.stop,
    changed: (problem) => {
      if (problem) composer.fail(problem)
      showStop()
      showLine()
    },
  })
  stop.addEventListener("click", () => stopAll())
  document.addEventListener("keydown", (event) => {
    const isAnswering = event.target.closest?.(".approval")
    const isOurs = event.key === "Escape" && !event.defaultPrevented && !event.isComposing
    if (isOurs && !isAnswering && !isSomethingOpen()) stopAll()
  })
  document.getElementById("follow").addEventListener("click", () => focus.toHome())
  answerApprovals(root, {
    send: (message) => connection.send(message),
    done: () => {},
    answered: () => focus.toHome(),
  })
  listenForOthers(signedInElsewhere)
  keepPlace(document.getElementById("log"))
  if (!location.hash) end.toEnd()
  showStop()
  return composer

  function receive(frames) {
    for (const frame of frames) {
      if (frame.type === "run.created") created(frame)
      else if (frame.type === "error") refused(frame)
      else if (frame.type === "caught_up") log.settle(frame.after)
      else log.receive(frame)
    }
  }

  function created(frame) {
    const isNew = !log.has(frame.run)
    log.add(frame)
    composer.acknowledge(frame.client_message_id)
    if (isNew) end.toEnd()
  }

  function refused(frame) {
    if (!composer.refuse(frame.client_message_id, frame.message)) composer.fail(frame.message)
    reopenApprovals(root)
    stopping.forget()
    showStop()
  }

  function changed(run) {
    const words = log.words(run) || document.querySelector(`#run-${run.id} .run__words`)?.textContent
    if (status.textContent !== words) status.textContent = words
    showStop()
    focus.keep()
    if (log.live.length) return
    composer.look()
    composer.asks(log.asks)
  }

  function showStop() {
    const isWorking = log.live.length > 0
    stop.hidden = !isWorking
    stop.disabled = stopping.isWished
    const state = log.live.some((run) => run.status === "waiting") ? "waiting" : "working"
    showMark(document.querySelector(".rail__row[aria-current]"), isWorking ? state : "")
  }

  function stopAll() {
    if (log.live.length === 0) return
    stopping.all()
    showStop()
    showLine()
    status.textContent = root.dataset.connection === "lost" ? line.textContent : "Stopping"
    focus.toHome()
  }

  // A line that is back in a moment is not worth a word.
  function say(state, code) {
    if (state === "lost") {
      losses += 1
      blink ??= setTimeout(lost, BLINK_MS)
      if (root.dataset.connection === "lost") showLine()
      return
    }
    clearTimeout(blink)
    blink = null
    losses = 0
    found(state, code)
  }

  function lost() {
    root.dataset.connection = "lost"
    showLine()
    if (log.live.length) status.textContent = line.textContent
  }

  function showLine() {
    if (root.dataset.connection !== "lost") return
    const stops = stopping.isWished ? " The run will be stopped then." : ""
    line.textContent = `${lostWords(losses, navigator.onLine)}${stops}`
  }

  function found(state, code) {
    root.dataset.connection = state
    line.replaceChildren(...(state === "over" ? finalWords(code) : []))
    if (state !== "open") return
    reopenApprovals(root)
    composer.resend()
    stopping.send()
    showStop()
  }

  // Another tab was signed out of, or in to again, which gives this page new keys.
  function signedInElsewhere(isMine) {
    const isOver = root.dataset.connection === "over"
    if (!isMine && !isOver) connection.end(SIGNED_OUT)
    else if (isMine && isOver) location.reload()
  }
}

function finalWords(code) {
  return isSignedOut(code) ? signInAgain() : [GONE]
}
