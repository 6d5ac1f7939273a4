export interface YamlToken {
  readonly kind: 'text' | 'key' | 'string' | 'placeholder' | 'comment' | 'number' | 'mark'
  readonly text: string
}

const KEY =
  /^(\s*(?:- +)*)("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#'"[\]{},:&*!|>%@-][^\s:#]*(?: [^\s:#]+)*)(:)(?=\s|$)/
const VALUE =
  /(\{\{[^}]*\}\})|("(?:[^"\\]|\\.)*")|('(?:[^']|'')*')|((?<=^|\s)#.*$)|((?<=^|[\s,[{:])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?=$|[\s,\]}]))|([[\]{},]|(?<=^|\s)[-|>](?=\s|$))/gi
const PLACEHOLDER = /\{\{[^}]*\}\}/g
const BLOCK = /(?:^|\s)[|>][+-]?\d?\s*(?:#.*)?$/

/**
 * Splits YAML into tokens for highlighting, line by line. A heuristic, not a parser; the tokens always add up to the
 * text.
 */
export function tokenizeYaml(text: string): readonly (readonly YamlToken[])[] {
  /** The indentation of the key of a block scalar; null outside of one. */
  let block: number | null = null
  return text.split('\n').map((line) => {
    const indent = line.search(/\S/)
    if (block !== null && (indent === -1 || indent > block)) return withPlaceholders(line, 'string')
    block = BLOCK.test(line) && !line.trimStart().startsWith('#') ? indent : null
    return tokenizeLine(line)
  })
}

function tokenizeLine(line: string): readonly YamlToken[] {
  if (/^\s*#/.test(line)) return [{ kind: 'comment', text: line }]
  const [whole, lead, key, colon] = KEY.exec(line) ?? []
  if (whole === undefined || lead === undefined || key === undefined || colon === undefined)
    return tokenizeValue(line)
  return [
    ...tokenizeValue(lead),
    { kind: 'key', text: key },
    { kind: 'mark', text: colon },
    ...tokenizeValue(line.slice(whole.length)),
  ]
}

function tokenizeValue(text: string): readonly YamlToken[] {
  const tokens: YamlToken[] = []
  let end = 0
  for (const match of text.matchAll(VALUE)) {
    push(tokens, 'text', text.slice(end, match.index))
    const [found, placeholder, double, single, comment, number] = match
    if (placeholder !== undefined) push(tokens, 'placeholder', found)
    else if (double !== undefined || single !== undefined) tokens.push(...withPlaceholders(found, 'string'))
    else push(tokens, comment !== undefined ? 'comment' : number !== undefined ? 'number' : 'mark', found)
    end = match.index + found.length
  }
  push(tokens, 'text', text.slice(end))
  return tokens
}

function withPlaceholders(text: string, kind: 'string'): readonly YamlToken[] {
  const tokens: YamlToken[] = []
  let end = 0
  for (const { 0: found, index } of text.matchAll(PLACEHOLDER)) {
    push(tokens, kind, text.slice(end, index))
    push(tokens, 'placeholder', found)
    end = index + found.length
  }
  push(tokens, kind, text.slice(end))
  return tokens
}

function push(tokens: YamlToken[], kind: YamlToken['kind'], text: string): void {
  if (text !== '') tokens.push({ kind, text })
}
