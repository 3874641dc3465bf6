// The only place that puts markup into the page: what our own server rendered, in frames of our own
// socket or as a page of ours. A parsed document runs no scripts, and the policy of the page allows none
// in attributes.

export function element(html) {
  return document.adoptNode(parsed(html).body.firstElementChild)
}

export function partOfPage(html, selector) {
  return document.adoptNode(parsed(html).querySelector(selector))
}

export function putInPlace(fresh, parent) {
  const old = document.getElementById(fresh.id)
  if (old) old.replaceWith(fresh)
  else parent.append(fresh)
  globalThis.htmx?.process(fresh)
  return old
}

function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html")
}
