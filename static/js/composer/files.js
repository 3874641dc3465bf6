// Files that are pasted or dropped, which cannot be attached yet: said, and not opened in place of the page.

const WORDS = "Files cannot be attached yet. Paste their text instead."

export function listenForFiles(form, say) {
  form.addEventListener("paste", ({ clipboardData }) => {
    if (clipboardData.files.length && !clipboardData.types.includes("text/plain")) say(WORDS)
  })
  addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault())
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return
    event.preventDefault()
    say(WORDS)
  })
}

function hasFiles({ dataTransfer }) {
  return dataTransfer?.types.includes("Files") ?? false
}
