// The page of a conversation: its log, its socket and its composer, put together.

import { Composer } from "./composer/composer.js"
import { Connection } from "./live/connection.js"
import { Follow } from "./live/follow.js"
import { Log } from "./live/log.js"
import { finalWords } from "./live/patience.js"
import { answerApprovals, reopenApprovals } from "./page/approvals.js"
import { isSomethingOpen } from "./page/dialogs.js"

const root = document.getElementById("conversation")
const form = document.getElementById("composer")
const stop = document.getElementById("stop")
const status = document.getElementById("status")
const line = document.getElementById("connection")

const BLINK_MS = 800

if (root.dataset.socket && form) follow()
else if (form) new Composer(form, { send: null })

function follow() {
  const stopping = new Set()
  let blink = null
  const log = new Log(document.getElementById("log"), changed)
  const end = new Follow(document.getElementById("log"), document.getElementById("follow"))
  const composer = new Composer(form, {
    send: (message) => connection.send(message),
    canSend: () => whyNot(log.live),
  })
  const { socket, events, frames } = root.dataset
  const addresses = { socket, events, frames, token: () => form.elements.csrfmiddlewaretoken.value }
  const connection = new Connection(addresses, { hello: () => log.hello(), receive, say })
  stop.addEventListener("click", () => stopAll())
  document.addEventListener("keydown", (event) => {
    const isAnswering = event.target.closest?.(".approval")
    if (event.key === "Escape" && !event.isComposing && !isAnswering && !isSomethingOpen()) stopAll()
  })
  answerApprovals(root, { send: (message) => connection.send(message), done: () => {} })
  if (!location.hash) end.toEnd()
  showStop()

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
    stopping.clear()
    showStop()
  }

  function changed(run) {
    const words = log.words(run) || document.querySelector(`#run-${run.id} .run__words`)?.textContent
    if (status.textContent !== words) status.textContent = words
    showStop()
  }

  function showStop() {
    const isWorking = log.live.length > 0
    stop.hidden = !isWorking
    stop.disabled = log.live.some((run) => stopping.has(run.id))
    const mark = document.querySelector(".rail__row[aria-current] .rail__live")
    if (mark) showMark(mark, isWorking, log.live.some((run) => run.status === "waiting"))
  }

  function stopAll() {
    for (const run of log.live) stopping.add(run.id)
    status.textContent = "Stopping"
    stop.disabled = true
    sendStops()
  }

  // A wish that was on its way when the line was lost is sent again.
  function sendStops() {
    for (const { id } of log.live) {
      if (stopping.has(id) && !connection.send({ type: "stop", run: id })) stopByForm(id)
    }
  }

  async function stopByForm(run) {
    try {
      const answer = await fetch(`/runs/${run}/stop/`, { method: "POST", body: new FormData(form) })
      if (answer.ok) return
    } catch {
      // Said below: what failed is the line.
    }
    stopping.delete(run)
    showStop()
    composer.fail("The run could not be stopped: there is no connection. Try again in a moment.")
  }

  // A line that is back in a moment is not worth a word.
  function say(state, code) {
    if (state === "lost") {
      blink ??= setTimeout(lost, BLINK_MS)
      return
    }
    clearTimeout(blink)
    blink = null
    found(state, code)
  }

  function lost() {
    root.dataset.line = "lost"
    const isWorking = log.live.length > 0
    line.textContent = isWorking ? "" : "No connection. Reconnecting."
    if (isWorking) status.textContent = "Reconnecting. The run goes on meanwhile."
  }

  function found(state, code) {
    root.dataset.line = state
    line.textContent = state === "over" ? finalWords(code) : ""
    if (state !== "open") return
    reopenApprovals(root)
    composer.resend()
    sendStops()
    showStop()
  }
}

function whyNot(live) {
  if (live.length === 0) return ""
  return live.some((run) => run.status === "waiting")
    ? "The agent waits for your answer above: allow or refuse what it asks, or stop it first."
    : "The agent is still working: wait for its answer, or stop it first."
}

function showMark(mark, isWorking, isWaiting) {
  mark.hidden = !isWorking
  mark.classList.toggle("rail__live--waiting", isWaiting)
  mark.firstElementChild.textContent = isWaiting ? "waits for you" : "working"
}
