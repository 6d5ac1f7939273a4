import { hash } from 'node:crypto'
import type { SentRequest } from '../../../recording/recorded-call.ts'
import type { PlannedHeader } from '../../../transport/headers/header-template.ts'

/** A request as sent, except for its secrets. */
interface PlannedRequest {
  readonly method: string
  readonly hashed: { readonly url: string }
  readonly headers: readonly PlannedHeader[]
}

/**
 * Returns the key under which the response to a request is kept: `sha256:` and the hash of its method, URL, headers and body as sent. A
 * secret is represented by the name of its environment variable. Headers that every request has are left out.
 */
export function requestKey(
  { method, hashed: { url }, headers }: PlannedRequest,
  body: string | null,
): string {
  const sent = headers.length === 0 ? [] : headers.map(sentHeader).toSorted(byName)
  return `sha256:${hash('sha256', JSON.stringify([method, url, sent, body]), 'hex')}`
}

/** Returns the same key for a request as a recording has it. */
export function keyOfSent({ method, url, headers, body }: SentRequest): string {
  const planned = Object.entries(headers).map(([name, text]) => ({ name, parts: partsOf(text) }))
  return requestKey({ method, hashed: { url }, headers: planned }, body)
}

/** Returns the parts of the value of a header, in which `{{ env.NAME }}` stands for a secret. */
function partsOf(text: string): PlannedHeader['parts'] {
  const parts: (string | { readonly env: string })[] = []
  for (const [index, part] of text.split(/\{\{ env\.(\w+) \}\}/).entries())
    if (part !== '') parts.push(index % 2 === 0 ? part : { env: part })
  return parts
}

type SentHeader = readonly [name: string, ...parts: (string | { readonly env: string })[]]

/** Returns a header with adjacent texts joined, however its template was split. */
function sentHeader({ name, parts }: PlannedHeader): SentHeader {
  const merged: (string | { readonly env: string })[] = []
  for (const part of parts) {
    const last = merged.at(-1)
    if (typeof part === 'string' && typeof last === 'string') merged[merged.length - 1] = last + part
    else merged.push(typeof part === 'string' ? part : { env: part.env })
  }
  return [name.toLowerCase(), ...merged]
}

function byName([one]: SentHeader, [other]: SentHeader): number {
  return one < other ? -1 : 1
}
