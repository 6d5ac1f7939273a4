/** The JSON of a response, as far as it goes. */
export interface PartialJson {
  readonly value: unknown
  /** Whether the end was cut off, with the values that it had. */
  readonly isCut: boolean
}

/** Reads JSON whose end may be cut off: what is complete until there. Returns null for a text that is no JSON. */
export function parsePartialJson(text: string): PartialJson | null {
  try {
    return { value: JSON.parse(text), isCut: false }
  } catch {
    const closed = closeJson(text)
    if (closed === null) return null
    try {
      return { value: JSON.parse(closed), isCut: true }
    } catch {
      return null
    }
  }
}

/** Returns the text up to the last complete member or item, with the brackets that are open there closed; null without one. */
function closeJson(text: string): string | null {
  const open: string[] = []
  let complete: string | null = null
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') {
      at = endOfString(text, at)
    } else if (character === '{' || character === '[') {
      open.push(character === '{' ? '}' : ']')
    } else if (character === '}' || character === ']') {
      if (open.pop() !== character) return null
      complete = text.slice(0, at + 1) + open.toReversed().join('')
    } else if (character === ',') {
      complete = text.slice(0, at) + open.toReversed().join('')
    }
  }
  return complete
}

/** Returns the index of the quote that ends a string; the length of the text for one that is cut off. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}
