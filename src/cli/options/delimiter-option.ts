import { InvalidArgumentError, Option } from 'commander'

/** Names for characters that are hard to type in a shell. */
const NAMES: Readonly<Record<string, string>> = {
  tab: '\t',
  '\\t': '\t',
  comma: ',',
  semicolon: ';',
  pipe: '|',
}

/** Returns the option `--delimiter <character>`, for commands that read or write CSV. */
export function delimiterOption(description: string): Option {
  return new Option('--delimiter <character>', `${description}; "tab" is a tab`).argParser(parseDelimiter)
}

/** Parses a delimiter. Throws InvalidArgumentError for what cannot separate cells. */
function parseDelimiter(text: string): string {
  const character = NAMES[text.toLowerCase()] ?? text
  if (/^[^"\r\n\ud800-\udfff]$/.test(character)) return character
  throw new InvalidArgumentError('It must be one character, but no quote or line break.')
}
