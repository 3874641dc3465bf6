// The second wall behind a parser that knows no HTML: only what it makes comes into the page. The
// lists are those of `chat/stream/markdown/rendering.py`.

const TAGS = (
  "a blockquote br button code del div em h3 h4 h5 h6 hr input li ol p pre s span strong table " +
  "tbody td th thead tr ul"
).split(" ")
const ATTRIBUTES =
  "aria-label aria-pressed checked class disabled href rel start tabindex target title type".split(" ")

export function makeSafe(DOMPurify) {
  // A field is never more than the mark of a task, and a button never sends anything.
  DOMPurify.addHook("afterSanitizeAttributes", (node) => {
    if (node.nodeName === "BUTTON") node.setAttribute("type", "button")
    if (node.nodeName !== "INPUT") return
    node.setAttribute("type", "checkbox")
    node.setAttribute("disabled", "")
  })
  return (html) =>
    DOMPurify.sanitize(html, {
      RETURN_DOM_FRAGMENT: true,
      ALLOWED_TAGS: TAGS,
      ALLOWED_ATTR: ATTRIBUTES,
      ADD_URI_SAFE_ATTR: ATTRIBUTES.filter((name) => name !== "href"),
      ALLOW_DATA_ATTR: false,
      ALLOW_ARIA_ATTR: false,
      ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
    })
}
