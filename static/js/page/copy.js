// Copy buttons: `data-copy` holds the selector of what is copied, `data-copy-next` copies what follows.

const SHOWN_MS = 1500

export function listenForCopies() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy], [data-copy-next]")
    if (button) copy(button)
  })
}

async function copy(button) {
  const selector = button.dataset.copy
  const source = selector ? document.querySelector(selector) : button.nextElementSibling
  if (!source) return
  const words = button.textContent
  try {
    await navigator.clipboard.writeText(source.innerText.trim())
    button.textContent = "Copied"
  } catch {
    button.textContent = "Copying is not allowed here"
  }
  setTimeout(() => { button.textContent = words }, SHOWN_MS)
}
