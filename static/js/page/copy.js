// Copy buttons: `data-copy-from` is the address of the text, `data-copy-next` copies what follows,
// a block of code its own text. And the button that wraps the lines of a block.

const SHOWN_MS = 1500
const VOICE_MS = 100
const changed = new WeakMap()
let voice = null

export function listenForCopies() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy-from], [data-copy-next], .code__copy")
    if (button) copy(button)
    const wrap = event.target.closest(".code__wrap")
    if (wrap) wrapLines(wrap)
  })
}

async function copy(button) {
  const text = textOf(button)
  try {
    await write(text)
    say(button, "Copied")
  } catch {
    const isRead = await text.then(
      () => true,
      () => false,
    )
    say(button, isRead ? "Copying is not allowed here" : "Not copied: no connection")
  }
}

async function textOf(button) {
  if (button.dataset.copyFrom) return fetched(button.dataset.copyFrom)
  if (button.matches(".code__copy"))
    return button.closest(".code").querySelector("pre").textContent.replace(/\n$/, "")
  // What is seen is copied, line by line
  return button.nextElementSibling.innerText.trim()
}

async function fetched(address) {
  const answer = await fetch(address)
  if (!answer.ok || answer.redirected) throw new Error(`${address} answered ${answer.status}`)
  return answer.text()
}

// A browser lets a click write what comes later only if it is promised at once.
function write(text) {
  const blob = text.then((words) => new Blob([words], { type: "text/plain" }))
  blob.catch(() => {})
  return navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })])
}

function say(button, words) {
  const before = changed.get(button)
  clearTimeout(before?.timer)
  const nodes = before?.nodes ?? [...button.childNodes]
  const timer = setTimeout(() => {
    button.replaceChildren(...nodes)
    changed.delete(button)
  }, SHOWN_MS)
  changed.set(button, { nodes, timer })
  button.replaceChildren(words)
  announce(words)
}

// A region for screen readers has to be there before its words are.
function announce(words) {
  if (voice === null) {
    voice = document.createElement("p")
    voice.className = "for-screen-reader"
    voice.setAttribute("role", "status")
    document.body.append(voice)
  }
  voice.textContent = ""
  setTimeout(() => {
    voice.textContent = words
  }, VOICE_MS)
}

function wrapLines(button) {
  const isWrapped = button.getAttribute("aria-pressed") !== "true"
  button.setAttribute("aria-pressed", String(isWrapped))
  button.closest(".code").classList.toggle("code--wrapped", isWrapped)
}
