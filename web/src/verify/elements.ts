/** Makes an element with these properties and children; texts are shown as they are. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
  ...children: readonly (string | HTMLElement)[]
): HTMLElementTagNameMap[Name] {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** Makes a list of names and texts. */
export function facts(list: readonly (readonly [string, string])[]): HTMLElement {
  const pairs = list.map(([name, text]) =>
    element('div', {}, element('dt', {}, name), element('dd', {}, text)),
  )
  return element('dl', {}, ...pairs)
}
