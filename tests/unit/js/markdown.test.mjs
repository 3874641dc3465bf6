// The preview's half of the contract on Markdown: the same cases that the server is held to.

import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"

import { Growing } from "../../../static/js/markdown/growing.js"
import { makeParser } from "../../../static/js/markdown/parsing.js"
import MarkdownIt from "../../../static/vendor/markdown-it.js"

const { cases, plain } = JSON.parse(readFileSync(new URL("../markdown.json", import.meta.url), "utf8"))
const parser = makeParser(MarkdownIt)

for (const { name, markdown, html } of cases) {
  test(`the preview agrees with the server on ${name}`, () => {
    assert.equal(inOneForm(parser.render(markdown)), inOneForm(html))
  })

  test(`what has grown word by word is what is made at once: ${name}`, () => {
    const growing = new Growing(parser)
    let settled = ""
    let shown = null
    for (let end = 1; end <= markdown.length; end += 1) {
      shown = growing.take(markdown.slice(0, end))
      settled += shown.settled
    }
    assert.equal(inOneForm(settled + shown.rest), inOneForm(html))
  })
}

for (const { name, repeated, before = "", length } of plain) {
  test(`the preview shows plainly ${name}`, () => {
    const text = (before + repeated.repeat(length)).slice(0, length)
    assert.equal(new Growing(parser).take(text), null)
  })
}

test("the frames of a long answer parse little more than the answer", () => {
  const text = Array.from(
    { length: 300 },
    (_, index) => `Paragraph ${index} with **words** and \`code\`.\n\n- a\n- b\n\n`,
  ).join("")
  let parsed = 0
  const counting = makeParser(MarkdownIt)
  const parse = counting.parse.bind(counting)
  counting.parse = (piece, environment) => {
    parsed += piece.length
    return parse(piece, environment)
  }
  const growing = new Growing(counting)
  const frames = Math.ceil(text.length / 20)
  for (let frame = 1; frame <= frames; frame += 1) growing.take(text.slice(0, frame * 20))
  assert.ok(
    parsed < 20 * text.length,
    `${parsed} characters were parsed for ${text.length} in ${frames} frames`,
  )
})

// Both write HTML that means the same; they differ in the order of attributes and in what they escape.
function inOneForm(html) {
  return html.replace(/<[^>]*>|[^<]+/g, (piece) =>
    piece.startsWith("<") ? tagInOrder(piece) : piece.replaceAll("&quot;", '"'),
  )
}

function tagInOrder(tag) {
  const attributes = tag.match(/ [a-z-]+(="[^"]*")?/g) ?? []
  return `${tag.replace(/ .*>$/s, "").replace(/>$/, "")}${attributes.sort().join("")}>`
}
