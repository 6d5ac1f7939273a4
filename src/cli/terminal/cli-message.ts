/** What messages say in the words of HTTP, and how it is said here. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/GET \/api\/runs lists them/g, '`colophon runs` lists them'],
  [/with POST \/api\/runs\/\d+\/cancel/g, 'with `colophon runs --cancel`'],
  [/with GET \/api\/runs\/\d+/g, 'with `colophon runs`'],
  [/GET \/api\/provenance with history=true lists/g, '`colophon provenance --history` lists'],
  [/send its records to POST \/api\/records/g, 'give it to `colophon upsert`'],
]

/** A message of the service in the words of the command line. */
export function inOwnWords(message: string): string {
  if (!message.includes('/api/')) return message
  return WORDS.reduce((text, [words, own]) => text.replaceAll(words, own), message)
}
