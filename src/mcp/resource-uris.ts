/** URIs of the resources that exist once. */
export const RESOURCE_URIS = {
  contract: 'colophon://contract',
  contractJson: 'colophon://contract.json',
  status: 'colophon://status',
} as const

export const DERIVATION_TEMPLATE = 'colophon://derivations/{file}'
export const RECORD_TEMPLATE = 'colophon://records/{id}'

const RECORDS = 'colophon://records/'

export function derivationUri(file: string): string {
  return `colophon://derivations/${encodeURIComponent(file)}`
}

/** Returns the id of the record that a URI refers to; null for any other URI. */
export function recordIdOf(uri: string): string | null {
  return uri.startsWith(RECORDS) ? decoded(uri.slice(RECORDS.length)) : null
}

/** Decodes a variable of a template; null if it is not percent-encoded UTF-8. */
export function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
