// Links, bare ones and images too; the rules are those of `chat/stream/markdown/links.py`.

const LONGEST = 2000
const ADDRESS = new RegExp(
  String.raw`://(?=[A-Za-z0-9\u00c0-\u1fff\u3040-\uabff\uac00-\ud7a3])` +
    String.raw`[^\x00-\x20"<>\[\]\\^${"`"}{|}\x7f-\xa0\xab\xbb\u1680\u2000-\u206f\u3000-\u303f` +
    String.raw`\ufe00-\ufe6f\ufeff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufff9-\uffff]{1,${LONGEST}}`,
  "y",
)
const SCHEME = /(?:^|[^A-Za-z0-9])(https?)$/i
const AT_THE_END = /[?!.,:;*_~']+$/

export function bareLink(state, silent) {
  if (silent || state.linkLevel || !state.src.startsWith("://", state.pos)) return false
  const scheme = SCHEME.exec(state.pending.slice(-6))?.[1]
  ADDRESS.lastIndex = state.pos
  const found = ADDRESS.exec(state.src.slice(0, state.posMax))?.[0]
  if (!scheme || !found || found.length >= LONGEST) return false
  const rest = trimmed(found)
  state.pending = state.pending.slice(0, -scheme.length)
  state.push("link_open", "a", 1).attrs = [["href", state.md.normalizeLink(scheme + rest)]]
  state.push("text", "", 0).content = scheme + rest
  state.push("link_close", "a", -1)
  state.pos += rest.length
  return true
}

function trimmed(address) {
  for (;;) {
    let shorter = address.replace(AT_THE_END, "")
    if (shorter.endsWith(")") && count(shorter, ")") > count(shorter, "(")) shorter = shorter.slice(0, -1)
    if (shorter === address) return address
    address = shorter
  }
}

function count(text, mark) {
  return text.split(mark).length - 1
}

export function imagesAsLinks(state) {
  for (const block of state.tokens) {
    if (!block.children?.some(({ type }) => type === "image")) continue
    let depth = 0
    block.children = block.children.flatMap((token) => {
      if (token.tag === "a") depth += token.nesting
      return token.type === "image" ? wordsOf(token, depth > 0, state.Token) : [token]
    })
  }
}

function wordsOf(image, isInLink, Token) {
  const source = image.attrGet("src") ?? ""
  const words = new Token("text", "", 0)
  words.content = `Image: ${image.content || source}`
  if (isInLink || source.toLowerCase().startsWith("mailto:")) return [words]
  const open = new Token("link_open", "a", 1)
  open.attrs = [["href", source]]
  return [open, words, new Token("link_close", "a", -1)]
}

export function markLinks(state) {
  for (const block of state.tokens) {
    for (const token of block.children ?? []) {
      if (token.type !== "link_open") continue
      token.attrSet("target", "_blank")
      token.attrSet("rel", "noopener noreferrer nofollow")
    }
  }
}
