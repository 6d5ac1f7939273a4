import { squeeze, unescape } from './unescape.ts'

/** Shortest secret: a shorter text is a setting, and may occur in a response by chance. */
export const SECRET_LENGTH = 8

/** Levels of nested escapes that are decoded. */
const ROUNDS = 3

/**
 * Finds secrets of a request in its response, since some endpoints echo requests (D23): unchanged, in other case, in base64 (also within
 * other bytes), hex, percent-encoding, JSON or HTML escapes, with white space or invisible characters in between, and in consecutive pieces
 * within one value. Other transformations, such as a hash, a cipher or every second character, cannot be detected.
 */
export class SecretGuard {
  readonly #secrets: readonly string[]
  #needles: readonly string[] | null = null

  /** Texts of fewer than 8 characters are not searched for. */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.map((secret) => secret.trim()).filter(({ length }) => length >= SECRET_LENGTH)
  }

  /** Whether there is no secret to search for. */
  get hasNothingToFind(): boolean {
    return this.#secrets.length === 0
  }

  /** Whether the text contains one of the secrets. */
  isIn(searched: string): boolean {
    if (this.hasNothingToFind) return false
    let text = searched
    for (let round = 0; text.length >= SECRET_LENGTH; round++) {
      const folded = text.toLowerCase()
      if (this.#holds(folded)) return true
      const squeezed = squeeze(folded)
      if (squeezed !== folded && this.#holds(squeezed)) return true
      const plain = round === ROUNDS ? text : unescape(text)
      if (plain === text) return false
      text = plain
    }
    return false
  }

  #holds(text: string): boolean {
    this.#needles ??= [...new Set(this.#secrets.flatMap(formsOf))]
    return this.#needles.some((needle) => text.includes(needle))
  }
}

/** Returns the lower-case forms of a secret in each encoding that does not work character by character. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8')
  // Many servers decode a header as Latin-1, and percent-encoding decodes to Latin-1.
  const texts = [secret, bytes.toString('latin1')].flatMap((text) => {
    // If the secret itself contains an escape, decoding the text decodes that as well.
    const plain = unescape(text)
    return [text, text.replaceAll(' ', '+'), plain, unescape(plain), squeeze(text)]
  })
  const encoded = [0, 1, 2].map((before) => base64Amid(bytes, before))
  const forms = [
    ...texts,
    bytes.toString('hex'),
    ...encoded,
    ...encoded.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
  ]
  return forms.filter(({ length }) => length >= SECRET_LENGTH).map((form) => form.toLowerCase())
}

/** Returns the characters of base64 that do not depend on the surrounding bytes; `before` is the number of preceding bytes modulo 3. */
function base64Amid(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
  return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
}
