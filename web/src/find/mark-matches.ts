import { patternOf } from './find-text.ts'

const NAME = 'find'

/** Marks a text in the drawn cells of an element, also as they change, until the returned function is called. */
export function markMatches(element: HTMLElement, text: string): () => void {
  const pattern = patternOf(text, 'giu')
  if (pattern === null || !('highlights' in CSS)) return () => undefined
  let frame = 0
  const mark = (): void => {
    frame = 0
    CSS.highlights.set(NAME, new Highlight(...rangesOf(element, pattern)))
  }
  const later = (): void => {
    if (frame === 0) frame = requestAnimationFrame(mark)
  }
  const observer = new MutationObserver(later)
  observer.observe(element, { childList: true, characterData: true, subtree: true })
  mark()
  return () => {
    observer.disconnect()
    cancelAnimationFrame(frame)
    CSS.highlights.delete(NAME)
  }
}

function rangesOf(element: HTMLElement, pattern: RegExp): Range[] {
  const ranges: Range[] = []
  for (const value of element.querySelectorAll('.grid-cell .value')) {
    const walker = document.createTreeWalker(value, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      for (const { index, 0: found } of (node.textContent ?? '').matchAll(pattern)) {
        if (found === '') continue
        const range = new Range()
        range.setStart(node, index)
        range.setEnd(node, index + found.length)
        ranges.push(range)
      }
    }
  }
  return ranges
}
