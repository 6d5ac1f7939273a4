const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const encoder = new TextEncoder()

/** Returns the bytes of a text in UTF-8. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text)
}

/** Returns standard base64 with padding (RFC 4648, section 4). */
export function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

/** Reads what {@link toBase64} writes, and nothing else; null for any other text. */
export function fromBase64(text: string): Uint8Array | null {
  if (!BASE64.test(text)) return null
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  // Bits beyond the last byte must be zero.
  return toBase64(bytes) === text ? bytes : null
}

/** Returns bytes one after the other. */
export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}
