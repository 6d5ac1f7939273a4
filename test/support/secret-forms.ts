/** Returns a text as other programs write it, by the name of the encoding. */
export function secretForms(secret: string): Readonly<Record<string, string>> {
  const bytes = Buffer.from(secret, 'utf8')
  const hex = bytes.toString('hex')
  const json = JSON.stringify(secret).slice(1, -1)
  const percent = encodeURIComponent(secret)
  const allPercent = hex.replace(/../g, '%$&')
  const units = [...secret].flatMap((character) => character.split(''))
  const unicode = units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
  const points = [...secret].map((character) => character.codePointAt(0) ?? 0)
  return {
    'as it is': secret,
    'upper case': secret.toUpperCase(),
    'lower case': secret.toLowerCase(),
    'UTF-8 read as Latin-1': bytes.toString('latin1'),
    'percent-encoding': percent,
    'percent-encoding in lower case': percent.replace(/%../g, (code) => code.toLowerCase()),
    'percent-encoding of every byte': allPercent,
    'percent-encoding of every byte in upper case': allPercent.toUpperCase(),
    'percent-encoding twice': encodeURIComponent(percent),
    'form encoding': new URLSearchParams({ secret }).toString().slice('secret='.length),
    'JSON within JSON': json,
    'JSON within JSON within JSON': JSON.stringify(json).slice(1, -1),
    'JSON with escaped slashes': json.replaceAll('/', '\\/'),
    'JSON escapes': unicode,
    'JSON escapes in upper case': unicode.replace(/u..../g, (code) => `u${code.slice(1).toUpperCase()}`),
    'HTML entities': secret
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&apos;'),
    'decimal HTML entities': points.map((point) => `&#${point};`).join(''),
    'hexadecimal HTML entities': points.map((point) => `&#x${point.toString(16)};`).join(''),
    hex,
    'hex in upper case': hex.toUpperCase(),
    'hex with colons': hex.replace(/..(?=.)/g, '$&:'),
    'hex with spaces': hex.replace(/..(?=.)/g, '$& '),
    ...Object.fromEntries(
      ['', 'a', 'ab'].flatMap((before) =>
        (['base64', 'base64url'] as const).map((encoding) => [
          `${encoding} after ${before.length} bytes`,
          Buffer.from(`${before}${secret} and more`).toString(encoding),
        ]),
      ),
    ),
  }
}

/** Whether some of the bytes, read as base64 in either alphabet from any character on, contain a text. */
function holdsInBase64(hay: Buffer, text: string): boolean {
  const runs = hay.toString('latin1').match(/[A-Za-z0-9+/_-]{8,}/g) ?? []
  return runs.some((run) =>
    [0, 1, 2, 3].some((from) => Buffer.from(run.slice(from), 'base64').includes(text)),
  )
}

/** Returns the names of the forms in which a secret is in some bytes, UTF-16 included. */
export function formsFound(bytes: Buffer | string, secret: string): string[] {
  const hay = Buffer.from(bytes)
  const utf16 = Buffer.from(secret, 'utf16le')
  const found = hay.includes(utf16) || hay.includes(Buffer.from(utf16).swap16()) ? ['UTF-16'] : []
  if (holdsInBase64(hay, secret)) found.push('base64')
  for (const [name, form] of Object.entries(secretForms(secret))) if (hay.includes(form)) found.push(name)
  return found
}
