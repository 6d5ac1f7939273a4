/**
 * The texts that an editor has reported and that have not been rendered yet. Rendering lags behind typing: a rendered text can be an earlier one
 * of the editor, which must not replace what was typed since.
 */
export class WrittenTexts {
  #texts: string[] = []

  /** Notes a text that the editor reports. */
  add(text: string): void {
    this.#texts.push(text)
  }

  /** Whether a rendered text comes from the editor; if so, the reports until it are settled, otherwise all are. */
  has(text: string): boolean {
    const found = this.#texts.indexOf(text)
    this.#texts = found === -1 ? [] : this.#texts.slice(found + 1)
    return found !== -1
  }
}
