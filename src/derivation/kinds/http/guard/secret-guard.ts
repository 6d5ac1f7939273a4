import { squeeze, unescape } from './unescape.ts'

/** What is shorter than this is a setting, not a secret, and may well be in an answer by chance. */
export const SECRET_LENGTH = 8

/** Escapes within escapes that are undone. */
const ROUNDS = 3

/**
 * Recognises secrets of a request in what comes back, since endpoints that echo requests exist (D23): as they are, in
 * other case, in base64 (also amid other bytes), hex, percent-encoding, JSON or HTML escapes, with white space or characters that
 * nobody sees within, and in pieces that follow each other in one value. What else the far end makes of them, such as a hash,
 * a cipher or every second character, nobody can foresee.
 */
export class SecretGuard {
  readonly #secrets: readonly string[]
  #needles: readonly string[] | null = null

  /** Texts of fewer than 8 characters are not looked for. */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.map((secret) => secret.trim()).filter(({ length }) => length >= SECRET_LENGTH)
  }

  /** Whether no text at all would be found to hold a secret. */
  get hasNothingToFind(): boolean {
    return this.#secrets.length === 0
  }

  /** Whether the text gives one of the secrets away. */
  isIn(searched: string): boolean {
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

/** How a secret looks in lower case, in each encoding that is no matter of single characters. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8')
  // The bytes taken for Latin-1 are what many a server takes a header for, and what percent-encoding stands for.
  const texts = [secret, bytes.toString('latin1')].flatMap((text) => {
    // Where a secret itself has what looks like an escape, that is undone with the escapes around it.
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

/** The characters of base64 that are the same whatever stands around the bytes, when `before` bytes do, modulo 3. */
function base64Amid(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
  return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
}
